//! Codex's rollout, `sessions/<year>/<month>/<day>/rollout-<start>-<thread>.jsonl`: one append for each line. A call
//! is written before it runs, and a wait for approval is not recorded. A command that continues in the background has
//! its result.
//!
//! Seen with 0.169.0. Only the first line has its version, which a tail lacks.

use jiff::Timestamp;

use crate::core::model::snapshot::work::{Target, TurnState};
use crate::format::agent::codex::target::{of_command, of_patch, of_script};
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::work::{Adapter, Draft, first_line, target};

/// How a rollout is read, also that of a sub-agent, which has no prompt.
pub(crate) const ADAPTER: Adapter = Adapter { line, is_settled };

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_turn && doing.prompt.is_some() && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = line.str("timestamp").and_then(time::rfc3339);
    let Some(payload) = line.object("payload") else { return };
    match line.str("type") {
        Some("event_msg") => event(draft, payload, at),
        Some("response_item") => item(draft, payload, at),
        Some("turn_context") => turn_context(draft, payload),
        Some(_) | None => {}
    }
}

fn event(draft: &mut Draft, event: &Object<'_>, at: Option<Timestamp>) {
    match event.str("type") {
        Some("task_started") => turn(draft, TurnState::Working, at),
        Some("task_complete") => complete(draft, event, at),
        Some("turn_aborted") => match event.str("reason") {
            Some("interrupted") => turn(draft, TurnState::Interrupted, at),
            Some(_) | None => turn(draft, TurnState::Finished, at),
        },
        Some("token_count") => fill(draft, event),
        Some("item_completed") => completed(draft, event, at),
        Some(_) | None => {}
    }
}

/// The end of a turn; one ended by an error has that error (seen with 0.171.0).
fn complete(draft: &mut Draft, event: &Object<'_>, at: Option<Timestamp>) {
    turn(draft, TurnState::Finished, at);
    if let Some(error) = event.object("error") {
        draft.fails(error.str("message").unwrap_or_default(), at);
    }
}

fn turn(draft: &mut Draft, state: TurnState, at: Option<Timestamp>) {
    draft.turns(state, at);
    draft.has_turn = true;
}

fn turn_context(draft: &mut Draft, context: &Object<'_>) {
    draft.doing.mode = context.text("approval_policy");
    if let Some(model) = context.text("model") {
        draft.doing.model = Some(model);
    }
    if let Some(cwd) = context.text("cwd") {
        draft.doing.cwd = Some(cwd);
    }
}

/// Takes over the size of the context after the last answer, or a compaction.
fn fill(draft: &mut Draft, event: &Object<'_>) {
    let Some(info) = event.object("info") else { return };
    let number = |number: i64| u64::try_from(number).ok();
    let used = info.object("last_token_usage").and_then(|usage| usage.int("total_tokens"));
    draft.fills(used.and_then(number).unwrap_or_default());
    if let Some(context) = &mut draft.doing.context {
        context.window = info.int("model_context_window").and_then(number);
    }
}

fn completed(draft: &mut Draft, event: &Object<'_>, at: Option<Timestamp>) {
    let Some(item) = event.object("item") else { return };
    match item.str("type") {
        Some("UserMessage") => {
            let content = item.get("content").and_then(Value::as_array).unwrap_or_default();
            if let Some(text) = content.iter().find_map(|part| part.as_object()?.str("text")) {
                draft.adds(text, at);
            }
        }
        Some("SubAgentActivity") => sub_agent(draft, item, at),
        Some("FileChange") if item.str("status") == Some("completed") => {
            for (path, change) in item.object("changes").into_iter().flat_map(Object::iter) {
                let moved = change.as_object().and_then(|change| change.str("move_path"));
                for path in [Some(path), moved].into_iter().flatten() {
                    draft.edits(path, None, at);
                }
            }
        }
        Some(_) | None => {}
    }
}

/// A sub-agent begins or ends; its work is in a rollout of its own (seen with 0.171.0).
fn sub_agent(draft: &mut Draft, item: &Object<'_>, at: Option<Timestamp>) {
    let Some(thread) = item.text("agent_thread_id") else { return };
    draft.helpers.has_file(thread.clone());
    match item.str("kind") {
        Some("started") => draft.helpers.starts(thread, item.str("agent_path").map(first_line), at),
        Some("completed") => draft.helpers.ends(&thread),
        Some(_) | None => {}
    }
}

fn item(draft: &mut Draft, item: &Object<'_>, at: Option<Timestamp>) {
    let Some(id) = item.str("call_id") else { return };
    let tool = item.str("name").unwrap_or_default();
    match item.str("type") {
        Some("custom_tool_call") => {
            let input = item.str("input").unwrap_or_default();
            let target = target_of((tool, input), draft.folder());
            draft.calls(id, tool, target, at);
        }
        Some("function_call") => {
            let target = arguments(item.str("arguments").unwrap_or_default());
            draft.calls(id, tool, target, at);
        }
        Some("custom_tool_call_output" | "function_call_output") => {
            draft.prints(id, item.str("output").unwrap_or_default(), at);
            draft.returns(id);
        }
        Some(_) | None => {}
    }
}

/// Returns the target of a call with a text. A file is relative to the folder.
pub(super) fn target_of((tool, input): (&str, &str), folder: Option<&str>) -> Option<Target> {
    match tool {
        "apply_patch" => of_patch(input, folder),
        "exec" => of_script(input, folder),
        _ => None,
    }
}

