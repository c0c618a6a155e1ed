//! The work of a session of Cline, and what was said in it.

use jiff::Timestamp;

use crate::core::model::snapshot::work::TurnState;
use crate::core::model::{Call, Talk, Target};
use crate::format::reading::json::{self, Object, Value};
use crate::format::reading::time;
use crate::format::work::talk::{call, objects};
use crate::format::work::{Draft, absolute, first_line, target};

/// The tools that write files.
const WRITES: [&str; 2] = ["editor", "apply_patch"];

/// Takes over what a document says.
pub(super) fn read(draft: &mut Draft, document: &Object<'_>) {
    let origin = document.object("origin");
    draft.doing.version = origin.and_then(|origin| origin.text("version"));
    for message in objects(document, "messages") {
        let at = message.int("ts").and_then(time::epoch_ms);
        match message.str("role") {
            Some("user") => user(draft, message, at),
            Some("assistant") => answer(draft, message, at),
            Some(_) | None => {}
        }
        draft.doing.heard_at = at;
    }
}

/// Takes over the status of the session: a person is asked whether the last call may run, or the turn is over although
/// no answer says so.
pub(super) fn read_status(draft: &mut Draft, state: &Object<'_>) {
    let is_question = |call: &&Call| matches!(call.target, Some(Target::Question(_)));
    match state.str("status") {
        Some("pending") => {
            if let Some(call) = draft.doing.calls.last().filter(|call| !is_question(call)).cloned() {
                draft.is_asked(call);
            }
        }
        Some("running") | None => {}
        Some(status) if draft.doing.turn.state == TurnState::Working => {
            let at = draft.doing.heard_at;
            if status == "failed" { draft.fails("", at) } else { draft.turns(TurnState::Interrupted, at) }
        }
        Some(_) => {}
    }
}

/// A prompt, or results.
fn user(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    let mut is_result = false;
    for part in objects(message, "content").filter(|part| part.str("type") == Some("tool_result")) {
        is_result = true;
        result(draft, part, at);
    }
    if let Some(text) = typed(message).filter(|_| !is_result) {
        draft.asks(text, at);
    }
}

/// Returns the text that a person has typed.
fn typed<'b>(message: &'b Object<'_>) -> Option<&'b str> {
    let parts = objects(message, "content").filter(|part| part.str("type") == Some("text"));
    let text = message
        .get("content")
        .and_then(Value::as_str)
        .or(parts.filter_map(|part| part.str("text")).next())?;
    let inner = text.strip_prefix("<user_input").and_then(|rest| rest.split_once('>'));
    Some(inner.map_or(text, |(_, rest)| rest.split("</user_input>").next().unwrap_or(rest)))
}

/// A result: that of a tool which writes names no file, but its call does.
fn result(draft: &mut Draft, part: &Object<'_>, at: Option<Timestamp>) {
    let id = part.str("tool_use_id").unwrap_or_default();
    draft.works(at);
    if has_failed(part) {
        return draft.call_fails(id);
    }
    draft.returns_written(id, &WRITES, at);
}

/// Returns whether a result says that its call has failed: one is an object, or a text that is one, or a list of such.
fn has_failed(part: &Object<'_>) -> bool {
    let is_failure = |one: &Object<'_>| one.get("success").and_then(Value::as_bool) == Some(false);
    let text = part.get("content").and_then(Value::as_str);
    let parsed = text.and_then(|text| json::parse(text.as_bytes()).ok());
    part.is_true("is_error")
        || parsed.as_ref().is_some_and(is_failure)
        || objects(part, "content").any(is_failure)
}

/// An answer: one without calls is the last one of its turn.
fn answer(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    let model = message.object("modelInfo").and_then(|model| model.text("id"));
    draft.doing.model = model.or(draft.doing.model.take());
    let tokens = message.object("metrics").and_then(|metrics| metrics.int("inputTokens"));
    if let Some(tokens) = tokens.and_then(|tokens| u64::try_from(tokens).ok()) {
        draft.fills(tokens);
    }
    let metadata = message.object("metadata");
    if metadata.is_some_and(|metadata| metadata.str("displayRole") == Some("error")) {
        let text = objects(message, "content").find_map(|part| part.str("text"));
        return draft.fails(text.unwrap_or_default(), at);
    }
    let mut calls = calls(message).peekable();
    if calls.peek().is_none() {
        return draft.turns(TurnState::Finished, at);
    }
    for (id, tool, input) in calls {
        let about = input.and_then(|input| about(input, draft.folder()));
        draft.calls(id, tool, about, at);
    }
}

/// Returns the calls of an answer: their IDs, tools and inputs.
fn calls<'b, 'a>(
    message: &'b Object<'a>,
) -> impl Iterator<Item = (&'b str, &'b str, Option<&'b Object<'a>>)> {
    let calls = objects(message, "content").filter(|part| part.str("type") == Some("tool_use"));
    calls.map(|call| {
        let text = |name| call.str(name).unwrap_or_default();
        (text("id"), text("name"), call.object("input"))
    })
}

/// Returns what a call is about, by the names of its own tools.
fn about(input: &Object<'_>, folder: Option<&str>) -> Option<Target> {
    let question = input.str("question").filter(|_| input.has("options"));
    let command = input.strings("commands").next();
    let file = input.str("path").and_then(|path| absolute(path, folder));
    question
        .map(|text| Target::Question(first_line(text)))
        .or_else(|| command.map(|line| Target::Command(first_line(line))))
        .or_else(|| file.map(Target::File))
        .or_else(|| target(input, folder))
}

