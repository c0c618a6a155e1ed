//! Brings a dead window back: its agent's own command, in a new window of the multiplexer that claimtop runs in.

use crate::act::error::ActionError;
use crate::act::executor::{Executor, Opening};
use crate::core::model::Untrusted;
use crate::core::model::text::shown;
use crate::core::plan::bring_back::ClosedWindow;
use crate::source::os::program::{output, run};

/// Said of a session that is not among those of dead windows.
const NOT_DEAD: &str = "its session runs again, or nothing is known of it any more";

/// Where a window is opened.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Opener {
    /// A new window of this tmux.
    Tmux,
    /// A new pane of this zellij.
    Zellij,
    /// Nowhere: a person runs the command.
    #[default]
    Nobody,
}

/// What became of one window.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum OpenResult {
    /// It was opened there.
    There(&'static str),
    /// A person runs this.
    Run(String),
    /// It was not; why.
    No(String),
}

impl OpenResult {
    /// Says it as the end of a sentence about the window.
    pub(crate) fn outcome_words(&self) -> String {
        match self {
            Self::There(place) => format!("opened {place}"),
            Self::Run(line) => format!("run {}", shown(line)),
            Self::No(why) => format!("not brought back: {}", shown(why)),
        }
    }
}

impl Opener {
    /// Returns the multiplexer that this process runs in, by its environment.
    pub(crate) fn of_environment(is_in_tmux: bool, is_in_zellij: bool) -> Self {
        match (is_in_tmux, is_in_zellij) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Zellij,
            (false, false) => Self::Nobody,
        }
    }

    /// Says where a window would be opened.
    pub(crate) fn place_words(self) -> &'static str {
        match self {
            Self::Tmux => "in a new window of this tmux",
            Self::Zellij => "in a new pane of this zellij",
            Self::Nobody => "by hand: claimtop runs in no tmux or zellij",
        }
    }

    /// Opens windows again, each if nothing alive runs its session by a look of this moment.
    ///
    /// # Errors
    /// Another claimtop is at work, or this one only looks.
    pub(crate) fn reopen(
        self,
        executor: &mut Executor,
        sessions: &[Untrusted],
    ) -> Result<Vec<OpenResult>, ActionError> {
        executor.reopen(sessions, |closed| match closed.map(|one| self.open(one)) {
            None => (OpenResult::No(NOT_DEAD.to_owned()), Opening::Refused),
            Some(opened @ OpenResult::There(_)) => (opened, Opening::Done),
            Some(other) => (other, Opening::Refused),
        })
    }

    /// Opens a window that is not refused.
    pub(crate) fn open(self, closed: &ClosedWindow) -> OpenResult {
        let Some(line) = closed.line() else {
            return OpenResult::No("its agent has no command for it".to_owned());
        };
        if let Some(refusal) = &closed.refusal {
            return OpenResult::No(refusal.clone());
        }
        if self == Self::Tmux && is_open(&closed.session) {
            return OpenResult::No("a pane of this tmux was opened for it already".to_owned());
        }
        // The shell stays, so that a command which fails can be read.
        let kept = format!("{line}; exec \"${{SHELL:-/bin/sh}}\"");
        let name = plain(closed.name.raw());
        let opened = match self {
            Self::Tmux => run("tmux", &["new-window", "-d", "-n", &name, "--", "sh", "-c", &kept]),
            Self::Zellij => run("zellij", &["run", "--name", &name, "--", "sh", "-c", &kept]),
            Self::Nobody => return OpenResult::Run(line),
        };
        match opened {
            Ok(()) => OpenResult::There(self.place_words()),
            Err(error) => OpenResult::No(error.to_string()),
        }
    }
}

/// Returns whether a pane of this tmux was started with a session: its agent may not have said yet that it runs it.
fn is_open(session: &Untrusted) -> bool {
    let panes = output("tmux", &["list-panes", "-a", "-F", "#{pane_start_command}"]);
    panes.is_ok_and(|panes| String::from_utf8_lossy(&panes).contains(session.raw()))
}

/// Returns a name without what tmux would read as a format, which can run a command (tmux(1), FORMATS), and without what
/// a program would read as an option.
fn plain(name: &str) -> String {
    let plain = |c: char| if c.is_alphanumeric() || "-_. ".contains(c) { c } else { '-' };
    name.trim_start_matches('-').chars().take(40).map(plain).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_neither_a_format_nor_an_option() {
        assert_eq!(plain("pay #(touch /tmp/x) #{l}"), "pay --touch -tmp-x- --l-");
        assert_eq!(plain("--help"), "help");
        assert_eq!(plain("größe 2"), "größe 2");
    }
}
