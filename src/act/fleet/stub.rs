//! The fleet's database in a build that has no PostgreSQL: nothing is written.

use crate::act::error::ActionError;
use crate::source::postgres::{Target, UNREAD};

/// Makes up nothing.
///
/// # Errors
/// Always.
pub(crate) fn mark() -> Result<i64, ActionError> {
    Err(ActionError::Never(UNREAD.to_owned()))
}

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

pub(crate) mod post {
    use std::path::Path;
    use std::time::Duration;

    use super::{ActionError, Target, UNREAD};
    use crate::core::fleet::outbox::Outbox;

    /// What became of a beat.
    #[expect(dead_code, reason = "nothing is published")]
    pub(crate) enum Posted {
        Accepted { is_hot: bool },
        Waits(Duration),
        Failed(String, Duration),
    }

    /// No way to any database.
    pub(crate) struct Post(Outbox);

    impl Post {
        /// Opens nothing.
        ///
        /// # Errors
        /// Always.
        pub(crate) fn open(
            _target: Target,
            _state: &Path,
            _team: Option<String>,
            _facts: String,
        ) -> Result<Self, ActionError> {
            Err(ActionError::Never(UNREAD.to_owned()))
        }

        pub(crate) fn outbox(&mut self) -> &mut Outbox {
            &mut self.0
        }

        pub(crate) fn host(&self) -> &str {
            ""
        }

        pub(crate) async fn beat(&mut self) -> Result<Posted, ActionError> {
            Err(ActionError::Never(UNREAD.to_owned()))
        }
    }
}
