//! Codex: each change of a file as a unified diff with one line of context, applied forward on what was there before,
//! or in reverse on the present file.
//!
//! Measured with 0.171.0. Lines end with LF alone, a CR belongs to its line, and line numbers are exact. A change that
//! failed or was refused has no `FileChange`.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bstr::Finder;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::core::model::{Sureness, Untrusted};
use crate::format::agent::bytes::lines::{DatedEvent, Events, Marks, moment, shaped, text};
use crate::format::agent::bytes::patch::{Side, applied, unified};
use crate::format::agent::bytes::replay::{After, Replay, Step};
use crate::format::agent::bytes::text::{Bytes, Rule};
use crate::format::agent::bytes::version::{Ask, ExactState, FileVersion, Rebuilding, Stream, placed};

/// Why an edit without anything to begin from is not whole.
const NO_BASE: &str = "the file before this edit: neither an earlier step nor git has it";
/// Why an edit that does not fit is not whole.
const CHANGED: &str = "the file before this edit: another process had changed it";

/// The most sub-agents of a session.
const MOST_THREADS: usize = 500;

/// A line.
#[derive(Deserialize)]
struct Record<'a> {
    #[serde(borrow)]
    timestamp: Option<&'a RawValue>,
    #[serde(borrow)]
    payload: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct Payload<'a> {
    #[serde(borrow)]
    item: Option<&'a RawValue>,
}

/// A change of files, or a sub-agent's start or end.
#[derive(Deserialize)]
struct Item<'a> {
    #[serde(borrow)]
    id: Option<&'a RawValue>,
    #[serde(borrow)]
    status: Option<&'a RawValue>,
    #[serde(borrow)]
    changes: Option<&'a RawValue>,
    #[serde(borrow)]
    agent_thread_id: Option<&'a RawValue>,
}

/// The change of one file.
#[derive(Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Change {
    Add { content: String },
    Delete { content: String },
    Update { unified_diff: String, move_path: Option<String> },
}

/// The changes of one patch.
struct Changes {
    call: Option<Untrusted>,
    changes: BTreeMap<String, Change>,
}

/// How a version came from the one before.
struct Derivation {
    diff: String,
    /// The file's path before.
    from: PathBuf,
}

/// What the lines have that are to be read: changes, and threads of sub-agents.
pub(crate) const LINES: &[&str] = &["\"FileChange\"", THREAD];
/// What a line has that names the thread of a sub-agent.
pub(crate) const THREAD: &str = "\"agent_thread_id\"";

/// Rebuilds the files that a session's tools wrote.
pub(crate) fn rebuilt(streams: &[Stream<'_>], ask: Ask<'_>) -> Rebuilding {
    let marks = Marks::new(&["\"FileChange\""], &ask);
    let events = Events::read(streams, ask.bounds.line, |events, line| {
        if marks.mark_of(line).is_none() {
            return;
        }
        match serde_json::from_slice::<Record<'_>>(line) {
            Ok(record) => record.changes(events),
            Err(_) => events.left_out += 1,
        }
    });
    let (events, left_out) = events.in_order(ask.bounds.steps);
    let mut session = Session { replay: Replay::new(ask, Rule::Any), ask, derived: Vec::new(), left_out };
    for event in events {
        let sub_agent = streams.get(event.stream).and_then(|stream| stream.sub_agent.clone());
        session.follow(event, &sub_agent);
    }
    let mut versions = session.replay.finish();
    fill(&mut versions, &session.derived, ask);
    Rebuilding { versions, left_out: session.left_out, too_long: 0 }
}

/// Returns the threads of a session's sub-agents; each has a file of its own.
pub(crate) fn threads(text: &[u8]) -> Vec<Untrusted> {
    let mark = Finder::new(THREAD);
    let mut all: Vec<Untrusted> = Vec::new();
    for line in text.split(|byte| *byte == b'\n').filter(|line| mark.find(line).is_some()) {
        let record: Option<Record<'_>> = serde_json::from_slice(line).ok();
        let item = record.and_then(|record| record.item());
        let thread = item.and_then(|item| Some(Untrusted::from(&*self::text(item.agent_thread_id)?)));
        let is_new = |thread: &Untrusted| !all.contains(thread) && all.len() < MOST_THREADS;
        if let Some(thread) = thread.filter(is_new) {
            all.push(thread);
        }
    }
    all
}

impl<'a> Record<'a> {
    fn item(&self) -> Option<Item<'a>> {
        shaped(shaped::<Payload<'a>>(self.payload)?.item)
    }

