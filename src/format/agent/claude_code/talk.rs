//! What was said in a session of Claude Code, from its transcript.
//!
//! Seen with 2.1.332.

use super::work::{is_of_peer, is_typed};
use crate::core::model::Talk;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::work::talk::{call, objects};
use crate::format::work::target;

/// Takes over what one line says.
pub(crate) fn read(talk: &mut Talk, line: &Object<'_>) {
    let Some(message) = line.object("message").filter(|_| !line.is_true("isSidechain")) else { return };
    let at = line.str("timestamp").and_then(time::rfc3339);
    match line.str("type") {
        Some("user") => {
            if let Some(text) =
                message.str("content").filter(|text| is_typed(line, text) && !is_of_peer(text))
            {
                talk.prompts(text, at);
            }
            for part in objects(message, "content").filter(|part| part.str("type") == Some("tool_result")) {
                talk.returns(part.str("tool_use_id").unwrap_or_default());
            }
        }
        Some("assistant")
            if message.str("model") != Some("<synthetic>") || line.is_true("isApiErrorMessage") =>
        {
            for part in objects(message, "content") {
                match part.str("type") {
                    Some("text") => talk.answers(part.str("text").unwrap_or_default(), at),
                    Some("tool_use") => {
                        let input = part.get("input").and_then(Value::as_object);
                        let about = input.and_then(|input| target(input, None));
                        let name = |name| part.str(name).unwrap_or_default();
                        // A plan waits for a person's consent.
                        if let Some(plan) = input.and_then(|input| input.str("plan")) {
                            talk.asks(name("id"), (plan, std::iter::empty()), at);
                        } else {
                            call(talk, (name("id"), name("name")), (input, about), at);
                        }
                    }
                    Some(_) | None => {}
                }
            }
        }
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::work::talk::testing::summary;

    const PROMPT: &str =
        r#"{"type":"user","message":{"content":"Fix it\nplease"},"timestamp":"2026-11-22T11:00:00Z"}"#;
    const TEXT: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"I will."}]},"timestamp":"2026-11-22T11:00:01Z"}"#;
    const BASH: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t1","name":"Bash","input":{"command":"cargo test"}}]}}"#;
    const RESULT: &str =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t1","content":"ok"}]}}"#;
    const ASKED: &str = r#"{"type":"assistant","message":{"content":[{"type":"text","text":"Two ways."},{"type":"tool_use","id":"t2","name":"AskUserQuestion","input":{"questions":[{"question":"Which?","options":[{"label":"A"},{"label":"B"}]},{"question":"When?","options":[]}]}}]}}"#;
    const ANSWERED: &str =
        r#"{"type":"user","message":{"content":[{"type":"tool_result","tool_use_id":"t2"}]}}"#;
    const PLAN: &str = r#"{"type":"assistant","message":{"content":[{"type":"tool_use","id":"t3","name":"ExitPlanMode","input":{"plan":"1. Read"}}]}}"#;
    const OTHERS: &str = r#"{"type":"assistant","isSidechain":true,"message":{"content":[{"type":"text","text":"Not mine."}]}}"#;
    const OWN: &str = r#"{"type":"user","isMeta":true,"message":{"content":"Caveat"}}"#;

    #[test]
    fn questions_are_open_until_they_are_answered() {
        let lines = [PROMPT, TEXT, BASH, RESULT, ASKED, OTHERS, OWN];
        let expected = ["Which? [A, B]; When? []", "Two ways.", "Bash cargo test", "Fix it\nplease"];
        assert_eq!(summary(read, &lines), expected);
        let answered = summary(read, &[&lines[..], &[ANSWERED]].concat());
        assert_eq!(answered[0], "");
        assert_eq!(summary(read, &[&lines[..], &[PROMPT]].concat())[0], "", "a prompt is an answer");
        assert_eq!(summary(read, &[PROMPT, TEXT, PLAN]), ["1. Read []", "I will.", "", "Fix it\nplease"]);
    }
}
