//! The machine and who is looking.

use std::path::Path;

use jiff::Timestamp;
use jiff::tz::TimeZone;
use rustix::fs::stat;
use rustix::process::geteuid;

use super::{clock, open, processes};
use crate::core::snapshot::Host;

/// Reads everything about the machine; `now` and the uptime give the moment of the boot.
pub fn host(now: Timestamp) -> Host {
    Host {
        name: rustix::system::uname().nodename().to_string_lossy().into_owned(),
        boot_id: boot_id(),
        pid_namespace: pid_namespace(),
        boot_at: clock::since_boot().and_then(|up| now.checked_sub(up).ok()),
        ticks_per_second: processes::ticks_per_second(),
        uid: geteuid().as_raw(),
        zone: TimeZone::system(),
    }
}

/// Reads the ID that the kernel draws at every boot (random(4)).
fn boot_id() -> Option<String> {
    let bytes = open::small(Path::new("/proc/sys/kernel/random/boot_id"), 1_024).ok()?;
    let text = String::from_utf8(bytes).ok()?;
    Some(text.trim().to_owned()).filter(|id| !id.is_empty())
}

/// Reads the inode of our own PID namespace (pid_namespaces(7)).
fn pid_namespace() -> Option<u64> {
    Some(open::meta_of(&stat("/proc/self/ns/pid").ok()?).ino)
}
