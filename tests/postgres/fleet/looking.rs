//! Every command that looks reads the `[fleet]` of the configuration, unless `--here` is given; status bars and
//! agents' hooks wait for no database.

use std::io::ErrorKind;
use std::net::TcpListener;
use std::process::Command;

use serde_json::{Value, json};

use crate::cluster::Database;
use crate::fleet::login::Login;
use crate::fleet::machine::{Machine, Running, far_records, text, until};
use crate::fleet::stage::{Host, fleet};

/// A host with a dead claim, and a machine whose configuration names the fleet.
struct Stage {
    database: Database,
    host: Machine,
    viewer: Machine,
    _witness: Running,
    /// The record that the host has left, as the viewer names it.
    left: String,
}

impl Stage {
    fn new() -> Self {
        let (host, viewer) = (Machine::new("one"), Machine::empty());
        let database = fleet();
        host.configure("team = 'core'");
        let witness = host.witness(&database.url_of("alice", database.cluster.port));
        viewer.configure(&format!("url = '{}'", database.url_of("vera", database.cluster.port)));
        let left = until("what the host has left", || {
            far_records(&json_of(&viewer.run(&["ls", "--json"]).stdout)).pop()
        });
        Self { database, host, viewer, _witness: witness, left }
    }

    fn name(&self) -> &str {
        self.left.split_once('@').unwrap().1
    }

    #[track_caller]
    fn check(&self, arguments: &[&str], code: i32, part: &str) -> String {
        let output = self.viewer.run(arguments);
        let said = text(&output);
        assert!(output.status.code() == Some(code) && said.contains(part), "{arguments:?}: {said}");
        said
    }
}

fn json_of(bytes: &[u8]) -> Value {
    serde_json::from_slice(bytes).unwrap_or_default()
}

#[test]
fn every_command_that_looks_looks_at_the_fleet_of_the_configuration() {
    let stage = Stage::new();
    let at = format!("@{}", stage.name());
    let left = stage.left.as_str();
    stage.check(&["ls", "sessions"], 0, &at);
    stage.check(&["ls", "problems"], 0, "dead-holder");
    stage.check(&["doctor"], 1, &format!("claimtop release '{left}' --dry-run"));
    let says = format!("on {}: ", stage.name());
    stage.check(&["now"], 0, &says);
    let now = json_of(&stage.viewer.run(&["now", "--json"]).stdout);
    assert!(now["needs"][0]["says"].as_str().is_some_and(|text| text.starts_with(&says)), "{now}");
    stage.check(&["leftovers"], 0, "");
    stage.check(&["report"], 0, "dead-holder");
    stage.check(&["explain", left], 0, left);
    stage.check(&["machines"], 0, stage.name());
    // Without a terminal it says what needs a person.
    stage.check(&[], 0, &says);
    for command in ["ls", "doctor", "now", "leftovers"] {
        let found = json_of(&stage.viewer.run(&[command, "--json"]).stdout);
        assert!(found.get("not_asked").is_none() && found.get("unread_sources").is_none(), "{found}");
    }
}

#[test]
fn here_leaves_the_fleet_out_and_says_so_in_one_line() {
    let stage = Stage::new();
    for command in [&["ls"][..], &["ls", "problems"], &["doctor"], &["now"], &["leftovers"], &["report"], &[]]
    {
        let said =
            stage.check(&[command, &["--here"]].concat(), 0, "Not asked: the fleet in postgres://vera@");
        assert_eq!(said.matches("Not asked").count(), 1, "{said}");
        assert!(!said.contains('✗') && !said.contains(stage.name()), "{command:?}: {said}");
        assert!(!said.to_lowercase().contains("no problem"), "{command:?}: {said}");
    }
    for command in ["ls", "doctor", "now", "leftovers"] {
        let found = json_of(&stage.viewer.run(&[command, "--json", "--here"]).stdout);
        assert!(found["not_asked"][0]["fleet"].as_str().is_some_and(|url| url.contains("vera@")), "{found}");
    }
    // An action queries every machine, and a command for machines cannot leave them out.
    stage.check(&["release", &stage.left, "--here"], 2, "--on names the machines");
    stage.check(&["machines", "--here"], 2, "--here");
}

#[test]
fn a_host_that_is_named_is_looked_at_alone_and_one_that_is_not_there_is_named() {
    let stage = Stage::new();
    let alice = Login::of(&stage.database, "alice");
    let mut other = Host::begun(&alice, Some("core"));
    other.beat(&alice, Some(&json!([["look", "", {"at": "2026-11-20T10:00:00Z"}]])), None);
    let names = |arguments: &[&str]| {
        let found = json_of(&stage.viewer.run(&[&["ls", "--json"], arguments].concat()).stdout);
        let machines = found["machines"].as_array().cloned().unwrap_or_default();
        let names: Vec<String> =
            machines.iter().map(|machine| machine["name"].as_str().unwrap().to_owned()).collect();
        (names, found["not_asked"].clone())
    };
    let all = until("both", || Some(names(&[]).0).filter(|all| all.len() == 2));
    assert_eq!(names(&["--on", "all"]), (all, Value::Null));
    let (named, left_out) = names(&["--on", stage.name()]);
    assert_eq!(named, [stage.name()]);
    assert!(left_out[0]["other-hosts"].is_string(), "{left_out}");
    let why = "nowhere: your login sees no such host in the fleet";
    let said = stage.check(&["ls", "--on", "nowhere"], 4, why);
    assert!(said.contains("an SSH host is ssh:nowhere"), "{said}");
    // A printed command finds it again.
    let said = stage.check(&["explain", &stage.left, "--on", &other.name], 0, &stage.left);
    assert!(said.contains("Not asked: the other hosts in"), "{said}");
}

