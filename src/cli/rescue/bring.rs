//! Brings versions back by one plan: into their places, beside them, or merged.

use std::path::Path;

use anyhow::anyhow;

use super::select::{Candidate, Selection};
use crate::cli::act;
use crate::cli::args::RescueArguments;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::settings::Settings;
use crate::core::model::{EditState, Request, RescueFile, RescueTarget, RescueWay, Snapshot, Untrusted};
use crate::core::plan::rescue::stash_command;
use crate::source::own::ledger::Tree;
use crate::source::versions::found::VersionSource;

impl RescueArguments {
    /// Returns where versions go.
    pub(super) fn way(&self) -> RescueWay {
        match (self.beside, self.merge) {
            (true, _) => RescueWay::Beside,
            (false, true) => RescueWay::Merge,
            (false, false) => RescueWay::Place,
        }
    }
}

/// Plans to bring back the newest version of each file that is gone, and does it once that is confirmed.
///
/// # Errors
/// Nothing of what is asked for is gone, or acting is refused or fails.
pub(super) fn bring_back(
    settings: &Settings,
    (snapshot, selected): (&Snapshot, &Selection),
    asked: &RescueArguments,
) -> Outcome {
    let way = asked.way();
    let is_wanted = |one: &&Candidate| match one.fate.state {
        EditState::Gone => true,
        // Beside a file nothing of it is lost, whatever became of the edit.
        EditState::Stashed | EditState::Unknown | EditState::Superseded => {
            way == RescueWay::Beside && !asked.subjects.is_empty()
        }
        EditState::Present | EditState::Committed => false,
    };
    let file = |one: &Candidate| {
        let version = &one.version;
        let tree = version.path.parent().and_then(Tree::find)?;
        let whose = one.label.who.clone().map_or_else(|| version.session.clone(), |who| who.as_str().into());
        let base = (way == RescueWay::Merge).then(|| selected.base_of(settings, version)).flatten();
        Some(RescueFile { base, ..version.to_rescue(whose, &tree) })
    };
    let (inside, outside): (Vec<&Candidate>, Vec<&Candidate>) = selected
        .newest()
        .filter(is_wanted)
        .partition(|one| is_expected(one, (snapshot, selected), !asked.subjects.is_empty()));
    let files: Vec<RescueFile> = inside.into_iter().filter_map(file).collect();
    let outside = outside.into_iter().map(|one| {
        let path = Untrusted::from_path(&one.version.path);
        let why = match is_of_look(one, snapshot) {
            true => "lies outside the windows' working trees",
            false => "was written by a session without a window, which may have removed it itself",
        };
        format!("{path} {why}: name it to bring it back")
    });
    let stashed = selected.newest().filter(|one| !is_wanted(one));
    let path = |one: &Candidate| Untrusted::from_path(&one.version.path);
    let stashed = stashed.filter_map(|one| stash_command(&path(one), &one.fate));
    let left: Vec<String> = outside.chain(stashed).collect();
    if files.is_empty() {
        let error = anyhow!("nothing of this is known to be gone, so nothing is brought back");
        let elsewhere = "--beside and --to write a version elsewhere".to_owned();
        let hints: Vec<String> = left.into_iter().chain([elsewhere]).collect();
        return Err(Failure::new(Exit::Refused, error).hint(hints.join("\n")));
    }
    let left = Some(left.join("\n")).filter(|left| !left.is_empty());
    act::carry(settings, &[Request::Rescue { lost: RescueTarget::Files(files), way }], &asked.consent, left)
}

/// Returns whether a version may be put in its place: a transcript alone names any path, so a file that nobody has named
/// has to lie where windows work, and one of a session that was named at least in a repository.
fn is_expected(
    one: &Candidate,
    (snapshot, selected): (&Snapshot, &Selection),
    is_something_named: bool,
) -> bool {
    let path = one.version.path.as_path();
    let trees = snapshot.repos.iter().flat_map(|repo| &repo.worktrees).map(|tree| tree.path.as_path());
    let plain = snapshot.plain_folders.iter().map(|folder| Path::new(folder.raw()));
    let is_in_repository = || path.parent().and_then(Tree::find).is_some_and(|tree| tree.is_repository());
    let is_where_windows_work = || trees.chain(plain).any(|place| path.starts_with(place));
    one.version.from == VersionSource::Kept
        || selected.names(path)
        || (is_something_named || is_of_look(one, snapshot)) && is_where_windows_work()
        || is_something_named && is_in_repository()
}

/// Returns whether a version's session is that of a window, or of one that has died.
fn is_of_look(one: &Candidate, snapshot: &Snapshot) -> bool {
    snapshot.work.iter().any(|work| work.session == one.version.session)
}
