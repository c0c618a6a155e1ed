//! Which folders paths mean to another process: in its own root and mounts.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Mode, OFlags, ResolveFlags, fstat, openat, openat2};
use rustix::io::Errno;

use super::proc::slurp;
use super::stat;
use crate::core::home::FolderId;
use crate::core::process::ProcessId;
use crate::source::open::meta_of;

/// How a folder is opened that is only to be named.
const NAMED: OFlags = OFlags::PATH.union(OFlags::DIRECTORY).union(OFlags::CLOEXEC);

/// Returns which folders these paths mean to a process, without those that are not there for it;
/// `None` if one that must be is not, or anything cannot be told.
pub(in crate::source::processes) fn folders_seen_by(
    id: ProcessId,
    must_be: &[&PathBuf],
    paths: &[PathBuf],
) -> Option<BTreeSet<FolderId>> {
    let root = root_of(id)?;
    let mut all = must_be.iter().map(|path| folder(&root, path).ok()).collect::<Option<BTreeSet<_>>>()?;
    for path in paths {
        match folder(&root, path) {
            Ok(id) => drop(all.insert(id)),
            Err(Errno::NOENT | Errno::NOTDIR) => {}
            Err(_) => return None,
        }
    }
    Some(all)
}

/// Opens what a process takes for `/` (proc(5), `root`). All is asked through its folder, which
/// stays that process's own.
fn root_of(id: ProcessId) -> Option<OwnedFd> {
    let process = openat(CWD, format!("/proc/{}", id.pid), NAMED, Mode::empty()).ok()?;
    let mut text = Vec::new();
    slurp(process.as_fd(), "stat", &mut text, 4 << 10).ok()?;
    let is_same = stat::parse(id.pid, &text)?.process.id == id;
    openat(&process, "root", NAMED, Mode::empty()).ok().filter(|_| is_same)
}

/// Follows a path as one who has this root does: links that begin with `/` lead into it as well
/// (openat2(2), `RESOLVE_IN_ROOT`).
fn folder(root: &OwnedFd, path: &Path) -> Result<FolderId, Errno> {
    let folder = openat2(root, path, NAMED, Mode::empty(), ResolveFlags::IN_ROOT)?;
    let meta = meta_of(&fstat(folder)?);
    Ok(FolderId { dev: meta.dev, ino: meta.ino })
}
