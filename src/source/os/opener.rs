//! Which process has a file open, as far as it may be inspected (proc(5), `/proc/<pid>/fd`).
//!
//! A thread can have descriptors of its own (unshare(2), `CLONE_FILES`), and those of a leader that
//! has exited are gone while its threads keep theirs; so threads are looked at as well.

use std::collections::{HashMap, HashSet};
use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::core::model::FileMeta;
use crate::source::os::open::meta::{is_sure, meta_of};
use crate::source::os::open::plain::small;
use crate::source::os::processes::own::own_pid;

/// How many bytes of the kernel's description of a descriptor are read.
const INFO: usize = 4 << 10;

/// For how long "no process has it open" is trusted: 2 min.
const GOOD_FOR: SignedDuration = SignedDuration::from_mins(2);

/// A process that may have a file open, as its open files cannot be seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum HiddenOpener {
    /// The process of this PID: another user's, or one that its own user may not inspect.
    Process(u32),
    /// A process that is not listed: outside of a container, or hidden by `/proc`.
    Unlisted,
}

pub(crate) struct File {
    /// Its name without the folder, which may have another name in a container.
    pub(crate) name: Vec<u8>,
    /// Device and inode.
    pub(crate) id: (u64, u64),
}

/// A further condition on an open descriptor: takes a folder of `/proc` and a number.
type DescriptorTest = fn(&str, &CStr) -> bool;

/// Finds the processes that have files open, and caches that no process has: a process that made a file and holds it
/// has had it open since its last change.
#[derive(Default)]
pub(crate) struct Openers {
    /// When a file was last changed, and when no process had it open, by device and inode.
    unopened: HashMap<(u64, u64), (Timestamp, Timestamp)>,
}

impl Openers {
    /// Searches anew, except for files that no process had open a moment ago.
    pub(crate) fn find_cached(&mut self, name: &OsStr, meta: &FileMeta, now: Timestamp) -> Option<u32> {
        let (id, changed_at) = ((meta.dev, meta.ino), meta.touched_at());
        let is_known = |(changed, asked): &(Timestamp, Timestamp)| {
            *changed == changed_at && now.duration_since(*asked).abs() < GOOD_FOR
        };
        if self.unopened.get(&id).is_some_and(is_known) {
            return None;
        }
        let opener = find(name, meta);
        self.unopened.retain(|_, (_, asked)| now.duration_since(*asked).abs() < GOOD_FOR);
        if opener.is_none() && is_sure(now, changed_at) {
            self.unopened.insert(id, (changed_at, now));
        }
        opener
    }
}

/// Returns a process other than ourselves that has a file open: the first that is found. Those of
/// other users and of PID namespaces above ours are not seen.
pub(crate) fn find(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    first(name, meta, |_, _| true)
}

/// Returns a process other than ourselves that holds a lock on a file by a descriptor of its own:
/// the first that is found, with the same limits.
pub(crate) fn locker_of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    first(name, meta, has_lock)
}

/// Returns whether a process holds a lock on a file by a descriptor of its own.
pub(crate) fn is_locker(pid: u32, name: &OsStr, meta: &FileMeta) -> bool {
    has_open(&process(pid), &file(name, meta), has_lock)
}

/// Returns the inodes of all files that processes hold locks on by descriptors of theirs.
pub(crate) fn locked() -> HashSet<u64> {
    let pids = numbers("/proc").unwrap_or_default().into_iter();
    pids.flat_map(|pid| std::iter::once(process(pid)).chain(other_threads(pid)))
        .flat_map(|of| locked_by(&of))
        .collect()
}

fn locked_by(of: &str) -> Vec<u64> {
    let Ok(listing) = folder(&format!("{of}/fdinfo")).and_then(Dir::read_from) else { return Vec::new() };
    let infos = listing.filter_map(|entry| Some(info(of, entry.ok()?.file_name())));
    let locked = infos.filter(|info| field(info, "lock:").is_some());
    locked.filter_map(|info| field(&info, "ino:")?.parse().ok()).collect()
}

fn file(name: &OsStr, meta: &FileMeta) -> File {
    File { name: name.as_bytes().to_vec(), id: (meta.dev, meta.ino) }
}

fn process(pid: u32) -> String {
    format!("/proc/{pid}")
}