/// Takes over what was said in a document.
pub(super) fn read_talk(talk: &mut Talk, document: &Object<'_>) {
    for message in objects(document, "messages") {
        let at = message.int("ts").and_then(time::epoch_ms);
        match message.str("role") {
            Some("user") => {
                let results = objects(message, "content").filter_map(|part| part.str("tool_use_id"));
                let results: Vec<&str> = results.collect();
                results.iter().for_each(|id| talk.returns(id));
                if let Some(text) = typed(message).filter(|_| results.is_empty()) {
                    talk.prompts(text, at);
                }
            }
            Some("assistant") => {
                let texts = objects(message, "content").filter(|part| part.str("type") == Some("text"));
                texts.filter_map(|part| part.str("text")).for_each(|text| talk.answers(text, at));
                calls(message).for_each(|made| read_talk_call(talk, made, at));
            }
            Some(_) | None => {}
        }
    }
}

fn read_talk_call(
    talk: &mut Talk,
    (id, tool, input): (&str, &str, Option<&Object<'_>>),
    at: Option<Timestamp>,
) {
    match input.and_then(|input| Some((input.str("question")?, input.strings("options")))) {
        Some((question, options)) => talk.asks(id, (question, options), at),
        None => call(talk, (id, tool), (None, input.and_then(|input| about(input, None))), at),
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::Doing;
    use crate::format::work::talk::testing::summary;
    use crate::format::work::testing::{calls, edits, prompt};

    use super::*;

    const PROMPT: &str = r#"{"role":"user","content":[{"type":"text","text":"<user_input mode=\"act\">Fix it\nplease</user_input>"}],"ts":1000}"#;
    const EDIT: &str = r#"{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"tool_use","id":"c1","name":"editor","input":{"path":"/src/b.rs","old_text":"a","new_text":"b"}}],"ts":2000,"modelInfo":{"id":"m"},"metrics":{"inputTokens":21000,"cacheReadTokens":18000}}"#;
    const EDITED: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","name":"editor","content":"{\"query\":\"edit:/src/b.rs\",\"success\":true}"}],"ts":3000}"#;
    const BASH: &str = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c2","name":"run_commands","input":{"commands":["cargo test"]}}],"ts":4000}"#;
    const FAILED: &str = r#"{"role":"user","content":[{"type":"tool_result","tool_use_id":"c2","name":"run_commands","content":[{"query":"cargo test","error":"timed out","success":false}]}],"ts":5000}"#;
    const DONE: &str = r#"{"role":"assistant","content":[{"type":"text","text":"Done."}],"ts":6000}"#;
    const ALL: [&str; 6] = [PROMPT, EDIT, EDITED, BASH, FAILED, DONE];

    fn document(messages: &[&str]) -> String {
        format!(r#"{{"version":1,"origin":{{"version":"3.0.65"}},"messages":[{}]}}"#, messages.join(","))
    }

    fn doing(messages: &[&str]) -> Doing {
        let mut draft = Draft::default();
        read(&mut draft, &json::parse(document(messages).as_bytes()).unwrap());
        draft.doing()
    }

    #[test]
    fn a_call_is_open_until_its_result() {
        let open = doing(&ALL[..2]);
        assert_eq!((calls(&open), edits(&open)), (vec![("editor", "/src/b.rs")], vec![]));
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!((open.heard_at, open.context.map(|it| it.tokens)), (time::epoch_ms(2000), Some(21_000)));
        assert_eq!(edits(&doing(&ALL[..3])), ["/src/b.rs"]);
        assert_eq!(calls(&doing(&ALL[..4])), [("run_commands", "cargo test")]);
        let over = doing(&ALL);
        assert_eq!((calls(&over), over.turn.state), (vec![], TurnState::Finished));
    }

    #[test]
    fn the_status_says_that_a_person_is_asked_or_that_the_turn_is_over() {
        let check = |messages: &[&str], status: &str| {
            let mut draft = Draft::default();
            read(&mut draft, &json::parse(document(messages).as_bytes()).unwrap());
            let state = format!(r#"{{"status":"{status}"}}"#);
            read_status(&mut draft, &json::parse(state.as_bytes()).unwrap());
            let found = draft.doing();
            (found.asks.len(), found.turn.state)
        };
        assert_eq!(check(&ALL[..2], "running"), (0, TurnState::Working));
        assert_eq!(check(&ALL[..2], "pending"), (1, TurnState::Working));
        assert_eq!(check(&ALL[..2], "idle"), (0, TurnState::Interrupted));
        assert_eq!(check(&ALL, "idle"), (0, TurnState::Finished));
    }

    #[test]
    fn a_tool_that_failed_edits_nothing() {
        let error = r#"{"role":"assistant","content":[{"type":"text","text":"No key"}],"ts":2,"metadata":{"displayOnly":true,"displayRole":"error"}}"#;
        let found = doing(&[PROMPT, error]);
        assert_eq!((found.turn.state, found.error), (TurnState::Failed, Some("No key".into())));
        let failed = EDITED.replace("true", "false");
        assert_eq!(edits(&doing(&[PROMPT, EDIT, &failed])), [""; 0]);
    }

    #[test]
    fn what_was_said_is_read() {
        let said = summary(read_talk, &[&document(&ALL)]);
        assert_eq!(said, ["", "Done.", "run_commands cargo test; editor /src/b.rs", "Fix it\nplease"]);
        let asked = r#"{"role":"assistant","content":[{"type":"tool_use","id":"c3","name":"ask_question","input":{"question":"Which?","options":["A","B"]}}],"ts":7000}"#;
        assert_eq!(summary(read_talk, &[&document(&[PROMPT, asked])])[0], "Which? [A, B]");
        assert_eq!(calls(&doing(&[PROMPT, asked])), [("ask_question", "Which?")]);
    }
}
