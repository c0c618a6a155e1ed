//! Whether two calls are in one answer of a model, by the agent's transcript: then the model had not read the guard's
//! response to the first when it made the second.

use jiff::Timestamp;

use crate::format::hook::guard::Asker;
use crate::format::reading::json::{Object, Value, parse};

/// The event that Copilot CLI writes when all calls of an answer have ended.
const TURN_END: &str = "assistant.turn_end";

/// Qwen Code's type for the result of a call, and the text of a refusal.
const RESULT: &str = "\"tool_result\"";
const OWN: &str = "claimtop";

/// A call that was held up, and a later one.
pub(crate) struct Calls<'a> {
    /// The agent's names for both, if it has any.
    pub(crate) first: Option<&'a str>,
    pub(crate) second: Option<&'a str>,
    /// When the first was held up.
    pub(crate) held_up_at: Timestamp,
}

/// Returns whether two calls are in one answer of the model, by the end of a transcript; `None` if it does not show
/// that.
pub(crate) fn is_same_answer(asker: Asker, transcript: &str, calls: &Calls<'_>) -> Option<bool> {
    match asker {
        Asker::Claude => by_message(transcript, calls),
        Asker::Codex => by_result(transcript, calls),
        // The results of all calls of one answer are written at once, before the next one is requested.
        Asker::Gemini => {
            has_since(transcript, calls, "\"functionResponse\"", |line| line.str("type") == Some("user"))
                .then_some(false)
        }
        Asker::Qwen => by_refusal(transcript, calls),
        // A sub-agent's calls are there as well, with its name.
        Asker::Copilot => {
            let is_end = |line: &Object<'_>| line.str("type") == Some(TURN_END) && !line.has("agentId");
            has_since(transcript, calls, &quoted(TURN_END), is_end).then_some(false)
        }
        Asker::Opencode => None,
    }
}

/// By the answer's ID, which Claude Code writes with each call. It writes all calls of an ended answer together, up to
/// 160 ms after it has run the hooks of the first.
fn by_message(transcript: &str, calls: &Calls<'_>) -> Option<bool> {
    let answer_with = |call: &str| {
        lines_with(transcript, call).iter().find_map(|line| {
            let message = line.object("message").filter(|_| line.str("type") == Some("assistant"))?;
            Some((message.str("id")?.to_owned(), message.str("stop_reason").is_some()))
        })
    };
    let (answer, is_whole) = answer_with(calls.first?)?;
    if let Some((other, _)) = answer_with(calls.second?) {
        return Some(answer == other);
    }
    let results = lines_with(transcript, calls.first?);
    let has_result = results.iter().any(|line| line.str("type") == Some("user"));
    // The part of the transcript that was read may begin within the answer.
    let answer = quoted(&answer);
    let mut before = transcript.lines().take_while(|line| !line.contains(&answer));
    let has_begin = before.any(|line| parse(line.as_bytes()).is_ok());
    (is_whole && has_result && has_begin).then_some(false)
}

/// Returns the lines that name a call, the last first.
fn lines_with<'a>(transcript: &'a str, call: &str) -> Vec<Object<'a>> {
    let call = quoted(call);
    let lines = transcript.lines().rev().filter(|line| line.contains(&call));
    lines.filter_map(|line| parse(line.as_bytes()).ok()).collect()
}

/// Qwen Code writes an answer, then the result of each of its calls: when all results of the answer with the refused
/// call are there, another call is of a later answer.
fn by_refusal(transcript: &str, calls: &Calls<'_>) -> Option<bool> {
    let is_refusal = |line: &&str| {
        line.contains(RESULT) && line.contains(OWN) && is_since(line, calls, |_| true) == Some(true)
    };
    let refusal = parse(transcript.lines().rev().find(is_refusal)?.as_bytes()).ok()?;
    let refused = ids_of(&refusal, "functionResponse").into_iter().next()?;
    let answers = lines_with(transcript, &refused);
    let mut asked = answers.iter().map(|line| ids_of(line, "functionCall"));
    let asked = asked.find(|asked| asked.contains(&refused))?;
    let has_result = |call: &String| {
        let lines = lines_with(transcript, call);
        lines.iter().any(|line| ids_of(line, "functionResponse").contains(call))
    };
    asked.iter().all(has_result).then_some(false)
}

/// Returns the names of the calls in the parts of a message.
fn ids_of(line: &Object<'_>, part: &str) -> Vec<String> {
    let message = line.object("message");
    let parts = message.and_then(|message| message.get("parts")?.as_array()).unwrap_or_default();
    let id_of = |value: &Value<'_>| Some(value.as_object()?.object(part)?.str("id")?.to_owned());
    parts.iter().filter_map(id_of).collect()
}

/// Codex writes the results of an answer's calls after the last of them.
fn by_result(transcript: &str, calls: &Calls<'_>) -> Option<bool> {
    let place = |call: &str, end: &str| {
        let is = |line: &str| {
            let line = parse(line.as_bytes()).ok();
            let item = line.as_ref().and_then(|line| line.object("payload"));
            let is_of = item.is_some_and(|item| item.str("call_id") == Some(call));
            is_of && item.and_then(|item| item.str("type")).is_some_and(|kind| kind.ends_with(end))
        };
        let mut lines = transcript.lines().enumerate().filter(|(_, line)| line.contains(&quoted(call)));
        lines.find(|(_, line)| is(line)).map(|(at, _)| at)
    };
    let result = place(calls.first?, "_call_output")?;
    Some(place(calls.second?, "_call")? < result)
}

