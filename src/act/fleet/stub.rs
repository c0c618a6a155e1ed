//! The fleet's database in a build without PostgreSQL: nothing is written.

use crate::act::error::ActionError;
use crate::source::database::postgres::{Target, UNREAD};

/// Returns no mark.
///
/// # Errors
/// Always.
pub(crate) fn mark() -> Result<i64, ActionError> {
    Err(ActionError::Never(UNREAD.to_owned()))
}

pub(crate) mod lost {
    use super::{Target, UNREAD};

    /// A host.
    pub(crate) struct Host {
        pub(crate) id: String,
        pub(crate) name: String,
    }

    /// The result of a declaration.
    #[expect(dead_code, reason = "nothing is declared")]
    pub(crate) enum LossOutcome {
        Kept,
        Seen,
        NotTyped,
        Changed,
    }

    /// Finds nothing.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn hosts(_target: &Target) -> Result<Vec<Host>, String> {
        Err(UNREAD.to_owned())
    }

    /// Declares nothing.
    ///
    /// # Errors
    /// Always.
    pub(crate) fn declare(_target: &Target, _host: &Host, _typed: &str) -> Result<LossOutcome, String> {
        Err(UNREAD.to_owned())
    }
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

pub(crate) mod taking {
    use crate::core::fleet::order::RemoteRequest;

    /// A taken order.
    #[expect(dead_code, reason = "nothing is taken")]
    pub(crate) enum Intake {
        Work(i64, RemoteRequest),
        Refused(i64, String),
    }
}

pub(crate) mod post {
    use std::path::{Path, PathBuf};
    use std::time::Duration;

    use super::taking::Intake;
    use super::{ActionError, Target, UNREAD};
    use crate::core::fleet::database::outbox::Outbox;

    /// The result of a beat.
    #[expect(dead_code, reason = "nothing is published")]
    pub(crate) enum BeatOutcome {
        Accepted { is_hot: bool, taken: Vec<Intake> },
        Waits(Duration),
        Failed(String, Duration),
    }

    /// No way to any database.
    pub(crate) struct Post;

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
            _allowed_signers: Option<PathBuf>,
        ) -> Result<Self, ActionError> {
            Err(ActionError::Never(UNREAD.to_owned()))
        }

        pub(crate) fn outbox<T>(&self, with: impl FnOnce(&mut Outbox) -> T) -> T {
            with(&mut Outbox::default())
        }

        pub(crate) fn host(&self) -> String {
            String::new()
        }

        pub(crate) fn is_telling(&self) -> bool {
            false
        }

        pub(crate) async fn beat(&self) -> Result<BeatOutcome, ActionError> {
            Err(ActionError::Never(UNREAD.to_owned()))
        }

        pub(crate) async fn receipt(&self, _number: i64, _line: &str) -> Result<(), String> {
            Err(UNREAD.to_owned())
        }
    }
}