/// Searches all leaders first, as a thread with descriptors of its own is rare.
fn first(name: &OsStr, meta: &FileMeta, is_wanted: DescriptorTest) -> Option<u32> {
    let file = file(name, meta);
    let mut pids = numbers("/proc").unwrap_or_default();
    pids.retain(|pid| *pid != own_pid());
    let by_leader = pids.iter().find(|pid| has_open(&process(**pid), &file, is_wanted));
    let by_thread = |pid: &&u32| other_threads(**pid).iter().any(|thread| has_open(thread, &file, is_wanted));
    by_leader.or_else(|| pids.iter().find(by_thread)).copied()
}

/// Returns the folders of a process's threads but its leader's.
pub(crate) fn other_threads(pid: u32) -> Vec<String> {
    let folder = format!("/proc/{pid}/task");
    let threads = numbers(&folder).unwrap_or_default().into_iter();
    threads.filter(|thread| *thread != pid).map(|thread| format!("{folder}/{thread}")).collect()
}

/// Returns the names in a folder that are numbers.
fn numbers(path: &str) -> Result<Vec<u32>, Errno> {
    let entries = Dir::read_from(folder(path)?)?;
    let number =
        |entry: rustix::fs::DirEntry| std::str::from_utf8(entry.file_name().to_bytes()).ok()?.parse().ok();
    Ok(entries.filter_map(|entry| number(entry.ok()?)).collect())
}

fn has_open(of: &str, file: &File, is_wanted: DescriptorTest) -> bool {
    let Ok(fds) = folder(&format!("{of}/fd")) else { return false };
    let Ok(mut listing) = Dir::read_from(&fds) else { return false };
    let is_it = |number: &CStr| is_file(&fds, (of, number), file) && is_wanted(of, number);
    listing.any(|entry| entry.is_ok_and(|entry| is_it(entry.file_name())))
}

/// Returns whether a descriptor is a file, by device and inode: it may have been made under another name. Only a
/// descriptor with that inode is itself examined, as a file of a broken network mount would not answer; before Linux
/// 5.14 the kernel does not report the inode, and only one with that name is examined.
fn is_file(fds: &OwnedFd, (of, number): (&str, &CStr), file: &File) -> bool {
    let Ok(link) = readlinkat(fds, number, Vec::new()) else { return false };
    let link = link.as_bytes();
    let may_be = || {
        let is_named = link.rsplit(|byte| *byte == b'/').next() == Some(file.name.as_slice());
        is_named || field(&info(of, number), "ino:").and_then(|ino| ino.parse().ok()) == Some(file.id.1)
    };
    link.starts_with(b"/") && may_be() && is(fds, number, file)
}

fn is(fds: &OwnedFd, number: &CStr, file: &File) -> bool {
    let meta = statat(fds, number, AtFlags::empty()).map(|stat| meta_of(&stat));
    meta.is_ok_and(|meta| file.id == (meta.dev, meta.ino))
}

fn has_lock(of: &str, number: &CStr) -> bool {
    field(&info(of, number), "lock:").is_some()
}

/// Reads the kernel's description of a descriptor (proc(5), `/proc/<pid>/fdinfo`).
fn info(of: &str, number: &CStr) -> String {
    let number = number.to_string_lossy();
    let info = small(Path::new(&format!("{of}/fdinfo/{number}")), INFO).unwrap_or_default();
    String::from_utf8_lossy(&info).into_owned()
}

fn field<'a>(info: &'a str, name: &str) -> Option<&'a str> {
    info.lines().find_map(|line| line.strip_prefix(name)).map(str::trim)
}

/// Opens the folder of a process's descriptors.
///
/// # Errors
/// The process has exited, or may not be inspected.
pub(crate) fn descriptors(pid: u32) -> Result<OwnedFd, Errno> {
    folder(&format!("/proc/{pid}/fd"))
}

