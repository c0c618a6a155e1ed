//! Claude Code's transcript, `projects/<folder>/<session>.jsonl`: one append for each response and each result. A call
//! is written before it runs, and a wait for permission is not recorded.
//!
//! Seen with 2.1.330.

use std::collections::BTreeSet;

use jiff::Timestamp;

use crate::core::model::{Call, Target, TurnState, Untrusted};
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::work::{Adapter, Draft, SubAgentNote, first_line, target};

/// How a transcript is read, also that of a sub-agent.
pub(crate) const ADAPTER: Adapter = Adapter { line, is_settled };

/// Input with `!` and `/` appears in lines of the user's, and is not a prompt.
const NO_PROMPT: [&str; 4] = ["<command-", "<local-command-", "<bash-", "<task-notification>"];

/// How a message of another session begins, which the agent works on although no person has given it.
const OF_PEERS: [&str; 3] =
    ["<teammate-message", "<cross-session-message", "Another Claude session sent a message:"];

/// The tools that edit a file.
const EDITS: [&str; 4] = ["Edit", "MultiEdit", "NotebookEdit", "Write"];

/// Reads the note of a sub-agent; `None` if it is not one.
pub(crate) fn sub_agent(bytes: &[u8]) -> Option<SubAgentNote> {
    let note = json::parse(bytes).ok()?;
    let task = note.str("description").map(first_line);
    Some(SubAgentNote { task, is_finished: note.is_true("finished") })
}

/// Returns the agents that have ended by a workflow's journal: a line `started` begins one, and any later line that
/// names it is its `result`, or the reason why there is none.
///
/// Seen with 2.1.332.
pub(crate) fn finished_agents(journal: &[u8]) -> BTreeSet<Untrusted> {
    let lines = journal.split(|byte| *byte == b'\n').filter_map(|line| json::parse(line).ok());
    let ended = lines.filter(|line| !matches!(line.str("type"), Some("launched" | "started")));
    ended.filter_map(|line| line.text("agentId")).collect()
}

/// A snapshot names every file that was edited up to its prompt.
fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_all_edits && draft.has_turn && doing.context.is_some() && doing.mode.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = draft.comes_from(line);
    if line.has("session_id") {
        draft.doing.first_session = first_session(line);
    }
    // A sub-agent of early versions, without a file of its own: only its edits are the window's.
    if line.is_true("isSidechain") && !line.has("agentId") {
        return edited(draft, line, at);
    }
    match line.str("type") {
        Some("user") => user(draft, line, at),
        Some("assistant") => assistant(draft, line, at),
        Some("system") => system(draft, line, at),
        Some("attachment") => attachment(draft, line, at),
        Some("permission-mode") => draft.doing.mode = line.text("permissionMode"),
        // `agent-name` is also a name that the model has made up.
        Some("custom-title") => draft.doing.name = line.text("customTitle").filter(|name| !name.is_empty()),
        Some("file-history-snapshot") => snapshot(draft, line),
        Some("file-history-delta") => {
            if let Some((path, backup)) = line.str("trackingPath").zip(line.object("backup")) {
                let (name, folder) = tracked(path, Some(backup));
                draft.edits(name, folder, at);
            }
        }
        Some(_) | None => {}
    }
}

fn user(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(content) = line.object("message").and_then(|message| message.get("content")) else { return };
    if let Some(mode) = line.text("permissionMode") {
        draft.doing.mode = Some(mode);
    }
    if let Some(text) = content.as_str() {
        match line.object("origin").and_then(|origin| origin.str("kind")) {
            Some("task-notification") => draft.works(at),
            _ if is_of_peer(text) => draft.works(at),
            _ if is_typed(line, text) => draft.asks(text, at),
            _ => {}
        }
        return;
    }
    for part in content.as_array().unwrap_or_default().iter().filter_map(Value::as_object) {
        match part.str("type") {
            Some("tool_result") => result(draft, line, part, at),
            Some("text") => text(draft, part.str("text").unwrap_or_default(), at),
            Some(_) | None => {}
        }
    }
}

