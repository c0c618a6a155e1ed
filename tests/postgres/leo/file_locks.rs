//! Locks of files that a dead session has left: released as LEO's own sweep does, and restored exactly.

use claimtop::core::model::Value;
use claimtop::testing::act::{ActionError, Patience};
use claimtop::testing::core::{EndResult, Movement};
use claimtop::testing::source::clock;

use crate::cluster::Database;
use crate::leo::client::Session;
use crate::leo::stage::{Claimtop, dead_claim, row, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const OTHER: &str = "22222222-2222-4333-8444-555555555555";
const FILE: &str = "src/a b.rs";

/// Returns the key of a session's row, to which a lock refers.
fn row_of(session: &str) -> String {
    format!("(SELECT id FROM claude_sessions WHERE session_id = '{session}')")
}

/// Lets a session lock a file, since an hour and some microseconds ago.
fn keep(database: &Database, file: &str, session: &str) {
    database.sql(&format!(
        "INSERT INTO file_claim_locks (file_path, holder_session_id, sd_id, branch, claimed_at, heartbeat_at) \
         VALUES ('{file}', {}, 'SD-ONE-001', E'feat/\"x\\\\', now() - interval '2 hours', \
         now() - interval '1 hour 123456 microseconds')",
        row_of(session)
    ));
}

fn stage() -> (Database, Claimtop) {
    let database = Database::new();
    dead_claim(&database, SESSION, "SD-ONE-001");
    database.sql(&format!("INSERT INTO claude_sessions (session_id, hostname) VALUES ('{OTHER}', 'far')"));
    keep(&database, FILE, SESSION);
    let claimtop = Claimtop::new(&database);
    (database, claimtop)
}

/// Returns all locks of a database.
fn locks(database: &Database) -> String {
    database.sql("SELECT string_agg(l::text, '\n' ORDER BY file_path) FROM file_claim_locks l")
}

#[test]
fn a_dead_sessions_lock_goes_alone_and_comes_back_with_every_value() {
    let (database, mut claimtop) = stage();
    // A newer deployment has columns that claimtop does not know.
    database.sql(
        "ALTER TABLE file_claim_locks ADD note text, ADD \"Odd \"\"name\" numeric; \
         UPDATE file_claim_locks SET note = 'naïve', \"Odd \"\"name\" = 1.50",
    );
    keep(&database, "src/other.rs", OTHER);
    let before = locks(&database);
    let receipt = claimtop.release(FILE).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(receipt.outcome.detail, format!("read back: file_claim_locks {FILE} is gone"));
    assert_eq!(database.sql("SELECT string_agg(file_path, ',') FROM file_claim_locks"), "src/other.rs");
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|{SESSION}|in_progress"));

    let history = claimtop.state.history().unwrap();
    let [Movement::Rows { changes, .. }] = &history.entries[0].intent.movements[..] else { panic!() };
    assert_eq!(changes[0].before.len(), 9, "every column is journalled: {changes:?}");
    assert_eq!(changes[0].before["Odd \"name"], Value::Text("1.50".to_owned()));

    let undone = claimtop.undo(receipt.entry).unwrap();
    assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
    assert_eq!(locks(&database), before);
}

#[test]
fn a_window_that_is_let_go_whole_takes_its_file_locks_along() {
    let (database, mut claimtop) = stage();
    keep(&database, "src/b.rs", SESSION);
    keep(&database, "src/other.rs", OTHER);
    let before = locks(&database);
    let seen = claimtop.see_left(SESSION).unwrap();
    let carried = claimtop.carry_out_all(seen).unwrap();
    let ends: Vec<_> = carried.followed.iter().map(|one| one.end.as_ref().unwrap().outcome.ended).collect();
    assert_eq!(ends, [EndResult::Done; 3], "{:#?}", carried.followed);
    assert_eq!(surfaces(&database, "SD-ONE-001"), "-|-|in_progress");
    assert_eq!(database.sql("SELECT string_agg(file_path, ',') FROM file_claim_locks"), "src/other.rs");
    claimtop.undo_all(carried.receipt.entry).unwrap();
    assert_eq!(locks(&database), before);
    assert_eq!(surfaces(&database, "SD-ONE-001"), format!("{SESSION}|{SESSION}|in_progress"));
}

#[test]
fn the_locks_of_a_session_follow_the_release_of_its_work() {
    let (database, mut claimtop) = stage();
    let before = locks(&database);
    let seen = claimtop.see(SESSION).unwrap();
    let carried = claimtop.carry_out_all(seen).unwrap();
    assert_eq!(carried.followed.len(), 1, "{:#?}", carried.followed);
    assert_eq!(locks(&database), "");
    claimtop.undo_all(carried.receipt.entry).unwrap();
    assert_eq!(locks(&database), before);
}

#[track_caller]
fn check_changed(meanwhile: &str) {
    let (database, mut claimtop) = stage();
    let seen = claimtop.see(FILE).unwrap();
    database.sql(meanwhile);
    let before = locks(&database);
    let refused = claimtop.carry_out(seen).unwrap_err();
    assert!(matches!(refused, ActionError::Changed(_)), "{meanwhile}: {refused}");
    assert_eq!(locks(&database), before, "{meanwhile}");
}

#[test]
fn a_lock_that_was_renewed_or_taken_over_since_it_was_seen_stays() {
    check_changed("UPDATE file_claim_locks SET heartbeat_at = now()");
    // By a client whose clock is behind: the database would call it old.
    check_changed("UPDATE file_claim_locks SET heartbeat_at = now() - interval '59 minutes'");
    check_changed(&format!("UPDATE file_claim_locks SET holder_session_id = {}", row_of(OTHER)));
    check_changed("UPDATE file_claim_locks SET id = gen_random_uuid()");
    check_changed("UPDATE claude_sessions SET heartbeat_at = now()");
    check_changed(&format!(
        "DELETE FROM file_claim_locks; INSERT INTO file_claim_locks (file_path, holder_session_id) \
         VALUES ('{FILE}', {})",
        row_of(OTHER)
    ));
}

/// Returns how many connections wait for another one's lock.
fn waiting(database: &Database) -> String {
    database.sql(
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND datname = current_database()",
    )
}

#[test]
fn a_heartbeat_that_is_under_way_when_the_lock_is_let_go_is_waited_for_and_wins() {
    let (database, mut claimtop) = stage();
    let seen = claimtop.see(FILE).unwrap();
    let session = Session::connect(&database);
    session.sql("BEGIN; UPDATE file_claim_locks SET heartbeat_at = now()");
    let end = std::thread::scope(|scope| {
        let release = scope.spawn(|| claimtop.carry_out(seen));
        while waiting(&database) == "0" && !release.is_finished() {
            std::thread::yield_now();
        }
        session.sql("COMMIT");
        release.join().unwrap()
    });
    let receipt = end.unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Changed, "{}", receipt.outcome.detail);
    assert_eq!(database.sql("SELECT heartbeat_at > now() - interval '1 minute' FROM file_claim_locks"), "t");
}

