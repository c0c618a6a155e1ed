//! Reads as much of the lines of guarded windows as one question needs.

mod about;
mod known;
mod lines;
mod past;
mod query;
mod stash;
mod story;
mod tree;
mod who;

use std::path::Path;

use crate::core::model::snapshot::ledger::{LedgerLine, parse};
pub(crate) use crate::source::own::ledger::about::About;
pub(crate) use crate::source::own::ledger::known::{KnownEdit, KnownEdits, Whose, is_since};
use crate::source::own::ledger::lines::{AskedLines, MOST, is_about_edits};
pub(crate) use crate::source::own::ledger::lines::{MOST_HOLDS, OwnLines, end_of, holds_of, is_ledger};
pub(crate) use crate::source::own::ledger::past::Past;
pub(crate) use crate::source::own::ledger::query::{LedgerView, read, settled};
pub(crate) use crate::source::own::ledger::stash::{newest, stash_notes};
pub(crate) use crate::source::own::ledger::story::{Edits, Open, Stories};
pub(crate) use crate::source::own::ledger::tree::{Tree, resolved, written};
pub(crate) use crate::source::own::ledger::who::{Here, Own, Processes, is_kin, other_of};

/// The newest part of what a guarded window has written.
#[derive(Default)]
pub(crate) struct Parts {
    pub(crate) edits: Edits,
    pub(crate) stories: Stories,
    /// Everything else.
    pub(crate) lines: Vec<LedgerLine>,
}

/// Reads a ledger.
pub(crate) fn parts_of(path: &Path) -> Parts {
    let text = end_of(path, MOST).unwrap_or_default();
    let mut stories = Stories::default();
    let edits = AskedLines::All.edits_of(text.as_bytes(), &mut stories);
    let others = text.lines().filter(|line| !is_about_edits(line.as_bytes()));
    Parts { edits, stories, lines: others.filter_map(parse).collect() }
}
