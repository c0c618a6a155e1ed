//! What an action on the chosen things is about.

use std::collections::BTreeSet;

use crate::app::lookup::{Index, window_name};
use crate::app::text::outside;
use crate::core::finding::{Finding, Remedy};
use crate::core::key::Key;
use crate::core::plan::{Action, Request};
use crate::core::report::WindowView;

/// Returns the records and claims that an action on the chosen things is about: a record or
/// claim itself; for a finding whoever its story tells to yield, else the first that it is about;
/// for a window only what is its own.
pub(in crate::app) fn targets(index: &Index, chosen: &[Key], action: Action) -> Vec<Key> {
    let mut targets = Vec::new();
    for key in chosen {
        match (index.window(key), index.finding(key)) {
            (Some(window), _) => targets.extend(of_window(index, window, action)),
            (None, Some(finding)) => targets.extend(of_finding(index, finding, action)),
            (None, None) => targets.extend(is_target(index, key, action).then(|| key.clone())),
        }
    }
    let mut seen = BTreeSet::new();
    targets.retain(|key| seen.insert(key.clone()));
    targets
}

/// Returns the one thing that is meant by what is selected: an action, a jump and a copied address
/// all point at the same.
pub(in crate::app) fn meant(index: &Index, key: &Key) -> Key {
    let Some(finding) = index.finding(key) else { return key.clone() };
    let target =
        action_of(finding.remedy).and_then(|action| of_finding(index, finding, action).into_iter().next());
    let of_story = || finding.yields().first().or(finding.subjects().first()).cloned();
    target.or_else(of_story).unwrap_or_else(|| key.clone())
}

fn is_target(index: &Index, key: &Key, action: Action) -> bool {
    index.record(key).is_some()
        || index.claim(key).is_some()
        || (action == Action::Park && index.window(key).is_none() && index.finding(key).is_none())
}

/// Returns what an action on a finding is about.
fn of_finding(index: &Index, finding: &Finding, action: Action) -> Vec<Key> {
    if action_of(finding.remedy) != Some(action) {
        return Vec::new();
    }
    let is_target = |key: &&Key| is_target(index, key, action);
    let yields: Vec<Key> = finding.yields().iter().filter(is_target).cloned().collect();
    let first = || finding.subjects().iter().find(is_target).cloned().into_iter().collect();
    if yields.is_empty() { first() } else { yields }
}

/// Returns what of a window its findings say that an action helps, and what is nobody's; without
/// any such finding, what it holds.
fn of_window(index: &Index, window: &WindowView, action: Action) -> Vec<Key> {
    let is_its = |key: &&Key| {
        let owner = index.window_of(key);
        is_target(index, key, action) && owner.is_none_or(|owner| owner.key == window.key)
    };
    let helped = index.findings_at(&window.key).into_iter();
    let helped = helped.filter(|finding| action_of(finding.remedy) == Some(action));
    let own: Vec<Key> =
        helped.filter_map(|finding| finding.subjects().iter().find(is_its).cloned()).collect();
    match (own.is_empty(), action) {
        (true, Action::Release) => window.claims.clone(),
        (true, Action::Migrate | Action::Park | Action::Undo) | (false, _) => own,
    }
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

/// Returns the action that a remedy is.
fn action_of(remedy: Remedy) -> Option<Action> {
    match remedy {
        Remedy::Release => Some(Action::Release),
        Remedy::Migrate => Some(Action::Migrate),
        Remedy::Park => Some(Action::Park),
        Remedy::Undo => Some(Action::Undo),
        Remedy::None => None,
    }
}
