//! The work of opencode's sessions, from the rows of its one database.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use rusqlite::ToSql;
use rustix::fs::{Access, access};
use rustix::io::Errno;

use crate::core::model::{Doing, Format, SubAgent, Talk, TurnState, UnreadWork, Untrusted, WhyUnread, Work};
use crate::format::Base;
use crate::format::agent::opencode::{Rows, WRITES, doing, read_talk_row};
use crate::format::reading::cells::Cells;
use crate::format::reading::json;
use crate::format::reading::time;
use crate::source::database::sqlite;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::files::{Files, beside};
use crate::source::database::sqlite::tables::{Query, columns, long_rows};
use crate::source::database::sqlite::{Database, ReadError};
use crate::source::interface::{Hints, Scope};
use crate::source::os::open::medium::medium_at;
use crate::source::os::open::meta::is_sure;
use crate::source::work::join::{HelperWork, join};
use crate::source::work::wanted::{MOST, WorkTarget};

/// The most messages of a session that are read, the newest, beside its newest prompt.
const MESSAGES: usize = 64;
/// The most parts of one message that are read.
const PARTS: usize = 64;
/// Of how many of a session's parts, the newest, those that have edited files are read.
const EDITS: usize = 2_048;
/// The most items of a list of things to do.
const TODOS: usize = 256;
/// The newest parts of a session that are read for what was said.
const SAID: usize = 400;
/// The most sub-sessions of a session that are read, the newest.
const AGENTS: usize = 16;
/// The longest document that is read, in characters, without the parts that are left out.
const LONGEST: usize = 256 << 10;
/// The longest document, in bytes, from which the paths of edited files are taken: it contains the written text, more
/// than once.
const LONGEST_EDIT: usize = 16 << 20;

/// A document without long parts that do not describe the session's work.
const DOCUMENT: &str = "CASE WHEN json_valid(data) THEN json_replace(json_remove(data, '$.summary.diffs', \
                        '$.summary.body', '$.system', '$.state.output', '$.state.metadata', \
                        '$.state.input.content', '$.state.input.oldString', '$.state.input.newString', \
                        '$.state.input.patchText', '$.state.input.edits'), \
                        '$.text', substr(data ->> '$.text', 1, 2000)) ELSE data END";
/// The part of a call's document about the files that it has edited.
const EDITED: &str = "json_object('type', 'tool', 'tool', data ->> '$.tool', 'state', json_object( \
                      'status', data ->> '$.state.status', 'time', json_extract(data, '$.state.time'), \
                      'input', json_object('filePath', data ->> '$.state.input.filePath'), \
                      'metadata', json_object('files', (SELECT json_group_array(json_object( \
                      'filePath', value ->> '$.filePath', 'movePath', value ->> '$.movePath')) \
                      FROM json_each(data, '$.state.metadata.files')))))";
/// A cell's name, and the expression that gives it.
type Cell = (&'static str, &'static str);
const MESSAGE: [Cell; 3] = [("id", "id"), ("time_created", "time_created"), ("data", DOCUMENT)];
const PART: [Cell; 4] =
    [("id", "id"), ("message_id", "message_id"), ("time_created", "time_created"), ("data", DOCUMENT)];
const EDIT: [Cell; 4] =
    [("id", "id"), ("message_id", "message_id"), ("time_created", "time_created"), ("data", EDITED)];
/// When the message of a part was written: a message older than its session is copied from another one.
const ASKED: Cell = ("asked_at", "(SELECT time_created FROM message WHERE message.id = part.message_id)");
const TODO: [Cell; 3] = [("content", "content"), ("status", "status"), ("position", "position")];
const NEWEST: &str = "ORDER BY time_created DESC, id DESC";
/// The sessions below one, the newest first; a circle ends.
const BELOW: &str = "session WHERE id <> ?1 AND id IN (WITH RECURSIVE below(id) AS ( \
                     SELECT id FROM session WHERE parent_id = ?1 UNION \
                     SELECT session.id FROM session JOIN below ON session.parent_id = below.id) \
                     SELECT id FROM below) ORDER BY time_updated DESC, id DESC";
