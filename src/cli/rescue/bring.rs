//! Brings versions back into their places, by a plan for each file.

use anyhow::anyhow;

use super::select::Selection;
use crate::cli::act;
use crate::cli::args::Consent;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::settings::Settings;
use crate::core::model::text::hex;
use crate::core::model::{EditState, Request, RescueFile, Untrusted};
use crate::source::own::ledger::Tree;

/// Plans to bring back the newest version of each file that is gone, and does it once that is confirmed.
///
/// # Errors
/// Nothing of what is asked for is gone, or acting is refused or fails.
pub(super) fn bring_back(settings: &Settings, selected: &Selection, consent: &Consent) -> Outcome {
    let gone = selected.newest().filter(|one| one.fate.state == EditState::Gone);
    let request = |one: &super::select::Candidate| {
        let version = &one.version;
        let tree = version.path.parent().and_then(Tree::find)?;
        let whose = one.who.clone().map_or_else(|| version.session.clone(), |who| who.as_str().into());
        let file = RescueFile {
            blob: hex(&version.blob).into(),
            size: version.size,
            mode: version.mode,
            content: version.bytes(),
            ..RescueFile::new(version.path.clone().into(), Untrusted::from_path(&tree.top), whose)
        };
        Some(Request::Rescue { files: vec![file] })
    };
    let requests: Vec<Request> = gone.filter_map(request).collect();
    if requests.is_empty() {
        let error = anyhow!("nothing of this is known to be gone, so nothing is brought back");
        return Err(Failure::new(Exit::Refused, error).hint("--to writes a version elsewhere"));
    }
    act::carry(settings, &requests, consent)
}
