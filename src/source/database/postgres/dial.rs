//! Dials a server: the host, its socket, and TLS as requested.

use std::path::PathBuf;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpStream, UnixStream};
use tokio_postgres::config::{Host, TargetSessionAttrs};
use tokio_postgres::tls::NoTlsStream;
use tokio_postgres::{Client, Config, Connection, SimpleQueryMessage};

use super::bounded::BoundedWire;
use super::target::{DEFAULT_PORT, Tls};
use super::tls::Connector;
use crate::source::database::postgres::bounded::Wire;
use crate::source::database::postgres::words::error_text;

/// Asks whether the server can do TLS (PostgreSQL's protocol, `SSLRequest`): the length, and a version that will never
/// exist.
const TLS_REQUEST: [u8; 8] = [0, 0, 0, 8, 0x04, 0xd2, 0x16, 0x2f];

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Wire for T {}

/// Where a server may listen.
pub(crate) enum ServerAddress {
    /// A host, the name that its certificate must bear, and a port.
    Tcp { host: String, name: String, port: u16 },
    /// A socket in a folder.
    Socket(PathBuf),
}

/// Returns the places where servers listen by a configuration, in its order.
pub(crate) fn places(config: &Config) -> Vec<ServerAddress> {
    let (hosts, addresses, ports) = (config.get_hosts(), config.get_hostaddrs(), config.get_ports());
    let place = |at: usize| {
        let port = ports.get(at).or_else(|| ports.first()).copied().unwrap_or(DEFAULT_PORT);
        let address = addresses.get(at).map(ToString::to_string);
        match (hosts.get(at), address) {
            (Some(Host::Unix(folder)), _) => {
                Some(ServerAddress::Socket(folder.join(format!(".s.PGSQL.{port}"))))
            }
            (Some(Host::Tcp(name)), address) => Some(ServerAddress::Tcp {
                host: address.unwrap_or_else(|| name.clone()),
                name: name.clone(),
                port,
            }),
            (None, Some(host)) => Some(ServerAddress::Tcp { name: host.clone(), host, port }),
            (None, None) => None,
        }
    };
    (0..hosts.len().max(addresses.len())).filter_map(place).collect()
}

impl ServerAddress {
    /// Connects, and protects the wire if that is wanted and possible.
    ///
    /// # Errors
    /// The reason, as text.
    pub(crate) async fn dial(&self, tls: Tls, connector: &Connector) -> Result<Box<dyn Wire>, String> {
        let failed = |error: std::io::Error| format!("error connecting to server: {error}");
        match (self, tls) {
            (Self::Socket(path), Tls::Disable | Tls::Prefer) => {
                Ok(Box::new(UnixStream::connect(path).await.map_err(failed)?))
            }
            (Self::Socket(_), Tls::Require | Tls::VerifyCa | Tls::VerifyFull) => {
                Err("there is no TLS over a socket file".to_owned())
            }
            (Self::Tcp { host, name, port }, tls) => {
                let wire = TcpStream::connect((host.as_str(), *port)).await.map_err(failed)?;
                wire.set_nodelay(true).map_err(failed)?;
                protected(wire, name, tls, connector).await
            }
        }
    }
}

async fn protected(
    mut wire: TcpStream,
    name: &str,
    tls: Tls,
    connector: &Connector,
) -> Result<Box<dyn Wire>, String> {
    if tls == Tls::Disable {
        return Ok(Box::new(wire));
    }
    let failed = |error: std::io::Error| format!("error performing TLS handshake: {error}");
    wire.write_all(&TLS_REQUEST).await.map_err(failed)?;
    // One byte and no more: what follows must come through TLS (CVE-2021-23222).
    match (wire.read_u8().await.map_err(failed)?, tls) {
        (b'S', _) => Ok(Box::new(connector.protect(name, wire).await.map_err(failed)?)),
        (_, Tls::Prefer) => Ok(Box::new(wire)),
        (_, _) => Err("the server does not support TLS".to_owned()),
    }
}

/// Checks that a server takes writes, or only reads, if the URL asks for that.
///
/// # Errors
/// It is of the other kind, or does not answer.
pub(crate) async fn check_kind(
    config: &Config,
    client: &Client,
    connection: &mut Connection<BoundedWire, NoTlsStream>,
) -> Result<(), String> {
    let (wanted, what) = match config.get_target_session_attrs() {
        TargetSessionAttrs::ReadWrite => ("off", "the database does not allow writes"),
        TargetSessionAttrs::ReadOnly => ("on", "the database is not read only"),
        TargetSessionAttrs::Any | _ => return Ok(()),
    };
    let answer = tokio::select! {
        answer = client.simple_query("SHOW transaction_read_only") => answer,
        ended = connection => return Err(ended.err().map_or_else(|| "it closed the connection".to_owned(), |error| error_text(&error))),
    };
    let messages = answer.map_err(|error| error_text(&error))?;
    let is_wanted = messages
        .iter()
        .any(|message| matches!(message, SimpleQueryMessage::Row(row) if row.get(0) == Some(wanted)));
    if is_wanted { Ok(()) } else { Err(what.to_owned()) }
}
