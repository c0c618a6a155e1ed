//! Gemini CLI: it keeps no claims; the work of its sessions is in
//! `tmp/<project>/chats/session-<minute>-<session>.jsonl`.
//!
//! A tool that runs, or that waits for permission, is not in any file: an answer is written when it ends, and written
//! again with its tools when these have ended. An answer without a text has called a tool. An answer with a text
//! counts as the last one of its turn until its tools come, as the two cannot be distinguished.
//!
//! Seen with 0.61.0.

use jiff::Timestamp;

use crate::core::model::Talk;
use crate::core::model::snapshot::work::TurnState;
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::place::Base;
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::transcripts::{Layout, Transcripts};
use crate::format::work::talk::call;
use crate::format::work::{Adapter, Draft, target};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]).with_transcripts(Transcripts::new(
    (ADAPTER, read_talk),
    Base::Home,
    ".gemini/tmp",
    Layout::Projects { inner: "chats" },
));

/// How a session is read.
const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["write_file", "replace"];

/// The beginning of the first message of a session, also of a replayed one.
const CONTEXT: &str = "<session_context>";
/// The answer that the agent gives in its model's name to the summary of the past.
const COMPRESSED: &str = "Got it. Thanks for the additional context!";

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

/// Takes over what one line says.
fn read_talk(talk: &mut Talk, line: &Object<'_>) {
    let at = at_of(line);
    match line.str("type") {
        Some("user") => {
            if let Some(text) = typed(line).filter(|_| !parts(line).any(|part| part.has("functionResponse")))
            {
                talk.prompts(text, at);
            }
        }
        Some("gemini") => {
            talk.answers(line.str("content").unwrap_or_default(), at);
            for tool in tools(line) {
                let name = |name| tool.str(name).unwrap_or_default();
                let input = tool.object("args");
                let about = input.and_then(|input| target(input, None));
                call(talk, (name("id"), name("name")), (input, about), at);
                // It is written once its tools have ended.
                talk.returns(name("id"));
            }
        }
        Some(_) | None => {}
    }
}

/// The whole present conversation, such as that of a session which was resumed or compressed: it gives the prompt only
/// if there is no other source, and not the present work.
fn rewritten(draft: &mut Draft, set: &Object<'_>) {
    if set.has("sessionId") && draft.doing.turn.state == TurnState::Working {
        // Another process continues the session.
        draft.turns(TurnState::CutOff, draft.doing.turn.since);
    }
    let Some(messages) = set.get("messages").and_then(Value::as_array) else { return };
    draft.tells_past = false;
    let messages: Vec<&Object<'_>> = messages.iter().filter_map(Value::as_object).collect();
    let is_summary = |pair: &[&Object<'_>]| matches!(pair, [_, answer] if says(answer, COMPRESSED));
    if messages.windows(2).any(is_summary) && draft.doing.turn.state == TurnState::CutOff {
        // The same applies to a process that has compressed it during a turn.
        draft.turns(TurnState::Unknown, None);
    }
    for (at, message) in messages.iter().enumerate() {
        match message.str("type") {
            Some("gemini") => read_message(draft, message),
            Some("user") if !draft.has_turn && !messages.get(at..at + 2).is_some_and(is_summary) => {
                if let Some(text) = typed(message) {
                    draft.adds(text, at_of(message));
                }
            }
            Some(_) | None => {}
        }
    }
}

fn at_of(message: &Object<'_>) -> Option<Timestamp> {
    message.str("timestamp").and_then(time::rfc3339)
}

fn message(draft: &mut Draft, message: &Object<'_>) {
    let at = at_of(message);
    match message.str("type") {
        Some("user") => user(draft, message, at),
        Some("gemini") => answer(draft, message, at),
        Some("info") if message.str("content") == Some("Request cancelled.") => {
            draft.turns(TurnState::Interrupted, at);
        }
        // A command of the agent's own can fail between turns as well.
        Some("error") if draft.doing.turn.state == TurnState::Working => {
            let content = message.str("content").unwrap_or_default();
            draft.fails(service_error(content).as_deref().unwrap_or(content), at);
        }
        Some(_) | None => {}
    }
}

/// Returns the message in an error of the service, `[API Error: {"error": {"message": ...}}]`.
fn service_error(content: &str) -> Option<String> {
    let answer = content.get(content.find('{')?..=content.rfind('}')?)?;
    let answer = json::parse(answer.as_bytes()).ok()?;
    answer.object("error")?.str("message").map(str::to_owned)
}

/// Returns the parts of a message.
fn parts<'a, 'b>(message: &'b Object<'a>) -> impl Iterator<Item = &'b Object<'a>> {
    let content = message.get("displayContent").or_else(|| message.get("content"));
    content.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_object)
}

