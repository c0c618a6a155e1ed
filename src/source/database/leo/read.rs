//! Reads LEO's tables at one moment, in bounded pages, and checks cheaply for changes.

use std::sync::Arc;
use std::time::{Duration, Instant};

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::basis::{Basis, ChangedRow};
use super::filters::filter;
use super::schema::{Schema, rows};
use crate::format::leo::database::{
    DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Tables, columns, key_column,
};
use crate::format::reading::cells::Cells;
use crate::format::reading::time;
use crate::source::os::clock;

/// The most rows of one table that are read.
const MAX_ROWS: usize = 50_000;

/// How many rows are read at once.
const PAGE: usize = 2_000;

/// How long the server may take for one statement: 8 s.
pub(crate) const STATEMENT_WITHIN: Duration = Duration::from_secs(8);

/// The result of one read.
#[derive(Clone, Debug)]
pub(crate) struct DatabaseReading {
    pub(crate) tables: Tables,
    /// The starting point of a later read.
    pub(crate) basis: Option<Basis>,
    /// How far this machine's clock is ahead of the server's.
    pub(crate) ahead: SignedDuration,
    /// When it was read, by this machine's clock.
    pub(crate) read_at: Timestamp,
    /// How long it took.
    pub(crate) took: Duration,
    /// Why the read is incomplete.
    pub(crate) lacks: Option<String>,
    /// Whether the server lets this role only read.
    pub(crate) is_read_only: bool,
    /// Whether this deployment directs clashing sessions to take over the other session's ID.
    pub(crate) hands_out_others: bool,
}

/// Begins a transaction that sees one moment and cannot write. All settings apply to the transaction alone, so that a
/// pooler may give the connection to other clients.
///
/// # Errors
/// The server refuses.
pub(crate) async fn begin(client: &Client) -> Result<(), Error> {
    let sql = format!(
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; \
         SET LOCAL statement_timeout = {}; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'",
        STATEMENT_WITHIN.as_millis()
    );
    client.batch_execute(&sql).await
}

/// Reads everything that matters.
///
/// # Errors
/// A query failed, or there is no table of sessions.
pub(crate) async fn read(client: &Client, schema: &Schema) -> Result<DatabaseReading, Error> {
    let began = clock::steady();
    begin(client).await?;
    let mut reader = Reader::new(client, schema);
    let tables = reader.tables().await?;
    let basis = if reader.cut.is_empty() { Basis::ask(client, schema).await? } else { None };
    reader.finish(tables, basis, began).await
}

fn lacks(schema: &Schema, cut: &[&str]) -> Option<String> {
    if !schema.has(SESSIONS, "session_id") {
        return Some(format!("there is no table {SESSIONS}, or this role may not read it"));
    }
    (!cut.is_empty())
        .then(|| format!("more than {MAX_ROWS} rows of {}; the others were not read", cut.join(", ")))
}

