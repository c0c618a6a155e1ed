//! Reads LEO's tables at one moment, page by page and bounded, and asks cheaply for news.

use std::time::Duration;

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use tokio_postgres::types::Type;
use tokio_postgres::{Client, Error};

use super::schema::{Schema, rows};
use crate::format::cells::Cells;
use crate::format::leo::database::{
    DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS, Tables, columns, key_column,
};
use crate::format::time;
use crate::source::clock;

/// The most rows of one table that are read.
const MAX_ROWS: usize = 50_000;

/// How many rows are read at once.
const PAGE: usize = 2_000;

/// How long the server may take for one statement: 8 s.
pub(crate) const STATEMENT_WITHIN: Duration = Duration::from_secs(8);

/// What was read at one moment.
#[derive(Clone, Debug)]
pub(crate) struct Read {
    /// The rows.
    pub(crate) tables: Tables,
    /// By how much this machine's clock is ahead of the server's.
    pub(crate) ahead: SignedDuration,
    /// When it was read, by this machine's clock.
    pub(crate) read_at: Timestamp,
    /// How long it took.
    pub(crate) took: Duration,
    /// Why it is less than everything.
    pub(crate) lacks: Option<String>,
    /// Whether the server lets this role only read.
    pub(crate) is_read_only: bool,
    /// Whether this deployment tells clashing sessions to take over the other's ID.
    pub(crate) hands_out_others: bool,
}

/// Begins a transaction that sees one moment and cannot write. All settings are the
/// transaction's own, so that a pooler which gives the connection to others harms nobody.
fn begin() -> String {
    format!(
        "BEGIN TRANSACTION ISOLATION LEVEL REPEATABLE READ READ ONLY; \
         SET LOCAL statement_timeout = {}; SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'",
        STATEMENT_WITHIN.as_millis()
    )
}

/// Reads everything that matters.
///
/// # Errors
/// A query failed, or there is no table of sessions.
pub(crate) async fn read(client: &Client, schema: &Schema) -> Result<Read, Error> {
    let began = clock::steady();
    client.batch_execute(&begin()).await?;
    let mut reader = Reader { client, schema, cut: Vec::new() };
    let tables = reader.tables().await?;
    let server = rows(
        client,
        "SELECT clock_timestamp()::text, current_setting('default_transaction_read_only'), \
         pg_is_in_recovery()::text",
    )
    .await?;
    let read_at = clock::now();
    let cut = reader.cut;
    client.batch_execute("COMMIT").await?;
    let cell = |at: usize| server.first().and_then(|row| row.get(at)?.as_deref());
    let server_at = cell(0).and_then(|text| time::any(text, &TimeZone::UTC));
    Ok(Read {
        tables,
        ahead: server_at.map_or(SignedDuration::ZERO, |at| read_at.duration_since(at)),
        read_at,
        took: clock::steady() - began,
        lacks: lacks(schema, &cut),
        is_read_only: cell(1) == Some("on") || cell(2) == Some("true"),
        hands_out_others: schema.hands_out_others,
    })
}

fn lacks(schema: &Schema, cut: &[&str]) -> Option<String> {
    if !schema.has(SESSIONS, "session_id") {
        return Some(format!("there is no table {SESSIONS}, or this role may not read it"));
    }
    (!cut.is_empty())
        .then(|| format!("more than {MAX_ROWS} rows of {}; the others were not read", cut.join(", ")))
}

struct Reader<'a> {
    client: &'a Client,
    schema: &'a Schema,
    /// The tables of which rows were left out.
    cut: Vec<&'static str>,
}

