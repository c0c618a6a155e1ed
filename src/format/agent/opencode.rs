//! opencode: it keeps no claims; the work of its sessions is in the rows of its database. A call's row changes in
//! place, from running to its result.
//!
//! Seen with 1.18.33.

use jiff::Timestamp;

use crate::core::model::Talk;
use crate::core::model::snapshot::work::{Doing, TurnState};
use crate::core::model::text::Untrusted;
use crate::format::reading::cells::Cells;
use crate::format::reading::json;
use crate::format::reading::json::{Object, Value};
use crate::format::reading::time;
use crate::format::spec::Spec;
use crate::format::work::talk::call as talk_call;
use crate::format::work::{Draft, first_line, target};

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[]);

/// The tools that write files. A part of type `patch` is not an edit of its session: it names files that any process
/// has changed meanwhile.
pub(crate) const WRITES: [&str; 5] = ["edit", "write", "multiedit", "patch", "apply_patch"];

/// The errors of a call that a person has refused, after which the agent does not query the model again.
const REFUSED: [&str; 2] =
    ["The user rejected permission to use this specific tool call.", "The user dismissed this question"];

/// The rows of one session, in any order. A missing row means an unknown fact: for a long session, the newest rows are
/// enough, with all rows of the newest prompt and every call that has edited a file.
#[derive(Clone, Copy, Debug, Default)]
pub struct Rows<'a> {
    /// Its row in `session`: `title`, `version`, `directory`, `time_created`, `time_compacting`.
    pub session: Option<&'a Cells>,
    /// Its rows in `message`: `id`, `time_created`, `data`.
    pub messages: &'a [Cells],
    /// Its rows in `part`: `id`, `message_id`, `time_created`, `data`; and `asked_at`, when its message was created.
    pub parts: &'a [Cells],
    /// Its rows in `todo`: `content`, `status`, `position`.
    pub todos: &'a [Cells],
}

/// Returns the work of a session, and how many of its rows could not be understood.
pub fn doing(rows: Rows<'_>) -> (Doing, u64) {
    let mut draft = Draft::default();
    let [messages, parts] = [rows.messages, rows.parts].map(|rows| parsed(rows, &mut draft.skipped));
    let last_answer = messages.iter().rposition(|one| one.data.str("role") == Some("assistant"));
    for (at, one) in messages.iter().enumerate() {
        let own = parts.iter().filter(|part| part.row.text("message_id") == one.row.text("id"));
        message(&mut draft, one, own, last_answer < Some(at));
    }
    let folder = rows.session.and_then(|row| row.text("directory"));
    let folder = folder.or(draft.folder()).map(str::to_owned);
    let made_at = rows.session.and_then(|row| row.number("time_created")).and_then(time::epoch_ms);
    parts.iter().for_each(|part| edit(&mut draft, part, (folder.as_deref(), made_at)));
    if let Some(row) = rows.session {
        session(&mut draft.doing, row);
    }
    draft.doing.todo = todo(rows.todos);
    (draft.doing(), draft.skipped)
}

/// Takes over what a row of `part` says: `data`, `at`, and `role` of its message.
pub(crate) fn read_talk_row(talk: &mut Talk, row: &Cells) {
    let Some(data) = row.text("data").and_then(|data| json::parse(data.as_bytes()).ok()) else { return };
    let at = row.number("at").and_then(time::epoch_ms);
    let text = data.str("text").unwrap_or_default();
    match (data.str("type"), row.text("role")) {
        (Some("text"), Some("user")) if !data.is_true("synthetic") => talk.prompts(text, at),
        (Some("text"), Some("assistant")) => talk.answers(text, at),
        (Some("tool"), _) => {
            let state = data.object("state");
            let input = state.and_then(|state| state.object("input"));
            let about = input.and_then(|input| target(input, None));
            let name = |name| data.str(name).unwrap_or_default();
            talk_call(talk, (name("callID"), name("tool")), (input, about), at);
            if state.is_none_or(|state| state.str("status") != Some("running")) {
                talk.returns(name("callID"));
            }
        }
        (_, _) => {}
    }
}

/// A row with its document.
struct ParsedRow<'a> {
    row: &'a Cells,
    at: Option<Timestamp>,
    data: Object<'a>,
}

