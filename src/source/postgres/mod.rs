//! Connects to PostgreSQL servers: one attempt, bounded in time, with TLS as it was asked for.
//!
//! What may stand in between is a pooler that gives each transaction to another connection. So no
//! statement has a name, settings are those of one transaction, and nothing is kept on the server.

mod password;
mod target;
mod tls;

use std::error::Error as _;
use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::{Client, Connection, Error, Socket};

pub use self::target::{Given, Target, TargetError, Tls};
use self::tls::{Connector, Stream};
use crate::core::text::shown;

/// How long one attempt to connect may take: 5 s.
pub const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A connection with its own end of the wire, which somebody must drive.
pub(crate) type Connected = (Client, Connection<Socket, Stream>);

/// Connects.
///
/// # Errors
/// Why not, in words without any secret.
pub(crate) async fn connect(target: &Target) -> Result<Connected, String> {
    let mut config = target.config.clone();
    if config.get_password().is_none()
        && let Some(password) = password::find(target)
    {
        config.password(password.0);
    }
    config.ssl_mode(match target.tls {
        Tls::Disable => SslMode::Disable,
        Tls::Prefer => SslMode::Prefer,
        Tls::Require | Tls::VerifyCa | Tls::VerifyFull => SslMode::Require,
    });
    config.connect_timeout(CONNECT_WITHIN).application_name("claimtop");
    let connector = Connector::new(target.tls, target.root_cert.as_deref())?;
    match tokio::time::timeout(CONNECT_WITHIN, config.connect(connector)).await {
        Ok(connected) => connected.map_err(|error| words(&error)),
        Err(_) => Err(format!("no answer within {} s", CONNECT_WITHIN.as_secs())),
    }
}

/// Returns what went wrong, in the server's words where it has some.
pub(crate) fn words(error: &Error) -> String {
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
