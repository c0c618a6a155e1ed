//! Observability's files as they are read, real and broken.

use jiff::Timestamp;

use super::names::{in_markers, in_tmp};
use super::*;
use crate::core::model::{Code, Content, FileMeta, Ownership, RecordKind, Refusal, Spares};
use crate::format::testing;

/// A slot as SessionStart writes it.
const SLOT_TEXT: &str = "3f6c1f0a-7b52-4f0e-9d6b-1d2f3c4b5a69\n2026-11-20T21:42:23.286854\n";

/// A spawn marker as the relationship tracker writes it.
const MARKER: &str = r#"{
  "child_session_id": "child-9a51", "parent_session_id": "3f6c1f0a", "spawn_method": "task_tool",
  "agent_name": "code-reviewer", "task_description": "Review PR", "tools_granted": ["Read", "Grep"],
  "created_at": "2026-11-20T21:42:23.497341", "ttl": 1795214543.497365
}"#;

#[track_caller]
fn parse(name: &str, bytes: &[u8], age: i64) -> FileContents {
    let kind =
        in_tmp(name).or_else(|| in_markers(name)).unwrap_or_else(|| panic!("{name} is not recognised"));
    testing::read(|reading| read(kind, &testing::image(name, bytes, age), reading))
}

#[track_caller]
fn record(name: &str, text: &str) -> Record {
    testing::record(parse(name, text.as_bytes(), 60))
}

fn problems(record: &Record) -> String {
    let told: Vec<String> = record
        .problems
        .iter()
        .map(|problem| format!("{}: {}", problem.code.name(), problem.message))
        .collect();
    told.join("\n")
}

#[test]
fn names_tell_the_files_apart() {
    #[track_caller]
    fn check(name: &str, expected: Option<Kind>) {
        assert_eq!(in_tmp(name), expected, "{name}");
    }
    check("claude_session_app", Some(Kind::Slot));
    check("claude_session_", Some(Kind::Slot));
    check("claude_session_my app (2)", Some(Kind::Slot));
    check("claude_session_app.tmp", Some(Kind::Slot));
    check("claude_session_app_a1b2c3d4.tmp", Some(Kind::Temp));
    check("claude_session_app_A1b2c3d4.tmp", Some(Kind::Slot));
    check("claude_session_startup_last.txt", Some(Kind::RateLimit));
    check("claude_correlation_app_Bash", Some(Kind::Correlation));
    check("claude_correlation_app_Bash.tmp", Some(Kind::Temp));
    check("claude_correlation_app", None);
    check("claude_session_app~", None);
    check(".claude_session_app.swp", None);
    check("claude_sessions_app", None);
    check("é_12345678.tmp", None);
    assert_eq!(in_markers("2026_child.json"), Some(Kind::SpawnMarker));
    assert_eq!(in_markers("2026_child.json~"), None);
    assert_eq!(in_markers(".json"), None);
}

#[test]
fn a_slot_is_a_projects_one_session() {
    let record = record("claude_session_app", SLOT_TEXT);
    assert_eq!((record.title.raw(), record.kind), ("app", RecordKind::Session));
    assert_eq!(record.session_id.as_ref().map(|id| id.raw()), Some("3f6c1f0a-7b52-4f0e-9d6b-1d2f3c4b5a69"));
    assert_eq!(record.context_id, Some("app".into()));
    assert_eq!(record.started_at, "2026-11-20T21:42:23.286854Z".parse::<Timestamp>().ok());
    let claim = &record.claims[0];
    assert_eq!((claim.resource.kind.name(), claim.resource.id.raw()), ("project", "app"));
    let deletion = record.deletion.expect("a look-up deletes it");
    assert_eq!(
        (deletion.at.to_string().as_str(), deletion.spares),
        ("2026-11-21T21:42:23.286854Z", Spares::Nobody)
    );
    assert_eq!(record.expiry.map(|expiry| expiry.at), Some(deletion.at));
    assert!(record.problems.is_empty() && record.holder.is_none());
}

