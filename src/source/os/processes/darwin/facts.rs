//! The facts that macOS reports of one process, in the types of the core.

use crate::core::model::{InnerPids, Process, ProcessId, ProcessState, Untrusted};

/// How many ticks a second has: starts are reported in microseconds.
pub(crate) const TICKS: u64 = 1_000_000;

/// `SSTOP` and `SZOMB` (sys/proc.h).
const STOPPED: u32 = 4;
const ZOMBIE: u32 = 5;

/// The device of a process without a terminal (`NODEV`, sys/param.h).
const NO_DEVICE: u32 = u32::MAX;

/// The major number of pseudo terminals (`ttys003` in `ls -l /dev`).
const PSEUDO_TERMINAL: u32 = 16;

/// What `proc_bsdinfo` has of one process (sys/proc_info.h), beside the leader of its session (getsid(2)).
#[derive(Clone, Debug)]
pub(crate) struct Facts {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    pub(crate) status: u32,
    pub(crate) name: Vec<u8>,
    pub(crate) seconds: u64,
    pub(crate) micros: u64,
    pub(crate) device: u32,
    pub(crate) session: u32,
}

impl Facts {
    /// Returns the PID and the start: microseconds from 1970 on by the wall clock of then, which the kernel
    /// keeps as they are when the clock is set.
    pub(crate) fn id(&self) -> ProcessId {
        ProcessId {
            pid: self.pid,
            start_ticks: self.seconds.saturating_mul(TICKS).saturating_add(self.micros),
        }
    }

    /// Returns the process without its details. There are no PID namespaces, so all its numbers are known.
    pub(crate) fn process(&self) -> Process {
        Process {
            id: self.id(),
            parent: self.parent,
            state: match self.status {
                ZOMBIE => ProcessState::Zombie,
                STOPPED => ProcessState::Stopped,
                _ => ProcessState::Running,
            },
            comm: Untrusted::from_bytes(until_zero(&self.name)),
            tty: terminal(self.device),
            group: 0,
            session: self.session,
            pidfd_inode: None,
            has_exited: None,
            inner: InnerPids::Read([].into()),
            is_renamed: false,
            details: None,
        }
    }

    /// Returns whether it has a terminal.
    pub(crate) fn is_job(&self) -> bool {
        self.device != NO_DEVICE
    }
}

fn until_zero(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// Returns the name below `/dev`, or `major:minor` of a device that is not a pseudo terminal. A device has 8 bits of
/// major and 24 of minor (sys/types.h).
fn terminal(device: u32) -> Option<String> {
    let (major, minor) = (device >> 24, device & 0xFF_FFFF);
    match (device, major) {
        (NO_DEVICE, _) => None,
        (_, PSEUDO_TERMINAL) => Some(format!("ttys{minor:03}")),
        _ => Some(format!("{major}:{minor}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn facts() -> Facts {
        Facts {
            pid: 4_711,
            parent: 1,
            status: 3,
            name: b"claude\0\0left over\0".to_vec(),
            seconds: 1_795_210_496,
            micros: 141_007,
            device: 16 << 24 | 3,
            session: 4_700,
        }
    }

    #[test]
    fn a_start_keeps_its_microseconds() {
        let process = facts().process();
        assert_eq!(process.id, ProcessId { pid: 4_711, start_ticks: 1_795_210_496_141_007 });
        assert_eq!((process.comm.raw(), process.tty.as_deref()), ("claude", Some("ttys003")));
        assert_eq!(process.inner_pids(), Some([].as_slice()));
    }

    #[test]
    fn a_process_that_is_over_is_a_zombie_and_one_that_sleeps_runs() {
        let state = |status| Facts { status, ..facts() }.process().state;
        assert_eq!(state(1), ProcessState::Running, "it is being made");
        assert_eq!(state(4), ProcessState::Stopped);
        assert_eq!(state(5), ProcessState::Zombie);
        assert_eq!(state(77), ProcessState::Running, "a state that is not known proves no death");
    }

    #[test]
    fn a_terminal_is_named_as_below_dev() {
        assert_eq!(terminal(u32::MAX), None);
        assert_eq!(terminal(16 << 24 | 1_000).as_deref(), Some("ttys1000"));
        assert_eq!(terminal(5 << 24).as_deref(), Some("5:0"));
        assert!(!Facts { device: u32::MAX, ..facts() }.is_job());
    }
}
