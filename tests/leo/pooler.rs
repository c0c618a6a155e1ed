//! A pooler in front of the server, as Supabase has one on port 6543: each transaction is given to
//! whichever connection is free, and nothing of one outlives it.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use claimtop::core::model::SourceState;
use claimtop::source::postgres::{Given, Target};
use claimtop::testing::core::Ended;

use crate::client::Session;
use crate::cluster::{Cluster, Database, as_user, owned, path};
use crate::following::until;
use crate::reading::{badge, collector, look};
use crate::stage::{Claimtop, dead_claim, surfaces};

const SESSION: &str = "11111111-2222-4333-8444-555555555555";
const ITEM: &str = "SD-ONE-001";

/// A PgBouncer of the test's own, with two connections for everybody.
struct Pooler {
    port: u16,
    /// Ends it when its standard input is closed, also by our own end.
    keeper: Child,
    _folder: tempfile::TempDir,
}

impl Pooler {
    fn start(cluster: &Cluster) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        std::fs::write(folder.path().join("users"), "\"leo\" \"\"\n").unwrap();
        std::fs::write(folder.path().join("settings"), settings(folder.path(), port, cluster.port)).unwrap();
        let server = as_user(&format!("exec pgbouncer -q {}/settings", folder.path().display()));
        let script = format!(
            "{}; {server} & server=$!; cat >/dev/null; kill -INT $server; wait $server",
            owned(folder.path())
        );
        let mut keeper = Command::new("sh");
        keeper.args(["-c", &script]).env("PATH", format!("{}:/usr/sbin", path()));
        let keeper =
            keeper.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
        let pooler = Self { port, keeper, _folder: folder };
        pooler.wait();
        pooler
    }

    #[track_caller]
    fn wait(&self) {
        for _ in 0..400 {
            if TcpStream::connect(("127.0.0.1", self.port)).is_ok() {
                return;
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        panic!("pgbouncer does not answer; tests/run installs it");
    }

    fn target(&self, database: &Database) -> Target {
        Target::parse(&database.url_of("leo", self.port), Given::default()).unwrap()
    }
}

impl Drop for Pooler {
    fn drop(&mut self) {
        drop(self.keeper.stdin.take());
        let _ = self.keeper.wait();
    }
}

fn settings(folder: &Path, port: u16, server: u16) -> String {
    let folder = folder.display();
    format!(
        "[databases]\n* = host=127.0.0.1 port={server}\n[pgbouncer]\nlisten_addr = 127.0.0.1\nlisten_port = {port}\n\
         unix_socket_dir =\nauth_type = trust\nauth_file = {folder}/users\npool_mode = transaction\n\
         default_pool_size = 2\nlogfile = {folder}/log\npidfile = {folder}/pid\n"
    )
}

#[test]
fn a_database_behind_a_pooler_is_read_and_followed() {
    let database = Database::new();
    let pooler = Pooler::start(database.cluster);
    dead_claim(&database, SESSION, ITEM);
    let has_claim = |snapshot: &claimtop::core::model::Snapshot| {
        badge(snapshot).0 == SourceState::Ok
            && snapshot.records.iter().any(|record| !record.claims.is_empty())
    };
    let snapshot = look(pooler.target(&database));
    assert!(has_claim(&snapshot), "{:?}", badge(&snapshot));
    // More look at once than there are connections.
    std::thread::scope(|scope| {
        for _ in 0..6 {
            scope.spawn(|| {
                let mut followed = collector(pooler.target(&database));
                followed.follow_servers();
                until(&mut followed, "a claim", has_claim);
                for _ in 0..5 {
                    let snapshot = look(pooler.target(&database));
                    assert!(has_claim(&snapshot), "{:?}", badge(&snapshot));
                }
            });
        }
    });
    let mut followed = collector(pooler.target(&database));
    followed.follow_servers();
    until(&mut followed, "a claim", has_claim);
    database.sql(&format!("SELECT release_sd('{SESSION}')"));
    until(&mut followed, "no claim", |snapshot| badge(snapshot).0 == SourceState::Ok && !has_claim(snapshot));
}

#[test]
fn a_release_behind_a_pooler_is_one_transaction_and_leaves_no_setting_behind() {
    let database = Database::new();
    let pooler = Pooler::start(database.cluster);
    let target = || pooler.target(&database);
    let mut claimtop = Claimtop::with(target(), target());
    for _ in 0..3 {
        dead_claim(&database, SESSION, ITEM);
        let receipt = claimtop.release(SESSION).unwrap();
        assert_eq!(receipt.outcome.ended, Ended::Done, "{}", receipt.outcome.detail);
        assert_eq!(surfaces(&database, ITEM), "-|-|in_progress");
        let undone = claimtop.undo(receipt.entry).unwrap();
        assert_eq!(undone.outcome.ended, Ended::Done, "{}", undone.outcome.detail);
        assert_eq!(surfaces(&database, ITEM), format!("{SESSION}|{SESSION}|in_progress"));
    }
    // What the next client of the pooler is given.
    let other = Session::connect_at(&database.url_of("leo", pooler.port));
    for setting in ["lock_timeout", "statement_timeout", "idle_in_transaction_session_timeout"] {
        assert_eq!(other.sql(&format!("SHOW {setting}")).as_deref(), Some("0"), "{setting}");
    }
    let names = other.sql("SELECT count(*)::text FROM pg_prepared_statements");
    assert_eq!(names.as_deref(), Some("0"));
}
