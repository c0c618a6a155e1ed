//! The registry, the scheduler's lock, task lists and teams.

use super::*;
use crate::core::model::{BackgroundSession, Domain, ProcessId};
use crate::format::testing;

const REAL: &str = r#"{"pid":12187,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/home/dev/src/alpha","startedAt":1795210496141,"procStart":"686753","version":"2.1.197","peerProtocol":1,"kind":"interactive","entrypoint":"cli","name":"alpha-5b","nameSource":"derived","status":"waiting","updatedAt":1795210867329,"waitingFor":"permission prompt"}"#;

#[track_caller]
fn check(name: &str, text: &str, expected: &str) {
    let kind = if name.ends_with(".lock") { Kind::ScheduledTasks } else { Kind::Session };
    let file = testing::image(name, text.as_bytes(), 60);
    assert_eq!(testing::summary(&testing::read(|reading| read(kind, &file, reading))), expected);
}

#[test]
fn a_registry_file_states_session_process_and_start() {
    check(
        "12187.json",
        REAL,
        "Session Current 'registry' context 12187 session 95fe798d-3725-4649-974a-0dec79220193 holder 12187/Agent []",
    );
    let file = testing::image("12187.json", REAL.as_bytes(), 60);
    let record = testing::record(testing::read(|reading| read(Kind::Session, &file, reading)));
    assert_eq!(record.holder.and_then(|holder| holder.start_ticks), Some(686_753));
    assert_eq!(record.title.raw(), "alpha-5b");
}

