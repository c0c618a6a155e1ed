//! Whether `/proc` shows every process: only then does absence prove anything.

use std::ffi::OsStr;
use std::path::Path;
use std::sync::OnceLock;

use rustix::fs::CWD;
use rustix::process::geteuid;

use crate::source::os::open::error::errno_text;
use crate::source::os::open::medium::{line_of, mount_of};
use crate::source::os::open::plain::small;
use crate::source::os::processes::linux::proc::Proc;

/// The most bytes of mounts that are read.
const MOUNTS: usize = 8 << 20;

/// Returns why the list may lack processes; `None` if it cannot. Anything that cannot be determined is a reason too.
pub(crate) fn doubt(proc: &Proc) -> Option<String> {
    if !proc.is_own() {
        return Some("/proc shows another pid namespace".to_owned());
    }
    if sees_everything() {
        return None;
    }
    let mounts = match small(Path::new("/proc/self/mountinfo"), MOUNTS) {
        Ok(mounts) => mounts,
        Err(error) => return Some(format!("failed to read /proc/self/mountinfo: {}", errno_text(error))),
    };
    let mounts = String::from_utf8_lossy(&mounts);
    // Kernels before 5.8 do not report its ID; then any of the mounts at this place may be the topmost.
    let mount = mount_of(CWD, OsStr::new("/proc"));
    match hidden(&mounts, mount) {
        Some("") => Some("could not find out how /proc is mounted".to_owned()),
        hides => hides.map(|hides| format!("/proc is mounted with hidepid={hides}")),
    }
}

/// Returns the `hidepid` option of the mount on `/proc` (proc(5)) if it hides anything; an empty one if that mount is
/// not listed.
fn hidden(mounts: &str, mount: Option<u64>) -> Option<&str> {
    let at_proc = |line: &&str| line.split(' ').nth(4) == Some("/proc");
    let mut lines: Vec<&str> = match mount {
        Some(mount) => line_of(mounts, mount).into_iter().collect(),
        None => mounts.lines().filter(at_proc).collect(),
    };
    if lines.is_empty() {
        lines.push(" - proc proc hidepid=");
    }
    lines.into_iter().find_map(|line| {
        let options = line.split_once(" - ")?.1.split(' ').nth(2)?;
        let value = options.split(',').find_map(|option| option.strip_prefix("hidepid="))?;
        (!matches!(value, "0" | "off")).then_some(value)
    })
}

/// Returns whether we are the root of the whole machine, and not only of a user namespace
/// (user_namespaces(7)), with the capability that `hidepid` asks for (capabilities(7),
/// `CAP_SYS_PTRACE`). Neither changes while we run.
fn sees_everything() -> bool {
    static SEES: OnceLock<bool> = OnceLock::new();
    *SEES.get_or_init(|| {
        let map = small(Path::new("/proc/self/uid_map"), 64 << 10).unwrap_or_default();
        let map = String::from_utf8_lossy(&map);
        let status = small(Path::new("/proc/self/status"), 64 << 10).unwrap_or_default();
        geteuid().is_root()
            && map.split_ascii_whitespace().eq(["0", "0", "4294967295"])
            && may_trace(&String::from_utf8_lossy(&status))
    })
}

/// Returns whether a process may inspect all others, by the line `CapEff` of its status.
fn may_trace(status: &str) -> bool {
    const SYS_PTRACE: u32 = 19;
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    let set = effective.and_then(|set| u64::from_str_radix(set.trim(), 16).ok());
    set.is_some_and(|set| set >> SYS_PTRACE & 1 == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(options: &str, expected: Option<&str>) {
        let mounts = format!(
            "22 1 0:20 / /sys rw - sysfs sysfs rw\n\
             23 1 0:21 / /proc rw,relatime shared:5 - proc proc {options}\n\
             24 1 0:22 / /proc/sys rw - proc proc rw,hidepid=2\n"
        );
        assert_eq!(hidden(&mounts, Some(23)), expected);
        assert_eq!(hidden(&mounts, None), expected);
        assert_eq!(hidden(&mounts, Some(7)), Some(""), "it is not listed");
    }

    #[test]
    fn a_mount_that_hides_processes_is_seen() {
        check("rw", None);
        check("rw,hidepid=0", None);
        check("rw,gid=5,hidepid=2", Some("2"));
        check("rw,hidepid=invisible", Some("invisible"));
        check("rw,hidepid=ptraceable", Some("ptraceable"));
    }

    #[test]
    fn root_that_gave_up_a_capability_does_not_see_everything() {
        assert!(may_trace("Name:\tclaimtop\nCapPrm:\t0\nCapEff:\t000001ffffffffff\n"));
        assert!(!may_trace("Name:\tclaimtop\nCapEff:\t000001fffff7ffff\n"));
        assert!(!may_trace(""));
    }

    #[test]
    fn the_mount_counts_through_which_processes_are_read_wherever_it_is_listed() {
        let mounts = "23 99 0:21 / /proc rw - proc proc rw,hidepid=2\n\
                      99 1 0:31 / /proc rw - proc proc rw\n";
        assert_eq!(hidden(mounts, Some(99)), None);
        assert_eq!(hidden(mounts, Some(23)), Some("2"));
        assert_eq!(hidden(mounts, None), Some("2"));
    }
}
