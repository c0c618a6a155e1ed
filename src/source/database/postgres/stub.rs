//! PostgreSQL in a build that has none: a database can be named, and nothing is read of it.

pub(crate) mod given;

pub use self::given::{ConnectionDefaults, TargetError};
use crate::core::model::Untrusted;
use crate::source::database::postgres::given::check_scheme;

/// What is said of every database.
pub(crate) const UNREAD: &str = "not read: this build has no PostgreSQL (cargo's feature `postgres` is off)";

/// One database on one server.
#[derive(Clone, Debug, PartialEq)]
pub struct Target {
    /// What it is called: nothing of its URL, which nobody can take apart here and which may hold a
    /// password.
    pub name: Untrusted,
}

impl Target {
    /// Takes note that a database was named.
    ///
    /// # Errors
    /// It is no URL of PostgreSQL's.
    pub fn parse(url: &str, _given: ConnectionDefaults) -> Result<Self, TargetError> {
        check_scheme(url)?;
        Ok(Self { name: "PostgreSQL".into() })
    }
}
