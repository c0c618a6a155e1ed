//! The work of a session of Kimi Code, and what was said in it.

use jiff::Timestamp;

use crate::core::model::snapshot::work::TurnState;
use crate::core::model::{Call, Talk};
use crate::format::reading::json::Object;
use crate::format::reading::time;
use crate::format::work::talk::{call, objects};
use crate::format::work::{Adapter, Draft, question, target_by_path as about};

/// How a session is read.
pub(super) const ADAPTER: Adapter = Adapter { line, is_settled };

/// The tools that write files.
const WRITES: [&str; 2] = ["Write", "Edit"];

fn is_settled(draft: &Draft) -> bool {
    let doing = &draft.doing;
    draft.has_turn && doing.context.is_some() && doing.model.is_some()
}

fn line(draft: &mut Draft, line: &Object<'_>) {
    let at = line.int("time").and_then(time::epoch_ms);
    match line.str("type") {
        Some("profile.bind") => {
            let place = line.object("environmentDisclosure").and_then(|place| place.text("cwd"));
            draft.doing.cwd = place.or(draft.doing.cwd.take());
            draft.doing.model = line.text("modelAlias").or(draft.doing.model.take());
        }
        Some("permission.set_mode") => draft.doing.mode = line.text("mode"),
        Some("turn.prompt") if is_typed(line) => draft.asks(&text_of(line, "input"), at),
        Some("turn.prompt") => draft.works(at),
        Some("llm.request") => {
            draft.doing.model = line.text("model").or(draft.doing.model.take());
            draft.works(at);
        }
        Some("usage.record") => fill(draft, line),
        Some("interaction.request") => asks(draft, line, at),
        // A request's own answer does not name the call.
        Some("permission.record_approval_result") => {
            draft.is_answered(line.str("toolCallId").unwrap_or_default());
        }
        Some("context.append_loop_event") => {
            if let Some(event) = line.object("event") {
                read_event(draft, event, at);
            }
        }
        Some("turn.ended") => ends(draft, line, at),
        Some(_) | None => {}
    }
}

/// Returns whether a person typed it.
fn is_typed(line: &Object<'_>) -> bool {
    line.object("origin").is_none_or(|origin| origin.str("kind") == Some("user"))
}

fn fill(draft: &mut Draft, line: &Object<'_>) {
    let Some(usage) = line.object("usage") else { return };
    let parts = ["inputOther", "inputCacheRead", "inputCacheCreation"].into_iter();
    let used = parts.filter_map(|name| usage.int(name)).fold(0, i64::saturating_add);
    if let Some(used) = u64::try_from(used).ok().filter(|used| *used > 0) {
        draft.fills(used);
    }
}

/// A person is asked: whether a call may run, or a question of the agent's own tool.
fn asks(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(request) = line.object("request") else { return };
    let display = request.object("display");
    let shown = display.and_then(|display| about(display, draft.folder()));
    draft.is_asked(Call {
        id: line.text("toolCallId").unwrap_or_default(),
        tool: request.text("toolName").or_else(|| line.text("kind")).unwrap_or_default(),
        target: question(request).or(shown),
        since: at,
    });
    draft.works(at);
}

fn read_event(draft: &mut Draft, event: &Object<'_>, at: Option<Timestamp>) {
    let id = event.str("toolCallId").unwrap_or_default();
    match event.str("type") {
        Some("tool.call") => {
            let input = event.object("args");
            let target = input.and_then(|input| about(input, draft.folder()));
            draft.calls(id, event.str("name").unwrap_or_default(), target, at);
            if let Some(command) = input.and_then(|input| input.str("command")) {
                draft.runs(id, command);
            }
        }
        Some("tool.result") => result(draft, id, event.object("result"), at),
        Some(_) | None => {}
    }
}

/// A result: that of a tool which writes names no file, but its call does.
fn result(draft: &mut Draft, id: &str, result: Option<&Object<'_>>, at: Option<Timestamp>) {
    if let Some(output) = result.and_then(|result| result.str("output")) {
        draft.prints(id, output, at);
    }
    if result.is_some_and(|result| result.is_true("isError")) {
        return draft.call_fails(id);
    }
    draft.returns_written(id, &WRITES, at);
}

fn ends(draft: &mut Draft, line: &Object<'_>, at: Option<Timestamp>) {
    match line.str("reason") {
        Some("completed") => draft.turns(TurnState::Finished, at),
        Some("cancelled" | "aborted") => draft.turns(TurnState::Interrupted, at),
        _ => {
            let error = line.object("error").and_then(|error| error.str("message"));
            draft.fails(error.unwrap_or_default(), at);
        }
    }
}

