//! Keeps how long dead holders keep their claims, for `stats`: a file beside the tombstones.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::state::tombstones::change;
use crate::core::history::dead_holds::{DeadHold, databases, dead, settled};
use crate::core::model::{Host, Key, Report};
use crate::source::own::lines;

/// Returns the file, which lies beside the tombstones.
pub(crate) fn beside(tombstones: &Path) -> PathBuf {
    tombstones.with_file_name("dead-holds.jsonl")
}

/// Reads the kept holds.
///
/// # Errors
/// It is not a plain file, or the system refuses.
pub(crate) fn kept(path: &Path, host: &Host) -> Result<Vec<DeadHold>, rustix::io::Errno> {
    lines::kept(path, host)
}

/// Updates the file with each report in which other records of the dead hold claims than in the one before.
pub(crate) struct Keeper<D> {
    disk: D,
    path: PathBuf,
    /// Those records, and the databases that were read.
    known: Option<(BTreeSet<Key>, BTreeSet<String>)>,
}

impl<D: Disk> Keeper<D> {
    pub(crate) fn new(disk: D, path: PathBuf) -> Self {
        Self { disk, path, known: None }
    }

    /// Takes in a report. A refused write is tried again with the next report.
    pub(crate) fn keep(&mut self, report: &Report, host: &Host) {
        let dead: BTreeSet<Key> = dead(report).into_keys().cloned().collect();
        let has_nothing = self.known.is_none() && dead.is_empty() && !self.path.exists();
        let now = (dead, databases(report).into_iter().map(str::to_owned).collect());
        if has_nothing || self.known.as_ref() == Some(&now) {
            self.known = Some(now);
            return;
        }
        match self.write(report, host) {
            Ok(()) => self.known = Some(now),
            Err(error) => tracing::debug!(%error, "what the dead hold could not be kept"),
        }
    }

    fn write(&self, report: &Report, host: &Host) -> Result<(), ActionError> {
        let is_gone = |path: &Path| {
            std::fs::symlink_metadata(path).is_err_and(|error| error.kind() == std::io::ErrorKind::NotFound)
        };
        change(&self.disk, &self.path, || Ok(settled(kept(&self.path, host)?, report, is_gone)))
    }
}
