//! Claude Code: results with the old text and a patch, and copies of the files in its file history (2.1.332).

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::{ByteSlice, Finder};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::model::Untrusted;
use crate::format::agent::bytes::copies::{Backup, Copies};
use crate::format::agent::bytes::edit::replaced;
use crate::format::agent::bytes::lines::{DatedEvent, Events, Marks, moment, shaped, text};
use crate::format::agent::bytes::patch::{Hunk, Side, has_lines, merged};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::{Rule, encoded, is_utf16};
use crate::format::agent::bytes::version::{Ask, ExactState, Rebuilding, Stream, placed};

/// Why an edit of a large file without a copy is not whole.
const NO_BASE: &str = "the file before this edit: it is not in the transcript, in a copy or in git";
/// Why an edit that does not fit is not whole.
const CHANGED: &str = "the file before this edit: another process had changed it";
/// Why indentation is not sure.
const INDENTATION: &str = "whether lines begin with tabs or with spaces";

/// What marks the lines that matter.
const MARKS: [&str; 4] = ["\"structuredPatch\"", "\"updated_file\"", "\"file-history-", "\"tool_use\""];
/// What the lines have that are to be read: also those that say that a call has failed.
pub(crate) const LINES: &[&str] = &[
    "\"structuredPatch\"", "\"updated_file\"", "\"file-history-", "\"Edit\"", "\"Write\"",
    "\"is_error\":true", "\"is_error\": true",
];
const HISTORY: usize = 2;
const CALL: usize = 3;

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
    tool_use_result: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_denial_kind: Option<&'a RawValue>,
    #[serde(borrow)]
    tracking_path: Option<&'a RawValue>,
    #[serde(borrow)]
    backup: Option<&'a RawValue>,
    #[serde(borrow)]
    snapshot: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Message<'a> {
    #[serde(borrow)]
    content: Vec<Block<'a>>,
}

/// A part of a message.
#[derive(Deserialize)]
struct Block<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    tool_use_id: Option<&'a RawValue>,
    #[serde(borrow)]
    is_error: Option<&'a RawValue>,
}

/// The path in a result or in the input of a call.
#[derive(Deserialize)]
struct Target {
    #[serde(alias = "filePath", alias = "notebook_path")]
    file_path: String,
}

/// A result, or the input of a call.
#[derive(Deserialize)]
struct Edit {
    #[serde(rename = "type")]
    kind: Option<String>,
    content: Option<String>,
    #[serde(alias = "oldString")]
    old_string: Option<String>,
    #[serde(alias = "newString")]
    new_string: Option<String>,
    #[serde(alias = "replaceAll")]
    replace_all: Option<bool>,
    #[serde(alias = "originalFile")]
    original_file: Option<String>,
    updated_file: Option<String>,
    #[serde(rename = "structuredPatch", default)]
    patch: Vec<PatchHunk>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct PatchHunk {
    old_start: usize,
    new_start: usize,
    lines: Vec<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Snapshot<'a> {
    tracked_file_backups: HashMap<String, Backup>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
}

/// What a line says.
enum LineEvent<'a> {
    /// A tool has changed a file.
    Result { call: Untrusted, path: PathBuf, edit: &'a RawValue },
    /// A tool was called.
    Call { call: Untrusted, path: PathBuf, edit: &'a RawValue },
    /// Copies of files were made.
    Copies(Vec<(String, Backup)>),
}

/// Rebuilds the files that a session's tools wrote; its own stream comes first.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let folder = streams.first().and_then(|own| folder_of(own.text));
    let (events, left_out) = read(streams, &ask);
    let paths = events.iter().filter_map(|event| match &event.what {
        LineEvent::Result { path, .. } | LineEvent::Call { path, .. } => Some(path.clone()),
        LineEvent::Copies(_) => None,
    });
    let copies = Copies::new(ask, folder, paths.collect());
    let replay = Replay::new(ask, Rule::Majority);
    let mut session = Session { replay, copies, seen: HashSet::new(), left_out };
    for event in events {
        let sub_agent = streams.get(event.stream).and_then(|stream| stream.sub_agent.clone());
        session.follow(event, sub_agent);
    }
    Rebuilding { left_out: session.left_out, versions: session.replay.finish(), too_long: 0 }
}

/// Returns the folder in which a session began.
fn folder_of(text: &[u8]) -> Option<String> {
    let at = Finder::new("\"cwd\"").find(text)?;
    let begin = text.get(..at)?.rfind_byte(b'\n').map_or(0, |end| end + 1);
    let line = text.get(begin..)?.split(|byte| *byte == b'\n').next()?;
    let record: Record<'_> = serde_json::from_slice(line).ok()?;
    record.cwd.and_then(|cwd| shaped(Some(cwd)))
}

/// Reads what matters, in order.
fn read<'a>(streams: &[Stream<'a>], ask: &Ask<'_>) -> (Vec<DatedEvent<LineEvent<'a>>>, u64) {
    let marks = Marks::new(&MARKS, ask);
    let is_edit = ["\"Edit\"", "\"Write\""].map(Finder::new);
    let error = Finder::new("\"is_error\"");
    // The calls that have ended.
    let mut ended: HashSet<Untrusted> = HashSet::new();
    let mut events = Events::read(streams, ask.bounds.line, |events, line| {
        // What went wrong need not name the file.
        let has_failed = error.find(line).is_some_and(|at| is_true(line.get(at + "\"is_error\"".len()..)));
        let mark = marks.mark_of(line);
        let is_call = mark == Some(CALL);
        let is_other = is_call && !is_edit.iter().any(|name| name.find(line).is_some());
        if !has_failed && (mark.is_none() || is_other) {
            return;
        }
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) if has_failed => ended.extend(record.results(events, ask)),
            Ok(record) if is_call => record.calls(events, ask),
            Ok(record) if mark == Some(HISTORY) => record.copies(events),
            Ok(record) => ended.extend(record.results(events, ask)),
            Err(_) => events.left_out += 1,
        }
    });
    events.keep(|said| !matches!(said, LineEvent::Call { call, .. } if ended.contains(call)));
    events.in_order(ask.bounds.steps)
}

