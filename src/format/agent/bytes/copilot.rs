//! Copilot CLI: calls with their arguments, copies of the files before each prompt, and hashes of them after it.
//!
//! Measured with 1.0.102. Bytes are replaced as they are, also in files with both kinds of line ends; bytes that are
//! not UTF-8 are written as U+FFFD. A snapshot is dated after the edits of its prompt.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::core::model::Untrusted;
use crate::core::model::text::hex;
use crate::format::agent::bytes::edit::replaced;
use crate::format::agent::bytes::lines::{DatedEvent, Events, Marks, moment, shaped, text};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::{Bytes, Rule};
use crate::format::agent::bytes::version::{Ask, ExactState, Rebuilding, Stream, placed};

/// Why an edit without a copy is not whole.
const NO_BASE: &str = "the file before this edit: there is no copy of it, and git does not have it";
/// Why an edit that does not fit is not whole.
const CHANGED: &str = "the file before this edit: another process had changed it";
/// Why edits of a prompt after which the file has other content are not whole.
const OTHER: &str =
    "what another process changed during this prompt: the file's hash was another one after it";

/// A line.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Data<'a> {
    #[serde(borrow)]
    tool_call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_name: Option<&'a RawValue>,
    #[serde(borrow)]
    arguments: Option<&'a RawValue>,
    #[serde(borrow)]
    success: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Arguments {
    path: String,
    file_text: Option<String>,
    old_str: Option<String>,
    new_str: Option<String>,
}

/// The index of the copies.
#[derive(Default, Deserialize)]
struct Index {
    snapshots: Vec<Snapshot>,
}

/// The copies of one prompt.
#[derive(Deserialize)]
struct Snapshot {
    timestamp: Timestamp,
    files: BTreeMap<String, FileCopy>,
}

#[derive(Deserialize)]
struct FileCopy {
    path: String,
    preimage: Image,
    postimage: Option<Image>,
}

/// A file before or after a prompt.
#[derive(Clone, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Image {
    kind: String,
    content_hash: Option<String>,
    backup_file: Option<String>,
}

/// A file before and after a prompt.
struct Prompt {
    /// When its copies were dated, after its last edit.
    until: Timestamp,
    before: Image,
    after: Option<Image>,
}

/// A call.
struct Call<'a> {
    call: Untrusted,
    path: PathBuf,
    arguments: &'a RawValue,
    has_result: bool,
}

/// What the lines have that are to be read.
pub(crate) const LINES: &[&str] = &["\"edit\"", "\"create\"", "\"tool.execution_complete\""];

/// Rebuilds the files that a session's tools wrote; the second stream is the index of its copies.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let Some((own, more)) = streams.split_first() else { return Rebuilding::default() };
    let (events, mut left_out) = read(own, &ask);
    let index = more.first().map(|index| serde_json::from_slice::<Index>(index.text));
    left_out += u64::from(index.as_ref().is_some_and(Result::is_err));
    let mut session = Session {
        replay: Replay::new(ask, Rule::Any),
        ask,
        prompts: prompts(index.and_then(Result::ok).unwrap_or_default()),
        during: HashMap::new(),
        left_out,
    };
    events.into_iter().for_each(|event| session.follow(event));
    for path in session.during.keys().cloned().collect::<Vec<_>>() {
        session.leave(&path);
    }
    Rebuilding { versions: session.replay.finish(), left_out: session.left_out, too_long: 0 }
}

/// Reads the calls that wrote, or may have.
fn read<'a>(own: &Stream<'a>, ask: &Ask<'_>) -> (Vec<DatedEvent<Call<'a>>>, u64) {
    let named = Marks::new(&["\"edit\"", "\"create\""], ask);
    let ends = Marks::new(&["\"tool.execution_complete\""], &Ask { wanted: None, ..*ask });
    let mut ended: HashMap<Untrusted, bool> = HashMap::new();
    let mut events = Events::read(std::slice::from_ref(own), ask.bounds.line, |events, line| {
        let is_end = ends.mark_of(line).is_some();
        if !is_end && named.mark_of(line).is_none() {
            return;
        }
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
            events.left_out += 1;
            return;
        };
        let Some(data) = shaped::<Data<'_>>(record.data) else { return };
        let Some(call) = text(data.tool_call_id).map(|id| Untrusted::from(&*id)) else { return };
        if is_end {
            ended.insert(call, data.success.is_some_and(|success| success.get() == "true"));
        } else if let Some((path, arguments)) = data.target(events, ask) {
            events.add(moment(record.timestamp), Call { call, path, arguments, has_result: false });
        }
    });
    events.keep(|call| {
        call.has_result = ended.contains_key(&call.call);
        ended.get(&call.call) != Some(&false)
    });
    events.in_order(ask.bounds.steps)
}

