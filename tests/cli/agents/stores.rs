//! Databases that other systems write: issues of beads, reservations of mcp_agent_mail, each read beside an open
//! transaction of its writer and after that has gone.

use std::path::Path;

use rusqlite::Connection;
use serde_json::Value;

use crate::world::World;

/// The reservation tables of mcp_agent_mail's server in Python.
const MAIL: &str = "
    CREATE TABLE projects (id INTEGER PRIMARY KEY, slug VARCHAR(255), human_key VARCHAR(255));
    CREATE TABLE agents (id INTEGER PRIMARY KEY, project_id INTEGER, name VARCHAR(128));
    CREATE TABLE file_reservations (id INTEGER PRIMARY KEY, project_id INTEGER, agent_id INTEGER,
        path_pattern VARCHAR(512), exclusive BOOLEAN, reason VARCHAR(512), created_ts DATETIME,
        expires_ts DATETIME, released_ts DATETIME);
    INSERT INTO agents VALUES (1, 1, 'GreenCastle'), (2, 1, 'BlueLake');";

/// The claim columns of beads' issues table.
const ISSUES: &str = "
    CREATE TABLE issues (id TEXT PRIMARY KEY, title TEXT, status TEXT, assignee TEXT, updated_at DATETIME);
    INSERT INTO issues VALUES ('shop-12', 'Fix login', 'in_progress', 'alice', '2026-11-20 20:00:00'),
        ('shop-13', 'Write tests', 'open', NULL, '2026-11-20 20:00:00'),
        ('shop-14', 'Done', 'closed', 'bob', '2026-11-20 20:00:00');";

/// Makes a database with a write-ahead log, as both systems keep theirs.
fn database(path: &Path, tables: &str) -> Connection {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let database = Connection::open(path).unwrap();
    database.execute_batch(&format!("PRAGMA journal_mode = wal; {tables}")).unwrap();
    database
}

/// Makes a repository in the home.
fn shop(world: &World) -> String {
    world.write("home/shop/.git/HEAD", "ref: refs/heads/main\n");
    std::fs::create_dir_all(world.path("home/shop/.git/objects")).unwrap();
    std::fs::create_dir_all(world.path("home/shop/.git/refs")).unwrap();
    world.path("home/shop").canonicalize().unwrap().to_str().unwrap().to_owned()
}

fn report(world: &World) -> Value {
    let home = world.path("home");
    let answer = world.run(&["ls", "--json", "--root", home.to_str().unwrap()]);
    serde_json::from_str(&answer.out).unwrap_or_else(|_| panic!("{answer:?}"))
}

/// Returns the claims, each as `kind id by where`.
fn held(world: &World) -> Vec<String> {
    let report = report(world);
    let mut held: Vec<String> = report["claims"]
        .as_array()
        .unwrap()
        .iter()
        .map(|claim| {
            let (resource, surface) = (&claim["resource"], &claim["surfaces"][0]["name"]);
            [&resource["kind"], &resource["id"], surface].map(|part| part.as_str().unwrap()).join(" ")
        })
        .collect();
    held.sort();
    held
}

/// Returns the state of a source, with its message.
fn source(world: &World, id: &str) -> String {
    let report = report(world);
    let sources = report["sources"].as_array().unwrap();
    let source = sources.iter().find(|source| source["id"].as_str().unwrap().contains(id)).unwrap();
    format!("{}: {}", source["state"].as_str().unwrap(), source["detail"].as_str().unwrap())
}

