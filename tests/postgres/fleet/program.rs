//! The program itself: the schema printed, applied, applied again, and taken back.

use std::path::Path;
use std::process::{Command, Output};

use crate::bouncer::Pooler;
use crate::cluster::Database;
use crate::fleet::login::Login;
use crate::fleet::stage::{Host, ROLES};

fn claimtop(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    for name in ["home", "tmp"] {
        std::fs::create_dir_all(folder.join(name)).unwrap();
        command.arg(format!("--{name}")).arg(folder.join(name));
    }
    command.args(arguments).env_remove("PGSSLROOTCERT").output().unwrap()
}

#[track_caller]
fn check(arguments: &[&str], code: i32, part: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let output = claimtop(folder.path(), arguments);
    let text = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    assert!(output.status.code() == Some(code) && text.contains(part), "{arguments:?}: {text}");
    assert!(!text.contains("hush"), "a password was told: {text}");
    text
}

/// Returns everything in a database that is not PostgreSQL's own or LEO's, and the roles of the fleet.
fn left(database: &Database) -> String {
    database.sql(
        "SELECT 'schema ' || nspname FROM pg_namespace WHERE nspname = 'claimtop'
         UNION ALL SELECT 'role ' || rolname FROM pg_roles WHERE rolname LIKE 'claimtop%'
         UNION ALL SELECT 'default ' || defaclobjtype::text FROM pg_default_acl",
    )
}

#[test]
fn it_is_printed_applied_twice_and_taken_back_without_a_rest() {
    let _turn = ROLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // Roles belong to the server: only one without other fleets shows that nothing remains.
    let cluster: &'static crate::cluster::Cluster = Box::leak(Box::new(crate::cluster::Cluster::start()));
    cluster.psql("postgres", "CREATE DATABASE own");
    let database = Database { cluster, name: "own".to_owned() };
    let url = database.url_of("leo:hush", cluster.port);
    let printed = check(&["fleet", "init", &url], 0, "create schema if not exists claimtop");
    assert_eq!(left(&database), "", "printing changes nothing");
    check(&["fleet", "init", &url, "--apply"], 0, "ready for witnesses");
    check(&["fleet", "init", &url, "--apply"], 0, "ready for witnesses");
    database.sql(&printed);
    database.sql("CREATE ROLE alice LOGIN IN ROLE claimtop_witness");
    let alice = Login::of(&database, "alice");
    Host::begun(&alice, None);
    check(&["fleet", "init", &url, "--apply"], 0, "ready for witnesses");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.host"), "1");
    drop(alice);

    check(&["fleet", "drop", &url], 0, "drop schema claimtop");
    assert!(left(&database).contains("schema claimtop"), "printing changes nothing");
    // An object that was built upon it is not dropped with it.
    database.sql("CREATE VIEW public.mine AS SELECT name FROM claimtop.host");
    check(
        &["fleet", "drop", &url, "--apply"],
        4,
        "hint: something else in the database depends on the fleet",
    );
    database.sql("DROP VIEW public.mine");
    check(&["fleet", "drop", &url, "--apply"], 0, "no longer has a fleet");
    check(&["fleet", "drop", &url, "--apply"], 0, "no longer has a fleet");
    assert_eq!(left(&database), "");

    // Another database of the same server has one too.
    cluster.psql("postgres", "CREATE DATABASE beside");
    let beside = Database { cluster, name: "beside".to_owned() };
    for database in [&database, &beside] {
        check(&["fleet", "init", &database.url_of("leo", cluster.port), "--apply"], 0, "ready");
    }
    check(&["fleet", "drop", &url, "--apply"], 0, "stays: another database uses it");
    assert!(left(&database).contains("role claimtop_view") && !left(&database).contains("schema"));

    // Through a pooler, and with a verified certificate.
    let pooler = Pooler::start(cluster, &["leo"]);
    check(&["fleet", "init", &database.url_of("leo", pooler.port), "--apply"], 0, "ready");
    let verified = |root: &str| {
        let root = cluster.folder.join(root);
        format!(
            "postgres://leo@localhost:{}/own?sslmode=verify-full&sslrootcert={}",
            cluster.port,
            root.display()
        )
    };
    check(&["fleet", "drop", &verified("stranger.pem"), "--apply"], 4, "invalid peer certificate");
    check(&["fleet", "drop", &verified("root.pem"), "--apply"], 0, "no longer has a fleet");
}

#[test]
fn why_it_cannot_be_applied_is_told_and_nothing_is_changed() {
    let database = Database::new();
    let url = database.url();
    database.sql("DO $$ BEGIN CREATE ROLE plain LOGIN; EXCEPTION WHEN duplicate_object THEN NULL; END $$");
    let plain = database.url_of("plain", database.cluster.port);
    check(&["fleet", "init", &plain, "--apply"], 4, "hint: use a role that may create schemas");
    check(&["fleet", "init", &url, "--apply", "--read-only"], 3, "nothing is changed");
    check(&["fleet", "init", "mysql://u:hush@h/d", "--apply"], 2, "it must begin with postgres://");
    // A foreign schema of that name.
    database.sql("CREATE SCHEMA claimtop; CREATE TABLE claimtop.precious (a int)");
    check(&["fleet", "init", &url, "--apply"], 4, "is not claimtop's own");
    check(&["fleet", "drop", &url, "--apply"], 4, "is not claimtop's own");
    assert_eq!(database.sql("SELECT count(*) FROM claimtop.precious"), "0");
    database.sql("DROP SCHEMA claimtop CASCADE");
    // A later version.
    let _turn = ROLES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    check(&["fleet", "init", &url, "--apply"], 0, "ready");
    database.sql("INSERT INTO claimtop.version (number) VALUES (2)");
    check(
        &["fleet", "init", &url, "--apply"],
        4,
        "has version 2 of the fleet, and this claimtop knows version 1",
    );
    // Not PostgreSQL, and nothing at all.
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut client in listener.incoming().flatten() {
            let _ = std::io::Write::write_all(&mut client, b"HTTP/1.1 400 Bad Request\r\n\r\n");
        }
    });
    check(&["fleet", "init", &database.url_of("leo", port), "--apply"], 4, "is it a PostgreSQL server");
    check(&["fleet", "init", "postgres://leo@127.0.0.1:1/x", "--apply"], 4, "error connecting to server");
}