impl<'a> Data<'a> {
    fn target(&self, events: &mut Events<Call<'a>>, ask: &Ask<'_>) -> Option<(PathBuf, &'a RawValue)> {
        let arguments = self.arguments?;
        text(self.tool_name).filter(|name| matches!(&**name, "edit" | "create"))?;
        let path = shaped::<Arguments>(Some(arguments)).and_then(|arguments| placed(&arguments.path, None));
        if path.is_none() {
            events.left_out += 1;
        }
        Some((path.filter(|path| ask.wants(path))?, arguments))
    }
}

/// Returns what is known of each file's prompts, the oldest first.
fn prompts(mut index: Index) -> HashMap<PathBuf, Vec<Prompt>> {
    index.snapshots.sort_by_key(|snapshot| snapshot.timestamp);
    let mut all: HashMap<PathBuf, Vec<Prompt>> = HashMap::new();
    for snapshot in index.snapshots {
        for FileCopy { path, preimage, postimage } in snapshot.files.into_values() {
            if let Some(path) = placed(&path, None) {
                let prompt = Prompt { until: snapshot.timestamp, before: preimage, after: postimage };
                all.entry(path).or_default().push(prompt);
            }
        }
    }
    all
}

/// A session while it is replayed.
struct Session<'a> {
    replay: Replay<'a>,
    ask: Ask<'a>,
    prompts: HashMap<PathBuf, Vec<Prompt>>,
    /// The prompt of each file, by its number, and how many versions came before it.
    during: HashMap<PathBuf, (usize, usize)>,
    left_out: u64,
}

impl Session<'_> {
    fn follow(&mut self, event: DatedEvent<Call<'_>>) {
        let Call { call, path, arguments, has_result } = event.what;
        self.enter(&path, event.at);
        let Some(arguments) = shaped::<Arguments>(Some(arguments)) else {
            self.left_out += 1;
            return;
        };
        let after = match (arguments.file_text, arguments.old_str.zip(arguments.new_str)) {
            (Some(content), _) => After::Whole(Arc::new(content.into_bytes())),
            (None, Some((old, new))) => match self.replay.bytes(&path, event.at) {
                Some(base) => edited(&base, &old, &new),
                None => After::Missing(NO_BASE),
            },
            (None, None) => After::Missing(NO_BASE),
        };
        if has_result || !matches!(after, After::Missing(_)) {
            let step = Step { path, at: event.at, call: Some(call), sub_agent: None, has_result };
            self.replay.writes(step, after);
        }
    }

    /// Begins with the copy that was made for the prompt of an edit.
    fn enter(&mut self, path: &Path, at: Option<Timestamp>) {
        let prompts = self.prompts.get(path).map(Vec::as_slice).unwrap_or_default();
        let Some(number) = prompts.iter().position(|prompt| at.is_some_and(|at| prompt.until >= at)) else {
            return self.leave(path);
        };
        if self.during.get(path).is_some_and(|(during, _)| *during == number) {
            return;
        }
        let before = prompts.get(number).map(|prompt| prompt.before.clone());
        self.leave(path);
        self.during.insert(path.to_path_buf(), (number, self.replay.count()));
        if let Some(exact) = before.and_then(|before| self.exact(&before)) {
            self.replay.observe(path, exact);
        }
    }

    /// Compares a file with its hash after the prompt that it was edited in.
    fn leave(&mut self, path: &Path) {
        let Some((number, from)) = self.during.remove(path) else { return };
        let prompt = self.prompts.get(path).and_then(|prompts| prompts.get(number));
        let Some(hash) = prompt.and_then(|prompt| prompt.after.as_ref()?.content_hash.clone()) else {
            return;
        };
        if !self.replay.observe_hash(path, |bytes| hex(&Sha256::digest(bytes)) == hash) {
            self.replay.doubts(path, from, OTHER);
        }
    }

    fn exact(&self, image: &Image) -> Option<ExactState> {
        match image.kind.as_str() {
            "absent" => Some(ExactState::Absent),
            "content" => {
                let name = image.backup_file.as_deref()?;
                let is_name = name.len() == 64 && name.bytes().all(|byte| byte.is_ascii_hexdigit());
                let bytes = if is_name { self.ask.around.copy(name) } else { None };
                // A copy is named by its content.
                bytes.filter(|bytes| hex(&Sha256::digest(bytes.as_slice())) == name).map(ExactState::Bytes)
            }
            _ => None,
        }
    }
}

