//! A model that does what a script says, as Anthropic's and Google's services answer, and keeps every request.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};

/// A tool and its input, or the answer's text.
pub(super) type Step = (&'static str, Value);

/// A model that answers each window by its script: a window asks below its own path.
pub(super) struct Model {
    pub(super) port: u16,
    scripts: Arc<Scripts>,
    asked: Arc<Asked>,
}

/// What each window's model does, step by step.
type Scripts = Mutex<Vec<(String, Vec<Step>)>>;
/// What each window asked its model.
type Asked = Mutex<Vec<(String, Value)>>;

impl Model {
    pub(super) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let scripts: Arc<Scripts> = Arc::default();
        let asked: Arc<Asked> = Arc::default();
        let (by, kept) = (Arc::clone(&scripts), Arc::clone(&asked));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (by, kept) = (Arc::clone(&by), Arc::clone(&kept));
                std::thread::spawn(move || answer(stream, &by, &kept));
            }
        });
        Self { port, scripts, asked }
    }

    /// Gives a window its script.
    pub(super) fn plays(&self, window: &str, script: Vec<Step>) {
        self.scripts.lock().unwrap().push((window.to_owned(), script));
    }

    /// Returns the requests of a window's own turns, as text.
    pub(super) fn requests(&self, window: &str) -> Vec<String> {
        let asked = self.asked.lock().unwrap();
        asked.iter().filter(|(of, _)| of == window).map(|(_, request)| said(request)).collect()
    }
}

/// Reads one request and answers it.
fn answer(stream: TcpStream, scripts: &Scripts, asked: &Asked) {
    let mut reader = BufReader::new(&stream);
    let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
    let _ = reader.read_line(&mut first);
    while reader.read_line(&mut line).is_ok_and(|count| count > 2) {
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() {
        return;
    }
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let request: Value = serde_json::from_slice(&body).unwrap_or_default();
    let is_google = path.contains("enerateContent");
    let is_asked = is_google || (path.contains("/v1/messages") && !path.contains("count_tokens"));
    let (kind, text) = if is_asked {
        let window = path.split('/').nth(1).unwrap_or_default().to_owned();
        let tools = request["tools"].to_string();
        // Other requests are for a title, or for which model to take.
        let has_tools = tools.contains(r#""name":"Write""#) || tools.contains(r#""name":"write_file""#);
        let result = if is_google { r#""functionResponse""# } else { r#""type":"tool_result""# };
        let done = said(&request).matches(result).count();
        // No model answers at once; a call that comes within 2 s is taken for one of the same answer.
        std::thread::sleep(Duration::from_millis(if has_tools { 2_200 } else { 0 }));
        let scripts = scripts.lock().unwrap();
        let script = scripts.iter().find(|(of, _)| *of == window).filter(|_| has_tools);
        let step = script.and_then(|(_, steps)| steps.get(done).cloned());
        if has_tools {
            asked.lock().unwrap().push((window, request.clone()));
        }
        match (is_google, path.contains(":stream")) {
            (false, _) => ("text/event-stream", stream_of(step, done)),
            (true, true) => ("text/event-stream", format!("data: {}\r\n\r\n", content_of(step))),
            (true, false) => ("application/json", content_of(step).to_string()),
        }
    } else {
        ("application/json", json!({ "input_tokens": 1 }).to_string())
    };
    let head = format!(
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        text.len()
    );
    let _ = (&stream).write_all(format!("{head}{text}").as_bytes());
}

/// Returns an answer of the model as it streams it.
fn stream_of(step: Option<Step>, number: usize) -> String {
    let usage = json!({ "input_tokens": 1, "output_tokens": 1 });
    let message = json!({ "id": format!("msg_{number}"), "type": "message", "role": "assistant", "model": "m",
        "content": [], "stop_reason": null, "stop_sequence": null, "usage": usage });
    let (block, delta, reason) = match step {
        Some((tool, input)) => (
            json!({ "type": "tool_use", "id": format!("toolu_{number}_{}", rand()), "name": tool, "input": {} }),
            json!({ "type": "input_json_delta", "partial_json": input.to_string() }),
            "tool_use",
        ),
        None => (
            json!({ "type": "text", "text": "" }),
            json!({ "type": "text_delta", "text": "over" }),
            "end_turn",
        ),
    };
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": block }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": reason, "stop_sequence": null }, "usage": { "output_tokens": 1 } }),
        json!({ "type": "message_stop" }),
    ];
    let one = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    events.iter().map(one).collect()
}

/// Returns what no other answer has.
fn rand() -> u32 {
    std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap().subsec_nanos()
}

/// Returns what a request tells of the talk so far.
fn said(request: &Value) -> String {
    let of_google = &request["contents"];
    if of_google.is_null() { request["messages"].to_string() } else { of_google.to_string() }
}

/// Returns an answer of Google's model.
fn content_of(step: Option<Step>) -> Value {
    let part = match step {
        Some((tool, input)) => json!({ "functionCall": { "name": tool, "args": input } }),
        None => json!({ "text": "over" }),
    };
    let content = json!({ "role": "model", "parts": [part] });
    json!({ "candidates": [{ "content": content, "finishReason": "STOP", "index": 0 }],
        "usageMetadata": { "promptTokenCount": 1, "candidatesTokenCount": 1, "totalTokenCount": 2 }, "modelVersion": "m" })
}
