//! Maia's files as they are read, real and broken.

use jiff::{SignedDuration, Timestamp};

use super::*;
use crate::core::model::{Code, Content, Expiry, FileMeta, Ownership, Refusal, Role, Spares, StatedPid};
use crate::format::testing;

/// A session as G5 writes it.
pub(super) const G5: &str = r#"{
  "current_agent": "sre_principal_engineer_agent",
  "session_start": "2026-11-20T21:40:35.193569",
  "handoff_chain": ["finops_agent", "sre_principal_engineer_agent"],
  "context": {}, "domain": "sre",
  "last_classification_confidence": 0.87, "last_classification_complexity": 4,
  "query": "Check alerts", "handoff_reason": null,
  "created_by": "swarm_auto_loader.py", "version": "1.5",
  "repository": {"working_directory": "/home/dev/app", "git_remote_url": "https://u:secret@h/r.git", "git_branch": "main"},
  "last_heartbeat": "2026-11-20T21:45:00Z", "heartbeat_interval_seconds": 300,
  "learning_session_id": "s_20260116_092708_a1b2c3", "files_touched": ["src/x.py"]
}"#;

pub(super) fn recognise(name: &str) -> Option<Kind> {
    names::in_sessions(name).or_else(|| names::in_checkpoints(name)).or_else(|| names::in_tmp(name))
}

#[track_caller]
pub(super) fn parse(name: &str, bytes: &[u8], age: i64) -> FileContents {
    let kind = recognise(name).unwrap_or_else(|| panic!("{name} is not Maia's"));
    testing::read(|reading| read(kind, &testing::image(name, bytes, age), reading))
}

#[track_caller]
fn session(name: &str, json: &str) -> Record {
    testing::record(parse(name, json.as_bytes(), 60))
}

#[track_caller]
fn check(name: &str, json: &str, expected: &str) {
    assert_eq!(testing::summary(&parse(name, json.as_bytes(), 60)), expected);
}

/// Minutes from the moment of the look until `expiry`.
fn minutes(expiry: &Expiry) -> i64 {
    testing::now().duration_until(expiry.at).as_mins()
}

