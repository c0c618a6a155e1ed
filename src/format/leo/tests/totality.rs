//! Real files, every truncation of one, and arbitrary bytes under every name.

use super::sessions::{CONVERSATION, CONVERSATION_NAME};
use super::*;
use crate::core::model::Code;

const FIRST: &str = "487c6af6-a8cc-45f2-9dfb-6c45eed8934e";

/// Reads a real file and summarizes it in one line; nothing if the fixtures are absent.
fn real(dir: &str, path: &str) -> Option<String> {
    let bytes = testing::fixture(&format!("leo/{path}"))?;
    let name = path.rsplit('/').next().unwrap_or_default();
    Some(testing::summary(&parse(dir, name, &bytes, 120)))
}

#[track_caller]
fn check_real(dir: &str, path: &str, expected: &str) {
    if let Some(told) = real(dir, path) {
        assert_eq!(told, expected, "{path}");
    }
}

#[test]
fn the_real_session_files_are_read() {
    for (session, terminal, pid) in [
        ("session_edd47dea_unknown_11472", "pid-11472", 11472),
        ("session_a6b42b36_unknown_11444", "pid-11444", 11444),
        ("session_2ef73306_win13585_13583", "win-pid-13585", 13583),
        ("session_c382eda9_win13606_13604", "win-fallback-55188-13606-62eb9198", 13604),
        ("session_ea8c4e8f_win13566_13564", "win-fallback-39623-13566-0fb790c5", 13564),
        ("session_108fff06_win15073_15071", "win-cc-55188-4468", 15071),
    ] {
        let expected = format!(
            "Session Current 'session file' context {terminal} session {session} holder {pid}/Shell []"
        );
        check_real(SESSIONS, &format!("claude-sessions/{session}.json"), &expected);
    }
    check_real(
        SESSIONS,
        &format!("claude-sessions/{FIRST}.json"),
        &format!("Session Current 'session file' context {FIRST} session {FIRST} holder 11497/Hook []"),
    );
}

#[test]
fn the_real_session_files_of_february_are_legacy() {
    for (session, terminal, pid, codes) in [
        ("session_43ea1cf4_win19117_19114", "win-cc-39623", 19114, "weak-terminal-id legacy-record"),
        ("session_08408d20_win19072_19069", "win-cc-39623", 19069, "weak-terminal-id legacy-record"),
        ("session_f3be3c69_win19093_19090", "win-cc-55188-4468", 19090, "legacy-record"),
    ] {
        let expected = format!(
            "Session Legacy 'session file with sd_id' context {terminal} session {session} \
             holder {pid}/Shell [{codes}]"
        );
        check_real(SESSIONS, &format!("feb-2026/claude-sessions/{session}.json"), &expected);
    }
}

#[test]
fn the_real_identity_files_are_read() {
    for (name, variant) in [("pid-12832", "marker of a PID"), (UUID, "marker of a session")] {
        let expected = format!("Marker Current '{variant}' context - session {UUID} holder 12832/Unknown []");
        check_real(IDENTITY, &format!("session-identity/{name}.json"), &expected);
    }
    for (name, terminal, pid) in [
        ("fallback-55188-13606", "win-fallback-55188-13606-62eb9198", 13606),
        ("fallback-39623-13566", "win-fallback-39623-13566-0fb790c5", 13566),
    ] {
        let expected = format!(
            "Marker Current 'fallback marker' context {terminal} session {terminal} holder {pid}/Hook []"
        );
        check_real(IDENTITY, &format!("session-identity/{name}.json"), &expected);
    }
    let current = format!("Pointer Current 'current session' context - session {UUID} holder - []");
    check_real(IDENTITY, "session-identity/current", &current);
    let tick = format!("Tick Current 'tick' context - session {UUID} holder 12832/Unknown []");
    check_real(PIDS, &format!("pids/tick-{UUID}.json"), &tick);
    assert_eq!(recognise(PIDS, "spawn-errors.log"), None);
}

