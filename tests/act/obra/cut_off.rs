//! A change of rows that was interrupted before its end was journalled: the rows show how it ended.

use claimtop::testing::act::System;
use claimtop::testing::core::EndResult;

use crate::obra::stage::Stage;
use crate::obra::writer::Writer;

/// Releases a run, and forgets that it was done.
fn cut_off() -> Stage {
    let stage = Stage::new();
    stage.release(&stage.state(System)).unwrap();
    let journal = stage.root().join("state/journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    std::fs::write(&journal, lines.lines().next().unwrap().to_owned() + "\n").unwrap();
    stage
}

/// Restores the database from before the release.
fn take_back(stage: &Stage) {
    std::fs::copy(stage.parked().first().unwrap(), stage.database()).unwrap();
}

/// Lets `meanwhile` happen to an interrupted release, and checks its entry's outcome.
#[track_caller]
fn check(meanwhile: impl Fn(&Stage), expected: (EndResult, &str), copies: usize) {
    let stage = cut_off();
    meanwhile(&stage);
    let rows = stage.rows();
    let entries = stage.recovered().entries;
    let outcome = entries.first().unwrap().outcome.as_ref().unwrap();
    assert_eq!((outcome.ended, outcome.detail.as_str()), expected);
    assert_eq!(stage.rows(), rows, "nobody's row is touched");
    assert_eq!(stage.parked().len(), copies, "a copy of what was not changed is worth nothing");
}

fn sql(text: &str) -> impl Fn(&Stage) {
    move |stage| stage.connect().execute_batch(text).unwrap()
}

#[test]
fn every_row_is_as_it_was_to_become() {
    check(|_| (), (EndResult::Done, "it was interrupted, and is done"), 1);
}

#[test]
fn every_row_is_as_it_was() {
    check(take_back, (EndResult::Failed, "it was interrupted; every row is as it was"), 0);
}

#[test]
fn a_row_that_somebody_else_has_changed_is_named_and_left() {
    const MOVED_ON: (EndResult, &str) = (
        EndResult::Stuck,
        "it was interrupted; task 2 has neither its old nor its new values: something else has changed it",
    );
    check(sql("UPDATE task SET status = 'COMPLETED' WHERE id = 2"), MOVED_ON, 1);
    check(sql("DELETE FROM task WHERE id = 2"), MOVED_ON, 1);
    let one_of_three = "UPDATE task SET status = 'RUNNING', updated_at = '2026-11-20 10:00:00' WHERE id = 2";
    check(sql(one_of_three), MOVED_ON, 1);
}

#[test]
fn an_interrupted_write_of_somebody_elses_is_rolled_back_before_rows_are_read_however_big_they_are() {
    let stage = cut_off();
    take_back(&stage);
    // More than is ever copied to be read.
    stage.connect().execute("INSERT INTO ballast VALUES (zeroblob(70000000))", []).unwrap();
    Writer::obra(&stage).crash();
    let entries = stage.recovered().entries;
    let outcome = entries.first().unwrap().outcome.as_ref().unwrap();
    assert_eq!(outcome.detail, "it was interrupted; every row is as it was");
}
