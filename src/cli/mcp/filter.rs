//! Answers what the crate `rmcp` passes over in silence: lines that are not JSON, lines that are too long, and requests
//! with an ID that is in use.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde::Deserialize;
use serde::de::IgnoredAny;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use tokio::io::{
    AsyncBufRead, AsyncBufReadExt, AsyncRead, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, duplex,
};
use tokio::sync::Mutex;
use tokio::task::JoinHandle;

/// The longest line that is read, in bytes.
const MOST: usize = 4 << 20;
/// How much may lie between the filter and the server.
const BETWEEN: usize = 64 << 10;

/// The codes of JSON-RPC.
const PARSE_ERROR: i32 = -32700;
const INVALID_REQUEST: i32 = -32600;

/// The mark that some programs put before UTF-8.
const BOM: &[u8] = b"\xEF\xBB\xBF";

/// The server's ends of the pipes, and what has to end before all is written.
pub(super) struct Filter {
    pub(super) input: DuplexStream,
    pub(super) output: DuplexStream,
    pub(super) written: JoinHandle<()>,
}

/// What a filter knows of one client.
struct Client<W> {
    output: Mutex<W>,
    /// The IDs of the requests that have no answer yet.
    open: Mutex<BTreeSet<String>>,
}

/// What a message says of itself.
#[derive(Deserialize)]
struct Head<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    method: Option<IgnoredAny>,
}

impl Filter {
    /// Begins to filter what a client writes, and to pass on what it is answered.
    pub(super) fn start<R, W>(input: R, output: W) -> Self
    where
        R: AsyncRead + Send + Unpin + 'static,
        W: AsyncWrite + Send + Unpin + 'static,
    {
        let (server_input, to_server) = duplex(BETWEEN);
        let (server_output, from_server) = duplex(BETWEEN);
        let client = Arc::new(Client { output: Mutex::new(output), open: Mutex::default() });
        tokio::spawn(Arc::clone(&client).read_requests(BufReader::new(input), to_server));
        let written = tokio::spawn(client.write_answers(BufReader::new(from_server)));
        Self { input: server_input, output: server_output, written }
    }
}

impl<W: AsyncWrite + Unpin> Client<W> {
    async fn read_requests<R: AsyncBufRead + Unpin>(self: Arc<Self>, mut input: R, mut server: DuplexStream) {
        let mut line = Vec::new();
        while let Some(is_whole) = read_line(&mut input, &mut line).await {
            if !is_whole {
                self.refuse(&Value::Null, (INVALID_REQUEST, "a line of more than 4 MiB")).await;
                continue;
            }
            let text = line.strip_prefix(BOM).unwrap_or(&line).trim_ascii();
            if text.is_empty() || self.is_refused(text).await {
                continue;
            }
            line.push(b'\n');
            if server.write_all(&line).await.is_err() {
                return;
            }
        }
    }

    /// Answers a line that is passed on to nothing.
    async fn is_refused(&self, text: &[u8]) -> bool {
        let head = match serde_json::from_slice::<Head<'_>>(text) {
            Ok(head) => head,
            // JSON of another form is for the server to refuse.
            Err(error) if error.is_data() => return false,
            Err(_) => {
                self.refuse(&Value::Null, (PARSE_ERROR, "this line is not JSON")).await;
                return true;
            }
        };
        let (Some(id), Some(_)) = (head.id, head.method) else { return false };
        if self.open.lock().await.insert(id.get().to_owned()) {
            return false;
        }
        let id = serde_json::from_str(id.get()).unwrap_or_default();
        self.refuse(&id, (INVALID_REQUEST, "a request with this ID has no answer yet")).await;
        true
    }

    async fn refuse(&self, id: &Value, (code, message): (i32, &str)) {
        let error = json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}});
        self.write(format!("{error}\n").as_bytes()).await;
    }

    async fn write_answers<R: AsyncBufRead + Unpin>(self: Arc<Self>, mut answers: R) {
        let mut line = Vec::new();
        while matches!(answers.read_until(b'\n', &mut line).await, Ok(1..)) {
            if let Ok(Head { id: Some(id), method: None }) = serde_json::from_slice(&line) {
                self.open.lock().await.remove(id.get());
            }
            self.write(&line).await;
            line.clear();
        }
    }

    /// Writes a whole line. A client that has gone reads no more answers, and ends the input as well.
    async fn write(&self, line: &[u8]) {
        let mut output = self.output.lock().await;
        if output.write_all(line).await.is_ok() {
            drop(output.flush().await);
        }
    }
}

/// Reads the next line without its end; returns whether it is whole, or too long; `None` at the end of the input.
async fn read_line<R: AsyncBufRead + Unpin>(input: &mut R, line: &mut Vec<u8>) -> Option<bool> {
    line.clear();
    let (mut is_whole, mut has_any) = (true, false);
    loop {
        let available = input.fill_buf().await.ok()?;
        if available.is_empty() {
            return has_any.then_some(is_whole);
        }
        has_any = true;
        let end = available.iter().position(|byte| *byte == b'\n');
        let part = available.get(..end.unwrap_or(available.len())).unwrap_or_default();
        is_whole &= line.len() + part.len() <= MOST;
        if is_whole {
            line.extend_from_slice(part);
        } else {
            line.clear();
        }
        let read = part.len() + usize::from(end.is_some());
        input.consume(read);
        if end.is_some() {
            return Some(is_whole);
        }
    }
}
