//! Deployments with other functions and columns: the claim is released and restored all the same, or nothing is
//! changed and the reason is reported.

use claimtop::testing::act::{ActionError, Postgres, Rows};
use claimtop::testing::core::EndResult;

use crate::cluster::Database;
use crate::leo::client::Session;
use crate::leo::stage::{Claimtop, dead_claim, row, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

fn claimed() -> Database {
    let database = Database::new();
    dead_claim(&database, SESSION, ITEM);
    database
}

fn held() -> String {
    format!("{SESSION}|{SESSION}|in_progress")
}

#[test]
fn whoever_holds_the_lock_that_leo_takes_on_an_item_is_not_disturbed() {
    let item = "QF-20261120-001";
    let database = Database::new();
    dead_claim(&database, SESSION, item);
    let other = Session::connect(&database);
    other.sql(&format!("BEGIN; SELECT pg_advisory_xact_lock(hashtext('{item}'))"));
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Changed, "{}", receipt.outcome.detail);
    assert!(receipt.outcome.detail.contains("another client is changing it"), "{}", receipt.outcome.detail);
    assert_eq!(surfaces(&database, item), held());
    other.sql("COMMIT");
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
}

#[test]
fn a_row_that_does_not_become_what_it_was_to_be_takes_everything_back() {
    let database = claimed();
    database.sql(
        "CREATE FUNCTION keep() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         NEW.claiming_session_id := OLD.claiming_session_id; RETURN NEW; END $$; \
         CREATE TRIGGER keep BEFORE UPDATE ON strategic_directives_v2 FOR EACH ROW EXECUTE FUNCTION keep()",
    );
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Failed, "{}", receipt.outcome.detail);
    let told = format!("strategic_directives_v2 {ITEM} did not get the intended values");
    assert_eq!(receipt.outcome.detail, told);
    assert_eq!(surfaces(&database, ITEM), held());
}

/// Releases, and checks that nothing is changed and what is reported.
#[track_caller]
fn check_kept(database: &Database, ended: EndResult, why: &str) {
    let outcome = Claimtop::new(database).release(SESSION).unwrap().outcome;
    assert_eq!(outcome.ended, ended, "{}", outcome.detail);
    assert!(outcome.detail.contains(why), "{}", outcome.detail);
    assert_eq!(surfaces(database, ITEM), held());
}

/// Releases by a function with another body.
#[track_caller]
fn check_function(body: &str, ended: EndResult, why: &str) {
    let database = claimed();
    database.sql(&format!(
        "CREATE OR REPLACE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb \
         LANGUAGE plpgsql AS $$ BEGIN {body} END $$"
    ));
    check_kept(&database, ended, why);
}

#[test]
fn a_function_that_says_no_or_lets_go_of_something_else_is_not_passed_by() {
    let no = "not while the fleet is frozen";
    check_function(&format!("RAISE EXCEPTION '{no}';"), EndResult::Failed, no);
    check_function(
        "RETURN jsonb_build_object('success', true, 'released_sd', 'SD-OTHER-009');",
        EndResult::Changed,
        "release_sd released SD-OTHER-009 instead",
    );
}

/// Releases on a server whose commit fails with a code.
#[track_caller]
fn check_commit(code: &str, ended: EndResult, why: &str) {
    let database = claimed();
    database.sql(&format!(
        "CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         RAISE EXCEPTION 'refused' USING ERRCODE = '{code}'; END $$; \
         CREATE CONSTRAINT TRIGGER refuse AFTER UPDATE ON claude_sessions DEFERRABLE INITIALLY DEFERRED \
         FOR EACH ROW EXECUTE FUNCTION refuse()"
    ));
    check_kept(&database, ended, why);
}

#[test]
fn a_commit_is_refused_gives_way_to_somebody_else_or_is_read_back() {
    check_commit("53100", EndResult::Failed, "the database says: refused");
    check_commit("40001", EndResult::Changed, "another client is changing it");
    // A server that is shutting down may have committed all the same; here it had not.
    check_commit("57P01", EndResult::Failed, "failed to commit: refused");
    check_commit("08006", EndResult::Failed, "failed to commit: refused");
}

#[test]
fn a_function_that_dates_no_release_leaves_no_sign_of_life_either() {
    let database = claimed();
    database.sql(
        "CREATE OR REPLACE FUNCTION release_sd(p_session_id text, p_reason text DEFAULT 'manual') RETURNS jsonb \
         LANGUAGE plpgsql AS $$ DECLARE key text; BEGIN \
         SELECT sd_key INTO key FROM claude_sessions WHERE session_id = p_session_id; \
         UPDATE claude_sessions SET sd_key = NULL, status = 'idle', heartbeat_at = now() \
           WHERE session_id = p_session_id; \
         RETURN jsonb_build_object('success', true, 'released_sd', key); END $$",
    );
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    let report = claimtop.eyes.report();
    let released = row(&report, SESSION);
    assert!(released.has_ended && released.heartbeat_at.is_none(), "{released:?}");
}

#[test]
fn an_undo_needs_no_function_of_leos() {
    let database = claimed();
    let mut claimtop = Claimtop::new(&database);
    let receipt = claimtop.release(SESSION).unwrap();
    database.sql("DROP FUNCTION claim_sd; DROP FUNCTION release_sd");
    claimtop.act_by(database.target());
    let outcome = claimtop.undo(receipt.entry).unwrap().outcome;
    assert_eq!(outcome.ended, EndResult::Done, "{}", outcome.detail);
    assert_eq!(surfaces(&database, ITEM), held());
}

#[test]
fn an_older_mirror_is_called_sd_id() {
    let database = claimed();
    database.sql(
        "DROP TRIGGER sync_is_working_on_trigger ON claude_sessions; DROP FUNCTION release_sd; \
         ALTER TABLE claude_sessions RENAME COLUMN sd_key TO sd_id",
    );
    let receipt = Claimtop::new(&database).release(SESSION).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    let told = format!("claude_sessions.sd_id of {SESSION} is empty");
    assert!(receipt.outcome.detail.contains(&told), "{}", receipt.outcome.detail);
    let left = "SELECT concat((SELECT sd_id FROM claude_sessions), (SELECT claiming_session_id FROM strategic_directives_v2))";
    assert_eq!(database.sql(left), "");
}

#[test]
fn a_servers_database_is_never_copied_into_a_file() {
    let folder = tempfile::tempdir().unwrap();
    let database = Database::new();
    let copied = Postgres::new(database.target()).unwrap().back_up("leo", &folder.path().join("copy"));
    assert!(matches!(copied, Err(ActionError::Never(_))), "an empty file would look like a copy: {copied:?}");
}
