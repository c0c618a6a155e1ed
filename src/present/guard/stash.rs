//! What a guard says of others' entries in git's stash.

use jiff::Timestamp;

use super::{MOST_NAME, MOST_WINDOWS, clean, who};
use crate::core::guard::decide::Other;
use crate::core::model::Untrusted;
use crate::present::text::age;

/// An entry of another window, which a call takes.
pub(crate) struct TakenEntry {
    pub(crate) other: Other,
    /// Its place, `n` of `stash@{n}`; `None` if it is in the stash no more.
    pub(crate) place: Option<usize>,
    pub(crate) commit: Untrusted,
    /// The working tree that it was made in.
    pub(crate) tree: Untrusted,
    pub(crate) at: Timestamp,
    /// How many files it has, if that is known.
    pub(crate) files: Option<usize>,
}

/// The newest entry of the window's own.
pub(crate) struct OwnEntry {
    pub(crate) place: usize,
    pub(crate) commit: Untrusted,
}

/// Says why a call is held up that would take others' entries, and how to take one's own.
pub(crate) fn hold_up(verb: &str, taken: &[TakenEntry], own: Option<&OwnEntry>, now: Timestamp) -> String {
    let own = own.map_or_else(
        || "None of the entries is known to be yours.".to_owned(),
        |OwnEntry { place, commit }| {
            let commit = clean(commit.raw(), MOST_NAME);
            format!(
                "Your own newest entry: `git stash apply {commit}`, wherever it is by then, or `git stash pop stash@{{{place}}}` at once."
            )
        },
    );
    format!(
        "claimtop held this up once: `git {verb}` would take what another window has stashed; all working trees of a repository share one stash ({}). {own} If it is intended anyway, repeat the call within 10 minutes: it then goes through.",
        list(taken, now)
    )
}

/// Says after a call which entries of others it has taken, and how to put them back.
pub(crate) fn taken(taken: &[TakenEntry], own: Option<&OwnEntry>, now: Timestamp) -> String {
    let back: Vec<String> = taken
        .iter()
        .take(MOST_WINDOWS)
        .map(|taken| format!("`git stash store -m back {}`", clean(taken.commit.raw(), MOST_NAME)))
        .collect();
    format!(
        "claimtop: this call took what another window has stashed ({}). {} puts it back; undo what it changed in your files.{}",
        list(taken, now),
        back.join(" and "),
        still_there(own)
    )
}

/// Says after a call that it may have taken an entry that another window was just making.
pub(crate) fn may_be_taken(other: &Other, own: &Untrusted) -> String {
    format!(
        "claimtop: this call has not taken your entry of the stash; it may have taken what {} was just stashing: look at your files. Your own entry: `git stash apply {}`.",
        who(other),
        clean(own.raw(), MOST_NAME)
    )
}

fn still_there(own: Option<&OwnEntry>) -> String {
    let there = |own: &OwnEntry| {
        format!(" Your own entry is still there: `git stash apply {}`.", clean(own.commit.raw(), MOST_NAME))
    };
    own.map(there).unwrap_or_default()
}

fn list(taken: &[TakenEntry], now: Timestamp) -> String {
    let one = |taken: &TakenEntry| {
        let place = taken.place.map(|place| format!("stash@{{{place}}}: ")).unwrap_or_default();
        let files = match taken.files {
            Some(1) => "1 file of ".to_owned(),
            Some(files) => format!("{files} files of "),
            None => "of ".to_owned(),
        };
        let tree = taken.tree.raw().rsplit('/').next().unwrap_or_default();
        let age = age::label_between(now, taken.at);
        format!("{place}{files}{}, stashed {age} ago in `{}`", who(&taken.other), clean(tree, MOST_NAME))
    };
    let named: Vec<String> = taken.iter().take(MOST_WINDOWS).map(one).collect();
    let more = taken.len().saturating_sub(MOST_WINDOWS);
    let more = if more > 0 { format!("; and {more} more") } else { String::new() };
    format!("{}{more}", named.join("; "))
}