/// Returns whether a text of the user's was typed as a prompt.
pub(super) fn is_typed(line: &Object<'_>, text: &str) -> bool {
    let is_ours = line.is_true("isMeta") || line.is_true("isCompactSummary");
    !is_ours && !NO_PROMPT.iter().any(|start| text.trim_start().starts_with(start))
}

/// Returns whether a text of the user's is a message of another session.
pub(super) fn is_of_peer(text: &str) -> bool {
    OF_PEERS.iter().any(|start| text.trim_start().starts_with(start))
}

/// A text in a list: from an interruption, from another session, or a prompt with pictures.
fn text(draft: &mut Draft, text: &str, at: Option<Timestamp>) {
    if text.starts_with("[Request interrupted by user") {
        draft.turns(TurnState::Interrupted, at);
    } else if is_of_peer(text) {
        draft.works(at);
    }
}

fn result(draft: &mut Draft, line: &Object<'_>, part: &Object<'_>, at: Option<Timestamp>) {
    let id = part.str("tool_use_id").unwrap_or_default();
    for text in printed(part) {
        draft.prints(id, text, at);
    }
    let is_edit = |call: &&Call| call.id.raw() == id && EDITS.contains(&call.tool.raw());
    let call = draft.doing.calls.iter().find(is_edit).and_then(|call| call.target.clone());
    match part.is_true("is_error") {
        true => draft.call_fails(id),
        false => draft.returns(id),
    }
    draft.works(at);
    if part.is_true("is_error") {
        return;
    }
    if line.object("toolUseResult").is_none() {
        // An agent of a workflow does not record the results of calls.
        let has_result = line.has("toolUseResult");
        if let Some(Target::File(path)) = call.filter(|_| !has_result) {
            draft.has_edited(path.raw(), line.str("cwd"), at, first_session(line));
        }
        return;
    }
    edited(draft, line, at);
}

/// A call has edited a file, as its result reports.
fn edited(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(result) = line.object("toolUseResult") else { return };
    let is_edit = result.has("structuredPatch") || result.has("edit_mode");
    if let Some(path) = result.str("filePath").or_else(|| result.str("notebook_path")).filter(|_| is_edit) {
        draft.has_edited(path, line.str("cwd"), at, first_session(line));
    }
}

/// Returns the first session of the process that wrote a line, if it is not the file's: `/clear` and `/resume` change
/// the one and not the other, and a fork keeps the values of its lines (seen with 2.1.332).
fn first_session(line: &Object<'_>) -> Option<Untrusted> {
    line.text("session_id").filter(|first| line.str("sessionId") != Some(first.raw()))
}

/// Returns the texts of a result: one, or those of a list.
fn printed<'a>(part: &'a Object<'_>) -> Vec<&'a str> {
    let Some(content) = part.get("content") else { return Vec::new() };
    let texts =
        content.as_array().unwrap_or_default().iter().filter_map(|part| part.as_object()?.str("text"));
    content.as_str().into_iter().chain(texts).collect()
}

fn assistant(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(message) = line.object("message") else { return };
    if line.is_true("isApiErrorMessage") {
        let parts = message.get("content").and_then(Value::as_array).unwrap_or_default();
        let error = parts.iter().find_map(|part| part.as_object()?.str("text"));
        return draft.fails(error.unwrap_or_default(), at);
    }
    // Text that the agent itself fills in when a session is resumed is not work of its model.
    if message.str("model") == Some("<synthetic>") {
        return;
    }
    draft.works(at);
    if let Some(id) = message.text("id") {
        draft.answers(id);
    }
    if let Some(model) = message.text("model") {
        draft.doing.model = Some(model);
        fill(draft, message);
    }
    let content = message.get("content").and_then(Value::as_array).unwrap_or_default();
    for part in content.iter().filter_map(Value::as_object) {
        if part.str("type") == Some("tool_use") {
            call(draft, part, at);
        }
    }
}

