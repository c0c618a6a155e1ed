//! Which folders paths mean to another process: in its own root and mounts.

use std::collections::BTreeSet;
use std::ffi::{CString, OsStr};
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2, readlinkat};
use rustix::io::Errno;

use crate::core::model::{FolderId, ProcessId};
use crate::source::os::mounts;
use crate::source::os::open::medium::has_certain_id;
use crate::source::os::open::meta::meta_of;
use crate::source::os::processes::linux::proc::Proc;

/// Flags to open a folder only to identify it.
const NAMED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// The file system as a process sees it: its root, in its own mounts.
pub(crate) struct View {
    root: OwnedFd,
    id: ViewId,
}

/// The identity of a view, equal for processes that see the same: root, and mount namespace (`/proc/<pid>/ns/mnt`).
pub(crate) type ViewId = (FolderId, CString);

/// Opens the root of a process (proc(5), `root`). Everything is read through its folder, which stays that process's
/// own.
pub(crate) fn view_of(id: ProcessId) -> Option<View> {
    view(&Proc::open().ok()?.folder_of(id)?)
}

/// Returns the folder that a process works in; `None` if it may not be inspected.
pub(crate) fn working_folder(id: ProcessId) -> Option<FolderId> {
    let process = Proc::open().ok()?.folder_of(id)?;
    id_of(&openat(&process, "cwd", NAMED, Mode::empty()).ok()?).ok()
}

/// Opens the root of this process.
pub(crate) fn own_view() -> Option<View> {
    view(&openat(CWD, "/proc/self", NAMED, Mode::empty()).ok()?)
}

/// Opens the root of the process of this folder of `/proc`.
fn view(process: &OwnedFd) -> Option<View> {
    let root = openat(process, "root", NAMED, Mode::empty()).ok()?;
    let mounts = readlinkat(process, "ns/mnt", Vec::new()).ok()?;
    let id = (id_of(&root).ok()?, mounts);
    Some(View { root, id })
}

impl View {
    /// Returns its identity.
    pub(crate) fn id(&self) -> ViewId {
        self.id.clone()
    }

    /// Returns the folders that these paths denote here, without missing ones, and whether device and inode
    /// distinguish all of them from others; `None` if one that must exist does not, or anything cannot be determined.
    pub(crate) fn folders(
        &self,
        must_be: &[&PathBuf],
        paths: &[PathBuf],
    ) -> Option<(BTreeSet<FolderId>, bool)> {
        let must_be = must_be.iter().map(|path| self.folder(path).ok());
        let mut all = must_be.collect::<Option<Vec<_>>>()?;
        for path in paths {
            match self.folder(path) {
                Ok(folder) => all.push(folder),
                Err(Errno::NOENT | Errno::NOTDIR) => {}
                Err(_) => return None,
            }
        }
        let are_certain = all.iter().all(|(_, is_certain)| *is_certain);
        Some((all.into_iter().map(|(id, _)| id).collect(), are_certain))
    }

    /// Returns whether a path denotes another folder here than in another view, as far as device and inode show:
    /// folders of two overlays differ in them, whatever lies below both.
    pub(crate) fn is_elsewhere(&self, other: &Self, path: &Path) -> bool {
        if self.id == other.id {
            return false;
        }
        match (self.folder(path), other.folder(path)) {
            (Ok((here, _)), Ok((there, _))) => here != there,
            // A folder that does not exist there cannot be meant.
            (Ok(_), Err(Errno::NOENT | Errno::NOTDIR)) => true,
            (Ok(_) | Err(_), Ok(_) | Err(_)) => false,
        }
    }

    /// Returns the name in this view of the working directory of a process with another view, if it is certainly the
    /// same folder.
    pub(crate) fn called_here(&self, other: &Self, pid: u32, cwd: &Path) -> Option<PathBuf> {
        if self.id == other.id {
            return None;
        }
        let process = openat(CWD, format!("/proc/{pid}"), NAMED, Mode::empty()).ok()?;
        let folder = openat(&process, "cwd", NAMED, Mode::empty()).ok()?;
        let its = (id_of(&folder).ok()?, true);
        if !has_certain_id(&folder) {
            return None;
        }
        // Most have the same name there; then no table of mounts is read.
        if self.folder(cwd) == Ok(its) {
            return Some(cwd.to_path_buf());
        }
        // Its mounts are listed relative to its own root (proc(5), `mountinfo`), the links relative to its mounts.
        let root = readlinkat(&process, "root", Vec::new()).ok()?;
        let root = Path::new(OsStr::from_bytes(root.as_bytes()));
        let inside = Path::new("/").join(cwd.strip_prefix(root).ok()?);
        let is_same = |name: &PathBuf| self.folder(name) == Ok(its);
        mounts::called_here(&pid.to_string(), &inside).into_iter().find(is_same)
    }

    /// Resolves a path as a process with this root does: links that begin with `/` lead into it as well (openat2(2),
    /// `RESOLVE_IN_ROOT`).
    fn folder(&self, path: &Path) -> Result<(FolderId, bool), Errno> {
        let folder = openat2(&self.root, path, NAMED, Mode::empty(), ResolveFlags::IN_ROOT)?;
        Ok((id_of(&folder)?, has_certain_id(&folder)))
    }
}

fn id_of(folder: &OwnedFd) -> Result<FolderId, Errno> {
    let meta = meta_of(&fstat(folder)?);
    Ok(FolderId { dev: meta.dev, ino: meta.ino })
}