/// The columns that are read of a session's row, if they exist.
const SESSION: [&str; 6] =
    ["title", "version", "directory", "time_created", "time_compacting", "time_updated"];

/// The sessions that are asked for, and when the window of each started.
type Sessions = BTreeMap<Untrusted, Option<Timestamp>>;

/// The databases of all homes, as they were last read.
pub(crate) struct Store {
    copies: Copies,
    kept: BTreeMap<PathBuf, RowCache>,
}

#[derive(Default)]
struct RowCache {
    /// The files that were read, and when.
    read: Option<(Files, Timestamp)>,
    sessions: Sessions,
    work: BTreeMap<Untrusted, Arc<Work>>,
    /// The sessions that could not be read last time, and why.
    unread: Option<(Vec<Untrusted>, WhyUnread)>,
}

impl Store {
    /// Creates a reader that keeps its database copies with `copies`.
    pub(crate) fn new(copies: &Copies) -> Self {
        Self { copies: copies.clone(), kept: BTreeMap::new() }
    }

    /// Reads the work of these sessions, if the databases have changed.
    pub(crate) fn look(&mut self, wanted: &[WorkTarget], scope: &Scope, now: Timestamp) {
        let own = wanted.iter().filter(|one| one.session.format == Format::OpenCode);
        let sessions: Sessions = own.map(|one| (one.session.id.clone(), one.started_at)).collect();
        if sessions.is_empty() {
            return;
        }
        for home in scope.homes.folders_of(Base::Home) {
            let path = home.path.join(".local/share/opencode/opencode.db");
            if scope.fence.reaches(&path)
                && let Some(files) = Files::stat(&path)
            {
                let kept = self.kept.entry(path.clone()).or_default();
                kept.look(&path, files, &sessions, now, &self.copies);
            }
        }
    }

    /// Returns the work that was read.
    pub(crate) fn works(&mut self) -> impl Iterator<Item = &mut Arc<Work>> {
        self.kept.values_mut().flat_map(|kept| kept.work.values_mut())
    }

    /// Returns the databases that could not be read, for each session that was asked for.
    pub(crate) fn unread(&self) -> impl Iterator<Item = UnreadWork> {
        let of = |(path, kept): (&PathBuf, &RowCache)| {
            let (sessions, why) = kept.unread.clone()?;
            let path = path.clone();
            let unread = move |session| UnreadWork {
                format: Format::OpenCode,
                session,
                path: path.clone().into(),
                why,
            };
            Some(sessions.into_iter().map(unread))
        };
        self.kept.iter().filter_map(of).flatten()
    }

    /// Adds the files and folders whose change means another look.
    pub(crate) fn hints(&self, hints: &mut Hints) {
        for path in self.kept.keys() {
            let paths = [path.clone(), beside(path, "-wal")];
            let names = paths.iter().filter_map(|path| Some(path.file_name()?.to_str()?.to_owned()));
            if let Some(folder) = path.parent() {
                hints.folders.insert(folder.to_owned());
                hints.names.entry(folder.to_owned()).or_default().extend(names);
            }
        }
    }
}

