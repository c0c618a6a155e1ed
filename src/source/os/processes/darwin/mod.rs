//! macOS, through libproc: starts in microseconds, and a list of all processes that two calls agree on.

pub(crate) mod facts;
#[cfg(target_os = "macos")]
pub(crate) mod look;
#[cfg(target_os = "macos")]
pub(crate) mod system;
