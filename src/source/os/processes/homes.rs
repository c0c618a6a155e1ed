//! The folders that possible agents work and keep records in, as each of them reaches these folders.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use crate::core::judge::window::agent::Candidates;
use crate::core::model::{FolderId, NamedHome, Process, ProcessState, ProcessTable, Untrusted};
use crate::format::Base;
use crate::source::os::processes::system;

/// Resolves what lies in the homes of processes, anew for each scan: folders can be moved, linked and
/// mounted elsewhere at any time.
#[derive(Default)]
pub(crate) struct Homes {
    /// Where systems keep records in a home: below which of its folders, and the path there.
    pub(crate) places: Vec<(Base, String)>,
}

impl Homes {
    /// Adds to every possible agent's details where it may keep records, and whether it works in a folder of its own.
    pub(crate) fn fill(&self, table: &mut ProcessTable, candidates: &Candidates) {
        let mut known = HashMap::new();
        let own = system::own_view();
        for process in table.by_pid.values_mut().filter(|process| may_be_agent(process, candidates)) {
            let id = process.id;
            let Some(details) = process.details.as_mut() else { continue };
            let named = NamedHome::from_details(details).filter(|_| !self.places.is_empty());
            let view = system::view_of(id);
            let cwd = details.cwd.as_ref().map(|cwd| Path::new(cwd.raw()));
            let views = own.as_ref().zip(view.as_ref()).zip(cwd);
            details.is_cwd_elsewhere = views.is_some_and(|((own, view), cwd)| view.is_elsewhere(own, cwd));
            let called_here = views.and_then(|((own, view), cwd)| own.called_here(view, id.pid, cwd));
            details.cwd_here = called_here.map(|folder| Untrusted::from_path(&folder));
            let is_nameless = details.is_cwd_elsewhere && details.cwd_here.is_none();
            details.cwd_id = if is_nameless { system::working_folder(id) } else { None };
            let homes = named.zip(view).and_then(|(named, view)| {
                // Most windows of one person have the same view.
                let resolve = || self.resolve(&view, &named);
                known.entry((view.id(), named.clone())).or_insert_with(resolve).clone()
            });
            details.has_certain_homes = homes.as_ref().is_some_and(|(_, are_certain)| *are_certain);
            details.homes = homes.map(|(folders, _)| folders);
        }
    }

    fn resolve(&self, view: &system::View, named: &NamedHome) -> Option<(BTreeSet<FolderId>, bool)> {
        let base = |base: Base| match base {
            Base::Home => Some(&named.home),
            Base::ClaudeConfig => Some(&named.config),
            Base::Cache => Some(&named.cache),
            Base::Tmp | Base::GitCommon | Base::Worktree => None,
        };
        let below = self.places.iter().filter_map(|(at, dir)| Some(base(*at)?.join(dir)));
        let must_be = [&named.home, &named.config];
        let may_be = below.chain([named.cache.clone()]);
        view.folders(&must_be, &may_be.collect::<Vec<PathBuf>>())
    }
}

fn may_be_agent(process: &Process, candidates: &Candidates) -> bool {
    // A process without details does not count as an agent.
    let Some(details) = process.details.as_ref().filter(|_| process.state != ProcessState::Zombie) else {
        return false;
    };
    candidates.may_be(process.comm.raw())
        || details.exe.as_ref().is_some_and(|exe| candidates.may_run(exe.raw()))
}