impl RowCache {
    /// Reads a database. Sessions of one that cannot be read now keep their last content, as do sessions whose window
    /// has ended.
    fn look(&mut self, path: &Path, files: Files, sessions: &Sessions, now: Timestamp, copies: &Copies) {
        let is_known = |(known, at): &(Files, Timestamp)| *known == files && is_sure(*at, files.touched_at());
        if self.sessions == *sessions && self.read.as_ref().is_some_and(is_known) {
            return;
        }
        let read = || -> Result<Vec<Work>, ReadError> {
            let database = sqlite::open(path, copies)?;
            let all = sessions.iter().map(|(id, since)| work(&database, (id, *since), (path, files)));
            all.filter_map(Result::transpose).collect()
        };
        let read = read();
        let why = read.as_ref().err().and_then(|error| why_unread(path, error));
        self.unread = why.map(|why| (sessions.keys().cloned().collect(), why));
        if let Ok(work) = read {
            self.read = Some((files, now));
            self.sessions.clone_from(sessions);
            self.work.extend(work.into_iter().map(|work| (work.session.clone(), Arc::new(work))));
            let is_wanted = |work: &Work| sessions.contains_key(&work.session);
            while self.work.len() > MOST.max(sessions.len()) {
                let gone = self.work.values().filter(|work| !is_wanted(work));
                let oldest = gone.min_by_key(|work| work.written_at).map(|work| work.session.clone());
                self.work.retain(|session, _| Some(session) != oldest.as_ref());
            }
        }
    }
}

/// Returns what keeps a database from being read; nothing if a writer does, which will soon be done.
fn why_unread(path: &Path, error: &ReadError) -> Option<WhyUnread> {
    match error {
        ReadError::Locked | ReadError::Interrupted => None,
        ReadError::Corrupt(_) => Some(WhyUnread::Damaged),
        // Opening it to find out would cost the locks that SQLite holds on it.
        ReadError::Failed(_) => match access(path, Access::READ_OK) {
            Err(Errno::ACCESS | Errno::PERM) => Some(WhyUnread::NoPermission),
            _ => Some(WhyUnread::Failed),
        },
    }
}

/// Reads what was said lately in a session.
///
/// # Errors
/// The database cannot be read; in words.
pub(crate) fn talk(path: &Path, session: &Untrusted, copies: &Copies) -> Result<Talk, String> {
    let read = || -> Result<Talk, ReadError> {
        let database = sqlite::open(path, copies)?;
        let session = Session { database: &database, id: session };
        if session.row()?.is_none() {
            return Ok(Talk::default());
        }
        let cells = [
            ("data", "data"),
            ("at", "time_created"),
            ("role", "(SELECT message.data ->> '$.role' FROM message WHERE message.id = message_id)"),
        ];
        let is_said = "json_valid(data) AND data ->> '$.type' IN ('text', 'tool') \
                       AND (SELECT json_valid(message.data) FROM message WHERE message.id = message_id)";
        let from = format!(
            "part WHERE id IN (SELECT id FROM part WHERE session_id = ?1 {NEWEST} LIMIT {SAID}) \
             AND octet_length(data) <= {LONGEST} AND {is_said} {NEWEST}"
        );
        let mut talk = Talk::default();
        session.ask(&cells, &from, SAID)?.iter().rev().for_each(|row| read_talk_row(&mut talk, row));
        Ok(talk)
    };
    read().map_err(|error| format!("the session's database cannot be read: {error}"))
}

/// One session of a database that is open.
struct Session<'a> {
    database: &'a Database,
    id: &'a Untrusted,
}

/// Reads one session; `None` if the database has none of this ID, or has another schema.
fn work(
    database: &Database,
    (id, since): (&Untrusted, Option<Timestamp>),
    (path, files): (&Path, Files),
) -> Result<Option<Work>, ReadError> {
    let session = Session { database, id };
    let Some(rows) = session.session_rows()? else { return Ok(None) };
    let mut work = Work {
        format: Format::OpenCode,
        session: id.clone(),
        path: path.to_path_buf().into(),
        medium: medium_at(path),
        written_at: rows.written_at.unwrap_or_else(|| files.touched_at()),
        doing: rows.doing,
        agents: Vec::new(),
        warnings: Vec::new(),
        skipped: rows.skipped,
    };
    let (agents, more) = session.agents(since)?;
    join(&mut work, agents);
    work.doing.edits_since = work.doing.edits_since.max(more);
    Ok(Some(work))
}

/// The rows of one session.
struct SessionRows {
    doing: Doing,
    skipped: u64,
    written_at: Option<Timestamp>,
}

