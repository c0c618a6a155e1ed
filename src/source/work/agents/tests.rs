use std::fs::{create_dir_all, write};
use std::os::unix::fs::MetadataExt as _;

use tempfile::TempDir;

use crate::core::model::{Doing, Edit, Format, Medium};
use crate::format::{fixture, spec};

use super::*;

/// The sub-agents of a session, in a folder of their own.
struct Session {
    folder: TempDir,
    agents: Agents,
    fence: Fence,
}

impl Session {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let transcript = folder.path().join("session.jsonl");
        let agents =
            Agents::for_session(&spec(Format::ClaudeCode).unwrap().transcripts.unwrap(), &transcript)
                .unwrap();
        create_dir_all(folder.path().join("session/subagents")).unwrap();
        Self { folder, agents, fence: Fence::default() }
    }

    fn write(&self, name: &str, text: &str) {
        write(self.folder.path().join("session/subagents").join(name), text).unwrap();
    }

    /// Looks, and returns what they add to a session with these edits.
    fn look(&mut self, edits: &[(&str, &str)], since: Option<Timestamp>) -> Work {
        let adapter = spec(Format::ClaudeCode).unwrap().transcripts.unwrap().adapter;
        // The folder was listed in the second of its last change: so it is listed again.
        let now = look_at(&self.agents.folder).unwrap().touched_at();
        let uid = self.folder.path().metadata().unwrap().uid();
        self.agents.look(adapter, uid, (&self.fence, now));
        let edit = |(path, at): &(&str, &str)| Edit::new((*path).into(), at.parse().ok());
        let mut work = Work {
            format: Format::ClaudeCode,
            session: "session".into(),
            path: self.folder.path().join("session.jsonl").into(),
            medium: Medium::Local,
            written_at: now,
            doing: Doing { edits: edits.iter().map(edit).collect(), ..Doing::default() },
            agents: Vec::new(),
            warnings: Vec::new(),
            skipped: 0,
        };
        self.agents.join(&mut work, since);
        work
    }
}

fn edits(work: &Work) -> Vec<(&str, &str)> {
    work.doing
        .edits
        .iter()
        .map(|edit| (edit.path.raw(), edit.by.as_ref().map_or("", Untrusted::raw)))
        .collect()
}

const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"Count"},"timestamp":"2026-11-22T11:00:00Z"}
"#;
const CALL: &str = r#"{"type":"assistant","message":{"model":"m","content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"wc"}}]},"timestamp":"2026-11-22T11:00:05Z"}
"#;

fn edited(path: &str, second: u32) -> String {
    format!(
        r#"{{"type":"user","message":{{"content":[{{"type":"tool_result","tool_use_id":"t1"}}]}},"toolUseResult":{{"filePath":"{path}","structuredPatch":[]}},"timestamp":"2026-11-22T11:00:{second:02}Z"}}"#
    ) + "\n"
}

