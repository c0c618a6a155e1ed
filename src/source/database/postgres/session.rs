//! One connection that is kept, and opened anew after a failure.

use std::time::Duration;

use tokio::task::JoinHandle;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, Row};

use super::words::error_text;
use super::{Allowance, OpenConnection, Target, connect};

/// How long one statement may take, answer included: 20 s.
const WITHIN: Duration = Duration::from_secs(20);

/// Why a connection that answered another question is not used any more.
const OTHER: &str = "it answered a different query than the one sent";

/// The columns that are added to an answer: the question that it belongs to, and whether there is a row.
const QUESTION: &str = "claimtop_question";
const IS_ROW: &str = "claimtop_is_row";

/// One connection at a time; each statement a transaction of its own.
pub(crate) struct Session {
    target: Target,
    open: Option<Open>,
    connections: u32,
    asked: u64,
}

struct Open {
    client: Client,
    allowance: Allowance,
    driver: JoinHandle<()>,
}

impl Drop for Open {
    fn drop(&mut self) {
        self.driver.abort();
    }
}

impl Session {
    /// Creates a session without a connection.
    pub(crate) fn new(target: Target) -> Self {
        Self { target, open: None, connections: 0, asked: 0 }
    }

    /// Returns whether the next statement has to connect first.
    pub(crate) fn is_closed(&self) -> bool {
        self.open.is_none()
    }

    /// Returns how often it has connected.
    pub(crate) fn connections(&self) -> u32 {
        self.connections
    }

    /// Runs one statement with parameters that are all text. The answer names its question, so that an answer to
    /// another question is not accepted if something between here and the server repeats or withholds a message.
    ///
    /// # Errors
    /// The server cannot be reached, refuses, does not answer or answers something else, as text. It may have run the
    /// statement nevertheless.
    pub(crate) async fn query(
        &mut self,
        sql: &str,
        parameters: &[Option<String>],
    ) -> Result<Vec<Row>, String> {
        let with_question = |number: usize| {
            format!(
                "SELECT a.*, q.{QUESTION} FROM (SELECT ${number}::text AS {QUESTION}) q \
                 LEFT JOIN (SELECT r.*, true AS {IS_ROW} FROM ({sql}) r) a ON true"
            )
        };
        let (open, question, mut rows) = self.ask(with_question, parameters).await?;
        let is_answer = |row: &Row| row.try_get(QUESTION).ok() == Some(question.as_str());
        if rows.is_empty() || !rows.iter().all(is_answer) {
            return Err(OTHER.to_owned());
        }
        rows.retain(|row| row.try_get(IS_ROW).ok() == Some(Some(true)));
        self.open = Some(open);
        Ok(rows)
    }

    /// Queries one text by an expression, as [`Self::query`] does, with fewer bytes. `None` if there is no text.
    ///
    /// # Errors
    /// As for [`Self::query`].
    pub(crate) async fn text(
        &mut self,
        expression: &str,
        parameters: &[Option<String>],
    ) -> Result<Option<String>, String> {
        let with_question = |number: usize| format!("SELECT ({expression})||' '||${number}");
        let (open, question, rows) = self.ask(with_question, parameters).await?;
        let text: Option<String> = rows.first().and_then(|row| row.try_get(0).ok()).flatten();
        let answer = match &text {
            Some(text) => {
                Some(text.strip_suffix(&question).and_then(|text| text.strip_suffix(' ')).ok_or(OTHER)?)
            }
            None => None,
        };
        self.open = Some(open);
        Ok(answer.map(str::to_owned))
    }

    /// Runs a statement with the number of the parameter that holds its question. Returns the question and the rows,
    /// with the connection, which is closed if it is not kept.
    async fn ask(
        &mut self,
        sql: impl FnOnce(usize) -> String,
        parameters: &[Option<String>],
    ) -> Result<(Open, String, Vec<Row>), String> {
        let open = match self.open.take().filter(|open| !open.client.is_closed()) {
            Some(open) => open,
            None => {
                let open = self.connect().await?;
                self.connections = self.connections.wrapping_add(1);
                open
            }
        };
        open.allowance.renew();
        self.asked = self.asked.wrapping_add(1);
        let question = self.asked.to_string();
        let mut bound: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
        bound.push((&question, Type::TEXT));
        let sql = sql(bound.len());
        let rows = match tokio::time::timeout(WITHIN, open.client.query_typed(&sql, &bound)).await {
            Ok(answer) => answer.map_err(|error| error_text(&error))?,
            Err(_) => return Err(format!("no answer within {} s", WITHIN.as_secs())),
        };
        Ok((open, question, rows))
    }

    async fn connect(&self) -> Result<Open, String> {
        let OpenConnection { client, connection, allowance } = connect(&self.target).await?;
        let driver = tokio::spawn(async move {
            // The interrupted statement reports what ended the connection.
            let _ = connection.await;
        });
        Ok(Open { client, allowance, driver })
    }
}
