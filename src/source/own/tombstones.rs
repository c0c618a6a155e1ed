//! Reads the tombstones that claimtop keeps in its state folder: the processes proven dead in this boot.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use rustix::io::Errno;

use crate::core::judge::tombstone::keeper::Lesson;
use crate::core::model::snapshot::tombstone::merged;
use crate::core::model::{Host, ProcessId, Tombstone};
use crate::source::os::fence::Fence;
use crate::source::own::lines;
use crate::source::own::lines::OwnLines;

/// Reads the file when it has changed, and remembers tombstones that could not be written.
#[derive(Default)]
pub(crate) struct Reader {
    file: OwnLines,
    read: Arc<[Tombstone]>,
    /// The tombstones learnt in this run.
    own: Vec<Tombstone>,
    /// The processes whose tombstones were wrong.
    refuted: BTreeSet<ProcessId>,
}

impl Reader {
    /// Returns all tombstones that count in this boot.
    pub(crate) fn read(&mut self, path: Option<&Path>, fence: &Fence, host: &Host) -> Arc<[Tombstone]> {
        let path = path.filter(|path| fence.reaches(path));
        if let Some(read) = path.and_then(|path| self.file.changed(path, host)) {
            let all = merged(of_boot(read, host), &self.own).into_iter();
            self.read = all.filter(|stone| !self.refuted.contains(&stone.id)).collect();
        }
        self.read.clone()
    }

    /// Takes over what a look has learnt, whether or not it can be written.
    pub(crate) fn learn(&mut self, lesson: &Lesson) {
        self.own = merged(std::mem::take(&mut self.own), &lesson.learnt);
        self.refuted.extend(&lesson.refuted);
        let all = merged(self.read.to_vec(), &lesson.learnt).into_iter();
        self.read = all.filter(|stone| !self.refuted.contains(&stone.id)).collect();
    }

    /// Notes that everything learnt here is in the file.
    pub(crate) fn has_kept(&mut self) {
        self.own.clear();
        self.refuted.clear();
    }
}

/// Reads a file's tombstones of this boot.
///
/// # Errors
/// It is not a plain file, or the system refuses.
pub(crate) fn kept(path: &Path, host: &Host) -> Result<Vec<Tombstone>, Errno> {
    Ok(of_boot(lines::kept(path, host)?, host))
}

fn of_boot(mut all: Vec<Tombstone>, host: &Host) -> Vec<Tombstone> {
    all.retain(|stone| host.boot_id.as_deref() == Some(stone.boot_id.raw()));
    merged(all, &[])
}
