//! The work of a session of Continue, and what was said in it.

use crate::core::model::snapshot::work::TurnState;
use crate::core::model::{Call, Talk, Target, Untrusted};
use crate::format::reading::json::{Object, Value};
use crate::format::work::talk::{call, objects};
use crate::format::work::{Draft, absolute, first_line, target};

/// The tools that write files.
const WRITES: [&str; 3] = ["Write", "Edit", "MultiEdit"];

/// Takes over what a document says.
pub(super) fn read(draft: &mut Draft, document: &Object<'_>) {
    draft.doing.title = document.str("title").filter(|title| !title.is_empty()).map(first_line);
    draft.doing.cwd = document.text("workspaceDirectory");
    for item in objects(document, "history") {
        let Some(message) = item.object("message") else { continue };
        match message.str("role") {
            Some("user") => draft.asks(&text_of(message), None),
            Some("assistant") => answer(draft, item, message),
            Some(_) | None => {}
        }
    }
}

/// An answer: one without calls is the last one of its turn.
fn answer(draft: &mut Draft, item: &Object<'_>, message: &Object<'_>) {
    if let Some(usage) = message.object("usage") {
        draft.doing.model = usage.text("model").or(draft.doing.model.take());
        if let Some(tokens) = usage.int("prompt_tokens").and_then(|tokens| u64::try_from(tokens).ok()) {
            draft.fills(tokens);
        }
    }
    let mut states = objects(item, "toolCallStates").peekable();
    if states.peek().is_none() {
        return draft.turns(TurnState::Finished, None);
    }
    for state in states {
        read_call(draft, state);
    }
}

fn read_call(draft: &mut Draft, state: &Object<'_>) {
    let id = state.str("toolCallId").unwrap_or_default();
    let tool = tool_of(state);
    let input = state.object("parsedArgs");
    let about = input.and_then(|input| about(input, draft.folder()));
    draft.calls(id, tool, about.clone(), None);
    match state.str("status") {
        Some("generated") => {
            let (id, tool) = (id.into(), Untrusted::from(tool));
            draft.is_asked(Call { id, tool, target: about, since: None });
        }
        Some("generating" | "calling") => {}
        Some("done") => {
            draft.returns(id);
            if let Some(Target::File(path)) = about.filter(|_| WRITES.contains(&tool)) {
                draft.has_edited(path.raw(), None, None, None);
            }
        }
        Some(_) | None => draft.call_fails(id),
    }
}

fn tool_of<'b>(state: &'b Object<'_>) -> &'b str {
    let function = state.object("toolCall").and_then(|call| call.object("function"));
    function.and_then(|function| function.str("name")).unwrap_or_default()
}

/// Returns what a call is about, by the names of its own tools.
fn about(input: &Object<'_>, folder: Option<&str>) -> Option<Target> {
    let question = input.str("question").filter(|_| input.has("options"));
    let file = input.str("filepath").and_then(|path| absolute(path, folder));
    question
        .map(|text| Target::Question(first_line(text)))
        .or_else(|| file.map(Target::File))
        .or_else(|| target(input, folder))
}

/// Returns the text of a message, which is one or a list of parts.
fn text_of(message: &Object<'_>) -> String {
    let parts: Vec<&str> = objects(message, "content").filter_map(|part| part.str("text")).collect();
    message.get("content").and_then(Value::as_str).map_or_else(|| parts.join("\n"), str::to_owned)
}

/// Takes over what was said in a document.
pub(super) fn read_talk(talk: &mut Talk, document: &Object<'_>) {
    for item in objects(document, "history") {
        let Some(message) = item.object("message") else { continue };
        match message.str("role") {
            Some("user") => talk.prompts(&text_of(message), None),
            Some("assistant") => {
                talk.answers(&text_of(message), None);
                objects(item, "toolCallStates").for_each(|state| read_talk_call(talk, state));
            }
            Some(_) | None => {}
        }
    }
}

