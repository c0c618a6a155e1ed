//! The story of two working trees that do not merge.

use std::path::Path;

use crate::core::judge::edited::certain_work;
use crate::core::judge::rules::facts::{count, listed, window_name};
use crate::core::judge::rules::place::foresight::{conflict_evidence, conflict_of, label};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::edits::tell_edit;
use crate::core::judge::story::scene::{Scene, all_windows};
use crate::core::model::{Cause, Edit, ForecastSide, Key, Story, WindowView};

/// The most files whose edits are reported.
const MOST: usize = 4;

/// Two windows edited the same part, each in a working tree of its own.
pub(crate) fn will_conflict(scene: &Scene<'_>) -> Option<Story> {
    let subjects: Vec<Key> = scene.windows.iter().map(|window| window.key.clone()).collect();
    let conflict = conflict_of(scene.facts, &subjects)?;
    let mut chain = Chain::default();
    scene.tell_starts(&mut chain);
    for file in conflict.forecast.conflicts.iter().take(MOST) {
        for (side, windows) in conflict.ordered() {
            let edits =
                windows.iter().filter_map(|window| Some((*window, edit(window, side, file.path.raw())?)));
            edits.for_each(|edit| tell_edit(&mut chain, edit));
        }
    }
    let [(first, _), (second, later)] = conflict.ordered();
    let names: Vec<String> = later.iter().map(|window| window_name(window)).collect();
    let sentence = format!(
        "{} is further ({}), so {} comes after it ({})",
        label(first),
        progress(first),
        label(second),
        progress(second)
    );
    let files = conflict.forecast.conflicts.iter().take(MOST);
    let evidence: Vec<_> = files.map(|file| conflict_evidence(conflict.forecast, file)).collect();
    let advice = match names.is_empty() {
        true => conflict.advice(),
        false => {
            format!("{}, or let {} wait until {} is merged", conflict.advice(), listed(&names), label(first))
        }
    };
    let ending =
        Ending::new(Cause::DivergedTrees, advice, "one side takes back, or takes over, what the other edits");
    let evidence = all_windows(&scene.windows).into_iter().chain(evidence).collect::<Vec<_>>();
    let story = chain.end(ending, so(sentence, evidence))?;
    Some(Story { yields: later.iter().map(|window| window.key.clone()).collect(), ..story })
}

/// Returns how far a side is.
fn progress(side: &ForecastSide) -> String {
    let files = count(side.uncommitted, "file");
    let commits = count(usize::try_from(side.commits).unwrap_or(usize::MAX), "commit");
    format!("{commits}, {files} not committed")
}

/// Returns a window's edit of a file of its working tree.
fn edit<'a>(window: &'a WindowView, side: &ForecastSide, path: &str) -> Option<&'a Edit> {
    let whole = Path::new(side.tree.as_ref()?.raw()).join(path);
    certain_work(window)?.doing.edits.iter().rev().find(|edit| Path::new(edit.path.raw()) == whole)
}