fn says(message: &Object<'_>, text: &str) -> bool {
    message.str("content") == Some(text) || parts(message).any(|part| part.str("text") == Some(text))
}

/// Returns the text that a person has typed, not what the agent itself adds.
fn typed<'b>(message: &'b Object<'_>) -> Option<&'b str> {
    let is_own = |text: &&str| !text.starts_with(CONTEXT) && !text.starts_with("[System: ");
    parts(message).filter_map(|part| part.str("text")).find(is_own)
}

/// A prompt, the results of tools, or a text from the agent to its model, which then continues. After a refusal the
/// whole past is replayed, beginning with the session's context before its first prompt.
fn user(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    let begins =
        |text: &str| parts(message).any(|part| part.str("text").is_some_and(|it| it.starts_with(text)));
    draft.tells_past |= begins(CONTEXT) && parts(message).nth(1).is_some();
    if draft.tells_past {
        return;
    }
    if parts(message).any(|part| part.has("functionResponse")) {
        goes_on(draft, at);
    } else if let Some(text) = typed(message) {
        draft.asks(text, at);
    } else if begins("[System: ") {
        draft.works(at);
    }
}

/// Takes over the parts of an answer other than the state of its turn.
fn read_message(draft: &mut Draft, message: &Object<'_>) {
    if let Some(model) = message.text("model") {
        draft.doing.model = Some(model);
    }
    let tokens = message.object("tokens").and_then(|tokens| tokens.int("input"));
    if let Some(tokens) = tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
        draft.fills(tokens);
    }
    tools(message).for_each(|call| edit(draft, call));
}

fn tools<'a, 'b>(message: &'b Object<'a>) -> impl Iterator<Item = &'b Object<'a>> {
    let tools = message.get("toolCalls").and_then(Value::as_array).unwrap_or_default();
    tools.iter().filter_map(Value::as_object)
}

/// An answer: one without text has called a tool, and one whose tools have ended continues the turn. An answer that
/// comes in parts is a replay of the past.
fn answer(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    read_message(draft, message);
    match message.str("content") {
        Some(text) if text.is_empty() || tools(message).next().is_some() => goes_on(draft, at),
        Some(_) => {
            let state = draft.doing.turn.state;
            if state == TurnState::Working || (state == TurnState::Unknown && draft.has_turn) {
                draft.turns(TurnState::Finished, at);
            }
        }
        None if !draft.tells_past => {
            // The lines before it were a replay as well.
            (draft.tells_past, draft.has_turn, draft.doing.prompt) = (true, false, None);
            draft.turns(TurnState::Unknown, None);
        }
        None => {}
    }
}

