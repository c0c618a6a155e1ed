//! The library of incidents as a whole: nothing missed, no false findings, every story stated.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use claimtop::core::model::{Code, Halfway, Need, NeedKind, Report, Severity, Target, Wants};
use claimtop::testing::present::sentences;

use crate::common::{self, Case};

/// How often a code was right, false and missed.
#[derive(Clone, Copy, Debug, Default)]
struct Score {
    right: usize,
    surplus: usize,
    missed: usize,
}

impl Score {
    /// Returns the percentage of the findings that are right.
    fn precision(self) -> f64 {
        percent(self.right, self.right + self.surplus)
    }

    /// Returns the percentage of the incidents that were found.
    fn recall(self) -> f64 {
        percent(self.right, self.right + self.missed)
    }
}

fn percent(part: usize, whole: usize) -> f64 {
    if whole == 0 { 100.0 } else { part as f64 * 100.0 / whole as f64 }
}

fn counted<'a>(codes: impl Iterator<Item = &'a str>) -> BTreeMap<&'a str, usize> {
    codes.fold(BTreeMap::new(), |mut counts, code| {
        *counts.entry(code).or_default() += 1;
        counts
    })
}

fn scores() -> BTreeMap<String, Score> {
    let mut scores: BTreeMap<String, Score> = BTreeMap::new();
    for case in common::cases() {
        let (world, report) = (&case.world, case.report());
        let found = counted(report.findings.iter().map(|finding| finding.code.name()));
        let wanted = counted(world.expect.findings.iter().map(String::as_str));
        for code in found.keys().chain(wanted.keys()).collect::<BTreeSet<_>>() {
            let number = |of: &BTreeMap<&str, usize>| of.get(*code).copied().unwrap_or_default();
            let (found, wanted) = (number(&found), number(&wanted));
            let score = scores.entry((*code).to_owned()).or_default();
            score.right += found.min(wanted);
            score.surplus += found.saturating_sub(wanted);
            score.missed += wanted.saturating_sub(found);
        }
    }
    scores
}

#[test]
fn no_finding_is_missed_and_none_is_too_many() {
    let scores = scores();
    println!("{:<24} {:>5} {:>9} {:>7}", "code", "found", "precision", "recall");
    for (code, score) in &scores {
        let found = score.right + score.surplus;
        println!("{code:<24} {found:>5} {:>8.0}% {:>6.0}%", score.precision(), score.recall());
    }
    println!("{} worlds, {} codes", common::cases().len(), scores.len());
    let wrong: Vec<_> = scores.iter().filter(|(_, score)| score.surplus + score.missed > 0).collect();
    assert!(wrong.is_empty(), "{wrong:?}");
}

#[test]
fn the_library_is_large_and_states_the_story_of_every_collision_in_it() {
    let mut unstated = Vec::new();
    let mut stated = BTreeSet::new();
    for case in common::cases() {
        let (path, world) = (&case.path, &case.world);
        let told: BTreeSet<&str> = world.expect.finding.iter().map(|finding| finding.code.as_str()).collect();
        stated.extend(world.expect.finding.iter().filter_map(|finding| finding.cause.clone()));
        for code in Code::ALL.iter().filter(|code| code.severity() == Severity::Collision) {
            let is_there = world.expect.findings.iter().any(|found| found == code.name());
            if is_there && !told.contains(code.name()) {
                unstated.push(format!("{}: {}", path.display(), code.name()));
            }
        }
    }
    assert!(unstated.is_empty(), "these worlds state no story:\n{}", unstated.join("\n"));
    assert!(common::cases().len() >= 60);
    for cause in CAUSES {
        assert!(stated.contains(cause), "no world tells a story of {cause}");
    }
}

/// Every cause that a story can have.
const CAUSES: [&str; 16] = [
    "ppid-fallback", "project-slot", "port-only-terminal", "dead-inheritance", "marker-lost",
    "pointer-split", "pid-reuse", "resumed-session", "shared-worktree", "shared-checkpoint",
    "adopted-by-conflict", "session-id-in-use", "shared-environment", "double-claim", "unknown-id",
    "global-legacy",
];

