//! What a process of one thread waits for in the kernel: `wchan` and `syscall` (proc(5)).

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd};

use rustix::fs::readlinkat;

use crate::core::model::{Process, Untrusted, WaitSort};
use crate::source::os::processes::linux::handles::links::{Nameless, descriptors, each, mode, nameless};
use crate::source::os::processes::linux::proc::{number, slurp};

/// The most bytes of a small file of a process.
const SMALL: usize = 4 << 10;

/// The numbers of read(2), and of wait4(2), waitid(2) and rt_sigsuspend(2).
#[cfg(target_arch = "x86_64")]
const CALLS: (u32, [u32; 3]) = (0, [61, 247, 130]);
#[cfg(not(target_arch = "x86_64"))]
const CALLS: (u32, [u32; 3]) = (63, [260, 95, 133]);

/// What a process waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Blocking {
    /// What is known by the process alone.
    Known(WaitSort),
    /// It reads from this pipe.
    Pipe(u64),
}

impl Blocking {
    /// Returns the pipe that it reads from.
    pub(crate) fn pipe(&self) -> Option<u64> {
        match self {
            Self::Known(_) => None,
            Self::Pipe(inode) => Some(*inode),
        }
    }
}

/// The terminals whose other side a process has open.
#[derive(Default)]
pub(crate) struct Terminals {
    names: BTreeSet<String>,
    /// Its mount namespace: another one may have other terminals of these names.
    mounts: Option<Vec<u8>>,
}

impl Terminals {
    /// Reads them from the folder of the process.
    pub(crate) fn of_process(folder: BorrowedFd<'_>) -> Self {
        let mut names = BTreeSet::new();
        if let Ok(at) = descriptors(folder) {
            let mut add = |name: &str| {
                let target = readlinkat(&at, name, Vec::new());
                if target.is_ok_and(|target| target.as_bytes().ends_with(b"/ptmx")) {
                    names.extend(other_side(folder, name));
                }
            };
            let _ = each(&at, &mut add);
        }
        Self { names, mounts: mounts(folder) }
    }

    /// Returns the name of the terminal that a descriptor of a process is, if it is one of these.
    fn name_of(&self, folder: BorrowedFd<'_>, descriptor: u32, process: &Process) -> Option<Untrusted> {
        let target = readlinkat(folder, format!("fd/{descriptor}"), Vec::new()).ok()?;
        let target = target.to_str().ok()?.strip_prefix("/dev/")?;
        let name = if target == "tty" { process.tty.as_deref()? } else { target };
        let is_same_place = self.mounts.is_some() && self.mounts == mounts(folder);
        (is_same_place && self.names.contains(name)).then(|| name.into())
    }
}

/// Returns the name of the terminal whose master side a descriptor is.
fn other_side(folder: BorrowedFd<'_>, descriptor: &str) -> Option<String> {
    let mut text = Vec::new();
    slurp(folder, &format!("fdinfo/{descriptor}"), &mut text, SMALL).ok()?;
    let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"tty-index:"))?;
    number(line.trim_ascii()).map(|index| format!("pts/{index}"))
}

fn mounts(folder: BorrowedFd<'_>) -> Option<Vec<u8>> {
    Some(readlinkat(folder, "ns/mnt", Vec::new()).ok()?.into_bytes())
}

/// Returns what a process of one thread that sleeps waits for, if it is one of the few things that show that it does
/// nothing else.
pub(crate) fn read(folder: BorrowedFd<'_>, terminals: &Terminals, process: &Process) -> Option<Blocking> {
    let mut text = Vec::new();
    slurp(folder, "wchan", &mut text, SMALL).ok()?;
    let place = Place::parse(std::str::from_utf8(&text).ok()?)?;
    // A kernel may let only a process's own parents read it (`kernel.yama.ptrace_scope`).
    let call = slurp(folder, "syscall", &mut text, SMALL).ok().map(|()| Entry::parse(&text));
    match (place, call) {
        (Place::Child, None | Some(Some(Entry::Child))) => Some(Blocking::Known(WaitSort::Child)),
        (Place::Pipe, Some(Some(Entry::Read(descriptor)))) => pipe(folder, descriptor),
        (Place::Pipe, None) => pipe(folder, only_input(folder)?),
        (Place::Terminal, Some(Some(Entry::Read(descriptor)))) => {
            let name = terminals.name_of(folder, descriptor, process)?;
            Some(Blocking::Known(WaitSort::Terminal(name)))
        }
        (Place::Terminal, None) => {
            let name = terminals.name_of(folder, only_input(folder)?, process)?;
            Some(Blocking::Known(WaitSort::Terminal(name)))
        }
        (Place::Child | Place::Pipe | Place::Terminal, Some(_)) => None,
    }
}

fn pipe(folder: BorrowedFd<'_>, descriptor: u32) -> Option<Blocking> {
    match nameless(folder, &format!("fd/{descriptor}"))? {
        Nameless::Pipe(inode) => Some(Blocking::Pipe(inode)),
        Nameless::Socket(_) => None,
    }
}

