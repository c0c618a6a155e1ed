//! One connection of a login, like claimtop's own: each call is an unnamed statement.

use serde_json::Value;
use tokio::runtime::Runtime;
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{Client, NoTls};

use crate::cluster::Database;

pub(crate) struct Login {
    runtime: Runtime,
    client: Client,
}

impl Login {
    pub(crate) fn of(database: &Database, user: &str) -> Self {
        Self::at(&database.url_of(user, database.cluster.port))
    }

    pub(crate) fn at(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    /// Calls a function of the fleet, whose answer is JSON.
    #[track_caller]
    pub(crate) fn call(&self, function: &str, parameters: &[Option<&str>]) -> Value {
        let answer = self.try_call(function, parameters).unwrap();
        serde_json::from_str(&answer).unwrap()
    }

    /// Calls a function of the fleet; returns the server's error if it refuses.
    pub(crate) fn try_call(&self, function: &str, parameters: &[Option<&str>]) -> Result<String, String> {
        let bound: Vec<(&(dyn ToSql + Sync), Type)> =
            parameters.iter().map(|text| (text as &(dyn ToSql + Sync), Type::TEXT)).collect();
        let sql = format!("SELECT claimtop.{function}::text");
        let rows =
            self.runtime.block_on(self.client.query_typed(&sql, &bound)).map_err(|error| words(&error))?;
        Ok(rows[0].try_get::<_, Option<String>>(0).unwrap().unwrap_or_default())
    }

    /// Runs any SQL, and returns the cells of its rows, one row per line.
    pub(crate) fn sql(&self, sql: &str) -> Result<String, String> {
        let messages = self.runtime.block_on(self.client.simple_query(sql)).map_err(|error| words(&error))?;
        let rows = messages.iter().filter_map(|message| match message {
            tokio_postgres::SimpleQueryMessage::Row(row) => {
                Some((0..row.len()).map(|at| row.get(at).unwrap_or("-")).collect::<Vec<_>>().join("|"))
            }
            tokio_postgres::SimpleQueryMessage::CommandComplete(_)
            | tokio_postgres::SimpleQueryMessage::RowDescription(_)
            | _ => None,
        });
        Ok(rows.collect::<Vec<_>>().join("\n"))
    }
}

fn words(error: &tokio_postgres::Error) -> String {
    error
        .as_db_error()
        .map_or_else(|| error.to_string(), |error| format!("{} ({})", error.message(), error.code().code()))
}
