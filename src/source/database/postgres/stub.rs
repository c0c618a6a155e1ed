//! PostgreSQL in a build without it: a database can be named, but is not read.

pub(crate) mod given;

pub use self::given::{ConnectionDefaults, TargetError};
use crate::core::model::Untrusted;
use crate::source::database::postgres::given::check_scheme;

/// The message for every database.
pub(crate) const UNREAD: &str = "not read: this build has no PostgreSQL (cargo's feature `postgres` is off)";

/// One database on one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// Its name: without any part of the URL, which cannot be parsed in this build and may hold a password.
    pub name: Untrusted,
}

impl Target {
    /// Notes that a database was named.
    ///
    /// # Errors
    /// It is not a PostgreSQL URL.
    pub fn parse(url: &str, _given: ConnectionDefaults) -> Result<Self, TargetError> {
        check_scheme(url)?;
        Ok(Self { name: "PostgreSQL".into() })
    }
}
