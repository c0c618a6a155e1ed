//! Adds the work of sub-agents to their session's.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use crate::core::model::snapshot::work::{MOST_COMMANDS, MOST_FILES};
use crate::core::model::{Doing, Edit, SubAgent, Untrusted, Work};

/// The work of one sub-agent.
pub(crate) struct HelperWork {
    pub(crate) id: Untrusted,
    /// Its present work, unless it has finished.
    pub(crate) running: Option<SubAgent>,
    pub(crate) doing: Doing,
    /// How many of its lines or rows could not be understood.
    pub(crate) skipped: u64,
}

/// Adds their work to their session's.
pub(crate) fn join(work: &mut Work, agents: impl IntoIterator<Item = HelperWork>) {
    let mut edits: BTreeMap<Untrusted, Edit> = BTreeMap::new();
    join_edits(&mut edits, std::mem::take(&mut work.doing.edits));
    for HelperWork { id, running, doing, skipped } in agents {
        work.agents.extend(running);
        join_edits(&mut edits, doing.edits.into_iter().map(|edit| Edit { by: Some(id.clone()), ..edit }));
        work.doing.commands.extend(doing.commands);
        work.doing.edits_since = work.doing.edits_since.max(doing.edits_since);
        work.skipped += skipped;
    }
    work.doing.commands.sort_by_key(|command| command.at);
    let spare = work.doing.commands.len().saturating_sub(MOST_COMMANDS);
    work.doing.commands.drain(..spare);
    let mut edits: Vec<Edit> = edits.into_values().collect();
    edits.sort_by_key(|edit| Reverse(edit.at));
    edits.truncate(MOST_FILES);
    edits.sort();
    work.doing.edits = edits;
}

/// Keeps the sub-agent that edited a file last, and the other ones that have.
fn join_edits(all: &mut BTreeMap<Untrusted, Edit>, more: impl IntoIterator<Item = Edit>) {
    for mut last in more {
        if let Some(mut before) = all.remove(&last.path) {
            if before.at >= last.at {
                std::mem::swap(&mut before, &mut last);
            }
            last.also.extend(before.by.into_iter().chain(before.also));
            last.also.retain(|id| last.by.as_ref() != Some(id));
            last.also.sort();
            last.also.dedup();
        }
        all.insert(last.path.clone(), last);
    }
}