/// Returns the standard input of a process that has no socket and no other pipe or terminal to read from: then it is
/// what the process waits for.
fn only_input(folder: BorrowedFd<'_>) -> Option<u32> {
    let at = descriptors(folder).ok()?;
    let mut inputs: BTreeSet<Vec<u8>> = BTreeSet::new();
    let mut has_socket = false;
    each(&at, |name| {
        let Ok(target) = readlinkat(&at, name, Vec::new()) else { return };
        let target = target.into_bytes();
        has_socket |= target.starts_with(b"socket:");
        let is_input = target.starts_with(b"pipe:") || target.starts_with(b"/dev/") && target != b"/dev/null";
        if is_input && mode(at.as_fd(), name) & 0o400 != 0 {
            inputs.insert(target);
        }
    })
    .ok()?;
    let own = readlinkat(folder, "fd/0", Vec::new()).ok()?.into_bytes();
    let is_only =
        inputs.iter().all(|input| *input == own || own == b"/dev/tty" && input.starts_with(b"/dev/pts/"));
    (!has_socket && is_only && inputs.contains(&own)).then_some(0)
}

/// Where in the kernel a process sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Place {
    /// Until a process below it ends, or a signal says so.
    Child,
    /// Until there is something in a pipe.
    Pipe,
    /// Where reading from a terminal sleeps, among others.
    Terminal,
}

impl Place {
    fn parse(text: &str) -> Option<Self> {
        // The compiler may append `.isra.0` and the like.
        match text.split('.').next()? {
            "do_wait" | "sigsuspend" => Some(Self::Child),
            "pipe_read" | "anon_pipe_read" | "pipe_wait" => Some(Self::Pipe),
            "wait_woken" | "n_tty_read" => Some(Self::Terminal),
            _ => None,
        }
    }
}

/// The system call that a process is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Entry {
    Read(u32),
    Child,
}

impl Entry {
    /// Parses `0 0x3 0x7ffd...`: the number and the arguments. A process whose numbers are another architecture's
    /// sleeps elsewhere.
    fn parse(text: &[u8]) -> Option<Self> {
        let mut fields = std::str::from_utf8(text).ok()?.split_ascii_whitespace();
        let call: u32 = fields.next()?.parse().ok()?;
        let (read, child) = CALLS;
        if child.contains(&call) {
            return Some(Self::Child);
        }
        let descriptor = u32::from_str_radix(fields.next()?.strip_prefix("0x")?, 16).ok()?;
        (call == read).then_some(Self::Read(descriptor))
    }
}

#[cfg(test)]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Command, Stdio};

    use super::*;
    use crate::source::os::processes::linux::proc::Proc;
    use crate::source::os::processes::started::spawn;

    #[test]
    fn only_sleeps_with_one_meaning_are_known() {
        for (text, expected) in [
            ("do_wait", Some(Place::Child)),
            ("sigsuspend.isra.0", Some(Place::Child)),
            ("anon_pipe_read", Some(Place::Pipe)),
            ("wait_woken", Some(Place::Terminal)),
            ("hrtimer_nanosleep", None),
            ("do_epoll_wait", None),
            ("futex_do_wait", None),
            ("0", None),
            ("", None),
        ] {
            assert_eq!(Place::parse(text), expected, "{text}");
        }
    }

    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_call_is_known_by_its_number() {
        assert_eq!(Entry::parse(b"0 0x3 0x7ffd 0x1 0x0\n"), Some(Entry::Read(3)));
        assert_eq!(Entry::parse(b"61 0xffffffffffffffff 0x7ffd\n"), Some(Entry::Child));
        assert_eq!(Entry::parse(b"230 0x0 0x0\n"), None);
        assert_eq!(Entry::parse(b"running\n"), None);
        assert_eq!(Entry::parse(b"-1 0x7ffd 0x0\n"), None);
    }

    #[test]
    #[expect(clippy::disallowed_methods, reason = "the test starts processes")]
    fn without_the_call_only_a_sole_input_is_what_is_read() {
        let input = |output: Stdio| {
            let mut command = Command::new("/bin/sleep");
            command.arg("600").stdin(Stdio::piped()).stdout(output).stderr(Stdio::null());
            let mut child = spawn(&mut command);
            let folder = Proc::open().unwrap().folder(child.id()).unwrap();
            let found = only_input(folder.as_fd());
            child.kill().unwrap();
            child.wait().unwrap();
            found
        };
        assert_eq!(input(Stdio::null()), Some(0));
        let (socket, _other) = UnixStream::pair().unwrap();
        assert_eq!(input(OwnedFd::from(socket).into()), None);
    }

    proptest::proptest! {
        #[test]
        fn parsing_is_total(bytes: Vec<u8>) {
            let _ = Entry::parse(&bytes);
            let _ = Place::parse(&String::from_utf8_lossy(&bytes));
        }
    }
}
