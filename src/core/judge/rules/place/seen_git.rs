//! Which git command changed a file at some moment, as git's own events report it: that is certain.

use std::path::Path;

use jiff::Timestamp;

use crate::core::judge::rules::facts::{Facts, window_name};
use crate::core::model::snapshot::work::git_command::changer;
use crate::core::model::{Evidence, GitCommand, SeenBelow, Untrusted, WindowView};

/// A git command, and who ran it.
#[derive(Clone, Copy)]
pub(crate) struct SeenGit<'a> {
    pub(crate) command: &'a GitCommand,
    pub(crate) by: GitDoer<'a>,
}

/// Who ran a git command.
#[derive(Clone, Copy)]
pub(crate) enum GitDoer<'a> {
    Window(&'a WindowView),
    /// A window that has ended.
    Ended(&'a SeenBelow),
    /// No window.
    Outside,
    /// No open claimtop saw whose it was.
    NotSeen,
}

impl<'a> SeenGit<'a> {
    /// Returns the window that ran it, if that lives.
    pub(crate) fn window(&self) -> Option<&'a WindowView> {
        if let GitDoer::Window(window) = self.by { Some(window) } else { None }
    }

    /// Says who did it.
    pub(crate) fn sentence(&self) -> String {
        let (line, pid) = (self.line(), self.command.pid);
        let ran = match self.by {
            GitDoer::Window(window) => {
                let name = window.name.as_ref().unwrap_or(&window.agent);
                format!("{name}'s `{line}` (PID {pid})")
            }
            GitDoer::Ended(SeenBelow { id, agent }) => {
                format!("the `{line}` (PID {pid}) of {agent} (PID {}), which has ended,", id.pid)
            }
            GitDoer::Outside => format!("a git command outside all windows (PID {pid}), `{line}`,"),
            GitDoer::NotSeen => format!("`{line}` (PID {pid})"),
        };
        let unknown = if matches!(self.by, GitDoer::NotSeen) { "; whose it was is not known" } else { "" };
        format!("{ran} ran then, seen by git's own events{unknown}")
    }

    /// States that it ran.
    pub(crate) fn evidence(&self) -> Evidence {
        let GitCommand { pid, at, ended, exit, tree, above, .. } = self.command;
        let by = match self.by {
            GitDoer::Window(window) => format!(" of {}", window_name(window)),
            GitDoer::Ended(SeenBelow { id, agent }) => format!(" of {agent} (PID {})", id.pid),
            GitDoer::Outside | GitDoer::NotSeen => String::new(),
        };
        let took = ended.map(|ended| format!(" for {} ms", ended.duration_since(*at).as_millis()));
        let exit = exit.map(|exit| format!(", exit code {exit}")).unwrap_or_default();
        let names: Vec<String> = above.iter().map(Untrusted::shown).collect();
        let above = if names.is_empty() { String::new() } else { format!(", below {}", names.join(", ")) };
        let took = took.unwrap_or_default();
        let value = format!("`{}` (PID {pid}){by} ran in {tree}{took}{exit}{above}", self.line());
        Evidence::new("git", value, "git's own events").dated(Some(*at))
    }

    fn line(&self) -> Untrusted {
        self.command.line().into()
    }
}

/// Returns the command of git's that has changed a file of a working tree at a moment; `None` if none is known, or
/// commands of several come into question.
pub(crate) fn seen_git<'a>(
    place: (&Path, &Path),
    since: Timestamp,
    facts: &'a Facts<'a>,
) -> Option<SeenGit<'a>> {
    changer(&facts.world.snapshot.git_commands, place, since).map(|command| seen(command, facts))
}

fn seen<'a>(command: &'a GitCommand, facts: &'a Facts<'a>) -> SeenGit<'a> {
    let by = match &command.caller {
        None => GitDoer::NotSeen,
        Some(caller) => match &caller.window {
            None => GitDoer::Outside,
            Some(below) => {
                let is_now = facts.world.snapshot.host.boot_id.as_deref() == Some(caller.boot_id.raw());
                let window = facts
                    .window(below.id.pid)
                    .filter(|window| is_now && window.start_ticks == below.id.start_ticks);
                window.map_or(GitDoer::Ended(below), GitDoer::Window)
            }
        },
    };
    SeenGit { command, by }
}
