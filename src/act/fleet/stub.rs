//! The fleet's database in a build that has no PostgreSQL: nothing is written.

use crate::source::postgres::{Target, UNREAD};

pub(crate) mod schema {
    use super::{Target, UNREAD};

    /// Applies nothing.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn apply(_target: &Target, _sql: &str) -> Result<Vec<String>, String> {
        Err(UNREAD.to_owned())
    }
}
