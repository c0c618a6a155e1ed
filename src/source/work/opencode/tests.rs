use rusqlite::{Connection, params};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::core::model::TurnState;

use super::*;

const ID: &str = "ses_dfcf95c4bffeve2N6nHfB1vg1L";
const SCHEMA: &str = "PRAGMA journal_mode = wal;
CREATE TABLE session (id TEXT PRIMARY KEY, parent_id TEXT, directory TEXT NOT NULL, title TEXT NOT NULL,
    version TEXT NOT NULL, time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, time_compacting INTEGER);
CREATE TABLE message (id TEXT PRIMARY KEY, session_id TEXT NOT NULL, time_created INTEGER NOT NULL,
    time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE part (id TEXT PRIMARY KEY, message_id TEXT NOT NULL, session_id TEXT NOT NULL,
    time_created INTEGER NOT NULL, time_updated INTEGER NOT NULL, data TEXT NOT NULL);
CREATE TABLE todo (session_id TEXT NOT NULL, content TEXT NOT NULL, status TEXT NOT NULL,
    priority TEXT NOT NULL, position INTEGER NOT NULL, PRIMARY KEY (session_id, position));";

/// A database of opencode's that is open for writing, with one session, and what is read of it.
struct Opencode {
    folder: TempDir,
    store: Connection,
    kept: RowCache,
    /// When its window started.
    since: Option<Timestamp>,
}

impl Opencode {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let store = Connection::open(folder.path().join("opencode.db")).unwrap();
        store.execute_batch(SCHEMA).unwrap();
        let row = "INSERT INTO session VALUES (?1, NULL, '/src', 'Fix it', '1.18.33', 0, 9000, NULL)";
        store.execute(row, [ID]).unwrap();
        Self { folder, store, kept: RowCache::default(), since: None }
    }

    fn message(&self, id: &str, at: i64, data: &Value) {
        self.message_of(ID, id, at, data);
    }

    fn message_of(&self, session: &str, id: &str, at: i64, data: &Value) {
        let row = "INSERT OR REPLACE INTO message VALUES (?1, ?2, ?3, ?3, ?4)";
        self.store.execute(row, params![id, session, at, data.to_string()]).unwrap();
    }

    fn part(&self, id: &str, message: &str, at: i64, data: &str) {
        self.part_of(ID, (id, message), at, data);
    }

    fn part_of(&self, session: &str, (id, message): (&str, &str), at: i64, data: &str) {
        let row = "INSERT OR REPLACE INTO part VALUES (?1, ?2, ?3, ?4, ?4, ?5)";
        self.store.execute(row, params![id, message, session, at, data]).unwrap();
    }

    /// Adds a sub-session that runs a command, and has edited a file.
    fn sub_session(&self, id: &str, parent: &str, file: &str) {
        let row = "INSERT INTO session VALUES (?1, ?2, '/src', ?3, '1.18.33', 0, 9500, NULL)";
        self.store.execute(row, [id, parent, &format!("Count {id}")]).unwrap();
        let own = |name: &str| format!("{id}-{name}");
        self.message_of(id, &own("m1"), 3_000, &json!({ "role": "user" }));
        self.part_of(id, (&own("p1"), &own("m1")), 3_000, r#"{"type":"text","text":"Count lines"}"#);
        self.message_of(id, &own("m2"), 3_100, &json!({ "role": "assistant" }));
        self.part_of(id, (&own("p2"), &own("m2")), 3_200, &write(file));
        self.part_of(id, (&own("p3"), &own("m2")), 3_300, &bash("running").to_string());
    }

    fn look(&mut self) -> Work {
        let path = self.folder.path().join("opencode.db");
        let copies = Copies::in_folder(&self.folder.path().join("copies"));
        let files = Files::stat(&path).unwrap();
        let sessions = [(ID.into(), self.since), ("ses_none".into(), None)].into();
        self.kept.look(&path, files, &sessions, files.touched_at(), &copies);
        assert_eq!(self.kept.work.len(), 1);
        (*self.kept.work[&ID.into()]).clone()
    }
}

/// A session whose newest answer runs a command.
fn busy() -> Opencode {
    let own = Opencode::new();
    own.message("m1", 1_000, &json!({ "role": "user", "summary": { "diffs": ["x".repeat(LONGEST)] } }));
    let prompt = json!({ "type": "text", "text": format!("Fix it\n{}", "x".repeat(2 * LONGEST)) });
    own.part("p1", "m1", 1_000, &prompt.to_string());
    own.message("m2", 2_000, &json!({ "role": "assistant", "modelID": "m", "time": { "created": 2_000 } }));
    own.part("p2", "m2", 2_100, &bash("running").to_string());
    own
}

fn bash(status: &str) -> Value {
    let state = json!({ "status": status, "input": { "command": "cargo test", "content": "x".repeat(LONGEST) },
                        "metadata": { "output": "x".repeat(LONGEST) }, "time": { "start": 2_500 } });
    json!({ "type": "tool", "tool": "bash", "callID": "c1", "state": state })
}

/// A call that has written a file, whose text is longer than what is read of a document.
fn write(name: &str) -> String {
    let text = "x".repeat(LONGEST);
    let state = json!({ "status": "completed", "input": { "content": text, "filePath": format!("/src/{name}") },
                        "metadata": { "diff": text }, "output": "Wrote it." });
    json!({ "type": "tool", "tool": "write", "callID": name, "state": state }).to_string()
}

#[test]
fn its_rows_say_what_a_session_does() {
    let mut own = busy();
    let todo = "INSERT INTO todo VALUES (?1, 'Write the test', 'in_progress', 'high', 0)";
    own.store.execute(todo, [ID]).unwrap();
    let work = own.look();
    let Work { doing, skipped, .. } = &work;
    assert_eq!(doing.prompt.as_ref().map(|prompt| prompt.text.raw()), Some("Fix it"));
    assert_eq!(doing.turn.state, TurnState::Working);
    assert_eq!(doing.calls.iter().map(|call| call.tool.raw()).collect::<Vec<_>>(), ["bash"]);
    assert_eq!(
        (doing.title.as_ref(), doing.todo.as_ref()),
        (Some(&"Fix it".into()), Some(&"Write the test".into()))
    );
    assert_eq!((doing.edits_since, *skipped, work.written_at), (None, 0, time::epoch_ms(9_000).unwrap()));

    own.part("p2", "m2", 2_100, &bash("completed").to_string());
    own.part("p3", "m2", 2_200, &write("a.rs"));
    let doing = own.look().doing;
    assert_eq!((doing.calls.len(), doing.edits.len()), (0, 1));
}

#[test]
fn a_long_session_is_read_in_bounds_and_says_since_when() {
    let mut own = busy();
    own.part("old", "m1", 500, &write("old.rs"));
    own.store.execute_batch("BEGIN").unwrap();
    for at in 0..EDITS {
        let text = if at == 7 { write("new.rs") } else { "{\"type\":\"reasoning\"}".to_owned() };
        own.part(&format!("q{at}"), "m2", 3_000 + i64::try_from(at).unwrap(), &text);
        let ended = json!({ "role": "assistant", "finish": "tool-calls", "time": { "completed": 3_000 } });
        own.message(&format!("n{at}"), 3_000 + i64::try_from(at).unwrap(), &ended);
    }
    own.store.execute_batch("COMMIT").unwrap();
    let doing = own.look().doing;
    assert_eq!(doing.edits.iter().map(|edit| edit.path.raw()).collect::<Vec<_>>(), ["/src/new.rs"]);
    assert_eq!(doing.edits_since, time::epoch_ms(2_100));
    // The prompt lies before all the messages that are read.
    assert_eq!(doing.prompt.map(|prompt| prompt.text), Some("Fix it".into()));
    assert_eq!((doing.turn.state, doing.turn.since), (TurnState::Working, time::epoch_ms(1_000)));
}

#[test]
fn each_sub_session_that_runs_is_a_sub_agent_and_all_their_edits_count() {
    let mut own = busy();
    own.part("p3", "m2", 2_200, &write("a.rs"));
    own.sub_session("ses_a", ID, "a.rs");
    own.sub_session("ses_b", "ses_a", "b.rs");
    own.sub_session("ses_elsewhere", "ses_none", "no.rs");
    let work = own.look();
    let [below, agent] = work.agents.as_slice() else { panic!("{:?}", work.agents) };
    assert_eq!((agent.id.raw(), below.id.raw()), ("ses_a", "ses_b"));
    assert_eq!(agent.task, Some("Count ses_a".into()));
    assert_eq!(agent.call.as_ref().map(|call| call.tool.raw()), Some("bash"));
    assert_eq!(agent.since, time::epoch_ms(3_000));
    let edits = work.doing.edits.iter().map(|edit| (edit.path.raw(), edit.by.as_ref().map(Untrusted::raw)));
    assert_eq!(edits.collect::<Vec<_>>(), [("/src/a.rs", Some("ses_a")), ("/src/b.rs", Some("ses_b"))]);
    // Its own answer, and what it waits for, are not theirs.
    assert_eq!(
        (work.doing.prompt.map(|it| it.text), work.written_at),
        (Some("Fix it".into()), time::epoch_ms(9_000).unwrap())
    );

    own.message_of(
        "ses_a",
        "ses_a-m2",
        3_100,
        &json!({ "role": "assistant", "time": { "completed": 4_000 } }),
    );
    let work = own.look();
    assert_eq!(
        work.agents.iter().map(|agent| agent.id.raw()).collect::<Vec<_>>(),
        ["ses_b"],
        "one has finished"
    );
    assert_eq!(work.doing.edits.len(), 2);
    own.since = time::epoch_ms(9_501);
    assert_eq!(own.look().agents, [], "they were those of the window before");
}

#[test]
fn sub_sessions_in_a_circle_or_too_many_are_read_in_bounds() {
    let mut own = busy();
    own.sub_session("ses_a", "ses_b", "a.rs");
    own.sub_session("ses_b", "ses_a", "b.rs");
    assert_eq!(own.look().agents, []);
    own.store.execute("UPDATE session SET parent_id = ?1 WHERE id = 'ses_a'", [ID]).unwrap();
    own.store.execute("UPDATE session SET parent_id = 'ses_b' WHERE id = ?1", [ID]).unwrap();
    own.store.execute("UPDATE session SET parent_id = 'ses_a' WHERE id = 'ses_b'", []).unwrap();
    assert_eq!(own.look().agents.len(), 2);
    for at in 0..AGENTS {
        own.sub_session(&format!("ses_{at}"), ID, &format!("{at}.rs"));
    }
    let work = own.look();
    assert_eq!((work.agents.len(), work.doing.edits_since), (AGENTS, time::epoch_ms(9_500)));
}

#[test]
fn what_a_fork_has_copied_is_its_origin_s() {
    let mut own = busy();
    own.store.execute("UPDATE session SET time_created = 5000", []).unwrap();
    own.part("p3", "m2", 5_100, &write("copied.rs"));
    own.message("m3", 6_000, &json!({ "role": "assistant" }));
    own.part("p4", "m3", 6_100, &write("own.rs"));
    let edits = own.look().doing.edits;
    assert_eq!(edits.iter().map(|edit| edit.path.raw()).collect::<Vec<_>>(), ["/src/own.rs"]);
}

#[test]
fn a_call_that_is_too_long_is_said_to_be_left_out() {
    let mut own = busy();
    own.part("p3", "m2", 2_200, &write("a.rs"));
    own.part("p4", "m2", 2_300, &format!(r#"{{"type":"tool","x":"{}"}}"#, "x".repeat(LONGEST_EDIT)));
    own.part("p5", "m2", 2_400, &json!({ "type": "text", "text": "x".repeat(2 * LONGEST) }).to_string());
    own.part("p6", "m2", 2_500, &json!({ "type": "patch", "files": ["/src/other.rs"] }).to_string());
    let Work { doing, skipped, .. } = own.look();
    assert_eq!((doing.edits.len(), doing.edits_since, skipped), (1, time::epoch_ms(2_300), 1));
}

#[test]
fn a_database_that_cannot_be_read_keeps_what_it_said() {
    let mut own = busy();
    own.message("m3", 3_000, &json!("no object"));
    let before = own.look();
    assert_eq!(before.skipped, 1);
    own.store.execute_batch("BEGIN EXCLUSIVE; DROP TABLE part; COMMIT").unwrap();
    assert_eq!(own.look(), before);
}

#[test]
fn real_rows_say_what_their_session_did() {
    let Some(bytes) = crate::format::fixture("work/opencode/db-rows.json") else { return };
    let tables: Value = serde_json::from_slice(&bytes).unwrap();
    let mut own = Opencode::new();
    own.store.execute("UPDATE session SET title = 'Answer, done.'", []).unwrap();
    for row in tables["message"].as_array().unwrap() {
        own.message(row["id"].as_str().unwrap(), row["time_created"].as_i64().unwrap(), &row["data"]);
    }
    for row in tables["part"].as_array().unwrap() {
        let [id, message] = ["id", "message_id"].map(|column| row[column].as_str().unwrap());
        own.part(id, message, row["time_created"].as_i64().unwrap(), &row["data"].to_string());
    }
    let Work { doing, skipped, .. } = own.look();
    assert_eq!((doing.turn.state, skipped), (TurnState::Finished, 0));
    assert_eq!(doing.prompt.map(|prompt| prompt.text), Some("First job. DO: p1".into()));
    let edits: Vec<&str> = doing.edits.iter().map(|edit| edit.path.raw()).collect();
    assert_eq!(edits, ["/home/dev/src/epsilon/b.txt", "/home/dev/src/epsilon/c.txt"]);
    assert_eq!((doing.model, doing.context.map(|fill| fill.tokens)), (Some("m1".into()), Some(21_000)));
}

#[test]
fn a_database_that_cannot_be_read_keeps_what_it_said_and_says_why() {
    let mut opencode = Opencode::new();
    opencode.look();
    assert_eq!(opencode.kept.unread, None);
    let path = opencode.folder.path().join("opencode.db");
    let sessions: Sessions = [(ID.into(), None)].into();
    // Its log is removed when the last connection closes.
    opencode.store = Connection::open_in_memory().unwrap();
    std::fs::write(&path, "no database at all, and long enough to be taken for one").unwrap();
    let files = Files::stat(&path).unwrap();
    let copies = Copies::in_folder(&opencode.folder.path().join("copies"));
    opencode.kept.look(&path, files, &sessions, files.touched_at(), &copies);
    assert_eq!(opencode.kept.unread, Some((vec![ID.into()], WhyUnread::Damaged)));
    assert!(opencode.kept.work.contains_key(&ID.into()));
}

#[test]
fn what_was_said_lately_is_read() {
    let opencode = Opencode::new();
    opencode.message("m1", 1_000, &json!({ "role": "user" }));
    opencode.part("p1", "m1", 1_000, r#"{"type":"text","text":"Fix it"}"#);
    opencode.part("p2", "m1", 1_001, r#"{"type":"text","text":"a reminder","synthetic":true}"#);
    opencode.message("m2", 2_000, &json!({ "role": "assistant" }));
    opencode.part("p3", "m2", 2_000, r#"{"type":"text","text":"I will."}"#);
    let ran = json!({ "type": "tool", "tool": "bash", "callID": "c1",
        "state": { "status": "completed", "input": { "command": "cargo test" } } });
    opencode.part("p4", "m2", 2_100, &ran.to_string());
    opencode.part("p5", "m2", 2_200, "{");
    let asked = json!({ "type": "tool", "tool": "question", "callID": "q1", "state": { "status": "running",
        "input": { "questions": [{ "question": "Which?", "options": [{ "label": "A" }] }] } } });
    opencode.part("p6", "m2", 2_300, &asked.to_string());
    let copies = Copies::in_folder(&opencode.folder.path().join("copies"));
    let talk = talk(&opencode.folder.path().join("opencode.db"), &ID.into(), &copies).unwrap();
    let text = |one: &crate::core::model::Utterance| one.text.raw().to_owned();
    assert_eq!(talk.prompt().map(text).as_deref(), Some("Fix it"));
    assert_eq!(talk.answer().iter().map(text).collect::<Vec<_>>(), ["I will."]);
    assert_eq!(talk.questions().map(text).collect::<Vec<_>>(), ["Which?"]);
    assert_eq!(talk.last_calls().count(), 1);
}
