//! The disk of the running system.

use std::collections::hash_map::RandomState;
use std::ffi::OsStr;
use std::fs::{DirBuilder, File, Permissions};
use std::hash::{BuildHasher, Hasher};
use std::io::{Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rustix::buffer::spare_capacity;
use rustix::fs::{
    AtFlags, FileType, FlockOperation, Gid, Mode, OFlags, RenameFlags, Stat, Timespec, Timestamps,
    UTIME_OMIT, XattrFlags, fchown, fgetxattr, flistxattr, flock, fremovexattr, fsetxattr, fstat, fsync,
    futimens, linkat, mkdirat, openat, renameat, renameat_with, unlinkat,
};
use rustix::io::{Errno, retry_on_intr};
use rustix::process::geteuid;

use crate::act::fs::disk::{
    Boot, Disk, Durability, FolderAccess, LockHolder, Patience, RunState, Side, Spot,
};
use crate::core::model::snapshot::host::INITIAL_TIME_NAMESPACE;
use crate::core::model::text::shown;
use crate::core::model::{FileImage, Host};
use crate::source::os::fence::{Fence, resolve};
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::listing::Entry;
use crate::source::os::open::meta::{self, wide};
use crate::source::os::opener::HiddenOpener;
use crate::source::os::{clock, host, locks, opener, processes};
use crate::source::repos::locate;

/// How much room is reserved beyond the journal's end, in bytes: enough for the outcomes of everything that can be
/// under way.
#[cfg(target_os = "linux")]
const RESERVED: u64 = 64 << 10;

/// The most bytes of claimtop's own files: some 100,000 entries of the journal.
const MAX_OWN: u64 = 128 << 20;

/// The length of a name that no file system can have.
const NO_NAME: usize = 2_000;

/// How long to pause before a lock is tried again.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// The most bytes that one extended attribute can have, and the list of their names (xattr(7)).
const ATTRIBUTE_SIZE: usize = 64 << 10;

/// The attribute in which the kernel keeps an access list (acl(5)).
const ACCESS_LIST: &[u8] = b"system.posix_acl_access";

/// The real disk.
#[derive(Clone, Copy, Debug, Default)]
pub struct System;

impl Disk for System {
    type Folder = Folder;
    type File = File;
    type Lock = OwnedFd;

    fn folder(&self, path: &Path) -> Result<Folder, Errno> {
        Folder::open(path).map_err(|error| match error {
            OpenError::Absent { .. } => Errno::NOENT,
            OpenError::NoFolder { .. } => Errno::NOTDIR,
            OpenError::Failed { source, .. } => source,
        })
    }

    fn folder_without_links(&self, path: &Path) -> Result<Folder, Errno> {
        Folder::open_without_links(path)
    }

    fn make_folder_without_links(&self, path: &Path) -> Result<(), Errno> {
        match self.folder_without_links(path) {
            Err(Errno::NOENT) => {}
            opened => return opened.map(drop),
        }
        let (parent, name) = path.parent().zip(path.file_name()).ok_or(Errno::NOENT)?;
        self.make_folder_without_links(parent)?;
        match mkdirat(&self.folder_without_links(parent)?, name, Mode::RWXU) {
            // Another process has made it meanwhile.
            Ok(()) | Err(Errno::EXIST) => self.folder_without_links(path).map(drop),
            Err(errno) => Err(errno),
        }
    }

    fn resolved(&self, path: &Path) -> PathBuf {
        resolve(path)
    }

    fn make_folder(&self, path: &Path) -> Result<(), Errno> {
        DirBuilder::new().recursive(true).mode(0o700).create(path).map_err(errno)
    }

    fn image(&self, (folder, name): Spot<'_, Folder>) -> Result<Option<FileImage>, Errno> {
        let entry = Entry { name: name.to_owned(), sort: FileType::Unknown };
        Ok(match folder.look_at(name) {
            None => None,
            Some((sort, _)) => crate::source::os::open::image::image(folder, &Entry { sort, ..entry }),
        })
    }

    fn reaches(&self, from: &Folder, to: &Folder) -> Result<bool, Errno> {
        // No file system has names of this length, so nothing can be moved; different mounts are reported before any
        // name is looked up (rename(2)).
        let name = "x".repeat(NO_NAME);
        match renameat(from, &*name, to, &*name) {
            Err(Errno::XDEV) => Ok(false),
            Err(Errno::NAMETOOLONG | Errno::NOENT) => Ok(true),
            Err(errno) => Err(errno),
            Ok(()) => Err(Errno::INVAL),
        }
    }

    fn access_of(&self, folder: &Folder) -> Result<FolderAccess, Errno> {
        let stat = fstat(folder)?;
        let is_sticky = stat.st_mode & 0o1000 != 0 && [geteuid().as_raw(), 0].contains(&stat.st_uid);
        Ok(match is_private(&stat) {
            true => FolderAccess::Ours,
            false if is_sticky => FolderAccess::Sticky,
            false => FolderAccess::Others,
        })
    }

    fn common_dir(&self, folder: &Path) -> Option<PathBuf> {
        locate(folder, &Fence::default()).map(|located| located.common_dir)
    }

    fn random(&self) -> u64 {
        // The standard library seeds each of these with the kernel's random numbers.
        RandomState::new().build_hasher().finish()
    }

    fn opener_of(&self, (folder, name): Spot<'_, Folder>) -> Result<Option<u32>, Errno> {
        Ok(folder.look_at(name).and_then(|(_, meta)| opener::find(name, &meta)))
    }

    fn hidden_opener(&self) -> Option<HiddenOpener> {
        processes::hidden_opener()
    }

    fn boot(&self, now: Timestamp) -> Boot {
        let Host { boot_id, boot_at, up_by, time_namespace, .. } = host::host(now);
        // Any other time namespace does not count from the boot.
        let boot_at = boot_at.filter(|_| time_namespace == Some(INITIAL_TIME_NAMESPACE));
        Boot { id: boot_id, at: boot_at.map(|at| up_by.map_or(at, |by| by.min(at))) }
    }

    fn born_at(&self, (folder, name): Spot<'_, Folder>) -> Option<Timestamp> {
        let (_, meta) = folder.look_at(name)?;
        meta::made_at(folder, name, &meta)
    }

    fn is_locked(&self, (folder, name): Spot<'_, Folder>) -> Result<bool, Errno> {
        Ok(folder.look_at(name).is_some_and(|(_, meta)| locks::is_locked(name, &meta)))
    }

    fn create(&self, (folder, name): Spot<'_, Folder>) -> Result<File, Errno> {
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        openat(folder, name, flags, Mode::RUSR | Mode::WUSR).map(File::from)
    }

    fn write(&self, file: &mut File, bytes: &[u8]) -> Result<(), Errno> {
        file.write_all(bytes).map_err(errno)
    }

    fn keep(&self, from: Spot<'_, Folder>, file: &mut File) -> Result<(), (String, Errno)> {
        let from = own(from, OFlags::RDONLY).map_err(|errno| ("the attributes".to_owned(), errno))?;
        keep_group(&from, file).map_err(|errno| ("the group".to_owned(), errno))?;
        let names = listed(&from).map_err(|errno| ("the attributes".to_owned(), errno))?;
        for name in names.split(|byte| *byte == 0).filter(|name| !name.is_empty()) {
            match keep_attribute(&from, file, name) {
                Err(errno) if is_of_people(name) => return Err((attribute_name(name), errno)),
                Ok(()) | Err(_) => {}
            }
        }
        // A new file may have inherited a list from its folder (acl(5), default access lists).
        let is_kept = names.split(|byte| *byte == 0).any(|name| name == ACCESS_LIST);
        match if is_kept { Ok(()) } else { fremovexattr(&*file, ACCESS_LIST) } {
            Ok(()) | Err(Errno::NODATA | Errno::NOTSUP) => Ok(()),
            Err(errno) => Err((attribute_name(ACCESS_LIST), errno)),
        }
    }

    fn finish(&self, file: &mut File, mode: u32, modified_at: Timestamp) -> Result<(), Errno> {
        file.set_permissions(Permissions::from_mode(mode)).map_err(errno)?;
        futimens(&*file, &times(modified_at))
    }

    fn sync_file(&self, file: &mut File) -> Result<(), Errno> {
        file.sync_all().map_err(errno)
    }

    fn sync_folder(&self, folder: &Folder) -> Result<(), Errno> {
        retry_on_intr(|| fsync(folder))
    }

    fn rename_new(&self, from: Spot<'_, Folder>, to: Spot<'_, Folder>, side: Side) -> Result<(), Errno> {
        match renameat_with(from.0, from.1, to.0, to.1, RenameFlags::NOREPLACE) {
            // The file system does not know the flag.
            Err(Errno::INVAL | Errno::NOSYS) => rename_plainly(from, to, side),
            done => done,
        }
    }

    fn exchange(&self, folder: &Folder, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
        renameat_with(folder, one, folder, other, RenameFlags::EXCHANGE)
    }

    fn touch(&self, (folder, name): Spot<'_, Folder>, modified_at: Timestamp) -> Result<(), Errno> {
        rustix::fs::utimensat(folder, name, &times(modified_at), AtFlags::SYMLINK_NOFOLLOW)
    }

    fn remove(&self, (folder, name): Spot<'_, Folder>) -> Result<(), Errno> {
        unlinkat(folder, name, AtFlags::empty())
    }

    fn append(&self, spot: Spot<'_, Folder>, bytes: &[u8], keeping: Durability) -> Result<(), Errno> {
        let mut file = File::from(own(spot, OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE)?);
        match keeping {
            Durability::Reserved => reserve(&file)?,
            Durability::Synced | Durability::Lazy => {}
        }
        file.write_all(bytes).map_err(errno)?;
        match keeping {
            Durability::Reserved | Durability::Synced => file.sync_data().map_err(errno),
            Durability::Lazy => Ok(()),
        }
    }

    fn read_own(&self, spot: Spot<'_, Folder>) -> Result<Vec<u8>, Errno> {
        let mut bytes = Vec::new();
        let read = match own(spot, OFlags::RDONLY) {
            Ok(fd) if is_private(&fstat(&fd)?) => {
                File::from(fd).take(MAX_OWN + 1).read_to_end(&mut bytes).map_err(errno)?
            }
            // A user who can write the journal could steer what is put where.
            Ok(_) => return Err(Errno::PERM),
            Err(Errno::NOENT) => 0,
            Err(errno) => return Err(errno),
        };
        if read as u64 > MAX_OWN { Err(Errno::FBIG) } else { Ok(bytes) }
    }

    fn lock(&self, spot: Spot<'_, Folder>, patience: Patience) -> Result<OwnedFd, Errno> {
        let fd = own(spot, OFlags::RDWR | OFlags::CREATE)?;
        let lock = |operation| retry_on_intr(|| flock(&fd, operation));
        match patience {
            Patience::Wait => lock(FlockOperation::LockExclusive)?,
            Patience::None => lock(FlockOperation::NonBlockingLockExclusive)?,
            Patience::For(limit) => {
                let begun_at = clock::steady();
                while let Err(errno) = lock(FlockOperation::NonBlockingLockExclusive) {
                    if errno != Errno::WOULDBLOCK || begun_at.elapsed() >= limit {
                        return Err(errno);
                    }
                    std::thread::sleep(LOCK_PAUSE);
                }
            }
        }
        Ok(fd)
    }

    fn locker_of(&self, (folder, name): Spot<'_, Folder>) -> Option<LockHolder> {
        let (_, meta) = folder.look_at(name)?;
        let pid = locks::locker_of(name, &meta)?;
        Some(LockHolder { pid, pace: pace_of(pid) })
    }
}

/// Returns whether a process is running: `T` is stopped, `t` is stopped by a debugger (proc_pid_stat(5)).
fn pace_of(pid: u32) -> RunState {
    let stat = crate::source::os::open::plain::small(Path::new(&format!("/proc/{pid}/stat")), 4 << 10)
        .unwrap_or_default();
    let state = stat.rsplit(|byte| *byte == b')').next().map(<[u8]>::trim_ascii_start);
    match state.and_then(<[u8]>::first) {
        Some(b'T' | b't') => RunState::Stopped,
        Some(_) | None => RunState::Running,
    }
}

/// Returns whether a file is this user's, and no other user may write it.
fn is_private(stat: &Stat) -> bool {
    let (own, is_set) = (geteuid().as_raw(), |bits: u64| wide(stat.st_mode) & bits != 0);
    // A user's private group has the user's number (useradd(8), USERGROUPS_ENAB).
    stat.st_uid == own && !is_set(0o002) && !(is_set(0o020) && stat.st_gid != own)
}

/// Reserves room beyond the end of a file.
#[cfg(target_os = "linux")]
fn reserve(file: &File) -> Result<(), Errno> {
    use rustix::fs::{FallocateFlags, fallocate};
    let end = u64::try_from(fstat(file)?.st_size).unwrap_or_default();
    match fallocate(file, FallocateFlags::KEEP_SIZE, end, RESERVED) {
        // Not every file system supports it; the write itself then shows whether there is room.
        Ok(()) | Err(Errno::OPNOTSUPP | Errno::NOSYS) => Ok(()),
        Err(errno) => Err(errno),
    }
}

/// Reserves nothing: other systems cannot reserve room without making the file longer. The write itself shows whether
/// there is room.
#[cfg(not(target_os = "linux"))]
#[expect(clippy::unnecessary_wraps, reason = "on Linux it may fail")]
fn reserve(_file: &File) -> Result<(), Errno> {
    Ok(())
}

/// Opens a plain file of claimtop's own, or a lock of another system.
fn own((folder, name): Spot<'_, Folder>, flags: OFlags) -> Result<OwnedFd, Errno> {
    let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = openat(folder.as_fd(), name, flags | safe, Mode::RUSR | Mode::WUSR)?;
    let is_plain = FileType::from_raw_mode(fstat(&fd)?.st_mode) == FileType::RegularFile;
    if is_plain { Ok(fd) } else { Err(Errno::INVAL) }
}

/// Moves a file on systems that cannot promise not to replace another one. Into a private place, whose names only
/// claimtop makes and under its lock, a plain rename replaces nothing; out of it a link does not replace, and removing
/// the private name afterwards removes no other file.
fn rename_plainly(from: Spot<'_, Folder>, to: Spot<'_, Folder>, side: Side) -> Result<(), Errno> {
    match side {
        Side::Private if to.0.look_at(to.1).is_some() => Err(Errno::EXIST),
        Side::Private => renameat(from.0, from.1, to.0, to.1),
        Side::Public => {
            linkat(from.0, from.1, to.0, to.1, AtFlags::empty())?;
            unlinkat(from.0, from.1, AtFlags::empty())
        }
    }
}

fn keep_group(from: &OwnedFd, to: &File) -> Result<(), Errno> {
    let gid = fstat(from)?.st_gid;
    match fstat(to)?.st_gid == gid {
        true => Ok(()),
        false => fchown(to, None, Some(Gid::from_raw(gid))),
    }
}

/// Returns the names of all extended attributes, each with a zero byte after it.
fn listed(from: &OwnedFd) -> Result<Vec<u8>, Errno> {
    let mut names = Vec::with_capacity(ATTRIBUTE_SIZE);
    match flistxattr(from, spare_capacity(&mut names)) {
        // A file system without extended attributes.
        Ok(_) | Err(Errno::NOTSUP) => Ok(names),
        Err(errno) => Err(errno),
    }
}

fn keep_attribute(from: &OwnedFd, to: &File, name: &[u8]) -> Result<(), Errno> {
    let mut value = Vec::with_capacity(ATTRIBUTE_SIZE);
    fgetxattr(from, name, spare_capacity(&mut value))?;
    fsetxattr(to, name, &value, XattrFlags::empty())
}

/// Names an attribute.
fn attribute_name(name: &[u8]) -> String {
    format!("the attribute {}", shown(&String::from_utf8_lossy(name)))
}

/// Returns whether people gave a file this attribute. All others are of the file system or of the system's policy,
/// which may have others of its own at the copy.
fn is_of_people(name: &[u8]) -> bool {
    name.starts_with(b"user.") || name == ACCESS_LIST
}

fn times(modified_at: Timestamp) -> Timestamps {
    Timestamps {
        last_access: Timespec { tv_sec: 0, tv_nsec: UTIME_OMIT },
        last_modification: Timespec {
            tv_sec: modified_at.as_second(),
            tv_nsec: modified_at.subsec_nanosecond().into(),
        },
    }
}

fn errno(error: std::io::Error) -> Errno {
    error.raw_os_error().map_or(Errno::IO, Errno::from_raw_os_error)
}

#[cfg(test)]
mod tests;
