//! Every kind of file that entire writes, and every possible error in one.

use super::*;
use crate::format::testing;

const ID: &str = "22222222-aaaa-4bbb-8ccc-000000000001";
const STATE: &str = r#"{"session_id":"22222222-aaaa-4bbb-8ccc-000000000001","cli_version":"0.7.9","base_commit":"3397a23560d2f07f1d894e0049da6c8fb7a9553b","worktree_path":"/home/dev/erepo","started_at":"2026-11-21T06:47:27.378102+11:00","branch":"main","agent_type":"Claude Code","last_prompt":"Refactor auth","phase":"active","last_interaction_time":"2026-11-21T08:46:51.378102+11:00","checkpoint_count":1,"files_touched":["auth.go"],"owner":{"pid":3999999,"start":"123456","boot":"0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b","host":"vm","name":"claude"}}"#;

fn state(name: &str, text: &str) -> FileContents {
    let file = testing::image(name, text.as_bytes(), 60);
    testing::read(|reading| read(Kind::State, &file, reading))
}

#[track_caller]
fn check(name: &str, text: &str, expected: &str) {
    assert_eq!(testing::summary(&state(name, text)), expected);
}

#[test]
fn a_state_with_an_owner_holds_tree_and_shadow_branch() {
    let name = format!("{ID}.json");
    check(
        &name,
        STATE,
        &format!("Session Current 'state with owner' context {ID} session {ID} holder 3999999/Unknown []"),
    );
    let record = testing::record(state(&name, STATE));
    let holds: Vec<String> = record
        .claims
        .iter()
        .map(|claim| format!("{} {}", claim.resource.kind.name(), claim.resource.id))
        .collect();
    assert_eq!(holds, ["worktree /home/dev/erepo", "branch entire/3397a23-e3b0c4"]);
    assert_eq!(record.heartbeat_at.map(|at| at.to_string()).as_deref(), Some("2026-11-20T21:46:51.378102Z"));
    let start = record.holder.as_ref().and_then(|holder| holder.start_ticks);
    assert_eq!((start, record.has_ended, record.has_unsaved_work), (Some(123_456), false, true));
}

#[test]
fn a_legacy_id_names_the_agents_session_after_its_date() {
    let id = "2026-01-12-8f76b0e8-b8f1-4a87-9186-848bdd83d62e";
    let text = format!(r#"{{"session_id":"{id}","base_commit":"3397a235","checkpoint_count":2}}"#);
    let session = "8f76b0e8-b8f1-4a87-9186-848bdd83d62e";
    check(
        &format!("{id}.json"),
        &text,
        &format!(
            "Session Legacy 'state of old code' context {id} session {session} holder - [legacy-record]"
        ),
    );
}

#[test]
fn an_end_by_either_sign_is_an_end_and_holds_nothing() {
    for text in [
        r#"{"session_id":"a","base_commit":"3397a235","phase":"ended","worktree_path":"/r"}"#,
        r#"{"session_id":"a","base_commit":"3397a235","kind":"imported","worktree_path":"/r"}"#,
        r#"{"session_id":"a","base_commit":"3397a235","adopted_into_worktree_path":"/o","worktree_path":"/r"}"#,
        r#"{"session_id":"a","base_commit":"3397a235","ended_at":"2026-11-20T20:00:00Z","phase":"ended"}"#,
    ] {
        let record = testing::record(state("a.json", text));
        assert!(record.has_ended && record.claims.is_empty(), "{text}");
    }
}

#[test]
fn what_does_not_fit_is_told() {
    let sheet = "Session Current 'state' context a session a holder -";
    let both =
        r#"{"session_id":"a","base_commit":"3397a235","phase":"active","ended_at":"2026-11-20T20:00:00Z"}"#;
    check("a.json", both, &format!("{sheet} [stale-record]"));
    check("a.json", r#"{"session_id":"b","base_commit":"3397a235"}"#, &format!("{sheet} [identity-split]"));
    check("a.json", r#"{"session_id":"a","base_commit":""}"#, &format!("{sheet} [unknown-session]"));
    let bad = r#"{"session_id":"a","base_commit":"3397a235","started_at":"soon"}"#;
    check("a.json", bad, &format!("{sheet} [bad-timestamp]"));
    let zero = r#"{"session_id":"a","base_commit":"3397a235","started_at":"0001-01-01T00:00:00Z"}"#;
    check("a.json", zero, &format!("{sheet} []"));
    check("a.json", "{\"session_id\": \"1111", "broken: the JSON breaks off at line 1 column 20");
}

#[test]
fn a_lock_counts_only_while_the_kernel_says_so() {
    let mut file = testing::image("a.lock", b"", 60);
    assert_eq!(testing::read(|reading| read(Kind::Lock, &file, reading)), FileContents::Ignored);
    file.locked_by = Some(4711);
    let held = testing::summary(&testing::read(|reading| read(Kind::Lock, &file, reading)));
    assert_eq!(held, "Lock Current 'session lock, held' context a session a holder 4711/Hook []");
}

#[test]
fn the_live_registry_expires_twelve_hours_after_the_last_interaction() {
    let text = r#"{"session_id":"a","common_dir":"/r/.git","worktree_path":"/r","phase":"active","last_interaction_time":"2026-11-20T09:00:00Z","adopt_claim":{"at":"2026-11-20T21:30:00Z"}}"#;
    let file = testing::image("a.json", text.as_bytes(), 60);
    let record = testing::record(testing::read(|reading| read(Kind::Live, &file, reading)));
    assert_eq!(record.expiry.map(|expiry| expiry.at.to_string()).as_deref(), Some("2026-11-20T21:00:00Z"));
    assert_eq!(record.claims.len(), 1);
}

#[test]
fn names_tell_what_a_file_is() {
    for (name, kind) in [
        ("a.json", Some(Kind::State)),
        ("a.json.tmp", Some(Kind::Temp)),
        ("a.json.x1y2.tmp", Some(Kind::Temp)),
        ("a.model", Some(Kind::Model)),
        (".json", None),
        ("warned-2026", None),
    ] {
        assert_eq!(names::in_sessions(name), kind, "{name}");
    }
    assert_eq!(names::agent_id("2026-01-12-x"), "x");
    assert_eq!(names::agent_id("2026-01-1x-x"), "2026-01-1x-x");
}

#[test]
fn every_truncation_is_read_or_told() {
    for end in (0..STATE.len()).filter(|end| STATE.is_char_boundary(*end)) {
        testing::broken(state("a.json", &STATE[..end]));
    }
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>, name: String) {
        let mut file = testing::image("x", &bytes, 60);
        file.path = format!("/f/{name}").as_str().into();
        for kind in [Kind::State, Kind::Temp, Kind::Model, Kind::Lock, Kind::Live] {
            testing::read(|reading| read(kind, &file, reading));
        }
    }
}