pub(crate) fn folder(path: &str) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Returns which of the files a descriptor is. Only a descriptor with that name is itself examined: a file of a broken
/// network mount would not answer.
pub(crate) fn which(folder: &OwnedFd, number: &CStr, files: &[File]) -> Option<usize> {
    let link = readlinkat(folder, number, Vec::new()).ok()?;
    let name = link.as_bytes().rsplit(|byte| *byte == b'/').next()?;
    let is_named = |file: &&File| file.name == name;
    files.iter().find(is_named)?;
    let meta = meta_of(&statat(folder, number, AtFlags::empty()).ok()?);
    files.iter().position(|file| file.id == (meta.dev, meta.ino))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test starts whom it looks at")]

    use std::io::Read as _;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::processes::started::spawn;

    /// Repeats the query until it matches: between its fork and its exec, a process that another test starts has this
    /// program's files open, too.
    fn is_at_last(expected: Option<u32>, asked: impl Fn() -> Option<u32>) -> bool {
        (0..500).any(|_| asked() == expected)
    }

    fn a_file() -> (tempfile::NamedTempFile, FileMeta) {
        let file = tempfile::NamedTempFile::new().unwrap();
        let meta = meta_of(&rustix::fs::stat(file.path()).unwrap());
        (file, meta)
    }

    /// Starts Python with a script and a file as its standard input, and waits for it to report that it is ready; none
    /// if its exit code, 77, says that the kernel refuses it.
    fn python(script: &str, input: std::fs::File) -> Option<Child> {
        if !Path::new("/usr/bin/python3").exists() {
            eprintln!("skipped: no python3");
            return None;
        }
        let mut command = Command::new("/usr/bin/python3");
        command.args(["-c", script]).stdin(Stdio::from(input)).stdout(Stdio::piped());
        let mut child = spawn(&mut command);
        if child.stdout.as_mut().unwrap().read_exact(&mut [0]).is_err() {
            assert_eq!(child.wait().unwrap().code(), Some(77), "the script failed");
            eprintln!("skipped: the kernel refuses what the script asks for");
            return None;
        }
        Some(child)
    }

    #[test]
    fn who_locks_a_file_is_told_and_who_only_has_it_open_is_not() {
        let (file, meta) = a_file();
        let name = file.path().file_name().unwrap();
        let check = |is_locked: bool| {
            let own = std::fs::File::open(file.path()).unwrap();
            if is_locked {
                own.lock().unwrap();
            }
            // A lock of this kind goes with the open file.
            let mut child = spawn(Command::new("sleep").arg("600").stdin(Stdio::from(own)));
            let expected = is_locked.then(|| child.id());
            let is_told = is_at_last(expected, || locker_of(name, &meta));
            child.kill().unwrap();
            child.wait().unwrap();
            assert!(is_told, "{is_locked}");
        };
        check(false);
        check(true);
    }

    #[test]
    fn a_file_that_was_made_under_another_name_is_known_by_its_inode() {
        let (file, _) = a_file();
        let open = std::fs::File::open(file.path()).unwrap();
        let linked = file.path().with_extension("lock");
        std::fs::hard_link(file.path(), &linked).unwrap();
        drop(file);
        let meta = meta_of(&rustix::fs::stat(&linked).unwrap());
        let mut child = spawn(Command::new("sleep").arg("600").stdin(Stdio::from(open)));
        let opener = || find(linked.file_name().unwrap(), &meta);
        assert!(is_at_last(Some(child.id()), opener));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_at_last(None, opener));
        std::fs::remove_file(&linked).unwrap();
    }

    /// Starts Python with a file open, and looks for the process that has it.
    fn check_by_threads(script: &str) {
        let (file, meta) = a_file();
        let open = std::fs::File::open(file.path()).unwrap();
        let Some(mut child) = python(script, open) else { return };
        // The leader may need a moment to end.
        let is_told = is_at_last(Some(child.id()), || find(file.path().file_name().unwrap(), &meta));
        child.kill().unwrap();
        child.wait().unwrap();
        assert!(is_told);
    }

    #[test]
    fn a_leader_that_has_exited_leaves_its_files_to_its_threads() {
        check_by_threads(
            "import ctypes, threading, time\n\
             threading.Thread(target=time.sleep, args=(600,)).start()\n\
             print('.', end='', flush=True)\n\
             ctypes.CDLL(None).pthread_exit(None)",
        );
    }

    #[test]
    fn a_thread_with_descriptors_of_its_own_is_looked_at() {
        check_by_threads(
            "import ctypes, os, threading, time\n\
             def own():\n\
             \x20   if ctypes.CDLL(None).unshare(0x400) != 0: os._exit(77)\n\
             \x20   done.set(); time.sleep(600)\n\
             done = threading.Event()\n\
             threading.Thread(target=own).start()\n\
             done.wait(); os.close(0)\n\
             print('.', end='', flush=True)\n\
             time.sleep(600)",
        );
    }
}
