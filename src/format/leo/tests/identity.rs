//! Markers, pointers, ticks and the identity lock.

use std::sync::Arc;

use super::*;
use crate::core::model::{Binding, Code};

fn marker(cc_pid: &str) -> String {
    format!(
        r#"{{"session_id": "{UUID}", "sse_port": "39623", "cc_pid": {cc_pid}, "source": "startup",
            "model": "claude-opus-4-7", "captured_at": "2026-11-20T21:12:07.926Z"}}"#
    )
}

#[test]
fn only_the_windows_walk_is_sure_to_have_found_the_agent() {
    let expected =
        |role| format!("Marker Current 'marker of a PID' context - session {UUID} holder 12832/{role} []");
    check(IDENTITY, "pid-12832.json", &marker("12832"), &expected("Unknown"));
    check(IDENTITY, "pid-12832.json", &marker("\"12832\""), &expected("Agent"));
    check(IDENTITY, "pid-12832.json", &marker("null"), &expected("Unknown"));
    let record = record(IDENTITY, "pid-12832.json", &marker("12832"));
    assert_eq!(record.holder.as_ref().map(|holder| holder.binding), Some(Binding::Marker));
    assert_eq!(record.started_at, "2026-11-20T21:12:07.926Z".parse().ok());
    insta::assert_snapshot!(facts(&record), @r"
    source: startup
    model: claude-opus-4-7
    sse port: 39623
    clean-up: the next start of a session here removes it once its PID is dead
    ");
}

#[test]
fn a_marker_that_contradicts_its_name_is_split() {
    let told = |name: &str, json: &str| {
        let record = record(IDENTITY, name, json);
        let codes: Vec<Code> = record.problems.iter().map(|problem| problem.code).collect();
        (codes, problems(&record))
    };
    assert_eq!(
        told("pid-99.json", &marker("12832")),
        (vec![Code::IdentitySplit], "the file is named for PID 99 but states PID 12832".to_owned())
    );
    let other = "1b8f4c1e-2d3a-4f5b-9c6d-7e8f9a0b1c2d";
    assert_eq!(
        told(&format!("{other}.json"), &marker("12832")),
        (vec![Code::IdentitySplit], format!("the file is named for {other} but states {UUID}"))
    );
    assert_eq!(told("pid-012832.json", &marker("12832")), (vec![], String::new()));
    assert_eq!(told("port-39623.json", &marker("12832")), (vec![], String::new()));
}

#[test]
fn a_marker_names_a_session_or_is_told() {
    let nil = r#"{"session_id": "00000000-0000-0000-0000-000000000000", "cc_pid": 1}"#;
    let expected =
        "Marker Current 'marker of a PID' context - session - holder bad/Unknown [unknown-session]";
    check(IDENTITY, "pid-1.json", nil, expected);
    check(
        IDENTITY,
        "pid-x.json",
        "{}",
        "Marker Current 'marker of a PID' context - session - holder - [unknown-session]",
    );
}

#[test]
fn a_fallback_names_a_terminal_and_a_helper() {
    let json = r#"{"session_id":"win-fallback-39623-13566-0fb790c5","sse_port":"39623","pid":13566,
        "created_at":"2026-11-20T21:13:17.665Z","source":"pid-fallback-stabilizer"}"#;
    check(
        IDENTITY,
        "fallback-39623-13566.json",
        json,
        "Marker Current 'fallback marker' context win-fallback-39623-13566-0fb790c5 \
         session win-fallback-39623-13566-0fb790c5 holder 13566/Hook []",
    );
    let record = record(IDENTITY, "fallback-39623-13566.json", json);
    assert_eq!(record.started_at, "2026-11-20T21:13:17.665Z".parse().ok());
    assert!(facts(&record).ends_with("clean-up: swept only by the rule that keeps the 5 newest"));
}

