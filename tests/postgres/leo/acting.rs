//! Releases and undos on a real database: both surfaces or none.

use claimtop::testing::act::ActionError;
use claimtop::testing::core::EndResult;

use crate::cluster::Database;
use crate::leo::stage::{Claimtop, dead_claim, row, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "22222222-2222-4333-8444-555555555555";

#[test]
fn a_dead_claim_is_released_on_both_surfaces_and_given_back_by_an_undo() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql("UPDATE claude_sessions SET worktree_path = '/w', worktree_branch = 'b'");
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(
        receipt.outcome.detail,
        format!(
            "read back: claude_sessions.sd_key of {SESSION} is empty (LEO's own release_sd writes to this row: \
             it is idle now, and its heartbeat was put back as it was), \
             strategic_directives_v2.claiming_session_id of SD-ONE-001 is empty"
        )
    );
    assert_eq!(surfaces(&database, "SD-ONE-001"), "-|-|in_progress");
    let reason = database.sql("SELECT released_reason FROM claude_sessions");
    assert_eq!(reason, "claimtop: the holder is proven dead (no-process)");

    // The function has set the heartbeat; that was not a sign of life, and is put back.
    let beats = "SELECT heartbeat_at < now() - interval '59 minutes' FROM claude_sessions";
    assert_eq!(database.sql(beats), "t");
    let report = claimtop.eyes.report();
    assert!(report.claims.is_empty());
    let released = row(&report, SESSION);
    assert!(released.has_ended && released.heartbeat_at.is_none(), "{released:?}");
    assert!(released.facts.iter().any(|(name, _)| *name == "released by"), "{released:?}");

    let undone = claimtop.undo(receipt.entry).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|{SESSION}|in_progress"));
    assert_eq!(database.sql("SELECT worktree_path, worktree_branch FROM claude_sessions"), "/w|b");
}

/// Returns a database's sessions and items, times included.
fn everything(database: &Database) -> String {
    database.sql(
        "SELECT (SELECT string_agg(s::text, '\n' ORDER BY session_id) FROM claude_sessions s) || '\n' || \
         (SELECT string_agg(sd_key || ' ' || status || ' ' || coalesce(claiming_session_id, '-') || ' ' || \
          coalesce(active_session_id, '-') || ' ' || is_working_on, '\n') FROM strategic_directives_v2)",
    )
}

/// Releases and undoes, and checks that every value of the session is as before, to the last digit of its heartbeat,
/// and that no surface names it that did not before.
#[track_caller]
fn check_exactly_restored(given: &str) {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql(given);
    let before = everything(&database);
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{given}: {}", receipt.outcome.detail);
    assert_ne!(everything(&database), before, "{given}");
    let undone = claimtop.undo(receipt.entry).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{given}: {}", undone.outcome.detail);
    assert_eq!(everything(&database), before, "{given}");
}

#[test]
fn an_undo_restores_the_exact_former_values_and_nothing_that_looks_like_life() {
    check_exactly_restored("SELECT 1");
    check_exactly_restored("UPDATE claude_sessions SET status = 'stale', stale_reason = 'HEARTBEAT_TIMEOUT'");
    check_exactly_restored("UPDATE claude_sessions SET status = 'idle', heartbeat_at = NULL");
    check_exactly_restored(
        "UPDATE claude_sessions SET process_alive_at = now() - interval '2 hours', worktree_path = '/w', \
         worktree_branch = 'b', released_reason = 'manual', released_at = now() - interval '3 hours'",
    );
    // Only the session's own row names the item.
    check_exactly_restored(
        "UPDATE strategic_directives_v2 SET claiming_session_id = NULL, active_session_id = NULL, \
         is_working_on = false",
    );
    // LEO's own function would not claim a completed item again.
    check_exactly_restored("UPDATE strategic_directives_v2 SET status = 'completed'");
}

#[test]
fn a_database_that_dates_every_change_as_a_heartbeat_is_left_alone() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql(
        "CREATE FUNCTION beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         NEW.heartbeat_at := now(); RETURN NEW; END $$; \
         CREATE TRIGGER beat BEFORE UPDATE ON claude_sessions FOR EACH ROW EXECUTE FUNCTION beat()",
    );
    let before = everything(&database);
    let outcome = Claimtop::new(&database).release(SESSION).unwrap().outcome;
    assert_eq!(outcome.ended, EndResult::Failed, "{}", outcome.detail);
    assert!(outcome.detail.contains("renews heartbeat_at of"), "{}", outcome.detail);
    assert_eq!(everything(&database), before);
}

#[test]
fn an_undo_refuses_where_an_older_release_has_overwritten_the_heartbeat() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    database.sql("UPDATE claude_sessions SET heartbeat_at = released_at");
    let before = everything(&database);
    let outcome = claimtop.undo(receipt.entry).unwrap().outcome;
    assert_eq!(outcome.ended, EndResult::Failed, "{}", outcome.detail);
    assert!(outcome.detail.contains("the session would look alive"), "{}", outcome.detail);
    assert_eq!(everything(&database), before);
}

#[test]
fn an_undo_gives_nothing_back_that_another_session_works_on() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql("UPDATE claude_sessions SET status = 'stale'");
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    database.sql(&format!(
        "INSERT INTO claude_sessions (session_id, sd_key, status) VALUES ('{OTHER}', 'SD-ONE-001', 'active')"
    ));
    let before = everything(&database);
    let outcome = claimtop.undo(receipt.entry).unwrap().outcome;
    assert_eq!(outcome.ended, EndResult::Changed, "{}", outcome.detail);
    assert!(outcome.detail.contains("now works on it"), "{}", outcome.detail);
    assert_eq!(everything(&database), before);
}

