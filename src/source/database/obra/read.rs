//! Reads the rows of one database, each query bounded.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use jiff::Timestamp;
use rusqlite::{Connection, Transaction};

use crate::core::model::{FileMeta, Ownership};
use crate::format::obra::{SESSION, TASK, Tables};
use crate::format::reading::cells::Cells;
use crate::source::database::sqlite;
use crate::source::database::sqlite::ReadError;
use crate::source::database::sqlite::copies::Copies;
use crate::source::database::sqlite::files::beside;
use crate::source::database::sqlite::tables::{Query, columns, rows};
use crate::source::os::locks::Locks;

/// The most rows of one table that are read.
pub(crate) const MAX_ROWS: usize = 2_000;

/// The files of a database as one look found them, and its writer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Files {
    /// `None` if there is no database.
    files: Option<crate::source::database::sqlite::files::Files>,
    journal_since: Option<Timestamp>,
    written_by: Option<u32>,
}

impl Files {
    /// Inspects a database without opening it; `None` if there is not a plain file.
    pub(crate) fn stat(path: &Path) -> Option<Self> {
        let files = crate::source::database::sqlite::files::Files::stat(path)?;
        // An empty journal, or one whose head is overwritten, does not count as a journal; SQLite leaves an empty one
        // in its mode `truncate`.
        let journal = files.journal.filter(|journal| journal.size > 0);
        let written_by = journal.and_then(|_| Locks::read().writer(&files.database));
        let journal_since =
            journal.and_then(|meta| born_at(&beside(path, "-journal")).or(Some(meta.modified_at)));
        Some(Self { files: Some(files), journal_since, written_by })
    }

    fn database(&self) -> Option<FileMeta> {
        self.files.map(|files| files.database)
    }

    pub(crate) fn ownership(&self) -> Ownership {
        self.database().map(|meta| meta.ownership).unwrap_or_default()
    }

    /// Returns device and inode.
    pub(crate) fn id(&self) -> (u64, u64) {
        self.database().map(|meta| (meta.dev, meta.ino)).unwrap_or_default()
    }

    /// Returns since when the journal exists: every transaction has a new one.
    pub(crate) fn journal_since(&self) -> Option<Timestamp> {
        self.journal_since
    }

    pub(crate) fn written_by(&self) -> Option<u32> {
        self.written_by
    }

    /// Returns the last change of any of these files.
    pub(crate) fn touched_at(&self) -> Option<Timestamp> {
        self.files.map(|files| files.touched_at())
    }
}

/// Returns the second in which a file was made, if the file system records it (statx(2), `btime`).
fn born_at(path: &Path) -> Option<Timestamp> {
    let born = Timestamp::try_from(path.symlink_metadata().ok()?.created().ok()?).ok()?;
    Timestamp::from_second(born.as_second()).ok()
}

/// Reads all that matters at one moment, and what is missing; `None` if the database is not Obra's.
///
/// # Errors
/// It is locked, damaged or cannot be read.
pub(crate) fn tables(path: &Path, copies: &Copies) -> Result<Option<(Tables, Option<String>)>, ReadError> {
    let mut connection = sqlite::open(path, copies)?;
    let transaction = connection.transaction()?;
    let schema = Schema::probe(&transaction)?;
    if !schema.has(SESSION, "session_id") || !schema.has(SESSION, "status") {
        return Ok(None);
    }
    let mut reader = Reader { transaction: &transaction, schema: &schema, cut: Vec::new() };
    let (newest, has_older) = reader.newest()?;
    let tables = Tables {
        sessions: reader.sessions()?,
        newest,
        has_older,
        tasks: reader.tasks()?,
        projects: reader.rows("project_state", &["id", "project_name", "working_directory"], "1")?,
        interactions: reader.interactions()?,
        abandoned: Vec::new(),
        is_remote: false,
    };
    let lacks = (!reader.cut.is_empty())
        .then(|| format!("more than {MAX_ROWS} rows of {}; the others were not read", reader.cut.join(", ")));
    Ok(Some((tables, lacks)))
}

/// The existing tables and columns: the database has no version.
struct Schema(BTreeMap<String, BTreeSet<String>>);

impl Schema {
    fn probe(connection: &Connection) -> Result<Self, ReadError> {
        let mut tables = BTreeMap::new();
        for table in [SESSION, TASK, "project_state", "interaction", "context_window_usage"] {
            tables.insert(table.to_owned(), columns(connection, table)?);
        }
        Ok(Self(tables))
    }

    fn has(&self, table: &str, column: &str) -> bool {
        self.0.get(table).is_some_and(|columns| columns.contains(column))
    }
}

struct Reader<'a> {
    transaction: &'a Transaction<'a>,
    schema: &'a Schema,
    /// The tables whose rows were cut off.
    cut: Vec<&'static str>,
}

