//! What an agent is answered that asks, over every world: it is what the report says, and nothing of others can read as
//! claimtop's own words.

use std::path::Path;

use claimtop::core::model::{
    ClaimStatus, Key, ProcessId, Report, ResourceKind, Untrusted, VerdictState, WindowState, WindowView,
};
use claimtop::testing::core::is_forbidden;
use claimtop::testing::present::answer::{AgentAnswer, SCHEMA, may_i_edit, what_changed, who_is_here, why};

use crate::common::cases;

/// Checks what holds for every answer.
#[track_caller]
fn check_form(answer: &AgentAnswer) {
    let text = answer.to_text().unwrap();
    assert_eq!(answer.schema, SCHEMA);
    assert!(!text.contains(|c| c != '\n' && is_forbidden(c)), "{text:?}");
    let count = |start: &str| text.lines().filter(|line| line.starts_with(start)).count();
    assert_eq!((count("verdict: "), count("do: ")), (1, 1), "{text}");
    for line in text.lines() {
        let quoted = ["evidence: ", "- ", "not read: "].iter().find_map(|start| line.strip_prefix(start));
        if let Some(quoted) = quoted {
            serde_json::from_str::<serde_json::Value>(quoted)
                .unwrap_or_else(|error| panic!("{error}: {line}"));
            continue;
        }
        let starts = ["verdict: ", "age: ", "do: ", "and ", "token: "];
        assert!(starts.iter().any(|start| line.starts_with(start)), "{text}");
    }
    let value = serde_json::to_value(answer).unwrap().to_string();
    assert!(!value.contains(is_forbidden), "{value:?}");
}

#[track_caller]
fn why_of(report: &Report, key: &Key) -> AgentAnswer {
    let answer = why(report, key.as_str(), Path::new(key.as_str()));
    check_form(&answer);
    assert_eq!(answer.items.first().and_then(|item| item.key.as_ref()), Some(key), "{answer:?}");
    answer
}

#[test]
fn why_answers_with_the_verdict_of_the_report() {
    let mut dead = 0;
    for case in cases() {
        let (path, report) = (case.path.display(), case.report());
        let judged = report.records().map(|record| (&record.key, &record.verdict));
        let claimed = report.claims.iter().map(|claim| (&claim.key, &claim.record.verdict));
        for (key, verdict) in judged.chain(claimed) {
            let answer = why_of(report, key);
            assert_eq!(
                (answer.verdict, answer.reason),
                (verdict.state.name(), verdict.reason.name()),
                "{path}: {key}"
            );
            let is_dead = verdict.state == VerdictState::Dead;
            assert!(!is_dead || !answer.evidence.is_empty(), "{path}: {answer:?}");
            dead += usize::from(is_dead);
        }
        for claim in &report.claims {
            let answer = why_of(report, &claim.key);
            assert_eq!(answer.items[0].state, claim.status.name(), "{path}: {answer:?}");
        }
        for window in &report.windows {
            let expected = if window.state == WindowState::Zombie { "dead" } else { "alive" };
            assert_eq!(why_of(report, &window.key).verdict, expected, "{path}: {}", window.key);
        }
        for one in &report.left_overs {
            let answer = why_of(report, &one.key);
            assert_eq!(
                (answer.verdict, answer.reason),
                ("alive", one.certainty.name()),
                "{path}: {answer:?}"
            );
        }
    }
    assert!(dead > 100, "only {dead} are dead");
}

fn id(window: &WindowView) -> Option<ProcessId> {
    let is_here = window.key.machine().is_none();
    is_here.then_some(ProcessId { pid: window.pid, start_ticks: window.start_ticks })
}

#[test]
fn who_is_here_names_the_windows_of_a_place_and_no_others() {
    let mut checked = 0;
    for case in cases() {
        let (path, report) = (case.path.display(), case.report());
        let living = report.windows.iter().filter(|window| window.state != WindowState::Zombie);
        for (window, own) in living.filter_map(|window| Some((window, id(window)?))) {
            let tree = window.repo.as_ref().map(|repo| &repo.worktree);
            let Some(place) = tree.or(window.cwd.as_ref()) else { continue };
            let answer = who_is_here(report, Path::new(place.raw()), Some(own));
            check_form(&answer);
            let listed: Vec<&Key> = answer.items.iter().filter_map(|item| item.key.as_ref()).collect();
            assert!(answer.more > 0 || listed.contains(&&window.key), "{path}: {place}: {answer:?}");
            let yours = answer.items.iter().filter(|item| item.you);
            assert!(yours.into_iter().all(|item| item.pid == Some(window.pid)), "{path}: {answer:?}");
            let others = answer.items.iter().filter(|item| !item.you).count();
            assert_eq!(answer.verdict == "others", others > 0, "{path}: {answer:?}");
            assert!(listed.iter().all(|key| report.windows.iter().any(|window| window.key == **key)));
            checked += 1;
        }
        let nowhere = who_is_here(report, Path::new("/no/such/place/at/all"), None);
        assert!(["none", "unknown"].contains(&nowhere.verdict), "{path}: {nowhere:?}");
    }
    assert!(checked > 100, "only {checked} windows");
}

#[test]
fn what_a_living_window_edited_is_not_for_others_to_edit() {
    let mut checked = 0;
    for case in cases() {
        let (path, report) = (case.path.display(), case.report());
        let held = report.claims.iter().filter(|claim| {
            claim.resource.kind == ResourceKind::Files
                && matches!(claim.status, ClaimStatus::Held | ClaimStatus::Quiet | ClaimStatus::Contested)
        });
        for claim in held {
            let only = [claim.resource.id.clone()];
            let files: &[Untrusted] = if claim.files.is_empty() { &only } else { &claim.files };
            let window = report.windows.iter().find(|window| Some(&window.key) == claim.window.as_ref());
            for file in files.iter().filter(|file| file.raw().starts_with('/')) {
                let answer = may_i_edit(report, &[Path::new(file.raw())], None);
                check_form(&answer);
                // Files that tools write are in no way.
                let is_of_tools = answer.items.is_empty();
                assert!(answer.verdict == "no" || is_of_tools, "{path}: {file}: {answer:?}");
                let Some(own) = window.and_then(id) else { continue };
                let answer = may_i_edit(report, &[Path::new(file.raw())], Some(own));
                let is_own = |pid: Option<u32>| pid == Some(own.pid);
                assert!(!answer.items.iter().any(|item| is_own(item.pid)), "{path}: {file}: {answer:?}");
                checked += 1;
            }
        }
    }
    assert!(checked > 10, "only {checked} files");
}

#[test]
fn nothing_has_changed_since_the_same_look() {
    for case in cases() {
        let answer = what_changed(case.report(), case.report());
        check_form(&answer);
        assert_eq!(answer.verdict, "nothing", "{}: {answer:?}", case.path.display());
    }
}

#[test]
fn a_name_that_nothing_has_proves_no_death() {
    for case in cases() {
        for name in ["", "no-such-name", "/no/such/path"] {
            let answer = why(case.report(), name, Path::new(name));
            check_form(&answer);
            assert_eq!(answer.verdict, "unknown", "{}: {answer:?}", case.path.display());
        }
    }
}