#[test]
fn an_undo_takes_no_file_from_whoever_has_it_by_then() {
    let (database, mut claimtop) = stage();
    let receipt = claimtop.release(FILE).unwrap();
    keep(&database, FILE, OTHER);
    let before = locks(&database);
    let refused = claimtop.undo(receipt.entry).unwrap_err();
    assert!(refused.to_string().contains("has changed since"), "{refused}");
    assert_eq!(locks(&database), before);

    // The same happens if the other comes between the look and the insertion.
    database.sql("DELETE FROM file_claim_locks");
    let seen = claimtop.see_undo(receipt.entry).unwrap();
    keep(&database, FILE, OTHER);
    let before = locks(&database);
    let refused = claimtop.carry_out(seen).unwrap_err();
    assert!(matches!(refused, ActionError::Changed(_)), "{refused}");
    assert_eq!(locks(&database), before);
}

#[track_caller]
fn check_never_offered(given: &str) {
    let (database, mut claimtop) = stage();
    database.sql(given);
    let before = locks(&database);
    let refused = claimtop.see(FILE).unwrap_err();
    assert!(refused.to_string().contains("LEO's sweep removes it"), "{given}: {refused}");
    assert_eq!(locks(&database), before);
}

#[test]
fn the_lock_of_whoever_is_not_proven_dead_is_never_offered() {
    check_never_offered("UPDATE claude_sessions SET heartbeat_at = now()");
    check_never_offered("UPDATE claude_sessions SET hostname = 'far'");
    check_never_offered("UPDATE claude_sessions SET hostname = 'far', status = 'released', sd_key = NULL");
    check_never_offered("UPDATE file_claim_locks SET heartbeat_at = now() - interval '9 minutes'");
    check_never_offered(&format!("UPDATE file_claim_locks SET holder_session_id = {}", row_of(OTHER)));
}

#[test]
fn what_a_session_left_that_leo_itself_has_released_can_be_let_go() {
    let (database, mut claimtop) = stage();
    database.sql("UPDATE strategic_directives_v2 SET claiming_session_id = NULL, active_session_id = NULL");
    database.sql("UPDATE claude_sessions SET status = 'released', sd_key = NULL");
    assert!(row(&claimtop.eyes.report(), SESSION).has_ended);
    let receipt = claimtop.release(FILE).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert_eq!(locks(&database), "");
}

#[track_caller]
fn check_kept(given: &str, why: &str) {
    let (database, mut claimtop) = stage();
    database.sql(given);
    let before = locks(&database);
    let outcome = claimtop.release(FILE).unwrap().outcome;
    assert_eq!(outcome.ended, EndResult::Failed, "{}", outcome.detail);
    assert!(outcome.detail.contains(why), "{}", outcome.detail);
    assert_eq!(locks(&database), before);
}

#[test]
fn a_row_that_could_not_be_put_back_as_it_was_is_not_deleted() {
    check_kept(
        "CREATE FUNCTION beat() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN \
         NEW.heartbeat_at := now(); RETURN NEW; END $$; \
         CREATE TRIGGER beat BEFORE INSERT ON file_claim_locks FOR EACH ROW EXECUTE FUNCTION beat()",
        "does not accept file_claim_locks",
    );
    check_kept(
        "ALTER TABLE file_claim_locks ADD twice text GENERATED ALWAYS AS (branch || branch) STORED",
        "twice",
    );
}

#[test]
fn a_lock_that_was_let_go_and_cut_off_is_found_done_or_taken_by_another() {
    for (meanwhile, ended) in [
        ("SELECT 1".to_owned(), EndResult::Done),
        (
            format!(
                "INSERT INTO file_claim_locks (file_path, holder_session_id) VALUES ('{FILE}', {})",
                row_of(OTHER)
            ),
            EndResult::Stuck,
        ),
    ] {
        let (database, mut claimtop) = stage();
        claimtop.release(FILE).unwrap();
        claimtop.forget_end();
        database.sql(&meanwhile);
        let lock = claimtop.state.lock(Patience::Wait, clock::now()).unwrap();
        let outcome = lock.history.entries.first().unwrap().outcome.as_ref().unwrap();
        assert_eq!(outcome.ended, ended, "{}", outcome.detail);
    }
}
