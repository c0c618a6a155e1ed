//! A recording of more than a thousand calls, its truth made by a simulator, and the guard's answer to each.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::Value;

use crate::answers::simulator::recording;
use crate::world::World;

/// The recording's worlds, and the steps of each.
const WORLDS: u64 = 60;
const STEPS: u32 = 40;

/// Returns the guard's answer to each call of a recording.
pub(crate) fn replayed(path: &Path) -> Vec<Value> {
    let answer = World::new().run(&["guard", "replay", "--json", path.to_str().unwrap()]);
    assert!(answer.code < 2, "{}", answer.err);
    answer.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

pub(crate) fn corpus() -> std::path::PathBuf {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/guard/answers/corpus.jsonl");
    if std::env::var_os("CLAIMTOP_WRITE_EXPECTED").is_some() {
        std::fs::write(&path, recording(1..=WORLDS, STEPS)).unwrap();
    }
    path
}

/// Counts answers by their kind and how they were judged.
fn counts(answers: &[Value]) -> BTreeMap<(&str, &str), usize> {
    let mut counts = BTreeMap::new();
    for answer in answers {
        // A silence is counted for the answer that was missed.
        let said = match answer["judged"].as_str().unwrap() {
            "missed" | "hidden" => &answer["expected"],
            _ => &answer["said"],
        };
        *counts.entry((answer["judged"].as_str().unwrap(), said.as_str().unwrap())).or_default() += 1;
    }
    counts
}

#[track_caller]
fn check(answers: &[Value]) {
    let counts = counts(answers);
    let all = |judged: &str, said: &[&str]| -> usize {
        said.iter().map(|said| counts.get(&(judged, *said)).copied().unwrap_or_default()).sum()
    };
    let (told, refused) = (["brief", "note"], ["hold-up", "ask", "deny"]);
    let both = [&told[..], &refused[..]].concat();
    for answer in
        answers.iter().filter(|answer| matches!(answer["judged"].as_str(), Some("wrong" | "missed")))
    {
        eprintln!("{answer}");
    }
    eprintln!("{} calls: {counts:?}", answers.len());
    let (wrong, right) = (all("wrong", &told), all("right", &told));
    assert!(wrong * 200 < wrong + right, "wrong briefs and notes: {wrong} beside {right}");
    let (missed, seen) = (all("missed", &both), all("right", &both));
    assert!(missed * 100 < missed + seen, "missed: {missed} beside {seen}");
    assert_eq!(all("wrong", &refused), 0, "wrong hold-ups");
}

#[test]
fn of_a_thousand_calls_the_guard_says_what_is_true() {
    let answers = replayed(&corpus());
    assert!(answers.len() >= 1_000, "{}", answers.len());
    check(&answers);
}

#[test]
fn in_worlds_that_nobody_wrote_down_it_does_too() {
    let set = |name: &str, usual: u64| std::env::var(name).map_or(usual, |text| text.parse().unwrap());
    let (first, worlds) = (set("CLAIMTOP_GUARD_FIRST", 1_001), set("CLAIMTOP_GUARD_WORLDS", 20));
    let world = World::new();
    let path = world.write("recording.jsonl", &recording(first..first + worlds, STEPS));
    check(&replayed(&path));
}
