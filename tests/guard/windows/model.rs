//! A model that plays scripts, in the four forms of agents' requests; it keeps every request.

use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

use crate::windows::service::{self, Answer};

/// An action that a model has its agent carry out.
#[derive(Clone, Copy)]
pub(crate) enum Step {
    Read(&'static str),
    /// Gives a file, whose first line is `one`, this line as its second.
    Write(&'static str, &'static str),
    Shell(&'static str),
}

/// The name in a prompt, and the actions for it.
pub(crate) struct Script {
    pub(crate) name: &'static str,
    pub(crate) steps: Vec<Step>,
    /// Whether the last word is held until it is released: the agent lives, and is at work.
    pub(crate) is_held: bool,
}

#[derive(Default)]
struct Shared {
    requests: Mutex<Vec<(&'static str, Value)>>,
    is_released: Mutex<bool>,
    released: Condvar,
}

/// The service, and the requests that it received.
pub(crate) struct Model {
    pub(crate) address: String,
    shared: Arc<Shared>,
}

/// The form of an agent's requests.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    Messages,
    Responses,
    Contents,
    Completions,
}

/// The longest that a word is held.
const LONGEST: Duration = Duration::from_secs(300);

/// How long it thinks before it continues after a call, as every model does: agents write their transcripts a moment
/// later, by which a guard recognizes another answer.
const THOUGHT: Duration = Duration::from_millis(500);

impl Model {
    /// Serves agents that work in this folder.
    pub(crate) fn start(folder: String, scripts: Vec<Script>) -> Self {
        let shared = Arc::new(Shared::default());
        let kept = Arc::clone(&shared);
        let address = service::serve(move |path, asked| {
            let form = form(path)?;
            let asked = asked?;
            // Titles and the like are asked for with few tools or none.
            let tools = names_of_tools(&asked);
            let text = asked.to_string();
            let script = scripts.iter().find(|script| text.contains(script.name)).filter(|_| tools.len() > 3);
            let done = results(form, &asked);
            let step = script.and_then(|script| script.steps.get(done).copied());
            if let Some(script) = script {
                kept.requests.lock().unwrap().push((script.name, asked.clone()));
                if step.is_none() && script.is_held {
                    let is_released = kept.is_released.lock().unwrap();
                    drop(kept.released.wait_timeout_while(is_released, LONGEST, |is| !*is).unwrap());
                }
            }
            if done > 0 {
                std::thread::sleep(THOUGHT);
            }
            let call = step.map(|step| call(form, step, &folder, &tools));
            Some(turn(form, &asked, done, call))
        });
        Self { address, shared }
    }

    /// Releases the held words.
    pub(crate) fn release(&self) {
        *self.shared.is_released.lock().unwrap() = true;
        self.shared.released.notify_all();
    }

    /// Returns the request that a script's agent made after so many of its calls.
    pub(crate) fn request(&self, script: &str, calls: usize) -> Option<Value> {
        let requests = self.shared.requests.lock().unwrap();
        let mut own = requests.iter().filter(|(name, _)| *name == script).map(|(_, asked)| asked);
        let forms = [Form::Messages, Form::Responses, Form::Contents, Form::Completions];
        own.find(|asked| forms.iter().map(|form| results(*form, asked)).sum::<usize>() == calls).cloned()
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.release();
    }
}

fn form(path: &str) -> Option<Form> {
    let is = |part| path.contains(part);
    let forms = [
        (is("/messages") && !is("count_tokens"), Form::Messages),
        (is("/responses"), Form::Responses),
        (is("enerateContent"), Form::Contents),
        (is("/chat/completions"), Form::Completions),
    ];
    forms.into_iter().find(|(is, _)| *is).map(|(_, form)| form)
}

fn items<'a>(value: &'a Value, name: &str) -> impl Iterator<Item = &'a Value> {
    value[name].as_array().into_iter().flatten()
}

fn names_of_tools(asked: &Value) -> Vec<String> {
    let tools = items(asked, "tools");
    let named = tools.flat_map(|tool| match tool["functionDeclarations"].as_array() {
        Some(declared) => declared.iter().collect(),
        None if tool["function"].is_object() => vec![&tool["function"]],
        None => vec![tool],
    });
    named.filter_map(|tool| Some(tool["name"].as_str()?.to_owned())).collect()
}

/// Returns how many call results a conversation contains.
fn results(form: Form, asked: &Value) -> usize {
    let is =
        |value: &Value, name: &str, what: &str| value[name].as_str().is_some_and(|is| is.ends_with(what));
    match form {
        Form::Messages => {
            let blocks = items(asked, "messages").flat_map(|message| items(message, "content"));
            blocks.filter(|block| is(block, "type", "tool_result")).count()
        }
        Form::Responses => items(asked, "input").filter(|item| is(item, "type", "call_output")).count(),
        Form::Contents => {
            let parts = items(asked, "contents").flat_map(|content| items(content, "parts"));
            parts.filter(|part| part["functionResponse"].is_object()).count()
        }
        Form::Completions => items(asked, "messages").filter(|message| is(message, "role", "tool")).count(),
    }
}

