//! Applies a migration of the fleet's schema: all of it, or nothing.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio_postgres::AsyncMessage;

use crate::core::model::text::shown;
use crate::source::database::postgres;
use crate::source::database::postgres::words::error_text;
use crate::source::database::postgres::{OpenConnection, Target};

/// How long a migration may take, waiting for others included: 60 s.
const WITHIN: Duration = Duration::from_secs(60);

/// The most notes of the server that are kept.
const MOST_NOTES: usize = 100;

/// Runs a script that is one transaction, and returns the server's notices.
///
/// # Errors
/// The server cannot be reached or refuses, in words; nothing was changed then.
pub(crate) fn apply(target: &Target, sql: &str) -> Result<Vec<String>, String> {
    postgres::run(async {
        let OpenConnection { client, mut connection, allowance } = postgres::connect(target).await?;
        let notes = Arc::<Mutex<Vec<String>>>::default();
        let kept = Arc::clone(&notes);
        tokio::spawn(async move {
            // An error that ends the connection is reported by the pending query.
            while let Some(Ok(message)) = std::future::poll_fn(|cx| connection.poll_message(cx)).await {
                if let AsyncMessage::Notice(notice) = message {
                    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
                    if kept.len() < MOST_NOTES {
                        kept.push(shown(notice.message()));
                    }
                }
            }
        });
        allowance.renew();
        match tokio::time::timeout(WITHIN, client.batch_execute(sql)).await {
            Ok(done) => done.map_err(|error| error_text(&error))?,
            Err(_) => return Err(format!("no answer within {} s", WITHIN.as_secs())),
        }
        let notes = notes.lock().unwrap_or_else(PoisonError::into_inner).clone();
        Ok(notes)
    })
}
