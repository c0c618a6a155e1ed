//! The costs of our own process.

#[cfg(any(test, target_os = "linux"))]
use std::time::Duration;

use rustix::process::{Resource, getrlimit};

use crate::core::model::Cost;

/// Returns how many files this process may have open; `None` for any number.
pub(crate) fn most_open() -> Option<u64> {
    getrlimit(Resource::Nofile).current
}

/// Returns the kernel's figures of this process; `None` if it has no `/proc`.
#[cfg(target_os = "linux")]
pub(crate) fn cost() -> Option<Cost> {
    use crate::source::os::clock;
    use crate::source::os::open::plain::small;
    use crate::source::os::processes::own::own_pid;
    use std::path::Path;

    let text = |name: &str| {
        let bytes = small(&Path::new("/proc/self").join(name), 64 << 10).ok()?;
        String::from_utf8(bytes).ok()
    };
    let (stat, status) = (text("stat")?, text("status")?);
    let tick = rustix::param::clock_ticks_per_second();
    let spent = |fields: std::ops::RangeInclusive<usize>| {
        fields.map(|at| field(&stat, at)).sum::<Option<u64>>().map(|ticks| ticks_as_time(ticks, tick))
    };
    let line = |name: &str| number_after(&status, name);
    let since_boot = Duration::try_from(clock::since_boot()?).ok()?;
    Some(Cost {
        pid: own_pid(),
        // Fields of stat are counted from 1 (proc_pid_stat(5)): utime, stime and starttime.
        age: since_boot.saturating_sub(spent(22..=22)?),
        cpu: spent(14..=15)?,
        resident: line("VmRSS:")? << 10,
        peak: line("VmHWM:")? << 10,
        descriptors: rustix::fs::Dir::read_from(descriptors()?).ok()?.count().saturating_sub(3),
        descriptor_limit: most_open(),
        threads: line("Threads:")?,
        wakeups: line("voluntary_ctxt_switches:")?,
        lost_lines: 0,
    })
}

/// Returns the system's figures of this process.
#[cfg(not(target_os = "linux"))]
pub(crate) fn cost() -> Option<Cost> {
    None
}

/// Opens the folder of our descriptors; it is one of them itself.
#[cfg(target_os = "linux")]
fn descriptors() -> Option<std::os::fd::OwnedFd> {
    use rustix::fs::{CWD, Mode, OFlags, openat};
    openat(CWD, "/proc/self/fd", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()
}

/// Returns a number of `/proc/self/stat`, whose second field may hold anything between brackets.
#[cfg(any(test, target_os = "linux"))]
fn field(stat: &str, at: usize) -> Option<u64> {
    let (_, after_name) = stat.rsplit_once(')')?;
    after_name.split_ascii_whitespace().nth(at.checked_sub(3)?)?.parse().ok()
}

#[cfg(any(test, target_os = "linux"))]
fn number_after(status: &str, name: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix(name))?;
    line.split_ascii_whitespace().next()?.parse().ok()
}

#[cfg(any(test, target_os = "linux"))]
fn ticks_as_time(ticks: u64, a_second: u64) -> Duration {
    Duration::from_millis(ticks.saturating_mul(1_000) / a_second.max(1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_and_blanks_moves_no_field() {
        let stat = "7 (a) b (c)) S 1 7 7 0 -1 0 1 0 2 0 250 50 0 0 20 0 4 0 6000 1 2";
        assert_eq!((field(stat, 14), field(stat, 15), field(stat, 22)), (Some(250), Some(50), Some(6_000)));
        assert_eq!(field("7 (a) S", 14), None);
    }

    #[test]
    fn lines_are_found_by_their_whole_name() {
        let status = "VmHWM:\t  9 kB\nVmRSS:\t   8 kB\nnonvoluntary_ctxt_switches:\t3\n";
        assert_eq!(number_after(status, "VmRSS:"), Some(8));
        assert_eq!(number_after(status, "voluntary_ctxt_switches:"), None);
        assert_eq!(ticks_as_time(250, 100), Duration::from_millis(2_500));
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn this_very_process_costs_something() {
        let cost = cost().unwrap();
        assert_eq!(cost.pid, std::process::id());
        assert!(cost.resident > 0 && cost.peak >= cost.resident && cost.descriptors >= 3, "{cost:?}");
    }
}
