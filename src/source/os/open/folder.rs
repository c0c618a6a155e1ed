//! A folder that is held open, and its entries.

use std::ffi::{CStr, OsStr};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, fstat, fstatfs, openat, stat, statat};
use rustix::io::Errno;

use crate::core::model::{FileMeta, FolderId};
use crate::source::os::open::error::OpenError;
use crate::source::os::open::listing::{Entry, Listing};
use crate::source::os::open::meta::{meta_of, sort_name};
use crate::source::os::open::{medium, meta};

/// Flags to open a folder itself, never the target of a link.
pub(crate) const FOLDER: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// Flags to open a parent folder only to proceed from there, which needs no permission to list it.
#[cfg(target_os = "linux")]
const PASSED: OFlags = FOLDER.union(OFlags::PATH);
#[cfg(not(target_os = "linux"))]
const PASSED: OFlags = FOLDER;

/// Returns the error for a link, if there is one: which error it is depends on the system.
fn link_at(folder: &OwnedFd, name: &OsStr, errno: Errno) -> Errno {
    let is_link = || {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW);
        stat.is_ok_and(|stat| FileType::from_raw_mode(stat.st_mode) == FileType::Symlink)
    };
    match errno {
        Errno::NOTDIR | Errno::LOOP if is_link() => Errno::LOOP,
        errno => errno,
    }
}

/// An open folder; everything in it is reached by this descriptor and a bare name.
pub struct Folder {
    pub(crate) fd: OwnedFd,
    pub(crate) path: PathBuf,
}

impl Folder {
    /// Opens a folder that is named by its path. Links above the last part are followed.
    ///
    /// # Errors
    /// There is no such folder, it is something else, or the system refuses.
    pub fn open(path: &Path) -> Result<Self, OpenError> {
        Self::open_at(CWD, path, path.to_path_buf())
    }

    /// Opens a folder whose path contains no link.
    ///
    /// # Errors
    /// `ELOOP` if a part of the path is a link, `EINVAL` if it is not an absolute path without `..`; there is no such
    /// folder, or the system refuses.
    pub(crate) fn open_without_links(path: &Path) -> Result<Self, Errno> {
        let mut fd = openat(CWD, "/", PASSED, Mode::empty())?;
        let mut parts = path.components().peekable();
        while let Some(part) = parts.next() {
            let name = match part {
                Component::RootDir | Component::CurDir => continue,
                Component::Normal(name) if path.is_absolute() => name,
                Component::Normal(_) | Component::ParentDir | Component::Prefix(_) => {
                    return Err(Errno::INVAL);
                }
            };
            let entered = openat(&fd, name, PASSED, Mode::empty());
            fd = entered.map_err(|errno| match link_at(&fd, name, errno) {
                // A part above the last one is not a folder, so the last one cannot exist.
                Errno::NOTDIR if parts.peek().is_some() => Errno::NOENT,
                errno => errno,
            })?;
        }
        // A folder that may only be passed is opened for listing here.
        let fd = openat(&fd, ".", FOLDER, Mode::empty())?;
        Ok(Self { fd, path: path.to_path_buf() })
    }

    /// Opens a folder inside this one.
    ///
    /// # Errors
    /// As [`Folder::open`]; a name with a `/` is refused as well.
    pub fn enter(&self, name: &OsStr) -> Result<Self, OpenError> {
        let path = self.path.join(name);
        if name.as_bytes().contains(&b'/') {
            return Err(OpenError::Failed { path, source: Errno::INVAL });
        }
        Self::open_at(self.fd.as_fd(), Path::new(name), path)
    }

    /// Opens a folder inside this one of a home, also through a link that its owner has made there, as Stow and
    /// account profiles do. No other user can change this folder, and the link leads to a folder of the same owner.
    /// The opened folder gets its own path.
    ///
    /// # Errors
    /// As [`Folder::enter`]; any other link is refused.
    pub(crate) fn enter_own(&self, name: &OsStr) -> Result<Self, OpenError> {
        match self.enter(name) {
            Err(error @ OpenError::NoFolder { sort: "symlink", .. }) => self.linked(name).ok_or(error),
            entered => entered,
        }
    }

    fn linked(&self, name: &OsStr) -> Option<Self> {
        let own = fstat(&self.fd).ok()?;
        let link = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_owners = |uid: u32, mode: rustix::fs::RawMode| uid == own.st_uid && mode & 0o022 == 0;
        if link.st_uid != own.st_uid || !is_owners(own.st_uid, own.st_mode) {
            return None;
        }
        let folder = Self::open_without_links(&self.path.join(name).canonicalize().ok()?).ok()?;
        let (there, followed) = (fstat(&folder.fd).ok()?, statat(&self.fd, name, AtFlags::empty()).ok()?);
        let is_it = (there.st_dev, there.st_ino) == (followed.st_dev, followed.st_ino);
        (is_it && is_owners(there.st_uid, there.st_mode)).then_some(folder)
    }

    pub(crate) fn open_at(at: BorrowedFd<'_>, name: &Path, path: PathBuf) -> Result<Self, OpenError> {
        match openat(at, name, FOLDER, Mode::empty()) {
            Ok(fd) => Ok(Self { fd, path }),
            Err(Errno::NOENT) => Err(OpenError::Absent { path }),
            // A link gives either error, depending on the system.
            Err(source @ (Errno::NOTDIR | Errno::LOOP)) => Err(no_folder(at, name, path, source)),
            Err(source) => Err(OpenError::Failed { path, source }),
        }
    }

