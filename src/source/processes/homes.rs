//! Which folders of a home possible agents keep records in, as each of them reaches these folders.

use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;

use super::system;
use crate::core::agent::Candidates;
use crate::core::home::{FolderId, NamedHome};
use crate::core::process::{Process, ProcessId, ProcessState, ProcessTable};
use crate::format::Base;

/// Resolves what lies in the homes of processes, each once.
#[derive(Default)]
pub(super) struct Homes {
    /// Where systems keep records in a home: below which of its folders, and the path there.
    pub(super) places: Vec<(Base, String)>,
    known: HashMap<(ProcessId, NamedHome), BTreeSet<FolderId>>,
}

impl Homes {
    /// Forgets what was resolved: folders can be moved, linked and mounted anew.
    pub(super) fn forget(&mut self) {
        self.known.clear();
    }

    /// Adds to every possible agent's details where it may keep records.
    pub(super) fn fill(&mut self, table: &mut ProcessTable, candidates: &Candidates) {
        let mut before = std::mem::take(&mut self.known);
        for process in table.by_pid.values_mut().filter(|process| may_be_agent(process, candidates)) {
            let Some(named) = process.details.as_ref().and_then(NamedHome::of) else { continue };
            let key = (process.id, named);
            let found = before.remove(&key).or_else(|| self.resolve(process.id, &key.1));
            if let (Some(found), Some(details)) = (found, process.details.as_mut()) {
                details.homes = Some(found.clone());
                self.known.insert(key, found);
            }
        }
    }

    fn resolve(&self, id: ProcessId, named: &NamedHome) -> Option<BTreeSet<FolderId>> {
        let base = |base: Base| match base {
            Base::Home => Some(&named.home),
            Base::ClaudeConfig => Some(&named.config),
            Base::Cache => Some(&named.cache),
            Base::Tmp | Base::GitCommon | Base::Worktree => None,
        };
        let below = self.places.iter().filter_map(|(at, dir)| Some(base(*at)?.join(dir)));
        let must_be = [&named.home, &named.config];
        system::folders_seen_by(id, &must_be, &below.collect::<Vec<PathBuf>>())
    }
}

fn may_be_agent(process: &Process, candidates: &Candidates) -> bool {
    let exe = process.details.as_ref().and_then(|details| details.exe.as_ref());
    process.state != ProcessState::Zombie
        && (candidates.may_be(process.comm.raw()) || exe.is_some_and(|exe| candidates.may_run(exe.raw())))
}
