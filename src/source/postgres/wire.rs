//! The byte stream below a connection.

use tokio::io::{AsyncRead, AsyncWrite};

/// A wire to a server, protected or not.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
