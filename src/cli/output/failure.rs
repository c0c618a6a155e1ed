//! How a command ends: its exit code, and what it says when it fails.

use std::io;
use std::process::ExitCode;

use crate::act::error::ActionError;
use crate::core::model::ErrorKind;
use crate::core::model::text::shown;

/// The exit codes of the interface.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    Fine,
    /// `doctor` found a warning or worse.
    Problems,
    /// The command line or the configuration cannot be used.
    Usage,
    /// Refused; nothing was done.
    Refused,
    /// A source or the disk failed.
    Failed,
    /// `alive`: dead.
    Dead,
    /// `alive`: unknown.
    Unknown,
    /// `alive` cannot use the command line or the configuration: 2 is an answer there.
    UsageOfAlive,
    /// A bug in claimtop.
    Bug,
}

impl Exit {
    /// Returns the number for the shell.
    pub(crate) fn code(self) -> u8 {
        match self {
            Self::Fine => 0,
            Self::Problems | Self::Dead => 1,
            Self::Usage | Self::Unknown => 2,
            Self::Refused => 3,
            Self::Failed => 4,
            Self::UsageOfAlive => 64,
            Self::Bug => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

/// What a command gives.
pub(crate) type Outcome = Result<Exit, Failure>;

/// Why a command could not do its work.
#[derive(Debug)]
pub(crate) struct Failure {
    /// How the program ends.
    pub(crate) exit: Exit,
    /// What went wrong; `None` if there is no reader.
    pub(crate) error: Option<anyhow::Error>,
    /// What helps.
    pub(crate) hint: Option<String>,
}

impl Failure {
    pub(crate) fn new(exit: Exit, error: anyhow::Error) -> Self {
        Self { exit, error: Some(error), hint: None }
    }

    /// States that the command line or the configuration cannot be used.
    pub(crate) fn usage(error: anyhow::Error) -> Self {
        Self::new(Exit::Usage, error)
    }

    /// Adds what helps.
    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Returns the lines for the standard error output, all of them safe to show.
    pub(crate) fn lines(&self) -> Vec<String> {
        let error = self.error.as_ref().map(|error| format!("claimtop: {error:#}"));
        let hint = self.hint.as_ref().map(|hint| format!("hint: {hint}"));
        let all = error.into_iter().chain(hint).collect::<Vec<_>>().join("\n");
        all.lines().map(shown).collect()
    }
}

impl From<io::Error> for Failure {
    /// A reader that has gone is no failure: `claimtop ls | head` is fine.
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Self { exit: Exit::Fine, error: None, hint: None };
        }
        Self::new(Exit::Failed, anyhow::Error::new(error).context("failed to write the output"))
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        Self::new(Exit::Bug, anyhow::Error::new(error).context("failed to write JSON"))
    }
}

/// Returns how a command ends that could not begin.
pub(crate) fn of_action(error: ActionError) -> Failure {
    Failure::new(exit_of(&error), anyhow::anyhow!(error))
}

/// Returns the exit code of an action's error.
pub(crate) fn exit_of(error: &ActionError) -> Exit {
    exit_of_kind(error.kind())
}

/// Returns the exit code of what keeps something from being done.
pub(crate) fn exit_of_kind(kind: ErrorKind) -> Exit {
    match kind {
        ErrorKind::Never
        | ErrorKind::NotConfirmed
        | ErrorKind::Changed
        | ErrorKind::TooYoung
        | ErrorKind::Busy
        | ErrorKind::Taken => Exit::Refused,
        ErrorKind::Failed | ErrorKind::Unsure | ErrorKind::Stuck => Exit::Failed,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reader_that_has_gone_ends_quietly() {
        let failure = Failure::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert_eq!((failure.exit, failure.lines()), (Exit::Fine, vec![]));
    }

    #[test]
    fn an_error_is_told_with_its_causes_and_its_hint() {
        let failure =
            Failure::usage(anyhow::anyhow!("bad \u{1b}[31m").context("failed to read x")).hint("try y");
        assert_eq!(failure.lines(), ["claimtop: failed to read x: bad \\x1B[31m", "hint: try y"]);
    }

    #[test]
    fn what_another_claimtop_or_a_young_file_delays_was_refused_and_has_not_failed() {
        let wait = of_action(ActionError::Busy("another claimtop, PID 7, is at work".to_owned()));
        assert_eq!(wait.lines(), ["claimtop: another claimtop, PID 7, is at work"]);
        assert_eq!(exit_of(&ActionError::Busy(String::new())).code(), 3);
    }
}
