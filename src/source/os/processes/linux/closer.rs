//! A closer look at one process: details, and a pidfd that vouches for all that was read.

use std::os::fd::{AsFd, OwnedFd};

use rustix::fs::{Dir, Mode, OFlags, fstat, openat};

use crate::core::model::{InnerPids, Process, ProcessState};
use crate::source::os::processes::linux::proc::stat::Layout;
use crate::source::os::processes::linux::proc::{Proc, Reading, is_gone, number, slurp, understood};
use crate::source::os::processes::linux::{details, pidfd};

/// The result of a closer look, kept for the next one.
pub(crate) struct DetailCache {
    pub(crate) process: Process,
    /// The inode of `/proc/<pid>`, which distinguishes processes that share PID and tick. The kernel does not promise
    /// it, so a new one only costs another read.
    folder: u64,
    layout: Option<Layout>,
}

/// The outcome of a closer look.
pub(crate) enum Closer {
    /// It was read.
    Read(Box<DetailCache>),
    /// No more can be read than its `stat` before.
    Unreadable,
    /// It has exited and been reaped.
    Gone,
}

/// Looks closer at one process; once more if its PID passes to another process meanwhile.
pub(crate) fn look(proc: &mut Proc, pid: u32, kept: Option<Box<DetailCache>>) -> Closer {
    match attempt(proc, pid, kept) {
        Closer::Read(kept) if is_torn(&kept.process) => attempt(proc, pid, None),
        closer @ (Closer::Read(..) | Closer::Unreadable | Closer::Gone) => closer,
    }
}

/// Updates the cached details of a process with this folder, and returns whether that is enough: it lives and runs the
/// same program. Its arguments are not read again; if the kernel puts every program at the same place, a change to
/// another program of the same name is not noticed.
pub(crate) fn is_as_before(proc: &mut Proc, folder: u64, kept: &mut DetailCache) -> bool {
    let pid = kept.process.id.pid;
    let folder_now = details::in_folder(details::Details::default(), proc.as_fd(), &format!("{pid}/cwd"));
    // Last: if the process is the same now, it was the same before.
    let Reading::Read(line) = proc.process(pid) else { return false };
    let lives = match line.process.state {
        ProcessState::Running | ProcessState::Stopped => kept.process.has_exited != Some(true),
        ProcessState::LeaderExited | ProcessState::Zombie => false,
    };
    let is_same = line.process.id == kept.process.id && folder == kept.folder;
    let runs_same =
        line.layout.is_some() && line.layout == kept.layout && line.process.comm == kept.process.comm;
    if !(lives && is_same && runs_same) {
        return false;
    }
    let Some(details) = kept.process.details.take() else { return false };
    kept.process = Process {
        details: Some(details::Details {
            cwd: folder_now.cwd,
            is_cwd_gone: folder_now.is_cwd_gone,
            ..details
        }),
        pidfd_inode: kept.process.pidfd_inode,
        has_exited: kept.process.has_exited,
        inner: std::mem::take(&mut kept.process.inner),
        ..line.process
    };
    true
}

/// Returns whether pidfd and `stat` contradict each other: it exited in between, or they belong to two processes.
fn is_torn(process: &Process) -> bool {
    process.has_exited == Some(true) && process.state != ProcessState::Zombie
}

/// Opens the pidfd, reads, and then checks the pidfd: if its process has not exited, everything read in between
/// belongs to it.
fn attempt(proc: &mut Proc, pid: u32, kept: Option<Box<DetailCache>>) -> Closer {
    let pidfd = if proc.is_own() { pidfd::open(pid).ok() } else { None };
    // Something else may be mounted where its folder was.
    let gone = || match pidfd.as_ref().and_then(pidfd::has_exited) {
        Some(false) => Closer::Unreadable,
        Some(true) | None => Closer::Gone,
    };
    let folder = match proc.folder(pid) {
        Ok(folder) => folder,
        Err(error) if is_gone(error) => return gone(),
        Err(_) => return Closer::Unreadable,
    };
    let mut text = Vec::new();
    let outcome = slurp(folder.as_fd(), "stat", &mut text, 4 << 10);
    let line = match understood(pid, outcome.map(|()| text.as_slice())) {
        Reading::Read(line) => line,
        Reading::Unreadable => return Closer::Unreadable,
        Reading::Gone => return gone(),
    };
    let inode = fstat(&folder).map(|stat| stat.st_ino).unwrap_or_default();
    let mut process = line.process;
    let kept = kept.filter(|kept| kept.process.id == process.id && kept.folder == inode);
    let known = kept.and_then(|kept| kept.process.details);
    let mut details = match (process.state, known) {
        (ProcessState::Zombie, Some(known)) => details::left_of(known),
        (ProcessState::LeaderExited, known) => {
            details::read(&folder, thread_of(&folder, pid).as_ref().unwrap_or(&folder), known)
        }
        (_, known) => details::read(&folder, &folder, known),
    };
    details.is_kernels = line.is_kernels;
    process.inner = InnerPids::from_ns_pids(&details.ns_pids);
    process.details = Some(details);
    vouch(&mut process, pidfd.as_ref());
    Closer::Read(Box::new(DetailCache { process, folder: inode, layout: line.layout }))
}