/// Returns the texts of a list of parts.
fn text_of(object: &Object<'_>, list: &str) -> String {
    objects(object, list).filter_map(|part| part.str("text")).collect::<Vec<_>>().join("\n")
}

/// Takes over what one line says.
pub(super) fn read_talk(talk: &mut Talk, line: &Object<'_>) {
    let at = line.int("time").and_then(time::epoch_ms);
    match line.str("type") {
        Some("turn.prompt") if is_typed(line) => talk.prompts(&text_of(line, "input"), at),
        Some("interaction.request") => asked(talk, line, at),
        Some("context.append_loop_event") => {
            let Some(event) = line.object("event") else { return };
            let id = event.str("toolCallId").unwrap_or_default();
            match event.str("type") {
                Some("content.part") => {
                    let part = event.object("part").filter(|part| part.str("type") == Some("text"));
                    talk.answers(part.and_then(|part| part.str("text")).unwrap_or_default(), at);
                }
                Some("tool.call") => {
                    let input = event.object("args");
                    let about = input.and_then(|input| about(input, None));
                    // A request follows with the question.
                    let input = input.filter(|input| !input.has("questions"));
                    call(talk, (id, event.str("name").unwrap_or_default()), (input, about), at);
                }
                Some("tool.result") => talk.returns(id),
                Some(_) | None => {}
            }
        }
        Some(_) | None => {}
    }
}

/// Takes over the questions of a request, which the result of its call answers.
fn asked(talk: &mut Talk, line: &Object<'_>, at: Option<Timestamp>) {
    let Some(request) = line.object("request") else { return };
    let id = line.text("toolCallId").unwrap_or_default();
    for one in objects(request, "questions") {
        let Some(text) = one.str("question") else { continue };
        let labels = objects(one, "options").filter_map(|option| option.str("label"));
        talk.asks(id.raw(), (text, labels), at);
    }
}

#[cfg(test)]
mod tests {
    use crate::core::model::Target;
    use crate::core::model::snapshot::work::Doing;
    use crate::format::testing::fixture;
    use crate::format::work::talk::testing::summary;
    use crate::format::work::testing::{calls, check_tails, check_torn, edits, prompt, whole};

    use super::*;

