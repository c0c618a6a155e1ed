use std::collections::BTreeMap;

use jiff::SignedDuration;
use proptest::prelude::*;

use super::*;
use crate::core::model::{Columns, Value};
use crate::format::reading::cells::Cells;
use crate::format::testing;

fn columns(cells: &[(&str, Option<&str>)]) -> Columns {
    let value = |text: &Option<&str>| text.map_or(Value::Null, |text| Value::Text(text.to_owned()));
    cells.iter().map(|(name, text)| ((*name).to_owned(), value(text))).collect()
}

#[test]
fn a_released_session_names_nothing_and_says_why() {
    let before = columns(&[
        ("session_id", Some("s")),
        ("sd_key", Some("SD-1")),
        ("status", Some("active")),
        ("worktree_path", Some("/w")),
        ("released_reason", None),
    ]);
    let after = released(SESSIONS, &before, "gone").unwrap();
    assert_eq!(text(&after, "sd_key"), None);
    assert_eq!(text(&after, "worktree_path"), None);
    assert_eq!(text(&after, "status"), Some("idle"));
    assert_eq!(text(&after, "released_reason"), Some("claimtop: gone"));
    assert_eq!(after.len(), before.len(), "a column that is not there stays away");
    assert_eq!(released(SESSIONS, &after, "gone"), None, "nothing is held any more");
}

#[test]
fn a_row_that_is_released_stays_released() {
    let before = columns(&[("sd_key", Some("SD-1")), ("status", Some("released"))]);
    let after = released(SESSIONS, &before, "gone").unwrap();
    assert_eq!(text(&after, "status"), Some("released"));
}

#[track_caller]
fn check_fix(status: &str, result: Option<&str>, expected: &str) {
    let before = columns(&[
        ("id", Some("QF-1")),
        ("status", Some(status)),
        ("claiming_session_id", Some("s")),
        ("pr_url", result),
        ("commit_sha", None),
    ]);
    let after = released(QUICK_FIXES, &before, "gone").unwrap();
    assert_eq!(text(&after, "status"), Some(expected));
    assert_eq!(text(&after, "claiming_session_id"), None);
}

#[test]
fn a_quick_fix_waits_again_only_if_it_was_begun_and_came_to_nothing() {
    check_fix("in_progress", None, "open");
    check_fix("in_progress", Some("https://example.org/1"), "in_progress");
    check_fix("completed", None, "completed");
}

#[test]
fn an_item_that_names_nobody_holds_nothing() {
    let before = columns(&[("sd_key", Some("SD-1")), ("claiming_session_id", None)]);
    assert_eq!(released(DIRECTIVES, &before, "gone"), None);
    assert_eq!(released("elsewhere", &before, "gone"), None);
}

/// Any cells under the names that matter.
fn rows(table: &'static str) -> impl Strategy<Value = Vec<Arc<Cells>>> {
    let names = proptest::sample::select(columns_of(table));
    let texts = prop_oneof![
        Just("SD-1".to_owned()),
        Just("s".to_owned()),
        Just("2026-11-20 21:00:00+00".to_owned()),
        "-?[0-9]{1,20}",
        ".*"
    ];
    let row = proptest::collection::btree_map(names, texts, 0..12);
    let cells = |row: BTreeMap<&'static str, String>| {
        Cells(row.into_iter().map(|(name, text)| (name.to_owned(), text)).collect())
    };
    proptest::collection::vec(row.prop_map(cells).prop_map(Arc::new), 0..4)
}

fn columns_of(table: &'static str) -> Vec<&'static str> {
    super::columns(table).to_vec()
}

proptest! {
    #[test]
    fn reading_is_total_and_every_claim_is_somewhere(
        sessions in rows(SESSIONS), directives in rows(DIRECTIVES), fixes in rows(QUICK_FIXES),
        locks in rows(FILE_LOCKS),
    ) {
        let tables = Tables {
            sessions, directives, quick_fixes: fixes, file_locks: locks, ..Tables::default()
        };
        let source = Source { database: "postgres://h/d".into(), ahead: SignedDuration::ZERO, uid: 1000 };
        let rows = read(&source, &tables, &Reading { host: &testing::host(0), now: testing::now() });
        for item in rows.work.iter().filter(|item| item.owner.is_some()) {
            let is_claimed = |record: &Arc<Record>| {
                record.claims.iter().any(|claim| claim.resource.id == item.key)
            };
            prop_assert!(rows.records.iter().any(is_claimed), "{item:?}");
        }
    }
}
