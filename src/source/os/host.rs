//! The machine, and the user who looks.

use std::path::Path;
use std::sync::OnceLock;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use rustix::fs::stat;
use rustix::io::Errno;
use rustix::process::geteuid;

use crate::core::model::snapshot::host::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use crate::core::model::{ClockHistory, ClockReading, Host, Platform};
use crate::source::os::open::medium::file_system_of;
use crate::source::os::{clock, processes};

/// How far the calculated boot time may move without the clock having been set: 1 s.
const JITTER: SignedDuration = SignedDuration::from_secs(1);

/// How far two equal readings of the boot time can differ: two clocks are read, one after the other. Starts are only
/// known to a tick of 10 ms.
const READING: SignedDuration = SignedDuration::from_millis(1);

/// Watches whether the wall clock is set: by a person, by NTP, or by a machine that slept.
#[derive(Clone, Debug, Default)]
pub(crate) struct ClockWatch {
    /// The earliest and the latest calculated boot time.
    seen: Option<(Timestamp, Timestamp)>,
    /// The boot time of the previous look.
    last: Option<Timestamp>,
    /// The readings of this run.
    history: ClockHistory,
}

impl ClockWatch {
    /// Records one look's reading of the clock, and adds to that look how far the clock was seen to move. A reading
    /// equal to the previous one keeps its boot time, so that calculated start times stay the same.
    pub(crate) fn note(&mut self, host: &mut Host) {
        let Some(read) = host.boot_at else { return };
        let is_same = |last: &Timestamp| read.duration_since(*last).abs() < READING;
        let boot_at = self.last.filter(is_same).unwrap_or(read);
        (self.last, host.boot_at) = (Some(boot_at), Some(boot_at));
        host.clock_doubt = self.moved_to(boot_at);
        self.history.add(clock::since_boot().map(|up_for| ClockReading { up_for, boot_at }));
        host.clock.add(self.history.readings());
    }

    /// Returns how far the clock was seen to move by the end of a look, whose time is used for a later moment: the
    /// clock may have been set since the look began.
    pub(crate) fn doubt_at(&mut self, now: Timestamp) -> SignedDuration {
        booted_at(now).map(|read| self.moved_to(read)).unwrap_or_default()
    }

    fn moved_to(&mut self, boot_at: Timestamp) -> SignedDuration {
        let (earliest, latest) = self.seen.unwrap_or((boot_at, boot_at));
        let (earliest, latest) = (earliest.min(boot_at), latest.max(boot_at));
        self.seen = Some((earliest, latest));
        let moved_by = latest.duration_since(earliest);
        if moved_by > JITTER { moved_by } else { SignedDuration::ZERO }
    }
}

/// Returns when the machine booted, by the present clock.
fn booted_at(now: Timestamp) -> Option<Timestamp> {
    clock::since_boot().and_then(|up| now.checked_sub(up).ok())
}

/// Reads all facts about the machine; `now` and the uptime give the boot time.
pub fn host(now: Timestamp) -> Host {
    host_in(clock::zone(), now)
}

/// Reads the same in a known zone: to find the machine's own takes a walk through the system's list of zones.
pub(crate) fn host_in(zone: TimeZone, now: Timestamp) -> Host {
    Host {
        name: name(),
        platform: platform(),
        boot_id: boot_id(),
        pid_namespace: pid_namespace(),
        machine_id: machine_id(),
        time_namespace: time_namespace(),
        boot_at: booted_at(now),
        up_by: up_by(),
        clock: boot_stamp().into_iter().collect(),
        clock_doubt: SignedDuration::ZERO,
        ticks_per_second: processes::ticks_per_second(),
        uid: geteuid().as_raw(),
        zone,
    }
}

/// Returns the kind of this system.
pub(crate) fn platform() -> Platform {
    if cfg!(target_os = "linux") {
        Platform::Linux
    } else if cfg!(target_os = "macos") {
        Platform::MacOs
    } else {
        Platform::Other
    }
}

/// Returns when the devices' folder was made, which the kernel does at the boot (devtmpfs). A container's folder is
/// younger, and one on a disk would be older.
fn up_by() -> Option<Timestamp> {
    static KNOWN: OnceLock<Timestamp> = OnceLock::new();
    once(&KNOWN, || {
        let devices = Path::new("/dev");
        let made = || Timestamp::try_from(devices.metadata().ok()?.created().ok()?).ok();
        (file_system_of(devices)? == "devtmpfs").then(made)?
    })
}

/// Returns the wall clock at the boot: when the kernel made the machine's device nodes (devtmpfs), which a container
/// may share.
fn boot_stamp() -> Option<ClockReading> {
    static KNOWN: OnceLock<Timestamp> = OnceLock::new();
    let made_at = once(&KNOWN, || (file_system_of(Path::new(NODE))? == "devtmpfs").then(node_made_at)?);
    made_at.map(|boot_at| ClockReading { up_for: SignedDuration::ZERO, boot_at })
}

/// Returns when the runtime of our container made its device nodes, just after its first process started; `None`
/// outside a container.
pub(crate) fn container_stamp() -> Option<Timestamp> {
    static KNOWN: OnceLock<Timestamp> = OnceLock::new();
    let is_inside = pid_namespace()? != INITIAL_PID_NAMESPACE && boot_stamp().is_none();
    is_inside.then(|| once(&KNOWN, node_made_at))?
}

/// A device node whose times do not change when it is used.
const NODE: &str = "/dev/zero";