    const BIND: &str =
        r#"{"type":"profile.bind","modelAlias":"stub","environmentDisclosure":{"cwd":"/src"},"time":1000}"#;
    const PROMPT: &str = r#"{"type":"turn.prompt","input":[{"type":"text","text":"Fix it\nplease"}],"origin":{"kind":"user"},"turnId":0,"time":2000}"#;
    const REQUEST: &str = r#"{"type":"llm.request","model":"m","maxTokens":200000,"time":2001}"#;
    const USAGE: &str = r#"{"type":"usage.record","usage":{"inputOther":3000,"output":120,"inputCacheRead":18000,"inputCacheCreation":0},"time":2002}"#;
    const SAID: &str = r#"{"type":"context.append_loop_event","event":{"type":"content.part","part":{"type":"text","text":"I will."}},"time":2003}"#;
    const EDIT: &str = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"c1","name":"Edit","args":{"path":"b.rs","old_string":"a","new_string":"b"}},"time":3000}"#;
    const EDITED: &str = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c1","result":{"output":"Replaced","durationMs":1}},"time":4000}"#;
    const ASKS: &str = r#"{"type":"interaction.request","id":"approval_1","kind":"approval","toolCallId":"c2","request":{"toolCallId":"c2","toolName":"Bash","action":"Running: cargo test","display":{"kind":"command","command":"cargo test","cwd":"/src"}},"time":5000}"#;
    const ALLOWED: &str = r#"{"type":"permission.record_approval_result","toolCallId":"c2","result":{"decision":"approved"},"time":6000}"#;
    const BASH: &str = r#"{"type":"context.append_loop_event","event":{"type":"tool.call","toolCallId":"c2","name":"Bash","args":{"command":"cargo test"}},"time":6001}"#;
    const RAN: &str = r#"{"type":"context.append_loop_event","event":{"type":"tool.result","toolCallId":"c2","result":{"output":"ok"}},"time":7000}"#;
    const ENDED: &str =
        r#"{"type":"turn.ended","turnId":0,"reason":"completed","durationMs":356,"time":8000}"#;
    const ALL: [&str; 12] =
        [BIND, PROMPT, REQUEST, USAGE, SAID, EDIT, EDITED, ASKS, ALLOWED, BASH, RAN, ENDED];

    fn doing(lines: &[&str]) -> Doing {
        whole(ADAPTER, &lines.join("\n")).doing()
    }

    #[test]
    fn a_call_is_open_until_its_result() {
        let open = doing(&ALL[..6]);
        assert_eq!(calls(&open), [("Edit", "/src/b.rs")]);
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!((open.turn.since, open.heard_at), (time::epoch_ms(2000), time::epoch_ms(3000)));
        assert_eq!(open.context.map(|context| (context.tokens, context.window)), Some((21_000, None)));
        let next = doing(&ALL[..7]);
        assert_eq!((calls(&next), edits(&next)), (vec![], vec!["/src/b.rs"]));
        assert_eq!(doing(&ALL).turn.state, TurnState::Finished);
    }

    #[test]
    fn a_person_is_asked_until_that_is_answered() {
        let asked = doing(&ALL[..8]);
        let asks: Vec<_> = asked.asks.iter().map(|call| (call.tool.raw(), call.since)).collect();
        assert_eq!(asks, [("Bash", time::epoch_ms(5000))]);
        assert_eq!(asked.asks[0].target, Some(Target::Command("cargo test".into())));
        assert_eq!(doing(&ALL[..9]).asks, []);
        assert_eq!(calls(&doing(&ALL[..10])), [("Bash", "cargo test")]);
        let question = ASKS
            .replace("\"toolName\":\"Bash\",", "\"questions\":[{\"question\":\"Which?\",\"options\":[{\"label\":\"A\"},{\"label\":\"B\"}]}],")
            .replace("approval", "question");
        let asked = doing(&[BIND, PROMPT, &question]);
        assert_eq!(asked.asks[0].target, Some(Target::Question("Which?".into())));
        assert_eq!(summary(read_talk, &[PROMPT, &question])[0], "Which? [A, B]");
        assert_eq!(doing(&[BIND, PROMPT, &question, RAN]).asks, []);
        assert_eq!(summary(read_talk, &[PROMPT, &question, RAN])[0], "");
    }

    #[test]
    fn a_tool_that_failed_edits_nothing() {
        let failed = EDITED.replace("\"durationMs\":1", "\"isError\":true");
        assert_eq!(edits(&doing(&[BIND, PROMPT, EDIT, &failed])), [""; 0]);
    }

    #[test]
    fn a_turn_ends_with_a_person_or_an_error() {
        let ended = |reason: &str| doing(&[BIND, PROMPT, &ENDED.replace("completed", reason)]);
        assert_eq!(ended("cancelled").turn.state, TurnState::Interrupted);
        assert_eq!(ended("failed").turn.state, TurnState::Failed);
        let system = PROMPT.replace("\"user\"", "\"cron\"");
        let found = doing(&[BIND, PROMPT, ENDED, &system.replace("Fix it", "Go on")]);
        assert_eq!((prompt(&found), found.turn.state), (Some("Fix it"), TurnState::Working));
    }

    #[test]
    fn what_was_said_is_read() {
        let said = summary(read_talk, &ALL);
        assert_eq!(said, ["", "I will.", "Bash cargo test; Edit b.rs", "Fix it\nplease"]);
    }

    #[test]
    fn any_tail_that_is_enough_says_the_same() {
        // The folder stands at the beginning alone, which is read later.
        assert_eq!(check_tails(ADAPTER, &ALL[1..].join("\n")), ALL.len() - 1);
        check_torn(ADAPTER, &[PROMPT, USAGE, EDIT, EDITED, ASKS, ENDED]);
    }

    #[test]
    fn a_real_session_waits_for_its_person() {
        let Some(text) = fixture("agents-2026-11/kimi/wire.jsonl") else { return };
        let found = doing(&String::from_utf8_lossy(&text).lines().collect::<Vec<_>>());
        assert_eq!((prompt(&found), found.turn.state), (Some("DO: edkimi"), TurnState::Working));
        assert_eq!(edits(&found), ["/home/dev/src/kimi/b.txt"]);
        let asks: Vec<_> = found.asks.iter().filter_map(|call| call.target.as_ref()).collect();
        assert_eq!(asks, [&Target::Command("sleep 25; echo x".into())]);
        assert_eq!(found.context.map(|it| it.tokens), Some(21_000));
    }
}