fn read_talk_call(talk: &mut Talk, state: &Object<'_>) {
    let id = state.str("toolCallId").unwrap_or_default();
    let input = state.object("parsedArgs");
    match input.and_then(|input| Some((input.str("question")?, input.strings("options")))) {
        Some((question, options)) => talk.asks(id, (question, options), None),
        None => {
            let about = input.and_then(|input| about(input, None));
            call(talk, (id, tool_of(state)), (None, about), None);
        }
    }
    if !matches!(state.str("status"), Some("generating" | "generated" | "calling")) {
        talk.returns(id);
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::Doing;
    use crate::format::reading::json;
    use crate::format::testing::fixture;
    use crate::format::work::talk::testing::summary;
    use crate::format::work::testing::{calls, edits, prompt};

    use super::*;

    /// A document with a prompt and an answer that calls a tool, whose call has a status.
    fn document(tool: &str, input: &str, status: &str) -> String {
        format!(
            r#"{{"sessionId":"s","title":"T","workspaceDirectory":"/src","history":[{{"message":{{"role":"user","content":"Fix it\nplease"}}}},{{"message":{{"role":"assistant","content":"I will.","usage":{{"prompt_tokens":21000,"model":"m"}}}},"toolCallStates":[{{"toolCallId":"c1","toolCall":{{"function":{{"name":"{tool}"}}}},"status":"{status}","parsedArgs":{input}}}]}}]}}"#
        )
    }

    fn doing(text: &str) -> Doing {
        let mut draft = Draft::default();
        read(&mut draft, &json::parse(text.as_bytes()).unwrap());
        draft.doing()
    }

    const EDIT: &str = r#"{"file_path":"b.rs","old_string":"a","new_string":"b"}"#;

    #[test]
    fn a_call_is_open_while_it_runs_or_waits() {
        let runs = doing(&document("Edit", EDIT, "calling"));
        assert_eq!((calls(&runs), runs.asks.len()), (vec![("Edit", "/src/b.rs")], 0));
        assert_eq!((prompt(&runs), runs.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!((edits(&runs), runs.context.map(|it| it.tokens)), (vec![], Some(21_000)));
        let waits = doing(&document("Edit", EDIT, "generated"));
        assert_eq!((waits.asks.len(), edits(&waits)), (1, vec![]));
        for (status, expected) in [("done", vec!["/src/b.rs"]), ("errored", vec![]), ("canceled", vec![])] {
            let ended = doing(&document("Edit", EDIT, status));
            assert_eq!((calls(&ended), edits(&ended)), (vec![], expected), "{status}");
        }
    }

    #[test]
    fn a_question_waits_for_a_person() {
        let question = document("AskQuestion", r#"{"question":"Which?","options":["A","B"]}"#, "calling");
        assert_eq!(calls(&doing(&question)), [("AskQuestion", "Which?")]);
        assert_eq!(summary(read_talk, &[&question]), ["Which? [A, B]", "I will.", "", "Fix it\nplease"]);
        assert_eq!(summary(read_talk, &[&question.replace("calling", "done")])[0], "");
    }

    #[test]
    fn an_answer_without_calls_ends_the_turn() {
        let text = document("Edit", EDIT, "done");
        let over =
            text.replace("}]}]}", "}]},{\"message\":{\"role\":\"assistant\",\"content\":\"Done.\"}}]}");
        assert_eq!(
            (doing(&text).turn.state, doing(&over).turn.state),
            (TurnState::Working, TurnState::Finished)
        );
        assert_eq!(summary(read_talk, &[&over])[1], "Done.");
    }

    #[test]
    fn a_real_document_says_what_its_session_did() {
        let path = "agents-2026-11/continue/6d385489-4105-499a-90f8-fed5293d10de.json";
        let Some(text) = fixture(path) else { return };
        let found = doing(&String::from_utf8_lossy(&text));
        assert_eq!((prompt(&found), found.turn.state), (Some("DO: long"), TurnState::Finished));
        assert_eq!(
            (found.context.map(|it| it.tokens), found.model.clone()),
            (Some(21_000), Some("stub-model".into()))
        );
        assert_eq!(edits(&found), [""; 0]);
    }
}