#[test]
fn the_real_worktree_files_are_read() {
    let lock = format!("Lock Current 'worktree lock' context - session {FIRST} holder 15133/Hook []");
    check_real(WORKTREES, "worktrees/.worktrees/SD-DEMO-001.lock", &lock);
    let fleet = format!("Metadata Current 'fleet identity' context - session {FIRST} holder - []");
    for root in ["", ".worktrees/SD-DEMO-001/", ".worktrees/qf/QF-20260822-001/"] {
        check_real(CLAUDE, &format!("worktrees/{root}.claude/fleet-identity-{FIRST}.json"), &fleet);
    }
    for (path, variant, session) in [
        ("SD-DEMO-001/.worktree.json", "worktree", "-"),
        ("qf/QF-20260822-001/.worktree.json", "worktree", "-"),
        ("qf/QF-20260822-001/.ehg-session.json", "worktree's work", "-"),
        ("demo/.reap-eligible.json", "worktree that may be reaped", FIRST),
        ("demo/.reap-protected.json", "worktree that may not be reaped", FIRST),
    ] {
        let expected = format!("Metadata Current '{variant}' context - session {session} holder - []");
        check_real(WORKTREE, &format!("worktrees/.worktrees/{path}"), &expected);
    }
}

#[test]
fn every_truncation_of_a_session_file_is_told_as_broken() {
    for end in 0..CONVERSATION.len() {
        let cut = &CONVERSATION.as_bytes()[..end];
        for (age, code) in [(120, Code::CorruptRecord), (0, Code::TornRecord)] {
            let broken = testing::broken(parse(SESSIONS, CONVERSATION_NAME, cut, age));
            assert_eq!(broken.problem.code, code, "{end}");
        }
    }
}

const NAMES: [(&str, &str); 17] = [
    (SESSIONS, "NAME.json"),
    (IDENTITY, "pid-NAME.json"),
    (IDENTITY, "NAME.json"),
    (IDENTITY, "fallback-39623-NAME.json"),
    (IDENTITY, "current"),
    (IDENTITY, ".lock"),
    (IDENTITY, "NAME.tmp.12.34"),
    (PIDS, "tick-NAME.json"),
    (WORKTREES, "NAME.lock"),
    (WORKTREE, ".worktree.json"),
    (WORKTREE, ".ehg-session.json"),
    (WORKTREE, ".session.json"),
    (WORKTREE, ".reap-eligible.json"),
    (WORKTREE, ".reap-protected.json"),
    (CLAUDE, "active-coordinator.json"),
    (CLAUDE, "fleet-identity-NAME.json"),
    (CLAUDE, "fleet-identity.json"),
];

const FIELDS: [&str; 22] = [
    "session_id", "sessionId", "terminal_id", "pid", "cc_pid", "cc_parent_pid", "tick_pid", "sd_key",
    "sd_id", "claimed_at", "heartbeat_at", "created_at", "metadata", "hostname", "machine_id", "at",
    "timestamp", "protected_by", "marked_by_session", "display_name", "sse_port", "createdAt",
];

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>, part in ".*", age in -9_000_000_i64..9_000_000) {
        for (dir, name) in NAMES {
            let name = name.replace("NAME", &part);
            if let Some(kind) = recognise(dir, &name) {
                testing::read(|reading| read(kind, &testing::image(&name, &bytes, age), reading));
            }
        }
    }

    #[test]
    fn any_value_in_any_field_is_read(
        field in proptest::sample::select(&FIELDS[..]),
        text in ".*",
        number: i64,
    ) {
        for value in [serde_json::json!(text), serde_json::json!(number), serde_json::json!([text, {"a": null}])] {
            let json = serde_json::json!({ field: value }).to_string();
            for (dir, name) in NAMES {
                testing::record(parse(dir, &name.replace("NAME", "7"), json.as_bytes(), 120));
            }
        }
    }
}