/// Returns whether the value after a key is true.
fn is_true(rest: Option<&[u8]>) -> bool {
    let value = rest.unwrap_or_default().trim_ascii_start().strip_prefix(b":");
    value.is_some_and(|value| value.trim_ascii_start().starts_with(b"true"))
}

impl<'a> Record<'a> {
    fn blocks(&self) -> Vec<Block<'a>> {
        shaped::<Message<'a>>(self.message).map(|message| message.content).unwrap_or_default()
    }

    /// Takes over calls; whether they have ended is not known yet.
    fn calls(&self, events: &mut Events<LineEvent<'a>>, ask: &Ask<'_>) {
        for block in self.blocks() {
            let is_edit = text(block.name).is_some_and(|name| matches!(&*name, "Edit" | "Write"));
            let (Some(call), Some(edit), true) = (text(block.id), block.input, is_edit) else { continue };
            if let Some(path) = self.path(edit).filter(|path| ask.wants(path)) {
                events.add(moment(self.timestamp), LineEvent::Call { call: (*call).into(), path, edit });
            }
        }
    }

    /// Takes over a result. Returns its call, unless its outcome is unknown.
    fn results(&self, events: &mut Events<LineEvent<'a>>, ask: &Ask<'_>) -> Option<Untrusted> {
        let block = self.blocks().into_iter().find(|block| block.tool_use_id.is_some())?;
        let call: Untrusted = (*text(block.tool_use_id)?).into();
        if block.is_error.is_some_and(|error| error.get() == "true") {
            let is_cut = text(self.tool_denial_kind).is_some_and(|kind| kind == "interrupted");
            return (!is_cut).then_some(call);
        }
        if let Some(edit) = self.tool_use_result.filter(|edit| edit.get().starts_with('{')) {
            match self.path(edit) {
                Some(path) if ask.wants(&path) => {
                    events.add(moment(self.timestamp), LineEvent::Result { call: call.clone(), path, edit });
                }
                Some(_) => {}
                None => events.left_out += 1,
            }
        }
        Some(call)
    }

    fn path(&self, edit: &'a RawValue) -> Option<PathBuf> {
        let target: Target = shaped(Some(edit))?;
        placed(&target.file_path, text(self.cwd).as_deref())
    }

    /// Takes over that copies were made.
    fn copies(&self, events: &mut Events<LineEvent<'a>>) {
        let at = moment(self.timestamp);
        if let (Some(key), Some(backup)) = (text(self.tracking_path), shaped(self.backup)) {
            events.add(at, LineEvent::Copies(vec![(key.into_owned(), backup)]));
        } else if let Some(snapshot) = shaped::<Snapshot<'_>>(self.snapshot) {
            let copies = snapshot.tracked_file_backups.into_iter().collect();
            events.add(at.or(moment(snapshot.timestamp)), LineEvent::Copies(copies));
        }
    }
}

/// A session while it is replayed.
struct Session<'a> {
    replay: Replay<'a>,
    copies: Copies<'a>,
    /// The calls that were followed: forks and resumed sessions repeat lines.
    seen: HashSet<Untrusted>,
    left_out: u64,
}

