//! Every world under `tests/cases` gets its expected result, and every finding code of the file formats has a world
//! that raises it and one that comes close and does not.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::LazyLock;

use claimtop::core::assess::assess;
use claimtop::core::model::{Certainty, Certitude, Code, Severity, Untrusted, VerdictState, WindowView};
use claimtop::testing::core::{ClosedWindow, closed_windows};
use proptest::prelude::ProptestConfig;
use proptest::test_runner::FileFailurePersistence;

use crate::common::forget::{LeftOvers, LeftTrees, Verdicts};
use crate::common::{self, Case, cases};

#[test]
fn every_world_comes_out_as_it_says() {
    let mut failed = Vec::new();
    for case in cases() {
        let (path, world) = (&case.path, &case.world);
        let differences = common::expect::differences(&world.expect, case.report());
        if !differences.is_empty() {
            failed.push(format!("{} ({}):\n  {}", path.display(), world.title, differences.join("\n  ")));
        }
    }
    assert!(failed.is_empty(), "{} worlds differ:\n{}", failed.len(), failed.join("\n"));
}

#[test]
fn a_dead_window_is_brought_back_only_where_nothing_alive_may_run_its_session() {
    let mut checked = 0;
    for case in cases() {
        let Some(expected) = &case.world.expect.closed else { continue };
        let closed = closed_windows(case.report(), case.snapshot(), &common::policy().signatures);
        let words = |one: &ClosedWindow| {
            let why = one.refusal.as_ref().map(|why| format!(": {why}")).unwrap_or_default();
            format!("{} {}{why}", one.name, one.agent)
        };
        let found: Vec<String> = closed.iter().map(words).collect();
        assert_eq!(found, *expected, "{}", case.path.display());
        checked += 1;
    }
    assert!(checked >= 2);
}

#[test]
fn no_verdict_states_a_fact_twice() {
    for case in cases() {
        let (path, report) = (&case.path, case.report());
        for record in report.records() {
            let facts = &record.verdict.evidence;
            let distinct: BTreeSet<_> =
                facts.iter().map(|fact| (fact.fact.raw(), fact.value.raw(), fact.source.raw())).collect();
            assert_eq!(distinct.len(), facts.len(), "{}: {facts:#?}", path.display());
        }
    }
}

#[test]
fn every_collision_tells_its_story_in_order_and_by_what_it_knows() {
    for case in cases() {
        let path = &case.path;
        for finding in &case.report().findings {
            let told = format!("{}: {}", path.display(), finding.message);
            let Some(story) = &finding.story else {
                assert_ne!(finding.severity, Severity::Collision, "{told}: no story");
                continue;
            };
            let dates: Vec<_> = story.events.iter().filter_map(|event| event.at).collect();
            assert!(dates.is_sorted(), "{told}: {story:#?}");
            assert!(story.events.iter().all(|event| !event.evidence.is_empty()), "{told}: {story:#?}");
            assert!(story.events.iter().any(|event| event.known == Certitude::Observed), "{told}");
            assert_eq!(story.events.last().map(|event| event.known), Some(Certitude::Inferred), "{told}");
            assert!(!story.advice.is_empty() && !story.would_change.is_empty(), "{told}");
        }
    }
}

#[test]
fn evidence_names_a_window_as_sentences_do() {
    for case in cases() {
        let (path, report) = (&case.path, case.report());
        let own = |window: &WindowView| window.name.as_ref().map_or(window.agent.shown(), Untrusted::shown);
        let name = |window| format!("{} (PID {})", own(window), window.pid);
        let names: BTreeSet<String> = report.windows.iter().map(name).collect();
        for fact in report.findings.iter().flat_map(|finding| &finding.evidence) {
            // A window found by the chain of parents is not named there.
            let is_window = fact.fact.raw() == "window" && fact.source.raw().starts_with("/proc/");
            assert!(!is_window || names.contains(fact.value.raw()), "{}: {:?}", path.display(), fact.value);
        }
    }
}

/// Code that shortens paths must not mistake a command line for one: it is shown whole, in lists too.
#[test]
fn a_command_line_is_no_path() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases/left-over/moved-to-background.toml");
    let report = common::load(&path).report();
    let [finding] = report.findings.as_slice() else { panic!("{:?}", report.findings) };
    assert!(
        finding.message.to_string().starts_with("/bin/bash -c sleep 600: PID 20200"),
        "{}",
        finding.message
    );
    assert_eq!(finding.message.about, None);
}

