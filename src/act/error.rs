//! Why an action does nothing, or stops.

use std::path::Path;

use rustix::io::Errno;

use crate::core::model::{ErrorKind, Untrusted};

/// Why an action was not carried out. Every file is where it was, unless this is [`ActionError::Stuck`].
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ActionError {
    /// It is never allowed.
    #[error("{0}")]
    Never(String),
    /// The person's answer is not the one that this state requires.
    #[error("not confirmed: {0}")]
    NotConfirmed(String),
    /// The world differs from what was seen.
    #[error("changed under you: {0}")]
    Changed(String),
    /// A folder is missing, for example because its disk is not mounted; what was cut off is put right once it is
    /// back.
    #[error("{0}")]
    Away(String),
    /// A file was written just now, so the write may still be under way.
    #[error("{0}")]
    TooYoung(String),
    /// Another claimtop is at work.
    #[error("{0}")]
    Busy(String),
    /// Another file lies at the destination.
    #[error("the place is taken: {0}")]
    Taken(String),
    /// The system refused.
    #[error("failed to {what}: {}", words(*.errno))]
    Failed {
        /// What was tried, with the path.
        what: String,
        /// The system's error.
        errno: Errno,
    },
    /// A database refused, with its message.
    #[error("{0}")]
    Refused(String),
    /// A database may or may not have applied the change; it is read back.
    #[error("{0}")]
    Unsure(String),
    /// The system refused, and then something could not be put back.
    #[error("{0}")]
    Stuck(String),
}

impl ActionError {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Self::Never(_) => ErrorKind::Never,
            Self::NotConfirmed(_) => ErrorKind::NotConfirmed,
            Self::Changed(_) => ErrorKind::Changed,
            Self::TooYoung(_) => ErrorKind::TooYoung,
            Self::Busy(_) => ErrorKind::Busy,
            Self::Taken(_) => ErrorKind::Taken,
            Self::Failed { .. } | Self::Refused(_) | Self::Away(_) => ErrorKind::Failed,
            Self::Unsure(_) => ErrorKind::Unsure,
            Self::Stuck(_) => ErrorKind::Stuck,
        }
    }

    /// Returns a closure that builds the error for a failed operation on a path.
    pub(crate) fn failed_at<'a>(verb: &'a str, path: &'a Path) -> impl FnOnce(Errno) -> Self + 'a {
        move |errno| Self::Failed { what: format!("{verb} {}", Untrusted::from_path(path)), errno }
    }
}

/// Returns the system's own words, in lower case.
fn words(errno: Errno) -> String {
    let text = std::io::Error::from(errno).to_string();
    text.split(" (os error").next().unwrap_or_default().to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_failed_is_told_with_its_path_and_in_the_systems_words() {
        let trouble = ActionError::failed_at("read", Path::new("/home/dev/a\u{1b}"))(Errno::NOENT);
        assert_eq!(trouble.to_string(), "failed to read /home/dev/a\\x1B: no such file or directory");
    }
}
