//! Session files of both generations.

use super::*;
use crate::core::model::Role;

/// A session as the newest code writes it after its first heartbeat.
pub(super) const CONVERSATION: &str = r#"{
  "session_id": "487c6af6-a8cc-45f2-9dfb-6c45eed8934e",
  "machine_id": "858c8397a35585b3",
  "terminal_id": "487c6af6-a8cc-45f2-9dfb-6c45eed8934e",
  "tty": "unknown", "pid": 11497, "hostname": "vm", "codebase": "EHG_Engineer",
  "sd_key": "SD-DEMO-001", "track": "A",
  "claimed_at": "2026-11-20T21:20:00.000Z",
  "heartbeat_at": "2026-11-20T21:40:00.000Z", "created_at": "2026-11-20T21:11:30.526Z",
  "metadata": {"auto_proceed": true, "chain_orchestrators": false},
  "current_branch": "feat/SD-DEMO-001"
}"#;
pub(super) const CONVERSATION_NAME: &str = "487c6af6-a8cc-45f2-9dfb-6c45eed8934e.json";

#[test]
fn a_conversation_is_read_whole() {
    let record = record(SESSIONS, CONVERSATION_NAME, CONVERSATION);
    assert_eq!(record.title.raw(), "SD-DEMO-001");
    assert_eq!(record.context_id.as_ref(), record.terminal_id.as_deref());
    assert_eq!(record.started_at, "2026-11-20T21:11:30.526Z".parse().ok());
    assert_eq!(record.heartbeat_at, "2026-11-20T21:40:00Z".parse().ok());
    let expiry = record.expiry.as_ref().map(|expiry| (expiry.at.to_string(), expiry.rule));
    assert_eq!(expiry, Some(("2026-11-20T21:55:00Z".to_owned(), "heartbeat older than 900 s")));
    let holder = record.holder.as_ref().expect("a session has a holder");
    assert_eq!(holder.role, Role::Hook);
    assert_eq!(holder.host(), Some(&"vm".into()));
    assert_eq!(holder.machine_id(), Some(&"858c8397a35585b3".into()));
    assert_eq!(record.claims[0].resource.id.raw(), "SD-DEMO-001");
    assert_eq!(record.claims[0].since, "2026-11-20T21:20:00Z".parse().ok());
    assert_eq!(
        (record.deletion.is_none(), record.has_ended, problems(&record)),
        (true, false, String::new())
    );
    insta::assert_snapshot!(facts(&record), @r"
    terminal ID: the conversation's own UUID
    pid is: a short-lived helper's: it proves nothing about a UUID session
    codebase: EHG_Engineer
    track: A
    tty: unknown
    branch: feat/SD-DEMO-001
    goes on by itself: true
    chains orchestrators: false
    ");
}

#[test]
fn february_called_the_work_item_sd_id() {
    check(
        SESSIONS,
        "session_1.json",
        r#"{"session_id": "session_1", "sd_id": "SD-OLD-001", "pid": "77"}"#,
        "Session Legacy 'session file with sd_id' context - session session_1 holder 77/Shell [legacy-record]",
    );
    check(
        SESSIONS,
        "session_1.json",
        r#"{"session_id": "session_1", "sd_id": "SD-OLD-001", "sd_key": "SD-NEW-001", "pid": 77}"#,
        "Session Current 'session file' context - session session_1 holder 77/Shell []",
    );
    let old = record(SESSIONS, "s.json", r#"{"session_id": "s", "sd_id": "SD-OLD-001"}"#);
    assert_eq!(old.claims[0].resource.id.raw(), "SD-OLD-001");
}

#[test]
fn a_file_without_a_key_does_not_say_that_nothing_is_claimed() {
    for json in [r#"{"session_id": "s", "sd_key": null}"#, r#"{"session_id": "s"}"#] {
        let record = record(SESSIONS, "s.json", json);
        assert_eq!(record.claims[0].resource.id.raw(), "unknown (no database)");
        assert_eq!(record.title.raw(), "s");
    }
}

#[test]
fn a_terminal_id_is_judged_by_its_shape() {
    let told = |terminal: &str| {
        let json = format!(r#"{{"session_id": "s", "pid": 5, "terminal_id": "{terminal}"}}"#);
        let record = record(SESSIONS, "s.json", &json);
        (problems(&record), facts(&record))
    };
    let (weak, known) = told("win-cc-39623");
    let told_so = "terminal ID win-cc-39623 is only a port, which every conversation of an editor window shares: start each";
    assert!(weak.starts_with(told_so), "{weak}");
    assert_eq!(known, "terminal ID: a port alone");
    assert!(told("win-session-1").0.contains("a Windows login"));
    assert_eq!(
        told("win-cc-55188-4468"),
        (String::new(), "terminal pid: 4468\nterminal ID: ends in Claude Code's PID".to_owned())
    );
}

#[test]
fn times_that_cannot_be_used_are_told_and_left_out() {
    let record = record(
        SESSIONS,
        "s.json",
        r#"{"session_id": "s", "created_at": "2026-11-20T21:00:00", "heartbeat_at": "2026-11-20T21:49:01Z",
            "claimed_at": 5}"#,
    );
    assert_eq!((record.started_at, record.heartbeat_at, record.expiry.is_none()), (None, None, true));
    insta::assert_snapshot!(problems(&record), @r"
    created_at is not a time in UTC: 2026-11-20T21:00:00
    heartbeat_at is in the future: 2026-11-20T21:49:01Z
    claimed_at is not a time in UTC: 5
    ");
}

#[test]
fn a_session_id_must_be_one_and_agree_with_the_name() {
    let told = |json: &str| problems(&record(SESSIONS, "s.json", json));
    assert_eq!(told("{}"), "states no session_id");
    assert_eq!(told(r#"{"session_id": 5}"#), "session_id is not text: 5");
    assert_eq!(told(r#"{"session_id": "../x"}"#), "the session ID cannot be one: ../x");
    assert_eq!(told(r#"{"session_id": "t"}"#), "the file is named for s but states t");
    assert_eq!(record(SESSIONS, "s.json", "{}").title.raw(), "s");
}

#[test]
fn a_byte_order_mark_and_unknown_fields_are_passed_over() {
    check(
        SESSIONS,
        "s.json",
        "\u{feff}{\"session_id\": \"s\", \"status\": \"active\", \"pid\": 77}",
        "Session Current 'session file' context - session s holder 77/Shell []",
    );
}
