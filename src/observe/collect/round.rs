//! What one look has read so far.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use jiff::Timestamp;

use crate::core::model::note::Notes;
use crate::core::model::process::ProcessTable;
use crate::core::model::snapshot::{Repo, SourceHealth};
use crate::format::Reading;
use crate::observe::collect::found::Found;
use crate::observe::collect::health;
use crate::observe::collect::pass::Pass;
use crate::source::{leo, obra};

/// The repositories of one look, by common directory, as they were read.
pub(crate) type Read = BTreeMap<PathBuf, (Repo, SourceHealth)>;

/// One look, as far as it has come.
pub(crate) struct Round<'a> {
    pub(crate) reading: Reading<'a>,
    /// Who runs which session, as claimtop's own notes say.
    pub(crate) bound: (Notes, SourceHealth),
    /// Obra's databases.
    pub(crate) databases: Vec<obra::Seen>,
    /// LEO's database, where a person named one.
    pub(crate) leo: Option<leo::Seen>,
    /// The databases of other systems.
    pub(crate) stores: crate::source::stores::found::Found,
    /// How the folders were found that a person named.
    pub(crate) roots: Vec<SourceHealth>,
    pub(crate) found: Found,
    pub(crate) pass: Pass<'a>,
    pub(crate) repos: Read,
    pub(crate) processes: ProcessTable,
}

impl Round<'_> {
    /// Returns the PIDs that records and notes name.
    pub(crate) fn named(&self) -> BTreeSet<u32> {
        let mut named = self.leo.as_ref().map(leo::Seen::pids).unwrap_or_default();
        named.extend(self.bound.0.notes.iter().map(|note| note.pid));
        named.extend(self.pass.records.iter().filter_map(|record| record.pid()));
        named
    }

    /// Returns the badges of all sources, in the order in which they are shown.
    pub(crate) fn health(&mut self, taken_at: Timestamp) -> Vec<SourceHealth> {
        let mut databases: Vec<_> = self.databases.iter().map(obra::Seen::health).collect();
        databases.append(&mut self.stores.sources);
        let mut sources = self.pass.tallies.health(&databases);
        sources.append(&mut self.roots);
        sources.push(health::processes(&self.processes));
        sources.push(self.bound.1.clone());
        sources.extend(self.found.overflow());
        sources.append(&mut databases);
        sources.extend(self.leo.as_ref().map(|leo| leo.health(taken_at)));
        sources.extend(self.repos.values().map(|(_, badge)| badge.clone()));
        sources
    }
}