    fn changes(&self, events: &mut Events<Changes>) {
        let Some(item) = self.item() else { return };
        if text(item.status).is_none_or(|status| status != "completed") {
            return;
        }
        match shaped(item.changes) {
            Some(changes) => {
                let call = text(item.id).map(|id| Untrusted::from(&*id));
                events.add(moment(self.timestamp), Changes { call, changes });
            }
            None => events.left_out += 1,
        }
    }
}

/// A session while it is replayed.
struct Session<'a> {
    replay: Replay<'a>,
    ask: Ask<'a>,
    /// How each version came from the one before, in the order of the versions.
    derived: Vec<Option<Derivation>>,
    left_out: u64,
}

impl Session<'_> {
    fn follow(&mut self, event: DatedEvent<Changes>, sub_agent: &Option<Untrusted>) {
        let Changes { call, changes } = event.what;
        for (path, change) in changes {
            let Some(path) = placed(&path, None) else {
                self.left_out += 1;
                continue;
            };
            let step = |path: PathBuf| Step {
                path,
                at: event.at,
                call: call.clone(),
                sub_agent: sub_agent.clone(),
                has_result: true,
            };
            match change {
                Change::Add { content } => self.add(step(path), After::Whole(shared(content)), None),
                Change::Delete { content } => {
                    self.replay.observe(&path, ExactState::Bytes(shared(content)));
                    self.add(step(path), After::Gone, None);
                }
                Change::Update { unified_diff, move_path } => {
                    let to = move_path.as_deref().map(|to| placed(to, None));
                    let (after, to) = match to {
                        Some(None) => {
                            self.left_out += 1;
                            continue;
                        }
                        Some(Some(to)) => (self.updated(&path, &unified_diff, event.at), Some(to)),
                        None => (self.updated(&path, &unified_diff, event.at), None),
                    };
                    let derivation = Derivation { diff: unified_diff, from: path.clone() };
                    if let Some(to) = to {
                        self.add(step(path), After::Gone, None);
                        self.add(step(to), after, Some(derivation));
                    } else {
                        self.add(step(path), after, Some(derivation));
                    }
                }
            }
        }
    }

    fn updated(&mut self, path: &Path, diff: &str, at: Option<jiff::Timestamp>) -> After {
        match (self.replay.bytes(path, at), unified(diff.as_bytes())) {
            (Some(base), Some(hunks)) => match applied(&base, &hunks, Side::Old) {
                Some(bytes) => After::Whole(Arc::new(bytes)),
                None => After::Missing(CHANGED),
            },
            _ => After::Missing(NO_BASE),
        }
    }

    fn add(&mut self, step: Step, after: After, derivation: Option<Derivation>) {
        if self.ask.wants(&step.path) {
            self.derived.push(derivation);
            self.replay.writes(step, after);
        } else {
            self.replay.follows(&step.path, after);
        }
    }
}

fn shared(content: String) -> Bytes {
    Arc::new(content.into_bytes())
}

/// Fills in what moved files began from, and versions that could not be rebuilt forward, from the present files in
/// reverse.
fn fill(versions: &mut [FileVersion], derived: &[Option<Derivation>], ask: Ask<'_>) {
    for (version, derivation) in versions.iter_mut().zip(derived) {
        if let (Some(bytes), Some(Derivation { diff, .. }), None) =
            (&version.bytes, derivation, &version.began_from)
        {
            let hunks = unified(diff.as_bytes());
            version.began_from = hunks.and_then(|hunks| applied(bytes, &hunks, Side::New)).map(Arc::new);
        }
    }
    let mut numbers: HashMap<PathBuf, Vec<usize>> = HashMap::new();
    for (number, version) in versions.iter().enumerate() {
        numbers.entry(version.path.clone()).or_default().push(number);
    }
    for path in numbers.keys() {
        if let Some(ExactState::Bytes(now)) = ask.around.present(path) {
            fill_back(versions, derived, &numbers, (path.clone(), now));
        }
    }
}

