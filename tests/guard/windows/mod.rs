//! Windows that the tests start themselves: small programs under agents' names. They are apart from
//! the other tests of the program because every claimtop on the machine sees them.

mod bind;
mod foresight;
mod git_events;
mod guard;
mod guard_faults;
mod guard_seen;
mod homes;
mod kept;
mod left_behind;
mod lost;
#[cfg(feature = "mcp")]
mod mcp;
mod model;
mod notify;
mod real;
mod real_guard;
mod rescue;
mod rescue_ended;
mod service;
mod sessions;
mod stash;
mod tmux;
mod wait;
mod work;
mod zellij;