/// Returns how often to forget something; seeds that once failed are tried first.
fn times(cases: u32) -> ProptestConfig {
    let kept = FileFailurePersistence::WithSource("proptest-regressions");
    ProptestConfig { cases, failure_persistence: Some(Box::new(kept)), ..ProptestConfig::default() }
}

/// Every world, with the verdict on each of its records.
static VERDICTS: LazyLock<Vec<(&Case, Verdicts)>> =
    LazyLock::new(|| cases().iter().map(|case| (case, common::forget::verdicts(case.report()))).collect());

proptest::proptest! {
    #![proptest_config(times(64))]
    #[test]
    fn forgetting_any_fact_never_makes_anything_dead(seed in proptest::prelude::any::<u64>()) {
        for (case, before) in VERDICTS.iter() {
            let path = &case.path;
            let forgotten = common::forget::forget(case.snapshot(), seed);
            for (key, state) in common::forget::verdicts(&assess(&forgotten, common::policy())) {
                let was = before.get(&key);
                proptest::prop_assert!(
                    state != VerdictState::Dead || was == Some(&VerdictState::Dead),
                    "{}: forgetting (seed {seed}) turned {key} from {was:?} into {state:?}", path.display()
                );
            }
        }
    }
}

/// Every world with traces of windows, and its left-overs.
static LEFT_OVERS: LazyLock<Vec<(&Case, LeftOvers)>> = LazyLock::new(|| {
    let with_traces = cases().iter().filter(|case| !case.snapshot().traces.is_empty());
    with_traces.map(|case| (case, common::forget::left_overs(case.report()))).collect()
});

proptest::proptest! {
    #![proptest_config(times(1_024))]
    #[test]
    fn forgetting_any_fact_never_makes_a_left_over_surer(seed in proptest::prelude::any::<u64>()) {
        for (case, before) in LEFT_OVERS.iter() {
            let path = &case.path;
            let forgotten = common::forget::forget(case.snapshot(), seed);
            let after = common::forget::left_overs(&assess(&forgotten, common::policy()));
            for (id, (certainty, may_be_ended)) in after {
                let was = before.get(&id);
                // A guess is never reported as left.
                proptest::prop_assert!(
                    certainty >= Certainty::Guess || was.is_some_and(|(was, _)| *was <= certainty),
                    "{}: forgetting (seed {seed}) made {id:?} {certainty:?}, from {was:?}", path.display()
                );
                proptest::prop_assert!(
                    !may_be_ended || was.is_some_and(|(_, could_be)| *could_be),
                    "{}: forgetting (seed {seed}) lets {id:?} be ended", path.display()
                );
            }
        }
    }
}

/// Every world with linked working trees, and those that were left.
static LEFT_TREES: LazyLock<Vec<(&Case, LeftTrees)>> = LazyLock::new(|| {
    let with_trees = cases().iter().filter(|case| case.text.contains("/worktrees/"));
    with_trees.map(|case| (case, common::forget::left_trees(case.report()))).collect()
});

proptest::proptest! {
    #![proptest_config(times(256))]
    #[test]
    fn forgetting_any_fact_never_makes_a_left_working_tree_surer(seed in proptest::prelude::any::<u64>()) {
        for (case, before) in LEFT_TREES.iter() {
            let path = &case.path;
            let forgotten = common::forget::forget(case.snapshot(), seed);
            for (key, certainty) in common::forget::left_trees(&assess(&forgotten, common::policy())) {
                // A guess is never reported as left.
                proptest::prop_assert!(
                    certainty >= Certainty::Guess || before.get(&key).is_some_and(|was| *was <= certainty),
                    "{}: forgetting (seed {seed}) made {key} {certainty:?}", path.display()
                );
            }
        }
    }
}

#[test]
fn every_code_has_a_world_that_raises_it_and_one_that_does_not() {
    let mut missing = Vec::new();
    let raised: BTreeSet<&str> =
        cases().iter().flat_map(|case| &case.world.expect.findings).map(String::as_str).collect();
    // That one requires two machines: tests/pure/across.rs.
    for code in Code::ALL.iter().filter(|code| **code != Code::ClonedMachine) {
        let near =
            Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cases/{}-not.toml", code.name()));
        if !raised.contains(code.name()) {
            missing.push(format!("no world raises {}", code.name()));
        }
        match near.exists() {
            false => missing.push(format!("no world tests/cases/{}-not.toml", code.name())),
            true if common::load(&near).expect.findings.iter().any(|found| found == code.name()) => {
                missing.push(format!("{}-not.toml raises {}", code.name(), code.name()));
            }
            true => {}
        }
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}