#[test]
fn line_2_is_local_time() {
    let file = testing::image("claude_session_app", b"id\n2026-11-21T08:42:23", 60);
    let reading = Reading { host: &testing::host(11), now: testing::now() };
    let record = testing::record(read(Kind::Slot, &file, &reading));
    assert_eq!(record.started_at, "2026-11-20T21:42:23Z".parse::<Timestamp>().ok());
}

#[test]
fn what_that_system_does_with_an_odd_slot_is_told() {
    let told = |text| problems(&record("claude_session_app", text));
    insta::assert_snapshot!(told("unknown\n2026-11-20T21:42:23"), @"unknown-session: the stored session ID is `unknown`: the hook was given none, and that system serves it as an ID");
    insta::assert_snapshot!(told("a/../b\n2026-11-20T21:42:23"), @"unknown-session: line 1 is not a session ID: a/../b");
    insta::assert_snapshot!(told("id\nyesterday\u{1b}[2J"), @r"bad-timestamp: line 2 is not a time: yesterday\x1B[2J; that system answers `unknown`, and only its clean-up, which no hook calls, removes the file");
    insta::assert_snapshot!(told("id"), @"bad-timestamp: there is no line 2 with a time; that system answers `unknown`, and only its clean-up, which no hook calls, removes the file");
    insta::assert_snapshot!(told("id\n2026-11-20T21:42:23Z"), @"bad-timestamp: line 2 has a time zone: 2026-11-20T21:42:23Z; that system fails to compare it, answers `unknown`, and never removes the file");
    insta::assert_snapshot!(told("id\n2026-11-20T22:42:23"), @"bad-timestamp: line 2 is in the future: 2026-11-20T22:42:23; that system treats the ID as fresh until 2026-11-21T22:42:23Z");
}

#[test]
fn an_unknown_session_is_nobodys() {
    assert_eq!(record("claude_session_app", "unknown\n2026-11-20T21:42:23").session_id, None);
}

#[test]
fn a_time_that_is_never_compared_never_expires() {
    for text in ["id", "id\nyesterday", "id\n2026-11-20T21:42:23+00:00"] {
        let record = record("claude_session_app", text);
        assert_eq!((record.expiry, record.deletion), (None, None), "{text}");
    }
}

#[test]
fn a_rate_limit_is_told_from_a_slot_of_its_name_by_its_content() {
    let limit = record("claude_session_startup_last.txt", "1795210943.288684");
    assert_eq!((limit.kind, limit.title.raw()), (RecordKind::Metadata, "rate limit of startup"));
    assert!(limit.facts[0].1.raw().starts_with("2026-11-20T21:42:23.28868"), "{:?}", limit.facts);
    let slot = record("claude_session_startup_last.txt", SLOT_TEXT);
    assert_eq!((slot.kind, slot.title.raw()), (RecordKind::Session, "startup_last.txt"));
    assert_eq!(slot.facts[0].0, "name");
    for text in ["nan", "inf", "-5", "1e300", "soon"] {
        let parsed = parse("claude_session_startup_last.txt", text.as_bytes(), 60);
        assert_eq!(testing::broken(parsed).problem.code, Code::CorruptRecord, "{text}");
    }
}

#[test]
fn a_correlation_pairs_for_ten_minutes() {
    let fresh = record("claude_correlation_my_app_mcp__git__push", "782a0fff\n2026-11-20T21:42:23");
    assert_eq!((fresh.title.raw(), fresh.kind), ("mcp__git__push in my_app", RecordKind::Companion));
    assert_eq!((fresh.context_id, fresh.session_id), (Some("my_app".into()), None));
    assert_eq!(fresh.expiry.map(|expiry| expiry.at), "2026-11-20T21:52:23Z".parse().ok());
    let odd = record("claude_correlation_app_Bash", "782a0fff");
    insta::assert_snapshot!(problems(&odd), @"bad-timestamp: there is no line 2 with a time; that system pairs nothing with it and never removes the file");
}

