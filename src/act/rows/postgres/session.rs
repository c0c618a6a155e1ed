//! One connection, on which each operation is one transaction.

use std::sync::Arc;
use std::time::Duration;

use tokio::runtime::Runtime;
use tokio::task::JoinHandle;
use tokio_postgres::error::SqlState;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Error};

use crate::act::error::ActionError;
use crate::act::rows::postgres::row::{key, keys};
use crate::core::model::{Columns, RowChange, Value};
use crate::format::leo::database::{FILE_LOCKS, relevant};
use crate::source::database::leo::schema::Schema;
use crate::source::database::postgres;
use crate::source::database::postgres::{Allowance, OpenConnection, Target};

/// How long one statement may take, answer included: 10 s.
const WITHIN: Duration = Duration::from_secs(10);

/// How long to wait for a lock that another session holds: 3 s.
const PATIENCE: &str = "3s";

/// One connection. Dropping it closes it, and the server discards uncommitted changes.
pub(crate) struct Session {
    runtime: Arc<Runtime>,
    client: Client,
    allowance: Allowance,
    driver: JoinHandle<()>,
    /// The schema of the deployment.
    pub(crate) schema: Schema,
}

impl Session {
    /// Connects, and reads the schema.
    ///
    /// # Errors
    /// There is no connection.
    pub(crate) fn open(runtime: &Arc<Runtime>, target: &Target) -> Result<Self, ActionError> {
        let own = Arc::clone(runtime);
        runtime.block_on(async {
            let refused =
                |why: String| ActionError::Refused(format!("failed to connect to {}: {why}", target.name));
            let OpenConnection { client, connection, allowance } =
                postgres::connect(target).await.map_err(refused)?;
            let driver = tokio::spawn(async move {
                // The interrupted query reports what ended it.
                let _ = connection.await;
            });
            let schema = tokio::time::timeout(WITHIN, Schema::probe(&client)).await;
            match schema {
                Ok(Ok(schema)) => Ok(Self { runtime: own, client, allowance, driver, schema }),
                Ok(Err(error)) => Err(refused(crate::source::database::postgres::words::error_text(&error))),
                Err(_) => Err(refused("no answer".to_owned())),
            }
        })
    }

    fn wait<T>(&self, query: impl Future<Output = Result<T, Error>>) -> Result<T, StatementError> {
        self.runtime.block_on(async {
            match tokio::time::timeout(WITHIN, query).await {
                Ok(done) => done.map_err(StatementError::Error),
                Err(_) => Err(StatementError::Silent),
            }
        })
    }

