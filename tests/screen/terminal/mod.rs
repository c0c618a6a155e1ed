//! The full screen in a real terminal: what it leaves behind, how it is stopped and continued, its sizes and colours,
//! and its keys.
//!
//! Nothing here is timed: each expected text is awaited for far longer than it can need. Every process that is ended
//! here was started here.

mod attention;
mod clock;
mod colors;
mod crowd;
mod foresee;
mod harm;
mod kept;
mod keys;
mod leaving;
mod limits;
mod mouse;
mod mute;
mod panics;
mod progress;
mod recorded;
mod secrets;
mod sizes;
mod start;
mod stopping;
mod stuck;
mod suspended;
mod trouble;
mod world;
