//! The files that a dead session has left on this machine follow its rows in the same action.

use std::path::PathBuf;

use claimtop::testing::act::{CompletedAction, FollowUpResult};
use claimtop::testing::core::EndResult;

use crate::cluster::Database;
use crate::leo::stage::{Claimtop, HOST, dead_claim, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

/// Writes the files that LEO leaves of a session: lock, session file, marker and tick, in the order in which they are
/// removed.
fn left_files(claimtop: &Claimtop) -> [PathBuf; 4] {
    let lock = format!(r#"{{"pid":4243,"sessionId":"{SESSION}","timestamp":"2026-11-01T08:00:00.000Z"}}"#);
    let row = format!(
        r#"{{"session_id":"{SESSION}","terminal_id":"{SESSION}","tty":"unknown","pid":4244,"hostname":"{HOST}",
"codebase":"EHG","sd_key":null,"heartbeat_at":"2026-11-01T08:00:00.000Z","created_at":"2026-11-01T07:00:00.000Z"}}"#
    );
    let marker = format!(
        r#"{{"session_id":"{SESSION}","sse_port":null,"cc_pid":4242,"source":"startup","captured_at":"2026-11-01T07:00:00.000Z"}}"#
    );
    let tick = format!(
        r#"{{"session_id":"{SESSION}","tick_pid":4245,"cc_parent_pid":4242,"started_at":"2026-11-01T07:00:00.000Z","hostname":"{HOST}"}}"#
    );
    let write = |path: String, text: &str| claimtop.eyes.write(&path, text);
    [
        write(format!("shop/.worktrees/{ITEM}.lock"), &lock),
        write(format!("home/.claude-sessions/{SESSION}.json"), &row),
        write("shop/.claude/session-identity/pid-4242.json".to_owned(), &marker),
        write(format!("shop/.claude/pids/tick-{SESSION}.json"), &tick),
    ]
}

fn stage() -> (Database, Claimtop, [PathBuf; 4]) {
    let database = Database::new();
    dead_claim(&database, SESSION, ITEM);
    let claimtop = Claimtop::new(&database);
    let files = left_files(&claimtop);
    (database, claimtop, files)
}

/// Returns which of the files are in their places.
fn lie(files: &[PathBuf]) -> Vec<bool> {
    files.iter().map(|path| path.exists()).collect()
}

#[track_caller]
fn check_done(carried: &CompletedAction, followed: usize) {
    assert_eq!(carried.receipt.outcome.ended, EndResult::Done, "{:?}", carried.receipt);
    let is_done = |followed: &&FollowUpResult| matches!(&followed.end, Ok(receipt) if receipt.outcome.ended == EndResult::Done);
    assert_eq!(carried.followed.iter().filter(is_done).count(), followed, "{:#?}", carried.followed);
}

#[test]
fn rows_and_files_of_a_dead_session_go_in_one_action_and_come_back_by_one_undo() {
    let (database, mut claimtop, files) = stage();
    let bytes = || files.iter().map(|path| std::fs::read(path).unwrap()).collect::<Vec<_>>();
    let before = bytes();
    let others = claimtop.eyes.write(
        "shop/.claude/session-identity/pid-4300.json",
        r#"{"session_id":"22222222-2222-4333-8444-555555555555","cc_pid":4300}"#,
    );
    let seen = claimtop.see(SESSION).unwrap();
    assert_eq!(seen.plan.follows.len(), 4, "{:#?}", seen.plan.follows);
    let carried = claimtop.carry_out_all(seen).unwrap();
    check_done(&carried, 4);
    assert_eq!(surfaces(&database, ITEM), "-|-|in_progress");
    assert_eq!(lie(&files), [false; 4]);
    assert!(others.exists(), "another session's marker is none of it");

    let history = claimtop.state.history().unwrap();
    let follows: Vec<_> = history.entries.iter().map(|entry| entry.intent.follows).collect();
    assert_eq!(follows, [None, Some(1), Some(1), Some(1), Some(1)]);
    assert_eq!(history.newest_undoable().map(|entry| entry.number), Some(1));
    assert_eq!(claimtop.see_undo(1).unwrap().plan.follows.len(), 4, "what comes back with it is shown");
    let undone = claimtop.undo_all(1).unwrap();
    check_done(&undone, 4);
    assert_eq!(surfaces(&database, ITEM), format!("{SESSION}|{SESSION}|in_progress"));
    assert_eq!(bytes(), before);
    assert!(claimtop.state.history().unwrap().newest_undoable().is_none());
}

#[test]
fn a_file_that_was_written_since_stays_and_the_others_go() {
    let (database, mut claimtop, files) = stage();
    let seen = claimtop.see(SESSION).unwrap();
    std::fs::write(&files[0], r#"{"pid":4243,"sessionId":"another"}"#).unwrap();
    let carried = claimtop.carry_out_all(seen).unwrap();
    check_done(&carried, 3);
    assert_eq!(lie(&files), [true, false, false, false]);
    assert_eq!(surfaces(&database, ITEM), "-|-|in_progress");
    let refused = &carried.followed[0];
    assert!(refused.title.contains(ITEM), "{refused:?}");
    let why = refused.end.as_ref().unwrap_err().to_string();
    assert!(why.starts_with("changed under you"), "{why}");

    // A file that did not go is not brought back, and the rest is.
    check_done(&claimtop.undo_all(1).unwrap(), 3);
    assert_eq!(lie(&files), [true; 4]);
}

#[test]
fn no_file_moves_when_the_rows_are_not_released() {
    let (database, mut claimtop, files) = stage();
    let seen = claimtop.see(SESSION).unwrap();
    database.sql("UPDATE claude_sessions SET heartbeat_at = now()");
    claimtop.carry_out_all(seen).unwrap_err();
    assert_eq!(lie(&files), [true; 4]);

    database.sql("UPDATE claude_sessions SET heartbeat_at = now() - interval '1 hour'");
    let seen = claimtop.see(SESSION).unwrap();
    database.sql(
        "CREATE OR REPLACE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb \
         LANGUAGE sql AS $$ SELECT '{\"success\": true}'::jsonb $$",
    );
    let carried = claimtop.carry_out_all(seen).unwrap();
    assert_eq!(carried.receipt.outcome.ended, EndResult::Changed, "{:?}", carried.receipt);
    assert!(carried.followed.is_empty(), "{:?}", carried.followed);
    assert_eq!(lie(&files), [true; 4]);
}