    /// Begins a read-committed transaction with a limit on waiting for locks.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn begin(&self) -> Result<(), ActionError> {
        self.allowance.renew();
        let sql = format!(
            "BEGIN TRANSACTION ISOLATION LEVEL READ COMMITTED; SET LOCAL lock_timeout = '{PATIENCE}'; \
             SET LOCAL statement_timeout = '8s'; SET LOCAL idle_in_transaction_session_timeout = '60s'; \
             SET LOCAL TimeZone = 'UTC'; SET LOCAL DateStyle = 'ISO, YMD'"
        );
        self.run(&sql)
    }

    /// Runs statements that return nothing.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn run(&self, sql: &str) -> Result<(), ActionError> {
        self.wait(self.client.batch_execute(sql)).map_err(trouble)
    }

    /// Takes the locks that LEO's own functions take on these items of work, until the end of the
    /// transaction.
    ///
    /// # Errors
    /// Another session holds one for too long.
    pub(crate) fn lock(&self, changes: &[RowChange]) -> Result<(), ActionError> {
        for key in keys(changes) {
            self.query("SELECT pg_advisory_xact_lock(hashtext($1))::text", &[Some(key.to_owned())])?;
        }
        Ok(())
    }

    /// Runs one statement with parameters that are all text, and returns the first cell of each
    /// row.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn query(
        &self,
        sql: &str,
        parameters: &[Option<String>],
    ) -> Result<Vec<Option<String>>, ActionError> {
        self.try_query(sql, parameters).map_err(trouble)
    }

    /// Runs one statement as [`Session::query`] does, and returns the server's own error.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn try_query(
        &self,
        sql: &str,
        parameters: &[Option<String>],
    ) -> Result<Vec<Option<String>>, StatementError> {
        let bound: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
        let rows = self.wait(self.client.query_typed(sql, &bound))?;
        Ok(rows.iter().map(|row| row.try_get(0).ok().flatten()).collect())
    }

    /// Reads the columns of a row that matter.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn row(&self, table: &str, id: &str, lock: &str) -> Result<Option<Columns>, ActionError> {
        match table {
            FILE_LOCKS => self.select(table, id, &self.schema.all(table), lock),
            _ => self.columns(table, id, relevant(table), lock),
        }
    }

    /// Reads those of some columns of a row that exist.
    ///
    /// # Errors
    /// The server refuses.
    pub(crate) fn columns(
        &self,
        table: &str,
        id: &str,
        columns: &[&'static str],
        lock: &str,
    ) -> Result<Option<Columns>, ActionError> {
        self.select(table, id, &self.schema.existing_columns(table, columns), lock)
    }

    fn select(
        &self,
        table: &str,
        id: &str,
        names: &[&str],
        lock: &str,
    ) -> Result<Option<Columns>, ActionError> {
        if names.is_empty() {
            return Ok(None);
        }
        let list = names.iter().map(|name| format!("{}::text", quoted(name))).collect::<Vec<_>>().join(", ");
        let sql = format!("SELECT {list} FROM {table} WHERE {} = $1 {lock}", key(table));
        let rows = self.wait(self.client.query_typed(&sql, &[(&id, Type::TEXT)])).map_err(trouble)?;
        let cell = |row: &tokio_postgres::Row, at: usize| -> Value {
            let text: Option<String> = row.try_get(at).ok().flatten();
            text.map_or(Value::Null, Value::Text)
        };
        Ok(rows.first().map(|row| {
            names.iter().enumerate().map(|(at, name)| ((*name).to_owned(), cell(row, at))).collect()
        }))
    }

    /// Commits.
    ///
    /// # Errors
    /// The server refuses, and nothing was changed; or the outcome is unknown.
    pub(crate) fn commit(&self) -> Result<(), ActionError> {
        match self.wait(self.client.batch_execute("COMMIT")) {
            Ok(()) => Ok(()),
            Err(StatementError::Error(error)) if is_refusal(&error) => {
                Err(trouble(StatementError::Error(error)))
            }
            Err(failed) => Err(ActionError::Unsure(format!("failed to commit: {}", failed.words()))),
        }
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        // Nothing drives the connection from here on, so it is closed now.
        self.driver.abort();
        self.runtime.block_on(async {
            let _ = (&mut self.driver).await;
        });
    }
}

/// Quotes a name for SQL.
pub(crate) fn quoted(name: &str) -> String {
    format!("\"{}\"", name.replace('"', "\"\""))
}

/// Why a statement returned nothing.
pub(crate) enum StatementError {
    /// The error of the server or the connection.
    Error(Error),
    /// No answer came in time.
    Silent,
}

impl StatementError {
    fn words(&self) -> String {
        match self {
            Self::Error(error) => crate::source::database::postgres::words::error_text(error),
            Self::Silent => format!("no answer within {} s", WITHIN.as_secs()),
        }
    }

    /// Returns whether a check of the table failed.
    pub(crate) fn is_check(&self) -> bool {
        match self {
            Self::Error(error) => error.code() == Some(&SqlState::CHECK_VIOLATION),
            Self::Silent => false,
        }
    }
}

/// Returns whether the server itself refuses, and is not about to end: then nothing is committed.
fn is_refusal(error: &Error) -> bool {
    // Class 57P is the operator's: a shutdown can come before or after the commit.
    error.code().is_some_and(|code| !code.code().starts_with("57P") && !code.code().starts_with("08"))
}

/// Describes what went wrong before the commit: nothing was changed.
pub(crate) fn trouble(failed: StatementError) -> ActionError {
    let words = failed.words();
    let is_busy = match &failed {
        StatementError::Error(error) => error.code().is_some_and(|code| BUSY.contains(code)),
        StatementError::Silent => false,
    };
    match is_busy {
        true => ActionError::Changed(format!("another client is changing it: {words}")),
        false => ActionError::Refused(format!("the database says: {words}")),
    }
}

/// The server's errors when another session is at work on the same rows.
const BUSY: [SqlState; 4] = [
    SqlState::LOCK_NOT_AVAILABLE,
    SqlState::T_R_DEADLOCK_DETECTED,
    SqlState::T_R_SERIALIZATION_FAILURE,
    SqlState::UNIQUE_VIOLATION,
];
