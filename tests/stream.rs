//! What a witness tells of its machine arrives as it was judged there.

#![expect(clippy::unwrap_used, reason = "tests say by panicking what is wrong")]

#[expect(dead_code, reason = "this test needs only a part of it")]
mod common;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::agent::Signatures;
use claimtop::core::model::{Report, Tombstone, Untrusted};
use claimtop::testing::core::{Heard, Hello, Identity, Inbox, Telling};
use jiff::Timestamp;
use serde_json::Value;

/// What the machine is called here: no world names anything so.
const MACHINE: &str = "the-far-side";

fn hello() -> Hello {
    Hello {
        schema: "claimtop.stream.v1".to_owned(),
        version: "0.1.0".to_owned(),
        identity: Identity { machine: None, store: None },
        host: "far".to_owned(),
        boot: None,
        pid_namespace: None,
        now: Timestamp::UNIX_EPOCH,
        takes_orders: false,
    }
}

fn hear(inbox: &mut Inbox, lines: &str) -> Vec<Heard> {
    lines.lines().map(|line| inbox.hear(line.as_bytes()).unwrap()).collect()
}

fn greeted() -> Inbox {
    let mut inbox = Inbox::new(MACHINE);
    assert_eq!(hear(&mut inbox, &Telling::hello(hello()).unwrap()), [Heard::Hello]);
    inbox
}

/// Makes every text safe to show, as whoever hears of it does.
fn shown(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(Untrusted::from(text).shown()),
        Value::Array(values) => Value::Array(values.into_iter().map(shown).collect()),
        Value::Object(members) => {
            let member = |(name, value)| (Untrusted::from(name).shown(), shown(value));
            Value::Object(members.into_iter().map(member).collect())
        }
        Value::Null | Value::Bool(_) | Value::Number(_) => value,
    }
}

/// Returns all things of a report, each as its own JSON, as they are called on their own machine.
fn things(report: &Report) -> Vec<(&'static str, Vec<String>)> {
    let text = |value: Value| shown(value).to_string().replace(&format!("@{MACHINE}"), "");
    let all = |values: Vec<Value>| values.into_iter().map(text).collect::<Vec<String>>();
    let sorted = |values: Vec<Value>| {
        let mut all = all(values);
        all.sort();
        all
    };
    fn json<T: serde::Serialize>(things: &[T]) -> Vec<Value> {
        things.iter().map(|thing| serde_json::to_value(thing).unwrap()).collect()
    }
    vec![
        ("sources", sorted(json(&report.sources))),
        ("windows", all(json(&report.windows))),
        ("records", sorted(json(&report.records))),
        ("claims", sorted(json(&report.claims))),
        ("findings", sorted(json(&report.findings))),
        ("needs", all(json(&report.needs))),
        ("left-overs", all(json(&report.left_overs))),
        ("left trees", sorted(json(&report.left_trees))),
        (
            "broken",
            sorted(report.broken.iter().map(|one| serde_json::to_value(&one.path).unwrap()).collect()),
        ),
    ]
}

#[track_caller]
fn check(inbox: &Inbox, report: &Report, tombstones: &[Tombstone], world: &str) {
    let told = inbox.report().unwrap();
    for ((what, expected), (_, found)) in things(report).into_iter().zip(things(told)) {
        assert_eq!(found, expected, "{what} of {world}");
    }
    assert_eq!(inbox.tombstones().count(), tombstones.len(), "{world}");
    assert_eq!(inbox.not_understood(), 0, "{world}");
}

#[test]
fn every_world_arrives_as_it_was_judged_also_as_what_differs_from_another() {
    let policy = Policy { signatures: Signatures::built_in().unwrap() };
    let (mut telling, mut inbox) = (Telling::default(), greeted());
    let mut windows = 0;
    for path in common::worlds() {
        let snapshot = common::load(&path).snapshot();
        let report = assess(&snapshot, &policy);
        windows += report.windows.len();
        let world = path.display().to_string();
        let (stones, alone) = (&snapshot.tombstones, &mut greeted());
        assert_eq!(
            hear(alone, &Telling::default().look(&report, stones).unwrap()).last(),
            Some(&Heard::Look),
            "{world}"
        );
        check(alone, &report, stones, &world);
        hear(&mut inbox, &telling.look(&report, stones).unwrap());
        check(&inbox, &report, stones, &world);
        assert_eq!(telling.look(&report, stones).unwrap(), "", "{world}: nothing is new");
    }
    assert!(windows > 100, "only {windows} windows in all worlds");
}