#[test]
fn a_database_that_does_not_answer_is_named_and_nothing_is_said_to_be_well() {
    let stage = Stage::new();
    stage.viewer.configure("url = 'postgres://vera@127.0.0.1:1/none'");
    for command in [&["ls"][..], &["doctor"], &["now"], &["leftovers"], &["report"]] {
        let said = stage.check(command, 4, "machine:fleet: ");
        assert!(!said.to_lowercase().contains("no problem"), "{command:?}: {said}");
    }
    let found = json_of(&stage.viewer.run(&["doctor", "--json"]).stdout);
    assert_eq!(found["unread_sources"][0]["id"], "machine:fleet", "{found}");
    // A login that may only publish gets an error that names the missing right.
    stage
        .viewer
        .configure(&format!("url = '{}'", stage.database.url_of("alice", stage.database.cluster.port)));
    stage.check(&["doctor"], 4, "grant it claimtop_view");
    assert!(stage.host.record().exists());
}

#[test]
fn a_command_that_is_printed_works_as_it_stands() {
    let stage = Stage::new();
    stage.host.configure("team = 'core'\naccept = 'dead-only'");
    drop(stage._witness);
    let alice = stage.database.url_of("alice", stage.database.cluster.port);
    let _witness = stage.host.witness(&alice);
    let oscar = stage.database.url_of("oscar", stage.database.cluster.port);
    let url = format!("url = '{oscar}'");
    for (configured, given) in [(url.as_str(), &[][..]), ("", &["--fleet", oscar.as_str()])] {
        stage.viewer.configure(configured);
        let said = until("a host that takes orders", || {
            let said = text(&stage.viewer.run(&[&["doctor"], given].concat()));
            let command =
                said.lines().find_map(|line| line.trim().strip_prefix("Command"))?.trim().to_owned();
            // As a shell runs it, in the folders of the test.
            let own = stage.viewer.command(&[]);
            let own = [own.get_program()].into_iter().chain(own.get_args());
            let own: Vec<String> = own.map(|word| format!("'{}'", word.to_str().unwrap())).collect();
            let mut shell = Command::new("sh");
            shell.args(["-c", &format!("claimtop() {{ {} \"$@\"; }}; {command}", own.join(" "))]);
            let output = shell.output().unwrap();
            output.status.success().then(|| (command, text(&output)))
        });
        assert!(
            said.1.contains("Machine") && said.1.contains(stage.left.split('@').nth(1).unwrap()),
            "{said:?}"
        );
    }
}

/// Returns a server that takes connections and never answers, and whether it has taken one.
fn silent() -> (TcpListener, u16) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let port = listener.local_addr().unwrap().port();
    (listener, port)
}

#[test]
fn a_status_bar_shows_what_was_last_known_and_asks_no_database() {
    let stage = Stage::new();
    let line = |arguments: &[&str]| {
        let output = stage.viewer.run(&[&["statusline"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output));
        text(&output)
    };
    let known = line(&[]);
    assert!(known.contains(" · elsewhere ") && known.contains(" ago: 0 windows, 1 dead claim"), "{known}");
    assert!(!line(&["--here"]).contains("elsewhere"));
    // The database exists and does not answer: no command connects to it.
    let (server, port) = silent();
    let fleet = format!("postgres://vera@127.0.0.1:{port}/{}?sslmode=disable", stage.database.name);
    stage.viewer.configure(&format!("url = '{fleet}'"));
    let nothing = line(&[]);
    assert!(!nothing.contains("elsewhere"), "nothing is known of another database: {nothing}");
    for hook in [&["context-id"][..], &["bind"], &["hook", "check"], &["guard", "--for", "claude"]] {
        stage.viewer.run(hook);
    }
    assert_eq!(server.accept().unwrap_err().kind(), ErrorKind::WouldBlock, "somebody has connected");
    // While a look cannot reach it, the last known state stays, marked with its time.
    let url = stage.database.url_of("vera", stage.database.cluster.port);
    stage.viewer.configure(&format!("url = '{url}'"));
    let Database { cluster, name } = &stage.database;
    cluster.psql("postgres", &format!("ALTER DATABASE {name} ALLOW_CONNECTIONS false"));
    stage.check(&["ls"], 4, "machine:fleet: ");
    let known = line(&[]);
    assert!(known.contains(" ago: 0 windows, 1 dead claim, 1 machine not seen"), "{known}");
}
