//! Qwen Code: calls with their arguments, results with the old and new text up to a length, and copies.
//!
//! Measured with 0.24.4. A text of more than 16,000 characters is cut in a result, never in the arguments of a call.
//! Texts have neither a byte order mark nor CRLF, and the file keeps both.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::model::Untrusted;
use crate::format::agent::bytes::copies::{Backup, Copies};
use crate::format::agent::bytes::edit::replaced;
use crate::format::agent::bytes::lines::{DatedEvent, Events, Marks, moment, shaped, text};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::Rule;
use crate::format::agent::bytes::version::{Ask, Rebuilding, Stream, placed};

/// Why an edit of a large file without a copy is not whole.
const NO_BASE: &str = "the file before this edit: it is not in the transcript, in a copy or in git";
/// Why an edit that does not fit is not whole.
const CHANGED: &str = "the file before this edit: another process had changed it";
/// Why a file that is no UTF-8 is not whole.
const ENCODING: &str = "the bytes of characters that are not UTF-8";
/// What stands in place of the middle of a text that was cut.
const CUT: &str = "[... truncated for saved session preview; original length: ";

/// A line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    cwd: Option<&'a RawValue>,
    #[serde(borrow)]
    message: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_call_result: Option<&'a RawValue>,
    #[serde(borrow)]
    system_payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    parts: Vec<Part<'a>>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Part<'a> {
    #[serde(borrow)]
    function_call: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Call<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    args: Option<&'a RawValue>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct CallResult<'a> {
    #[serde(borrow)]
    call_id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Arguments {
    file_path: String,
    content: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Display<'a> {
    original_content: Option<String>,
    new_content: Option<String>,
    #[serde(borrow)]
    original_content_truncated: Option<&'a RawValue>,
    #[serde(borrow)]
    new_content_truncated: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload {
    snapshots: Vec<Snapshot>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot {
    tracked_file_backups: BTreeMap<String, Backup>,
}

/// What a line says.
enum LineEvent<'a> {
    /// A tool has changed a file, or may have if nothing says how it ended.
    Change { call: Untrusted, called: OpenCall<'a>, display: Option<&'a RawValue>, has_result: bool },
    /// Copies of files were made.
    Copies(BTreeMap<String, Backup>),
}

/// A call that writes.
struct OpenCall<'a> {
    arguments: &'a RawValue,
    path: PathBuf,
    at: Option<Timestamp>,
    /// The number of its stream.
    stream: usize,
}

/// The calls that have not ended.
type Calls<'a> = HashMap<Untrusted, OpenCall<'a>>;

/// What the lines have that are to be read.
pub(crate) const LINES: &[&str] = &["\"functionCall\"", "\"file_history_snapshot\"", "\"toolCallResult\""];

/// Rebuilds the files that a session's tools wrote.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let marks = Marks::new(&["\"functionCall\"", "\"file_history_snapshot\""], &ask);
    // What went wrong need not name the file.
    let ends = Marks::new(&["\"toolCallResult\""], &Ask { wanted: None, ..ask });
    let (mut calls, mut folder): (Calls<'_>, _) = (HashMap::new(), None);
    let mut events = Events::read(streams, ask.bounds.line, |events, line| {
        let (mark, is_end) = (marks.mark_of(line), ends.mark_of(line).is_some());
        if mark.is_none() && !is_end {
            return;
        }
        let Ok(record) = serde_json::from_slice::<Record<'_>>(line) else {
            events.left_out += 1;
            return;
        };
        folder = folder.take().or_else(|| text(record.cwd).map(Cow::into_owned));
        match mark {
            _ if is_end => record.result(&mut calls, events, &ask),
            Some(0) => record.calls(&mut calls, events),
            _ => record.copies(events),
        }
    });
    for (call, called) in calls.into_iter().filter(|(_, called)| ask.wants(&called.path)) {
        let place = (called.at, called.stream);
        events.add_open(place, LineEvent::Change { call, called, display: None, has_result: false });
    }
    let (events, left_out) = events.in_order(ask.bounds.steps);
    let paths: HashSet<PathBuf> = events.iter().filter_map(|event| event.what.path().cloned()).collect();
    let copies = Copies::new(ask, folder, paths);
    let mut session = Session { replay: Replay::new(ask, Rule::AnyWithoutMark), copies, left_out };
    for event in events {
        let sub_agent = streams.get(event.stream).and_then(|stream| stream.sub_agent.clone());
        session.follow(event, sub_agent);
    }
    Rebuilding { versions: session.replay.finish(), left_out: session.left_out, too_long: 0 }
}

impl LineEvent<'_> {
    fn path(&self) -> Option<&PathBuf> {
        match self {
            Self::Change { called, .. } => Some(&called.path),
            Self::Copies(_) => None,
        }
    }
}

