//! Qwen Code: it keeps no claims; the work of its sessions is in `projects/<folder>/chats/<session>.jsonl`.
//!
//! An answer is written whole, before its tools run; a snapshot names every file that was edited.
//!
//! Seen with 0.15.10 and 0.24.4.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use serde::Deserialize;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::snapshot::work::TurnState;
use crate::core::model::{Host, ProcessId, Talk, Untrusted};
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::place::Base;
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::transcripts::{Layout, SubAgents, Transcripts};
use crate::format::work::talk::call;
use crate::format::work::{Adapter, Draft, SubAgentNote, first_line, target};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]).with_transcripts(Transcripts {
    sub_agents: Some(SubAgents { folder: sub_agents_of, note: sub_agent }),
    ..Transcripts::new((ADAPTER, read_talk), Base::Home, ".qwen/projects", Layout::Folders { inner: "chats" })
});

/// Returns the folder of a session's sub-agents, `subagents/<session>` beside the folder of its transcript.
fn sub_agents_of(transcript: &Path) -> Option<PathBuf> {
    let project = transcript.parent()?.parent()?;
    Some(project.join("subagents").join(transcript.file_stem()?))
}

/// How a session is read.
const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["write_file", "edit"];

/// The facts of a process in `~/.qwen/sessions/<pid>.json`. The file also has the token of the process's socket: it is
/// a secret, and no field takes it.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RegistryEntry {
    pid: u32,
    /// `<boot ID>:<start in ticks since the boot>`.
    proc_start: String,
    pid_ns: Option<u64>,
    session_id: String,
}

/// The facts in `<session>.runtime.json` about the process that has begun or continued a session.
#[derive(Deserialize)]
struct RuntimeEntry {
    pid: u32,
    session_id: String,
    hostname: String,
}

/// Returns the process of a registry's file, and the session that it runs; `None` for another boot or PID namespace,
/// whose numbers have no meaning here.
pub(crate) fn registered(text: &[u8], host: &Host) -> Option<(ProcessId, Untrusted)> {
    let RegistryEntry { pid, proc_start, pid_ns, session_id } = serde_json::from_slice(text).ok()?;
    let (boot, ticks) = proc_start.rsplit_once(':')?;
    let is_here =
        host.boot_id.as_deref() == Some(boot) && pid_ns.is_none_or(|ns| host.pid_namespace == Some(ns));
    let process = ProcessId { pid, start_ticks: ticks.parse().ok().filter(|_| is_here)? };
    is_valid_id(&session_id).then(|| (process, session_id.into()))
}

/// Returns the PID of the process on this machine that has begun or continued a session, and the session.
pub(crate) fn begun(text: &[u8], host: &Host) -> Option<(u32, Untrusted)> {
    let RuntimeEntry { pid, session_id, hostname } = serde_json::from_slice(text).ok()?;
    (hostname == host.name && is_valid_id(&session_id)).then(|| (pid, session_id.into()))
}

/// Reads the note of a sub-agent; `None` if it is not one.
pub(crate) fn sub_agent(bytes: &[u8]) -> Option<SubAgentNote> {
    let note = json::parse(bytes).ok()?;
    let task = note.str("description").map(first_line);
    Some(SubAgentNote { task, is_finished: note.str("status") != Some("running") })
}

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_all_edits && draft.has_turn && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = draft.comes_from(line);
    match line.str("type") {
        Some("user") => {
            // Earlier versions do not name the author.
            let is_typed = line.str("provenance").is_none_or(|from| from == "real_user");
            match parts(line).find_map(|part| part.str("text")) {
                Some(text) if is_typed && !text.starts_with("<task-notification>") => draft.asks(text, at),
                // A sub-agent has finished, or the agent sends its model something else.
                Some(_) => draft.works(at),
                None => {}
            }
        }
        Some("assistant") => answer(draft, line, at),
        Some("tool_result") => result(draft, line, at),
        Some("system") => system(draft, line, at),
        Some(_) | None => {}
    }
}

