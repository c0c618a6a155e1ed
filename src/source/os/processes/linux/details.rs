//! The costlier facts of one process, read through its folder's descriptor.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::OnceLock;

use rustix::fs::{AtFlags, CWD, readlinkat, statat};

use crate::core::model::Untrusted;
use crate::core::model::text::secret::{hide, hide_in_arguments};
pub(crate) use crate::core::model::{Credentials, Details};
use crate::source::os::processes::environment::variables;
use crate::source::os::processes::linux::proc::status;
use crate::source::os::processes::linux::proc::{Reading, is_gone, slurp};

/// The most bytes of arguments that are read; the kernel allows about 2 MiB (execve(2)).
const ARGUMENTS: usize = 128 << 10;
/// The most bytes of environment that are read.
const ENVIRONMENT: usize = 2 << 20;

/// Reads all details but CPU and memory use: the identity of a process from its folder, and its program from the
/// folder of one of its threads; both are the same while its first thread runs. The environment is taken from `kept`
/// if the process still runs the same program with the same arguments.
pub(crate) fn read(folder: &OwnedFd, thread: &OwnedFd, kept: Option<Details>) -> Details {
    let (folder, thread) = (folder.as_fd(), thread.as_fd());
    let (exe, argv) = (exe(thread, "exe"), argv(thread, "cmdline"));
    let lasting = match kept.filter(|kept| kept.exe == exe && kept.argv == argv) {
        Some(kept) => kept,
        None => {
            let (clock, env) = (clock(thread), environment(thread, "environ"));
            let (has_other_clock, has_unread_clock) = (clock == Clock::Other, clock == Clock::Unread);
            Details { exe, argv, has_other_clock, has_unread_clock, env, ..Details::default() }
        }
    };
    let status = status_of(folder);
    let details = Details {
        uid: status.as_deref().and_then(status::user),
        credentials: status.as_deref().map(|status| credentials(folder, status)),
        ns_pids: status.as_deref().map(status::ns_pids).unwrap_or_default(),
        ..lasting
    };
    in_folder(details, thread, "cwd")
}

/// Adds the working directory, and whether it was removed. A folder's own name can end like the kernel's mark of a
/// removed one: then that very name exists.
pub(crate) fn in_folder(details: Details, at: BorrowedFd<'_>, path: &str) -> Details {
    let target = readlinkat(at, path, Vec::new()).ok();
    let left = target.as_ref().and_then(|target| target.as_bytes().strip_suffix(b" (deleted)"));
    let is_named_so =
        || target.as_ref().is_some_and(|target| statat(CWD, target, AtFlags::SYMLINK_NOFOLLOW).is_ok());
    let gone = left.filter(|_| !is_named_so());
    let cwd = gone.or(target.as_ref().map(|target| target.as_bytes())).map(Untrusted::from_bytes);
    Details { cwd, is_cwd_gone: gone.is_some(), ..details }
}

/// Returns the remaining details of a zombie (proc(5)): its user, and its PID namespace. Neither changes any more, so
/// nothing is read.
pub(crate) fn left_of(known: Details) -> Details {
    let Details { uid, credentials, ns_pids, has_other_clock, has_unread_clock, .. } = known;
    Details { uid, credentials, ns_pids, has_other_clock, has_unread_clock, ..Details::default() }
}

/// Reads the working directory.
pub(crate) fn cwd(at: BorrowedFd<'_>, path: &str) -> Option<Untrusted> {
    let target = readlinkat(at, path, Vec::new()).ok()?;
    Some(Untrusted::from_bytes(target.as_bytes()))
}

/// The time namespace of a process, compared with this one's.
#[derive(Clone, Copy, PartialEq)]
enum Clock {
    Same,
    Other,
    /// It may not be read: by the program's own wish, by another user, or without the right to trace (ptrace(2)).
    Unread,
}

/// Compares the time namespace of a process with this one's. A kernel without time namespaces has one for all.
fn clock(folder: BorrowedFd<'_>) -> Clock {
    static OWN: OnceLock<Option<CString>> = OnceLock::new();
    let own = OWN.get_or_init(|| readlinkat(CWD, "/proc/self/ns/time", Vec::new()).ok());
    let Some(own) = own else { return Clock::Same };
    match readlinkat(folder, "ns/time", Vec::new()) {
        Ok(theirs) if theirs == *own => Clock::Same,
        Ok(_) => Clock::Other,
        Err(_) => Clock::Unread,
    }
}