#[test]
fn the_current_session_is_bare_or_an_object() {
    let expected = format!("Pointer Current 'current session' context - session {UUID} holder - []");
    check(IDENTITY, "current", UUID, &expected);
    check(IDENTITY, "current", &format!("\u{feff} {UUID}\n"), &expected);
    check(IDENTITY, "current", &format!(r#"{{"session_id": "{UUID}"}}"#), &expected);
    let unknown = "Pointer Current 'current session' context - session - holder - [unknown-session]";
    check(IDENTITY, "current", "two words", unknown);
    check(IDENTITY, "current", "{}", unknown);
    check(IDENTITY, "current", " \n", "broken: the file is empty");
    check(IDENTITY, "current", "{\"session_id\"", "broken: the JSON breaks off at line 1 column 13");
}

#[test]
fn leo_breaks_an_identity_lock_after_30_seconds() {
    let json = r#"{"pid":4242,"at":"2026-11-20T21:46:00.000Z"}"#;
    check(IDENTITY, ".lock", json, "Lock Current 'identity lock' context - session - holder 4242/Hook []");
    let lock = record(IDENTITY, ".lock", json);
    let expiry = lock.expiry.map(|expiry| (expiry.at.to_string(), expiry.rule));
    assert_eq!(expiry, Some(("2026-11-20T21:46:30Z".to_owned(), "lock older than 30 s")));
}

#[test]
fn a_temporary_is_a_leftover_after_a_minute() {
    let name = "current.tmp.4242.1763673127926";
    let codes = |age| {
        let record = testing::record(parse(IDENTITY, name, b"{\"cut", age));
        record.problems.iter().map(|problem| problem.code).collect::<Vec<_>>()
    };
    assert_eq!(codes(59), []);
    assert_eq!(codes(61), [Code::LeftoverTemp]);
}

fn tick(parent: &str) -> String {
    format!(
        r#"{{"session_id": "{UUID}", "tick_pid": 12846, "cc_parent_pid": {parent},
            "started_at": "2026-11-20T21:12:08.082Z", "hostname": "vm"}}"#
    )
}

#[test]
fn a_tick_ties_its_session_to_the_agent() {
    let name = format!("tick-{UUID}.json");
    check(
        PIDS,
        &name,
        &tick("12832"),
        &format!("Tick Current 'tick' context - session {UUID} holder 12832/Unknown []"),
    );
    let tick = record(PIDS, &name, &tick("12832"));
    let holder = tick.holder.as_ref().expect("a tick has a holder");
    assert_eq!((holder.binding, holder.host()), (Binding::Tick, Some(&"vm".into())));
    assert_eq!((tick.heartbeat_at, tick.expiry.is_none()), (None, true));
    assert_eq!(facts(&tick), "tick pid: 12846");
}

#[test]
fn a_tick_that_adopted_itself_watches_no_agent() {
    let record = record(PIDS, &format!("tick-{UUID}.json"), &tick("12846"));
    assert!(testing::summary(&FileContents::Record(Arc::new(record.clone()))).contains("12846/Daemon"));
    assert!(facts(&record).contains("watches itself"));
    check(
        PIDS,
        "tick-x.json",
        &tick("null"),
        &format!("Tick Current 'tick' context - session {UUID} holder - [identity-split]"),
    );
}

#[test]
fn the_coordinator_must_be_an_object() {
    let name = "active-coordinator.json";
    check(
        CLAUDE,
        name,
        &format!(r#"{{"session_id": "{UUID}", "started_at": "2026-11-20T21:00:00Z", "host": "vm"}}"#),
        &format!("Pointer Current 'active coordinator' context - session {UUID} holder - []"),
    );
    check(
        CLAUDE,
        name,
        &format!("\"{UUID}\""),
        "broken: a bare JSON value where an object belongs; LEO takes that to mean no coordinator, \
         and its sessions work without one",
    );
    check(
        CLAUDE,
        name,
        r#"{"session_id": "00000000-0000-0000-0000-000000000000"}"#,
        "Pointer Current 'active coordinator' context - session - holder - [unknown-session]",
    );
    let torn = testing::broken(parse(CLAUDE, name, b"{", 0)).problem;
    assert_eq!(torn.code, Code::TornRecord);
}

#[test]
fn a_fleet_identity_is_named_by_its_session() {
    let json = r#"{"color":"purple","callsign":"Coord","display_name":"Coordinator","role":true,
        "assigned_at":"2026-11-20T21:13:18.664Z"}"#;
    let name = format!("fleet-identity-{UUID}.json");
    check(
        CLAUDE,
        &name,
        json,
        &format!("Metadata Current 'fleet identity' context - session {UUID} holder - []"),
    );
    let of_session = record(CLAUDE, &name, json);
    assert_eq!(of_session.title.raw(), "Coordinator");
    assert_eq!(facts(&of_session), "callsign: Coord\ncolour: purple\nhas a role: true");
    assert_eq!(record(CLAUDE, &name, r#"{"callsign": "Alpha"}"#).title.raw(), "Alpha");
    assert_eq!(record(CLAUDE, &name, "{}").title.raw(), UUID);
    check(
        CLAUDE,
        "fleet-identity-a b.json",
        "{}",
        "Metadata Current 'fleet identity' context - session - holder - [unknown-session]",
    );
    check(
        CLAUDE,
        "fleet-identity.json",
        json,
        "Metadata Legacy 'shared fleet identity' context - session - holder - [legacy-record]",
    );
}
