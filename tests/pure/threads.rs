//! Public threads in which something alive was called dead: each has a world, and no world calls it so.

use std::collections::BTreeSet;

use claimtop::core::model::{RecordView, Report, VerdictState};
use serde::Deserialize;

use crate::common::cases;

#[derive(Deserialize)]
struct Table {
    thread: Vec<Thread>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Thread {
    at: String,
    called: String,
    world: String,
    record: String,
    verdict: String,
}

/// Returns where a record is: its path, or its table and ID.
fn place(record: &RecordView, report: &Report) -> String {
    let location = &serde_json::to_value(record.shape(report.taken_at)).unwrap()["location"];
    let part = |name: &str| location[name].as_str().unwrap_or_default();
    if location["path"].is_null() {
        format!("{} {}", part("table"), part("id"))
    } else {
        part("path").to_owned()
    }
}

#[test]
fn what_public_threads_saw_called_dead_is_not() {
    let table: Table = toml::from_str(include_str!("threads.toml")).unwrap();
    let mut seen = BTreeSet::new();
    for Thread { at, called, world, record, verdict } in &table.thread {
        assert!(seen.insert(at) && at.contains('#') && !called.is_empty(), "{at}");
        let name = format!("cases/{world}.toml");
        let case = cases().iter().find(|case| case.path.ends_with(&name));
        let case = case.unwrap_or_else(|| panic!("{at}: there is no world {world}"));
        let report = case.report();
        let found = report.records().find(|one| place(one, report).ends_with(record));
        let found = found.unwrap_or_else(|| panic!("{at}: {world} has no record {record}"));
        let got = format!("{} {}", found.verdict.state.name(), found.verdict.reason.name());
        assert_eq!(&got, verdict, "{at}: {world}");
        assert_ne!(found.verdict.state, VerdictState::Dead, "{at}: {called}");
    }
    assert!(seen.len() >= 35, "{}", seen.len());
}
