//! Reads the tombstones that claimtop keeps in its state folder: who was proven dead in this boot.

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Read as _;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use crate::core::judge::tombstone::ledger::Lesson;
use crate::core::model::tombstone::merged;
use crate::core::model::{FileMeta, Host, ProcessId, Tombstone};
use crate::source::os::fence::Fence;
use crate::source::os::open::plain::open_plain;

/// The most bytes that are read: what is kept is less than half of it.
const MAX_SIZE: u64 = 4 << 20;

/// The bits of others who may write.
const OTHERS_WRITE: u16 = 0o022;

/// Reads the file when it has changed, and remembers what no disk would take.
#[derive(Default)]
pub(crate) struct Reader {
    meta: Option<FileMeta>,
    read: Arc<[Tombstone]>,
    /// What was learnt here.
    own: Vec<Tombstone>,
    /// Whose tombstones were wrong.
    refuted: BTreeSet<ProcessId>,
}

impl Reader {
    /// Returns all that count in this boot.
    pub(crate) fn read(&mut self, path: Option<&Path>, fence: &Fence, host: &Host) -> Arc<[Tombstone]> {
        let path = path.filter(|path| path.parent().is_some_and(|folder| fence.reaches(folder)));
        if let Some(read) = path.and_then(|path| self.file(path, host)) {
            let all = merged(read, &self.own).into_iter();
            self.read = all.filter(|stone| !self.refuted.contains(&stone.id)).collect();
        }
        self.read.clone()
    }

    /// Takes in what a look has taught, whether or not it can be written.
    pub(crate) fn learn(&mut self, lesson: &Lesson) {
        self.own = merged(std::mem::take(&mut self.own), &lesson.learnt);
        self.refuted.extend(&lesson.refuted);
        let all = merged(self.read.to_vec(), &lesson.learnt).into_iter();
        self.read = all.filter(|stone| !self.refuted.contains(&stone.id)).collect();
    }

    /// Notes that all that was learnt here is in the file.
    pub(crate) fn has_kept(&mut self) {
        self.own.clear();
        self.refuted.clear();
    }

    /// Reads the file if it is another one than before.
    fn file(&mut self, path: &Path, host: &Host) -> Option<Vec<Tombstone>> {
        let (fd, meta) = open_plain(path).ok()?;
        if self.meta.replace(meta) == Some(meta) {
            return None;
        }
        trusted(fd, &meta, host)
    }
}

/// Reads what a file keeps, as much of it as we would have written; nothing of one that is not ours
/// alone, and nothing where there is none.
///
/// # Errors
/// It is no plain file, or the system refuses.
pub(crate) fn kept(path: &Path, host: &Host) -> Result<Vec<Tombstone>, Errno> {
    match open_plain(path) {
        Ok((fd, meta)) => Ok(trusted(fd, &meta, host).unwrap_or_default()),
        Err(Errno::NOENT) => Ok(Vec::new()),
        Err(errno) => Err(errno),
    }
}

/// Reads an open file; `None` where others can write it, for that proves nothing to us.
fn trusted(fd: OwnedFd, meta: &FileMeta, host: &Host) -> Option<Vec<Tombstone>> {
    if meta.ownership.uid != host.uid || meta.ownership.mode & OTHERS_WRITE != 0 {
        return None;
    }
    let mut bytes = Vec::new();
    File::from(fd).take(MAX_SIZE).read_to_end(&mut bytes).ok()?;
    Some(parse(&bytes, host))
}

/// Reads lines; one that makes no sense, or is of another boot, is forgotten.
fn parse(bytes: &[u8], host: &Host) -> Vec<Tombstone> {
    let stones = bytes.split(|byte| *byte == b'\n').filter_map(|line| serde_json::from_slice(line).ok());
    merged(
        stones.filter(|stone: &Tombstone| host.boot_id.as_deref() == Some(stone.boot_id.raw())).collect(),
        &[],
    )
}
