//! Resolves names: one resolver for every command and for every name on the screen.

use std::collections::HashSet;
use std::path::Path;

use crate::core::model::{
    ClaimView, Finding, Key, LeftOver, LeftStash, LeftTree, RecordView, Report, Untrusted, WindowView,
};
use crate::core::plan::full_name;
use crate::core::plan::left::left_by;

/// One thing that a name can mean.
#[derive(Clone, Copy, Debug)]
pub enum Subject<'a> {
    /// A running agent.
    Window(&'a WindowView),
    /// A session record.
    Record(&'a RecordView),
    /// A claim.
    Claim(&'a ClaimView),
    /// A process that a window has left running.
    LeftOver(&'a LeftOver),
    /// A working tree that a window has left.
    LeftTree(&'a LeftTree),
    /// A stash entry that has edits of a dead window.
    LeftStash(&'a LeftStash),
    /// A file or source that produced only findings.
    Broken(&'a Key),
}

impl<'a> Subject<'a> {
    /// Returns its key.
    pub fn key(self) -> &'a Key {
        match self {
            Self::Window(window) => &window.key,
            Self::Record(record) => &record.key,
            Self::Claim(claim) => &claim.key,
            Self::LeftOver(one) => &one.key,
            Self::LeftTree(one) => &one.key,
            Self::LeftStash(one) => &one.key,
            Self::Broken(key) => key,
        }
    }
}

/// The meaning of a name.
#[derive(Clone, Debug)]
pub enum Meaning<'a> {
    /// Nothing has this name.
    Nothing,
    /// One thing.
    One(Subject<'a>),
    /// A window that has ended, by one of the records that it has left.
    Left(&'a RecordView),
    /// Several things.
    Several(Vec<Subject<'a>>),
}

/// Finds the things that match a key or its start, a window's name, a session ID, a context ID, a work item, a PID or
/// a path; `path` is the same text as an absolute path.
pub fn find<'a>(report: &'a Report, asked: &str, path: &Path) -> Meaning<'a> {
    let all = all(report);
    let by_key = |fits: &dyn Fn(&str) -> bool| {
        all.iter().filter(|subject| fits(subject.key().as_str())).copied().collect::<Vec<_>>()
    };
    // A whole key means itself, even if another one starts with it.
    let exact = by_key(&|key| key == asked);
    let found = if exact.is_empty() { by_place(report, &all, path) } else { exact };
    match found.as_slice() {
        [only] => return Meaning::One(*only),
        [] => {}
        _ => return Meaning::Several(found),
    }
    let found = by_name(report, asked, path);
    let found =
        if found.is_empty() { by_key(&|key| key.starts_with(asked)) } else { return named(report, found) };
    match found.as_slice() {
        [] => Meaning::Nothing,
        [only] => Meaning::One(*only),
        _ => Meaning::Several(found),
    }
}

/// Returns what is known to be wrong with it; what is wrong with a claim's record is so with the
/// claim, unless it is about other claims.
pub(crate) fn findings_about<'a>(report: &'a Report, subject: Subject<'_>) -> Vec<&'a Finding> {
    let is_claim = |key: &Key| report.claims.iter().any(|claim| claim.key == *key);
    let is_about = |finding: &&Finding| match subject {
        _ if finding.subjects.contains(subject.key()) => true,
        Subject::Claim(claim) => {
            finding.subjects.contains(&claim.record.key) && !finding.subjects.iter().any(is_claim)
        }
        Subject::Window(_)
        | Subject::Record(_)
        | Subject::LeftOver(_)
        | Subject::LeftTree(_)
        | Subject::LeftStash(_)
        | Subject::Broken(_) => false,
    };
    report.findings().filter(is_about).collect()
}

/// Everything that has a key, each once.
fn all(report: &Report) -> Vec<Subject<'_>> {
    let mut all: Vec<Subject<'_>> = report.windows.iter().map(Subject::Window).collect();
    all.extend(report.records().map(Subject::Record));
    all.extend(report.claims.iter().map(Subject::Claim));
    all.extend(report.left_overs.iter().map(Subject::LeftOver));
    all.extend(report.left_trees.iter().map(Subject::LeftTree));
    all.extend(report.left_stashes.iter().map(Subject::LeftStash));
    let mut known: HashSet<&Key> = all.iter().map(|subject| subject.key()).collect();
    let subjects = report.findings.iter().flat_map(|finding| &finding.subjects);
    all.extend(subjects.filter(|key| known.insert(key)).map(Subject::Broken));
    all
}

/// A path means the record that was read there, even one that could not be parsed: its key is made of its format and
/// path.
fn by_place<'a>(report: &'a Report, all: &[Subject<'a>], path: &Path) -> Vec<Subject<'a>> {
    // Bytes that are not UTF-8 are typed as they are shown.
    let text = Untrusted::from_path(path);
    let is_there = |record: &&RecordView| record.location.path().is_some() && *record.location.text() == text;
    let records: Vec<_> = report.records().filter(is_there).map(Subject::Record).collect();
    if !records.is_empty() {
        return records;
    }
    let broken: Vec<&Key> =
        report.broken.iter().filter(|broken| *broken.path.text() == text).map(|broken| &broken.key).collect();
    all.iter().filter(|subject| broken.contains(&subject.key())).copied().collect()
}

/// A name means the window that bears it, else what is claimed under it, else the records of it. Parts of a match are
/// not matches of their own.
fn by_name<'a>(report: &'a Report, asked: &str, path: &Path) -> Vec<Subject<'a>> {
    let folder = Untrusted::from_path(path);
    let says =
        |text: Option<&Untrusted>| text.is_some_and(|text| text.raw() == asked || text.shown() == asked);
    let pid: Option<u32> = asked.parse().ok();
    let windows: Vec<&WindowView> = report
        .windows
        .iter()
        .filter(|window| {
            window.title() == asked
                || says(window.session_id.as_ref())
                || says(window.session.as_ref().map(|session| &session.id))
                || says(Some(&window.context_id.value))
                || Some(window.pid) == pid
                || window.cwd.as_ref() == Some(&folder)
                || window.repo.as_ref().is_some_and(|repo| repo.worktree == folder)
        })
        .collect();
    let is_of_window = |key: Option<&Key>| windows.iter().any(|window| Some(&window.key) == key);
    let is_claimed = |claim: &&ClaimView| {
        let resource = &claim.resource;
        says(Some(&resource.id))
            || format!("{} {}", resource.kind.name(), resource.id.shown()) == asked
            || full_name(report, claim) == asked
    };
    let claims: Vec<&ClaimView> = report.claims.iter().filter(is_claimed).collect();
    let claims: Vec<&ClaimView> =
        claims.into_iter().filter(|claim| !is_of_window(claim.window.as_ref())).collect();
    let records: Vec<&RecordView> = report
        .records()
        .filter(|record| !is_of_window(record.window.as_ref()))
        .filter(|record| {
            let is_held = claims.iter().any(|claim| claim.record.key == record.key);
            says(record.session_id.as_ref())
                || says(record.context_id.as_ref())
                || (pid.is_some() && record.pid() == pid && record.window.is_none())
                || (says(Some(&record.title)) && !is_held)
        })
        .collect();
    let is_of_record = |claim: &&ClaimView| records.iter().any(|record| record.key == claim.record.key);
    let claims = claims.iter().copied().filter(|claim| !is_of_record(claim)).map(Subject::Claim);
    let windows = windows.iter().copied().map(Subject::Window);
    let left_overs = report.left_overs.iter().filter(|one| is_left_over(one, asked, pid));
    let trees = report.left_trees.iter().filter(|one| one.path == folder);
    windows
        .chain(claims)
        .chain(records.iter().copied().map(Subject::Record))
        .chain(left_overs.map(Subject::LeftOver))
        .chain(trees.map(Subject::LeftTree))
        .collect()
}

/// Each PID of a left-over's tree means it, and so does its command.
fn is_left_over(one: &LeftOver, asked: &str, pid: Option<u32>) -> bool {
    let mut pids = one.tree.iter().map(|member| member.id.pid);
    pids.any(|own| Some(own) == pid) || one.command.raw() == asked || one.command.shown() == asked
}

/// Records that one ended window has left are one thing.
fn named<'a>(report: &'a Report, found: Vec<Subject<'a>>) -> Meaning<'a> {
    let records: Option<Vec<&RecordView>> = found
        .iter()
        .map(|subject| match subject {
            Subject::Record(record) => Some(*record),
            Subject::Window(_)
            | Subject::Claim(_)
            | Subject::LeftOver(_)
            | Subject::LeftTree(_)
            | Subject::LeftStash(_)
            | Subject::Broken(_) => None,
        })
        .collect();
    if let Some(first) = records.as_ref().and_then(|records| records.first()) {
        let left = left_by(report, first);
        let is_left = |record: &&RecordView| left.iter().any(|one| one.key == record.key);
        if left.len() > 1 && records.iter().flatten().all(is_left) {
            return Meaning::Left(first);
        }
    }
    match found.as_slice() {
        [only] => Meaning::One(*only),
        _ => Meaning::Several(found),
    }
}
