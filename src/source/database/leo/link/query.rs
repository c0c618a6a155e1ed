//! Waits for the server, for a limited time.

use std::time::Duration;

use futures_util::Stream;
use tokio_postgres::{AsyncMessage, Error};

use crate::source::database::postgres::words::error_text;

/// How long one whole read may take: 20 s.
const READ_WITHIN: Duration = Duration::from_secs(20);

/// Returns the messages that the server sends unasked; polling it also drives the connection.
pub(crate) fn messages(
    connection: &mut tokio_postgres::Connection<
        impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
        impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    >,
) -> impl Stream<Item = Result<AsyncMessage, Error>> {
    futures_util::stream::poll_fn(move |cx| connection.poll_message(cx))
}

/// Runs a query with a deadline.
pub(crate) async fn with_deadline<T>(query: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match tokio::time::timeout(READ_WITHIN, query).await {
        Ok(done) => done.map_err(|error| error_text(&error)),
        Err(_) => Err(format!("no answer within {} s", READ_WITHIN.as_secs())),
    }
}
