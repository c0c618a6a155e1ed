//! Assigns edits to one of several sessions: those that one window ran after the other, and copies of sessions.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::core::model::snapshot::work::MOST_FILES;
use crate::core::model::{Edit, Untrusted, Work};
use crate::source::work::wanted::Session;

/// Gives each edit to one session. Edits that a fork has copied are its origin's. Uncommitted edits that a window made
/// before `/clear`, or before it went to the background, are its present session's. `earlier` names the sessions that
/// a session continues; `run` are those of windows, which keep their own.
pub(super) fn settle(
    all: &mut [Arc<Work>],
    earlier: &BTreeMap<Session, BTreeSet<Untrusted>>,
    run: &BTreeSet<Session>,
) {
    let changes: Vec<(usize, Vec<Edit>)> =
        all.iter().enumerate().filter_map(|(at, work)| Some((at, edits(work, all, earlier, run)?))).collect();
    for (at, edits) in changes {
        if let Some(work) = all.get_mut(at) {
            Arc::make_mut(work).doing.edits = edits;
        }
    }
}

/// Returns the edits of a session if they differ from those in its file.
fn edits(
    work: &Work,
    all: &[Arc<Work>],
    earlier: &BTreeMap<Session, BTreeSet<Untrusted>>,
    run: &BTreeSet<Session>,
) -> Option<Vec<Edit>> {
    let of = |id: &Untrusted| {
        let is_it = |other: &&Arc<Work>| other.format == work.format && other.session == *id;
        all.iter().find(is_it).filter(|other| other.session != work.session)
    };
    let is_copy = |edit: &&Edit| {
        let origin = edit.from.as_ref().and_then(of);
        let is_same = |other: &Edit| other.path == edit.path && other.at >= edit.at;
        origin.is_some_and(|origin| origin.doing.edits.iter().any(is_same))
    };
    let session = Session { format: work.format, id: work.session.clone() };
    let is_run = |id: &Untrusted| run.contains(&Session { format: work.format, id: id.clone() });
    let before = earlier.get(&session).into_iter().flatten().filter(|id| !is_run(id)).filter_map(of);
    let mut own: Vec<Edit> = work.doing.edits.iter().filter(|edit| !is_copy(edit)).cloned().collect();
    let mut has_changed = own.len() < work.doing.edits.len();
    for (before, edit) in before.flat_map(|before| before.doing.edits.iter().map(move |edit| (before, edit)))
    {
        let is_known = own.iter().any(|other| other.path == edit.path);
        if !edit.has_ended() && !is_known && own.len() < MOST_FILES {
            own.push(Edit { from: Some(before.session.clone()), ..edit.clone() });
            has_changed = true;
        }
    }
    own.sort();
    has_changed.then_some(own)
}