/// Returns the agent's tool for a step, and its input.
fn call(form: Form, step: Step, folder: &str, tools: &[String]) -> (String, Value) {
    let path = |file: &str| format!("{folder}/{file}");
    let named = |name: &str, input| (name.to_owned(), input);
    let is_claude = form == Form::Messages;
    let has = |name: &str| tools.iter().any(|tool| tool == name);
    match step {
        Step::Read(file) if has("view") => named("view", json!({ "path": path(file) })),
        Step::Write(file, line) if has("view") => {
            let more = format!("one\n{line}");
            named("edit", json!({ "path": path(file), "old_str": "one", "new_str": more }))
        }
        Step::Read(file) if has("read") => named("read", json!({ "filePath": path(file) })),
        Step::Write(file, line) if has("read") => {
            named("write", json!({ "filePath": path(file), "content": format!("one\n{line}\n") }))
        }
        Step::Shell(line) if has("view") || has("read") => {
            named("bash", json!({ "command": line, "description": "Run it" }))
        }
        Step::Read(file) if is_claude => named("Read", json!({ "file_path": path(file) })),
        Step::Read(file) if form != Form::Responses => {
            named("read_file", json!({ "file_path": path(file), "absolute_path": path(file) }))
        }
        Step::Write(file, line) if form == Form::Responses => {
            let patch =
                format!("*** Begin Patch\n*** Update File: {file}\n@@\n one\n+{line}\n*** End Patch\n");
            named("apply_patch", patch.into())
        }
        Step::Write(file, line) => {
            let name = if is_claude { "Write" } else { "write_file" };
            named(name, json!({ "file_path": path(file), "content": format!("one\n{line}\n") }))
        }
        Step::Shell(line) if is_claude => named("Bash", json!({ "command": line, "description": "Run it" })),
        Step::Read(line) | Step::Shell(line) if form == Form::Responses => {
            let line = if matches!(step, Step::Read(_)) { format!("cat {line}") } else { line.to_owned() };
            if has("exec_command") {
                named("exec_command", json!({ "cmd": line }))
            } else {
                named("shell_command", json!({ "command": line }))
            }
        }
        Step::Read(line) | Step::Shell(line) => {
            let input = json!({ "command": line, "description": "Run it", "is_background": false });
            named("run_shell_command", input)
        }
    }
}

fn turn(form: Form, asked: &Value, done: usize, call: Option<(String, Value)>) -> Answer {
    let id = format!("call_{done}");
    let data = |events: &[Value]| -> Answer {
        let lines = events.iter().map(|event| match event["type"].as_str() {
            Some(kind) => format!("event: {kind}\ndata: {event}\n\n"),
            None => format!("data: {event}\n\n"),
        });
        ("text/event-stream", lines.collect())
    };
    match form {
        Form::Messages => {
            let call = call.as_ref().map(|(name, input)| (id, name.as_str(), input.clone()));
            service::turn(asked, call)
        }
        Form::Responses => {
            let item = match call {
                Some((name, Value::String(input))) => {
                    json!({ "type": "custom_tool_call", "call_id": id, "name": name, "input": input })
                }
                Some((name, input)) => {
                    let input = input.to_string();
                    json!({ "type": "function_call", "call_id": id, "name": name, "arguments": input })
                }
                None => {
                    let text = json!([{ "type": "output_text", "text": "ok" }]);
                    json!({ "type": "message", "role": "assistant", "content": text })
                }
            };
            let usage = json!({ "input_tokens": 10, "input_tokens_details": null, "output_tokens": 5,
                                "output_tokens_details": null, "total_tokens": 15 });
            let id = format!("resp_{done}");
            data(&[
                json!({ "type": "response.created", "response": { "id": id } }),
                json!({ "type": "response.output_item.done", "output_index": 0, "item": item }),
                json!({ "type": "response.completed", "response": { "id": id, "usage": usage } }),
            ])
        }
        Form::Contents => {
            let part = match call {
                Some((name, args)) => json!({ "functionCall": { "id": id, "name": name, "args": args } }),
                None => json!({ "text": "ok" }),
            };
            let content = json!({ "role": "model", "parts": [part] });
            data(&[json!({
                "candidates": [{ "index": 0, "content": content, "finishReason": "STOP" }],
                "usageMetadata": { "promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15 },
            })])
        }
        Form::Completions => {
            let (delta, reason) = match call {
                Some((name, input)) => {
                    let function = json!({ "name": name, "arguments": input.to_string() });
                    let call = json!({ "index": 0, "id": id, "type": "function", "function": function });
                    (json!({ "role": "assistant", "tool_calls": [call] }), "tool_calls")
                }
                None => (json!({ "role": "assistant", "content": "ok" }), "stop"),
            };
            let chunk = |delta: Value, reason: Value| {
                let choice = json!({ "index": 0, "delta": delta, "finish_reason": reason });
                json!({ "id": "x", "object": "chat.completion.chunk", "created": 1, "model": "x",
                        "choices": [choice] })
            };
            let (kind, lines) = data(&[chunk(delta, Value::Null), chunk(json!({}), reason.into())]);
            (kind, lines + "data: [DONE]\n\n")
        }
    }
}
