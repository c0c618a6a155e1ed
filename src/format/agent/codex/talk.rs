//! What was said in a session of Codex, from its rollout.
//!
//! Seen with 0.171.0.

use super::work::{arguments, target_of};
use crate::core::model::Talk;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::time;
use crate::format::work::talk::{call, objects};

/// Takes over what one line says.
pub(crate) fn read(talk: &mut Talk, line: &Object<'_>) {
    let Some(payload) = line.object("payload") else { return };
    let at = line.str("timestamp").and_then(time::rfc3339);
    let id = || payload.str("call_id").unwrap_or_default();
    let tool = || payload.str("name").unwrap_or_default();
    match (line.str("type"), payload.str("type")) {
        (Some("event_msg"), Some("item_completed")) => {
            let item = payload.object("item").filter(|item| item.str("type") == Some("UserMessage"));
            let texts = item.into_iter().flat_map(|item| objects(item, "content"));
            if let Some(text) = texts.into_iter().find_map(|part| part.str("text")) {
                talk.prompts(text, at);
            }
        }
        (Some("response_item"), Some("message")) if payload.str("role") == Some("assistant") => {
            objects(payload, "content")
                .filter_map(|part| part.str("text"))
                .for_each(|text| talk.answers(text, at));
        }
        (Some("response_item"), Some("function_call")) => {
            let text = payload.str("arguments").unwrap_or_default();
            let input = json::parse(text.as_bytes()).ok();
            call(talk, (id(), tool()), (input.as_ref(), arguments(text)), at);
        }
        (Some("response_item"), Some("custom_tool_call")) => {
            let target = target_of((tool(), payload.str("input").unwrap_or_default()), None);
            call(talk, (id(), tool()), (None, target), at);
        }
        (Some("response_item"), Some("custom_tool_call_output" | "function_call_output")) => {
            talk.returns(id())
        }
        (_, _) => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::work::talk::testing::summary;

    const PROMPT: &str = r#"{"timestamp":"2026-11-22T11:00:01Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"Fix it"}]}}}"#;
    const TEXT: &str = r#"{"type":"response_item","payload":{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I will."}]}}"#;
    const DEVELOPER: &str = r#"{"type":"response_item","payload":{"type":"message","role":"developer","content":[{"type":"input_text","text":"<x>"}]}}"#;
    const COMMAND: &str = r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c2","name":"exec_command","arguments":"{\"cmd\":\"cargo test\"}"}}"#;
    const PATCH: &str = r#"{"type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs\n"}}"#;
    const ASKED: &str = r#"{"type":"response_item","payload":{"type":"function_call","call_id":"c3","name":"request_user_input","arguments":"{\"questions\":[{\"question\":\"Which?\",\"options\":[{\"label\":\"A\"}]}]}"}}"#;
    const OUTPUT: &str =
        r#"{"type":"response_item","payload":{"type":"function_call_output","call_id":"c3","output":"x"}}"#;

    #[test]
    fn a_rollout_tells_what_was_said() {
        let lines = [PROMPT, TEXT, DEVELOPER, COMMAND, PATCH, ASKED];
        let calls = "apply_patch a.rs; exec_command cargo test";
        assert_eq!(summary(read, &lines), ["Which? [A]", "I will.", calls, "Fix it"]);
        assert_eq!(summary(read, &[&lines[..], &[OUTPUT]].concat())[0], "");
    }
}
