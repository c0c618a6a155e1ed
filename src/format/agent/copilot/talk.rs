//! What was said in a session of Copilot CLI, from its log.
//!
//! Seen with 1.0.102.

use crate::core::model::Talk;
use crate::format::reading::json::Object;
use crate::format::reading::time;
use crate::format::work::talk::call;
use crate::format::work::target;

/// Takes over what one event says. Events with an agent are a sub-agent's.
pub(crate) fn read(talk: &mut Talk, line: &Object<'_>) {
    let Some(data) = line.object("data").filter(|_| !line.has("agentId")) else { return };
    let at = line.str("timestamp").and_then(time::rfc3339);
    let text = |name| data.str(name).unwrap_or_default();
    match line.str("type") {
        Some("user.message") => talk.prompts(text("content"), at),
        Some("assistant.message") => talk.answers(text("content"), at),
        Some("tool.execution_start") => {
            let input = data.object("arguments");
            let about = input.and_then(|input| target(input, None));
            call(talk, (text("toolCallId"), text("toolName")), (input, about), at);
        }
        Some("tool.execution_complete") => talk.returns(text("toolCallId")),
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::work::talk::testing::summary;

    const PROMPT: &str =
        r#"{"type":"user.message","data":{"content":"Fix it"},"timestamp":"2026-11-22T11:00:01Z"}"#;
    const ANSWER: &str = r#"{"type":"assistant.message","data":{"content":"I will.","toolRequests":[]}}"#;
    const BASH: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"t2","toolName":"bash","arguments":{"command":"cargo test","description":"x"}}}"#;
    const ASKED: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"t3","toolName":"ask_user","arguments":{"question":"Which?","choices":["A","B"]}}}"#;
    const DONE: &str = r#"{"type":"tool.execution_complete","data":{"toolCallId":"t3","success":true}}"#;
    const OTHERS: &str = r#"{"type":"assistant.message","agentId":"x","data":{"content":"Not mine."}}"#;

    #[test]
    fn a_log_tells_what_was_said() {
        let lines = [PROMPT, ANSWER, BASH, ASKED, OTHERS];
        assert_eq!(summary(read, &lines), ["Which? [A, B]", "I will.", "bash cargo test", "Fix it"]);
        assert_eq!(summary(read, &[&lines[..], &[DONE]].concat())[0], "");
    }
}
