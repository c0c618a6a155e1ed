//! Gemini CLI: results with the whole old and new text.
//!
//! Measured with 0.61.0. `replace` shows both with LF alone, `write_file` the old text as it is; if the old file had
//! any CRLF, all lines are written with it.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::model::Untrusted;
use crate::format::agent::bytes::lines::{Events, Marks, moment, shaped, text};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::Rule;
use crate::format::agent::bytes::version::{Ask, ExactState, Rebuilding, Stream, placed};

/// A line.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Record<'a> {
    #[serde(borrow)]
    tool_calls: Option<&'a RawValue>,
}

/// A call that has ended.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Call<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    name: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    result_display: Option<&'a RawValue>,
}

/// The path of a changed file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Target {
    file_path: String,
}

/// A changed file.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Display {
    original_content: Option<String>,
    new_content: String,
    #[serde(default)]
    is_new_file: bool,
}

/// A change of a file.
struct Change<'a> {
    call: Untrusted,
    path: PathBuf,
    /// Whether the old text is shown as it is.
    is_raw: bool,
    display: &'a RawValue,
}

/// What the lines have that are to be read.
pub(crate) const LINES: &[&str] = &["\"newContent\""];

/// Rebuilds the files that a session's tools wrote.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let marks = Marks::new(LINES, &ask);
    let mut seen = HashSet::new();
    let events = Events::read(streams, ask.bounds.line, |events, line| {
        if marks.mark_of(line).is_none() {
            return;
        }
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) => {
                // A line replaces an earlier one with the same ID, and repeats its calls.
                for call in shaped::<Vec<Call<'_>>>(record.tool_calls).unwrap_or_default() {
                    call.change(&mut seen, events, &ask);
                }
            }
            Err(_) => events.left_out += 1,
        }
    });
    let (events, mut left_out) = events.in_order(ask.bounds.steps);
    let mut replay = Replay::new(ask, Rule::Any);
    for event in events {
        let Change { call, path, is_raw, display } = event.what;
        let Some(display) = shaped::<Display>(Some(display)) else {
            left_out += 1;
            continue;
        };
        let sub_agent = streams.get(event.stream).and_then(|stream| stream.sub_agent.clone());
        show(&mut replay, &path, is_raw, &display, event.at);
        let step = Step { path, at: event.at, call: Some(call), sub_agent, has_result: true };
        replay.writes(step, After::Text(Arc::new(display.new_content.into_bytes())));
    }
    Rebuilding { versions: replay.finish(), left_out, too_long: 0 }
}

/// Takes over what the old file was.
fn show(replay: &mut Replay<'_>, path: &Path, is_raw: bool, display: &Display, at: Option<Timestamp>) {
    let Some(original) = display.original_content.as_deref().filter(|_| !display.is_new_file) else {
        return replay.observe(path, ExactState::Absent);
    };
    let seen = Arc::new(original.as_bytes().to_vec());
    // Other bytes than UTF-8 are shown as this character.
    let is_exact = (is_raw || original.contains("\r\n")) && !original.contains(char::REPLACEMENT_CHARACTER);
    if is_exact {
        replay.observe(path, ExactState::Bytes(seen));
    } else {
        replay.sees(path, &seen, at);
    }
}

impl<'a> Call<'a> {
    fn change(self, seen: &mut HashSet<Untrusted>, events: &mut Events<Change<'a>>, ask: &Ask<'_>) {
        let is_done = text(self.status).is_some_and(|status| status == "success");
        let (Some(call), Some(display), true) = (text(self.id), self.result_display, is_done) else { return };
        let Some(target) = shaped::<Target>(Some(display)) else { return };
        let call: Untrusted = (*call).into();
        match placed(&target.file_path, None) {
            Some(path) if ask.wants(&path) => {
                if seen.insert(call.clone()) {
                    let is_raw = text(self.name).is_some_and(|name| name == "write_file");
                    events.add(moment(self.timestamp), Change { call, path, is_raw, display });
                }
            }
            Some(_) => {}
            None => events.left_out += 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::agent::bytes::testing::{World, check_all};

    fn call(id: &str, name: &str, status: &str, display: &str) -> String {
        format!(
            r#"{{"id":"x","type":"gemini","toolCalls":[{{"id":"{id}","name":"{name}","status":"{status}","timestamp":"2026-11-28T10:00:00Z","resultDisplay":{{"filePath":"/w/a",{display}}}}}]}}"#
        )
    }

    #[test]
    fn all_lines_are_written_with_crlf_if_the_old_file_had_any() {
        let edit = r#""originalContent":"a\nb\n","newContent":"a\nB\n","isNewFile":false"#;
        let lines = [call("1", "replace", "success", edit)];
        check_all(rebuilt, &lines, &World::default(), &["1 partial a\nB\n"]);
        let world = World::default().in_git("/w/a", b"a\r\nb\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt a\r\nB\r\n"]);
        let world = World::default().present("/w/a", b"a\r\nB\r\n");
        check_all(rebuilt, &lines, &world, &["1 proved a\r\nB\r\n"]);
        let over = r#""originalContent":"a\r\nB\r\n","newContent":"x\ny\n","isNewFile":false"#;
        let lines = [lines[0].clone(), call("2", "write_file", "success", over)];
        check_all(rebuilt, &lines, &World::default(), &["1 proved a\r\nB\r\n", "2 rebuilt x\r\ny\r\n"]);
    }

    #[test]
    fn a_new_file_is_written_as_it_is() {
        let new = r#""originalContent":"","newContent":"\ufeffa\r\nb\n","isNewFile":true"#;
        let lines = [call("1", "write_file", "success", new), call("1", "write_file", "success", new)];
        check_all(rebuilt, &lines, &World::default(), &["1 rebuilt \u{feff}a\r\nb\n"]);
        let lines = [call("1", "write_file", "error", new), call("2", "write_file", "cancelled", new)];
        check_all(rebuilt, &lines, &World::default(), &[]);
    }

    #[test]
    fn the_next_old_text_proves_an_edit() {
        let one = r#""originalContent":"a","newContent":"b","isNewFile":false"#;
        let two = r#""originalContent":"b","newContent":"c","isNewFile":false"#;
        let lines = [call("1", "replace", "success", one), call("2", "replace", "success", two)];
        check_all(rebuilt, &lines, &World::default(), &["1 proved b", "2 rebuilt c"]);
        let other = r#""originalContent":"x","newContent":"c","isNewFile":false"#;
        let lines = [call("1", "replace", "success", one), call("2", "replace", "success", other)];
        check_all(rebuilt, &lines, &World::default(), &["1 rebuilt b", "2 rebuilt c"]);
    }
}
