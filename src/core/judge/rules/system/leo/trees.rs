//! LEO's working trees that git does not know, and those in which no session works any more.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use jiff::SignedDuration;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::system::leo::book::Book;
use crate::core::model::{
    Code, Evidence, Finding, Format, JudgedRecord, Leo, Location, RecordDetail, RecordKind, Remedy, Repo,
    Untrusted, VerdictState,
};

/// The folder of a repository in which LEO makes its working trees.
const TREES: &str = ".worktrees";

/// After how long without a sign LEO's own reaper takes a working tree for left: 7 days.
const LEFT_AFTER: SignedDuration = SignedDuration::from_hours(7 * 24);

/// Finds working trees that were forgotten, each by the sheets that LEO has put into it.
pub(crate) fn findings<'a>(books: &[Book<'a>], facts: &'a Facts<'a>) -> Vec<Finding> {
    let mut trees: BTreeMap<&Path, Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| is_sheet(judged)) {
        if let Some(tree) = judged.record.cwd.as_deref().filter(|tree| below_trees(tree).is_some()) {
            trees.entry(tree).or_default().push(judged);
        }
    }
    let tell = |(tree, sheets): (&Path, Vec<&JudgedRecord>)| {
        let repo = repo_of(tree, facts)?;
        match is_listed(tree, repo) {
            false => unlisted(tree, &sheets, facts),
            true => left(tree, &sheets, books, facts),
        }
    };
    trees.into_iter().filter_map(tell).collect()
}

fn is_sheet(judged: &JudgedRecord) -> bool {
    judged.record.format == Format::Leo
        && judged.record.kind == RecordKind::Metadata
        && matches!(judged.record.location, Location::File(_))
}

/// Returns the part of a path from the folder of LEO's working trees on.
fn below_trees(path: &Path) -> Option<PathBuf> {
    let parts: Vec<Component<'_>> = path.components().collect();
    let at = parts.iter().rposition(|part| part.as_os_str() == TREES)?;
    Some(parts.get(at..)?.iter().collect())
}

/// Returns the repository that a working tree lies in, if git's list of its trees was read whole.
fn repo_of<'a>(tree: &Path, facts: &Facts<'a>) -> Option<&'a Repo> {
    let snapshot = facts.world.snapshot;
    // Without a branch there it may not be a repository at all.
    let top = |repo: &'a Repo| repo.worktrees.first().filter(|main| main.branch.is_some());
    let repo = snapshot
        .repos
        .iter()
        .find(|repo| top(repo).is_some_and(|main| tree.starts_with(main.path.join(TREES))))?;
    snapshot.is_whole(repo).then_some(repo)
}

/// Returns whether git lists a working tree; by its last parts, for links may lead to the others.
fn is_listed(tree: &Path, repo: &Repo) -> bool {
    below_trees(tree).is_some_and(|tail| repo.worktrees.iter().any(|listed| listed.path.ends_with(&tail)))
}

/// A folder that LEO made as a working tree, and that git does not list.
fn unlisted(tree: &Path, sheets: &[&JudgedRecord], facts: &Facts<'_>) -> Option<Finding> {
    let first = sheets.first()?;
    let message = format!(
        "{}: LEO made it for {}, but git lists no such working tree: its files cannot be committed{}; \
         run git worktree repair, or save what you need",
        Untrusted::from_path(tree),
        first.record.title,
        if has_window(tree, facts) { ", and a live window works in it" } else { "" }
    );
    Some(finding(Code::OrphanCompanion, sheets, message))
}

/// A working tree whose item has no holder, in which no session works, and which LEO's reaper would take for left.
fn left(tree: &Path, sheets: &[&JudgedRecord], books: &[Book<'_>], facts: &Facts<'_>) -> Option<Finding> {
    let now = facts.world.snapshot.taken_at;
    let newest = sheets.iter().max_by_key(|judged| judged.record.written_at)?;
    let idle_for = now.duration_since(newest.record.written_at);
    let is_protected = sheets
        .iter()
        .any(|judged| judged.record.detail == RecordDetail::Leo(Leo::Sheet { is_protected: true }));
    let is_used = is_protected || has_window(tree, facts) || has_session(tree, facts);
    let is_seen = facts.world.snapshot.processes.partial.is_none() && !books.is_empty();
    if idle_for < LEFT_AFTER || is_used || !is_seen || is_held(&newest.record.title, books) {
        return None;
    }
    let message = format!(
        "{}: no session holds {}, and LEO has written nothing there for {} days: its reaper may remove it",
        Untrusted::from_path(tree),
        newest.record.title,
        idle_for.as_hours() / 24
    );
    Some(finding(Code::StaleRecord, sheets, message))
}

fn finding(code: Code, sheets: &[&JudgedRecord], message: String) -> Finding {
    let subjects = sheets.iter().map(|judged| judged.key.clone());
    let evidence: Vec<Evidence> = sheets.iter().map(|judged| judged.evidence()).collect();
    Finding::new(code, subjects, message, evidence, Remedy::None)
}

fn has_window(tree: &Path, facts: &Facts<'_>) -> bool {
    let cwds = facts.windows.iter().filter_map(|window| window.cwd.as_ref());
    cwds.into_iter().any(|cwd| Path::new(cwd.raw()).starts_with(tree))
}

/// Returns whether a session that is not proven dead works in a tree.
fn has_session(tree: &Path, facts: &Facts<'_>) -> bool {
    facts.records.iter().any(|judged| {
        let is_open = judged.verdict.state != VerdictState::Dead && !judged.record.has_ended;
        let cwd = judged.record.cwd.as_deref().filter(|_| is_open && !is_sheet(judged));
        cwd.is_some_and(|cwd| cwd.starts_with(tree))
    })
}

/// Returns whether an item is held: it names an owner, or a session names it.
fn is_held(key: &Untrusted, books: &[Book<'_>]) -> bool {
    books.iter().any(|book| {
        book.work.iter().any(|item| item.key == *key && (item.owner.is_some() || !item.mirrors.is_empty()))
    })
}