/// Returns when that node was made. Kernels before 6.0 or so do not report that; its last write is the same moment.
fn node_made_at() -> Option<Timestamp> {
    let meta = Path::new(NODE).metadata().ok()?;
    Timestamp::try_from(meta.created().or_else(|_| meta.modified()).ok()?).ok()
}

/// Returns the user as whom we act.
pub(crate) fn uid() -> u32 {
    geteuid().as_raw()
}

/// Returns whether a folder is ours: we leave nothing in another user's home.
pub(crate) fn owns(folder: &Path) -> bool {
    stat(folder).is_ok_and(|stat| stat.st_uid == geteuid().as_raw())
}

/// Finds a zone by its name in the system's own list. None is shipped with the program, so a zone that the system
/// lacks is unknown.
pub(crate) fn zone(name: &str) -> Option<TimeZone> {
    TimeZone::get(name).ok()
}

pub(crate) fn name() -> String {
    rustix::system::uname().nodename().to_string_lossy().into_owned()
}

/// Returns whether this is a distribution under WSL: Microsoft's kernel, and the folder that its init keeps. A
/// container there has only the kernel.
pub(crate) fn is_wsl() -> bool {
    let release = rustix::system::uname().release().to_string_lossy().to_ascii_lowercase();
    release.contains("microsoft") && stat(Path::new("/run/WSL")).is_ok()
}

/// Returns the ID that the kernel draws at every boot (random(4)). No process outlives its boot, so
/// it is read once.
pub(crate) fn boot_id() -> Option<String> {
    static KNOWN: OnceLock<String> = OnceLock::new();
    once(&KNOWN, || Some(read_boot_id()?.trim().to_owned()).filter(|id| !id.is_empty()))
}

#[cfg(not(target_os = "macos"))]
fn read_boot_id() -> Option<String> {
    let path = Path::new("/proc/sys/kernel/random/boot_id");
    String::from_utf8(crate::source::os::open::plain::small(path, 1_024).ok()?).ok()
}

/// Reads the UUID that the kernel of macOS draws at every boot.
#[cfg(target_os = "macos")]
fn read_boot_id() -> Option<String> {
    use sysctl::Sysctl;
    sysctl::Ctl::new("kern.bootsessionuuid").ok()?.value_string().ok()
}

/// Returns the inode of our own PID namespace, which no process ever leaves (pid_namespaces(7)); that of the machine's
/// first one if the system has no others.
pub(crate) fn pid_namespace() -> Option<u64> {
    static KNOWN: OnceLock<u64> = OnceLock::new();
    if cfg!(target_os = "macos") {
        return Some(INITIAL_PID_NAMESPACE);
    }
    once(&KNOWN, || Some(crate::source::os::open::meta::meta_of(&stat("/proc/self/ns/pid").ok()?).ino))
}

/// Returns the inode of our own time namespace; the initial one's if the kernel has none, as before 5.6
/// (time_namespaces(7)).
pub(crate) fn time_namespace() -> Option<u64> {
    static KNOWN: OnceLock<u64> = OnceLock::new();
    if cfg!(target_os = "macos") {
        return Some(INITIAL_TIME_NAMESPACE);
    }
    once(&KNOWN, || match stat("/proc/self/ns/time") {
        Ok(file) => Some(crate::source::os::open::meta::meta_of(&file).ino),
        Err(Errno::NOENT) => Some(INITIAL_TIME_NAMESPACE),
        Err(_) => None,
    })
}

/// Returns the ID that the system was given when it was installed (machine-id(5)).
fn machine_id() -> Option<String> {
    static KNOWN: OnceLock<String> = OnceLock::new();
    once(&KNOWN, || {
        let bytes = crate::source::os::open::plain::small(Path::new("/etc/machine-id"), 1_024).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        Some(text.trim().to_owned()).filter(|id| !id.is_empty())
    })
}

/// Returns a value read once; reads until that succeeds.
fn once<T: Clone>(known: &OnceLock<T>, read: impl FnOnce() -> Option<T>) -> Option<T> {
    known.get().cloned().or_else(|| {
        let read = read()?;
        Some(known.get_or_init(|| read).clone())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_boot_moves_only_when_the_clock_does() {
        let mut watch = ClockWatch::default();
        let mut noted = |at: Timestamp| {
            let mut host = Host { boot_at: Some(at), ..host(at) };
            watch.note(&mut host);
            host.boot_at.unwrap()
        };
        let at = Timestamp::UNIX_EPOCH;
        assert_eq!(noted(at), at);
        assert_eq!(noted(at + SignedDuration::from_micros(11)), at);
        assert_eq!(noted(at + SignedDuration::from_micros(999)), at);
        let set = at + SignedDuration::from_millis(1);
        assert_eq!(noted(set), set);
    }

    #[test]
    fn a_clock_that_is_set_during_a_look_is_doubted_in_that_look() {
        let (mut watch, now) = (ClockWatch::default(), clock::now());
        watch.note(&mut host(now));
        assert_eq!(watch.doubt_at(clock::now()), SignedDuration::ZERO);
        let hour = SignedDuration::from_hours(1);
        let doubt = watch.doubt_at(now + hour);
        assert!((doubt - hour).abs() < SignedDuration::from_mins(1), "{doubt:?}");
        assert_eq!(watch.doubt_at(clock::now()), doubt, "a start by the hour's clock may still be compared");
    }
}
