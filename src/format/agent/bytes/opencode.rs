//! opencode: a git tree of the whole project before and after each step, and the inputs of its tools.
//!
//! Measured with 1.18.33. A step begins with `step-start` and ends with `step-finish`; each names a tree. Not in the
//! trees are ignored files, files outside of the project and large untracked ones. Each line here is a row of the table
//! `part`, with the session's folder: `{"directory", "data"}`.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::ByteSlice;
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::model::Untrusted;
use crate::format::agent::bytes::edit::replaced;
use crate::format::agent::bytes::lines::{DatedEvent, Events, Marks, shaped, text};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::{Bytes, Rule};
use crate::format::agent::bytes::version::{Ask, ExactState, Rebuilding, Stream, placed};

/// Why an edit without a tree is not whole.
const NO_BASE: &str = "the file before this edit: no tree of the agent has it, and git does not";
/// Why an edit that does not fit is not whole.
const CHANGED: &str = "the file before this edit: another process had changed it";
/// Why a patch without a tree is not whole.
const NO_TREE: &str = "the file after this patch: no tree of the agent has it";

/// A row.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    directory: Option<&'a RawValue>,
    #[serde(borrow)]
    data: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Data<'a> {
    #[serde(rename = "type", borrow)]
    kind: Option<&'a RawValue>,
    #[serde(borrow)]
    snapshot: Option<&'a RawValue>,
    #[serde(borrow)]
    tool: Option<&'a RawValue>,
    #[serde(rename = "callID", borrow)]
    call: Option<&'a RawValue>,
    #[serde(borrow)]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct State<'a> {
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    input: Option<&'a RawValue>,
    #[serde(borrow)]
    time: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Times {
    start: Option<i64>,
    end: Option<i64>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Input {
    file_path: Option<String>,
    content: Option<String>,
    old_string: Option<String>,
    new_string: Option<String>,
    replace_all: Option<bool>,
    patch_text: Option<String>,
}

/// What a row says.
enum LineEvent<'a> {
    /// A step begins with this tree.
    Start(String),
    /// A step has ended with this tree.
    Finish(String),
    /// A tool was called on a file.
    Call { call: Option<Untrusted>, path: PathBuf, input: &'a RawValue, sort: Sort, has_result: bool },
}

/// What a call does with a file.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Sort {
    /// Its input has the file's name and text.
    Plain,
    /// Its input is a patch, which may change several.
    Patch,
    /// Its input is a patch that deletes it.
    Deletion,
}

/// Rebuilds the files that a session's tools wrote; each stream is a session.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let trees = Marks::new(&["\"step-start\"", "\"step-finish\""], &Ask { wanted: None, ..ask });
    let tools = Marks::new(&["\"edit\"", "\"write\"", "\"apply_patch\""], &ask);
    let events = Events::read(streams, ask.bounds.line, |events, line| {
        if trees.mark_of(line).is_none() && tools.mark_of(line).is_none() {
            return;
        }
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) => record.take(events, &ask),
            Err(_) => events.left_out += 1,
        }
    });
    let (events, left_out) = events.in_order(ask.bounds.steps);
    let mut session = Session { replay: Replay::new(ask, Rule::Any), ask, steps: HashMap::new(), left_out };
    for event in events {
        let sub_agent = streams.get(event.stream).and_then(|stream| stream.sub_agent.clone());
        session.follow(event, sub_agent);
    }
    Rebuilding { versions: session.replay.finish(), left_out: session.left_out, too_long: 0 }
}

impl<'a> Record<'a> {
    fn take(&self, events: &mut Events<LineEvent<'a>>, ask: &Ask<'_>) {
        let Some(data) = shaped::<Data<'a>>(self.data) else { return };
        let tree = || text(data.snapshot).map(|tree| tree.into_owned());
        match (text(data.kind).as_deref(), tree()) {
            (Some("step-start"), Some(tree)) => events.add(None, LineEvent::Start(tree)),
            (Some("step-finish"), Some(tree)) => events.add(None, LineEvent::Finish(tree)),
            (Some("tool"), _) => self.call(&data, events, ask),
            _ => {}
        }
    }

