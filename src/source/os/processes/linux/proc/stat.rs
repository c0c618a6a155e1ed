//! `/proc/<pid>/stat` (proc(5)): one line whose second field is any text in parentheses.

use crate::core::model::{InnerPids, Process, ProcessId, ProcessState, Untrusted};
use crate::source::os::processes::linux::proc::tty;

/// Where the fields are, counted from the state, which is field 3 of proc(5).
mod field {
    pub(crate) const STATE: usize = 0;
    pub(crate) const PARENT: usize = 1;
    pub(crate) const GROUP: usize = 2;
    pub(crate) const SESSION: usize = 3;
    pub(crate) const TTY: usize = 4;
    pub(crate) const FLAGS: usize = 6;
    pub(crate) const USER_TIME: usize = 11;
    pub(crate) const THREADS: usize = 17;
    pub(crate) const START: usize = 19;
    pub(crate) const STACK: usize = 25;
    pub(crate) const ARGUMENTS: usize = 45;
    pub(crate) const ENVIRONMENT: usize = 47;
    pub(crate) const COUNT: usize = ENVIRONMENT + 1;
}

/// The flag of a kernel thread, which never runs a program (`PF_KTHREAD` of `linux/sched.h`).
const KERNELS: u64 = 0x0020_0000;

#[derive(Debug)]
pub(crate) struct Line {
    pub(crate) process: Process,
    /// Whether it is a kernel thread, which never becomes a program.
    pub(crate) is_kernels: bool,
    /// `None` if it may not be known, as for other users' processes.
    pub(crate) layout: Option<Layout>,
}

/// Where in memory the kernel has put a program's stack, arguments and environment: at random,
/// anew for every program that a process becomes (`randomize_va_space` of sysctl/kernel).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout([u64; 3]);

/// Reads the line; `None` when it is not one, or another process's. A process may call itself `x) R 1`, so the name
/// ends at the *last* parenthesis.
pub(crate) fn parse(pid: u32, text: &[u8]) -> Option<Line> {
    let open = text.iter().position(|byte| *byte == b'(')?;
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let stated: u32 = std::str::from_utf8(text.get(..open)?).ok()?.trim_ascii().parse().ok()?;
    let comm = text.get(open + 1..close).filter(|_| stated == pid)?;
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = [""; field::COUNT];
    for (slot, value) in fields.iter_mut().zip(rest.split_ascii_whitespace()) {
        *slot = value;
    }
    let number = |index: usize| fields.get(index)?.parse::<i64>().ok();
    let size = |index: usize| fields.get(index)?.parse::<u64>().ok();
    let process = Process {
        id: ProcessId { pid, start_ticks: size(field::START)? },
        parent: u32::try_from(number(field::PARENT)?).unwrap_or_default(),
        state: state(fields.get(field::STATE)?, number(field::THREADS)?),
        comm: Untrusted::from_bytes(comm),
        tty: tty::name(number(field::TTY)?),
        group: u32::try_from(number(field::GROUP)?).unwrap_or_default(),
        session: u32::try_from(number(field::SESSION)?).unwrap_or_default(),
        pidfd_inode: None,
        has_exited: None,
        inner: InnerPids::default(),
        is_renamed: false,
        details: None,
    };
    let address = |index: usize| size(index).filter(|address| *address != 0);
    let layout =
        || Some(Layout([address(field::STACK)?, address(field::ARGUMENTS)?, address(field::ENVIRONMENT)?]));
    Some(Line { process, is_kernels: size(field::FLAGS)? & KERNELS != 0, layout: layout() })
}

/// Returns the CPU time that a process has used, its own and the kernel's for it, in ticks.
pub(crate) fn cpu_ticks(text: &[u8]) -> Option<u64> {
    let close = text.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(text.get(close + 1..)?).ok()?;
    let mut fields = rest.split_ascii_whitespace().skip(field::USER_TIME).map(|field| field.parse::<u64>());
    fields.next()?.ok()?.checked_add(fields.next()?.ok()?)
}

/// Converts the state letter. New kernels may have unknown letters; those all belong to existing processes.
fn state(letter: &str, threads: i64) -> ProcessState {
    match letter {
        "T" | "t" => ProcessState::Stopped,
        "Z" | "X" | "x" if threads > 1 => ProcessState::LeaderExited,
        "Z" | "X" | "x" => ProcessState::Zombie,
        _ => ProcessState::Running,
    }
}

/// Returns the ticks per second in which the kernel states start times (`sysconf(_SC_CLK_TCK)`).
pub(crate) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

#[cfg(test)]
mod tests {
    use super::*;

    const REST: &str = "1200 77 77 34817 77 4194304 1 2 3 4 5 6 7 8 20 0 THREADS 0 686753 1 2 3";

    #[track_caller]
    fn check(comm: &str, letter: &str, threads: &str, expected: ProcessState) {
        let line = format!("77 ({comm}) {letter} {}", REST.replace("THREADS", threads));
        let process = parse(77, line.as_bytes()).unwrap().process;
        assert_eq!(process.id, ProcessId { pid: 77, start_ticks: 686_753 });
        assert_eq!((process.comm.raw(), process.parent, process.session), (comm, 1200, 77));
        assert_eq!(process.tty.as_deref(), Some("pts/1"));
        assert_eq!(process.state, expected);
    }

    #[test]
    fn a_name_may_hold_anything() {
        check("bash", "S", "1", ProcessState::Running);
        check("x) R 1", "S", "1", ProcessState::Running);
        check("tmux: server", "S", "1", ProcessState::Running);
        check("a\nb (c", "D", "1", ProcessState::Running);
        check("", "I", "1", ProcessState::Running);
    }

    #[test]
    fn the_time_in_the_program_and_in_the_kernel_are_added() {
        let line = "77 (a) 1 2) S 1200 77 77 34817 77 4194304 1 2 3 4 500 60 7 8 20 0 1 0 686753 1 2 3";
        assert_eq!(cpu_ticks(line.as_bytes()), Some(560));
        assert_eq!(cpu_ticks(b"77 (x) S 1 2"), None);
    }

    #[test]
    fn a_zombie_with_threads_left_is_none() {
        check("claude", "Z", "1", ProcessState::Zombie);
        check("claude", "Z", "12", ProcessState::LeaderExited);
        check("claude", "T", "12", ProcessState::Stopped);
        check("claude", "t", "1", ProcessState::Stopped);
    }

    #[test]
    fn a_thread_of_the_kernel_is_told_by_its_flags() {
        let line =
            |flags: &str| format!("77 (a) b) S 1 77 77 0 -1 {flags} 1 2 3 4 5 6 7 8 20 0 1 0 9 1000 42 3");
        // As Linux 6.18 reports a shell and `kworker/0:0`.
        let is_kernels = |flags: &str| parse(77, line(flags).as_bytes()).unwrap().is_kernels;
        assert!(!is_kernels("4194304"));
        assert!(is_kernels("69238880"));
    }

    #[test]
    fn a_line_that_breaks_off_is_no_process() {
        let line = format!("77 (x) S {}", REST.replace("THREADS", "1"));
        let start = line.find("686753").unwrap();
        for end in 0..start {
            assert!(parse(77, line.get(..end).unwrap().as_bytes()).is_none(), "{end}");
        }
    }

    proptest::proptest! {
        #[test]
        fn parsing_is_total(bytes: Vec<u8>) {
            let _ = parse(1, &bytes);
        }
    }
}
