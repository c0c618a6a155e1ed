//! The story of two windows that have edited the same files.

use std::cmp::Reverse;
use std::path::Path;

use crate::core::judge::rules::facts::window_name;
use crate::core::judge::rules::place::edits::{
    edit_evidence, shared, warning_evidence, warning_words, warnings,
};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Edit, Story, WindowView};

/// The most files that are reported, those edited last.
const MOST: usize = 4;

/// Two windows that have edited the same files.
pub(crate) fn overlapping(scene: &Scene<'_>) -> Option<Story> {
    let [one, other] = scene.windows.as_slice() else { return None };
    let mut both = shared(one, other);
    both.sort_by_key(|(mine, its)| Reverse(mine.at.max(its.at)));
    let (mine, its) = *both.first()?;
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    for (mine, its) in both.iter().take(MOST) {
        tell_edit(&mut chain, (one, mine));
        tell_edit(&mut chain, (other, its));
    }
    for (window, of) in [(one, other), (other, one)] {
        for warning in warnings(window, of).rev().take(MOST) {
            let sentence = warning_words(window, of, warning);
            chain.saw(Some(warning.at), sentence, vec![warning_evidence(window, of, warning)]);
        }
    }
    let (earlier, later) = if mine.at <= its.at { (one, other) } else { (other, one) };
    let (first, last) = (window_name(earlier), window_name(later));
    let written = mine.at.max(its.at);
    let was_told = warnings(later, earlier).any(|warning| Some(warning.at) < written);
    let although = if was_told { format!(" despite a warning about {first}'s edits") } else { String::new() };
    let sentence = format!(
        "{last} wrote {} last{although}, without a commit in between: it may have kept or undone what {first} had \
         written",
        mine.path
    );
    let tree = scene.facts.world.worktree_of(Path::new(mine.path.raw()));
    let (cause, yields, advice) = match tree {
        Some(_) => (
            Cause::SharedWorktree,
            later,
            format!("pause {last}, commit or stash the work of {first}, then let {last} continue"),
        ),
        None => (
            Cause::SharedFolder,
            earlier,
            format!("pause {first} until {last} has finished, then check that its edits are still there"),
        ),
    };
    let would_change = "a commit after the later edit, or one of the sessions ended";
    let ending = Ending::new(cause, advice, would_change);
    let story = chain.end(ending, so(sentence, all_windows(&scene.windows)))?;
    Some(Story { yields: vec![yields.key.clone()], ..story })
}

/// Reports an edit of a window.
pub(crate) fn tell_edit(chain: &mut Chain, (window, edit): (&WindowView, &Edit)) {
    let sentence = format!("{} edited {}", window_name(window), edit.path);
    chain.saw(edit.at, sentence, edit_evidence((window, edit)).into_iter().collect::<Vec<_>>());
}