fn call(draft: &mut Draft, part: &Object<'_>, at: Option<Timestamp>) {
    let tool = part.str("name").unwrap_or_default();
    let input = part.object("input");
    let target = input.and_then(|input| target(input, draft.folder()));
    let id = part.str("id").unwrap_or_default();
    draft.calls(id, tool, target, at);
    if let Some(line) = input.and_then(|input| input.str("command")) {
        draft.runs(id, line);
    }
}

/// Takes over the input tokens of the last answer, including the cached part.
fn fill(draft: &mut Draft, message: &Object<'_>) {
    let Some(usage) = message.object("usage") else { return };
    let parts = ["input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens"];
    let tokens: i64 = parts.iter().filter_map(|part| usage.int(part)).fold(0, i64::saturating_add);
    draft.fills(tokens.try_into().unwrap_or_default());
}

fn system(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    match line.str("subtype") {
        // It also comes after an error that ended the turn.
        Some("turn_duration") if draft.doing.turn.state == TurnState::Failed => {}
        Some("turn_duration") => draft.turns(TurnState::Finished, at),
        Some("compact_boundary") => {
            let left = line.object("compactMetadata").and_then(|data| data.int("postTokens"));
            draft.fills(left.and_then(|tokens| tokens.try_into().ok()).unwrap_or_default());
        }
        Some(_) | None => {}
    }
}

/// A prompt that was typed while the agent worked.
fn attachment(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(attachment) = line.object("attachment") else { return };
    let kind = attachment.object("origin").and_then(|origin| origin.str("kind"));
    if attachment.str("type") == Some("queued_command") && kind.is_none_or(|kind| kind == "human") {
        draft.adds(attachment.str("prompt").unwrap_or_default(), at);
    }
}

fn snapshot(draft: &mut Draft, line: &Object<'_>) {
    let files = line.object("snapshot").and_then(|snapshot| snapshot.object("trackedFileBackups"));
    let Some(files) = files else { return };
    draft.forgets_edits();
    for (path, backup) in files.iter() {
        let backup = backup.as_object();
        let at = backup.and_then(|backup| time::rfc3339(backup.str("backupTime")?));
        let (name, folder) = tracked(path, backup);
        draft.lists(name, folder, at);
    }
}

/// Returns a tracked file's path and the folder that it is relative to. Its key starts at the session's folder
/// (`src/cart.rs`), while `realParentDir` is the file's own (`/repo/src`): seen with 2.1.330 and 2.1.332.
fn tracked<'a>(key: &'a str, backup: Option<&'a Object<'_>>) -> (&'a str, Option<&'a str>) {
    let parent = backup.and_then(|backup| backup.str("realParentDir")).filter(|_| !key.starts_with('/'));
    let name = if parent.is_some() { key.rsplit('/').next().unwrap_or(key) } else { key };
    (name, parent)
}

#[cfg(test)]
mod tests {
    use crate::core::model::{Doing, Edit};
    use crate::format::testing::fixture;
    use crate::format::work::testing::{check_tails, prompt, whole};

    use super::*;

