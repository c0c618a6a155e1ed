//! The work of a session of Pi, and what was said in it.

use jiff::Timestamp;

use crate::core::model::Talk;
use crate::core::model::snapshot::work::TurnState;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::work::talk::{call, objects};
use crate::format::work::{Adapter, Draft, target_by_path as about};

/// How a session is read.
pub(super) const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["write", "edit"];

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_turn && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = draft.comes_from(line);
    match line.str("type") {
        Some("message") => {
            if let Some(message) = line.object("message") {
                read_message(draft, message, at);
            }
        }
        Some("session_info") => draft.doing.name = line.text("name").filter(|name| !name.is_empty()),
        // How full the context is then is not known until the next answer.
        Some("compaction") => draft.doing.context = None,
        Some(_) | None => {}
    }
}

fn read_message(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    match message.str("role") {
        Some("user") => draft.asks(&text_of(message), at),
        Some("assistant") => answer(draft, message, at),
        Some("toolResult") => result(draft, message, at),
        Some(_) | None => {}
    }
}

/// An answer: its reason to stop says whether it has ended the turn.
fn answer(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    draft.doing.model = message.text("model").or(draft.doing.model.take());
    fill(draft, message);
    match message.str("stopReason") {
        Some("aborted") => draft.turns(TurnState::Interrupted, at),
        Some("error") => draft.fails(message.str("errorMessage").unwrap_or_default(), at),
        _ => {
            let mut calls = calls(message).peekable();
            if calls.peek().is_none() {
                return draft.turns(TurnState::Finished, at);
            }
            for (id, tool, input) in calls {
                let about = input.and_then(|input| about(input, draft.folder()));
                draft.calls(id, tool, about, at);
                if let Some(command) = input.and_then(|input| input.str("command")) {
                    draft.runs(id, command);
                }
            }
        }
    }
}

/// An answer that never came has no usage.
fn fill(draft: &mut Draft, message: &Object<'_>) {
    let Some(usage) = message.object("usage") else { return };
    let parts = ["input", "cacheRead", "cacheWrite"].into_iter().filter_map(|name| usage.int(name));
    let used = parts.fold(0, i64::saturating_add);
    if let Some(used) = u64::try_from(used).ok().filter(|used| *used > 0) {
        draft.fills(used);
    }
}

/// A result: that of a tool which writes names no file, but its call does.
fn result(draft: &mut Draft, message: &Object<'_>, at: Option<Timestamp>) {
    let id = message.str("toolCallId").unwrap_or_default();
    draft.works(at);
    draft.prints(id, &text_of(message), at);
    if message.is_true("isError") {
        return draft.call_fails(id);
    }
    draft.returns_written(id, &WRITES, at);
}

/// Returns the calls of an answer: their IDs, tools and inputs.
fn calls<'b, 'a>(
    message: &'b Object<'a>,
) -> impl Iterator<Item = (&'b str, &'b str, Option<&'b Object<'a>>)> {
    let calls = objects(message, "content").filter(|part| part.str("type") == Some("toolCall"));
    calls.map(|call| {
        let text = |name| call.str(name).unwrap_or_default();
        (text("id"), text("name"), call.object("arguments"))
    })
}

/// Returns the text of a message, which is one or a list of parts.
fn text_of(message: &Object<'_>) -> String {
    let parts = objects(message, "content").filter(|part| part.str("type") == Some("text"));
    let parts: Vec<&str> = parts.filter_map(|part| part.str("text")).collect();
    message.get("content").and_then(Value::as_str).map_or_else(|| parts.join("\n"), str::to_owned)
}

