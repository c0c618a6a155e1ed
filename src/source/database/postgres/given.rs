//! A person's settings for reaching a server, and why they cannot be used.

use std::path::PathBuf;

use crate::core::model::Secret;

/// What the environment and the configuration add to a URL.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ConnectionDefaults {
    /// `PGPASSWORD`.
    pub password: Option<Secret>,
    /// A file of passwords in libpq's form: the configuration's, `PGPASSFILE`, or `~/.pgpass`.
    pub password_file: Option<PathBuf>,
    /// `PGSSLMODE`.
    pub ssl_mode: Option<String>,
    /// `PGSSLROOTCERT`: a file of root certificates.
    pub root_cert: Option<PathBuf>,
}

/// Why a URL cannot be used; it never repeats the URL, which may hold a password.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TargetError {
    /// It is not a PostgreSQL URL.
    #[error("it must begin with postgres:// or postgresql://")]
    NoUrl,
    /// It names no host.
    #[error("it names no host")]
    NoHost,
    /// A part of it cannot be used.
    #[error("{0}")]
    Invalid(String),
}

/// Checks that a URL is a PostgreSQL URL.
///
/// # Errors
/// It is not.
pub(crate) fn check_scheme(url: &str) -> Result<(), TargetError> {
    let is_ours = ["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme));
    if is_ours { Ok(()) } else { Err(TargetError::NoUrl) }
}
