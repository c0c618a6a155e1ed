//! How the screen reads: it uses the last read, follows changes, and restores a lost connection.

use std::time::Duration;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{ClaimStatus, Snapshot, SourceState, VerdictState};
use claimtop::testing::observe::Collector;

use crate::cluster::{Cluster, Database};
use crate::leo::reading::{badge, collector};
use crate::leo::stage::dead_claim;

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

/// Looks until a condition holds.
#[track_caller]
pub(crate) fn until(collector: &mut Collector, what: &str, is_so: impl Fn(&Snapshot) -> bool) -> Snapshot {
    for _ in 0..600 {
        let snapshot = collector.look();
        if is_so(&snapshot) {
            return snapshot;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    panic!("never: {what}");
}

pub(crate) fn is_read(snapshot: &Snapshot) -> bool {
    badge(snapshot).0 == SourceState::Ok
}

fn has_claim(snapshot: &Snapshot) -> bool {
    is_read(snapshot) && snapshot.records.iter().any(|record| !record.claims.is_empty())
}

#[test]
fn changes_are_followed_without_a_look_that_waits() {
    let database = Database::new();
    let mut collector = collector(database.target());
    collector.follow_servers();
    // The first look does not wait for the connection.
    assert_eq!(badge(&collector.look()).1, "connecting");
    until(&mut collector, "a read", is_read);
    dead_claim(&database, SESSION, "SD-ONE-001");
    until(&mut collector, "a claim", has_claim);
    database.sql("UPDATE claude_sessions SET sd_key = NULL, track = NULL");
    database.sql("UPDATE strategic_directives_v2 SET claiming_session_id = NULL");
    until(&mut collector, "no claim", |snapshot| is_read(snapshot) && !has_claim(snapshot));
}

#[test]
fn a_channel_tells_at_once() {
    let database = Database::new();
    database.sql(
        "CREATE FUNCTION tell() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN PERFORM pg_notify('leo_changes', ''); \
         RETURN NULL; END $$; CREATE TRIGGER tell AFTER INSERT OR UPDATE ON claude_sessions EXECUTE FUNCTION tell()",
    );
    let mut collector = collector(database.target());
    collector.follow_servers();
    until(&mut collector, "a read", is_read);
    dead_claim(&database, SESSION, "SD-ONE-001");
    until(&mut collector, "a claim", has_claim);
}

#[test]
fn a_lost_connection_makes_everything_unknown_and_comes_back_by_itself() {
    let cluster: &'static Cluster = Box::leak(Box::new(Cluster::start()));
    cluster.psql("postgres", "CREATE DATABASE leo");
    cluster.psql("leo", include_str!("schema.sql"));
    let database = Database { cluster, name: "leo".to_owned() };
    dead_claim(&database, SESSION, "SD-ONE-001");
    let mut collector = collector(database.target());
    collector.follow_servers();
    until(&mut collector, "a claim", has_claim);
    cluster.stop();
    let lost = until(&mut collector, "a loss", |snapshot| badge(snapshot).0 == SourceState::Failed);
    assert!(badge(&lost).1.contains("its rows are"), "{}", badge(&lost).1);
    let report = assess(&lost, &Policy { signatures: Signatures::built_in().unwrap() });
    assert!(!report.claims.is_empty(), "what was read last is still shown");
    assert!(report.records().all(|record| record.verdict.state == VerdictState::Unknown));
    assert!(report.claims.iter().all(|claim| claim.status != ClaimStatus::Dead));
    cluster.restart();
    until(&mut collector, "a claim again", has_claim);
    cluster.end();
}
