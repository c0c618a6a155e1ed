//! The story of edits that are gone.

use crate::core::judge::rules::facts::window_name;
use crate::core::judge::rules::place::edits::edit_evidence;
use crate::core::judge::rules::place::lost::{command_evidence, gone_evidence, losses, what, who};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Evidence, Story, WindowView};

/// The most files that are reported, those changed last.
const MOST: usize = 4;

/// A window's edits are gone.
pub(crate) fn lost(scene: &Scene<'_>) -> Option<Story> {
    let has = |window: &WindowView| scene.windows.iter().any(|one| one.key == window.key);
    let losses = losses(scene.facts);
    let loss = losses.iter().find(|loss| {
        let windows = 1 + usize::from(loss.by.is_some());
        has(loss.window) && loss.by.is_none_or(|(by, _)| has(by)) && windows == scene.windows.len()
    })?;
    let owner = loss.window;
    let mut chain = Chain::default();
    if let Some((by, command)) = loss.by {
        let evidence: Vec<Evidence> = command_evidence((by, command)).into_iter().collect();
        chain.saw(Some(command.at), format!("{} ran `{}`", window_name(by), command.line), evidence);
    }
    for edit in loss.edits.iter().take(MOST) {
        let told = format!("{} edited {}", window_name(owner), edit.path);
        chain.saw(edit.at, told, edit_evidence((owner, edit)).into_iter().collect::<Vec<_>>());
        chain.saw(edit.fate.since, format!("{} was changed", edit.path), [gone_evidence(edit)]);
    }
    let ending = Ending::new(
        Cause::Overwritten,
        "u, or claimtop rescue, shows what would be brought back",
        "the file, a commit or a stash entry that has what the edit left",
    );
    let told = format!("{}; {}", what(loss, scene.facts), who(loss));
    let story = chain.end(ending, so(told, all_windows(&scene.windows)))?;
    Some(Story { yields: loss.by.iter().map(|(by, _)| by.key.clone()).collect(), ..story })
}
