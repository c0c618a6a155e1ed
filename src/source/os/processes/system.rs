//! The process functions of this operating system.

#[cfg(target_os = "macos")]
pub(crate) use crate::source::os::processes::darwin::system::*;
#[cfg(target_os = "linux")]
pub(crate) use crate::source::os::processes::linux::*;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
pub(crate) use crate::source::os::processes::other::*;
