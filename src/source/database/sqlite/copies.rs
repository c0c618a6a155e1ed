//! Copies of databases that can only be read that way, in claimtop's own state folder; made anew only when the
//! database has changed.

use std::collections::BTreeMap;
use std::fs::{DirBuilder, File, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use rustix::fs::{FlockOperation, Mode, OFlags, flock, open};
use rustix::process::geteuid;
use tempfile::TempDir;

use crate::source::database::sqlite::files::Files;

/// The name of the folder of copies in the state folder.
pub(crate) const COPIES: &str = "copies";

/// The prefix of each copy's folder, before some random characters.
const PREFIX: &str = "database-";

/// Each database's files as they were, and their copy.
type CopyCache = BTreeMap<PathBuf, (Files, Arc<Copy>)>;

/// The folder of copies, and the copies of this process. Clones share them.
#[derive(Clone, Debug, Default)]
pub struct Copies {
    folder: PathBuf,
    kept: Arc<Mutex<CopyCache>>,
}

/// A folder with the copy of one database; it is removed with this value.
#[derive(Debug)]
pub(crate) struct Copy {
    folder: TempDir,
    /// Held for as long as the copy is in use (flock(2)).
    _used: Option<File>,
}

impl Copies {
    /// Puts copies into this folder, which need not exist.
    pub(crate) fn in_folder(folder: &Path) -> Self {
        Self { folder: folder.to_path_buf(), kept: Arc::default() }
    }

    /// Returns the copy of a database whose files are unchanged.
    pub(crate) fn kept(&self, path: &Path, files: &Files) -> Option<Arc<Copy>> {
        let kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.get(path).filter(|(of, _)| of == files).map(|(_, copy)| Arc::clone(copy))
    }

    /// Keeps a copy in place of an earlier one, for as long as the files stay unchanged.
    pub(crate) fn keep(&self, path: &Path, files: Files, copy: &Arc<Copy>) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.insert(path.to_path_buf(), (files, Arc::clone(copy)));
    }

    /// Forgets the copy of a database that can be read in place again.
    pub(crate) fn forget(&self, path: &Path) {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner).remove(path);
    }

    /// Makes an empty folder for a copy, and removes those that another claimtop has left behind.
    ///
    /// # Errors
    /// The folder cannot be made, or another user could put something in its place.
    pub(crate) fn make(&self) -> io::Result<Copy> {
        is_ours(&self.folder)?;
        let is_new = DirBuilder::new().recursive(true).mode(0o700).create(&self.folder);
        is_new.map_err(|error| named(&self.folder, &error))?;
        let all = folder(&self.folder)?;
        let (owner, mode) = all.metadata().map(|meta| (meta.uid(), meta.mode()))?;
        if owner != geteuid().as_raw() || mode & 0o077 != 0 {
            return Err(named(&self.folder, &io::Error::other("other users can access it")));
        }
        // The holder of this lock makes or removes copies, so that no copy is removed before it is used.
        flock(&all, FlockOperation::LockExclusive)?;
        sweep(&self.folder);
        let folder = tempfile::Builder::new()
            .prefix(PREFIX)
            .permissions(Permissions::from_mode(0o700))
            .tempdir_in(&self.folder)?;
        let used = crate::source::database::sqlite::copies::folder(folder.path())?;
        let is_held = flock(&used, FlockOperation::LockShared).is_ok();
        Ok(Copy { folder, _used: is_held.then_some(used) })
    }
}

impl Copy {
    /// Returns the folder, which no other user can enter.
    pub(crate) fn folder(&self) -> &Path {
        self.folder.path()
    }

    /// Returns where the copied database lies.
    pub(crate) fn database(&self) -> PathBuf {
        self.folder.path().join("database")
    }
}

/// Opens a folder itself, never the target of a link.
fn folder(path: &Path) -> io::Result<File> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(open(path, flags, Mode::empty()).map_err(|error| named(path, &error.into()))?.into())
}

/// Checks that a folder is ours: root leaves nothing of its own in the home of another user.
fn is_ours(folder: &Path) -> io::Result<()> {
    let there = folder.ancestors().find_map(|above| Some((above, above.metadata().ok()?)));
    match there {
        Some((_, meta)) if meta.uid() == geteuid().as_raw() => Ok(()),
        Some((above, _)) => Err(named(above, &io::Error::other("it belongs to another user"))),
        None => Err(named(folder, &io::Error::other("there is no such folder"))),
    }
}

fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::other(format!("{}: {error}", crate::core::model::Untrusted::from_path(path)))
}

/// Removes unused copies, which a claimtop left that was ended before it could remove them.
fn sweep(folder: &Path) {
    let left = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let ours = left.filter(|entry| entry.file_name().to_str().is_some_and(|name| name.starts_with(PREFIX)));
    ours.for_each(|entry| remove_unused(&entry.path()));
}

#[expect(clippy::disallowed_methods, reason = "it is a copy that claimtop has made to read")]
fn remove_unused(path: &Path) {
    let Ok(used) = crate::source::database::sqlite::copies::folder(path) else { return };
    if flock(&used, FlockOperation::NonBlockingLockExclusive).is_ok() {
        // A folder that cannot be removed now is tried again with the next copy.
        let _ = std::fs::remove_dir_all(path);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<PathBuf> {
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
    }

    #[test]
    fn what_another_has_left_goes_and_what_is_used_stays() {
        let state = tempfile::tempdir().unwrap();
        let folder = state.path().join("claimtop/copies");
        let copies = Copies::in_folder(&folder);
        let used = copies.make().unwrap();
        let left = copies.make().unwrap();
        let path = left.folder.keep();
        drop(left._used);
        std::fs::create_dir(folder.join("something-else")).unwrap();
        let own = copies.make().unwrap();
        assert!(used.folder.path().exists() && own.folder.path().exists() && !path.exists());
        assert_eq!(names(&folder).len(), 3);
        assert_eq!(std::fs::metadata(&folder).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::metadata(own.folder.path()).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_folder_that_others_can_change_is_refused() {
        let state = tempfile::tempdir().unwrap();
        let open = state.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        let link = state.path().join("link");
        std::os::unix::fs::symlink(&open, &link).unwrap();
        for folder in [&open, &link] {
            assert!(Copies::in_folder(folder).make().is_err(), "{}", folder.display());
        }
        assert_eq!(names(&open).len(), 0);
    }
}
