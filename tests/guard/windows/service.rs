//! The test's own model service on the loopback address. This one answers every request of Claude Code's, and runs the
//! command of a prompt.

use std::collections::BTreeSet;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};

/// The start of a prompt whose rest is a command for the background.
pub(crate) const RUN: &str = "RUN ";

/// Commands that were given to an agent.
type Given = Arc<Mutex<BTreeSet<String>>>;

/// A content type, and the answer.
pub(crate) type Answer = (&'static str, String);

/// Serves for as long as the test runs; returns its address.
pub(crate) fn start() -> String {
    let given = Given::default();
    serve(move |path, asked| {
        let is_turn = path.starts_with("/v1/messages") && !path.contains("count_tokens");
        asked.filter(|_| is_turn).map(|asked| message(&asked, &given))
    })
}

/// Answers every request by its path and its body, or with an empty answer, for as long as the test runs; returns the
/// address.
pub(crate) fn serve(
    answer: impl Fn(&str, Option<Value>) -> Option<Answer> + Send + Sync + 'static,
) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let answer = Arc::new(answer);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let answer = Arc::clone(&answer);
            std::thread::spawn(move || connection(&stream, answer.as_ref()));
        }
    });
    address
}

/// Answers the requests of one connection, until it is closed.
fn connection(stream: &TcpStream, answer: &impl Fn(&str, Option<Value>) -> Option<Answer>) {
    let mut reader = BufReader::new(stream);
    while let Some((path, body)) = request(&mut reader) {
        let answer = answer(&path, serde_json::from_slice(&body).ok());
        let (kind, answer) = answer.unwrap_or(("application/json", "{}".to_owned()));
        let head =
            format!("HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n", answer.len());
        let mut out = stream;
        if out.write_all((head + &answer).as_bytes()).is_err() {
            return;
        }
    }
}

/// Reads one request: its path and its body.
fn request(reader: &mut impl BufRead) -> Option<(String, Vec<u8>)> {
    let mut line = String::new();
    reader.read_line(&mut line).ok()?;
    let path = line.split_whitespace().nth(1)?.to_owned();
    let mut length = 0;
    loop {
        let mut header = String::new();
        reader.read_line(&mut header).ok()?;
        let Some((name, value)) = header.trim().split_once(':') else { break };
        if name.eq_ignore_ascii_case("content-length") {
            length = value.trim().parse().ok()?;
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    Some((path, body))
}

/// Answers with the requested command that no agent has been given yet, or with a word.
fn message(asked: &Value, given: &Given) -> Answer {
    // Titles and the like are asked for without tools.
    let is_turn = asked["tools"].as_array().is_some_and(|tools| tools.len() > 3);
    let command =
        commands(asked).into_iter().find(|command| is_turn && given.lock().unwrap().insert(command.clone()));
    let call = command.map(|command| {
        let input = json!({ "command": command, "description": "Start it", "run_in_background": true });
        (format!("toolu_{}", command.len()), "Bash", input)
    });
    turn(asked, call)
}

/// Writes one turn in the form of Anthropic's Messages: a call of a tool, by its ID, name and input, or a word.
pub(crate) fn turn(asked: &Value, call: Option<(String, &str, Value)>) -> Answer {
    // Each answer has its own ID, as the service's have.
    let message = format!("msg_{}", call.as_ref().map_or("end", |(id, _, _)| id.as_str()));
    let (block, empty, delta, stop) = match call {
        Some((id, name, input)) => {
            let block = |input: &Value| json!({ "type": "tool_use", "id": id, "name": name, "input": input });
            let delta = json!({ "type": "input_json_delta", "partial_json": input.to_string() });
            (block(&input), block(&json!({})), delta, "tool_use")
        }
        None => {
            let block = |text: &str| json!({ "type": "text", "text": text });
            (block("ok"), block(""), json!({ "type": "text_delta", "text": "ok" }), "end_turn")
        }
    };
    let usage = json!({ "input_tokens": 10, "output_tokens": 5 });
    let mut message = json!({
        "id": message, "type": "message", "role": "assistant", "model": asked["model"], "content": [],
        "stop_reason": null, "stop_sequence": null, "usage": usage,
    });
    if asked["stream"] != true {
        message["content"] = json!([block]);
        message["stop_reason"] = stop.into();
        return ("application/json", message.to_string());
    }
    let events = [
        json!({ "type": "message_start", "message": message }),
        json!({ "type": "content_block_start", "index": 0, "content_block": empty }),
        json!({ "type": "content_block_delta", "index": 0, "delta": delta }),
        json!({ "type": "content_block_stop", "index": 0 }),
        json!({ "type": "message_delta", "delta": { "stop_reason": stop, "stop_sequence": null }, "usage": usage }),
        json!({ "type": "message_stop" }),
    ];
    let event = |event: &Value| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap());
    ("text/event-stream", events.iter().map(event).collect())
}

/// Returns the commands that a conversation's prompts ask for.
fn commands(asked: &Value) -> Vec<String> {
    let messages = asked["messages"].as_array().into_iter().flatten();
    let prompts = messages.filter(|message| message["role"] == "user");
    let texts = prompts.flat_map(|message| {
        let content = &message["content"];
        let blocks = content.as_array().into_iter().flatten();
        content.as_str().into_iter().chain(blocks.filter_map(|block| block["text"].as_str()))
    });
    let asks = texts.filter_map(|text| text.trim().strip_prefix(RUN));
    asks.filter_map(|asks| asks.lines().next()).map(str::to_owned).collect()
}