fn names(folder: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut names: Vec<String> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn reservations_are_read_from_the_database_and_their_copies_in_the_archive_left_out() {
    let world = World::new();
    let shop = shop(&world);
    let storage = "home/.mcp_agent_mail_git_mailbox_repo";
    let mut mail = database(&world.path(&format!("{storage}/storage.sqlite3")), MAIL);
    mail.execute("INSERT INTO projects VALUES (1, 'shop', ?1)", [&shop]).unwrap();
    mail.execute_batch(
        "INSERT INTO file_reservations VALUES
            (1, 1, 1, 'src/**', 1, 'login', '2026-11-20 20:00:00.000000', '2999-01-01 00:00:00.000000', NULL),
            (2, 1, 2, 'docs/*', 0, '', '2026-11-20 20:00:00', '2999-01-01 00:00:00', '2026-11-20 21:00:00'),
            (3, 1, 2, 'old/*', 0, '', '2020-01-01 20:00:00', '2020-01-01 21:00:00', NULL)",
    )
    .unwrap();
    // The archive has both, and does not know of the release.
    for (id, pattern) in [(1, "src/**"), (2, "docs/*"), (9, "tests/*")] {
        let text = serde_json::json!({ "id": id, "project": shop, "agent": "GreenCastle",
            "path_pattern": pattern, "expires_ts": "2999-01-01T00:00:00Z" });
        world.write(&format!("{storage}/projects/shop/file_reservations/id-{id}.json"), &text.to_string());
    }
    let expected =
        [format!("files {shop}/src/** file_reservations"), format!("files {shop}/tests/* archive")];
    let writing = mail.transaction().unwrap();
    writing.execute("UPDATE file_reservations SET released_ts = expires_ts", []).unwrap();
    assert_eq!(held(&world), expected, "a change that is not committed is none");
    assert_eq!(source(&world, "agent-mail:"), "ok: 1 held");
    drop(writing);
    drop(mail);
    assert_eq!(held(&world), expected, "also when the server has ended");
    assert_eq!(
        names(&world.path(storage)),
        ["projects", "storage.sqlite3"],
        "and nothing was made beside it"
    );

    let record = report(&world)["records"].as_array().unwrap().iter().find_map(|record| {
        (record["location"]["table"] == "file_reservations").then(|| record["key"].clone())
    });
    let home = world.path("home");
    let arguments = [
        "release",
        record.as_ref().unwrap().as_str().unwrap(),
        "--dry-run",
        "--root",
        home.to_str().unwrap(),
    ];
    let told = world.run(&arguments);
    assert_eq!(told.code, 3, "{told:?}");
    assert!((told.out + &told.err).contains("force_release_file_reservation"), "the plan names the way");
}

#[test]
fn a_release_that_only_the_ledger_knows_is_one() {
    let world = World::new();
    let shop = shop(&world);
    let mail = database(&world.path("home/mcp_agent_mail/storage.sqlite3"), MAIL);
    mail.execute("INSERT INTO projects VALUES (1, 'shop', ?1)", [&shop]).unwrap();
    mail.execute_batch(
        "CREATE TABLE file_reservation_releases (reservation_id INTEGER PRIMARY KEY, released_ts INTEGER);
         INSERT INTO file_reservations VALUES
            (1, 1, 1, 'src/**', 1, '', 1795200000000000, 32472144000000000, 0),
            (2, 1, 2, 'docs/*', 0, '', 1795200000000000, 32472144000000000, NULL);
         INSERT INTO file_reservation_releases VALUES (2, 1795200000000001)",
    )
    .unwrap();
    assert_eq!(held(&world), [format!("files {shop}/src/** file_reservations")]);
}

#[test]
fn issues_are_read_from_the_database_and_an_older_export_is_not_asked() {
    let world = World::new();
    shop(&world);
    world.write(
        "home/shop/.beads/issues.jsonl",
        r#"{"id":"shop-14","status":"in_progress","assignee":"bob"}"#,
    );
    std::thread::sleep(std::time::Duration::from_millis(50));
    let mut issues = database(&world.path("home/shop/.beads/beads.db"), ISSUES);
    let writing = issues.transaction().unwrap();
    writing.execute("UPDATE issues SET status = 'closed'", []).unwrap();
    assert_eq!(held(&world), ["task shop-12 issues"]);
    drop(writing);
    drop(issues);
    assert_eq!(held(&world), ["task shop-12 issues"]);
    assert_eq!(source(&world, "beads.db"), "ok: 1 held");
    assert_eq!(names(&world.path("home/shop/.beads")), ["beads.db", "issues.jsonl"]);
    // A line that came later, as by a pull, is not in the database yet.
    world.write(
        "home/shop/.beads/issues.jsonl",
        "{\"id\":\"shop-12\",\"status\":\"in_progress\",\"assignee\":\"alice\"}\n\
         {\"id\":\"shop-99\",\"status\":\"in_progress\",\"assignee\":\"carol\"}\n",
    );
    assert_eq!(held(&world), ["task shop-12 issues", "task shop-99 issues.jsonl"]);
}

#[test]
fn what_is_in_dolt_or_in_no_sound_database_is_told_and_not_taken_for_nothing() {
    let world = World::new();
    shop(&world);
    std::fs::create_dir_all(world.path("home/shop/.beads/dolt")).unwrap();
    assert!(source(&world, ".beads/dolt").starts_with("partial: issues are kept in Dolt"));
    world.write("home/shop/.beads/beads.db", "no database at all, but long enough to be asked");
    assert!(source(&world, "beads.db").starts_with("failed: it is damaged"));
    drop(database(&world.path("home/shop/.beads/notes.db"), "CREATE TABLE notes (id TEXT)"));
    let home = world.path("home");
    let told = world.run(&["ls", "--json", "--root", home.to_str().unwrap()]).out;
    assert!(!told.contains("notes.db"), "another program's database is nothing of beads'");
}