/// Returns the rows whose documents can be read, oldest first.
fn parsed<'a>(rows: &'a [Cells], skipped: &mut u64) -> Vec<ParsedRow<'a>> {
    let one = |row: &'a Cells| {
        let data = json::parse(row.text("data")?.as_bytes()).ok()?;
        Some(ParsedRow { row, at: row.number("time_created").and_then(time::epoch_ms), data })
    };
    let mut found: Vec<ParsedRow<'a>> = rows.iter().filter_map(one).collect();
    *skipped += rows.len().abs_diff(found.len()) as u64;
    // IDs ascend as well.
    found.sort_by_key(|one| (one.at, one.row.text("id")));
    found
}

fn session(doing: &mut Doing, row: &Cells) {
    let text = |column| row.text(column).filter(|text| !text.is_empty());
    doing.title = text("title").map(first_line);
    doing.version = text("version").map(Into::into);
    doing.cwd = doing.cwd.take().or_else(|| text("directory").map(Into::into));
    doing.compacting = row.number("time_compacting").and_then(time::epoch_ms);
}

fn message<'a>(
    draft: &mut Draft,
    message: &ParsedRow<'_>,
    parts: impl Iterator<Item = &'a ParsedRow<'a>> + Clone,
    is_unanswered: bool,
) {
    match message.data.str("role") {
        Some("user") => {
            let is_typed = |part: &&ParsedRow<'_>| !part.data.is_true("synthetic");
            match parts.filter(is_typed).find_map(|part| part.data.str("text")) {
                // It waits until the present answer has ended.
                Some(text) if is_unanswered && draft.doing.turn.state == TurnState::Working => {
                    draft.adds(text, message.at);
                }
                Some(text) => draft.asks(text, message.at),
                None => draft.works(message.at),
            }
        }
        Some("assistant") => {
            draft.doing.calls.clear();
            answer(draft, message);
            parts.clone().for_each(|part| call(draft, part));
            end(draft, &message.data, parts.clone().any(is_refused));
        }
        Some(_) | None => {}
    }
}

fn answer(draft: &mut Draft, message: &ParsedRow<'_>) {
    let data = &message.data;
    draft.works(message.at);
    // A compaction's answer is not part of the conversation: its input was everything before.
    if data.is_true("summary") {
        draft.doing.context = None;
        return;
    }
    for (place, fact) in [
        (&mut draft.doing.model, data.text("modelID")),
        (&mut draft.doing.mode, data.text("mode")),
        (&mut draft.doing.cwd, data.object("path").and_then(|path| path.text("cwd"))),
    ] {
        *place = fact.or(place.take());
    }
    let Some(tokens) = data.object("tokens") else { return };
    let cache = |name| tokens.object("cache").and_then(|cache| cache.int(name));
    let parts = [tokens.int("input"), cache("read"), cache("write")];
    let used = parts.into_iter().flatten().fold(0, i64::saturating_add);
    // An unfinished answer does not have it.
    if let Some(used) = u64::try_from(used).ok().filter(|used| *used > 0) {
        draft.fills(used);
    }
}

fn call(draft: &mut Draft, part: &ParsedRow<'_>) {
    let data = &part.data;
    let running = data.object("state").filter(|state| state.str("status") == Some("running"));
    if let Some((state, id)) = running.zip(data.str("callID")) {
        let started = state.object("time").and_then(|time| time.int("start")).and_then(time::epoch_ms);
        let target = state.object("input").and_then(|input| target(input, draft.folder()));
        draft.calls(id, data.str("tool").unwrap_or_default(), target, started.or(part.at));
    }
}

fn is_refused(part: &ParsedRow<'_>) -> bool {
    let error = part.data.object("state").and_then(|state| state.str("error"));
    error.is_some_and(|error| REFUSED.contains(&error))
}

/// An answer that has ended: the last one of a turn calls no tool, or calls one that a person has refused.
fn end(draft: &mut Draft, data: &Object<'_>, is_refused: bool) {
    let Some(ended) = data.object("time").and_then(|time| time.int("completed")) else { return };
    let state = match data.object("error").map(|error| error.str("name")) {
        None if data.str("finish") == Some("tool-calls") && !is_refused => {
            return draft.turns(TurnState::Working, draft.doing.turn.since);
        }
        None if is_refused => TurnState::Interrupted,
        None => TurnState::Finished,
        Some(Some("MessageAbortedError")) => TurnState::Interrupted,
        Some(name) => {
            let data = data.object("error").and_then(|error| error.object("data"));
            let error = data.and_then(|data| data.str("message")).or(name);
            return draft.fails(error.unwrap_or_default(), time::epoch_ms(ended));
        }
    };
    draft.turns(state, time::epoch_ms(ended));
}

