//! The story of edits that are gone.

use crate::core::judge::rules::place::lost::{Owner, gone_evidence, losses, what, who};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Story, WindowView};

/// The most files that are reported, those changed last.
const MOST: usize = 4;

/// A window's edits are gone.
pub(crate) fn lost(scene: &Scene<'_>) -> Option<Story> {
    let has = |window: &WindowView| scene.windows.iter().any(|one| one.key == window.key);
    let has_owner = |owner: &Owner<'_>| match owner.window {
        Some(window) => has(window),
        None => scene.records.iter().any(|record| record.key == *owner.key),
    };
    let losses = losses(scene.facts);
    let loss = losses.iter().find(|loss| {
        let windows = usize::from(loss.owner.window.is_some()) + usize::from(loss.culprit().is_some());
        has_owner(&loss.owner) && loss.culprit().is_none_or(has) && windows == scene.windows.len()
    })?;
    let owner = &loss.owner;
    let mut chain = Chain::default();
    for by in loss.by.iter().take(MOST) {
        if let Some((at, sentence)) = by.ran() {
            chain.saw(Some(at), sentence, by.evidence().into_iter().collect::<Vec<_>>());
        }
    }
    for edit in loss.edits.iter().take(MOST) {
        let told = format!("{} edited {}", owner.name, edit.path);
        chain.saw(edit.at, told, [owner.edit_evidence(edit)]);
        chain.saw(edit.fate.since, format!("{} was changed", edit.path), [gone_evidence(edit)]);
    }
    let ending = Ending::new(
        Cause::Overwritten,
        "u, or claimtop rescue, shows what would be brought back",
        "the file, a commit or a stash entry that has what the edit left",
    );
    let told = format!("{}; {}", what(loss, scene.facts), who(loss));
    let story = chain.end(ending, so(told, all_windows(&scene.windows)))?;
    Some(Story { yields: loss.culprit().map(|by| by.key.clone()).into_iter().collect(), ..story })
}