/// Takes over what one line says.
pub(super) fn read_talk(talk: &mut Talk, line: &Object<'_>) {
    let Some(message) = line.object("message").filter(|_| line.str("type") == Some("message")) else {
        return;
    };
    let at = line.str("timestamp").and_then(time::rfc3339);
    match message.str("role") {
        Some("user") => talk.prompts(&text_of(message), at),
        Some("assistant") => {
            talk.answers(&text_of(message), at);
            for (id, tool, input) in calls(message) {
                let about = input.and_then(|input| about(input, None));
                call(talk, (id, tool), (input, about), at);
            }
        }
        Some("toolResult") => talk.returns(message.str("toolCallId").unwrap_or_default()),
        Some(_) | None => {}
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::snapshot::work::Doing;
    use crate::format::testing::fixture;
    use crate::format::work::talk::testing::summary;
    use crate::format::work::testing::{calls, check_tails, check_torn, edits, prompt, whole};

    use super::*;

    const BEGIN: &str =
        r#"{"type":"session","version":3,"id":"s","timestamp":"2026-11-28T08:40:00Z","cwd":"/src"}"#;
    const PROMPT: &str = r#"{"type":"message","id":"1","timestamp":"2026-11-28T08:41:00Z","message":{"role":"user","content":[{"type":"text","text":"Fix it\nplease"}]}}"#;
    const EDIT: &str = r#"{"type":"message","id":"2","timestamp":"2026-11-28T08:41:01Z","message":{"role":"assistant","content":[{"type":"text","text":"I will."},{"type":"toolCall","id":"c1","name":"edit","arguments":{"path":"b.rs","edits":[]}},{"type":"toolCall","id":"c2","name":"bash","arguments":{"command":"cargo test"}}],"model":"m","usage":{"input":2005,"cacheRead":150000,"cacheWrite":0},"stopReason":"toolUse"}}"#;
    const EDITED: &str = r#"{"type":"message","id":"3","timestamp":"2026-11-28T08:41:02Z","message":{"role":"toolResult","toolCallId":"c1","toolName":"edit","content":[],"isError":false}}"#;
    const TESTED: &str = r#"{"type":"message","id":"4","timestamp":"2026-11-28T08:41:03Z","message":{"role":"toolResult","toolCallId":"c2","toolName":"bash","content":[],"isError":false}}"#;
    const DONE: &str = r#"{"type":"message","id":"5","timestamp":"2026-11-28T08:41:04Z","message":{"role":"assistant","content":[{"type":"text","text":"Done."}],"model":"m","usage":{"input":3000,"cacheRead":1},"stopReason":"stop"}}"#;
    const ALL: [&str; 6] = [BEGIN, PROMPT, EDIT, EDITED, TESTED, DONE];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn a_call_is_open_until_its_result() {
        let open = doing(&ALL[..3]);
        assert_eq!(calls(&open), [("edit", "/src/b.rs"), ("bash", "cargo test")]);
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!(open.context.map(|context| (context.tokens, context.window)), Some((152_005, None)));
        let next = doing(&ALL[..4]);
        assert_eq!((calls(&next), edits(&next)), (vec![("bash", "cargo test")], vec!["/src/b.rs"]));
        assert_eq!(doing(&ALL).turn.state, TurnState::Finished);
    }

    #[test]
    fn a_tool_that_failed_edits_nothing() {
        let failed = EDITED.replace("false", "true");
        assert_eq!(edits(&doing(&[BEGIN, PROMPT, EDIT, &failed])), [""; 0]);
    }

    #[test]
    fn a_turn_ends_with_a_person_or_an_error() {
        let aborted = DONE.replace("\"stop\"}", "\"aborted\",\"errorMessage\":\"Operation aborted\"}");
        assert_eq!(doing(&[BEGIN, PROMPT, EDIT, &aborted]).turn.state, TurnState::Interrupted);
        let failed = aborted.replace("\"aborted\"", "\"error\"").replace("Operation aborted", "401 no key");
        let failed = doing(&[BEGIN, PROMPT, &failed]);
        assert_eq!((failed.turn.state, failed.error), (TurnState::Failed, Some("401 no key".into())));
    }

    #[test]
    fn a_compaction_leaves_the_context_unknown_and_a_name_is_a_person_s() {
        let compaction = r#"{"type":"compaction","id":"6","timestamp":"2026-11-28T08:42:00Z","summary":"x","tokensBefore":5}"#;
        let named = r#"{"type":"session_info","id":"7","timestamp":"2026-11-28T08:42:01Z","name":"pay"}"#;
        let found = doing(&[&ALL[..], &[compaction, named]].concat());
        assert_eq!((found.context, found.name), (None, Some("pay".into())));
    }

    #[test]
    fn what_was_said_is_read() {
        let said = summary(read_talk, &ALL);
        assert_eq!(said, ["", "Done.", "bash cargo test; edit b.rs", "Fix it\nplease"]);
    }

    #[test]
    fn any_tail_that_is_enough_says_the_same() {
        assert_eq!(check_tails(ADAPTER, &ALL[1..].join("\n")), 5);
        check_torn(ADAPTER, &[PROMPT, EDIT, EDITED, DONE]);
    }

    #[test]
    fn a_real_session_says_what_it_did() {
        let Some(text) = fixture("agents-2026-11/pi/session.jsonl") else { return };
        let found = doing(&String::from_utf8_lossy(&text).lines().collect::<Vec<_>>());
        assert_eq!((prompt(&found), found.turn.state), (Some("DO: edpi"), TurnState::Finished));
        // Its only edit failed.
        assert_eq!((edits(&found), found.context.map(|it| it.tokens)), (vec![], Some(21_000)));
        assert_eq!((found.model, found.cwd), (Some("stub-model".into()), Some("/home/dev/src/pi".into())));
    }
}
