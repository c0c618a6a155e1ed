//! Whose a folder of the demo is: its process holds a lock in it, which the kernel lets go with that process, however
//! it ends. So the next demo removes what a killed one has left.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::Path;

use anyhow::Context;
use rustix::fs::{CWD, FileType, FlockOperation, Mode, OFlags, flock, openat, renameat};
use rustix::process::geteuid;
use tempfile::TempDir;

use super::lifeline;
use crate::core::judge::window::stand_in::STAGE_PREFIX;
use crate::source::os::open::folder::Folder;

/// The file that the owner holds locked from its first moment on.
const OWNER: &str = ".claimtop-demo-owner";

/// A folder of the demo's own, for as long as this process has it.
pub(super) struct OwnFolder {
    folder: TempDir,
    /// Let go after the folder is gone.
    _lock: File,
}

impl OwnFolder {
    /// Makes a folder that is gone, with all that lies in it, when this is dropped.
    ///
    /// # Errors
    /// It cannot be made.
    pub(super) fn make(within: &Path) -> anyhow::Result<Self> {
        let made = tempfile::Builder::new().prefix(STAGE_PREFIX).tempdir_in(within);
        let folder = made.context("failed to make a temporary folder")?;
        let lock = hold(folder.path()).context("failed to mark the temporary folder as ours")?;
        Ok(Self { folder, _lock: lock })
    }

    pub(super) fn path(&self) -> &Path {
        self.folder.path()
    }

    /// Removes it. A process that is just ending may write into it while it is emptied, so it is emptied until it is
    /// gone, for half a minute at most.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(super) fn remove(self) -> anyhow::Result<()> {
        let path = self.folder.keep();
        let mut removed = Ok(());
        lifeline::wait_until(|| {
            removed = remove(&path);
            removed.is_ok()
        });
        removed.with_context(|| format!("failed to remove the demo's folder {}", path.display()))
    }
}

/// Makes the file of the owner. It gets its name once it is locked: no living owner has one that is not.
fn hold(folder: &Path) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let (new, named) = (folder.join(format!("{OWNER}.new")), folder.join(OWNER));
    let file = openat(CWD, &new, flags, Mode::RUSR | Mode::WUSR)?;
    flock(&file, FlockOperation::NonBlockingLockExclusive)?;
    renameat(CWD, &new, CWD, &named)?;
    Ok(file.into())
}

#[expect(clippy::disallowed_methods, reason = "the folder belongs to the demo alone")]
fn remove(path: &Path) -> io::Result<()> {
    match std::fs::remove_dir_all(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        removed => removed,
    }
}

/// Removes the folders of demos whose processes have ended without doing so. What cannot be removed now is left to the
/// next demo.
pub(super) fn remove_left(within: &Path) {
    let Ok(folder) = Folder::open(within) else { return };
    let is_ours = |name: &OsStr| name.to_str().is_some_and(|name| name.starts_with(STAGE_PREFIX));
    for entry in folder.entries(is_ours).unwrap_or_default() {
        if let Some(_lock) = folder.enter(&entry.name).ok().and_then(|stage| left_by_the_dead(&stage)) {
            let _ = remove(&within.join(&entry.name));
        }
    }
}

/// Takes the lock of a folder of this user's whose owner has ended; nothing where it lives, or there is none to be known.
fn left_by_the_dead(stage: &Folder) -> Option<File> {
    let own = geteuid().as_raw();
    let (_, meta) = stage.look_at(OsStr::new("."))?;
    let (sort, owner) = stage.look_at(OsStr::new(OWNER))?;
    let is_ours = meta.ownership.uid == own && owner.ownership.uid == own && sort == FileType::RegularFile;
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = is_ours.then(|| openat(stage, OWNER, flags, Mode::empty()).ok()).flatten()?;
    flock(&file, FlockOperation::NonBlockingLockExclusive).ok().map(|()| file.into())
}
