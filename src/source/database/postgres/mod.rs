//! Connects to PostgreSQL servers: one attempt, bounded in time, with TLS as requested.
//!
//! A pooler in between may give each transaction to another connection. So no statement has a name, settings are those
//! of one transaction, and nothing is kept on the server.

pub(crate) mod bounded;
pub(crate) mod dial;
pub(crate) mod given;
pub(crate) mod password;
pub(crate) mod session;
pub(crate) mod target;
pub(crate) mod tls;
pub(crate) mod words;

use std::time::Duration;

use tokio_postgres::config::SslMode;
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection};

pub(crate) use self::bounded::Allowance;
use self::bounded::BoundedWire;
use self::dial::ServerAddress;
pub use self::given::{ConnectionDefaults, TargetError};
pub use self::target::{Target, Tls};
use self::tls::Connector;
use crate::source::database::postgres::words::error_text;

/// How long one attempt to connect may take: 5 s.
pub(crate) const CONNECT_WITHIN: Duration = Duration::from_secs(5);

/// A connection with its own end of the wire, which the caller must drive.
pub(crate) struct OpenConnection {
    pub(crate) client: Client,
    /// The wire's end.
    pub(crate) connection: Connection<BoundedWire, NoTlsStream>,
    /// How much the server may still send; a caller that sends a new request renews it.
    pub(crate) allowance: Allowance,
}

/// Runs a command's requests to a server on this thread until they are done.
///
/// # Errors
/// The work fails, or the system gives no means to wait for a connection.
pub(crate) fn run<T>(work: impl Future<Output = Result<T, String>>) -> Result<T, String> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(|error| format!("failed to start a connection: {error}"))?;
    runtime.block_on(work)
}

/// Connects to the first of the target's hosts that accepts the connection.
///
/// # Errors
/// The reason, as text without any secret.
pub(crate) async fn connect(target: &Target) -> Result<OpenConnection, String> {
    let mut config = target.config.clone();
    if config.get_password().is_none()
        && let Some(password) = password::find(target)
    {
        config.password(password.0);
    }
    // TLS is set up before the wire is handed over, so that the traffic can be bounded.
    config.ssl_mode(SslMode::Disable).application_name("claimtop");
    let connector = Connector::new(target.tls, target.root_cert.as_deref())?;
    match tokio::time::timeout(CONNECT_WITHIN, first(&config, target.tls, &connector)).await {
        Ok(connected) => connected,
        Err(_) => Err(format!("no answer within {} s", CONNECT_WITHIN.as_secs())),
    }
}

async fn first(config: &Config, tls: Tls, connector: &Connector) -> Result<OpenConnection, String> {
    let mut why = "it names no host".to_owned();
    for place in dial::places(config) {
        match one(config, &place, tls, connector).await {
            Ok(connected) => return Ok(connected),
            Err(error) => why = error,
        }
    }
    Err(why)
}

async fn one(
    config: &Config,
    place: &ServerAddress,
    tls: Tls,
    connector: &Connector,
) -> Result<OpenConnection, String> {
    let wire = place.dial(tls, connector).await?;
    let (bounded, allowance) = BoundedWire::new(wire);
    let connected = config.connect_raw(bounded, tokio_postgres::NoTls).await;
    let (client, mut connection) = connected.map_err(|error| error_text(&error))?;
    dial::check_kind(config, &client, &mut connection).await?;
    Ok(OpenConnection { client, connection, allowance })
}