/// Takes over what one line says.
fn read_talk(talk: &mut Talk, line: &Object<'_>) {
    let at = line.str("timestamp").and_then(time::rfc3339);
    let is_thought = |part: &&Object<'_>| part.is_true("thought");
    match line.str("type") {
        Some("user") if line.str("provenance").is_none_or(|from| from == "real_user") => {
            let text = parts(line).find_map(|part| part.str("text"));
            if let Some(text) = text.filter(|text| !text.starts_with("<task-notification>")) {
                talk.prompts(text, at);
            }
        }
        Some("assistant") if !line.has("agentId") => {
            for part in parts(line).filter(|part| !is_thought(part)) {
                if let Some(function) = part.object("functionCall") {
                    let name = |name| function.str(name).unwrap_or_default();
                    let input = function.object("args");
                    let about = input.and_then(|input| target(input, None));
                    call(talk, (name("id"), name("name")), (input, about), at);
                } else {
                    talk.answers(part.str("text").unwrap_or_default(), at);
                }
            }
        }
        Some("tool_result") => {
            let result = line.object("toolCallResult").and_then(|result| result.str("callId"));
            talk.returns(result.unwrap_or_default());
        }
        Some(_) | None => {}
    }
}

fn parts<'a, 'b>(line: &'b Object<'a>) -> impl Iterator<Item = &'b Object<'a>> {
    let parts = line.object("message").and_then(|message| message.get("parts"));
    parts.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_object)
}

/// An answer: the last one of a turn calls no tool.
fn answer(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    if let Some(model) = line.text("model") {
        draft.doing.model = Some(model);
    }
    let tokens = line.object("usageMetadata").and_then(|usage| usage.int("promptTokenCount"));
    if let Some(tokens) = tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
        draft.fills(tokens);
    }
    // A sub-agent's calls are written one by one.
    if let Some(id) = line.text("uuid").filter(|_| !line.has("agentId")) {
        draft.answers(id);
    }
    let mut calls = parts(line).filter_map(|part| part.object("functionCall")).peekable();
    if calls.peek().is_none() {
        return draft.turns(TurnState::Finished, at);
    }
    for call in calls {
        let target = call.object("args").and_then(|args| target(args, draft.folder()));
        draft.calls(call.str("id").unwrap_or_default(), call.str("name").unwrap_or_default(), target, at);
    }
}

/// A result: that of the last call ends the turn if a person has cancelled it.
fn result(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(result) = line.object("toolCallResult") else { return };
    draft.returns(result.str("callId").unwrap_or_default());
    if result.str("status") == Some("cancelled") && draft.doing.calls.is_empty() {
        draft.turns(TurnState::Interrupted, at);
    }
}

fn system(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(payload) = line.object("systemPayload") else { return };
    match line.str("subtype") {
        Some("attribution_snapshot") => {
            let files = payload.object("snapshot").and_then(|snapshot| snapshot.object("fileStates"));
            let Some(files) = files else { return };
            draft.forgets_edits();
            files.iter().for_each(|(path, _)| draft.lists(path, None, None));
        }
        Some("chat_compression") => {
            let tokens = payload.object("info").and_then(|info| info.int("newTokenCount"));
            draft.doing.context = None;
            if let Some(tokens) = tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
                draft.fills(tokens);
            }
        }
        Some("ui_telemetry") => {
            let event = payload.object("uiEvent");
            if let Some(event) = event.filter(|event| event.str("event.name") == Some("qwen-code.api_error"))
            {
                draft.fails(event.str("error_message").unwrap_or_default(), at);
            }
            if let Some(path) = event.and_then(edited) {
                let origin = line.object("forkedFrom").and_then(|origin| origin.text("sessionId"));
                draft.has_edited(path, line.str("cwd"), at, origin);
            }
        }
        Some(_) | None => {}
    }
}

