//! The one interface of the sources of facts: databases, notes and session files. Records in files of the
//! formats, repositories and processes are what they all go by, and are read beside them.

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

/// What may be looked at, and for whom.
pub(crate) struct Scope {
    pub(crate) places: Places,
    /// The folders of homes that are read, with those that windows have for themselves.
    pub(crate) homes: Homes,
    /// What may be read.
    pub(crate) fence: Fence,
    /// How agents look.
    pub(crate) signatures: Signatures,
    /// Below which of them processes were seen.
    pub(crate) descents: Descents,
    /// Whether a person looks at what windows have left.
    pub(crate) shown: Visibility,
}

/// What means another look when it changes.
#[derive(Default)]
pub(crate) struct Hints {
    /// The folders, also those that do not exist yet. A last part `*` stands for every folder there.
    pub(crate) folders: BTreeSet<PathBuf>,
    /// Names in some of them, beside those that the formats know.
    pub(crate) names: Names,
}

/// One source of facts, asked in this order for each look. All but [`Source::look`],
/// [`Source::add_to`] and [`Source::health`] are for the few that need them.
pub(crate) trait Source: Send {
    /// Reads what names processes: that has to be read before they are listed.
    fn look(&mut self, _scope: &Scope, _reading: &Reading<'_>) {}

    /// Returns where what was read says that somebody works: there may be repositories.
    fn folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Returns the PIDs that what was read names.
    fn pids(&self) -> BTreeSet<u32> {
        BTreeSet::new()
    }

    /// Takes note of where windows work, and returns whether that shows a place to look in which was
    /// not known.
    fn follow(&mut self, _working: &BTreeSet<PathBuf>, _processes: &ProcessTable) -> bool {
        false
    }

    /// Reads what such places hold, here or elsewhere; the processes are listed once more after it.
    /// Returns whether there are records: whoever they name is read anew.
    fn look_further(&mut self, _scope: &Scope, _reading: &Reading<'_>) -> bool {
        false
    }

    /// Adds what was found to a snapshot that has the processes, the repositories and the records of
    /// files, and of the sources before this one.
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>);

    /// Returns how that went, a badge for each database or folder.
    fn health(&self, now: Timestamp) -> Vec<SourceHealth>;

    /// Adds what means another look when it changes.
    fn hints(&self, _scope: &Scope, _hints: &mut Hints) {}

    /// Keeps up with changes by itself from now on, so that no look waits for an answer.
    fn keep_up(&mut self) {}

    /// Returns whether there is something newer than what the last look has taken.
    fn has_news(&self) -> bool {
        false
    }
}
