//! A pooler in front of the server, as Supabase has one on port 6543: each transaction is given to any free
//! connection, and nothing of one outlives it.

use claimtop::core::model::SourceState;
use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::testing::core::EndResult;

use crate::bouncer::Pooler;
use crate::cluster::Database;
use crate::leo::client::Session;
use crate::leo::following::until;
use crate::leo::reading::{badge, collector, look};
use crate::leo::stage::{Claimtop, dead_claim, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

fn target(pooler: &Pooler, database: &Database) -> Target {
    Target::parse(&database.url_of("leo", pooler.port), ConnectionDefaults::default()).unwrap()
}

#[test]
fn a_database_behind_a_pooler_is_read_and_followed() {
    let database = Database::new();
    let pooler = Pooler::start(database.cluster, &["leo"]);
    dead_claim(&database, SESSION, ITEM);
    let has_claim = |snapshot: &claimtop::core::model::Snapshot| {
        badge(snapshot).0 == SourceState::Ok
            && snapshot.records.iter().any(|record| !record.claims.is_empty())
    };
    let snapshot = look(target(&pooler, &database));
    assert!(has_claim(&snapshot), "{:?}", badge(&snapshot));
    // There are more simultaneous looks than connections.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut followed = collector(target(&pooler, &database));
                followed.follow_servers();
                until(&mut followed, "a claim", has_claim);
                for _ in 0..5 {
                    let snapshot = look(target(&pooler, &database));
                    assert!(has_claim(&snapshot), "{:?}", badge(&snapshot));
                }
            });
        }
    });
    let mut followed = collector(target(&pooler, &database));
    followed.follow_servers();
    until(&mut followed, "a claim", has_claim);
    database.sql(&format!("SELECT release_sd('{SESSION}')"));
    until(&mut followed, "no claim", |snapshot| badge(snapshot).0 == SourceState::Ok && !has_claim(snapshot));
}

#[test]
fn a_release_behind_a_pooler_is_one_transaction_and_leaves_no_setting_behind() {
    let database = Database::new();
    let pooler = Pooler::start(database.cluster, &["leo"]);
    let mut claimtop = Claimtop::with(target(&pooler, &database), target(&pooler, &database));
    for _ in 0..3 {
        dead_claim(&database, SESSION, ITEM);
        let receipt = claimtop.release(SESSION).unwrap();
        assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
        assert_eq!(surfaces(&database, ITEM), "-|-|in_progress");
        let undone = claimtop.undo(receipt.entry).unwrap();
        assert_eq!(undone.outcome.ended, EndResult::Done, "{}", undone.outcome.detail);
        assert_eq!(surfaces(&database, ITEM), format!("{SESSION}|{SESSION}|in_progress"));
    }
    // The connection that the pooler's next client is given.
    let other = Session::connect_at(&database.url_of("leo", pooler.port));
    for setting in ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"] {
        assert_eq!(other.sql(&format!("SHOW {setting}")).as_deref(), Some("0"), "{setting}");
    }
    let names = other.sql("SELECT count(*)::text FROM pg_prepared_statements");
    assert_eq!(names.as_deref(), Some("0"));
}
