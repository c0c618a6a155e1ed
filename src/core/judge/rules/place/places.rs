//! Findings about one place in two hands: a branch in two trees, reserved files.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::core::judge::glob::Glob;
use crate::core::judge::rules::facts::{Facts, listed, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::judge::rules::place::sharing::{is_current, is_same_holder, tree_of};
use crate::core::model::{
    Code, Evidence, Finding, Format, JudgedRecord, RecordDetail, Remedy, Untrusted, WindowView,
};

/// How many reservations of one tree are compared.
const MOST: usize = 200;

/// Finds places that two windows or two agents use.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(shared_branches(facts));
    let mut trees: BTreeMap<&Path, Vec<&JudgedRecord>> = BTreeMap::new();
    for judged in facts.records.iter().filter(|judged| has_files(judged) && is_current(judged, facts)) {
        if let Some(tree) = tree_of(judged, facts) {
            trees.entry(tree).or_default().push(judged);
        }
    }
    for (tree, records) in trees {
        let (reserved, touching): (Vec<_>, Vec<_>) =
            records.into_iter().partition(|judged| judged.record.format == Format::AgentMail);
        let reserved: Vec<Reservation<'_>> = reserved.into_iter().take(MOST).map(Reservation::of).collect();
        found.extend(reserved_twice(tree, &reserved));
        found.extend(reserved.iter().filter_map(|one| touched_by_two(tree, one, &touching)));
    }
}

fn has_files(judged: &JudgedRecord) -> bool {
    !judged.record.files.is_empty()
}

/// One branch that is checked out in two trees, each with a live window: git itself refuses that
/// unless it is forced, and then each moves the branch under the other.
fn shared_branches(facts: &Facts<'_>) -> Vec<Finding> {
    let mut branches: BTreeMap<(&Untrusted, &Untrusted), Vec<&WindowView>> = BTreeMap::new();
    for window in facts.windows {
        if let Some((repo, branch)) =
            window.repo.as_ref().and_then(|repo| Some((repo, repo.branch.as_ref()?)))
        {
            branches.entry((&repo.root, branch)).or_default().push(window);
        }
    }
    branches.into_iter().filter_map(|((_, branch), windows)| tell_branch(branch, &windows)).collect()
}

fn tell_branch(branch: &Untrusted, windows: &[&WindowView]) -> Option<Finding> {
    let trees: BTreeSet<String> =
        windows.iter().filter_map(|window| Some(window.repo.as_ref()?.worktree.shown())).collect();
    if trees.len() < 2 {
        return None;
    }
    let names: Vec<String> = windows.iter().map(|window| window_name(window)).collect();
    let trees: Vec<String> = trees.into_iter().collect();
    let message = format!(
        "{} work on one branch, {branch}, in {}: a commit by one leaves the other's tree behind its branch",
        listed(&names),
        listed(&trees)
    );
    let subjects = windows.iter().map(|window| window.key.clone());
    let mut evidence: Vec<Evidence> = windows.iter().map(|window| window_evidence(window)).collect();
    evidence.push(Evidence::new("branch", branch.clone(), "HEAD of each working tree"));
    Some(Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::None))
}

/// A reservation with its pattern, read once.
struct Reservation<'a> {
    judged: &'a JudgedRecord,
    pattern: Untrusted,
    glob: Glob,
    is_exclusive: bool,
}

impl<'a> Reservation<'a> {
    fn of(judged: &'a JudgedRecord) -> Self {
        let pattern = judged.record.files.first().cloned().unwrap_or_default();
        let is_exclusive = !matches!(judged.record.detail, RecordDetail::Taken { is_shared: true, .. });
        Self { judged, glob: Glob::pattern(pattern.raw()), pattern, is_exclusive }
    }

    fn owner(&self) -> Option<&Untrusted> {
        self.judged.record.detail.owner()
    }
}

/// Two agents that reserved the same files, one of them for itself alone.
fn reserved_twice(tree: &Path, reserved: &[Reservation<'_>]) -> Vec<Finding> {
    let pairs = reserved.iter().enumerate().flat_map(|(at, one)| {
        let others = reserved.iter().skip(at + 1).filter(|other| collide(one, other));
        others.map(move |other| (one, other))
    });
    let tell = |(one, other): (&Reservation<'_>, &Reservation<'_>)| {
        let message = format!(
            "{} and {} both reserved {} in {}: let them agree before one overwrites the other",
            one.owner().map_or_else(String::new, Untrusted::shown),
            other.owner().map_or_else(String::new, Untrusted::shown),
            one.pattern,
            Untrusted::from_path(tree)
        );
        let evidence = [one.judged.evidence(), other.judged.evidence()];
        let subjects = [one.judged.key.clone(), other.judged.key.clone()];
        Finding::new(Code::OverlappingFiles, subjects, message, evidence, Remedy::None)
    };
    pairs.map(tell).collect()
}

fn collide(one: &Reservation<'_>, other: &Reservation<'_>) -> bool {
    (one.is_exclusive || other.is_exclusive) && one.owner() != other.owner() && one.glob.overlaps(&other.glob)
}

/// Two sessions that touch files which one agent reserved for itself: at least one of them is not that agent.
fn touched_by_two(tree: &Path, one: &Reservation<'_>, touching: &[&JudgedRecord]) -> Option<Finding> {
    let is_meant = |file: &&Untrusted| Glob::literal(file.raw()).overlaps(&one.glob);
    let mut inside =
        touching.iter().filter_map(|judged| Some((*judged, judged.record.files.iter().find(is_meant)?)));
    let (first, its) = inside.next().filter(|_| one.is_exclusive)?;
    let (second, others) = inside.find(|(other, _)| !is_same_holder(first, other))?;
    let message = format!(
        "{} reserved {} in {} exclusively, but {} touches {its} and {} touches {others}",
        one.owner().map_or_else(String::new, Untrusted::shown),
        one.pattern,
        Untrusted::from_path(tree),
        first.record.title,
        second.record.title,
    );
    let all = [one.judged, first, second];
    let evidence: Vec<Evidence> = all.iter().map(|judged| judged.evidence()).collect();
    let subjects = all.iter().map(|judged| judged.key.clone());
    Some(Finding::new(Code::OverlappingFiles, subjects, message, evidence, Remedy::None))
}