/// Follows a present file back through its versions, as far as their diffs match.
fn fill_back(
    versions: &mut [FileVersion],
    derived: &[Option<Derivation>],
    numbers: &HashMap<PathBuf, Vec<usize>>,
    (mut path, mut now): (PathBuf, Bytes),
) {
    let mut below = versions.len();
    let before = |path: &PathBuf, below: usize| {
        let all = numbers.get(path)?;
        all.get(..all.partition_point(|one| *one < below))?.last()
    };
    while let Some(number) = before(&path, below)
        && let Some(version) = versions.get_mut(*number)
        && let Some(Some(Derivation { diff, from })) = derived.get(*number)
        && let Some(hunks) = unified(diff.as_bytes())
        && let Some(old) = applied(&now, &hunks, Side::New).map(Arc::new)
    {
        if version.bytes.is_none() {
            version.bytes = Some(now);
            version.sure = Sureness::Rebuilt;
        }
        version.began_from.get_or_insert_with(|| Arc::clone(&old));
        (path, now, below) = (from.clone(), old, *number);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::agent::bytes::testing::{World, check_all, version};

    fn change(id: &str, at: u32, changes: &str) -> String {
        format!(
            r#"{{"timestamp":"2026-11-28T10:00:{at:02}Z","type":"event_msg","payload":{{"type":"item_completed","item":{{"type":"FileChange","id":"{id}","changes":{changes},"status":"completed"}}}}}}"#
        )
    }

    #[test]
    fn diffs_are_applied_on_what_git_has() {
        let lines = [
            change(
                "1",
                1,
                r#"{"/w/a":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n a\r\n-b\r\n+B\r\n","move_path":null}}"#,
            ),
            change(
                "2",
                2,
                r#"{"/w/a":{"type":"update","unified_diff":"@@ -3 +3 @@\n-c\n\\ No newline at end of file\n+C\n"}}"#,
            ),
        ];
        let world = World::default().in_git("/w/a", b"a\r\nb\r\nc").present("/w/a", b"a\r\nB\r\nC\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt a\r\nB\r\nc", "2 proved a\r\nB\r\nC\n"]);
    }

    #[test]
    fn what_does_not_fit_is_taken_from_the_present_file_in_reverse() {
        let lines = [
            change("1", 1, r#"{"/w/a":{"type":"update","unified_diff":"@@ -1,2 +1,2 @@\n a\n-b\n+B\n"}}"#),
            change("2", 2, r#"{"/w/a":{"type":"update","unified_diff":"@@ -3 +3 @@\n-c\n+C\n"}}"#),
        ];
        let world = World::default().in_git("/w/a", b"x\nb\nc\n").present("/w/a", b"a\nB\nC\nd\n");
        check_all(rebuilt, &lines, &world, &["1 rebuilt a\nB\nc\nd\n", "2 rebuilt a\nB\nC\nd\n"]);
        let world = World::default().present("/w/a", b"a\nother\n");
        check_all(rebuilt, &lines, &world, &["1 partial -", "2 partial -"]);
    }

    #[test]
    fn a_file_is_added_moved_and_deleted() {
        let lines = [
            change("1", 1, r#"{"/w/a":{"type":"add","content":"a\n"}}"#),
            change(
                "2",
                2,
                r#"{"/w/a":{"type":"update","unified_diff":"@@ -1 +1 @@\n-a\n+b\n","move_path":"/w/b"}}"#,
            ),
            change("3", 3, r#"{"/w/b":{"type":"delete","content":"b\n"}}"#),
        ];
        let expected = ["1 rebuilt a\n", "2 rebuilt gone", "2 proved b\n", "3 rebuilt gone"];
        check_all(rebuilt, &lines, &World::default(), &expected);
        let all = version(rebuilt, &lines, &World::default());
        assert_eq!(all[2].began_from.as_ref().map(|bytes| bytes.as_slice()), Some(&b"a\n"[..]));
        assert_eq!(all[3].began_from.as_ref().map(|bytes| bytes.as_slice()), Some(&b"b\n"[..]));
    }

    #[test]
    fn failed_changes_and_strange_paths_give_nothing() {
        let lines = [
            change("1", 1, r#"{"/w/a":{"type":"add","content":"a\n"}}"#)
                .replace("completed\"}}}", "failed\"}}}"),
            change(
                "2",
                2,
                r#"{"../a":{"type":"add","content":"a\n"},"/w/../a":{"type":"add","content":"a\n"}}"#,
            ),
            change("3", 3, r#"{"/w/a":{"type":"update","unified_diff":"","move_path":"b"}}"#),
            r#"{"type":"FileChange","changes":"#.replace("FileChange\"", "FileChange\" x"),
        ];
        check_all(rebuilt, &lines, &World::default(), &[]);
    }

    #[test]
    fn the_threads_of_sub_agents_are_found() {
        let line = |id: &str| {
            format!(r#"{{"payload":{{"item":{{"type":"SubAgentActivity","agent_thread_id":"{id}"}}}}}}"#)
        };
        let text = [line("a"), line("b"), line("a"), "agent_thread_id\"".to_owned()].join("\n");
        assert_eq!(threads(text.as_bytes()), [Untrusted::from("a"), Untrusted::from("b")]);
    }
}
