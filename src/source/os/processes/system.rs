//! How this operating system tells of its processes.

#[cfg(target_os = "linux")]
pub(crate) use crate::source::os::processes::linux::*;
#[cfg(not(target_os = "linux"))]
pub(crate) use crate::source::os::processes::other::*;