#[test]
fn a_registry_file_says_where_its_pid_counts() {
    let domain = |stated: &str| {
        let text = REAL.replacen('{', &format!(r#"{{"pidDomain":"{stated}","#), 1);
        let file = testing::image("12187.json", text.as_bytes(), 60);
        let record = testing::record(testing::read(|reading| read(Kind::Session, &file, reading)));
        record.holder.and_then(|holder| holder.domain().cloned())
    };
    let (machine, namespace) = (Some("0af3".into()), Some(4_026_531_836));
    assert_eq!(domain("linux:0af3:pid:[4026531836]"), Some(Domain::Linux { machine, namespace }));
    assert_eq!(domain("linux::"), Some(Domain::Linux { machine: None, namespace: None }));
    assert_eq!(domain("win32:BOX"), Some(Domain::Other));
}

#[test]
fn what_does_not_fit_is_told() {
    check(
        "7.json",
        r#"{"pid":8,"sessionId":"../x"}"#,
        "Session Current 'registry' context 7 session - holder - [unknown-session identity-split]",
    );
    check(
        "7.json",
        r#"{"pid":"7","sessionId":"s"}"#,
        "Session Current 'registry' context 7 session s holder bad/Agent []",
    );
    check("7.json", "[5]", "broken: a JSON list where an object belongs");
    check("7.json", "", "broken: the file is empty");
}

#[test]
fn a_daemon_is_no_agent() {
    let text = r#"{"pid":7,"sessionId":"s","kind":"daemon"}"#;
    check("7.json", text, "Session Current 'registry' context 7 session s holder 7/Daemon []");
}

#[test]
fn the_schedulers_lock_has_pid_and_start() {
    let text = r#"{"sessionId":"9b6cf830-6f87-4de5-bb93-a9d95eedefa0","pid":28873,"procStart":"884506","acquiredAt":1795212474623}"#;
    check(
        "scheduled_tasks.lock",
        text,
        "Lock Current 'scheduled tasks lock' context - session 9b6cf830-6f87-4de5-bb93-a9d95eedefa0 holder 28873/Agent []",
    );
}

#[test]
fn only_numbers_name_a_session() {
    assert_eq!(pid_of("12187.json"), Some("12187"));
    // Beside an entry lies a key, which is a secret and must not be opened.
    let key = "12187.9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08.key";
    for name in [".json", "a.json", "12187.json.tmp", "12187", "-1.json", key] {
        assert_eq!(pid_of(name), None, "{name}");
    }
}

#[test]
fn every_truncation_is_read_or_told() {
    for end in 0..REAL.len() {
        let file = testing::image("12187.json", REAL.get(..end).unwrap_or_default().as_bytes(), 60);
        testing::broken(testing::read(|reading| read(Kind::Session, &file, reading)));
    }
}

proptest::proptest! {
    #[test]
    fn reading_is_total(bytes: Vec<u8>) {
        let file = testing::image("12187.json", &bytes, 60);
        for kind in [Kind::Session, Kind::ScheduledTasks, Kind::Task, Kind::TaskLock, Kind::Team] {
            testing::read(|reading| read(kind, &file, reading));
        }
    }
}

#[track_caller]
fn check_task(list: &str, text: &str, expected: &str) {
    let mut file = testing::image("1.json", text.as_bytes(), 60);
    file.path = format!("/c/tasks/{list}/1.json").as_str().into();
    assert_eq!(testing::summary(&testing::read(|reading| read(Kind::Task, &file, reading))), expected);
}

#[test]
fn a_task_that_was_taken_is_its_lists_and_what_is_free_or_done_is_nobodys() {
    let id = "95fe798d-3725-4649-974a-0dec79220193";
    let begun = r#"{"id":"1","subject":"Fix login","status":"in_progress"}"#;
    check_task(id, begun, &format!("Metadata Current 'task' context {id} session {id} holder - []"));
    check_task("shared", begun, "Metadata Current 'task' context shared session - holder - []");
    let given = r#"{"id":"1","subject":"x","status":"pending","owner":"alice"}"#;
    check_task("shared", given, "Metadata Current 'task' context shared session - holder - []");
    for free in [r#"{"status":"pending"}"#, r#"{"status":"completed","owner":"alice"}"#, "{}"] {
        check_task(id, free, "ignored");
    }
}

#[test]
fn a_list_is_locked_only_while_the_kernel_says_so() {
    let mut file = testing::image(".lock", b"", 60);
    assert_eq!(testing::read(|reading| read(Kind::TaskLock, &file, reading)), FileContents::Ignored);
    file.locked_by = Some(7);
    let held = testing::summary(&testing::read(|reading| read(Kind::TaskLock, &file, reading)));
    assert_eq!(held, "Lock Current 'task list lock, held' context f session - holder 7/Hook []");
}

#[test]
fn a_real_team_is_its_leaders_with_every_member_inside() {
    let Some(bytes) = testing::fixture("agents/claude/home/.claude/teams/session-0a307d7a/config.json")
    else {
        return;
    };
    let file = testing::image("config.json", &bytes, 60);
    let team = testing::record(testing::read(|reading| read(Kind::Team, &file, reading)));
    let facts: Vec<_> = team.facts.iter().map(|(name, value)| (*name, value.raw())).collect();
    assert_eq!(facts, [("leader", "team-lead"), ("members", "team-lead, worker-1")]);
    assert_eq!(team.session_id, Some("0a307d7a-5d79-49da-a955-dfb1973e4c8e".into()));
}

#[test]
fn a_member_with_a_pane_is_told() {
    let text = r#"{"leadSessionId":"s","members":[{"name":"a","tmuxPaneId":"leader"},{"name":"b","tmuxPaneId":"%3","backendType":"tmux"}]}"#;
    let file = testing::image("config.json", text.as_bytes(), 60);
    let team = testing::record(testing::read(|reading| read(Kind::Team, &file, reading)));
    assert!(team.facts.contains(&("in panes", "b".into())));
}

#[test]
fn the_daemon_has_pid_and_start_and_an_editor_only_a_pid() {
    let read_as = |kind, name: &str, text: &str| {
        let file = testing::image(name, text.as_bytes(), 60);
        testing::record(testing::read(|reading| read(kind, &file, reading)))
    };
    let daemon =
        r#"{"pid":7336,"procStart":"854262","spawnedBy":{"label":"claude --bg"},"controlKey":"secret"}"#;
    let daemon = read_as(Kind::Daemon, "daemon.lock", daemon);
    let holder = daemon.holder.clone().unwrap();
    assert_eq!((holder.pid, holder.start_ticks), (Some(StatedPid::Valid(7_336)), Some(854_262)));
    let editor = r#"{"pid":4711,"workspaceFolders":["/src/a","/src/b"],"ideName":"VS Code","transport":"ws","authToken":"secret"}"#;
    let editor = read_as(Kind::Editor, "4711.lock", editor);
    assert_eq!(editor.title.raw(), "VS Code on port 4711");
    assert_eq!(editor.facts.first().map(|(_, folders)| folders.raw()), Some("/src/a, /src/b"));
    for record in [&daemon, &editor] {
        assert!(!format!("{record:?}").contains("secret"), "what authenticates is never shown");
    }
    let windows = read_as(Kind::Editor, "1.lock", r#"{"pid":4711,"runningInWindows":true}"#);
    assert_eq!(windows.holder, None, "the PID is one of another system");
    assert!(is_port("49152.lock") && !is_port("x.lock") && !is_port("99999.lock"));
}

#[test]
fn a_real_roster_says_which_session_goes_on_with_which() {
    let Some(bytes) = testing::fixture("leftovers/world/roster.json") else {
        return;
    };
    let file = testing::image("roster.json", &bytes, 60);
    let record = testing::record(testing::read(|reading| read(Kind::Roster, &file, reading)));
    let RecordDetail::ClaudeCode(ClaudeCode::Roster { daemon, sessions, is_whole }) = record.detail else {
        panic!("{:?}", record.detail)
    };
    let process = |pid, start_ticks| Some(ProcessId { pid, start_ticks });
    let expected = BackgroundSession {
        job: Some("aadb008d".into()),
        process: process(23460, 490_503),
        host: process(23440, 490_475),
        id: Some("aadb008d-77c6-40bf-a1c8-51d4a05b8a87".into()),
        from: Some("3bfae127-eeee-47d5-9dda-553b410841b5".into()),
        since: "2026-11-22T11:21:48.374Z".parse().ok(),
    };
    assert_eq!((daemon, sessions, is_whole), (Some(23423), vec![expected], true));
}

#[test]
fn a_roster_that_does_not_say_where_a_session_comes_from_is_not_whole() {
    let is_whole = |launch: &str| {
        let text = format!(
            r#"{{"supervisorPid":7,"workers":{{"a":{{"pid":8,"procStart":"1","sessionId":"s-1","dispatch":{{"launch":{launch}}}}}}}}}"#
        );
        let file = testing::image("roster.json", text.as_bytes(), 60);
        let record = testing::record(testing::read(|reading| read(Kind::Roster, &file, reading)));
        matches!(record.detail, RecordDetail::ClaudeCode(ClaudeCode::Roster { is_whole: true, .. }))
    };
    assert!(is_whole(r#"{"mode":"prompt"}"#));
    assert!(is_whole(r#"{"mode":"resume","sessionId":"s-2"}"#));
    for launch in [r#"{"mode":"resume"}"#, "{}", "7", r#"{"mode":"resume","sessionId":7}"#] {
        assert!(!is_whole(launch), "{launch}");
    }
}

#[test]
fn a_parked_conversation_and_the_one_that_continues_it_are_one() {
    let worker = |id: &str, launch: &str| {
        format!(r#""{id}":{{"pid":8,"procStart":"1","sessionId":"{id}","dispatch":{{"launch":{launch}}}}}"#)
    };
    let workers = [
        worker("fork", r#"{"mode":"resume","fork":true,"sessionId":"/x/parked.jsonl"}"#),
        worker("new", r#"{"mode":"prompt"}"#),
    ];
    let roster = format!(r#"{{"supervisorPid":7,"workers":{{{}}}}}"#, workers.join(","));
    let of = |session: &str| conversation_of(roster.as_bytes(), &session.into());
    assert_eq!(of("fork"), ["parked".into()]);
    assert_eq!(of("parked"), ["fork".into()]);
    assert_eq!(of("new"), []);
    assert_eq!(conversation_of(b"", &"new".into()), []);
}

#[test]
fn what_a_guard_calls_a_window_has_no_secret() {
    let entry = br#"{"procStart":"7","name":"fix it, my password is hush","status":"busy"}"#;
    assert_eq!(called(entry, 7), Some((Some("fix it, my password is ***".into()), Some("busy"))));
    assert_eq!(called(entry, 8), None);
}
