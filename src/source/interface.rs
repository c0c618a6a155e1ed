//! The one interface of the sources of facts: databases, notes and session files. Files of the formats, repositories
//! and processes are read beside them, as all sources depend on these.

use std::collections::BTreeSet;
use std::path::PathBuf;

use jiff::Timestamp;

use crate::core::judge::window::agent::Signatures;
use crate::core::model::{ProcessTable, Snapshot, SourceHealth};
use crate::format::Reading;
use crate::source::os::fence::Fence;
use crate::source::places::Places;
use crate::source::places::homes::Homes;
use crate::source::places::names::Names;
use crate::source::provenance::descents::Descents;
use crate::source::provenance::shown::Visibility;

/// What may be read, and for which user.
pub(crate) struct Scope {
    pub(crate) places: Places,
    /// The folders of homes that are read, with those that windows have for themselves.
    pub(crate) homes: Homes,
    /// What may be read.
    pub(crate) fence: Fence,
    /// How agents look.
    pub(crate) signatures: Signatures,
    /// The agents below which processes were seen.
    pub(crate) descents: Descents,
    /// Whether a person looks at what windows have left.
    pub(crate) shown: Visibility,
}

/// The files and folders whose change means another look.
#[derive(Default)]
pub(crate) struct Hints {
    /// The folders, also those that do not exist yet. A last part `*` stands for every folder there.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// Names in some of them, beside those that the formats know.
    pub(crate) names: Names,
}

/// One source of facts, called in this order for each look. Only a few sources need methods other than
/// [`Source::look`], [`Source::add_to`] and [`Source::health`].
pub(crate) trait Source: Send {
    /// Reads what names processes, which must be read before they are listed.
    fn look(&mut self, _scope: &Scope, _reading: &Reading<'_>) {}

    /// Returns the folders in which an agent works by what was read: they may be in repositories.
    fn folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the PIDs that the read content names.
    fn pids(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    /// Notes where windows work, and returns whether that shows a new place to look in.
    fn follow(&mut self, _working: &BTreeSet<PathBuf>, _processes: &ProcessTable) -> bool {
        false
    }

    /// Reads these places, here or elsewhere; the processes are listed once more after it. Returns whether there are
    /// records: the processes that they name are read anew.
    fn look_further(&mut self, _scope: &Scope, _reading: &Reading<'_>) -> bool {
        false
    }

    /// Adds the findings to a snapshot that has the processes, the repositories, the records of files, and those of
    /// the sources before this one.
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>);

    /// Returns a health badge for each database or folder.
    fn health(&self, now: Timestamp) -> Vec<SourceHealth>;

    /// Adds the files and folders whose change means another look.
    fn hints(&self, _scope: &Scope, _hints: &mut Hints) {}

    /// Keeps up with changes by itself from now on, so that no look waits for an answer.
    fn keep_up(&mut self) {}

    /// Returns whether there is something newer than the last look used.
    fn has_news(&self) -> bool {
        false
    }
}