#[test]
fn a_current_session_is_read_whole() {
    let record = session("swarm_session_15504.json", G5);
    assert_eq!(record.title.raw(), "sre_principal_engineer_agent");
    assert_eq!(record.started_at, "2026-11-20T21:40:35.193569Z".parse::<Timestamp>().ok());
    assert_eq!(record.heartbeat_at, "2026-11-20T21:45:00Z".parse::<Timestamp>().ok());
    assert_eq!(record.cwd.as_deref(), Some(std::path::Path::new("/home/dev/app")));
    assert_eq!(*record.files, ["src/x.py".into()]);
    assert!(record.has_unsaved_work);
    let claim = &record.claims[0];
    assert_eq!((claim.resource.kind.name(), claim.resource.id.raw()), ("agent-role", record.title.raw()));
    assert_eq!(claim.since, record.started_at);
    let facts: Vec<String> = record.facts.iter().map(|(name, value)| format!("{name}: {value}")).collect();
    insta::assert_snapshot!(facts.join("\n"), @r"
    domain: sre
    handoff chain: finops_agent > sre_principal_engineer_agent
    query: Check alerts
    confidence: 0.87
    complexity: 4
    branch: main
    learning session: s_20260116_092708_a1b2c3
    heartbeat interval (s): 300
    version: 1.5
    written by: swarm_auto_loader.py
    ");
}

#[test]
fn each_generation_is_told_with_its_context_and_holder() {
    let json = r#"{"current_agent": "a", "version": "1.1"}"#;
    check(
        "maia_active_swarm_session.json",
        r#"{"current_agent": "a", "version": "1.0"}"#,
        "Session Legacy 'G0 global' context - session - holder - [legacy-record]",
    );
    check(
        "maia_active_swarm_session_context_15504.json",
        json,
        "Session Legacy 'G2 context_{PPID}' context 15504 session - holder 15504/Shell [legacy-record]",
    );
    check(
        "maia_active_swarm_session_15504.json",
        json,
        "Session Legacy 'G3 {CTX} in tmp' context 15504 session - holder 15504/Unknown [legacy-record]",
    );
    check(
        "swarm_session_15504.json",
        json,
        "Session Current 'G4 {CTX}' context 15504 session - holder 15504/Unknown []",
    );
    check(
        "swarm_session_15504.json",
        G5,
        "Session Current 'G5 {CTX} with heartbeat' context 15504 session - holder 15504/Unknown []",
    );
    check(
        "swarm_session_work.json",
        r#"{"current_agent": "a"}"#,
        "Session Current 'written by /init' context work session - holder - [weak-terminal-id]",
    );
}

#[test]
fn a_legacy_file_names_its_generation_and_the_current_form() {
    let message = |name| session(name, r#"{"current_agent": "a"}"#).problems[0].message.clone();
    insta::assert_snapshot!(message("maia_active_swarm_session.json"), @"G1 file, one for the whole machine; the next window without its own takes it over; the current form is ~/.maia/sessions/swarm_session_{CTX}.json");
    insta::assert_snapshot!(message("maia_active_swarm_session_context_7.json"), @"G2 file named by a parent's PID; Maia never moves it, only deletes it; the current form is ~/.maia/sessions/swarm_session_{CTX}.json");
    insta::assert_snapshot!(message("maia_active_swarm_session_sre_001.json"), @"G3 file in the temporary folder; Maia moves it only when that window runs it again; the current form is ~/.maia/sessions/swarm_session_{CTX}.json");
}

#[test]
fn numbers_that_can_be_no_pid_are_told_as_bad() {
    for context in ["0", "1", "4194305", "18446744073709551616", &"9".repeat(60)] {
        let record = session(&format!("swarm_session_{context}.json"), G5);
        let holder = record.holder.expect("a numeric context names a holder");
        assert!(matches!(holder.pid, Some(StatedPid::Bad(_))), "{context}");
        assert_eq!(holder.role, Role::Unknown);
    }
}

#[test]
fn a_context_that_no_reader_would_take_is_told() {
    for name in ["swarm_session_.json", "swarm_session_.b.json", "swarm_session_\u{202e}x.json"] {
        let problems = session(name, G5).problems;
        assert_eq!(problems.len(), 1, "{problems:?}");
        assert_eq!(problems[0].code, Code::UnknownSession);
    }
    check(
        "swarm_session_5.json",
        r#"{"current_agent": 5, "version": "1.5"}"#,
        "Session Current 'G4 {CTX}' context 5 session - holder 5/Unknown [unknown-session]",
    );
}

#[test]
fn staleness_follows_the_code_of_each_generation() {
    #[track_caller]
    fn check(name: &str, json: &str, expected: Option<(i64, Spares)>) {
        let record = session(name, json);
        let found = record.expiry.as_ref().map(minutes).zip(record.deletion.map(|deletion| deletion.spares));
        assert_eq!(found, expected, "{name}");
    }
    let bare = r#"{"current_agent": "a"}"#;
    check("swarm_session_9.json", G5, Some((15 - 3, Spares::AgentNames)));
    check("swarm_session_9.json", bare, Some((4 * 60 - 1, Spares::AgentNames)));
    check("swarm_session_text.json", G5, Some((4 * 60 - 1, Spares::Nobody)));
    check("maia_active_swarm_session_9.json", bare, Some((24 * 60 - 1, Spares::Nobody)));
    check("maia_active_swarm_session_context_9.json", G5, Some((24 * 60 - 1, Spares::Nobody)));
    check("maia_active_swarm_session.json", bare, None);
    let slow =
        r#"{"last_heartbeat": "2026-11-20T21:45:00", "heartbeat_interval_seconds": 9223372036854775807}"#;
    assert_eq!(session("swarm_session_9.json", slow).expiry.map(|expiry| expiry.at), Some(Timestamp::MAX));
}

#[test]
fn times_that_cannot_be_used_are_told_and_left_out() {
    for (json, expected) in [
        (r#"{"session_start": "yesterday"}"#, "session_start is not a time: yesterday"),
        (r#"{"session_start": 5}"#, "session_start is not a time: 5"),
        (
            r#"{"session_start": "2026-11-22T21:40:35"}"#,
            "session_start is in the future: 2026-11-22T21:40:35",
        ),
        (
            r#"{"last_heartbeat": "2036-11-22T21:40:35Z"}"#,
            "last_heartbeat is in the future: 2036-11-22T21:40:35Z",
        ),
    ] {
        let record = session("swarm_session_9.json", json);
        assert_eq!((record.started_at, record.heartbeat_at), (None, None), "{json}");
        assert_eq!(record.problems[0], crate::core::model::Problem::new(Code::BadTimestamp, expected));
    }
    let soon =
        session("swarm_session_9.json", r#"{"session_start": "2026-11-21T08:00:00Z", "current_agent": "a"}"#);
    assert_eq!((soon.problems, soon.started_at.is_some()), (Vec::new(), true));
}

#[test]
fn a_wide_mode_says_where_it_comes_from() {
    let mut file = testing::image("swarm_session_9.json", G5.as_bytes(), 60);
    let meta = file.meta.expect("the sample has facts");
    file.meta = Some(FileMeta { ownership: Ownership::new(7, 0o644), ..meta });
    let session = testing::read(|reading| read(Kind::Session(Form::Current), &file, reading));
    let record = testing::record(session);
    let told: Vec<&str> = record.problems.iter().map(|problem| problem.message.as_str()).collect();
    insta::assert_snapshot!(told.join("\n"), @r"
    belongs to user 7, not to user 1000
    mode 0644, wider than the 0600 that its system intends; Maia's own heartbeat rewrite leaves it so
    ");
}

#[test]
fn a_temporary_is_a_leftover_after_a_minute() {
    let codes = |age| {
        let record = testing::record(parse("swarm_session_9.tmp", b"{\"cut", age));
        (record.context_id.map(|id| id.to_string()), record.problems.first().map(|problem| problem.code))
    };
    assert_eq!(codes(59), (Some("9".to_owned()), None));
    assert_eq!(codes(-5), (Some("9".to_owned()), None));
    assert_eq!(codes(60), (Some("9".to_owned()), Some(Code::LeftoverTemp)));
}

#[test]
fn a_learning_session_begins_in_local_time() {
    let json = br#"{"session_id": "s_1_2_abc", "started_at": "2026-11-21T08:40:00", "status": "done"}"#;
    let file = testing::image("learning_session_77.json", json, 60);
    let reading = Reading { host: &testing::host(11), now: testing::now() };
    let record = testing::record(read(Kind::Learning, &file, &reading));
    assert_eq!(record.started_at, "2026-11-20T21:40:00Z".parse::<Timestamp>().ok());
    assert_eq!(record.context_id.map(|id| id.to_string()).as_deref(), Some("77"));
    assert!(record.has_ended && record.problems.is_empty() && record.holder.is_none());
}

#[test]
fn a_checkpoint_belongs_to_the_context_of_its_file_or_folder() {
    check(
        "checkpoint_20261120_214000.json",
        r#"{"context_id": "15504", "created_at": "2026-11-20T21:40:00", "current_branch": "main"}"#,
        "Companion Current 'checkpoint' context 15504 session - holder - []",
    );
    let mut file = testing::image("checkpoint_20261120_214000.json", b"{}", 60);
    file.path = "/home/dev/.maia/checkpoints/88/checkpoint_20261120_214000.json".into();
    let record = testing::record(testing::read(|reading| read(Kind::Checkpoint, &file, reading)));
    assert_eq!(record.context_id.map(|id| id.to_string()).as_deref(), Some("88"));
}

#[test]
fn files_that_give_no_record_say_why() {
    let told = |parsed| testing::broken(parsed).problem;
    assert_eq!(told(parse("swarm_session_9.json", b"{\"current", 60)).code, Code::CorruptRecord);
    assert_eq!(told(parse("swarm_session_9.json", b"{\"current", 0)).code, Code::TornRecord);
    assert_eq!(told(parse("swarm_session_9.json", b"", 60)).message, "the file is empty");
    for name in
        ["swarm_session_9.json", "swarm_session_9.tmp", "learning_session_9.json", "checkpoint_9.json"]
    {
        let mut file = testing::image(name, b"", 60);
        file.content = Content::Refused(Refusal::Special("fifo"));
        let kind = recognise(name).expect("it is Maia's");
        assert_eq!(told(testing::read(|reading| read(kind, &file, reading))).code, Code::SpecialFile);
    }
}

#[test]
fn a_file_without_facts_counts_as_written_now() {
    let mut file = testing::image("swarm_session_9.json", G5.as_bytes(), 3_600);
    file.meta = None;
    let record = testing::record(testing::read(|reading| read(Kind::Session(Form::Current), &file, reading)));
    assert_eq!(testing::now().duration_since(record.written_at), SignedDuration::ZERO);
}