impl<'a> Record<'a> {
    fn calls(&self, calls: &mut Calls<'a>, events: &mut Events<LineEvent<'a>>) {
        let parts = shaped::<Message<'a>>(self.message).map(|message| message.parts).unwrap_or_default();
        for part in parts {
            let Some(call) = shaped::<Call<'a>>(part.function_call) else { continue };
            let writes = text(call.name).is_some_and(|name| matches!(&*name, "write_file" | "edit"));
            let (Some(id), Some(arguments), true) = (text(call.id), call.args, writes) else { continue };
            let path = shaped::<Arguments>(Some(arguments))
                .and_then(|arguments| placed(&arguments.file_path, text(self.cwd).as_deref()));
            match path {
                Some(path) => {
                    let (at, stream) = (moment(self.timestamp), events.stream());
                    calls.insert((*id).into(), OpenCall { arguments, path, at, stream });
                }
                None => events.left_out += 1,
            }
        }
    }

    fn result(&self, calls: &mut Calls<'a>, events: &mut Events<LineEvent<'a>>, ask: &Ask<'_>) {
        let Some(result) = shaped::<CallResult<'a>>(self.tool_call_result) else { return };
        let is_done = text(result.status).is_some_and(|status| status == "success");
        let Some(call) = text(result.call_id).map(|id| Untrusted::from(&*id)) else { return };
        if let Some(called) = calls.remove(&call).filter(|called| is_done && ask.wants(&called.path)) {
            let display = result.result_display;
            let change = LineEvent::Change { call, called, display, has_result: true };
            events.add(moment(self.timestamp), change);
        }
    }

    fn copies(&self, events: &mut Events<LineEvent<'a>>) {
        for snapshot in shaped::<Payload>(self.system_payload).map(|all| all.snapshots).unwrap_or_default() {
            events.add(moment(self.timestamp), LineEvent::Copies(snapshot.tracked_file_backups));
        }
    }
}

/// A session while it is replayed.
struct Session<'a> {
    replay: Replay<'a>,
    copies: Copies<'a>,
    left_out: u64,
}

impl Session<'_> {
    fn follow(&mut self, event: DatedEvent<LineEvent<'_>>, sub_agent: Option<Untrusted>) {
        let (call, called, display, has_result) = match event.what {
            LineEvent::Copies(copies) => {
                copies.iter().for_each(|(key, backup)| self.copies.copied(key, backup, &mut self.replay));
                return;
            }
            LineEvent::Change { call, called, display, has_result } => (call, called, display, has_result),
        };
        let Some(arguments) = shaped::<Arguments>(Some(called.arguments)) else {
            self.left_out += 1;
            return;
        };
        let path = called.path;
        if !has_result {
            self.copies.first(&path, &mut self.replay);
        }
        let after = self.after(&path, arguments, shaped(display), event.at);
        if has_result || !matches!(after, After::Missing(_)) {
            let step = Step { path, at: event.at, call: Some(call), sub_agent, has_result };
            self.replay.writes(step, after);
        }
    }

    fn after(
        &mut self,
        path: &Path,
        arguments: Arguments,
        display: Option<Display<'_>>,
        at: Option<Timestamp>,
    ) -> After {
        let (original, new) = display.map(Display::texts).unwrap_or_default();
        if let Some(original) = &original {
            self.replay.sees(path, &Arc::new(original.clone().into_bytes()), at);
        }
        let has_other = |text: &Option<String>| {
            text.as_ref().is_some_and(|text| text.contains(char::REPLACEMENT_CHARACTER))
        };
        if has_other(&original) && self.replay.is_only_assumed(path, at) {
            return After::Missing(ENCODING);
        }
        if let Some(text) = arguments.content.or(new) {
            return After::Text(Arc::new(text.into_bytes()));
        }
        let edit = arguments.old_string.zip(arguments.new_string);
        let (Some((old, new)), Some(base)) = (edit, self.replay.text(path, at)) else {
            return After::Missing(NO_BASE);
        };
        let is_all = arguments.replace_all == Some(true);
        match replaced(&base, old.as_bytes(), new.as_bytes(), is_all) {
            Some(text) => After::Text(Arc::new(text)),
            None => After::Missing(CHANGED),
        }
    }
}

