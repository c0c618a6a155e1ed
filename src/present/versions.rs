//! Versions of files: where they come from and what became of them.

use jiff::Timestamp;

use crate::core::model::{EditFate, EditState, Sureness};
use crate::present::text::tone::Tone;
use crate::present::text::{age, safe};

/// Says where a version comes from, and how sure it is.
pub(crate) fn source_words(from: &str, sure: Sureness) -> String {
    match sure.missing() {
        Some(missing) => format!("{from}, not whole: {missing}"),
        None => format!("{from}, {}", sure.word()),
    }
}

/// Says what became of a version.
pub(crate) fn state_words(fate: &EditFate, now: Timestamp) -> (Tone, String) {
    let since =
        fate.since.map(|since| format!(" for {}", age::label_between(now, since))).unwrap_or_default();
    match (fate.state, &fate.stash) {
        (EditState::Gone, _) => (Tone::Bad, format!("gone{since}")),
        (EditState::Stashed, Some(stash)) => {
            let short: String = stash.raw().chars().take(10).collect();
            (Tone::Warning, format!("stashed: git stash apply {}", safe(&short)))
        }
        (EditState::Stashed, None) => (Tone::Warning, "stashed".to_owned()),
        (EditState::Present, _) => (Tone::Good, "in the file".to_owned()),
        (EditState::Committed, _) => (Tone::Dim, "committed".to_owned()),
        (EditState::Superseded, _) => (Tone::Dim, "edited further".to_owned()),
        (EditState::Unknown, _) => (Tone::Dim, "not known".to_owned()),
    }
}
