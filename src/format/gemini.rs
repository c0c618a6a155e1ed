//! Gemini CLI: it keeps no claims, and its sessions say what they do,
//! `tmp/<project>/chats/session-<minute>-<session>.jsonl`.
//!
//! A tool that runs, or that waits for permission, is in no file: an answer is written when it ends,
//! and written again with its tools when these have ended. So an answer with a text can be the last
//! one of its turn, or not.
//!
//! Seen with 0.61.0.

use jiff::Timestamp;

use crate::core::model::work::TurnState;
use crate::format::json::{Object, Value};
use crate::format::spec::Spec;
use crate::format::time;
use crate::format::work::{Adapter, Draft};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]).with_sessions(ADAPTER);

/// How a session is read.
const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["write_file", "replace"];

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_turn && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    match line.object("$set") {
        Some(set) => rewritten(draft, set),
        None => message(draft, line),
    }
}

/// The whole conversation as it stands now, such as that of a session which was resumed: it tells
/// what was asked, and not what goes on.
fn rewritten(draft: &mut Draft, set: &Object<'_>) {
    let Some(messages) = set.get("messages").and_then(Value::as_array) else { return };
    messages.iter().filter_map(Value::as_object).for_each(|one| message(draft, one));
    draft.turns(TurnState::Unknown, None);
}

fn message(draft: &mut Draft, message: &Object<'_>) {
    let at = message.str("timestamp").and_then(time::rfc3339);
    match message.str("type") {
        Some("user") => user(draft, message, at),
        Some("gemini") => answer(draft, message, at),
        Some("info") if message.str("content") == Some("Request cancelled.") => {
            draft.turns(TurnState::Interrupted, at);
        }
        // It can end the turn; none was seen.
        Some("error") => draft.turns(TurnState::Unknown, at),
        Some(_) | None => {}
    }
}

/// A prompt, or the results of tools.
fn user(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    let content = message.get("displayContent").or_else(|| message.get("content"));
    let parts = || content.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_object);
    let is_prompt = |text: &&str| !text.starts_with("<session_context>");
    if parts().any(|part| part.has("functionResponse")) {
        goes_on(draft, at);
    } else if let Some(text) = parts().filter_map(|part| part.str("text")).find(is_prompt) {
        draft.asks(text, at);
    }
}

fn answer(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    if let Some(model) = message.text("model") {
        draft.doing.model = Some(model);
    }
    let tokens = message.object("tokens").and_then(|tokens| tokens.int("input"));
    if let Some(tokens) = tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
        draft.fills(tokens);
    }
    let tools = message.get("toolCalls").and_then(Value::as_array).unwrap_or_default();
    tools.iter().filter_map(Value::as_object).for_each(|call| edit(draft, call));
    // Who says nothing has called a tool.
    if !tools.is_empty() || message.str("content") == Some("") {
        goes_on(draft, at);
    } else if draft.doing.turn.state == TurnState::Working {
        draft.turns(TurnState::Unknown, at);
    }
}

/// The turn that nobody has interrupted goes on, since its prompt.
fn goes_on(draft: &mut Draft, at: Option<Timestamp>) {
    if draft.doing.turn.state == TurnState::Unknown {
        let since = draft.doing.prompt.as_ref().and_then(|prompt| prompt.at);
        draft.turns(TurnState::Working, since.or(at));
    }
}