/// Continues the turn, since its prompt, if it was not interrupted.
fn goes_on(draft: &mut Draft, at: Option<Timestamp>) {
    if matches!(draft.doing.turn.state, TurnState::Unknown | TurnState::Finished) {
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
    use crate::core::model::snapshot::work::Doing;
    use crate::format::work::testing::{
        calls, check_fixtures, check_tails, check_torn, edits, prompt, whole,
    };

    use super::*;

    const HEAD: &str = r#"{"sessionId":"s","startTime":"2026-11-22T11:00:00Z","kind":"main"}"#;
    const CONTEXT: &str = r#"{"$set":{"messages":[{"timestamp":"2026-11-22T11:00:00Z","type":"user","content":[{"text":"<session_context>\nx"}]}]}}"#;
    const PROMPT: &str = r#"{"timestamp":"2026-11-22T11:00:01Z","type":"user","content":[{"text":"Fix it"},{"text":"<hook_context>x"}],"displayContent":[{"text":"Fix it\nplease"}]}"#;
    const ANSWER: &str = r#"{"id":"a","timestamp":"2026-11-22T11:00:02Z","type":"gemini","content":"I will.","tokens":{"input":2100},"model":"m"}"#;
    #[test]
    fn what_was_said_is_read_once_though_it_is_written_twice() {
        let told =
            crate::format::work::talk::testing::summary(read_talk, &[CONTEXT, PROMPT, ANSWER, SET, TOOLS]);
        assert_eq!(told, ["", "I will.", "read_file; write_file; replace", "Fix it\nplease"]);
    }

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
        check_turn(5, TurnState::Finished, Some("2026-11-22T11:00:02Z"));
        check_turn(6, TurnState::Working, asked);
        check_turn(8, TurnState::Working, asked);
        check_turn(10, TurnState::Interrupted, Some("2026-11-22T11:00:06Z"));
    }

    #[test]
    fn an_error_ends_a_turn_and_an_agent_that_goes_on_by_itself_begins_none() {
        let error = CANCEL.replace("info", "error");
        assert_eq!(doing(&[PROMPT, &error]).turn.state, TurnState::Failed);
        assert_eq!(doing(&[PROMPT, ANSWER, &error]).turn.state, TurnState::Finished, "a command's own");
        let goes_on = doing(&[PROMPT, &error, SYSTEM]);
        assert_eq!((prompt(&goes_on), goes_on.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!(doing(&[PROMPT, &error, SYSTEM, &error]).turn.state, TurnState::Failed);
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

    /// A replayed history.
    fn set(messages: &[&str]) -> String {
        format!(r#"{{"$set":{{"messages":[{}]}}}}"#, messages.join(","))
    }

    const SYSTEM: &str =
        r#"{"type":"user","content":[{"text":"[System: You returned an empty response.]"}]}"#;
    const SESSION: &str = r#"{"$set":{"sessionId":"s"}}"#;
    const SUMMARY: &str = r#"{"type":"user","content":[{"text":"All that was"}]}"#;
    const ACCEPTED: &str =
        r#"{"type":"gemini","content":[{"text":"Got it. Thanks for the additional context!"}]}"#;
    const AGAIN: &str = r#"{"type":"user","content":[{"text":"<session_context>x"},{"text":"Long ago"}]}"#;

    #[test]
    fn a_summary_is_no_prompt_and_compressing_ends_no_turn() {
        let compressed = set(&[SUMMARY, ACCEPTED]);
        for (lines, state) in [
            (vec![PROMPT, ANSWER, SESSION, &compressed], TurnState::Finished),
            (vec![PROMPT, SESSION, &compressed], TurnState::Unknown),
            (vec![PROMPT, SESSION, &compressed, SILENT], TurnState::Working),
            (vec![PROMPT, SESSION, &compressed, ANSWER], TurnState::Finished),
        ] {
            let doing = doing(&lines);
            assert_eq!((prompt(&doing), doing.turn.state), (Some("Fix it"), state), "{lines:?}");
        }
        assert_eq!(prompt(&doing(&[HEAD, SESSION, &compressed])), None);
        assert_eq!(prompt(&doing(&[HEAD, SESSION, &set(&[AGAIN, SUMMARY, ACCEPTED])])), Some("Long ago"));
    }

    #[test]
    fn who_resumes_a_session_has_cut_off_its_turn() {
        let again = set(&[PROMPT, SILENT, RESULT]);
        assert_eq!(doing(&[PROMPT, SILENT, SESSION, &again]).turn.state, TurnState::CutOff);
        assert_eq!(doing(&[PROMPT, ANSWER, SESSION, &again]).turn.state, TurnState::Finished);
        assert_eq!(doing(&[PROMPT, &again]).turn.state, TurnState::Working, "it is told again amid a turn");
    }

    #[test]
    fn a_history_that_a_refusal_tells_again_asks_nothing() {
        let past = r#"{"type":"gemini","content":[{"text":"Over."}],"tokens":null}"#;
        let then = r#"{"type":"user","content":[{"text":"Then"}]}"#;
        let again = set(&[AGAIN, past, then, past]);
        let lines = [PROMPT, SILENT, CANCEL, AGAIN, past, RESULT, then, past, &again];
        let refused = doing(&lines);
        assert_eq!((prompt(&refused), refused.turn.state), (Some("Fix it"), TurnState::Interrupted));
        // A reader of the end alone continues towards the beginning.
        assert!((3..lines.len()).all(|from| !is_settled(&whole(ADAPTER, &lines[from..].join("\n")))));
        assert_eq!(prompt(&doing(&[&lines[..], &[SYSTEM, PROMPT]].concat())), Some("Fix it"));
        assert_eq!(prompt(&doing(&[&lines[..], &[then]].concat())), Some("Then"));
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