impl Reader<'_> {
    async fn tables(&mut self) -> Result<Tables, Error> {
        let owners = self.owners();
        let key = if self.schema.has(SESSIONS, "sd_key") { "sd_key" } else { "sd_id" };
        let holds = match owners.is_empty() {
            true => "false".to_owned(),
            false => format!("session_id IN ({owners})"),
        };
        let sessions = format!("(status <> 'released' OR {key} IS NOT NULL OR {holds})");
        let mirrored = format!("IN (SELECT {key} FROM {SESSIONS} WHERE {key} IS NOT NULL)");
        let directives =
            format!("(claiming_session_id IS NOT NULL OR status = 'in_progress' OR sd_key {mirrored})");
        let fixes = format!("(claiming_session_id IS NOT NULL OR status = 'in_progress' OR id {mirrored})");
        Ok(Tables {
            sessions: self.pages(SESSIONS, &sessions).await?,
            directives: self.pages(DIRECTIVES, &directives).await?,
            quick_fixes: self.pages(QUICK_FIXES, &fixes).await?,
            file_locks: self.pages(FILE_LOCKS, "true").await?,
            events: self.events().await?,
            messages: self.messages().await?,
            unread: [SESSIONS, DIRECTIVES, QUICK_FIXES]
                .into_iter()
                .filter(|table| !self.schema.has(table, key_column(table)) || self.cut.contains(table))
                .collect(),
        })
    }

    /// Returns a query for all sessions that items name as their owners.
    fn owners(&self) -> String {
        let named = |table: &&str| self.schema.has(table, "claiming_session_id");
        let parts = [DIRECTIVES, QUICK_FIXES].into_iter().filter(named).map(|table| {
            format!("SELECT claiming_session_id FROM {table} WHERE claiming_session_id IS NOT NULL")
        });
        parts.collect::<Vec<_>>().join(" UNION ")
    }

    /// Reads a table by its key, a page at a time.
    async fn pages(&mut self, table: &'static str, filter: &str) -> Result<Vec<Cells>, Error> {
        let key = key_column(table);
        let names = self.schema.of(table, columns(table));
        if !names.contains(&key) {
            return Ok(Vec::new());
        }
        let list =
            names.iter().map(|name| format!("left({name}::text, 4000)")).collect::<Vec<_>>().join(", ");
        let sql = format!(
            "SELECT {list} FROM {table} WHERE {filter} AND {key}::text > $1 ORDER BY {key}::text LIMIT {PAGE}"
        );
        let mut all: Vec<Cells> = Vec::new();
        loop {
            let last = all.last().and_then(|row| row.text(key)).unwrap_or_default().to_owned();
            let page = self.client.query_typed(&sql, &[(&last, Type::TEXT)]).await?;
            let is_last = page.len() < PAGE;
            all.extend(page.iter().map(|row| cells(&names, row)));
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
    async fn events(&self) -> Result<Vec<Cells>, Error> {
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
    async fn messages(&self) -> Result<Vec<Cells>, Error> {
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

/// Returns what changes when anything that matters does: one row for each table. The newest
/// `updated_at` alone would not do: nothing obliges a writer to set it.
///
/// # Errors
/// A query failed.
pub(crate) async fn stamp(client: &Client, schema: &Schema) -> Result<Vec<Vec<Option<String>>>, Error> {
    let parts: Vec<String> = [SESSIONS, DIRECTIVES, QUICK_FIXES, FILE_LOCKS]
        .into_iter()
        .filter_map(|table| stamp_of(table, schema))
        .collect();
    if parts.is_empty() {
        return Ok(Vec::new());
    }
    rows(client, &parts.join(" UNION ALL ")).await
}

/// The columns of which every change matters, beside the newest of each time.
fn hashed(table: &str) -> &'static [&'static str] {
    match table {
        SESSIONS => &["session_id", "sd_key", "sd_id", "status", "pid", "released_reason", "worktree_path"],
        DIRECTIVES => &["sd_key", "status", "claiming_session_id"],
        QUICK_FIXES => &["id", "status", "claiming_session_id", "pr_url", "commit_sha"],
        FILE_LOCKS => &["file_path", "holder_session_id"],
        _ => &[],
    }
}

/// The times of which a newer one matters.
const TIMES: [&str; 5] = [
    "updated_at",
    "heartbeat_at",
    "process_alive_at",
    "expected_silence_until",
    "current_tool_expected_end_at",
];

fn stamp_of(table: &'static str, schema: &Schema) -> Option<String> {
    let texts = schema.of(table, hashed(table));
    if texts.is_empty() {
        return None;
    }
    let times = schema.of(table, &TIMES);
    let newest = times.iter().map(|name| format!("max({name})")).collect::<Vec<_>>().join(", ");
    let newest = if times.is_empty() { "NULL".to_owned() } else { format!("concat_ws(' ', {newest})") };
    Some(format!(
        "SELECT '{table}', count(*), {newest}, sum(hashtext(concat_ws('|', {}))) FROM {table}",
        texts.join(", ")
    ))
}