    fn call(&self, data: &Data<'a>, events: &mut Events<LineEvent<'a>>, ask: &Ask<'_>) {
        let is_edit = text(data.tool).is_some_and(|tool| matches!(&*tool, "edit" | "write" | "apply_patch"));
        let Some(state) = shaped::<State<'a>>(data.state).filter(|_| is_edit) else { return };
        let has_result = match text(state.status).as_deref() {
            Some("completed") => true,
            Some("running") => false,
            _ => return,
        };
        let (Some(input), Some(raw)) = (shaped::<Input>(state.input), state.input) else {
            events.left_out += 1;
            return;
        };
        let times: Option<Times> = shaped(state.time);
        let at = times.and_then(|times| Timestamp::from_millisecond(times.end.or(times.start)?).ok());
        let folder = text(self.directory);
        let call = text(data.call).map(|call| Untrusted::from(&*call));
        for (path, sort) in targets(&input) {
            match placed(path, folder.as_deref()) {
                Some(path) if ask.wants(&path) => {
                    events
                        .add(at, LineEvent::Call { call: call.clone(), path, input: raw, sort, has_result });
                }
                Some(_) => {}
                None => events.left_out += 1,
            }
        }
    }
}

/// Returns the files that a call changes.
fn targets(input: &Input) -> Vec<(&str, Sort)> {
    let of_patch = |line| {
        let changed = ["*** Add File: ", "*** Update File: ", "*** Move to: "];
        let path = |start: &&str| str::strip_prefix(line, *start);
        let deleted = path(&"*** Delete File: ").map(|path| (path.trim_end(), Sort::Deletion));
        deleted.or_else(|| changed.iter().find_map(path).map(|path| (path.trim_end(), Sort::Patch)))
    };
    match (&input.file_path, &input.patch_text) {
        (Some(path), _) => vec![(path, Sort::Plain)],
        (None, Some(patch)) => patch.lines().filter_map(of_patch).collect(),
        (None, None) => Vec::new(),
    }
}

/// A step of one session.
#[derive(Default)]
struct Trees {
    before: Option<String>,
    /// The files that it has changed.
    changed: Vec<PathBuf>,
}

/// A session while it is replayed.
struct Session<'a> {
    replay: Replay<'a>,
    ask: Ask<'a>,
    /// The step of each stream.
    steps: HashMap<usize, Trees>,
    left_out: u64,
}

impl Session<'_> {
    fn follow(&mut self, event: DatedEvent<LineEvent<'_>>, sub_agent: Option<Untrusted>) {
        match event.what {
            LineEvent::Start(tree) => {
                let step = Trees { before: Some(tree), changed: Vec::new() };
                self.steps.insert(event.stream, step);
            }
            LineEvent::Finish(tree) => {
                let step = self.steps.remove(&event.stream).unwrap_or_default();
                for path in step.changed {
                    if let Some(exact) = self.in_tree(&tree, &path) {
                        self.replay.settles(&path, exact);
                    }
                }
            }
            LineEvent::Call { call, path, input, sort, has_result } => {
                self.begin(event.stream, &path);
                let after = match (sort, shaped::<Input>(Some(input))) {
                    (Sort::Plain, Some(input)) => self.after(&path, input, event.at),
                    (Sort::Patch, _) => After::Missing(NO_TREE),
                    (Sort::Deletion, _) => After::Gone,
                    (Sort::Plain, None) => {
                        self.left_out += 1;
                        return;
                    }
                };
                if has_result || matches!(after, After::Whole(_)) {
                    let step = Step { path, at: event.at, call, sub_agent, has_result };
                    self.replay.writes(step, after);
                }
            }
        }
    }

    /// Takes over what a file was before the step.
    fn begin(&mut self, stream: usize, path: &Path) {
        let step = self.steps.entry(stream).or_default();
        if step.changed.iter().any(|known| known == path) {
            return;
        }
        step.changed.push(path.to_path_buf());
        if let Some(exact) = step.before.clone().and_then(|tree| self.in_tree(&tree, path)) {
            self.replay.observe(path, exact);
        }
    }

    /// Returns a file of a tree; one that is not there may be ignored.
    fn in_tree(&self, tree: &str, path: &Path) -> Option<ExactState> {
        self.ask.around.blob(tree, path).filter(|exact| *exact != ExactState::Absent)
    }

    fn after(&mut self, path: &Path, input: Input, at: Option<Timestamp>) -> After {
        if let Some(content) = input.content {
            return After::Whole(Arc::new(content.into_bytes()));
        }
        let Some((old, new)) = input.old_string.zip(input.new_string) else { return After::Missing(NO_BASE) };
        if old.is_empty() {
            return After::Whole(Arc::new(new.into_bytes()));
        }
        let Some(base) = self.replay.bytes(path, at) else { return After::Missing(NO_BASE) };
        match edited(&base, &old, &new, input.replace_all == Some(true)) {
            Some(bytes) => After::Whole(Arc::new(bytes)),
            None => After::Missing(CHANGED),
        }
    }
}

