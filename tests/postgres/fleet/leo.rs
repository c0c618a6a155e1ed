//! A row of LEO's that names a process of another host, if the fleet shares LEO's database: that host's witness judges
//! it.

use std::process::Command;

use serde_json::{Value, json};

use crate::cluster::Database;
use crate::fleet::login::Login;
use crate::fleet::machine::{Machine, text};
use crate::fleet::stage::{Host, fleet};

const SESSION: &str = "a1000000-0000-4000-8000-000000000001";

/// Returns a window that runs this session, as a witness reports it.
fn window() -> Value {
    let demo =
        Command::new(env!("CARGO_BIN_EXE_claimtop")).args(["demo", "--once", "--json"]).output().unwrap();
    let report: Value = serde_json::from_slice(&demo.stdout).unwrap();
    let mut window = report["windows"][0].clone();
    window["session_id"] = json!(SESSION);
    window["key"] = json!("w-00000001");
    (window["records"], window["claims"]) = (json!([]), json!([]));
    window
}

/// Lets a host of that name report a window, or none.
fn tell(host: &mut Host, alice: &Login, window: &Value) {
    let changes = json!([["window", "w-00000001", window], ["look", "", {"at": "2026-11-20T10:00:00Z"}]]);
    assert_eq!(host.beat(alice, Some(&changes), None)["outcome"], "ok");
}

/// Asks for the plan to release the item, with the fleet or without it; returns its confirmation.
#[track_caller]
fn confirmation(database: &Database, machine: &Machine, with: &[&str]) -> Value {
    let leo = database.url_of("leo", database.cluster.port);
    let listed = machine.run(&["ls", "--json", "--postgres", &leo]);
    let listed: Value = serde_json::from_slice(&listed.stdout).unwrap();
    let claims = listed["claims"].as_array().unwrap();
    let claim = claims.iter().find(|claim| claim["resource"]["id"] == "SD-SHOP-001").unwrap();
    let key = claim["key"].as_str().unwrap();
    let plan = machine.run(&[&["release", key, "--dry-run", "--json", "--postgres", &leo], with].concat());
    let told: Value = serde_json::from_slice(&plan.stdout).unwrap_or_else(|_| panic!("{}", text(&plan)));
    told["plans"][0]["confirmation"].clone()
}

#[test]
fn what_runs_on_another_host_is_judged_by_that_host_in_reading_and_before_a_release() {
    let database = fleet();
    database.sql(&format!(
        "INSERT INTO strategic_directives_v2 (sd_key, title, status, claiming_session_id, updated_at)
           VALUES ('SD-SHOP-001', 'Shop', 'in_progress', '{SESSION}', now() - interval '1 hour');
         INSERT INTO claude_sessions (session_id, sd_key, track, pid, hostname, terminal_id, status, claimed_at, heartbeat_at)
           VALUES ('{SESSION}', 'SD-SHOP-001', 'A', 4242, 'far', '{SESSION}', 'active',
             now() - interval '2 hours', now() - interval '1 hour')"
    ));
    let alice = Login::of(&database, "alice");
    let (mut host, window) = (Host::begun(&alice, Some("core")), window());
    tell(&mut host, &alice, &window);
    let machine = Machine::new("here");
    let url = database.url_of("oscar", database.cluster.port);

    let leo = database.url_of("leo", database.cluster.port);
    let seen = machine.run(&["ls", "--json", "--postgres", &leo, "--fleet", &url]);
    let seen: Value = serde_json::from_slice(&seen.stdout).unwrap();
    let records = seen["records"].as_array().unwrap();
    let row = records.iter().find(|record| record["session_id"] == SESSION).unwrap();
    assert_eq!(row["verdict"]["state"], "alive", "{row}");
    assert_eq!(row["verdict"]["reason"], "witnessed", "{row}");

    // A claim that LEO itself releases because it is of a different host.
    assert_eq!(confirmation(&database, &machine, &[]), "code");
    tell(&mut host, &alice, &window);
    assert_eq!(confirmation(&database, &machine, &["--fleet", &url]), "full-name");
    // A configured fleet is queried as well; while it does not answer, claims that others may hold are left alone.
    machine.configure(&format!("url = '{url}'"));
    tell(&mut host, &alice, &window);
    assert_eq!(confirmation(&database, &machine, &[]), "full-name");
    machine.configure("url = 'postgres://oscar@127.0.0.1:1/none'");
    assert_eq!(
        confirmation(&database, &machine, &[]),
        Value::Null,
        "there is no plan while nobody can say who lives"
    );
    let told = machine.run(&["clean", "--dry-run"]);
    assert!(text(&told).contains("does not answer"), "{}", text(&told));
}
