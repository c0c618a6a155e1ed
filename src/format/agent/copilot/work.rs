//! Copilot CLI's log, `session-state/<session>/events.jsonl`: an event for each line. A call is
//! written before it runs.
//!
//! As GitHub documents the events of its SDK, which are those of the log; edits, calls, questions and turns were
//! seen with 1.0.102. Events that it calls ephemeral are not in the log: the title, how full the context is, and that
//! the session idles.

use jiff::Timestamp;

use crate::core::model::Untrusted;
use crate::core::model::snapshot::work::{Call, Target, TurnState};
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::work::{Adapter, Draft, first_line, target};

/// How a log is read.
pub(crate) const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write the file which they are given.
const WRITES: [&str; 2] = ["create", "edit"];

fn is_settled(draft: &Draft) -> bool {
    draft.has_turn
}

/// Takes over one event. Events with an agent are a sub-agent's, but the window asks the person.
fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = line.str("timestamp").and_then(time::rfc3339);
    let Some(data) = line.object("data") else { return };
    match line.str("type") {
        Some("permission.requested") => return requested(draft, data, at),
        Some("permission.completed") => {
            return draft.is_answered(data.str("toolCallId").unwrap_or_default());
        }
        Some(_) | None => {}
    }
    if let Some(agent) = line.text("agentId") {
        return helper(draft, &agent, (line.str("type"), data), at);
    }
    match line.str("type") {
        Some("user.message") => {
            draft.asks(data.str("content").unwrap_or_default(), at);
            draft.doing.mode = data.text("agentMode");
        }
        Some("assistant.turn_start") => draft.works(at),
        Some("assistant.message") => message(draft, data, at),
        Some("tool.execution_start") => {
            if let Some(id) = data.str("toolCallId") {
                let target = data.object("arguments").and_then(|input| target(input, None));
                draft.calls(id, data.str("toolName").unwrap_or_default(), target, at);
            }
        }
        Some("tool.execution_complete") => result(draft, data, at),
        Some("session.compaction_start") => draft.doing.compacting = at,
        Some("session.compaction_complete") => draft.doing.compacting = None,
        Some("session.error") => draft.fails(data.str("message").unwrap_or_default(), at),
        Some("session.shutdown") => draft.turns(TurnState::Finished, at),
        Some("abort") => draft.turns(TurnState::Interrupted, at),
        Some(_) | None => {}
    }
}