#[test]
fn an_undo_does_not_take_it_from_whoever_holds_it_by_then() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    dead_claim(&database, OTHER, "SD-ONE-001");
    let refused = claimtop.undo(receipt.entry).unwrap_err();
    assert!(refused.to_string().contains("has changed since"), "{refused}");
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{OTHER}|{OTHER}|in_progress"));
}

#[track_caller]
fn check_quick_fix(result: &str, expected: &str) {
    let database = Database::new();
    dead_claim(&database, SESSION, "QF-20261120-001");
    database.sql(&format!("UPDATE quick_fixes SET {result}"));
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "QF-20261120-001"), expected);
}

#[test]
fn a_quick_fix_waits_again_only_without_a_result() {
    check_quick_fix("title = 'x'", "-|-|open");
    check_quick_fix("pr_url = 'https://example.org/1'", "-|-|in_progress");
    check_quick_fix("commit_sha = 'abc'", "-|-|in_progress");
}

#[test]
fn a_ghost_mirror_is_cleared_and_its_row_stays_released() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    // Another session took the terminal: the old row is released and keeps its key.
    database.sql(&format!(
        "SELECT create_or_replace_session('{OTHER}', null, '{SESSION}', null, 77, 'far', 'EHG')"
    ));
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|-|in_progress"));
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "SD-ONE-001"), "-|-|in_progress");
    let status = format!("SELECT status FROM claude_sessions WHERE session_id = '{SESSION}'");
    assert_eq!(database.sql(&status), "released");
    let undone = claimtop.undo(receipt.entry).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|-|in_progress"));
}

#[test]
fn an_owner_without_a_mirror_is_cleared_although_release_sd_would_do_nothing() {
    let database = Database::new();
    dead_claim(&database, SESSION, "QF-20261120-001");
    database.sql("UPDATE claude_sessions SET sd_key = NULL");
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|-|open");
}

#[test]
fn an_owner_that_was_never_a_session_is_cleared_by_the_items_own_row() {
    let database = Database::new();
    database.sql("INSERT INTO quick_fixes VALUES ('QF-20261120-001', 'x', 'in_progress', 'phantom')");
    let receipt = Claimtop::new(&database).release("QF-20261120-001").unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|-|open");
}

#[track_caller]
fn check_with_function(function: &str) {
    let database = Database::new();
    dead_claim(&database, SESSION, "QF-20261120-001");
    database.sql("UPDATE claude_sessions SET worktree_path = '/w', worktree_branch = 'b'");
    database.sql(function);
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "QF-20261120-001"), "-|-|open");
}

#[test]
fn other_texts_of_the_function_leave_nothing_half_released() {
    let head = "CREATE OR REPLACE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') \
                RETURNS jsonb LANGUAGE plpgsql AS $$ DECLARE key text; BEGIN \
                SELECT sd_key INTO key FROM claude_sessions WHERE session_id = p_session_id;";
    let tail = "RETURN jsonb_build_object('success', true, 'released_sd', key); END $$";
    // It forgets the worktree, which the table's check refuses.
    check_with_function(&format!(
        "{head} UPDATE claude_sessions SET sd_key = NULL WHERE session_id = p_session_id; {tail}"
    ));
    // It forgets the quick fix.
    check_with_function(&format!(
        "{head} UPDATE claude_sessions SET sd_key = NULL, worktree_path = NULL, worktree_branch = NULL \
         WHERE session_id = p_session_id; {tail}"
    ));
    // It reports a release, but did nothing.
    check_with_function(&format!("{head} {tail}"));
    // There is none.
    check_with_function("DROP FUNCTION release_sd");
}

#[test]
fn a_function_that_lets_go_of_nothing_is_no_success() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql(
        "CREATE OR REPLACE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb \
         LANGUAGE sql AS $$ SELECT '{\"success\": true, \"message\": \"No SD to release\"}'::jsonb $$",
    );
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Changed);
    assert_eq!(receipt.outcome.detail, "changed under you: release_sd released nothing: No SD to release");
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|{SESSION}|in_progress"));
}

#[track_caller]
fn check_changed(meanwhile: &str) {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    let mut claimtop = Claimtop::new(&database);
    let seen = claimtop.see(SESSION).unwrap();
    database.sql(meanwhile);
    let before = surfaces(&database, "SD-ONE-001");
    let refused = claimtop.carry_out(seen).unwrap_err();
    assert!(matches!(refused, ActionError::Changed(_)), "{refused}");
    assert_eq!(surfaces(&database, "SD-ONE-001"), before);
}

#[test]
fn whatever_changed_since_it_was_seen_stops_the_release() {
    check_changed("UPDATE claude_sessions SET heartbeat_at = now()");
    check_changed("UPDATE claude_sessions SET process_alive_at = now()");
    check_changed("UPDATE claude_sessions SET expected_silence_until = now() + interval '10 minutes'");
    check_changed("UPDATE claude_sessions SET current_tool_expected_end_at = now() + interval '10 minutes'");
    check_changed(&format!("SELECT claim_sd('SD-ONE-001', '{SESSION}', 'A')"));
    check_changed(&format!("SELECT release_sd('{SESSION}')"));
    check_changed("UPDATE strategic_directives_v2 SET claiming_session_id = 'somebody'");
}

#[test]
fn a_role_that_may_only_read_releases_nothing() {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql(
        "DO $$ BEGIN CREATE ROLE looker LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO looker",
    );
    let looker = claimtop::source::database::postgres::Target::parse(
        &database.url_of("looker", database.cluster.port),
        claimtop::source::database::postgres::ConnectionDefaults::default(),
    );
    let looker = looker.unwrap();
    let mut claimtop = Claimtop::with(looker.clone(), looker);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Failed);
    assert!(receipt.outcome.detail.contains("permission denied"), "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|{SESSION}|in_progress"));
}
