//! Following a database by its changes always gives the result of a whole read.

use claimtop::core::model::{Location, Snapshot};
use claimtop::source::database::postgres::{ConnectionDefaults, Target};
use claimtop::testing::observe::Collector;

use crate::cluster::Database;
use crate::leo::client::Session;
use crate::leo::following::{is_read, until};
use crate::leo::proxy::{Proxy, Way};
use crate::leo::reading::{badge, collector, look};

/// How many sessions there are, each with a claim.
const SESSIONS: usize = 300;

fn filled() -> Database {
    let database = Database::new();
    database.sql(&format!(
        "INSERT INTO strategic_directives_v2 (sd_key, title, status, claiming_session_id)
           SELECT 'SD-' || n, 'One of many', 'in_progress', 'session-' || n FROM generate_series(1, {SESSIONS}) n;
         INSERT INTO strategic_directives_v2 (sd_key, title, status) VALUES ('SD-DRAFT', 'Not begun', 'draft');
         INSERT INTO claude_sessions (session_id, sd_key, track, pid, hostname, heartbeat_at)
           SELECT 'session-' || n, 'SD-' || n, 'A', 100000 + n, 'host', '2026-11-20 10:00:30' FROM generate_series(1, {SESSIONS}) n"
    ));
    database
}

/// Returns all that a look reports of the database, in a fixed order. Each read estimates the two clocks itself, so
/// times count by the minute.
fn said(snapshot: &Snapshot) -> Vec<String> {
    let records = snapshot.records.iter().map(|record| {
        let Location::Row(row) = &record.location else { return String::new() };
        let claims: Vec<_> =
            record.claims.iter().map(|claim| (&claim.resource.id, &claim.surfaces)).collect();
        let beat = record.heartbeat_at.map(|at| at.as_second() / 60);
        format!("{} {} {beat:?} {claims:?} {:?}", row.table, row.id, record.has_ended)
    });
    let work = snapshot.databases.iter().flat_map(|database| database.work.iter());
    let work = work.map(|item| format!("{} {} {:?} {:?}", item.key, item.status, item.owner, item.mirrors));
    let mut all: Vec<String> = records.chain(work).collect();
    all.sort();
    all
}

#[track_caller]
fn check(followed: &mut Collector, database: &Database, change: &str) {
    if !change.is_empty() {
        database.sql(change);
    }
    let wanted = said(&look(database.target()));
    until(followed, change, |snapshot| is_read(snapshot) && said(snapshot) == wanted);
}

#[test]
fn what_is_followed_is_what_a_whole_read_gives() {
    let database = filled();
    let mut followed = collector(database.target());
    followed.follow_servers();
    let slow = Session::connect(&database);
    slow.sql("BEGIN; UPDATE claude_sessions SET heartbeat_at = '2026-11-20 10:09:30' WHERE session_id = 'session-7'");
    for change in [
        "",
        "UPDATE claude_sessions SET heartbeat_at = '2026-11-20 10:09:30' WHERE session_id = 'session-1'",
        "INSERT INTO quick_fixes VALUES ('QF-20261120-001', 'x', 'in_progress', 'session-2')",
        // It is gone; then one has gone while another has come.
        "DELETE FROM claude_sessions WHERE session_id = 'session-3'",
        "DELETE FROM claude_sessions WHERE session_id = 'session-4'; \
         INSERT INTO claude_sessions (session_id, sd_key, heartbeat_at) VALUES ('session-new', 'SD-4', '2026-11-20 10:00:30')",
        // It is not relevant any more, by its own row and by another one.
        "UPDATE strategic_directives_v2 SET status = 'completed', claiming_session_id = NULL WHERE sd_key = 'SD-5'; \
         UPDATE claude_sessions SET status = 'released', sd_key = NULL WHERE session_id = 'session-5'",
        // It becomes relevant, although nothing was written to it.
        "UPDATE claude_sessions SET sd_key = 'SD-DRAFT' WHERE session_id = 'session-6'",
        "UPDATE strategic_directives_v2 SET sd_key = 'SD-RENAMED' WHERE sd_key = 'SD-8'",
    ] {
        check(&mut followed, &database, change);
    }
    // It was begun before all of this, and is committed after it.
    slow.sql("COMMIT");
    check(&mut followed, &database, "");
    check(&mut followed, &database, "TRUNCATE claude_sessions, file_claim_locks");
}

#[test]
fn a_change_costs_its_own_rows_and_not_all() {
    let database = filled();
    let proxy = Proxy::start(database.cluster.port);
    let target = Target::parse(&database.url_of("leo", proxy.port), ConnectionDefaults::default()).unwrap();
    let mut followed = collector(target);
    followed.follow_servers();
    check(&mut followed, &database, "");
    let read = || proxy.steps().iter().filter(|(way, _)| *way == Way::Down).map(|(_, at)| *at).max().unwrap();
    let whole = read();
    check(
        &mut followed,
        &database,
        "UPDATE claude_sessions SET heartbeat_at = '2026-11-20 10:09:30' WHERE session_id = 'session-1'",
    );
    let change = read() - whole;
    assert!(change < whole / 4, "{change} bytes after {whole}");
}

#[test]
fn a_table_without_the_servers_marks_is_read_whole() {
    let database = filled();
    database.sql("ALTER TABLE quick_fixes RENAME TO fixes; CREATE VIEW quick_fixes AS SELECT * FROM fixes");
    let mut followed = collector(database.target());
    followed.follow_servers();
    check(&mut followed, &database, "");
    check(
        &mut followed,
        &database,
        "UPDATE fixes SET status = 'open'; DELETE FROM claude_sessions WHERE pid = 100001",
    );
    assert!(badge(&followed.look()).1.contains("connected"));
}