/// A call that has edited files: for one that applies a patch, only its result names them. Calls older than the
/// session are copied from the session that it forks, and are that session's edits.
fn edit(draft: &mut Draft, part: &ParsedRow<'_>, (folder, made_at): (Option<&str>, Option<Timestamp>)) {
    let is_edit = part.data.str("tool").is_some_and(|tool| WRITES.contains(&tool));
    let state = part.data.object("state").filter(|_| is_edit);
    let Some(state) = state.filter(|state| state.str("status") == Some("completed")) else { return };
    let ended = state.object("time").and_then(|time| time.int("end")).and_then(time::epoch_ms);
    let asked_at = part.row.number("asked_at").and_then(time::epoch_ms);
    if asked_at.zip(made_at).is_some_and(|(asked_at, made_at)| asked_at < made_at) {
        return;
    }
    let patched = state.object("metadata").and_then(|metadata| metadata.get("files"));
    let patched = patched.and_then(Value::as_array).unwrap_or_default().iter().filter_map(Value::as_object);
    let files = patched.flat_map(|file| [file.str("filePath"), file.str("movePath")]);
    let own = state.object("input").and_then(|input| input.str("filePath"));
    for path in files.chain([own]).flatten() {
        draft.has_edited(path, folder, ended.or(part.at), None);
    }
}

/// Returns the first item in progress.
fn todo(rows: &[Cells]) -> Option<Untrusted> {
    let open = rows.iter().filter(|row| row.text("status") == Some("in_progress"));
    let first = open.min_by_key(|row| row.number("position"))?;
    first.text("content").map(first_line)
}

#[cfg(test)]
mod tests {
    use crate::format::testing::fixture;
    use crate::format::work::testing::{calls, edits, prompt};

    use super::*;

    fn row(cells: &[(&str, &str)]) -> Cells {
        Cells(cells.iter().map(|(column, text)| ((*column).to_owned(), (*text).to_owned())).collect())
    }

    fn message(id: &str, at: &str, data: &str) -> Cells {
        row(&[("id", id), ("time_created", at), ("data", data)])
    }

    fn part(of: &str, at: &str, data: &str) -> Cells {
        row(&[("id", at), ("message_id", of), ("time_created", at), ("data", data)])
    }

    fn read_doing(messages: &[Cells], parts: &[Cells]) -> Doing {
        let (doing, skipped) = super::doing(Rows { messages, parts, ..Rows::default() });
        assert_eq!(skipped, 0);
        doing
    }

    const BUSY: &str = r#"{"role":"assistant","mode":"build","modelID":"m1","path":{"cwd":"/src"},"tokens":{"input":0,"cache":{"read":0,"write":0}},"time":{"created":2000}}"#;
    const BASH: &str = r#"{"type":"tool","tool":"bash","callID":"c1","state":{"status":"running","input":{"command":"cargo test","description":"x"},"time":{"start":2500}}}"#;