fn edited(base: &Bytes, old: &str, new: &str) -> After {
    let text = base.to_str_lossy();
    match replaced(text.as_bytes(), old.as_bytes(), new.as_bytes(), false) {
        Some(bytes) => After::Whole(Arc::new(bytes)),
        None => After::Missing(CHANGED),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::agent::bytes::testing::{World, shown};
    use crate::format::agent::bytes::version::Bounds;

    fn start(id: &str, at: u32, tool: &str, arguments: &str) -> String {
        format!(
            r#"{{"type":"tool.execution_start","data":{{"toolCallId":"{id}","toolName":"{tool}","arguments":{{"path":"/w/a",{arguments}}}}},"timestamp":"2026-11-28T10:00:{at:02}Z"}}"#
        )
    }

    fn end(id: &str, success: bool) -> String {
        format!(r#"{{"type":"tool.execution_complete","data":{{"toolCallId":"{id}","success":{success}}}}}"#)
    }

    fn hash(bytes: &[u8]) -> String {
        hex(&Sha256::digest(bytes))
    }

    fn index(before: &[u8], after: &[u8]) -> String {
        let (before, after) = (hash(before), hash(after));
        format!(
            r#"{{"snapshots":[{{"timestamp":"2026-11-28T10:00:30Z","files":{{"x":{{"path":"/w/a","preimage":{{"kind":"content","contentHash":"{before}","backupFile":"{before}"}},"postimage":{{"kind":"content","contentHash":"{after}"}}}}}}}}]}}"#
        )
    }

    #[track_caller]
    fn check(lines: &[String], index: &str, world: &World, expected: &[&str]) {
        let text = lines.join("\n");
        let streams = [text.as_bytes(), index.as_bytes()].map(|text| Stream { sub_agent: None, text });
        let result = rebuilt(&streams, Ask { around: world, wanted: None, bounds: Bounds::USUAL });
        assert_eq!(result.versions.iter().map(shown).collect::<Vec<_>>(), expected);
    }

    #[test]
    fn edits_are_repeated_on_the_copy_and_proved_by_the_hash() {
        let before = b"a\r\nb\nc\n";
        let lines = [
            start("1", 1, "edit", r#""old_str":"a","new_str":"A""#),
            end("1", true),
            start("2", 2, "edit", r#""old_str":"c","new_str":"C\nD""#),
            end("2", true),
            start("3", 3, "edit", r#""old_str":"b","new_str":"x""#),
            end("3", false),
        ];
        let world = World::default().copy(&hash(before), before);
        let good = index(before, b"A\r\nb\nC\nD\n");
        check(&lines, &good, &world, &["1 rebuilt A\r\nb\nc\n", "2 proved A\r\nb\nC\nD\n"]);
        let other = index(before, b"other");
        check(&lines, &other, &world, &["1 partial A\r\nb\nc\n", "2 partial A\r\nb\nC\nD\n"]);
        check(&lines, &good, &World::default(), &["1 partial -", "2 partial -"]);
        // A copy that is not what its name says.
        check(&lines, &good, &World::default().copy(&hash(before), b"a c"), &["1 partial -", "2 partial -"]);
    }

    #[test]
    fn bytes_that_are_not_utf_8_are_replaced() {
        let before = b"caf\xE9 a\n";
        let lines = [start("1", 1, "edit", r#""old_str":" a","new_str":" b""#), end("1", true)];
        let world = World::default().copy(&hash(before), before);
        let after = "caf\u{fffd} b\n";
        check(&lines, &index(before, after.as_bytes()), &world, &[&format!("1 proved {after}")]);
    }

    #[test]
    fn a_call_without_an_end_may_have_written() {
        let lines = [start("1", 1, "create", r#""file_text":"x\n""#)];
        check(&lines, "{", &World::default(), &["1 partial x\n"]);
        check(&lines, "{", &World::default().present("/w/a", b"x\n"), &["1 proved x\n"]);
        check(&lines, "{", &World::default().present("/w/a", b""), &["1 partial x\n"]);
    }
}
