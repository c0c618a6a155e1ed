//! The cost of a process: its memory and its CPU time.

use std::os::fd::{AsFd, BorrowedFd};

use crate::core::model::{Load, ProcessId};
use crate::source::os::processes::linux::proc::stat;
use crate::source::os::processes::linux::proc::stat::ticks_per_second;
use crate::source::os::processes::linux::proc::{Proc, slurp};

/// The most bytes of `smaps_rollup` that are read; it has about 1 KiB.
const ROLLUP: usize = 8 << 10;

/// Reads what one process costs; nothing if it has exited or its PID belongs to another process.
pub(crate) fn read(proc: &mut Proc, id: ProcessId) -> Option<Load> {
    let (folder, stat) = proc.visit(id)?;
    Some(read_load(folder.as_fd(), &stat))
}

/// Reads the cost of the process with this `stat`.
pub(crate) fn read_load(folder: BorrowedFd<'_>, stat: &[u8]) -> Load {
    let cpu_time = stat::cpu_ticks(stat).map(|ticks| ticks.saturating_mul(1000) / ticks_per_second());
    let mut text = Vec::new();
    let rollup = slurp(folder, "smaps_rollup", &mut text, ROLLUP);
    let memory = rollup.ok().and_then(|()| proportional(&text));
    Load { memory, cpu_time }
}

/// Returns the bytes of the `Pss:` line, which is in kB (proc_pid_smaps(5)).
fn proportional(text: &[u8]) -> Option<u64> {
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"Pss:"))?;
    let kilobytes = std::str::from_utf8(line).ok()?.trim().strip_suffix("kB")?;
    kilobytes.trim().parse::<u64>().ok()?.checked_mul(1024)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::os::processes::linux::proc::Reading;

    #[test]
    fn shared_memory_counts_in_part() {
        let text = b"5600-7ff [rollup]\nRss:  41000 kB\nPss:       8300 kB\nPss_Dirty:  4000 kB\n";
        assert_eq!(proportional(text), Some(8300 * 1024));
        for text in
            ["", "Pss: x kB", "Pss: 99999999999999999999 kB", "Pss: 18446744073709551615 kB", "Pss: 7"]
        {
            assert_eq!(proportional(text.as_bytes()), None, "{text}");
        }
    }

    #[test]
    fn our_own_load_is_read_and_nobody_elses_under_our_number() {
        let mut proc = Proc::open().unwrap();
        let Reading::Read(line) = proc.process(std::process::id()) else { panic!("we run") };
        let load = read(&mut proc, line.process.id).unwrap();
        assert!(load.memory.is_some_and(|bytes| bytes > 100 << 10), "{load:?}");
        assert!(load.cpu_time.is_some(), "{load:?}");
        let other = ProcessId { start_ticks: line.process.id.start_ticks + 1, ..line.process.id };
        assert_eq!(read(&mut proc, other), None);
    }
}