/// Reads the executable's path, without the mark of a removed one (proc(5)).
pub(crate) fn exe(at: BorrowedFd<'_>, path: &str) -> Option<Untrusted> {
    let target = readlinkat(at, path, Vec::new()).ok()?;
    let bytes = target.as_bytes();
    let mut path = Untrusted::from_bytes(bytes.strip_suffix(b" (deleted)").unwrap_or(bytes));
    hide(&mut path);
    Some(path)
}

/// Reads the arguments, without the secrets in them.
pub(crate) fn argv(at: BorrowedFd<'_>, path: &str) -> Vec<Untrusted> {
    let mut text = Vec::new();
    match slurp(at, path, &mut text, ARGUMENTS) {
        Ok(()) => arguments(&text),
        Err(_) => Vec::new(),
    }
}

/// Splits arguments. A process that writes a title over them leaves a long run of empty ones at
/// the end; one of those is kept.
fn arguments(text: &[u8]) -> Vec<Untrusted> {
    if text.is_empty() {
        return Vec::new();
    }
    // The last one's end, and one empty argument more.
    let filled = text.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
    let end = text.len().min(filled + 2);
    let text = text.get(..end).unwrap_or(text);
    let all = text.strip_suffix(&[0]).unwrap_or(text).split(|byte| *byte == 0);
    let mut all: Vec<Untrusted> = all.map(Untrusted::from_bytes).collect();
    hide_in_arguments(&mut all);
    all
}

/// Reads the few environment variables that matter; those of other users cannot be read.
pub(crate) fn environment(at: BorrowedFd<'_>, path: &str) -> BTreeMap<String, Untrusted> {
    let mut text = Vec::new();
    match slurp(at, path, &mut text, ENVIRONMENT) {
        Ok(()) => variables(text.split(|byte| *byte == 0)),
        Err(_) => BTreeMap::new(),
    }
}

/// Reads the PIDs in each namespace.
pub(crate) fn ns_pids(at: BorrowedFd<'_>, path: &str) -> Reading<Vec<u32>> {
    let mut text = Vec::new();
    match slurp(at, path, &mut text, status::MOST) {
        Ok(()) => Reading::Read(status::ns_pids(&text)),
        Err(error) if is_gone(error) => Reading::Gone,
        Err(_) => Reading::Unreadable,
    }
}

/// Reads the PID of the process that a number denotes: a process or one of its threads.
pub(crate) fn process_of(at: BorrowedFd<'_>, path: &str) -> Reading<Option<u32>> {
    let mut text = Vec::new();
    match slurp(at, path, &mut text, status::MOST) {
        Ok(()) => Reading::Read(status::process(&text)),
        Err(error) if is_gone(error) => Reading::Gone,
        Err(_) => Reading::Unreadable,
    }
}

/// Reads `/proc/<pid>/status`, if it can be read.
fn status_of(at: BorrowedFd<'_>) -> Option<Vec<u8>> {
    let mut text = Vec::new();
    slurp(at, "status", &mut text, status::MOST).ok().map(|()| text)
}

/// Reads the user as whom a process may write: it can become another user at any time.
fn credentials(at: BorrowedFd<'_>, status: &[u8]) -> Credentials {
    let mut map = Vec::new();
    let is_whole = slurp(at, "uid_map", &mut map, status::MOST).is_ok() && status::is_whole_map(&map);
    Credentials {
        users: status::users(status),
        has_capabilities: status::has_capabilities(status),
        is_mapped: !is_whole,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_arguments(text: &[u8], expected: &[&str]) {
        let found = arguments(text);
        assert_eq!(found.iter().map(Untrusted::raw).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn arguments_keep_empty_ones_but_no_padding() {
        check_arguments(b"", &[]);
        check_arguments(b"claude\0", &["claude"]);
        check_arguments(b"claude\0-p\0\0x\0", &["claude", "-p", "", "x"]);
        check_arguments(b"claude\0\0\0\0\0\0", &["claude", ""]);
        check_arguments(b"claude", &["claude"]);
        check_arguments(b"\0\0\0", &["", ""]);
        check_arguments(b"claude\0--api-key\0hush\0-c\0", &["claude", "--api-key", "***", "-c"]);
    }
}
