//! Which process has a file open, as far as it may be looked at (proc(5), `/proc/<pid>/fd`).

use std::ffi::{CStr, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use super::open::{meta_of, small};
use super::processes::own_pid;
use crate::core::file::FileMeta;

/// How much of what the kernel says of a descriptor is read, in bytes; its flags come second.
const INFO: usize = 4 << 10;

/// A file that is asked for.
pub(super) struct File {
    /// Its name without the folder, which may be called otherwise in a container.
    pub(super) name: Vec<u8>,
    /// Device and inode.
    pub(super) id: (u64, u64),
}

/// Returns a process other than ourselves that has a file open: the first that is found.
pub(super) fn of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    first(name, meta, |_, _| true)
}

/// Returns a process other than ourselves that has a file open and can write into it: the first
/// that is found. Those of other users and of PID namespaces above ours are not seen.
pub(crate) fn writer_of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    first(name, meta, can_write)
}

/// Returns a process other than ourselves that holds a lock on a file by a descriptor of its own:
/// the first that is found, with the same limits.
pub(super) fn locker_of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    first(name, meta, |pid, number| info(pid, number).lines().any(|line| line.starts_with("lock:")))
}

fn first(name: &OsStr, meta: &FileMeta, is_wanted: fn(u32, &CStr) -> bool) -> Option<u32> {
    let file = File { name: name.as_bytes().to_vec(), id: (meta.dev, meta.ino) };
    let pids = Dir::read_from(folder("/proc").ok()?).ok()?.filter_map(|entry| {
        std::str::from_utf8(entry.ok()?.file_name().to_bytes()).ok()?.parse::<u32>().ok()
    });
    pids.filter(|pid| *pid != own_pid()).find(|pid| has_open(*pid, &file, is_wanted))
}

fn has_open(pid: u32, file: &File, is_wanted: fn(u32, &CStr) -> bool) -> bool {
    let Ok(fds) = descriptors(pid) else { return false };
    let Ok(mut listing) = Dir::read_from(&fds) else { return false };
    let files = std::slice::from_ref(file);
    let is_it = |number: &CStr| which(&fds, number, files).is_some() && is_wanted(pid, number);
    listing.any(|entry| entry.is_ok_and(|entry| is_it(entry.file_name())))
}

/// Returns whether a descriptor is open for writing, as its flags say; where they cannot be read,
/// it may be.
fn can_write(pid: u32, number: &CStr) -> bool {
    let info = info(pid, number);
    let octal = info.lines().find_map(|line| line.strip_prefix("flags:"));
    let flags = octal.and_then(|octal| u32::from_str_radix(octal.trim(), 8).ok());
    flags.is_none_or(|flags| flags & OFlags::ACCMODE.bits() != OFlags::RDONLY.bits())
}

/// Reads what the kernel says of a descriptor (proc(5), `/proc/<pid>/fdinfo`).
fn info(pid: u32, number: &CStr) -> String {
    let number = number.to_string_lossy();
    let info = small(Path::new(&format!("/proc/{pid}/fdinfo/{number}")), INFO).unwrap_or_default();
    String::from_utf8_lossy(&info).into_owned()
}

/// Opens the folder of a process's descriptors.
///
/// # Errors
/// The process has gone, or may not be looked at.
pub(super) fn descriptors(pid: u32) -> Result<OwnedFd, Errno> {
    folder(&format!("/proc/{pid}/fd"))
}

fn folder(path: &str) -> Result<OwnedFd, Errno> {
    openat(CWD, path, OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

/// Returns which of the files a descriptor is. Only one of that name is asked itself: a file of a
/// broken network mount would not answer.
pub(super) fn which(folder: &OwnedFd, number: &CStr, files: &[File]) -> Option<usize> {
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

    use std::process::{Command, Stdio};

    use super::*;

    #[test]
    fn who_locks_a_file_is_told_and_who_only_has_it_open_is_not() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().file_name().unwrap();
        let meta = meta_of(&rustix::fs::stat(file.path()).unwrap());
        let is_told = |is_locked: bool| {
            let own = std::fs::File::open(file.path()).unwrap();
            if is_locked {
                own.lock().unwrap();
            }
            // A lock of this kind goes with the open file.
            let mut child = Command::new("sleep").arg("600").stdin(Stdio::from(own)).spawn().unwrap();
            let told = locker_of(name, &meta) == Some(child.id());
            child.kill().unwrap();
            child.wait().unwrap();
            told
        };
        assert!(!is_told(false));
        assert!(is_told(true));
    }
}
