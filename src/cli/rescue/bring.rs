//! Brings versions back by one plan: into their places, beside them, or merged.

use anyhow::anyhow;

use super::select::{Candidate, Selection};
use crate::cli::act;
use crate::cli::args::RescueArguments;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::settings::Settings;
use crate::core::model::text::hex;
use crate::core::model::{EditState, Request, RescueFile, RescueTarget, RescueWay, Untrusted};
use crate::core::plan::rescue::stash_command;
use crate::source::own::ledger::Tree;

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
pub(super) fn bring_back(settings: &Settings, selected: &Selection, asked: &RescueArguments) -> Outcome {
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
        let whose = one.who.clone().map_or_else(|| version.session.clone(), |who| who.as_str().into());
        let base = || selected.base_of(settings, version);
        Some(RescueFile {
            blob: hex(&version.blob).into(),
            size: version.size,
            mode: version.mode,
            content: version.bytes(),
            base: (way == RescueWay::Merge).then(base).flatten(),
            ..RescueFile::new(version.path.clone().into(), Untrusted::from_path(&tree.top), whose)
        })
    };
    let files: Vec<RescueFile> = selected.newest().filter(is_wanted).filter_map(file).collect();
    let stashed = selected.newest().filter(|one| !is_wanted(one));
    let path = |one: &Candidate| Untrusted::from_path(&one.version.path);
    let stashed: Vec<String> = stashed.filter_map(|one| stash_command(&path(one), &one.fate)).collect();
    if files.is_empty() {
        let error = anyhow!("nothing of this is known to be gone, so nothing is brought back");
        let elsewhere = "--beside and --to write a version elsewhere".to_owned();
        let hints: Vec<String> = stashed.into_iter().chain([elsewhere]).collect();
        return Err(Failure::new(Exit::Refused, error).hint(hints.join("\n")));
    }
    let left = Some(stashed.join("\n")).filter(|left| !left.is_empty());
    act::carry(settings, &[Request::Rescue { lost: RescueTarget::Files(files), way }], &asked.consent, left)
}