impl Display<'_> {
    /// Returns the old and the new text, where they were not cut.
    fn texts(self) -> (Option<String>, Option<String>) {
        let whole = |text: Option<String>, cut: Option<&RawValue>| {
            let is_cut = cut.is_some_and(|cut| !matches!(cut.get(), "false" | "null"));
            text.filter(|text| !is_cut && !text.contains(CUT))
        };
        (
            whole(self.original_content, self.original_content_truncated),
            whole(self.new_content, self.new_content_truncated),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::agent::bytes::copies::hash_of;
    use crate::format::agent::bytes::testing::{World, check_all};

    fn call(id: &str, name: &str, arguments: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-11-28T10:00:00Z","type":"assistant","cwd":"/w","message":{{"parts":[{{"functionCall":{{"id":"{id}","name":"{name}","args":{{"file_path":"a",{arguments}}}}}}}]}}}}"#
        )
    }

    fn result(id: &str, status: &str, display: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-11-28T10:00:00Z","type":"tool_result","cwd":"/w","toolCallResult":{{"callId":"{id}","status":"{status}","resultDisplay":{{{display}}}}}}}"#
        )
    }

    fn copied(name: &str, version: u32) -> String {
        format!(
            r#"{{"timestamp":"2026-11-28T10:00:00Z","type":"system","subtype":"file_history_snapshot","cwd":"/w","systemPayload":{{"snapshots":[{{"trackedFileBackups":{{"a":{{"backupFileName":{name},"version":{version}}}}}}}]}}}}"#
        )
    }

    #[test]
    fn a_file_keeps_its_byte_order_mark_and_its_line_ends() {
        let lines = [
            call("1", "write_file", r#""content":"x\ny\n""#),
            result("1", "success", r#""originalContent":"a\nb\n","newContent":"x\ny\n""#),
        ];
        let world = World::default().in_git("/w/a", b"\xEF\xBB\xBFa\r\nb\r\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt \u{feff}x\r\ny\r\n"]);
        check_all(rebuilt, &lines, &World::default(), &["1 partial x\ny\n"]);
    }

    #[test]
    fn an_edit_whose_result_was_cut_is_repeated_on_its_base() {
        let cut = r#""originalContent":"a [... truncated for saved session preview; original length: 9 characters ...] c","newContent":"A","newContentTruncated":true"#;
        let lines = [call("1", "edit", r#""old_string":"a","new_string":"A""#), result("1", "success", cut)];
        let world = World::default().in_git("/w/a", b"a\r\na\r\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt A\r\na\r\n"]);
        check_all(rebuilt, &lines, &World::default(), &["1 partial -"]);
        check_all(rebuilt, &lines, &World::default().in_git("/w/a", b"b"), &["1 partial -"]);
    }

    #[test]
    fn copies_are_the_base_and_the_proof() {
        let hash = hash_of(&PathBuf::from("/w/a"));
        let lines = [
            copied(&format!("\"{hash}@v1\""), 1),
            call("1", "edit", r#""old_string":"a","new_string":"A","replace_all":true"#),
            result("1", "success", r#""newContentTruncated":true"#),
            copied(&format!("\"{hash}@v2\""), 2),
        ];
        let world = World::default().copy(&format!("{hash}@v1"), b"a\r\na\r\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt A\r\nA\r\n"]);
        let world = world.copy(&format!("{hash}@v2"), b"A\r\nA\r\n");
        check_all(rebuilt, &lines, &world, &["1 proved A\r\nA\r\n"]);
    }

    #[test]
    fn a_call_without_a_result_may_have_written() {
        let lines = [call("1", "edit", r#""old_string":"a","new_string":"A""#)];
        let world = || World::default().copy(&format!("{}@v1", hash_of(&PathBuf::from("/w/a"))), b"a\r\n");
        check_all(rebuilt, &lines, &world(), &["1 partial A\r\n"]);
        check_all(rebuilt, &lines, &world().present("/w/a", b"A\r\n"), &["1 proved A\r\n"]);
        check_all(rebuilt, &lines, &world().present("/w/a", b"a\r\n"), &[]);
        check_all(rebuilt, &lines, &World::default(), &[]);
    }

    #[test]
    fn failed_calls_and_characters_that_are_not_known_give_nothing() {
        let lines = [call("1", "write_file", r#""content":"x""#), result("1", "error", "")];
        check_all(rebuilt, &lines, &World::default(), &[]);
        let lines = [
            call("1", "edit", r#""old_string":"a","new_string":"b""#),
            result("1", "success", r#""originalContent":"a\ufffd\n","newContent":"b\ufffd\n""#),
        ];
        check_all(rebuilt, &lines, &World::default().in_git("/w/a", b"a\xE9\n"), &["1 partial -"]);
    }
}