    /// A prompt, and an answer that runs a command.
    fn busy() -> (Vec<Cells>, Vec<Cells>) {
        let text = r#"{"type":"text","text":"Fix it\nplease"}"#;
        let context = r#"{"type":"text","text":"a file","synthetic":true}"#;
        let messages = vec![message("b", "2000", BUSY), message("a", "1000", r#"{"role":"user"}"#)];
        (messages, vec![part("b", "2400", BASH), part("a", "1002", text), part("a", "1001", context)])
    }

    #[test]
    fn a_call_is_open_while_its_row_says_so() {
        let (messages, mut parts) = busy();
        let open = read_doing(&messages, &parts);
        assert_eq!(calls(&open), [("bash", "cargo test")]);
        assert_eq!(open.calls[0].since, time::epoch_ms(2500));
        assert_eq!((prompt(&open), open.turn.state), (Some("Fix it"), TurnState::Working));
        assert_eq!((open.turn.since, open.context), (time::epoch_ms(1000), None));
        for state in ["pending", "completed", "error"] {
            parts[0] = part("b", "2400", &BASH.replace("running", state));
            assert_eq!(calls(&read_doing(&messages, &parts)), [], "{state}");
        }
    }

    #[test]
    fn an_answer_that_has_ended_runs_nothing() {
        let (mut messages, parts) = busy();
        for (end, expected) in [
            (r#","finish":"tool-calls"}"#, TurnState::Working),
            (r#","finish":"stop"}"#, TurnState::Finished),
            (r#","error":{"name":"MessageAbortedError"}}"#, TurnState::Interrupted),
            (r#","error":{}}"#, TurnState::Failed),
        ] {
            let ended = BUSY.replace("\"created\":2000", "\"completed\":3000");
            messages[0] = message("b", "2000", &format!("{}{end}", &ended[..ended.len() - 1]));
            let doing = read_doing(&messages, &parts);
            assert_eq!((doing.turn.state, calls(&doing)), (expected, vec![]), "{end}");
        }
    }

    #[test]
    fn a_call_that_a_killed_process_left_is_open_no_more() {
        let (mut messages, mut parts) = busy();
        messages.push(message("c", "9000", r#"{"role":"user"}"#));
        parts.push(part("c", "9001", r#"{"type":"text","text":"Again"}"#));
        let waits = read_doing(&messages, &parts);
        assert_eq!((prompt(&waits), calls(&waits)), (Some("Again"), vec![("bash", "cargo test")]));
        messages.push(message("d", "9100", r#"{"role":"assistant"}"#));
        let doing = read_doing(&messages, &parts);
        assert_eq!((prompt(&doing), calls(&doing)), (Some("Again"), vec![]));
    }

    #[test]
    fn only_what_a_session_s_own_tools_have_written_is_its_edit() {
        let (messages, mut parts) = busy();
        let of = |tool: &str, status: &str, state: &str| {
            format!(
                r#"{{"type":"tool","tool":"{tool}","callID":"c","state":{{"status":"{status}",{state}}}}}"#
            )
        };
        let file = |name: &str| format!(r#""input":{{"filePath":"{name}"}},"time":{{"start":1,"end":3000}}"#);
        let patch = r#""input":{},"metadata":{"files":[{"filePath":"/src/old.rs","movePath":"/src/new.rs"},{"filePath":"/src/d.rs"}]},"time":{"end":2700}"#;
        for data in [
            r#"{"type":"patch","files":["/src/other.rs"]}"#.to_owned(),
            of("edit", "completed", &file("/src/a.rs")),
            of("write", "completed", &file("b.rs")),
            of("apply_patch", "completed", patch),
            of("edit", "error", &file("/src/failed.rs")),
            of("edit", "running", &file("/src/running.rs")),
            of("read", "completed", &file("/src/read.rs")),
            of("bash", "completed", r#""input":{"command":"touch /src/made.rs"}"#),
        ] {
            parts.push(part("b", "2500", &data));
        }
        let doing = read_doing(&messages, &parts);
        assert_eq!(edits(&doing), ["a", "b", "d", "new", "old"].map(|it| format!("/src/{it}.rs")));
        assert_eq!(doing.edits[0].at, time::epoch_ms(3_000));
        let fork = row(&[("directory", "/elsewhere"), ("time_created", "2800")]);
        for part in &mut parts {
            let asked_at =
                if part.text("data").is_some_and(|data| data.contains("/src/")) { "2700" } else { "2800" };
            part.0.insert("asked_at".to_owned(), asked_at.to_owned());
        }
        let rows = Rows { session: Some(&fork), messages: &messages, parts: &parts, todos: &[] };
        let (doing, _) = super::doing(rows);
        assert_eq!(edits(&doing), ["/elsewhere/b.rs"], "what was asked for before is the origin's");
    }

    #[test]
    fn a_turn_is_over_when_its_person_refuses_a_call() {
        let (mut messages, mut parts) = busy();
        let ended = BUSY.replace("\"created\":2000", "\"completed\":3000");
        let ended = format!(r#"{},"finish":"tool-calls"}}"#, &ended[..ended.len() - 1]);
        for (error, state) in [
            (REFUSED[0], TurnState::Interrupted),
            (REFUSED[1], TurnState::Interrupted),
            (&format!("{} with the following feedback: no", &REFUSED[0][..59]), TurnState::Working),
        ] {
            let refused = format!(r#""status":"error","error":"{error}""#);
            parts[0] = part("b", "2400", &BASH.replace("\"status\":\"running\"", &refused));
            messages[0] = message("b", "2000", BUSY);
            assert_eq!(read_doing(&messages, &parts).turn.state, TurnState::Working, "{error}");
            messages[0] = message("b", "2000", &ended);
            assert_eq!(read_doing(&messages, &parts).turn.state, state, "{error}");
        }
    }

    #[test]
    fn a_compaction_asks_nothing_and_its_answer_says_nothing_of_the_context() {
        let (mut messages, mut parts) = busy();
        let of = |input: u32, more: &str| {
            let time = r#""time":{"completed":3000},"finish":"stop""#;
            format!(
                r#"{{"role":"assistant","modelID":"m1","mode":"build","tokens":{{"input":{input}}},{time}{more}}}"#
            )
        };
        messages[0] = message("b", "2000", &of(183_000, ""));
        messages.push(message("c", "4000", r#"{"role":"user"}"#));
        parts.push(part("c", "4000", r#"{"type":"compaction","auto":false}"#));
        assert_eq!(read_doing(&messages, &parts).turn.state, TurnState::Working);
        messages.push(message("d", "4001", &of(184_000, r#","summary":true,"agent":"compaction""#)));
        let doing = read_doing(&messages, &parts);
        assert_eq!((prompt(&doing), doing.turn.state), (Some("Fix it"), TurnState::Finished));
        assert_eq!((doing.context, doing.mode), (None, Some("build".into())));
        messages.push(message("e", "5000", &of(20_000, "")));
        assert_eq!(read_doing(&messages, &parts).context.map(|it| it.tokens), Some(20_000));
    }

    #[test]
    fn a_session_compacts_while_its_row_says_so() {
        let (messages, parts) = busy();
        let session = row(&[("title", "Fix it"), ("directory", "/"), ("time_compacting", "3000")]);
        let rows = Rows { session: Some(&session), messages: &messages, parts: &parts, todos: &[] };
        let (doing, _) = super::doing(rows);
        assert_eq!((doing.compacting, doing.title), (time::epoch_ms(3000), Some("Fix it".into())));
        assert_eq!(doing.cwd, Some("/src".into()));
    }

    #[test]
    fn the_first_item_in_progress_is_told() {
        let todos = [("5", "completed"), ("4", "in_progress"), ("3", "in_progress"), ("1", "pending")].map(
            |(position, status)| row(&[("content", position), ("status", status), ("position", position)]),
        );
        let (doing, _) = super::doing(Rows { todos: &todos, ..Rows::default() });
        assert_eq!(doing.todo, Some("3".into()));
    }

    #[test]
    fn rows_that_cannot_be_read_are_counted() {
        let rows = ["", "{", "[]", "{}"].map(|data| message("a", "x", data));
        let (doing, skipped) = super::doing(Rows { messages: &rows, parts: &rows, ..Rows::default() });
        assert_eq!((doing, skipped), (Doing::default(), 6));
    }

    fn cells(row: &Object<'_>) -> Cells {
        let text = |value: &Value<'_>| value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let known = row.iter().filter(|(_, value)| **value != Value::Null);
        Cells(known.map(|(column, value)| (column.to_owned(), text(value))).collect())
    }

    #[test]
    fn real_rows_say_what_their_session_did() {
        let Some(bytes) = fixture("work/opencode/db-rows.json") else { return };
        let tables = json::parse(&bytes).unwrap();
        let rows = |table: &str| -> Vec<Cells> {
            let rows = tables.get(table).and_then(Value::as_array).unwrap();
            rows.iter().filter_map(Value::as_object).map(cells).collect()
        };
        let (session, messages, parts) = (rows("session"), rows("message"), rows("part"));
        let all = Rows { session: session.first(), messages: &messages, parts: &parts, todos: &[] };
        let (over, skipped) = super::doing(all);
        assert_eq!(
            (prompt(&over), over.turn.state, skipped),
            (Some("First job. DO: p1"), TurnState::Finished, 0)
        );
        assert_eq!(edits(&over), ["b", "c"].map(|it| format!("/home/dev/src/epsilon/{it}.txt")));
        assert_eq!((over.title, over.version), (Some("Answer, done.".into()), Some("1.18.33".into())));
        assert_eq!((over.model, over.context.map(|it| it.tokens)), (Some("m1".into()), Some(21_000)));
        // Whichever rows there are, a missing answer leaves the turn working.
        for most in 1..messages.len() {
            let (doing, _) = super::doing(Rows { messages: &messages[..most], ..all });
            assert_eq!((prompt(&doing), doing.turn.state), (Some("First job. DO: p1"), TurnState::Working));
        }
    }
}
