//! What may hinder the end of a process: a tracer, a wait in the kernel, or a lock of git's that it holds.

use std::os::fd::{AsFd, BorrowedFd};
use std::time::Duration;

use crate::core::model::{Hindrance, ProcessId};
use crate::source::os::processes::linux::handles::links::{LinkQuery, opened};
use crate::source::os::processes::linux::proc::status;
use crate::source::os::processes::linux::proc::{Proc, slurp};

/// How often, and at what interval, to check whether a process still waits in the kernel.
const TRIES: usize = 20;
const MOMENT: Duration = Duration::from_millis(2);

/// Reads it; nothing if the process has exited, its PID belongs to another process, or it may not be read.
pub(crate) fn read(proc: &mut Proc, id: ProcessId) -> Option<Hindrance> {
    let folder = proc.folder_of(id)?;
    from_links(folder.as_fd(), opened(folder.as_fd()).ok().as_ref())
}

/// Reads the same of a process whose links were read, if they may be.
pub(crate) fn from_links(folder: BorrowedFd<'_>, opened: Option<&LinkQuery>) -> Option<Hindrance> {
    let mut text = Vec::new();
    slurp(folder, "status", &mut text, status::MOST).ok()?;
    match (status::tracer(&text)?, status::state(&text)?) {
        // A tracer of a PID namespace above this one has no number here.
        (0, b't') => return Some(Hindrance::Traced(0)),
        (0, b'D') => return Some(Hindrance::Waiting),
        (0, _) => {}
        (tracer, _) => return Some(Hindrance::Traced(tracer)),
    }
    Some(opened?.lock.clone().map_or(Hindrance::Nothing, Hindrance::Locking))
}

/// Reads it, and once more in a moment if the process waits in the kernel: a process that starts a program waits so
/// until the program runs (vfork(2)).
pub(crate) fn read_settled(proc: &mut Proc, id: ProcessId) -> Option<Hindrance> {
    for _ in 0..TRIES {
        match read(proc, id) {
            Some(Hindrance::Waiting) => std::thread::sleep(MOMENT),
            other => return other,
        }
    }
    read(proc, id)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests start processes")]
mod tests {
    use std::io::Read as _;
    use std::os::unix::process::CommandExt as _;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::core::model::Untrusted;
    use crate::source::os::processes::linux::proc::Reading;
    use crate::source::os::processes::started::spawn;

    /// A process, with its group, that is ended with this.
    struct EndedWith(Child);

    impl EndedWith {
        /// Starts a program, and waits for its first output.
        fn new(program: &str, arguments: &[&str]) -> Self {
            let mut command = Command::new(program);
            let mut child = spawn(command.args(arguments).stdout(Stdio::piped()).process_group(0));
            child.stdout.as_mut().unwrap().read_exact(&mut [0]).unwrap();
            Self(child)
        }

        fn hindrance(&self) -> Option<Hindrance> {
            let mut proc = Proc::open().unwrap();
            let Reading::Read(line) = proc.process(self.0.id()) else { panic!("it runs") };
            let id = line.process.id;
            let other = ProcessId { start_ticks: id.start_ticks + 1, ..id };
            assert_eq!(read(&mut proc, other), None);
            read(&mut proc, id)
        }
    }

    impl Drop for EndedWith {
        fn drop(&mut self) {
            let group = format!("-{}", self.0.id());
            let _ = Command::new("/bin/kill").args(["-9", "--", &group]).status();
            let _ = self.0.wait();
        }
    }

    fn python(script: &str) -> Option<EndedWith> {
        if !std::path::Path::new("/usr/bin/python3").exists() {
            eprintln!("skipped: there is no python3");
            return None;
        }
        Some(EndedWith::new("/usr/bin/python3", &["-c", script]))
    }

    #[test]
    fn most_are_in_the_middle_of_nothing() {
        let sleeping = EndedWith::new("/bin/sh", &["-c", "echo; exec sleep 600"]);
        assert_eq!(sleeping.hindrance(), Some(Hindrance::Nothing));
    }

    #[test]
    fn whoever_has_a_lock_of_git_open_is_told_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(".git/index.lock");
        std::fs::create_dir(folder.path().join(".git")).unwrap();
        let script = format!("exec 7>'{}'; echo; exec sleep 600", path.display());
        let holder = EndedWith::new("/bin/sh", &["-c", &script]);
        let path = std::fs::canonicalize(path).unwrap();
        assert_eq!(holder.hindrance(), Some(Hindrance::Locking(Untrusted::from_path(&path))));
    }

    #[test]
    fn a_traced_process_is_told_with_its_tracer() {
        // It asks its parent to trace it.
        let script =
            "import ctypes, time; ctypes.CDLL(None).ptrace(0, 0, 0, 0); print(flush=True); time.sleep(600)";
        let Some(traced) = python(script) else { return };
        // That is the thread that started it.
        assert!(matches!(traced.hindrance(), Some(Hindrance::Traced(1..))));
    }

    #[test]
    fn whoever_waits_in_the_kernel_is_told() {
        // Until its child runs a program it waits so (vfork(2)); the child waits for a pipe's other end.
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let script = format!(
            "import os; os.mkfifo('{0}'); print(flush=True); \
             os.posix_spawn('/bin/true', ['true'], {{}}, file_actions=[(os.POSIX_SPAWN_OPEN, 0, '{0}', os.O_RDONLY, 0)])",
            pipe.display()
        );
        let Some(waiting) = python(&script) else { return };
        while waiting.hindrance() != Some(Hindrance::Waiting) {
            std::thread::yield_now();
        }
    }
}