    const PROMPT: &str = r#"{"type":"user","message":{"role":"user","content":"Fix it\nplease"},"origin":{"kind":"human"},"permissionMode":"default","cwd":"/src","version":"2.1.330","timestamp":"2026-11-22T11:00:00Z"}"#;
    const FILES: &str = r#"{"type":"file-history-snapshot","snapshot":{"trackedFileBackups":{"a.rs":{"backupTime":"2026-11-22T10:59:00Z","realParentDir":"/src"}}}}"#;
    const EDIT: &str = r#"{"type":"assistant","message":{"model":"m","usage":{"input_tokens":5,"cache_read_input_tokens":100},"content":[{"type":"tool_use","id":"t1","name":"Edit","input":{"file_path":"/src/b.rs"}}]},"cwd":"/src","timestamp":"2026-11-22T11:00:05Z"}"#;
    const DONE: &str = r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1"}]},"toolUseResult":{"filePath":"b.rs","structuredPatch":[]},"cwd":"/src","timestamp":"2026-11-22T11:00:06Z"}"#;
    const OVER: &str = r#"{"type":"system","subtype":"turn_duration","timestamp":"2026-11-22T11:00:07Z"}"#;

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn what_no_person_and_no_model_has_said_is_neither_a_prompt_nor_work() {
        let user = |content: &str| {
            format!(
                r#"{{"type":"user","message":{{"content":{content}}},"timestamp":"2026-11-22T11:00:09Z"}}"#
            )
        };
        let asked = user(r#""Fix it""#);
        for peer in [
            "<teammate-message id=\\\"qa\\\">red",
            "<cross-session-message>x",
            "Another Claude session sent a message:\\n<x",
        ] {
            for content in [format!("\"{peer}\""), format!(r#"[{{"type":"text","text":"{peer}"}}]"#)] {
                let doing = whole(ADAPTER, &[asked.as_str(), &user(&content)].join("\n")).doing();
                assert_eq!(
                    (prompt(&doing), doing.turn.state),
                    (Some("Fix it"), TurnState::Working),
                    "{content}"
                );
            }
        }
        let stopped = user(r#"[{"type":"text","text":"[Request interrupted by user]"}]"#);
        let filled = r#"{"type":"assistant","message":{"model":"<synthetic>","content":[{"type":"text","text":"No response requested."}]}}"#;
        let doing = whole(ADAPTER, &[asked.as_str(), &stopped, filled].join("\n")).doing();
        assert_eq!(doing.turn.state, TurnState::Interrupted);
        let error = r#"{"type":"assistant","isApiErrorMessage":true,"message":{"model":"<synthetic>","content":[{"type":"text","text":"You've hit your limit"}]}}"#;
        let over = r#"{"type":"system","subtype":"turn_duration","timestamp":"2026-11-22T11:00:10Z"}"#;
        let doing = whole(ADAPTER, &[asked.as_str(), error, over].join("\n")).doing();
        assert_eq!(
            (doing.turn.state, doing.error),
            (TurnState::Failed, Some("You've hit your limit".into()))
        );
    }

    fn calls<'a>(doing: &'a Doing) -> Vec<(&'a str, &'a str)> {
        let pair = |call: &'a Call| (call.tool.raw(), call.target.as_ref().map_or("", |it| it.text().raw()));
        doing.calls.iter().map(pair).collect()
    }

    #[test]
    fn a_call_is_open_until_its_result() {
        let open = doing(&[PROMPT, FILES, EDIT]);
        assert_eq!(calls(&open), [("Edit", "/src/b.rs")]);
        assert_eq!(open.prompt.as_ref().map(|prompt| prompt.text.raw()), Some("Fix it"));
        assert_eq!(open.turn.state, TurnState::Working);
        assert_eq!(open.context.map(|context| context.tokens), Some(105));
        let done = doing(&[PROMPT, FILES, EDIT, DONE]);
        assert_eq!(calls(&done), []);
        let edits: Vec<&str> = done.edits.iter().map(|edit| edit.path.raw()).collect();
        assert_eq!(edits, ["/src/a.rs", "/src/b.rs"]);
        assert_eq!(doing(&[PROMPT, FILES, EDIT, DONE, OVER]).turn.state, TurnState::Finished);
    }

    #[test]
    fn a_tracked_file_stands_in_its_own_folder_and_what_a_result_names_stays() {
        let at = |doing: &Doing| -> Vec<String> {
            let told = |edit: &Edit| format!("{} {}", edit.path.raw(), edit.at.unwrap_or_default());
            doing.edits.iter().map(told).collect()
        };
        let backup = r#"{"backupTime":"2026-11-22T10:59:00Z","realParentDir":"/repo/src/deep"}"#;
        let delta = format!(
            r#"{{"type":"file-history-delta","trackingPath":"src/deep/a.rs","backup":{backup},"timestamp":"2026-11-22T10:59:00Z"}}"#
        );
        let listed = format!(
            r#"{{"type":"file-history-snapshot","snapshot":{{"trackedFileBackups":{{"src/deep/a.rs":{backup},"/b/c.rs":{backup}}}}}}}"#
        );
        assert_eq!(at(&doing(&[&delta])), ["/repo/src/deep/a.rs 2026-11-22T10:59:00Z"]);
        assert_eq!(
            at(&doing(&[&delta, DONE, &listed])),
            [
                "/b/c.rs 2026-11-22T10:59:00Z",
                "/repo/src/deep/a.rs 2026-11-22T10:59:00Z",
                "/src/b.rs 2026-11-22T11:00:06Z"
            ]
        );
    }

    #[test]
    fn a_call_whose_result_cannot_be_read_is_over_with_the_next_answer() {
        let of = |answer: &str, call: &str| {
            let ids = EDIT.replace("\"model\":\"m\"", &format!("\"model\":\"m\",\"id\":\"{answer}\""));
            ids.replace("\"t1\"", &format!("\"{call}\""))
        };
        let open = |lines: &[&str]| doing(lines).calls.iter().map(|call| call.id.clone()).collect::<Vec<_>>();
        let both = [PROMPT, &of("m1", "t1"), &of("m1", "t2")];
        assert_eq!(open(&both), ["t1".into(), "t2".into()], "one answer calls both");
        assert_eq!(open(&[&both[..], &["\0damaged", &of("m2", "t3")]].concat()), ["t3".into()]);
    }

    #[test]
    fn a_sub_agent_s_lines_among_the_window_s_are_its_edits_alone() {
        let aside = |line: &str| line.replace("\"type\":\"", "\"isSidechain\":true,\"type\":\"");
        let large = aside(&EDIT.replace("t1", "t2").replace("100", "7000"));
        let asked = aside(&PROMPT.replace("Fix it", "Explore"));
        let found = doing(&[PROMPT, EDIT, &asked, &large, &aside(DONE), &aside(OVER)]);
        let own = doing(&[PROMPT, EDIT]);
        assert_eq!(found.edits.len(), 1);
        assert_eq!(Doing { edits: Vec::new(), ..found }, own);
        // In a file of its own these lines are its own work.
        let agents = asked.replace("isSidechain", "agentId\":\"a1\",\"isSidechain");
        assert!(doing(&[&agents]).prompt.is_some());
    }

    #[test]
    fn a_call_that_a_killed_process_left_is_open_no_more() {
        assert_eq!(calls(&doing(&[PROMPT, FILES, EDIT, PROMPT])), []);
    }

    #[test]
    fn what_cannot_be_parsed_is_counted() {
        let draft = whole(ADAPTER, &[PROMPT, "{\"type\":", "", "[1]", FILES].join("\n"));
        assert_eq!(draft.skipped, 2);
    }

    #[test]
    fn a_tail_that_is_enough_says_what_the_whole_file_says() {
        check_tails(ADAPTER, &[FILES, PROMPT, EDIT, DONE, OVER, FILES, PROMPT, EDIT].join("\n"));
        let names = [
            "transcript-write-edit-bash20.jsonl",
            "transcript-question-interrupt-big-hooks.jsonl",
            "transcript-question-interrupt-big-hooks.part2.jsonl",
            "transcript-tools-errors-parallel-subagents.jsonl",
            "transcript-tools-errors-parallel-subagents.part2.jsonl",
            "transcript-deny-esc-bg-error-queue-compact-rename-clear.jsonl",
            "transcript-deny-esc-bg-error-queue-compact-rename-clear.part2.jsonl",
        ];
        let texts: Vec<Vec<u8>> =
            names.iter().filter_map(|name| fixture(&format!("work/claude/{name}"))).collect();
        let states: usize =
            texts.iter().map(|text| check_tails(ADAPTER, &String::from_utf8_lossy(text))).sum();
        assert!(texts.is_empty() || states > 200, "{states} states");
    }
}