/// Returns the kinds of sentences in which Now describes a need.
fn shapes(need: &Need, report: &Report) -> Vec<String> {
    match &need.kind {
        NeedKind::Waits { waiting, .. } => {
            let wants = match &waiting.wants {
                Wants::Permission => "permission",
                Wants::Answer => "answer",
                Wants::Other(_) => "other",
            };
            let about = match waiting.call.as_ref().map(|call| (&call.target, call.tool.raw())) {
                None => "untold",
                Some((None, _)) => "tool",
                Some((Some(Target::File(_)), "Read")) => "read",
                Some((Some(Target::File(_)), _)) => "edit",
                Some((Some(Target::Command(_)), _)) => "command",
                Some((Some(Target::Url(_)), _)) => "fetch",
                Some((Some(Target::Question(_)), _)) => "question",
                Some((Some(Target::Search(_) | Target::Agent(_)), _)) => "tool",
            };
            vec![format!("waits for {wants}: {about}")]
        }
        NeedKind::Failed { .. } => vec!["failed".to_owned()],
        NeedKind::Stuck { reason } => vec![format!("stuck: {}", reason.name())],
        NeedKind::Done { .. } | NeedKind::Alike { .. } => Vec::new(),
        NeedKind::Collision { code, also, windows, .. } => {
            let told = sentences(report).iter().any(|sentence| sentence.contains(" was warned "));
            let codes = std::iter::once(code).chain(also).map(|code| code.name().to_owned());
            codes.chain((told && windows.len() == 2).then(|| "was warned".to_owned())).collect()
        }
        NeedKind::Died(left) => {
            let has = [
                (!left.claims.is_empty(), "left claims"),
                (left.uncommitted > 0, "left files"),
                (!left.left_overs.is_empty(), "left processes"),
                (!left.left_trees.is_empty(), "left a tree"),
            ];
            has.iter().filter(|(is_so, _)| *is_so).map(|(_, what)| (*what).to_owned()).collect()
        }
        NeedKind::Unfinished { end, .. } => vec![match end {
            Halfway::CutOff => "cut off".to_owned(),
            Halfway::AtWork(_) => "held up".to_owned(),
            Halfway::Stuck => "stuck".to_owned(),
            Halfway::LeftParked => "left parked".to_owned(),
        }],
        NeedKind::MoreDied { .. } => vec!["more died".to_owned()],
    }
}

#[test]
fn every_sort_of_sentence_of_now_has_a_world_that_raises_it_and_one_that_comes_close() {
    let shapes_in = |case: &Case| -> (bool, BTreeSet<String>) {
        let report = case.report();
        let shapes = report.needs.iter().flat_map(|need| shapes(need, report)).collect();
        (case.world.expect.needs.is_some(), shapes)
    };
    let worlds: BTreeMap<&Path, _> =
        common::cases().iter().map(|case| (case.path.as_path(), shapes_in(case))).collect();
    let mut missing: BTreeSet<String> = Code::ALL
        .iter()
        .filter(|code| code.severity() == Severity::Collision)
        .map(|code| code.name().to_owned())
        .chain(
            [
                "waits for permission: untold", "waits for permission: command",
                "waits for permission: edit", "waits for permission: read", "waits for permission: fetch",
                "waits for permission: tool", "waits for answer: untold", "waits for answer: question",
                "waits for other: untold", "was warned", "left claims", "left files", "left processes",
                "left a tree", "more died", "cut off", "held up", "stuck", "left parked",
            ]
            .map(str::to_owned),
        )
        .collect();
    for (path, (is_stated, shapes)) in &worlds {
        let near = path.to_string_lossy().replace(".toml", "-not.toml");
        let Some((_, near)) = worlds.get(Path::new(&near)) else { continue };
        if *is_stated {
            missing.retain(|shape| !shapes.contains(shape) || near.contains(shape));
        }
    }
    assert!(missing.is_empty(), "{missing:#?}");
}

#[test]
fn now_and_the_story_let_the_same_window_yield() {
    let demo = Case::read(Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.toml"));
    let mut compared = 0;
    for case in common::cases().iter().chain([&demo]) {
        let (path, report) = (&case.path, case.report());
        for need in &report.needs {
            let NeedKind::Collision { code, windows, .. } = &need.kind else { continue };
            let between: BTreeSet<_> = windows.iter().collect();
            let is_its = |finding: &&std::sync::Arc<claimtop::core::model::Finding>| {
                finding.code == *code && finding.subjects.iter().collect::<BTreeSet<_>>() == between
            };
            for finding in report.findings.iter().filter(is_its) {
                let yields = finding.story.as_ref().map_or(&[][..], |story| &story.yields);
                if yields.is_empty() {
                    continue;
                }
                compared += 1;
                assert!(windows.last().is_some_and(|last| yields.contains(last)), "{}", path.display());
            }
        }
    }
    assert!(compared > 10, "{compared}");
}
