//! What an action on the chosen things is about.

use crate::core::model::action::rescue::{RescueTarget, RescueWay};
use crate::core::model::action::stop::Signal;
use crate::core::model::action::{Action, Confirmation, Request};
use crate::core::model::report::finding::code::Code;
use crate::core::model::report::finding::{Finding, Remedy};
use crate::core::model::report::key::{Key, KeyKind};
use crate::core::model::report::need::Need;
use crate::core::model::report::window::WindowView;
use crate::core::model::snapshot::work::Work;
use crate::core::plan::about::plan_for;
use crate::core::plan::holder::claims_of;
use crate::core::plan::left::{left_by, plan_left};
use crate::present::report_index::{Index, window_name};
use crate::present::text::outside;

/// Returns the records and claims that an action on the chosen things is about: a record or
/// claim itself; for a finding the window that its story asks to yield, else the first that it is about;
/// for a window only what is its own.
///
/// Of a window that has ended it is all that it has left.
pub(crate) fn requests(index: &Index, chosen: &[Key], action: Action) -> Vec<Request> {
    if action == Action::Stop {
        return chosen.iter().flat_map(|key| endings(index, key)).collect();
    }
    let act = |key: Key| Request::Act { key, action };
    if action == Action::Rescue {
        let mut windows: Vec<Key> = chosen.iter().filter_map(|key| losing(index, key)).collect();
        windows.dedup();
        let request = |key| Request::Rescue { lost: RescueTarget::By(key), way: RescueWay::Place };
        return windows.into_iter().map(request).collect();
    }
    let mut requests = Vec::new();
    for key in chosen {
        if let Some(found) = of_need(index, key, action) {
            requests.extend(found);
            continue;
        }
        let key = index.target(key);
        if let Some(of) = left(index, key, action) {
            requests.push(Request::Left { of });
            continue;
        }
        let found: Vec<Request> = match (index.window(key), index.finding(key)) {
            (Some(window), _) => of_window(index, window, action).into_iter().map(act).collect(),
            (None, Some(finding)) => of_finding(index, finding, action).into_iter().map(act).collect(),
            (None, None) if is_target(index, key, action) => vec![act(key.clone())],
            (None, None) if action == Action::Release => unlocking(index, key).map(act).into_iter().collect(),
            (None, None) => Vec::new(),
        };
        let new: Vec<Request> = found.into_iter().filter(|one| !requests.contains(one)).collect();
        requests.extend(new);
    }
    together(index, requests, action)
}

/// Makes one of the requests about single records that each would take a code of their own: twelve rows that are marked are
/// confirmed, and undone, at once.
fn together(index: &Index, requests: Vec<Request>, action: Action) -> Vec<Request> {
    let confirmation = |key: &Key| plan_for(&index.report, key, action).confirmation;
    let is_single = |request: &Request| {
        let Request::Act { key, .. } = request else { return false };
        key.machine().is_none() && matches!(confirmation(key), Confirmation::Yes | Confirmation::Code)
    };
    let takes_code = |request: &&Request| {
        request.key().is_some_and(|key| is_single(request) && confirmation(key) == Confirmation::Code)
    };
    let may_join = matches!(action, Action::Release | Action::Park);
    if !may_join || requests.iter().filter(takes_code).count() < 2 {
        return requests;
    }
    let (single, others): (Vec<Request>, Vec<Request>) = requests.into_iter().partition(is_single);
    let keys = single.iter().filter_map(|request| request.key().cloned()).collect();
    [Request::Several { keys, action }].into_iter().chain(others).collect()
}

/// Returns the window that has lost edits, or may have: the chosen one, or the one that a finding is about.
pub(crate) fn losing(index: &Index, key: &Key) -> Option<Key> {
    let key = index.target(key);
    let is_one = |key: &Key, has: fn(&Work) -> bool| {
        index.report.owner_of_edits(key).is_some_and(|(_, work)| has(work))
    };
    let has_lost =
        |key: &&Key| is_one(key, |work| work.doing.edits.iter().any(|edit| edit.fate.state.is_away()));
    // What it has lost may be too far back for the look.
    let may_have_lost = |key: &&Key| has_lost(key) || is_one(key, Work::is_partly_known);
    let of_finding = || index.finding(key).and_then(|finding| finding.subjects.iter().find(has_lost));
    Some(key).filter(may_have_lost).or_else(of_finding).cloned()
}