/// Returns the target of a call with arguments.
pub(super) fn arguments(arguments: &str) -> Option<Target> {
    let arguments = json::parse(arguments.as_bytes()).ok()?;
    match arguments.str("cmd") {
        Some(command) => Some(of_command(command)),
        // It can run in another folder than the session.
        None => target(&arguments, None),
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::{ContextFill, Doing};
    use crate::format::work::testing::{
        calls, check_fixtures, check_tails, check_torn, edits, prompt, whole,
    };

    use super::*;

    const START: &str = r#"{"timestamp":"2026-11-22T11:00:00Z","type":"event_msg","payload":{"type":"task_started","model_context_window":1000}}"#;
    const CONTEXT: &str = r#"{"timestamp":"2026-11-22T11:00:00Z","type":"turn_context","payload":{"cwd":"/src","approval_policy":"on-request","model":"m"}}"#;
    const PROMPT: &str = r#"{"timestamp":"2026-11-22T11:00:01Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"UserMessage","content":[{"type":"text","text":"Fix it\nplease"}]}}}"#;
    const PATCH: &str = r#"{"timestamp":"2026-11-22T11:00:02Z","type":"response_item","payload":{"type":"custom_tool_call","call_id":"c1","name":"apply_patch","input":"*** Begin Patch\n*** Update File: a.rs\n"}}"#;
    const CHANGE: &str = r#"{"timestamp":"2026-11-22T11:00:03Z","type":"event_msg","payload":{"type":"item_completed","item":{"type":"FileChange","status":"completed","changes":{"/src/a.rs":{"type":"update","move_path":"/src/b.rs"},"":{}}}}}"#;
    const OUTPUT: &str = r#"{"timestamp":"2026-11-22T11:00:04Z","type":"response_item","payload":{"type":"custom_tool_call_output","call_id":"c1","output":"x"}}"#;
    const COMMAND: &str = r#"{"timestamp":"2026-11-22T11:00:05Z","type":"response_item","payload":{"type":"function_call","call_id":"c2","name":"exec_command","arguments":"{\"cmd\":\"cargo test\"}"}}"#;
    const USED: &str = r#"{"timestamp":"2026-11-22T11:00:06Z","type":"event_msg","payload":{"type":"token_count","info":{"last_token_usage":{"total_tokens":250},"model_context_window":1000}}}"#;
    const ABORT: &str = r#"{"timestamp":"2026-11-22T11:00:07Z","type":"event_msg","payload":{"type":"turn_aborted","reason":"interrupted"}}"#;
    const ALL: [&str; 9] = [START, CONTEXT, PROMPT, PATCH, CHANGE, OUTPUT, COMMAND, USED, ABORT];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn a_call_is_open_until_its_output() {
        let open = doing(&ALL[..4]);
        assert_eq!(calls(&open), [("apply_patch", "/src/a.rs")]);
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!(open.turn.since, time::rfc3339("2026-11-22T11:00:00Z"));
        let next = doing(&ALL[..8]);
        assert_eq!(calls(&next), [("exec_command", "cargo test")]);
        assert_eq!(edits(&next), ["/src/a.rs", "/src/b.rs"]);
        assert_eq!(next.context, Some(ContextFill { tokens: 250, window: Some(1000) }));
        assert_eq!(next.mode, Some("on-request".into()));
        let over = doing(&ALL);
        assert_eq!((over.turn.state, calls(&over)), (TurnState::Interrupted, vec![]));
    }

    #[test]
    fn a_patch_that_failed_edits_nothing() {
        assert_eq!(edits(&doing(&[&CHANGE.replace("completed\",\"changes", "failed\",\"changes")])), [""; 0]);
    }

    #[test]
    fn what_is_out_of_range_is_not_known() {
        for number in ["-5", "18446744073709551616", "1.5", "\"250\"", "null"] {
            let used = USED
                .replace("250", number)
                .replace("\"model_context_window\":1000", "\"model_context_window\":-1");
            assert_eq!(doing(&[&used]).context, None, "{number}");
        }
        let used = USED.replace("\"model_context_window\":1000", "\"model_context_window\":-1");
        assert_eq!(doing(&[&used]).context, Some(ContextFill { tokens: 250, window: None }));
    }

    #[test]
    fn a_line_that_breaks_off_is_counted() {
        check_torn(ADAPTER, &ALL);
    }

    #[test]
    fn a_tail_that_is_enough_says_what_the_whole_file_says() {
        check_tails(ADAPTER, &[ALL, ALL].concat().join("\n"));
        let names = [
            "codex/rollout-codemode-patch-exec-abort.jsonl",
            "codex/rollout-direct-tools-gpt-5.5.jsonl",
            "codex/rollout-subagent-parent.jsonl",
        ];
        let Some([code, direct, parent]) = check_fixtures(ADAPTER, names) else { return };
        assert_eq!(prompt(&code), Some("case ctx DO: w1"));
        assert_eq!((code.turn.state, calls(&code)), (TurnState::Working, vec![]));
        let files = ["b.txt", "c.txt", "sub/d.txt"].map(|file| format!("/home/dev/src/beta/{file}"));
        assert_eq!(edits(&code), files);
        assert_eq!(direct.model, Some("gpt-5.5".into()));
        assert_eq!(direct.context.and_then(ContextFill::percent), Some(8));
        assert_eq!((parent.turn.state, prompt(&parent)), (TurnState::Finished, Some("spawn DO: sub")));
    }
}
