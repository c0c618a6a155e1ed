//! The `/proc` folder: listing it, and reading its files into one reused buffer.

pub(crate) mod stat;
pub(crate) mod status;
pub(crate) mod threads;
pub(crate) mod tty;

use std::cell::OnceCell;
use std::fmt::Write as _;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::buffer::spare_capacity;
use rustix::fs::{CWD, Mode, OFlags, RawDir, openat, readlinkat};
use rustix::io::{Errno, read, retry_on_intr};
use rustix::process::{Pid, PidfdFlags, pidfd_open};

use crate::core::model::ProcessId;
use crate::source::os::open::error::errno_text;
use crate::source::os::processes::linux::proc::stat::Line;

/// How much of `/proc` one `getdents64` may return, in bytes.
const LISTING: usize = 32 << 10;
/// Enough for every `stat` file: 52 numbers and a name of 15 bytes (proc(5)).
pub(crate) const STAT: usize = 2 << 10;

/// An open `/proc` and the buffers for reading it.
pub(crate) struct Proc {
    fd: OwnedFd,
    is_own: OnceCell<bool>,
    path: String,
    text: Vec<u8>,
}

pub(crate) enum Reading<T> {
    Read(T),
    /// It exists, but may not be read.
    Unreadable,
    Gone,
}

impl Proc {
    /// Opens `/proc`.
    ///
    /// # Errors
    /// The failure, as text.
    pub(crate) fn open() -> Result<Self, String> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let fd = openat(CWD, "/proc", flags, Mode::empty())
            .map_err(|error| format!("failed to open /proc: {}", errno_text(error)))?;
        let (path, text) = (String::with_capacity(32), Vec::with_capacity(STAT));
        Ok(Self { fd, is_own: OnceCell::new(), path, text })
    }

    /// Returns whether it shows our own PID namespace: only then its numbers mean the same to system calls such as
    /// `pidfd_open`. In a namespace above we have several numbers, of which the first can equal our own by chance.
    pub(crate) fn is_own(&self) -> bool {
        *self.is_own.get_or_init(|| {
            let shown = readlinkat(&self.fd, "self", Vec::new());
            let own = std::process::id().to_string();
            let mut text = Vec::new();
            shown.is_ok_and(|shown| shown.as_bytes() == own.as_bytes())
                && slurp(self.fd.as_fd(), "self/status", &mut text, status::MOST).is_ok()
                && status::ns_pids(&text).len() <= 1
        })
    }

    /// Lists every PID with the inode of its folder, and returns what went wrong if the list may be incomplete. The
    /// list is complete for every process that lives throughout the listing.
    pub(crate) fn list(&self) -> (Vec<(u32, u64)>, Option<String>) {
        let mut buffer = Vec::with_capacity(LISTING);
        let mut entries = RawDir::new(&self.fd, buffer.spare_capacity_mut());
        let mut pids = Vec::new();
        while let Some(entry) = entries.next() {
            match entry {
                Ok(entry) => {
                    pids.extend(number(entry.file_name().to_bytes()).map(|pid| (pid, entry.ino())));
                }
                Err(Errno::INTR) => {}
                Err(error) => return (pids, Some(format!("failed to list /proc: {}", errno_text(error)))),
            }
        }
        (pids, None)
    }

    pub(crate) fn process(&mut self, pid: u32) -> Reading<Line> {
        self.path.clear();
        // Writing to a string cannot fail.
        let _ = write!(self.path, "{pid}/stat");
        let outcome = slurp(self.fd.as_fd(), &self.path, &mut self.text, STAT);
        let is_hidden = outcome.is_err_and(|error| is_gone(error) && self.is_there_all_the_same(pid));
        if is_hidden {
            return Reading::Unreadable;
        }
        understood(pid, outcome.map(|()| self.text.as_slice()))
    }

    /// Returns whether the kernel knows a process by a PID that has no folder: something else may be mounted there.
    fn is_there_all_the_same(&self, pid: u32) -> bool {
        let pid = i32::try_from(pid).ok().and_then(Pid::from_raw).filter(|_| self.is_own());
        let opened = pid.map(|pid| pidfd_open(pid, PidfdFlags::empty()));
        // Without a free descriptor nothing is known.
        matches!(opened, Some(Ok(_) | Err(Errno::MFILE | Errno::NFILE | Errno::NOMEM)))
    }

    /// Opens the folder of one process: everything read through it belongs to that very process, even after its PID is
    /// reused.
    pub(crate) fn folder(&mut self, pid: u32) -> Result<OwnedFd, Errno> {
        self.path.clear();
        let _ = write!(self.path, "{pid}");
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        openat(&self.fd, self.path.as_str(), flags, Mode::empty())
    }

    /// Opens the folder of this very process; nothing if it has exited.
    pub(crate) fn folder_of(&mut self, id: ProcessId) -> Option<OwnedFd> {
        self.visit(id).map(|(folder, _)| folder)
    }

    /// Opens the folder of this very process, and returns its `stat` as well.
    pub(crate) fn visit(&mut self, id: ProcessId) -> Option<(OwnedFd, Vec<u8>)> {
        let folder = self.folder(id.pid).ok()?;
        let mut text = Vec::new();
        let outcome = slurp(folder.as_fd(), "stat", &mut text, STAT);
        match understood(id.pid, outcome.map(|()| text.as_slice())) {
            Reading::Read(line) if line.process.id == id => Some((folder, text)),
            Reading::Read(_) | Reading::Unreadable | Reading::Gone => None,
        }
    }
}

impl AsFd for Proc {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Interprets the outcome of reading a `stat` file.
pub(crate) fn understood(pid: u32, outcome: Result<&[u8], Errno>) -> Reading<Line> {
    match outcome {
        Ok(text) => stat::parse(pid, text).map_or(Reading::Unreadable, Reading::Read),
        Err(error) if is_gone(error) => Reading::Gone,
        Err(_) => Reading::Unreadable,
    }
}

/// Returns whether an error means that the process has exited: its folder is gone, or an open file's process was
/// reaped.
pub(crate) fn is_gone(error: Errno) -> bool {
    matches!(error, Errno::NOENT | Errno::SRCH)
}

/// Reads a file of `/proc` into `text`, at most `cap` bytes of it.
pub(crate) fn slurp(at: BorrowedFd<'_>, path: &str, text: &mut Vec<u8>, cap: usize) -> Result<(), Errno> {
    let fd = openat(at, path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty())?;
    text.clear();
    while text.len() < cap {
        text.reserve(STAT.min(cap));
        let room = text.capacity() - text.len();
        let count = retry_on_intr(|| read(&fd, spare_capacity(text)))?;
        // These files fill what they are given; a short read is the end.
        if count < room {
            break;
        }
    }
    text.truncate(cap);
    Ok(())
}

/// Reads a name of digits as a number.
pub(crate) fn number(name: &[u8]) -> Option<u32> {
    if !name.first()?.is_ascii_digit() {
        return None;
    }
    std::str::from_utf8(name).ok()?.parse().ok()
}