fn edit(draft: &mut Draft, call: &Object<'_>) {
    let is_edit =
        call.str("status") == Some("success") && call.str("name").is_some_and(|it| WRITES.contains(&it));
    let path = call.object("resultDisplay").and_then(|shown| shown.str("filePath")).filter(|_| is_edit);
    if let Some(path) = path {
        draft.edits(path, None, call.str("timestamp").and_then(time::rfc3339));
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::work::Doing;
    use crate::format::work::testing::{
        calls, check_fixtures, check_tails, check_torn, edits, prompt, whole,
    };

    use super::*;

    const HEAD: &str = r#"{"sessionId":"s","startTime":"2026-11-22T11:00:00Z","kind":"main"}"#;
    const CONTEXT: &str = r#"{"$set":{"messages":[{"timestamp":"2026-11-22T11:00:00Z","type":"user","content":[{"text":"<session_context>\nx"}]}]}}"#;
    const PROMPT: &str = r#"{"timestamp":"2026-11-22T11:00:01Z","type":"user","content":[{"text":"Fix it"},{"text":"<hook_context>x"}],"displayContent":[{"text":"Fix it\nplease"}]}"#;
    const ANSWER: &str = r#"{"id":"a","timestamp":"2026-11-22T11:00:02Z","type":"gemini","content":"I will.","tokens":{"input":2100},"model":"m"}"#;
    const SET: &str = r#"{"$set":{"lastUpdated":"2026-11-22T11:00:02Z"}}"#;
    const TOOLS: &str = r#"{"id":"a","timestamp":"2026-11-22T11:00:02Z","type":"gemini","content":"I will.","tokens":{"input":2100},"model":"m","toolCalls":[{"name":"replace","status":"success","timestamp":"2026-11-22T11:00:03Z","resultDisplay":{"filePath":"/src/a.rs"}},{"name":"write_file","status":"error","resultDisplay":"x"},{"name":"write_file","status":"cancelled","resultDisplay":{"filePath":"/src/no.rs"}},{"name":"read_file","status":"success","resultDisplay":{"filePath":"/src/no.rs"}}]}"#;
    const RESULT: &str =
        r#"{"timestamp":"2026-11-22T11:00:04Z","type":"user","content":[{"functionResponse":{"id":"r"}}]}"#;
    const SILENT: &str = r#"{"id":"b","timestamp":"2026-11-22T11:00:05Z","type":"gemini","content":"","tokens":{"input":2200},"model":"m"}"#;
    const CANCEL: &str =
        r#"{"timestamp":"2026-11-22T11:00:06Z","type":"info","content":"Request cancelled."}"#;
    const ALL: [&str; 10] = [HEAD, CONTEXT, PROMPT, ANSWER, SET, TOOLS, RESULT, SILENT, CANCEL, RESULT];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[track_caller]
    fn check_turn(lines: usize, state: TurnState, since: Option<&str>) {
        let turn = doing(&ALL[..lines]).turn;
        assert_eq!((turn.state, turn.since), (state, since.and_then(time::rfc3339)), "{lines} lines");
    }

    #[test]
    fn a_turn_works_where_that_is_certain() {
        let asked = Some("2026-11-22T11:00:01Z");
        check_turn(2, TurnState::Unknown, None);
        check_turn(3, TurnState::Working, asked);
        check_turn(5, TurnState::Unknown, Some("2026-11-22T11:00:02Z"));
        check_turn(6, TurnState::Working, asked);
        check_turn(8, TurnState::Working, asked);
        check_turn(10, TurnState::Interrupted, Some("2026-11-22T11:00:06Z"));
    }

    #[test]
    fn after_an_error_the_turn_is_not_known() {
        let error = CANCEL.replace("info", "error");
        assert_eq!(doing(&[PROMPT, &error]).turn.state, TurnState::Unknown);
        assert_eq!(doing(&[PROMPT, &CANCEL.replace("Request", "Nothing")]).turn.state, TurnState::Working);
    }

    #[test]
    fn a_tool_is_known_only_by_its_result() {
        let doing = doing(&ALL);
        assert_eq!((calls(&doing), edits(&doing)), (vec![], vec!["/src/a.rs"]));
        assert_eq!(prompt(&doing), Some("Fix it"));
        assert_eq!(doing.context.map(|context| (context.tokens, context.window)), Some((2200, None)));
    }

    #[test]
    fn a_session_that_was_resumed_says_what_was_asked() {
        let resumed = format!("{{\"$set\":{{\"messages\":[{PROMPT},{SILENT},{RESULT}]}}}}");
        let doing = doing(&[HEAD, &resumed]);
        assert_eq!((prompt(&doing), doing.turn.state), (Some("Fix it"), TurnState::Unknown));
    }

    #[test]
    fn a_line_that_breaks_off_is_counted() {
        check_torn(ADAPTER, &ALL);
    }

    #[test]
    fn a_tail_that_is_enough_says_what_the_whole_file_says() {
        check_tails(ADAPTER, &[ALL, ALL].concat().join("\n"));
        let Some([doing]) = check_fixtures(ADAPTER, ["gemini/session.jsonl"]) else { return };
        assert_eq!(prompt(&doing), Some("case ctx DO: w1"));
        assert_eq!(edits(&doing), ["b", "c", "g"].map(|it| format!("/home/dev/src/gamma/{it}.txt")));
        assert_eq!(doing.context.map(|context| context.tokens), Some(21_000));
    }
}