impl Session<'_> {
    fn follow(&mut self, event: DatedEvent<LineEvent<'_>>, sub_agent: Option<Untrusted>) {
        match event.what {
            LineEvent::Copies(copies) => {
                copies.iter().for_each(|(key, backup)| self.copies.copied(key, backup, &mut self.replay));
            }
            LineEvent::Result { call, path, edit } => {
                if !self.seen.insert(call.clone()) {
                    return;
                }
                let Some(edit) = shaped::<Edit>(Some(edit)) else {
                    self.left_out += 1;
                    return;
                };
                let after = self.result(&path, edit, event.at);
                let step = Step { path, at: event.at, call: Some(call), sub_agent, has_result: true };
                self.replay.writes(step, after);
            }
            LineEvent::Call { call, path, edit } => {
                if !self.seen.insert(call.clone()) {
                    return;
                }
                let Some(after) = shaped(Some(edit)).and_then(|edit| self.call(&path, edit, event.at)) else {
                    return;
                };
                let step = Step { path, at: event.at, call: Some(call), sub_agent, has_result: false };
                self.replay.writes(step, after);
            }
        }
    }

    /// Returns what a file was after a successful call.
    fn result(&mut self, path: &Path, edit: Edit, at: Option<Timestamp>) -> After {
        match (&edit.kind.as_deref(), &edit.original_file) {
            (Some("create"), None) => self.replay.observe(path, ExactState::Absent),
            (_, Some(seen)) => self.replay.sees(path, &Arc::new(seen.clone().into_bytes()), at),
            _ => {}
        }
        if let Some(updated) = edit.updated_file {
            return After::Text(Arc::new(updated.into_bytes()));
        }
        if let Some(content) = edit.content {
            return self.whole(path, content, at);
        }
        let Some(base) = self.replay.text(path, at) else { return After::Missing(NO_BASE) };
        match edited(&base, &edit) {
            Ok(text) => After::Text(Arc::new(text)),
            Err(missing) => After::Missing(missing),
        }
    }

    /// Returns what a file would be after a call that has no result; `None` if that is not known.
    fn call(&mut self, path: &Path, edit: Edit, at: Option<Timestamp>) -> Option<After> {
        self.copies.first(path, &mut self.replay);
        if let Some(content) = edit.content {
            return Some(self.whole(path, content, at));
        }
        let text = edited(&self.replay.text(path, at)?, &edit).ok()?;
        Some(After::Text(Arc::new(text)))
    }

    /// Returns what Write leaves: the content as it is, except in a file that is UTF-16.
    fn whole(&mut self, path: &Path, content: String, at: Option<Timestamp>) -> After {
        let content = content.into_bytes();
        let stays = self.replay.bytes(path, at).is_some_and(|bytes| is_utf16(&bytes));
        After::Whole(Arc::new(if stays { encoded(&content) } else { content }))
    }
}

/// Returns a text after an edit.
///
/// # Errors
/// What is missing.
fn edited(base: &[u8], edit: &Edit) -> Result<Vec<u8>, &'static str> {
    let (old, new) = edit.old_string.as_deref().zip(edit.new_string.as_deref()).ok_or(NO_BASE)?;
    let hunks: Option<Vec<Hunk<'_>>> = edit.patch.iter().map(PatchHunk::hunk).collect();
    let hunks = hunks.ok_or(CHANGED)?;
    let plain = |old: &str| replaced(base, old.as_bytes(), new.as_bytes(), edit.replace_all == Some(true));
    // Without a new text, the end of its line goes as well.
    let line = format!("{old}\n");
    let goes = new.is_empty() && !old.ends_with('\n') && base.find(&line).is_some();
    let first = if goes { plain(&line) } else { plain(old) }.ok_or(CHANGED)?;
    if hunks.is_empty() || has_lines(&first, &hunks, Side::New, shown) {
        let fits = has_lines(base, &hunks, Side::Old, shown);
        return if fits { Ok(first) } else { Err(CHANGED) };
    }
    if !has_lines(base, &hunks, Side::Old, shown) {
        return Err(CHANGED);
    }
    if let Some(second) = plain(old).filter(|second| goes && has_lines(second, &hunks, Side::New, shown)) {
        return Ok(second);
    }
    // Quotation marks become those of the file: what the patch shows was written.
    let has_tabs =
        [base, new.as_bytes()].iter().any(|text| text.starts_with(b"\t") || text.find("\n\t").is_some());
    let like = |plain: &[u8], line: &[u8]| with_tabs(plain, line, has_tabs);
    merged(base, &first, &hunks, like).ok_or(INDENTATION)
}

/// Returns a line as patches show it: each tab at its beginning as two spaces.
fn shown(line: &[u8]) -> Cow<'_, [u8]> {
    let rest = line.trim_start_with(|c| c == '\t');
    match line.len() - rest.len() {
        0 => Cow::Borrowed(line),
        tabs => Cow::Owned([&b"  ".repeat(tabs), rest].concat()),
    }
}

/// Returns the true line of one that a patch shows, by the line of a plain replacement, which may have other quotation
/// marks.
fn with_tabs(plain: &[u8], line: &[u8], has_tabs: bool) -> Option<Vec<u8>> {
    let straight = |line: &[u8]| {
        let line = line.to_str_lossy();
        line.replace(['\u{2018}', '\u{2019}'], "'").replace(['\u{201c}', '\u{201d}'], "\"")
    };
    if straight(&shown(plain)) == straight(line) {
        let tabs = plain.len() - plain.trim_start_with(|c| c == '\t').len();
        return Some([&b"\t".repeat(tabs), line.get(2 * tabs..)?].concat());
    }
    (!has_tabs || !line.starts_with(b"  ")).then(|| line.to_vec())
}

impl PatchHunk {
    fn hunk(&self) -> Option<Hunk<'_>> {
        // Also an empty range has the number of the line that would be its first.
        let before = (self.old_start.saturating_sub(1), self.new_start.saturating_sub(1));
        Hunk::new(before, self.lines.iter().map(|line| line.as_bytes()))
    }
}

#[cfg(test)]
mod tests;