impl Session<'_> {
    fn session_rows(&self) -> Result<Option<SessionRows>, ReadError> {
        let Some(row) = self.row()? else { return Ok(None) };
        let (messages, prompt) = self.messages()?;
        let parts = self.parts(&messages, prompt.as_deref())?;
        let todos = self.todos()?;
        let rows = Rows { session: Some(&row), messages: &messages, parts: &parts, todos: &todos };
        let (told, skipped) = doing(rows);
        let long = self.passed_over()?;
        let edits_since = self.edits_since()?.max(long.first().copied().flatten());
        Ok(Some(SessionRows {
            doing: Doing { edits_since, ..told },
            skipped: skipped + long.len() as u64,
            written_at: row.number("time_updated").and_then(time::epoch_ms),
        }))
    }

    /// Reads its sub-sessions, each run by a sub-agent, and theirs; and when the newest of those that were not read
    /// was written.
    fn agents(&self, since: Option<Timestamp>) -> Result<(Vec<HelperWork>, Option<Timestamp>), ReadError> {
        let has = columns(self.database, "session")?;
        if !["parent_id", "time_updated"].iter().all(|column| has.contains(*column)) {
            return Ok((Vec::new(), None));
        }
        let mut rows = self.ask(&[("id", "id"), ("at", "time_updated")], BELOW, AGENTS + 1)?;
        let more = rows.split_off(rows.len().min(AGENTS));
        let ids = rows.iter().filter_map(|row| row.text("id")).map(Untrusted::from);
        let agents = ids.map(|id| Session { database: self.database, id: &id }.helped(since));
        let more = more.first().and_then(|row| row.number("at")).and_then(time::epoch_ms);
        Ok((agents.filter_map(Result::transpose).collect::<Result<_, _>>()?, more))
    }

    /// Returns the work of the sub-agent that runs it. A sub-agent that last wrote before the window started no longer
    /// runs.
    fn helped(&self, since: Option<Timestamp>) -> Result<Option<HelperWork>, ReadError> {
        let Some(SessionRows { doing, skipped, written_at }) = self.session_rows()? else { return Ok(None) };
        let is_heard = since.is_none_or(|since| written_at.is_some_and(|at| at >= since));
        let running = (doing.turn.state == TurnState::Working && is_heard).then(|| SubAgent {
            id: self.id.clone(),
            task: doing.title.clone(),
            call: doing.calls.last().cloned(),
            since: doing.turn.since,
        });
        Ok(Some(HelperWork { id: self.id.clone(), running, doing, skipped }))
    }

    fn row(&self) -> Result<Option<Cells>, ReadError> {
        let has = columns(self.database, "session")?;
        let is_known = |table| columns(self.database, table).map(|has| has.contains("data"));
        if !has.contains("id") || !is_known("message")? || !is_known("part")? {
            return Ok(None);
        }
        let cells: Vec<_> =
            SESSION.into_iter().filter(|name| has.contains(*name)).map(|it| (it, it)).collect();
        Ok(self.ask(&cells, "session WHERE id = ?1", 1)?.pop())
    }

    /// Returns the newest messages and the newest prompt's, and the ID of that.
    fn messages(&self) -> Result<(Vec<Cells>, Option<String>), ReadError> {
        let newest = |which: &str| format!("message WHERE session_id = ?1 {which} {NEWEST}");
        let mut messages = self.ask(&MESSAGE, &newest(""), MESSAGES)?;
        // A request for a compaction, or the continuation after one, was not typed.
        let is_prompt = "AND json_valid(data) AND data ->> '$.role' = 'user' AND EXISTS (SELECT 1 FROM part \
                         WHERE part.message_id = message.id AND json_valid(part.data) \
                         AND part.data ->> '$.type' = 'text' AND part.data ->> '$.synthetic' IS NOT 1)";
        let prompt = self.ask(&MESSAGE, &newest(is_prompt), 1)?.pop();
        let id = prompt.as_ref().and_then(|prompt| prompt.text("id")).map(str::to_owned);
        if !messages.iter().any(|message| message.text("id") == id.as_deref()) {
            messages.extend(prompt);
        }
        Ok((messages, id))
    }

    /// Returns the prompt, the running or failed calls of the newest answer, and the calls that have edited files.
    fn parts(&self, messages: &[Cells], prompt: Option<&str>) -> Result<Vec<Cells>, ReadError> {
        let edits = format!(
            "part WHERE id IN (SELECT id FROM part WHERE session_id = ?1 {NEWEST} LIMIT {EDITS}) \
             AND octet_length(data) <= {LONGEST_EDIT} AND json_valid(data) AND data ->> '$.type' = 'tool' \
             AND data ->> '$.state.status' = 'completed' AND data ->> '$.tool' IN ('{}')",
            WRITES.join("', '")
        );
        let cells: Vec<Cell> = EDIT.into_iter().chain([ASKED]).collect();
        let mut parts = self.ask(&cells, &edits, EDITS)?;
        let is_answer = |message: &&Cells| {
            let data = message.text("data").and_then(|data| json::parse(data.as_bytes()).ok());
            data.is_some_and(|data| data.str("role") == Some("assistant"))
        };
        let last = messages.iter().find(is_answer).and_then(|message| message.text("id"));
        let runs = "AND json_valid(data) AND data ->> '$.state.status' IN ('running', 'error')";
        let is_text = "AND json_valid(data) AND data ->> '$.type' = 'text'";
        for (message, which) in [(last, runs), (prompt, is_text)] {
            if let Some(message) = message {
                let from = format!("part WHERE message_id = ?2 AND session_id = ?1 {which} ORDER BY id");
                parts.extend(self.ask_of(&PART, &from, &[&self.id.raw(), &message], PARTS)?);
            }
        }
        Ok(parts)
    }

    /// Returns when the calls that are too long to be read were written, the newest first.
    fn passed_over(&self) -> Result<Vec<Option<Timestamp>>, ReadError> {
        let from = format!(
            "part WHERE id IN (SELECT id FROM part WHERE session_id = ?1 {NEWEST} LIMIT {EDITS}) \
             AND octet_length(data) > {LONGEST_EDIT} AND substr(data, 1, 100) LIKE '{{\"type\":\"tool\"%' {NEWEST}"
        );
        let rows = self.ask(&[("at", "time_created")], &from, EDITS)?;
        Ok(rows.iter().map(|row| row.number("at").and_then(time::epoch_ms)).collect())
    }

    fn todos(&self) -> Result<Vec<Cells>, ReadError> {
        let has = columns(self.database, "todo")?;
        if !TODO.iter().all(|(name, _)| has.contains(*name)) {
            return Ok(Vec::new());
        }
        self.ask(&TODO, "todo WHERE session_id = ?1 ORDER BY position", TODOS)
    }

    /// Returns when the last of the parts that were not read was written.
    fn edits_since(&self) -> Result<Option<Timestamp>, ReadError> {
        let from =
            format!("(SELECT time_created FROM part WHERE session_id = ?1 {NEWEST} LIMIT 1 OFFSET {EDITS})");
        let row = self.ask(&[("at", "time_created")], &from, 1)?.pop();
        Ok(row.and_then(|row| row.number("at")).and_then(time::epoch_ms))
    }

    fn ask(&self, cells: &[Cell], from: &str, most: usize) -> Result<Vec<Cells>, ReadError> {
        self.ask_of(cells, from, &[&self.id.raw()], most)
    }

    fn ask_of(
        &self,
        cells: &[Cell],
        from: &str,
        values: &[&dyn ToSql],
        most: usize,
    ) -> Result<Vec<Cells>, ReadError> {
        let query = Query { cells: cells.to_vec(), from, values, most };
        Ok(long_rows(self.database, &query, LONGEST)?.rows)
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "tests write their own files")]
mod tests;
