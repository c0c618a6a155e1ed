//! Releasing rows, and undoing it.

use claimtop::core::model::VerdictState;
use claimtop::observe::Observer;
use claimtop::testing::act::System;
use claimtop::testing::core::{Confirmation, EndResult};
use rusqlite::Connection;

use crate::obra::stage::{ITERATION, Stage, planned, report, row, rows};
use crate::obra::writer::Writer;

#[test]
fn a_session_that_only_a_log_calls_abandoned_is_told() {
    let stage = Stage::new();
    let log = stage.root().join("home/obra-runtime/logs/orchestrator.log");
    std::fs::create_dir_all(log.parent().unwrap()).unwrap();
    let mut eyes = stage.eyes();
    let told = |eyes: &mut Observer| {
        let findings = report(eyes).findings;
        findings
            .iter()
            .filter(|finding| finding.message.to_string().contains("never reached the database"))
            .count()
    };
    assert_eq!(told(&mut eyes), 0);
    // Only the end of a long log is read.
    let line = "WARNING - SESSION ABANDONED: session_id=00000006...\n";
    std::fs::write(&log, "INFO - nothing\n".repeat(100_000) + line).unwrap();
    assert_eq!(told(&mut eyes), 1);
    std::fs::write(&log, line.to_owned() + &"INFO - nothing\n".repeat(100_000)).unwrap();
    assert_eq!(told(&mut eyes), 0);
}

#[test]
fn a_cut_off_run_is_let_go_as_a_whole_and_comes_back_as_it_was() {
    let stage = Stage::new();
    let before = stage.rows();
    let state = stage.state(System);
    let receipt = stage.release(&state).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(receipt.outcome.detail, "", "the commit says all");
    let after = stage.rows();
    for (at, status) in ["abandoned", "abandoned", "PENDING"].iter().enumerate() {
        assert!(after[at].contains(&format!("{:?}", status.as_bytes())), "row {at}: {}", after[at]);
    }
    let backups = stage.parked();
    assert_eq!(backups.len(), 1);
    assert_eq!(rows(&Connection::open(&backups[0]).unwrap()), before, "the copy is what was there");

    let words = stage.undo_words(&state, receipt.entry);
    assert_eq!(words.len(), 3);
    let task = words.last().unwrap();
    assert!(task.starts_with("task 2: status PENDING -> RUNNING, updated_at "), "{words:?}");
    let undone = stage.undo(&state, receipt.entry).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(stage.rows(), before);
}

#[test]
fn a_row_that_has_moved_on_is_not_taken_back() {
    let stage = Stage::new();
    let state = stage.state(System);
    let receipt = stage.release(&state).unwrap();
    stage.connect().execute("UPDATE task SET status = 'RUNNING' WHERE id = 2", []).unwrap();
    let before = stage.rows();
    let refused = stage.undo(&state, receipt.entry).unwrap_err();
    assert_eq!(refused.to_string(), "task 2 has changed since; the entry is out of date");
    assert_eq!(stage.rows(), before);
}

/// Checks that the plan is refused because of a process, and that everything works once it has ended.
#[track_caller]
fn check_refused(writer: Writer, stage: &Stage, why: &str) {
    let (confirmation, reason) = planned(&report(&mut stage.eyes()));
    assert_eq!(confirmation, Confirmation::Refused, "{reason}");
    assert!(reason.contains(why), "{reason}");
    drop(writer);
    stage.release(&stage.state(System)).unwrap();
}

#[test]
fn nothing_is_let_go_while_a_process_of_obra_lives() {
    let stage = Stage::new();
    check_refused(Writer::obra(&stage), &stage, "a process of Obra, or one with the database open");
}

#[test]
fn nothing_is_let_go_while_anybody_has_the_database_open() {
    let stage = Stage::new();
    check_refused(Writer::named("sqlite-browser", &stage), &stage, "one with the database open");
}

#[test]
fn the_row_of_an_orchestrator_older_than_itself_lives() {
    let stage = Stage::new();
    let mut writer = Writer::obra(&stage);
    let now = claimtop::testing::source::clock::now().strftime("%Y-%m-%d %H:%M:%S%.6f").to_string();
    writer.tell(&format!("UPDATE session_record SET started_at = '{now}', updated_at = '{now}';"));
    assert_eq!(row(&report(&mut stage.eyes()), ITERATION).verdict.state, VerdictState::Alive);
}

#[test]
fn a_database_is_read_beside_a_writer_that_holds_its_lock() {
    let stage = Stage::new();
    let mut writer = Writer::obra(&stage);
    writer.tell("BEGIN IMMEDIATE; UPDATE session_record SET status = 'completed';");
    let report = report(&mut stage.eyes());
    assert_eq!(
        row(&report, ITERATION).verdict.state,
        VerdictState::Unknown,
        "what is not committed does not count"
    );
    let source = report.sources.iter().find(|source| source.id.starts_with("obra:")).unwrap();
    assert_eq!(source.detail.raw(), "3 rows");
    writer.tell("COMMIT;");
}

#[test]
fn what_a_crash_left_is_read_released_and_undone() {
    let stage = Stage::new();
    let before = stage.rows();
    let journal = stage.database().with_extension("db-journal");
    Writer::obra(&stage).crash();
    assert!(journal.metadata().unwrap().len() > 0, "the crash left a journal");
    let bytes = || (std::fs::read(stage.database()).unwrap(), std::fs::read(&journal).unwrap());
    let left = bytes();

    let seen = report(&mut stage.eyes());
    assert!(!row(&seen, ITERATION).has_ended, "the interrupted write does not count");
    assert_eq!(bytes(), left, "looking changes nothing");
    let state = stage.state(System);
    let receipt = stage.release(&state).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    stage.undo(&state, receipt.entry).unwrap();
    assert_eq!(stage.rows(), before);
}
