//! What an action on the chosen things is about.

use std::collections::BTreeSet;

use crate::app::lookup::{Index, window_name};
use crate::app::text::outside;
use crate::core::finding::Remedy;
use crate::core::key::Key;
use crate::core::plan::{Action, Request};

/// Returns the records and claims that an action on the chosen things is about: a record or
/// claim itself; for a window or a finding, what its findings say that the action helps.
pub(in crate::app) fn targets(index: &Index, chosen: &[Key], action: Action) -> Vec<Key> {
    let is_target = |key: &Key| {
        index.record(key).is_some()
            || index.claim(key).is_some()
            || (action == Action::Park && index.window(key).is_none() && index.finding(key).is_none())
    };
    let mut targets = Vec::new();
    for key in chosen {
        if is_target(key) {
            targets.push(key.clone());
        } else {
            let helped = index.findings_at(key).into_iter().filter(|finding| is_for(finding.remedy, action));
            targets.extend(
                helped.filter_map(|finding| finding.subjects().iter().find(|key| is_target(key)).cloned()),
            );
        }
    }
    let mut seen = BTreeSet::new();
    targets.retain(|key| seen.insert(key.clone()));
    targets
}

/// Names what a request is about, so that it differs from all others: two windows can hold the
/// same.
pub(in crate::app) fn name(index: Option<&Index>, request: &Request) -> String {
    let (index, key) = match (index, request) {
        (_, Request::Undo { entry, .. }) => return format!("entry {entry}"),
        (None, Request::Act { key, .. }) => return key.to_string(),
        (Some(index), Request::Act { key, .. }) => (index, key),
    };
    let record = index.record(key).or_else(|| Some(&*index.claim(key)?.record));
    let holder = match (index.window_of(key), record.and_then(|record| record.pid())) {
        (Some(window), _) => format!(" of {} (PID {})", window_name(window), window.pid),
        (None, Some(pid)) => format!(" of PID {pid}"),
        (None, None) => String::new(),
    };
    match (record, index.findings_at(key).first().and_then(|finding| finding.evidence().first().cloned())) {
        // A file that is no record has no name but its path.
        (None, Some(evidence)) => outside(Some(&evidence.fact().source)),
        (Some(_), _) | (None, None) => index.name(key) + &holder,
    }
}

/// Decides whether an action is the remedy.
fn is_for(remedy: Remedy, action: Action) -> bool {
    match remedy {
        Remedy::Release => action == Action::Release,
        Remedy::Migrate => action == Action::Migrate,
        Remedy::Park => action == Action::Park,
        Remedy::Undo => action == Action::Undo,
        Remedy::None => false,
    }
}
