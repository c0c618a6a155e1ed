//! Findings about edits: two live windows that have changed the same files.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use crate::core::judge::edited::{self, certain_work};
use crate::core::judge::rules::facts::{Facts, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::place::sharing::has_our_names;
use crate::core::model::snapshot::work::UNSEEN;
use crate::core::model::{
    Code, Edit, Evidence, Finding, Remedy, Untrusted, Warning, WarningSort, WindowView,
};

/// The most files of one finding that are evidence.
const MOST_TOLD: usize = 8;

/// Finds windows that edit the same files.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let mut by_path: HashMap<&Untrusted, Vec<usize>> = HashMap::new();
    for (at, window) in facts.windows.iter().enumerate().filter(|(_, window)| has_our_names(window, facts)) {
        for edit in uncommitted(window) {
            by_path.entry(&edit.path).or_default().push(at);
        }
    }
    let mut pairs: BTreeSet<(usize, usize)> = BTreeSet::new();
    for windows in by_path.into_values() {
        for (at, one) in windows.iter().enumerate() {
            pairs.extend(windows.iter().skip(at + 1).map(|other| (*one, *other)));
        }
    }
    let pair = |(one, other): (usize, usize)| Some((facts.windows.get(one)?, facts.windows.get(other)?));
    found.extend(pairs.into_iter().filter_map(pair).filter_map(|(one, other)| finding(one, other, facts)));
}

/// Returns a window's edits that no commit holds.
fn uncommitted(window: &WindowView) -> impl Iterator<Item = &Edit> {
    let edits = certain_work(window).into_iter().flat_map(edited::uncommitted);
    edits.filter(|edit| edit.path.raw().starts_with('/'))
}

/// Returns each window's edit of every file that both have edited. If a session was begun as a copy of another, both
/// files contain one edit, of one moment.
pub(crate) fn shared<'a>(one: &'a WindowView, other: &'a WindowView) -> Vec<(&'a Edit, &'a Edit)> {
    let session = |window: &'a WindowView| certain_work(window).map(|work| (work.format, &work.session));
    if session(one) == session(other) {
        return Vec::new();
    }
    let others: HashMap<&Untrusted, &Edit> = uncommitted(other).map(|edit| (&edit.path, edit)).collect();
    let both = uncommitted(one).filter_map(|edit| Some((edit, *others.get(&edit.path)?)));
    both.filter(|(one, other)| one.at != other.at).collect()
}

fn finding(one: &WindowView, other: &WindowView, facts: &Facts<'_>) -> Option<Finding> {
    let both = shared(one, other);
    let path = &both.first()?.0.path;
    let more = if both.len() > 1 { format!(" and {} more", both.len() - 1) } else { String::new() };
    let tree = facts.world.worktree_of(Path::new(path.raw())).map(|(_, tree)| tree.path.as_path());
    let (file, place, advice) = match tree {
        Some(tree) => {
            let inside = Path::new(path.raw()).strip_prefix(tree).map(Untrusted::from_path);
            let place = format!(" in {}", Untrusted::from_path(tree));
            let advice = "commit the work of one before the other continues";
            (inside.unwrap_or_else(|_| path.clone()), place, advice)
        }
        None => (path.clone(), String::new(), "let one finish before the other continues"),
    };
    let message = format!(
        "{} and {} both have uncommitted edits to {file}{more}{place}: {advice}",
        window_name(one),
        window_name(other),
    );
    let mut evidence = vec![window_evidence(one), window_evidence(other)];
    let sessions = [one, other].into_iter().filter_map(|window| window.session.as_ref());
    evidence.extend(sessions.map(|session| session.evidence.clone()));
    for (mine, its) in both.iter().take(MOST_TOLD) {
        evidence.extend([(one, *mine), (other, *its)].into_iter().filter_map(edit_evidence));
    }
    for (window, of) in [(one, other), (other, one)] {
        let newest = warnings(window, of).next_back();
        evidence.extend(newest.map(|warning| warning_evidence(window, of, warning)));
    }
    evidence.push(Evidence::new("known edits", UNSEEN, "the agents' own session files"));
    let subjects = [one.key.clone(), other.key.clone()];
    Some(Finding::new(Code::OverlappingFiles, subjects, message, evidence, Remedy::None))
}

/// Returns the guard's messages to a window about another one, the earliest first.
pub(crate) fn warnings<'a>(
    window: &'a WindowView,
    of: &'a WindowView,
) -> impl DoubleEndedIterator<Item = &'a Warning> {
    let other = certain_work(of).map(|work| &work.session);
    let all = certain_work(window).into_iter().flat_map(|work| &work.warnings);
    all.filter(move |warning| Some(&warning.of) == other)
}

/// Describes the guard's messages to a window about another one.
pub(crate) fn warning_words(window: &WindowView, of: &WindowView, warning: &Warning) -> String {
    let (window, of) = (window_name(window), window_name(of));
    let what = warning.path.as_ref().map_or_else(|| "files here".to_owned(), ToString::to_string);
    match warning.how {
        WarningSort::Briefed => {
            format!("{window} was warned at its prompt that {of} has uncommitted edits to {what}")
        }
        WarningSort::Noted => {
            format!("{window} was warned after its edit that {of} has uncommitted edits to {what}")
        }
        WarningSort::HeldUp => {
            format!("a call by {window} was held up because it would affect the work of {of}")
        }
        WarningSort::WentOn => format!("{window} repeated the call and continued"),
    }
}

/// States that a guard has informed a window about another one.
pub(crate) fn warning_evidence(window: &WindowView, of: &WindowView, warning: &Warning) -> Evidence {
    Evidence::new("guard", warning_words(window, of, warning), "the guard's own ledger")
        .dated(Some(warning.at))
}

/// States that a window has edited a file.
pub(crate) fn edit_evidence((window, edit): (&WindowView, &Edit)) -> Option<Evidence> {
    let source = certain_work(window)?.path.text().clone();
    let value = format!("{} edited {}", window_name(window), edit.path);
    Some(Evidence::new("edit", value, source).dated(edit.at))
}