/// Returns the lock of a working tree, where a dead window has left it.
fn unlocking(index: &Index, key: &Key) -> Option<Key> {
    index.left_tree(key).filter(|tree| tree.is_left())?.releasable_lock.clone()
}

/// Returns the endings of all that a dead window has left running, or that of the thing itself.
fn endings(index: &Index, key: &Key) -> Vec<Request> {
    let left = index.need(key).and_then(Need::left).map_or(&[][..], |left| &left.left_overs);
    let one = if left.is_empty() { std::slice::from_ref(index.target(key)) } else { left };
    one.iter().filter_map(|key| ending(index, key)).collect()
}

/// Returns the ending of a left-over or a living window; of a finding, of the left-over that it is about, or
/// of the window that is advised to be closed.
fn ending(index: &Index, key: &Key) -> Option<Request> {
    let of_finding = |finding: &'_ Finding| {
        let left = finding.subjects.iter().find(|key| key.kind() == Some(KeyKind::LeftOver));
        left.or_else(|| finding.closes()).cloned()
    };
    let key = &index.finding(key).and_then(of_finding).unwrap_or_else(|| key.clone());
    let is_left = index.left_over(key).is_some();
    let lives = index.window(key).is_some_and(|window| !index.has_ended(window));
    (is_left || lives).then(|| Request::Stop { key: key.clone(), signal: Signal::Term })
}

/// Returns all that a dead window has left, where that it died is chosen; where nothing of it is
/// certain enough to go at once, its claims one by one.
fn of_need(index: &Index, key: &Key, action: Action) -> Option<Vec<Request>> {
    let need = index.need(key).filter(|_| matches!(action, Action::Release | Action::Park))?;
    let left = need.left()?;
    // What it left running is ended by that key.
    if action == Action::Park && !left.left_overs.is_empty() {
        return Some(Vec::new());
    }
    let of = need.subject.clone();
    let act = |key: &Key| Request::Act { key: key.clone(), action };
    match plan_left(&index.report, &of).confirmation {
        _ if left.claims.is_empty() => None,
        Confirmation::Refused => Some(left.claims.iter().map(act).collect()),
        Confirmation::Yes | Confirmation::Code | Confirmation::FullName => Some(vec![Request::Left { of }]),
    }
}

/// Returns one of several records that an ended window has left, where a window or a finding about
/// its death is chosen.
fn left(index: &Index, key: &Key, action: Action) -> Option<Key> {
    if !matches!(action, Action::Release | Action::Park) {
        return None;
    }
    let of_dead = |finding: &&Finding| {
        matches!(finding.code, Code::DeadHolder | Code::RecycledPid | Code::RebootedHolder)
            && matches!(finding.remedy, Remedy::Release | Remedy::Park)
    };
    if let Some(window) = index.window(key) {
        let mut records = window.records.iter().filter(|_| index.has_ended(window));
        return records.find(|key| index.record(key).is_some()).cloned();
    }
    let first = index.finding(key).filter(of_dead)?.subjects.first()?;
    let record = index.record(first).or_else(|| Some(&*index.claim(first)?.record))?;
    (left_by(&index.report, record).len() > 1).then(|| record.key.clone())
}

/// Returns the one thing that is meant by what is selected: an action, a jump and a copied address
/// all point at the same.
pub(crate) fn meant(index: &Index, key: &Key) -> Key {
    let Some(finding) = index.finding(key) else { return key.clone() };
    let target =
        action_of(finding.remedy).and_then(|action| of_finding(index, finding, action).into_iter().next());
    let of_story = || finding.yields().first().or(finding.subjects.first()).cloned();
    target.or_else(of_story).unwrap_or_else(|| key.clone())
}

/// Returns the window of what is meant, or of what is selected.
pub(crate) fn window<'a>(index: &'a Index, key: &Key) -> Option<&'a WindowView> {
    index.window_of(&meant(index, key)).or_else(|| index.window_of(key))
}