/// Returns whether a line that contains `wanted` and satisfies `is_so` was written since the first call was held up.
fn has_since(transcript: &str, calls: &Calls<'_>, wanted: &str, is_so: impl Fn(&Object<'_>) -> bool) -> bool {
    let mut lines = transcript.lines().rev().filter(|line| line.contains(wanted));
    lines.any(|line| is_since(line, calls, &is_so) == Some(true))
}

fn is_since(line: &str, calls: &Calls<'_>, is_so: impl Fn(&Object<'_>) -> bool) -> Option<bool> {
    let line = parse(line.as_bytes()).ok()?;
    let at: Timestamp = line.str("timestamp")?.parse().ok()?;
    Some(at > calls.held_up_at && is_so(&line))
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn lines(lines: &[Value]) -> String {
        lines.iter().map(|line| format!("{line}\n")).collect()
    }

    #[track_caller]
    fn check(asker: Asker, transcript: &[Value], expected: Option<bool>) {
        let held_up_at = "2026-11-22T11:30:54.500Z".parse().unwrap();
        let calls = Calls { first: Some("one"), second: Some("two"), held_up_at };
        assert_eq!(is_same_answer(asker, &lines(transcript), &calls), expected, "{asker:?}");
    }

    #[test]
    fn codex_writes_results_behind_the_calls_of_their_answer() {
        let item = |kind: &str, call: &str| json!({ "type": "response_item", "payload": { "type": kind, "call_id": call } });
        let (one, two) = (item("function_call", "one"), item("custom_tool_call", "two"));
        let result = item("function_call_output", "one");
        check(Asker::Codex, &[one.clone(), two.clone()], None);
        check(Asker::Codex, &[one.clone(), two.clone(), result.clone()], Some(true));
        check(Asker::Codex, &[one.clone(), result.clone()], None);
        check(Asker::Codex, &[one, result, two], Some(false));
    }

    #[test]
    fn claude_code_writes_down_whole_answers() {
        let asks = |answer: &str, call: &str, end: Value| {
            let message =
                json!({ "id": answer, "stop_reason": end, "content": [{ "type": "tool_use", "id": call }] });
            json!({ "type": "assistant", "message": message })
        };
        let result = |call: &str| {
            let content = json!([{ "type": "tool_result", "tool_use_id": call }]);
            json!({ "type": "user", "message": { "content": content } })
        };
        let whole = json!("tool_use");
        let one = asks("a", "one", whole.clone());
        check(Asker::Claude, &[one.clone(), asks("a", "two", whole.clone())], Some(true));
        check(Asker::Claude, &[one.clone(), result("one"), asks("b", "two", whole)], Some(false));
        let prompt = json!({ "type": "user", "message": { "content": "go on" } });
        check(Asker::Claude, &[prompt.clone(), one.clone()], None);
        check(Asker::Claude, &[prompt.clone(), one.clone(), result("one")], Some(false));
        check(Asker::Claude, &[one, result("one")], None);
        check(Asker::Claude, &[prompt, asks("a", "one", json!(null)), result("one")], None);
    }

    #[test]
    fn qwen_code_writes_down_the_result_of_each_call() {
        let line = |at: &str, kind: &str, parts: Value| json!({ "type": kind, "timestamp": format!("2026-11-22T11:30:{at}Z"), "message": { "parts": parts } });
        let answer = |calls: &[&str]| {
            let part = |call: &&str| json!({ "functionCall": { "id": call } });
            line("54.400", "assistant", calls.iter().map(part).collect())
        };
        let result = |at: &str, call: &str, text: &str| {
            line(
                at,
                "tool_result",
                json!([{ "functionResponse": { "id": call, "response": { "error": text } } }]),
            )
        };
        let refused = result("54.900", "x", "claimtop held this up once");
        check(Asker::Qwen, &[answer(&["x"]), refused.clone()], Some(false));
        check(Asker::Qwen, &[answer(&["x", "y"]), refused.clone()], None);
        check(Asker::Qwen, &[answer(&["x", "y"]), refused.clone(), result("54.950", "y", "ok")], Some(false));
        check(Asker::Qwen, &[answer(&["x"]), result("54.900", "x", "ok")], None);
        check(Asker::Qwen, &[answer(&["x"]), result("54.400", "x", "claimtop held this up once")], None);
        check(Asker::Qwen, &[refused], None);
    }

    #[test]
    fn what_is_written_down_after_the_refusal_tells_that_the_model_has_read_it() {
        let line = |at: &str, kind: &str, more: Value| json!({ "type": kind, "timestamp": format!("2026-11-22T11:30:{at}Z"), "x": more });
        let mut end = line("54.900", TURN_END, json!(null));
        check(Asker::Copilot, &[line("54.400", TURN_END, json!(null))], None);
        check(
            Asker::Copilot,
            &[line("54.900", "assistant.turn_start", json!(null)), end.clone()],
            Some(false),
        );
        end["agentId"] = json!("x");
        check(Asker::Copilot, &[end], None);
        let result = json!([{ "functionResponse": { "id": "x" } }]);
        check(Asker::Gemini, &[line("54.400", "user", result.clone())], None);
        check(Asker::Gemini, &[line("54.900", "gemini", result.clone())], None);
        check(Asker::Gemini, &[line("54.900", "user", json!("text"))], None);
        check(Asker::Gemini, &[line("54.900", "user", result)], Some(false));
        check(Asker::Opencode, &[], None);
    }
}
