//! Qwen Code: it keeps no claims, and its sessions say what they do,
//! `projects/<folder>/chats/<session>.jsonl`.
//!
//! An answer is written whole, before its tools run; a snapshot names every file that was edited.
//!
//! Seen with 0.15.10.

use jiff::Timestamp;

use crate::core::model::work::TurnState;
use crate::format::json::{Object, Value};
use crate::format::spec::Spec;
use crate::format::work::{Adapter, Draft, target};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]).with_sessions(ADAPTER);

/// How a session is read.
const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["write_file", "edit"];

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_all_edits && draft.has_turn && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = draft.comes_from(line);
    match line.str("type") {
        Some("user") => {
            match parts(line).find_map(|part| part.str("text")) {
                // A sub-agent has finished.
                Some(text) if text.starts_with("<task-notification>") => draft.works(at),
                Some(text) => draft.asks(text, at),
                None => {}
            }
        }
        Some("assistant") => answer(draft, line, at),
        Some("tool_result") => result(draft, line, at),
        Some("system") => system(draft, line, at),
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
    let mut calls = parts(line).filter_map(|part| part.object("functionCall")).peekable();
    if calls.peek().is_none() {
        return draft.turns(TurnState::Finished, at);
    }
    for call in calls {
        let target = call.object("args").and_then(|args| target(args, draft.folder()));
        draft.calls(call.str("id").unwrap_or_default(), call.str("name").unwrap_or_default(), target, at);
    }
}

/// A result: that of the last call ends the turn where a person has cancelled it.
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
        Some("ui_telemetry") => {
            let event = payload.object("uiEvent");
            if event.is_some_and(|event| event.str("event.name") == Some("qwen-code.api_error")) {
                draft.turns(TurnState::Failed, at);
            }
            if let Some(path) = event.and_then(edited) {
                draft.has_edited(path, line.str("cwd"), at, None);
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
    use crate::core::model::work::Doing;
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