/// Returns a file after an edit: its texts get the line ends of the file.
fn edited(base: &Bytes, old: &str, new: &str, is_all: bool) -> Option<Vec<u8>> {
    if base.find(b"\r\n").is_none() {
        return replaced(base, old.as_bytes(), new.as_bytes(), is_all);
    }
    let crlf = |text: &str| text.replace("\r\n", "\n").replace('\n', "\r\n");
    replaced(base, crlf(old).as_bytes(), crlf(new).as_bytes(), is_all)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::agent::bytes::testing::{World, check_all};

    fn tree(kind: &str, tree: &str) -> String {
        format!(r#"{{"directory":"/w","data":{{"type":"{kind}","snapshot":"{tree}"}}}}"#)
    }

    fn call(id: &str, tool: &str, status: &str, input: &str) -> String {
        format!(
            r#"{{"directory":"/w","data":{{"type":"tool","tool":"{tool}","callID":"{id}","state":{{"status":"{status}","input":{{{input}}},"time":{{"start":1795860000000}}}}}}}}"#
        )
    }

    const EDIT: &str = r#""filePath":"/w/a","oldString":"a\n","newString":"A\n""#;

    #[test]
    fn the_tree_after_a_step_proves_it() {
        let lines = [
            tree("step-start", "1"),
            call("1", "edit", "completed", EDIT),
            call("2", "edit", "completed", r#""filePath":"a","oldString":"b","newString":"B""#),
            call("3", "edit", "error", r#""filePath":"a","oldString":"b","newString":"x""#),
            tree("step-finish", "2"),
        ];
        let world = World::default().blob("1", "/w/a", b"a\r\nb\r\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt A\r\nb\r\n", "2 rebuilt A\r\nB\r\n"]);
        let world = world.blob("2", "/w/a", b"A\r\nB\r\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt A\r\nb\r\n", "2 proved A\r\nB\r\n"]);
        let formatted = World::default().blob("1", "/w/a", b"a\r\nb\r\n").blob("2", "/w/a", b"A B");
        check_all(rebuilt, &lines, &formatted, &["1 rebuilt A\r\nb\r\n", "2 rebuilt A B"]);
    }

    #[test]
    fn the_next_tree_proves_a_step_that_was_not_finished() {
        let lines = [
            tree("step-start", "1"),
            call("1", "write", "completed", r#""filePath":"/w/a","content":"x\n""#),
            tree("step-start", "2"),
            call("2", "edit", "running", r#""filePath":"/w/a","oldString":"x","newString":"y""#),
        ];
        let world = World::default().blob("2", "/w/a", b"x\n");
        check_all(rebuilt, &lines, &world, &["1 proved x\n", "2 partial y\n"]);
        check_all(rebuilt, &lines, &world.present("/w/a", b"y\n"), &["1 proved x\n", "2 proved y\n"]);
    }

    #[test]
    fn a_patch_is_taken_from_the_tree() {
        let patch = r#""patchText":"*** Begin Patch\n*** Update File: a\n@@\n-a\n+b\n*** Delete File: c\n*** End Patch""#;
        let lines =
            [tree("step-start", "1"), call("1", "apply_patch", "completed", patch), tree("step-finish", "2")];
        let world = World::default().blob("2", "/w/a", b"b\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt b\n", "1 rebuilt gone"]);
        check_all(rebuilt, &lines, &World::default(), &["1 partial -", "1 rebuilt gone"]);
    }

    #[test]
    fn a_file_outside_of_the_trees_is_rebuilt_from_what_git_has() {
        let lines = [tree("step-start", "1"), call("1", "edit", "completed", EDIT), tree("step-finish", "2")];
        check_all(rebuilt, &lines, &World::default(), &["1 partial -"]);
        check_all(rebuilt, &lines, &World::default().in_git("/w/a", b"a\n"), &["1 rebuilt A\n"]);
    }
}