#[test]
fn a_spawn_marker_ties_a_child_to_its_parent() {
    let marker = record("2026_child-9a51.json", MARKER);
    assert_eq!((marker.title.raw(), marker.kind), ("code-reviewer", RecordKind::Marker));
    assert_eq!(marker.session_id, Some("child-9a51".into()));
    assert_eq!(marker.facts[0], ("parent session", "3f6c1f0a".into()));
    assert_eq!(marker.started_at, "2026-11-20T21:42:23.497341Z".parse().ok());
    let ttl = marker.expiry.expect("a marker has a ttl").at;
    assert_eq!((ttl.as_second(), marker.deletion.map(|deletion| deletion.at)), (1_795_214_543, Some(ttl)));
    assert!(marker.problems.is_empty());
}

#[test]
fn what_that_system_does_with_an_odd_marker_is_told() {
    let told = |text| problems(&record("x_y.json", text));
    insta::assert_snapshot!(told(r#"{"child_session_id": "c"}"#), @"bad-timestamp: there is no ttl; the next clean-up of markers removes the file");
    insta::assert_snapshot!(told(r#"{"child_session_id": "c", "ttl": "1"}"#), @r#"bad-timestamp: ttl is not a number: "1"; that system's clean-up stops at this file"#);
    insta::assert_snapshot!(told(r#"{"ttl": 1e300, "created_at": "2027-01-01T00:00:00"}"#), @"
    bad-timestamp: created_at is in the future: 2027-01-01T00:00:00
    bad-timestamp: ttl is not a time: 1e+300
    unknown-session: names no child: child_session_id is missing
    ");
}

#[test]
fn a_temporary_is_a_leftover_after_a_minute() {
    let temp = testing::record(parse("claude_session_app_a1b2c3d4.tmp", b"x", 59));
    assert_eq!((temp.context_id, temp.problems.len()), (Some("app".into()), 0));
    let left = testing::record(parse("claude_correlation_app_Bash.tmp", b"x", 61));
    assert_eq!((left.kind, left.problems[0].code), (RecordKind::Temporary, Code::LeftoverTemp));
}

#[test]
fn files_that_give_no_record_say_why() {
    let told = |bytes: &[u8], age| testing::broken(parse("claude_session_app", bytes, age)).problem.code;
    assert_eq!(told(b"", 60), Code::CorruptRecord);
    assert_eq!(told(b"\n", 0), Code::TornRecord);
    assert_eq!(told(b"\xff\xfe\n2026", 60), Code::CorruptRecord);
    for kind in KINDS {
        let mut file = testing::image("claude_session_app", b"", 60);
        file.content = Content::Refused(Refusal::ForeignOwner(7));
        let broken = testing::broken(testing::read(|reading| read(kind, &file, reading)));
        assert_eq!(broken.problem.code, Code::ForeignOwner);
    }
}

#[test]
fn only_the_files_that_are_meant_to_be_private_are_told_as_wide() {
    let codes = |kind, text: &str| {
        let mut file = testing::image("claude_session_startup_last.txt", text.as_bytes(), 60);
        let meta = file.meta.expect("the sample has facts");
        file.meta = Some(FileMeta { ownership: Ownership { mode: 0o644, ..meta.ownership }, ..meta });
        let record = testing::record(testing::read(|reading| read(kind, &file, reading)));
        record.problems.first().map(|problem| problem.code)
    };
    assert_eq!(codes(Kind::Slot, SLOT_TEXT), Some(Code::WideMode));
    assert_eq!(codes(Kind::Correlation, SLOT_TEXT), Some(Code::WideMode));
    assert_eq!(codes(Kind::RateLimit, "1795210943.2"), None);
    assert_eq!(codes(Kind::SpawnMarker, MARKER), None);
}

#[test]
fn the_real_files_are_read() {
    let slot = |project: &str, session: &str, problems: &str| {
        format!(
            "Session Current 'session slot' context seedrun-demo-project{project} session {session} holder - [{problems}]"
        )
    };
    for (path, expected) in [
        ("claude_session_seedrun-demo-project", slot("", "3f6c1f0a-7b52-4f0e-9d6b-1d2f3c4b5a69", "")),
        (
            "claude_session_seedrun-demo-project-stale",
            slot("-stale", "3f6c1f0a-dead-4f0e-9d6b-1d2f3c4b5a69", ""),
        ),
        (
            "claude_session_seedrun-demo-project-oneline",
            slot("-oneline", "3f6c1f0a-one1-4f0e-9d6b-1d2f3c4b5a69", "bad-timestamp"),
        ),
        (
            "claude_session_seedrun-demo-project-badts",
            slot("-badts", "3f6c1f0a-badd-4f0e-9d6b-1d2f3c4b5a69", "bad-timestamp"),
        ),
        (
            "claude_session_seedrun-demo-project-utcz",
            slot("-utcz", "3f6c1f0a-utcz-4f0e-9d6b-1d2f3c4b5a69", "bad-timestamp"),
        ),
        (
            "claude_session_seedrun-demo-project-future",
            slot("-future", "3f6c1f0a-futu-4f0e-9d6b-1d2f3c4b5a69", "bad-timestamp"),
        ),
        ("claude_session_seedrun-demo-project-unk", slot("-unk", "-", "unknown-session")),
        (
            "claude_session_seedrun-demo-project_a1b2c3d4.tmp",
            "Temporary Current 'file being written' context seedrun-demo-project session - holder - [leftover-temp]"
                .to_owned(),
        ),
        (
            "claude_session_startup_last.txt",
            "Metadata Current 'rate limit' context - session - holder - []".to_owned(),
        ),
        (
            "claude_correlation_seedrun-demo-project_Bash",
            "Companion Current 'tool correlation' context seedrun-demo-project session - holder - []".to_owned(),
        ),
        (
            "claude_spawn_markers/2026-11-20T21:42:23.497341_child-9a51.json",
            "Marker Current 'spawn marker' context - session child-9a51 holder - []".to_owned(),
        ),
    ] {
        let Some(bytes) = testing::fixture(&format!("observability/{path}")) else { return };
        let name = path.rsplit('/').next().unwrap_or_default();
        assert_eq!(testing::summary(&parse(name, &bytes, 60)), expected, "{path}");
    }
}

const KINDS: [Kind; 5] = [Kind::Slot, Kind::RateLimit, Kind::Correlation, Kind::Temp, Kind::SpawnMarker];

#[test]
fn every_truncation_of_a_file_is_read() {
    for end in 0..SLOT_TEXT.len() {
        let text = &SLOT_TEXT[..end];
        let parsed = parse("claude_session_app", text.as_bytes(), 60);
        assert_eq!(matches!(parsed, FileContents::Broken(_)), text.is_empty(), "{end}");
    }
    for end in 0..MARKER.len() {
        let parsed = parse("x_y.json", &MARKER.as_bytes()[..end], 60);
        assert_eq!(testing::broken(parsed).problem.code, Code::CorruptRecord, "{end}");
    }
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>, text in ".*\n.*", name in "(claude_(session|correlation)_)?.*") {
        for kind in KINDS {
            for content in [&bytes[..], text.as_bytes()] {
                testing::read(|reading| read(kind, &testing::image(&name, content, 60), reading));
            }
        }
        let _ = (in_tmp(&name), in_markers(&name));
    }

    #[test]
    fn any_number_is_a_moment_or_none(seconds: f64) {
        let at = marker::epoch_seconds(seconds);
        proptest::prop_assert!(at.is_none_or(|at| at > Timestamp::UNIX_EPOCH));
    }
}