    /// Returns its path.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Returns the ID that distinguishes it from every other folder.
    ///
    /// # Errors
    /// `fstat` failed.
    pub(crate) fn id(&self) -> Result<FolderId, OpenError> {
        let stat = fstat(&self.fd).map_err(|source| self.failed(source))?;
        Ok(FolderId { dev: meta::wide(stat.st_dev), ino: meta::wide(stat.st_ino) })
    }

    /// Returns whether [`Folder::id`] lasts: overlayfs may report another number for the same folder later
    /// (Documentation/filesystems/overlayfs.rst, "Inode properties").
    pub(crate) fn has_lasting_id(&self) -> bool {
        fstatfs(&self.fd).is_ok_and(|stats| !medium::is_stacked(&stats))
    }

    /// Lists every name that `matters` accepts, sorted.
    ///
    /// # Errors
    /// The listing failed.
    pub fn entries(&self, matters: impl Fn(&OsStr) -> bool) -> Result<Vec<Entry>, OpenError> {
        self.listing(matters).map(|listing| listing.iter().collect())
    }

    /// Lists as [`Folder::entries`] does, for folders with thousands of entries.
    ///
    /// # Errors
    /// The listing failed.
    pub(crate) fn listing(&self, matters: impl Fn(&OsStr) -> bool) -> Result<Listing, OpenError> {
        let mut listing = Listing::default();
        let listed = list(&self.fd, |name, sort| {
            let name = OsStr::from_bytes(name.to_bytes());
            if name != "." && name != ".." && matters(name) {
                listing.add(name, sort);
            }
        });
        listed.map_err(|source| self.failed(source))?;
        listing.sort();
        Ok(listing)
    }

    /// Returns the facts of a name without opening it; links are not followed.
    pub(crate) fn look_at(&self, name: &OsStr) -> Option<(FileType, FileMeta)> {
        let stat = statat(&self.fd, name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        Some((FileType::from_raw_mode(stat.st_mode), meta_of(&stat)))
    }

    pub(crate) fn failed(&self, source: Errno) -> OpenError {
        OpenError::Failed { path: self.path.clone(), source }
    }
}

impl AsFd for Folder {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }
}

/// Returns the facts of the target of a path, without opening it.
pub(crate) fn look_at(path: &Path) -> Option<FileMeta> {
    stat(path).ok().map(|stat| meta_of(&stat))
}

/// Lists a folder from its start, without opening it once more as [`rustix::fs::Dir`] does.
#[cfg(target_os = "linux")]
pub(crate) fn list(folder: &OwnedFd, mut take: impl FnMut(&CStr, FileType)) -> Result<(), Errno> {
    /// How much one system call may list, in bytes.
    const LISTING: usize = 32 << 10;
    rustix::fs::seek(folder, rustix::fs::SeekFrom::Start(0))?;
    let mut buffer = Vec::with_capacity(LISTING);
    let mut entries = rustix::fs::RawDir::new(folder, buffer.spare_capacity_mut());
    while let Some(entry) = entries.next() {
        match entry {
            Ok(entry) => take(entry.file_name(), entry.file_type()),
            Err(Errno::INTR) => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn list(folder: &OwnedFd, mut take: impl FnMut(&CStr, FileType)) -> Result<(), Errno> {
    for entry in rustix::fs::Dir::read_from(folder)? {
        let entry = entry?;
        take(entry.file_name(), entry.file_type());
    }
    Ok(())
}

/// Returns the error for something that is in the place of a folder.
pub(crate) fn no_folder(at: BorrowedFd<'_>, name: &Path, path: PathBuf, source: Errno) -> OpenError {
    match statat(at, name, AtFlags::SYMLINK_NOFOLLOW).map(|stat| FileType::from_raw_mode(stat.st_mode)) {
        Err(Errno::NOENT) => OpenError::Absent { path },
        // A part above the last one is not a folder, so the last one cannot exist.
        Err(Errno::NOTDIR) => OpenError::Absent { path },
        Err(_) | Ok(FileType::Directory) => OpenError::Failed { path, source },
        Ok(sort) => OpenError::NoFolder { path, sort: sort_name(sort) },
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes its own files")]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_is_opened_through_no_link_where_none_is_wanted() {
        let world = tempfile::tempdir().unwrap();
        let at = |below: &str| world.path().canonicalize().unwrap().join(below);
        std::fs::create_dir_all(at("a/b/c")).unwrap();
        std::fs::write(at("file"), "").unwrap();
        symlink(at("a"), at("link")).unwrap();
        symlink("b", at("a/link")).unwrap();
        let open = |below: &str| Folder::open_without_links(&at(below)).map(|folder| folder.path);
        assert_eq!(open("a/b/c"), Ok(at("a/b/c")));
        assert_eq!(Folder::open_without_links(Path::new("/")).map(|folder| folder.path), Ok("/".into()));
        for (below, errno) in [
            ("link", Errno::LOOP),
            ("link/b", Errno::LOOP),
            ("a/link/c", Errno::LOOP),
            ("a/none/c", Errno::NOENT),
            ("file", Errno::NOTDIR),
            ("file/c", Errno::NOENT),
            ("a/../a", Errno::INVAL),
        ] {
            assert_eq!(open(below), Err(errno), "{below}");
        }
    }
}
