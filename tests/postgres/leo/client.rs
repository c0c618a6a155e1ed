//! A session of LEO's, which accesses the database as its own hooks do.

use tokio::runtime::Runtime;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

use crate::cluster::Database;

/// One connection of a session.
pub(crate) struct Session {
    runtime: Runtime,
    client: Client,
}

impl Session {
    pub(crate) fn connect(database: &Database) -> Self {
        Self::connect_at(&database.url())
    }

    pub(crate) fn connect_at(url: &str) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let client = runtime.block_on(async {
            let (client, connection) = tokio_postgres::connect(url, NoTls).await.unwrap();
            tokio::spawn(connection);
            client
        });
        Self { runtime, client }
    }

    /// Runs SQL and returns the first cell of the last row.
    pub(crate) fn sql(&self, sql: &str) -> Option<String> {
        let messages = self.runtime.block_on(self.client.simple_query(sql)).unwrap();
        let rows = messages.iter().filter_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).map(str::to_owned)),
            SimpleQueryMessage::CommandComplete(_) | SimpleQueryMessage::RowDescription(_) | _ => None,
        });
        rows.last().flatten()
    }
}