/// Takes over a sub-agent's event, which is among the window's.
///
/// Seen with 1.0.102.
fn helper(
    draft: &mut Draft,
    agent: &Untrusted,
    (kind, data): (Option<&str>, &Object<'_>),
    at: Option<Timestamp>,
) {
    match kind {
        Some("subagent.started") => {
            let task = data.str("agentDescription").or_else(|| data.str("agentDisplayName"));
            draft.helpers.starts(agent.clone(), task.map(first_line), at);
        }
        Some("subagent.completed" | "subagent.failed") => draft.helpers.ends(agent),
        Some("tool.execution_start") => {
            if let Some(id) = data.text("toolCallId") {
                let target = data.object("arguments").and_then(|input| target(input, None));
                let tool = data.str("toolName").map(first_line).unwrap_or_default();
                draft.helpers.calls(agent, Some(Call { id, tool, target, since: at }));
            }
        }
        Some("tool.execution_complete") => {
            draft.helpers.calls(agent, None);
            let edits = data.get("fileEdits").and_then(Value::as_array).unwrap_or_default();
            for path in edits.iter().filter_map(|edit| edit.as_object()?.str("path")) {
                draft.helper_edits(agent, path, at);
            }
        }
        Some(_) | None => {}
    }
}

/// A person is asked for permission, which the call waits for.
///
/// Seen with 1.0.102.
fn requested(draft: &mut Draft, data: &Object<'_>, since: Option<Timestamp>) {
    let Some(request) = data.object("permissionRequest") else { return };
    let Some(id) = request.str("toolCallId") else { return };
    let open = draft.doing.calls.iter().find(|call| call.id.raw() == id).cloned();
    let call = open.map(|call| Call { since, ..call }).unwrap_or_else(|| {
        let command = request.str("fullCommandText").map(|text| Target::Command(first_line(text)));
        let file = || request.text("fileName").map(Target::File);
        let page = || request.str("url").map(|url| Target::Url(first_line(url)));
        let tool = request.str("toolName").or_else(|| request.str("kind")).map(first_line);
        Call {
            id: id.into(),
            tool: tool.unwrap_or_default(),
            target: command.or_else(file).or_else(page),
            since,
        }
    });
    draft.is_asked(call);
}

/// An answer: the last one of a turn asks for no tools.
fn message(draft: &mut Draft, data: &Object<'_>, at: Option<Timestamp>) {
    let tools = data.get("toolRequests").and_then(Value::as_array).unwrap_or_default();
    if tools.is_empty() { draft.turns(TurnState::Finished, at) } else { draft.works(at) }
}

fn result(draft: &mut Draft, data: &Object<'_>, at: Option<Timestamp>) {
    let Some(id) = data.str("toolCallId") else { return };
    let call = draft.doing.calls.iter().find(|call| call.id.raw() == id);
    let written = call.filter(|call| data.is_true("success") && WRITES.contains(&call.tool.raw()));
    if let Some(Target::File(path)) = written.and_then(|call| call.target.clone()) {
        draft.edits(path.raw(), None, at);
    }
    draft.returns(id);
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::{Doing, Edit};
    use crate::format::work::testing::{calls, check_tails, check_torn, edits, prompt, whole};

    use super::*;

    const START: &str =
        r#"{"type":"session.start","data":{"sessionId":"s"},"timestamp":"2026-11-22T11:00:00Z"}"#;
    const PROMPT: &str = r#"{"type":"user.message","data":{"content":"Fix it\nplease","agentMode":"plan"},"timestamp":"2026-11-22T11:00:01Z"}"#;
    const TURN: &str =
        r#"{"type":"assistant.turn_start","data":{"turnId":"0"},"timestamp":"2026-11-22T11:00:02Z"}"#;
    const TOOLS: &str = r#"{"type":"assistant.message","data":{"content":"","toolRequests":[{"toolCallId":"t1","name":"edit"}]},"timestamp":"2026-11-22T11:00:03Z"}"#;
    const EDIT: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"t1","toolName":"edit","arguments":{"path":"/src/a.rs"}},"timestamp":"2026-11-22T11:00:04Z"}"#;
    const DONE: &str = r#"{"type":"tool.execution_complete","data":{"toolCallId":"t1","success":true},"timestamp":"2026-11-22T11:00:05Z"}"#;
    const BASH: &str = r#"{"type":"tool.execution_start","data":{"toolCallId":"t2","toolName":"bash","arguments":{"command":"cargo test","description":"x"}},"timestamp":"2026-11-22T11:00:06Z"}"#;
    const ANSWER: &str =
        r#"{"type":"assistant.message","data":{"content":"Done."},"timestamp":"2026-11-22T11:00:07Z"}"#;
    const END: &str =
        r#"{"type":"assistant.turn_end","data":{"turnId":"1"},"timestamp":"2026-11-22T11:00:08Z"}"#;
    const ALL: [&str; 9] = [START, PROMPT, TURN, TOOLS, EDIT, DONE, BASH, ANSWER, END];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn a_call_is_open_until_it_is_complete() {
        let open = doing(&ALL[..5]);
        assert_eq!((calls(&open), edits(&open)), (vec![("edit", "/src/a.rs")], vec![]));
        assert_eq!((prompt(&open), open.mode.clone()), (Some("Fix it"), Some("plan".into())));
        assert_eq!(open.turn.since, time::rfc3339("2026-11-22T11:00:01Z"));
        let next = doing(&ALL[..7]);
        assert_eq!((calls(&next), edits(&next)), (vec![("bash", "cargo test")], vec!["/src/a.rs"]));
        let over = doing(&ALL);
        assert_eq!((over.turn.state, calls(&over)), (TurnState::Finished, vec![]));
    }

    #[test]
    fn a_turn_ends_in_more_ways_than_one() {
        for (kind, expected) in [
            ("abort", TurnState::Interrupted),
            ("session.error", TurnState::Failed),
            ("session.shutdown", TurnState::Finished),
            ("session.unheard_of", TurnState::Working),
        ] {
            let end = END.replace("assistant.turn_end", kind);
            assert_eq!(doing(&[PROMPT, EDIT, &end]).turn.state, expected, "{kind}");
        }
    }

    #[test]
    fn a_tool_that_failed_edits_nothing() {
        assert_eq!(edits(&doing(&[PROMPT, EDIT, &DONE.replace("true", "false")])), [""; 0]);
    }

    #[test]
    fn a_sub_agent_runs_until_it_ends_and_its_edits_are_its_own() {
        let started = r#"{"type":"subagent.started","data":{"toolCallId":"t9","agentDescription":"Edit the tax"},"agentId":"a1","timestamp":"2026-11-22T11:00:05Z"}"#;
        let call = BASH.replace("{\"type\"", "{\"agentId\":\"a1\",\"type\"");
        let done = r#"{"type":"tool.execution_complete","data":{"toolCallId":"t2","success":true,"fileEdits":[{"path":"/src/tax.rs","kind":"edit"}]},"agentId":"a1","timestamp":"2026-11-22T11:00:06Z"}"#;
        let ended = started.replace("started", "completed");
        let draft = |lines: &[&str]| whole(ADAPTER, &lines.join("\n"));
        let runs = draft(&[PROMPT, started, &call]);
        let [agent] = runs.helpers.running().try_into().unwrap();
        assert_eq!((agent.id.raw(), agent.task), ("a1", Some("Edit the tax".into())));
        assert_eq!(agent.call.map(|call| call.tool), Some("bash".into()));
        let over = draft(&[PROMPT, started, &call, done, &ended]);
        assert!(over.helpers.running().is_empty());
        let by = |edit: &Edit| (edit.path.raw().to_owned(), edit.by.as_ref().map(|by| by.raw().to_owned()));
        let edits: Vec<_> = over.doing().edits.iter().map(by).collect();
        assert_eq!(edits, [("/src/tax.rs".to_owned(), Some("a1".to_owned()))]);
        let broken = draft(&[PROMPT, started, &END.replace("assistant.turn_end", "abort")]);
        assert!(broken.helpers.running().is_empty(), "they end with a turn that breaks off");
    }

    #[test]
    fn what_a_sub_agent_does_is_not_the_sessions() {
        let other = BASH.replace("{\"type\"", "{\"agentId\":\"a\",\"type\"");
        assert_eq!(calls(&doing(&[PROMPT, &other])), []);
    }

    #[test]
    fn a_compaction_lasts_until_it_is_complete() {
        let [start, end] = ["start", "complete"]
            .map(|it| END.replace("assistant.turn_end", &format!("session.compaction_{it}")));
        assert!(doing(&[PROMPT, &start]).compacting.is_some());
        assert_eq!(doing(&[PROMPT, &start, &end]).compacting, None);
    }

    #[test]
    fn a_line_that_breaks_off_is_counted() {
        check_torn(ADAPTER, &ALL);
    }

    #[test]
    fn a_tail_that_is_enough_says_what_the_whole_file_says() {
        assert_eq!(check_tails(ADAPTER, &[ALL, ALL].concat().join("\n")), 18);
    }
}