/// Returns the file that a tool has written.
fn edited<'b>(event: &'b Object<'_>) -> Option<&'b str> {
    let is_edit = event.str("event.name") == Some("qwen-code.tool_call")
        && event.str("status") == Some("success")
        && event.str("function_name").is_some_and(|name| WRITES.contains(&name));
    event.object("function_args").filter(|_| is_edit)?.str("file_path")
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::Doing;
    use crate::format::work::testing::{
        calls, check_fixtures, check_tails, check_torn, edits, prompt, whole,
    };

    use super::*;

    const PROMPT: &str = r#"{"timestamp":"2026-11-22T11:00:00Z","type":"user","cwd":"/src","version":"0.15.10","message":{"parts":[{"text":"Fix it\nplease"},{"text":"a hook's"}]}}"#;
    const FILES: &str = r#"{"timestamp":"2026-11-22T11:00:01Z","type":"system","cwd":"/src","version":"0.15.10","subtype":"attribution_snapshot","systemPayload":{"snapshot":{"fileStates":{"/src/a.rs":{}}}}}"#;
    const EDIT: &str = r#"{"timestamp":"2026-11-22T11:00:02Z","type":"assistant","cwd":"/src","version":"0.15.10","model":"m","message":{"parts":[{"text":"I will."},{"functionCall":{"id":"c1","name":"edit","args":{"file_path":"b.rs"}}},{"functionCall":{"id":"c2","name":"run_shell_command","args":{"command":"cargo test"}}}]},"usageMetadata":{"promptTokenCount":2100}}"#;
    const EDITED: &str = r#"{"timestamp":"2026-11-22T11:00:03Z","type":"system","cwd":"/src","version":"0.15.10","subtype":"ui_telemetry","systemPayload":{"uiEvent":{"event.name":"qwen-code.tool_call","function_name":"edit","function_args":{"file_path":"b.rs"},"status":"success"}}}"#;
    const DONE: &str = r#"{"timestamp":"2026-11-22T11:00:04Z","type":"tool_result","cwd":"/src","version":"0.15.10","toolCallResult":{"callId":"c1","status":"success"}}"#;
    const CANCEL: &str = r#"{"timestamp":"2026-11-22T11:00:05Z","type":"tool_result","cwd":"/src","version":"0.15.10","toolCallResult":{"callId":"c2","status":"cancelled"}}"#;
    #[test]
    fn what_was_said_is_read_without_thoughts() {
        let thought =
            r#"{"type":"assistant","message":{"parts":[{"text":"Hm","thought":true},{"text":"Done."}]}}"#;
        let told = crate::format::work::talk::testing::summary(read_talk, &[PROMPT, EDIT, DONE, thought]);
        assert_eq!(told, ["", "Done.", "run_shell_command cargo test; edit b.rs", "Fix it\nplease"]);
    }

    const ALL: [&str; 6] = [PROMPT, FILES, EDIT, EDITED, DONE, CANCEL];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn a_call_is_open_until_its_result() {
        let open = doing(&ALL[..3]);
        assert_eq!(calls(&open), [("edit", "/src/b.rs"), ("run_shell_command", "cargo test")]);
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!(open.context.map(|context| (context.tokens, context.window)), Some((2100, None)));
        let next = doing(&ALL[..5]);
        assert_eq!(calls(&next), [("run_shell_command", "cargo test")]);
        assert_eq!(edits(&next), ["/src/a.rs", "/src/b.rs"]);
    }

    #[test]
    fn a_turn_ends_with_an_answer_or_with_its_person() {
        assert_eq!(doing(&ALL).turn.state, TurnState::Interrupted);
        assert_eq!(doing(&[PROMPT, EDIT, &CANCEL.replace("c2", "c1")]).turn.state, TurnState::Working);
        let answer = r#"{"type":"assistant","message":{"parts":[{"text":"Done."}]}}"#;
        assert_eq!(doing(&[PROMPT, EDIT, answer]).turn.state, TurnState::Finished);
    }

    #[test]
    fn a_tool_that_failed_edits_nothing() {
        assert_eq!(edits(&doing(&[&EDITED.replace("success", "error")])), [""; 0]);
    }

    fn host() -> Host {
        let (name, boot_id) = ("m".to_owned(), Some("b-1".to_owned()));
        Host { name, boot_id, pid_namespace: Some(7), ..crate::format::testing::host(0) }
    }

    const ENTRY: &str = r#"{"schemaVersion":1,"pid":42,"procStart":"b-1:4100","pidNs":7,"sessionId":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/src","name":"shop-1","ipcPath":"/tmp/42.sock","ipcToken":"hush"}"#;

    #[test]
    fn the_registry_names_a_process_of_this_boot_and_namespace_alone() {
        let (process, session) = registered(ENTRY.as_bytes(), &host()).unwrap();
        assert_eq!((process.pid, process.start_ticks), (42, 4100));
        assert_eq!(session.raw(), "95fe798d-3725-4649-974a-0dec79220193");
        for (from, to) in [
            ("b-1:", "b-2:"),
            ("b-1:4100", "4100"),
            (":4100", ":x"),
            ("\"pidNs\":7", "\"pidNs\":8"),
            ("95fe798d", "../95"),
            ("\"sessionId\"", "\"session\""),
            ("hush\"}", "hu"),
        ] {
            assert_eq!(registered(ENTRY.replace(from, to).as_bytes(), &host()), None, "{to}");
        }
        let of_before = ENTRY.replace("\"pidNs\":7,", "");
        assert!(registered(of_before.as_bytes(), &host()).is_some());
    }

    #[test]
    fn a_session_s_note_names_its_process_on_this_machine_alone() {
        let note =
            r#"{"schema_version":1,"pid":42,"session_id":"95fe798d-3725","hostname":"m","started_at":1.5}"#;
        assert_eq!(begun(note.as_bytes(), &host()), Some((42, "95fe798d-3725".into())));
        assert_eq!(begun(note.replace("\"m\"", "\"other\"").as_bytes(), &host()), None);
        assert_eq!(begun(note.replace("95fe", "a/b").as_bytes(), &host()), None);
        assert_eq!(begun(b"{}", &host()), None);
    }

    #[test]
    fn what_the_agent_tells_its_model_is_no_prompt() {
        let told = PROMPT
            .replace("Fix it", "Go on")
            .replace("\"type\":\"user\"", "\"type\":\"user\",\"provenance\":\"system\"");
        let notified = PROMPT.replace("Fix it", "<task-notification>");
        for line in [&told, &notified] {
            assert_eq!(prompt(&doing(&[PROMPT, line])), Some("Fix it"));
        }
        let typed = told.replace("\"system\"", "\"real_user\"");
        assert_eq!(prompt(&doing(&[PROMPT, &typed])), Some("Go on"));
    }

    #[test]
    fn what_a_fork_has_copied_is_its_origin_s_edit() {
        let copied =
            EDITED.replace("{\"timestamp\"", "{\"forkedFrom\":{\"sessionId\":\"origin\"},\"timestamp\"");
        let from = |lines: &[&str]| doing(lines).edits.first().and_then(|edit| edit.from.clone());
        assert_eq!(from(&[&copied]), Some("origin".into()));
        assert_eq!(from(&[&copied, &EDITED.replace("b.rs", "a.rs")]), None);
        assert_eq!(from(&[&copied, EDITED]), None, "it has edited it as well");
    }

    #[test]
    fn a_compaction_says_how_full_the_context_is_then() {
        let line = r#"{"type":"system","subtype":"chat_compression","systemPayload":{"info":{"originalTokenCount":2100,"newTokenCount":1155}}}"#;
        let doing = doing(&[PROMPT, EDIT, line]);
        assert_eq!((doing.context.map(|it| it.tokens), prompt(&doing)), (Some(1155), Some("Fix it")));
    }

    #[test]
    fn a_sub_agent_s_note_says_whether_it_runs() {
        let note = r#"{"agentId":"a","description":"Edit the tax","status":"running"}"#;
        let read = |text: &str| sub_agent(text.as_bytes()).map(|note| note.is_finished);
        assert_eq!(sub_agent(note.as_bytes()).and_then(|note| note.task), Some("Edit the tax".into()));
        assert_eq!((read(note), read(&note.replace("running", "completed"))), (Some(false), Some(true)));
        assert_eq!(read("no note"), None);
    }

    #[test]
    fn a_line_that_breaks_off_is_counted() {
        check_torn(ADAPTER, &ALL);
    }

    #[test]
    fn a_tail_that_is_enough_says_what_the_whole_file_says() {
        check_tails(ADAPTER, &[ALL, ALL].concat().join("\n"));
        let Some([doing]) = check_fixtures(ADAPTER, ["qwen/chat.jsonl"]) else { return };
        assert_eq!((prompt(&doing), doing.turn.state), (Some("case ctx DO: w1"), TurnState::Finished));
        assert_eq!(edits(&doing), ["b", "c", "g"].map(|it| format!("/home/dev/src/delta/{it}.txt")));
        assert_eq!(doing.version, Some("0.15.10".into()));
    }
}
