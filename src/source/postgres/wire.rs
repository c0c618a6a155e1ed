//! What bytes go over.

use tokio::io::{AsyncRead, AsyncWrite};

/// A wire to a server, protected or not.
pub(crate) trait Wire: AsyncRead + AsyncWrite + Send + Unpin {}