const SESSIONS: &[&str] = &[
    "id", "session_id", "project_id", "milestone_id", "task_id", "started_at", "ended_at", "status",
    "total_tokens", "total_turns", "created_at", "updated_at",
];

const NEWEST: &[&str] = &["id", "session_id", "status", "ended_at", "updated_at"];

const TASKS: &[&str] = &[
    "id", "project_id", "title", "status", "task_type", "retry_count", "started_at", "completed_at",
    "created_at", "updated_at", "is_deleted",
];

impl Reader<'_> {
    /// Reads the active sessions, and the handed over sessions that lack something.
    fn sessions(&mut self) -> Result<Vec<Cells>, ReadError> {
        let mut more = Vec::new();
        if self.schema.has(SESSION, "summary") {
            more.push(("has_summary", "summary IS NOT NULL"));
        }
        if self.schema.has("context_window_usage", "session_id") {
            more.push((
                "last_usage_at",
                "(SELECT MAX(u.timestamp) FROM context_window_usage u WHERE u.session_id = t.session_id)",
            ));
        }
        if self.schema.has("interaction", "agent_session_id") {
            more.push((
                "last_interaction_at",
                "(SELECT MAX(i.timestamp) FROM interaction i WHERE i.agent_session_id = t.session_id)",
            ));
        }
        let mut rows = self.select(SESSION, SESSIONS, &more, "t.status = 'active' ORDER BY t.id")?;
        if self.schema.has(SESSION, "milestone_id") {
            let next = "EXISTS (SELECT 1 FROM session_record n WHERE n.id > t.id AND n.project_id = t.project_id \
                        AND n.milestone_id IS t.milestone_id)";
            let filter = format!(
                "t.status = 'refreshed' AND (t.ended_at IS NULL OR t.summary IS NULL OR NOT {next}) ORDER BY t.id DESC"
            );
            let more = [("has_summary", "summary IS NOT NULL"), ("has_next", next)];
            rows.extend(self.select(SESSION, SESSIONS, &more, &filter)?);
        }
        Ok(rows)
    }

    /// Reads the newest existing sessions, and whether there are more.
    fn newest(&mut self) -> Result<(Vec<Cells>, bool), ReadError> {
        let there = NEWEST.iter().filter(|column| self.schema.has(SESSION, column));
        let cells = there.map(|column| (*column, *column)).collect();
        let from = format!("{SESSION} t WHERE 1 ORDER BY t.id DESC");
        let found = rows(self.transaction, &Query { cells, from: &from, values: &[], most: MAX_ROWS })?;
        Ok((found.rows, found.is_cut))
    }

    /// Reads the tasks that were begun, and those that active sessions name.
    fn tasks(&mut self) -> Result<Vec<Cells>, ReadError> {
        let named: Vec<String> = ["task_id", "milestone_id"]
            .iter()
            .filter(|column| self.schema.has(SESSION, column))
            .map(|column| format!("t.id IN (SELECT {column} FROM session_record WHERE status = 'active')"))
            .collect();
        let begun = "t.status IN ('RUNNING', 'READY', 'RETRYING')".to_owned();
        let filter = std::iter::once(begun).chain(named).collect::<Vec<_>>().join(" OR ");
        self.rows(TASK, TASKS, &format!("{filter} ORDER BY t.id"))
    }

    /// Reads the newest interactions whose session has no row.
    fn interactions(&mut self) -> Result<Vec<Cells>, ReadError> {
        if !self.schema.has("interaction", "agent_session_id") {
            return Ok(Vec::new());
        }
        let filter = "t.id > (SELECT MAX(id) - 500 FROM interaction) AND t.agent_session_id IS NOT NULL \
                      AND NOT EXISTS (SELECT 1 FROM session_record s WHERE s.session_id = t.agent_session_id) \
                      GROUP BY t.agent_session_id";
        self.rows("interaction", &["id", "agent_session_id", "task_id", "timestamp"], filter)
    }

    fn rows(
        &mut self,
        table: &'static str,
        columns: &[&'static str],
        filter: &str,
    ) -> Result<Vec<Cells>, ReadError> {
        self.select(table, columns, &[], filter)
    }

    /// Selects the existing columns, and expressions.
    fn select(
        &mut self,
        table: &'static str,
        columns: &[&'static str],
        more: &[(&'static str, &str)],
        filter: &str,
    ) -> Result<Vec<Cells>, ReadError> {
        let there = columns.iter().filter(|column| self.schema.has(table, column));
        let mut cells: Vec<(&'static str, &str)> = there.map(|column| (*column, *column)).collect();
        if cells.is_empty() {
            return Ok(Vec::new());
        }
        cells.extend(more);
        let from = format!("{table} t WHERE {filter}");
        let found = rows(self.transaction, &Query { cells, from: &from, values: &[], most: MAX_ROWS })?;
        if found.is_cut {
            self.cut.push(table);
        }
        Ok(found.rows)
    }
}