/// Reads within one transaction.
pub(crate) struct Reader<'a> {
    client: &'a Client,
    schema: &'a Schema,
    /// The tables whose rows were cut off.
    cut: Vec<&'static str>,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(client: &'a Client, schema: &'a Schema) -> Self {
        Self { client, schema, cut: Vec::new() }
    }

    async fn tables(&mut self) -> Result<Tables, Error> {
        Ok(Tables {
            sessions: self.pages(SESSIONS).await?,
            directives: self.pages(DIRECTIVES).await?,
            quick_fixes: self.pages(QUICK_FIXES).await?,
            file_locks: self.pages(FILE_LOCKS).await?,
            events: self.events().await?,
            messages: self.messages().await?,
            unread: [SESSIONS, DIRECTIVES, QUICK_FIXES]
                .into_iter()
                .filter(|table| !self.schema.has(table, key_column(table)) || self.cut.contains(table))
                .collect(),
        })
    }

    /// Ends the transaction, and adds what the server reports about itself.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn finish(
        self,
        tables: Tables,
        basis: Option<Basis>,
        began: Instant,
    ) -> Result<DatabaseReading, Error> {
        let sql = "SELECT clock_timestamp()::text, current_setting('default_transaction_read_only'), \
                   pg_is_in_recovery()::text";
        let server = rows(self.client, sql).await?;
        let read_at = clock::now();
        self.client.batch_execute("COMMIT").await?;
        let cell = |at: usize| server.first().and_then(|row| row.get(at)?.as_deref());
        let server_at = cell(0).and_then(|text| time::any(text, &TimeZone::UTC));
        Ok(DatabaseReading {
            tables,
            basis,
            ahead: server_at.map_or(SignedDuration::ZERO, |at| read_at.duration_since(at)),
            read_at,
            took: clock::steady() - began,
            lacks: lacks(self.schema, &self.cut),
            is_read_only: cell(1) == Some("on") || cell(2) == Some("true"),
            hands_out_others: self.schema.hands_out_others,
        })
    }

    /// Returns the columns of a table that are read, and their SQL list.
    fn list(&self, table: &'static str) -> (Vec<&'static str>, String) {
        let names = self.schema.existing_columns(table, columns(table));
        let list: Vec<String> = names.iter().map(|name| format!("left({name}::text, 4000)")).collect();
        (names, list.join(", "))
    }

    /// Reads the rows of a table that a transaction with this number or a later one has written,
    /// and at most one more than `most`.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn changed(
        &self,
        table: &'static str,
        since: u64,
        most: usize,
    ) -> Result<Vec<ChangedRow>, Error> {
        let (names, list) = self.list(table);
        // A mark has 32 bits of the number; its age orders it rightly.
        let sql = format!(
            "SELECT {list}, hashtext({}::text)::text, ({})::text FROM {table} \
             WHERE age(xmin) <= age('{}'::xid) LIMIT {}",
            key_column(table),
            filter(table, self.schema),
            since % (1 << 32),
            most + 1
        );
        let found = self.client.query_typed(&sql, &[]).await?;
        let text =
            |row: &tokio_postgres::Row, at: usize| -> Option<String> { row.try_get(at).ok().flatten() };
        let changed = |row: &tokio_postgres::Row| ChangedRow {
            cells: cells(&names, row),
            hash: text(row, names.len()).and_then(|hash| hash.parse().ok()).unwrap_or_default(),
            matters: text(row, names.len() + 1).as_deref() == Some("true"),
        };
        Ok(found.iter().map(changed).collect())
    }

    /// Reads a table by its key, a page at a time.
    async fn pages(&mut self, table: &'static str) -> Result<Vec<Arc<Cells>>, Error> {
        let (key, filter) = (key_column(table), filter(table, self.schema));
        let (names, list) = self.list(table);
        if !names.contains(&key) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT {list} FROM {table} WHERE {filter} AND {key}::text > $1 ORDER BY {key}::text LIMIT {PAGE}"
        );
        let mut all: Vec<Arc<Cells>> = Vec::new();
        loop {
            let last = all.last().and_then(|row| row.text(key)).unwrap_or_default().to_owned();
            let page = self.client.query_typed(&sql, &[(&last, Type::TEXT)]).await?;
            let is_last = page.len() < PAGE;
            all.extend(page.iter().map(|row| Arc::new(cells(&names, row))));
            if is_last {
                return Ok(all);
            }
            if all.len() >= MAX_ROWS {
                self.cut.push(table);
                return Ok(all);
            }
        }
    }

    /// Reads the newest event of each session, of the last day.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn events(&self) -> Result<Vec<Cells>, Error> {
        let names = ["session_id", "event_type", "reason", "created_at"];
        if !names.iter().all(|name| self.schema.has(EVENTS, name)) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT DISTINCT ON (session_id) session_id, event_type, left(reason, 200), created_at::text \
             FROM {EVENTS} WHERE created_at > now() - interval '1 day' \
             ORDER BY session_id, created_at DESC LIMIT {PAGE}"
        );
        Ok(rows(self.client, &sql).await?.into_iter().map(|row| named(&names, row)).collect())
    }

    /// Counts the messages that wait for each session.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn messages(&self) -> Result<Vec<Cells>, Error> {
        if !["target_session", "read_at", "expires_at"].iter().all(|name| self.schema.has(MESSAGES, name)) {
            return Ok(Vec::new());
        }
        let sql = format!(
            "SELECT target_session, count(*) FROM {MESSAGES} WHERE read_at IS NULL AND expires_at > now() \
             AND target_session IS NOT NULL GROUP BY target_session LIMIT {PAGE}"
        );
        let names = ["target_session", "number"];
        Ok(rows(self.client, &sql).await?.into_iter().map(|row| named(&names, row)).collect())
    }
}

fn cells(names: &[&str], row: &tokio_postgres::Row) -> Cells {
    let cell = |(at, name): (usize, &&str)| {
        let text: Option<String> = row.try_get(at).ok().flatten();
        Some(((*name).to_owned(), text?))
    };
    Cells(names.iter().enumerate().filter_map(cell).collect())
}

fn named(names: &[&str], row: Vec<Option<String>>) -> Cells {
    let cells = names.iter().zip(row).filter_map(|(name, cell)| Some(((*name).to_owned(), cell?)));
    Cells(cells.collect())
}
