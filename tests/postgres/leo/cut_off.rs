//! A release of rows that was interrupted before its end was journalled: the rows show how it ended.

use claimtop::testing::act::Patience;
use claimtop::testing::core::EndResult;
use claimtop::testing::source::clock;

use crate::cluster::Database;
use crate::leo::stage::{Claimtop, dead_claim};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

/// Releases a claim, forgets that it was done, lets `meanwhile` happen and checks the entry's outcome.
#[track_caller]
fn check(meanwhile: &str, ended: EndResult, detail: &str) {
    let database = Database::new();
    dead_claim(&database, SESSION, ITEM);
    database.sql("INSERT INTO strategic_directives_v2 (sd_key, status) VALUES ('SD-TWO-002', 'in_progress')");
    let mut claimtop = Claimtop::new(&database);
    claimtop.release(SESSION).unwrap();
    claimtop.forget_end();
    if !meanwhile.is_empty() {
        database.sql(meanwhile);
    }
    let lock = claimtop.state.lock(Patience::Wait, clock::now()).unwrap();
    let outcome = lock.history.entries.first().unwrap().outcome.as_ref().unwrap();
    assert_eq!((outcome.ended, outcome.detail.as_str()), (ended, detail));
}

fn moved_on(row: &str) -> String {
    format!("it was interrupted; {row} has neither its old nor its new values: something else has changed it")
}

#[test]
fn what_is_released_on_both_surfaces_is_done() {
    check("", EndResult::Done, "it was interrupted, and is done");
    // Other columns do not hold a claim.
    check("UPDATE claude_sessions SET status = 'stale'", EndResult::Done, "it was interrupted, and is done");
}

#[test]
fn a_row_that_somebody_else_has_changed_is_named_and_left() {
    let session = moved_on(&format!("claude_sessions {SESSION}"));
    check(&format!("SELECT claim_sd('SD-TWO-002', '{SESSION}', 'A')"), EndResult::Stuck, &session);
    // It holds the same item again, since another moment.
    check(&format!("SELECT claim_sd('{ITEM}', '{SESSION}', 'A')"), EndResult::Stuck, &session);
    check("DELETE FROM claude_sessions", EndResult::Stuck, &session);
    let item = moved_on(&format!("strategic_directives_v2 {ITEM}"));
    let other =
        "UPDATE strategic_directives_v2 SET claiming_session_id = 'other' WHERE sd_key = 'SD-ONE-001'";
    check(other, EndResult::Stuck, &item);
    // Only one surface is as it was.
    let one = format!(
        "UPDATE strategic_directives_v2 SET claiming_session_id = '{SESSION}' WHERE sd_key = '{ITEM}'"
    );
    check(&one, EndResult::Stuck, &item);
}
