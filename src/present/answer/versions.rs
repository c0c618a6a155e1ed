//! What windows wrote at a path and is gone.

use jiff::Timestamp;

use crate::core::model::{EditState, Untrusted};
use crate::present::answer::{AgentAnswer, Item, Quote};
use crate::present::text::age;

/// A version of a file that can be brought back.
pub(crate) struct VersionLine {
    pub(crate) path: Untrusted,
    /// Whose it is.
    pub(crate) who: String,
    pub(crate) at: Timestamp,
    pub(crate) state: EditState,
    /// Where it is from and how sure it is, in claimtop's own words.
    pub(crate) from: String,
}

/// Answers what can be brought back; `unread` says which transcripts gave nothing.
pub(crate) fn rescue_list(now: Timestamp, versions: &[VersionLine], unread: &[String]) -> AgentAnswer {
    let gone: Vec<&VersionLine> = versions.iter().filter(|one| one.state.is_away()).collect();
    let (verdict, advice) = match (versions.is_empty(), gone.is_empty()) {
        (true, _) if !unread.is_empty() => (
            ("unknown", "not-all-read"),
            "Nothing is known to be gone, but not everything could be read: ask the person to run `claimtop rescue`.",
        ),
        (true, _) => (("nothing", "none-gone"), "Nothing is known to be gone here."),
        (false, true) => {
            (("nothing", "in-place"), "Versions are known, and none of them is known to be gone.")
        }
        (false, false) => (
            ("gone", "lost-edits"),
            "These edits are in no file any more. Do not write over these files: ask the person to run `claimtop rescue` there, which shows a plan first.",
        ),
    };
    let shown = if gone.is_empty() { versions.iter().collect() } else { gone };
    let says = |one: &&VersionLine| Quote::new(&format!("{} of {}: {}", one.path, one.who, one.from));
    let item = |one: &&VersionLine| Item {
        kind: "version",
        name: Some(Quote::new(&one.who)),
        state: state(one.state),
        path: Some(Quote::from(&one.path)),
        age_seconds: Some(age::seconds(now, one.at).max(0)),
        ..Item::default()
    };
    let newest = shown.iter().map(|one| one.at).max();
    let mut answer = AgentAnswer::new("rescue_list", now, verdict, advice)
        .with_evidence(shown.iter().map(says), newest)
        .with_items(shown.iter().map(item).collect());
    answer.not_read = unread.iter().map(|why| Quote::new(why)).collect();
    answer
}

fn state(state: EditState) -> &'static str {
    match state {
        EditState::Present => "present",
        EditState::Committed => "committed",
        EditState::Stashed => "stashed",
        EditState::Superseded => "superseded",
        EditState::Gone => "gone",
        EditState::Unknown => "unknown",
    }
}
