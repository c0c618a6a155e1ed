//! Error texts.

use std::error::Error as _;

use tokio_postgres::Error;

use crate::core::model::text::shown;

/// Returns an error as text, in the server's words if it has some.
pub(crate) fn error_text(error: &Error) -> String {
    if let Some(error) = error.as_db_error() {
        return shown(&format!("{} ({})", error.message(), error.code().code()));
    }
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    shown(&text)
}