fn is_target(index: &Index, key: &Key, action: Action) -> bool {
    index.record(key).is_some()
        || index.claim(key).is_some()
        || (action == Action::Park
            && index.window(key).is_none()
            && index.finding(key).is_none()
            && index.left_over(key).is_none())
}

fn of_finding(index: &Index, finding: &Finding, action: Action) -> Vec<Key> {
    if action_of(finding.remedy) != Some(action) {
        return Vec::new();
    }
    let is_target = |key: &&Key| is_target(index, key, action);
    let yields: Vec<Key> = finding.yields().iter().filter(is_target).cloned().collect();
    let first = || finding.subjects.iter().find(is_target).cloned().into_iter().collect();
    if yields.is_empty() { first() } else { yields }
}

/// Returns what of a window its findings say that an action helps, and what has no owner; without
/// any such finding, what it holds.
fn of_window(index: &Index, window: &WindowView, action: Action) -> Vec<Key> {
    let is_its = |key: &&Key| {
        let owner = index.window_of(key);
        is_target(index, key, action) && owner.is_none_or(|owner| owner.key == window.key)
    };
    let helped = index.findings_at(&window.key).into_iter();
    let helped = helped.filter(|finding| action_of(finding.remedy) == Some(action));
    let own: Vec<Key> = helped.filter_map(|finding| finding.subjects.iter().find(is_its).cloned()).collect();
    match (own.is_empty(), action) {
        (true, Action::Release) => claims_of(&index.report, window),
        (
            true,
            Action::Migrate
            | Action::Park
            | Action::Undo
            | Action::Stop
            | Action::Rescue
            | Action::Setup
            | Action::BringBack,
        )
        | (false, _) => own,
    }
}

/// Names what a request is about, so that it differs from all others: two windows can hold the
/// same.
pub(crate) fn name(index: Option<&Index>, request: &Request) -> String {
    let (index, key) = match (index, request) {
        (_, Request::Undo { entry, .. }) => return format!("entry {entry}"),
        (_, Request::Setup { .. }) => return "agents' settings".to_owned(),
        (_, Request::Rescue { lost: RescueTarget::Files(files), .. }) => {
            return files.first().map_or_else(String::new, |file| file.path.text().to_string());
        }
        (index, Request::Rescue { lost: RescueTarget::By(key), .. }) => {
            return index.map_or_else(|| key.to_string(), |index| index.name(key));
        }
        (None, Request::Act { key, .. }) => return key.to_string(),
        (_, Request::Several { keys, .. }) => return format!("{} records together", keys.len()),
        (None, Request::Left { of }) => return format!("all that the window of {of} left"),
        (Some(index), Request::Left { of }) => return format!("all that goes with {}", index.name(of)),
        (None, Request::Stop { key, .. }) => return key.to_string(),
        (Some(index), Request::Stop { key, .. }) => return index.name(key),
        (Some(index), Request::Act { key, .. }) => (index, key),
    };
    let record = index.record(key).or_else(|| Some(&*index.claim(key)?.record));
    let holder = match (index.window_of(key), record.and_then(|record| record.pid())) {
        (Some(window), _) => format!(" of {} (PID {})", window_name(window), window.pid),
        (None, Some(pid)) => format!(" of PID {pid}"),
        (None, None) => String::new(),
    };
    match (record, index.findings_at(key).first().and_then(|finding| finding.evidence.first().cloned())) {
        // A file that is no record has no name but its path.
        (None, Some(evidence)) => outside(Some(&evidence.source)),
        (Some(_), _) | (None, None) => index.name(key) + &holder,
    }
}

fn action_of(remedy: Remedy) -> Option<Action> {
    match remedy {
        Remedy::Release => Some(Action::Release),
        Remedy::Migrate => Some(Action::Migrate),
        Remedy::Park => Some(Action::Park),
        Remedy::Undo => Some(Action::Undo),
        Remedy::Stop => Some(Action::Stop),
        Remedy::Rescue => Some(Action::Rescue),
        Remedy::None => None,
    }
}