#[test]
fn one_that_has_not_finished_is_told_with_its_call() {
    let mut session = Session::new();
    session.write("agent-a1.meta.json", r#"{"description":"Count lines"}"#);
    session.write("agent-a1.jsonl", &format!("{PROMPT}{CALL}"));
    let work = session.look(&[], None);
    let [agent] = work.agents.as_slice() else { panic!("{:?}", work.agents) };
    assert_eq!((agent.id.raw(), agent.task.as_ref()), ("a1", Some(&"Count lines".into())));
    assert_eq!(agent.call.as_ref().map(|call| call.tool.raw()), Some("Bash"));
    assert_eq!(agent.since, "2026-11-22T11:00:00Z".parse().ok());

    let later = work.written_at.checked_add(jiff::SignedDuration::from_hours(1)).unwrap();
    assert_eq!(session.look(&[], Some(later)).agents, [], "it was the window's before");
    session.write("agent-a1.meta.json", r#"{"description":"Count lines","finished":true}"#);
    assert_eq!(session.look(&[], None).agents, []);
    session.write("agent-a2.jsonl", PROMPT);
    assert_eq!(session.look(&[], None).agents, [], "nothing says whether it has finished");
}

#[test]
fn who_edited_a_file_last_is_told() {
    let mut session = Session::new();
    session.write("agent-a1.jsonl", &(edited("/a", 1) + &edited("/b", 9) + "no line\n"));
    session.write("agent-a2.jsonl", &edited("/c", 3));
    session.write("other.jsonl", &edited("/d", 3));
    let own = [("/a", "2026-11-22T11:00:05Z"), ("/b", "2026-11-22T11:00:05Z"), ("/e", "")];
    let work = session.look(&own, None);
    assert_eq!(edits(&work), [("/a", ""), ("/b", "a1"), ("/c", "a2"), ("/e", "")]);
    assert_eq!((work.doing.edits_since.is_some(), work.skipped), (true, 1), "a line was lost");
}

#[test]
fn every_sub_agent_that_edited_a_file_is_told() {
    let mut session = Session::new();
    session
        .write("agent-a1.jsonl", &(edited("/a", 1) + &edited("/a", 2) + &edited("/b", 9) + &edited("/c", 1)));
    session.write("agent-a2.jsonl", &(edited("/b", 3) + &edited("/c", 2)));
    let work = session.look(&[("/c", "2026-11-22T11:00:05Z")], None);
    let editors = |edit: &Edit| edit.sub_agents().map(|id| id.raw().to_owned()).collect::<Vec<_>>();
    let told: Vec<(&str, Vec<String>)> =
        work.doing.edits.iter().map(|edit| (edit.path.raw(), editors(edit))).collect();
    let both = vec!["a1".to_owned(), "a2".to_owned()];
    assert_eq!(told, [("/a", vec!["a1".to_owned()]), ("/b", both.clone()), ("/c", both)]);
    assert_eq!(work.doing.edits[2].by, None, "the session itself was the last");
}

#[test]
fn only_the_newest_are_followed() {
    let mut session = Session::new();
    for at in 0..MOST + 3 {
        session.write(&format!("agent-{at:02}.jsonl"), &edited(&format!("/{at:02}"), 1));
        let path = session.folder.path().join(format!("session/subagents/agent-{at:02}.jsonl"));
        let moment = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000 + at as u64);
        let file = std::fs::File::options().write(true).open(path).unwrap();
        file.set_modified(moment).unwrap();
    }
    let work = session.look(&[], None);
    let seen = edits(&work);
    assert_eq!((seen.len(), seen.first()), (MOST, Some(&("/03", "03"))));
}

#[test]
fn a_session_without_any_adds_nothing() {
    let mut session = Session::new();
    session.write("agent-a1.jsonl", &edited("/a", 1));
    assert_eq!(edits(&session.look(&[], None)), [("/a", "a1")]);
    session.fence = Fence::new([session.folder.path().join("elsewhere").as_path()]);
    assert_eq!(edits(&session.look(&[], None)), [], "they lie where nothing may be read");
    session.fence = Fence::default();
    assert_eq!(edits(&session.look(&[], None)), [("/a", "a1")]);
    std::fs::remove_file(session.folder.path().join("session/subagents/agent-a1.jsonl")).unwrap();
    assert_eq!(edits(&session.look(&[], None)), []);
}

#[test]
fn a_real_one_has_finished_and_its_edits_are_known() {
    let read = |end: &str| fixture(&format!("work/claude/subagents/agent-ac5ebff653b06c46b.{end}"));
    let Some((note, lines)) = read("meta.json").zip(read("jsonl")) else { return };
    let (note, lines) = (String::from_utf8(note).unwrap(), String::from_utf8(lines).unwrap());
    let mut session = Session::new();
    session.write("agent-ac5ebff653b06c46b.meta.json", &note);
    session.write("agent-ac5ebff653b06c46b.jsonl", &lines);
    let work = session.look(&[], None);
    assert_eq!((work.agents.as_slice(), work.skipped), (&[][..], 0));
    let by: Vec<&str> = edits(&work).into_iter().map(|(_, by)| by).collect();
    assert_eq!(by, ["ac5ebff653b06c46b"]);
    session.write("agent-ac5ebff653b06c46b.meta.json", &note.replace("\"finished\": true", "\"x\": 1"));
    let work = session.look(&[], None);
    assert_eq!(work.agents.first().and_then(|agent| agent.task.clone()), Some("Sub job".into()));
}

#[test]
fn a_transcript_that_is_not_read_is_told() {
    let mut session = Session::new();
    session.write("agent-a1.jsonl", "");
    let folder = session.folder.path().join("session/subagents");
    std::os::unix::fs::symlink(folder.join("agent-a1.jsonl"), folder.join("agent-a2.jsonl")).unwrap();
    session.look(&[], None);
    let unread: Vec<_> = session.agents.unread().collect();
    assert_eq!(unread, [(folder.join("agent-a2.jsonl").as_path(), WhyUnread::Link)]);
    std::fs::remove_file(folder.join("agent-a2.jsonl")).unwrap();
    session.look(&[], None);
    assert_eq!(session.agents.unread().count(), 0);
}
