//! Reading a real database, and the resulting report.

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Snapshot, SourceState};
use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::source::places::Places;
use claimtop::testing::observe::Collector;

use crate::cluster::Database;

/// Takes one look with a target and nothing else.
pub(crate) fn look(target: Target) -> Snapshot {
    collector(target).look()
}

/// Prepares looks with a target and nothing else.
pub(crate) fn collector(target: Target) -> Collector {
    let empty = tempfile::tempdir().unwrap();
    let places = Places {
        tmp: empty.path().join("tmp"),
        home: empty.path().join("home"),
        bindings: empty.path().join("home/notes"),
        copies: empty.path().join("home/copies"),
        confined: true,
        follows_homes: false,
        here: None,
        programs: Vec::new(),
        leo_database: Some(target),
        ..Places::default()
    };
    Collector::new(places, Signatures::built_in().unwrap())
}

/// Returns the badge of the database.
#[track_caller]
pub(crate) fn badge(snapshot: &Snapshot) -> (SourceState, String) {
    let source = snapshot.sources.iter().find(|source| source.id.starts_with("leo:")).unwrap();
    (source.state, source.detail.raw().to_owned())
}

const SESSION: &str = "11111111-2222-4333-8444-555555555555";

fn claimed(database: &Database) {
    database.sql(&format!(
        "INSERT INTO strategic_directives_v2 (sd_key, title, status) VALUES ('SD-ONE-001', 'One', 'in_progress');
         SELECT create_or_replace_session('{SESSION}', 'm', '{SESSION}', null, 4242, 'far', 'EHG');
         SELECT claim_sd('SD-ONE-001', '{SESSION}', 'A')"
    ));
}

#[test]
fn a_claim_is_read_with_both_surfaces() {
    let database = Database::new();
    claimed(&database);
    let snapshot = look(database.target());
    let (state, detail) = badge(&snapshot);
    assert_eq!(state, SourceState::Ok, "{detail}");
    assert!(snapshot.databases.iter().any(|found| found.is_complete));
    let claims: Vec<String> = snapshot
        .records
        .iter()
        .flat_map(|record| record.claims.iter())
        .map(|claim| format!("{} {:?}", claim.resource.id, claim.surfaces))
        .collect();
    assert_eq!(claims.len(), 1, "{claims:?}");
    assert_eq!(claims[0].matches("Agrees").count(), 2, "{claims:?}");
}

#[test]
fn an_older_deployment_is_read_under_its_old_names() {
    let database = Database::new();
    claimed(&database);
    database.sql(
        "ALTER TABLE claude_sessions RENAME sd_key TO sd_id; DROP TABLE quick_fixes, file_claim_locks, \
         session_coordination CASCADE; ALTER TABLE claude_sessions DROP COLUMN process_alive_at",
    );
    let snapshot = look(database.target());
    assert_eq!(badge(&snapshot).0, SourceState::Ok);
    let claims: usize = snapshot.records.iter().map(|record| record.claims.len()).sum();
    assert_eq!(claims, 1);
}

#[test]
fn a_role_that_may_only_read_reads_everything() {
    let database = Database::new();
    claimed(&database);
    database.sql(
        "DO $$ BEGIN CREATE ROLE reader LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$;
         ALTER ROLE reader SET default_transaction_read_only = on;
         GRANT SELECT ON ALL TABLES IN SCHEMA public TO reader",
    );
    let url = database.url_of("reader", database.cluster.port);
    let snapshot = look(Target::parse(&url, ConnectionDefaults::default()).unwrap());
    let (state, detail) = badge(&snapshot);
    assert!(state == SourceState::Ok && detail.contains("read-only"), "{state:?} {detail}");
}

#[test]
fn a_deployment_that_hands_out_another_sessions_id_is_recognised() {
    let database = Database::new();
    assert!(!badge(&look(database.target())).1.contains("take over"));
    database.sql(
        "CREATE FUNCTION create_or_replace_session(p_session_id text) RETURNS jsonb LANGUAGE sql AS \
         $$ SELECT jsonb_build_object('success', true, 'conflict', true, 'conflict_session_id', 'other') $$",
    );
    let (state, detail) = badge(&look(database.target()));
    assert!(detail.contains("a clashing session is handed the other's ID"), "{state:?} {detail}");
}

#[test]
fn more_rows_than_are_read_drive_nothing() {
    let database = Database::new();
    database.sql(
        "WITH keeper AS (INSERT INTO claude_sessions (session_id) VALUES ('session-keeper') RETURNING id) \
         INSERT INTO file_claim_locks (file_path, holder_session_id) \
         SELECT n::text, keeper.id FROM keeper, generate_series(1, 50001) n",
    );
    claimed(&database);
    let snapshot = look(database.target());
    let (state, detail) = badge(&snapshot);
    assert!(state == SourceState::Partial && detail.contains("more than 50000 rows"), "{state:?} {detail}");
    assert!(snapshot.databases.iter().all(|found| !found.is_complete));
}

#[test]
fn a_server_that_does_not_answer_is_a_failed_source_and_kills_nothing() {
    let database = Database::new();
    let url = database.url_of("leo", 1);
    let snapshot = look(Target::parse(&url, ConnectionDefaults::default()).unwrap());
    let (state, detail) = badge(&snapshot);
    assert!(state == SourceState::Failed && detail.contains("refused"), "{state:?} {detail}");
    assert!(snapshot.databases.iter().all(|found| !found.is_complete));
}