/// Opens the folder of a thread that still runs: it shows the program of a process whose first thread has ended.
fn thread_of(folder: &OwnedFd, pid: u32) -> Option<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let tasks = openat(folder, "task", flags, Mode::empty()).ok()?;
    let threads = Dir::read_from(&tasks).ok()?.filter_map(|entry| number(entry.ok()?.file_name().to_bytes()));
    let open = |thread: u32| openat(&tasks, thread.to_string(), flags, Mode::empty()).ok();
    threads
        .filter(|thread| *thread != pid)
        .filter_map(open)
        .find(|thread| details::exe(thread.as_fd(), "exe").is_some())
}

fn vouch(process: &mut Process, pidfd: Option<&OwnedFd>) {
    process.pidfd_inode = pidfd.and_then(pidfd::inode);
    process.has_exited = pidfd.and_then(pidfd::has_exited);
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::processes::started::spawn;

    /// A shell that does one line after another, until it is dropped.
    struct Shell(Child);

    impl Shell {
        #[expect(clippy::disallowed_methods, reason = "a test starts a process of its own")]
        fn start() -> Self {
            let mut command = Command::new("/bin/sh");
            let mut shell = Self(spawn(command.stdin(Stdio::piped()).stdout(Stdio::piped())));
            // Once it answers it is no longer a copy of this process.
            shell.report("echo");
            shell.0.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            shell
        }

        fn report(&mut self, line: &str) {
            writeln!(self.0.stdin.as_mut().unwrap(), "{line}").unwrap();
        }

        fn kept(&self, proc: &mut Proc) -> DetailCache {
            let Closer::Read(kept) = look(proc, self.0.id(), None) else { panic!("it was not reaped") };
            *kept
        }
    }

    impl Drop for Shell {
        fn drop(&mut self) {
            self.0.kill().unwrap();
            self.0.wait().unwrap();
        }
    }

    #[test]
    fn where_a_process_works_is_followed_and_another_program_of_that_name_is_noticed() {
        let (mut shell, mut proc) = (Shell::start(), Proc::open().unwrap());
        let mut kept = shell.kept(&mut proc);
        let folder = kept.folder;
        assert!(is_as_before(&mut proc, folder, &mut kept));
        shell.report("cd /proc");
        let cwd = |kept: &DetailCache| kept.process.details.as_ref().unwrap().cwd.clone().unwrap();
        while cwd(&kept).raw() != "/proc" {
            assert!(is_as_before(&mut proc, folder, &mut kept));
        }
        assert!(!is_as_before(&mut proc, folder + 1, &mut kept), "a folder of another process");
        shell.report("exec /bin/sh");
        while is_as_before(&mut proc, folder, &mut kept) {}
        assert_eq!(shell.kept(&mut proc).process.id, kept.process.id);
    }

    #[test]
    fn whoever_has_exited_is_looked_at_closer() {
        let (mut shell, mut proc) = (Shell::start(), Proc::open().unwrap());
        let mut kept = shell.kept(&mut proc);
        shell.report("exit");
        while is_as_before(&mut proc, kept.folder, &mut kept) {}
        // It gives up its memory first, and is a zombie a moment later.
        while shell.kept(&mut proc).process.state != ProcessState::Zombie {}
        assert!(!is_as_before(&mut proc, kept.folder, &mut kept));
        let unknown = shell.kept(&mut proc).process.details.unwrap();
        let Closer::Read(known) = look(&mut proc, shell.0.id(), Some(Box::new(kept))) else { panic!() };
        let known = known.process.details.unwrap();
        assert_eq!((known.uid, known.ns_pids), (unknown.uid, unknown.ns_pids), "what a zombie still tells");
        assert_eq!((known.exe, known.argv, known.cwd), (unknown.exe, unknown.argv, unknown.cwd));
    }
}
