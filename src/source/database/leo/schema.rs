//! The tables, columns and functions of a deployment of LEO, which differ from one to the next.

use std::collections::{BTreeMap, BTreeSet};

use tokio_postgres::{Client, Error, SimpleQueryMessage};

use crate::format::leo::database::{DIRECTIVES, EVENTS, FILE_LOCKS, MESSAGES, QUICK_FIXES, SESSIONS};

/// The tables that are looked for.
pub(crate) const TABLES: [&str; 6] = [SESSIONS, DIRECTIVES, QUICK_FIXES, FILE_LOCKS, EVENTS, MESSAGES];

/// LEO's tables and functions in a database.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Schema {
    tables: BTreeMap<String, BTreeSet<String>>,
    /// Each function, with the most arguments that one of its name takes.
    functions: BTreeMap<String, u32>,
    /// Whether a session that clashes is directed to take over the other session's ID.
    pub(crate) hands_out_others: bool,
    /// The channels on which triggers notify of changes.
    pub(crate) channels: Vec<String>,
}

impl Schema {
    /// Queries the tables, columns and functions that this role can see.
    ///
    /// # Errors
    /// A query failed.
    pub(crate) async fn probe(client: &Client) -> Result<Self, Error> {
        let mut schema = Self::default();
        let tables = TABLES.map(|table| format!("'{table}'")).join(", ");
        let columns = format!(
            "SELECT c.relname, a.attname FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid \
             WHERE c.relname IN ({tables}) AND c.relkind IN ('r', 'p', 'v', 'm', 'f') \
             AND (a.attnum > 0 OR a.attname = 'xmin' AND c.relkind IN ('r', 'p')) \
             AND NOT a.attisdropped AND pg_table_is_visible(c.oid) \
             AND has_column_privilege(c.oid, a.attnum, 'SELECT')"
        );
        for row in rows(client, &columns).await? {
            if let [Some(table), Some(column)] = row.as_slice() {
                schema.tables.entry(table.clone()).or_default().insert(column.clone());
            }
        }
        let functions = "SELECT proname, max(pronargs), bool_or(prosrc LIKE '%conflict_session_id%') FROM pg_proc \
             WHERE proname IN ('release_sd', 'claim_sd', 'create_or_replace_session') \
             AND pg_function_is_visible(oid) GROUP BY proname";
        for row in rows(client, functions).await? {
            if let [Some(name), Some(arguments), conflict] = row.as_slice() {
                schema.functions.insert(name.clone(), arguments.parse().unwrap_or(0));
                schema.hands_out_others |= conflict.as_deref() == Some("t");
            }
        }
        schema.channels = channels(client, &tables).await?;
        Ok(schema)
    }

    /// Returns whether a table has a column that may be read.
    pub(crate) fn has(&self, table: &str, column: &str) -> bool {
        self.tables.get(table).is_some_and(|columns| columns.contains(column))
    }

    /// Returns all columns of a table that may be read, without the server's own mark.
    pub(crate) fn all(&self, table: &str) -> Vec<&str> {
        let columns = self.tables.get(table).into_iter().flatten();
        columns.map(String::as_str).filter(|column| *column != "xmin").collect()
    }

    /// Returns those of the given columns that exist.
    pub(crate) fn existing_columns<'a>(&self, table: &str, columns: &[&'a str]) -> Vec<&'a str> {
        columns.iter().copied().filter(|column| self.has(table, column)).collect()
    }

    /// Returns the most arguments that a function takes; `None` if it does not exist.
    pub(crate) fn arguments(&self, function: &str) -> Option<u32> {
        self.functions.get(function).copied()
    }
}

/// Finds the channels that triggers on these tables notify.
async fn channels(client: &Client, tables: &str) -> Result<Vec<String>, Error> {
    let sql = format!(
        "SELECT DISTINCT substring(p.prosrc from $$pg_notify\\(\\s*'([a-z_][a-z0-9_]*)'$$) FROM pg_proc p \
         JOIN pg_trigger t ON t.tgfoid = p.oid JOIN pg_class c ON c.oid = t.tgrelid \
         WHERE c.relname IN ({tables}) AND p.prosrc LIKE '%pg_notify%'"
    );
    let found = rows(client, &sql).await?;
    Ok(found.into_iter().flatten().flatten().collect())
}

/// Runs a query and returns all its cells as text.
///
/// # Errors
/// The query failed.
pub(crate) async fn rows(client: &Client, sql: &str) -> Result<Vec<Vec<Option<String>>>, Error> {
    let messages = client.simple_query(sql).await?;
    let cells = |row: &tokio_postgres::SimpleQueryRow| {
        (0..row.len()).map(|at| row.get(at).map(str::to_owned)).collect()
    };
    let row = |message: &SimpleQueryMessage| match message {
        SimpleQueryMessage::Row(row) => Some(cells(row)),
        SimpleQueryMessage::CommandComplete(_) | SimpleQueryMessage::RowDescription(_) | _ => None,
    };
    Ok(messages.iter().filter_map(row).collect())
}
