//! A git command, as git's own events report it (`Documentation/technical/api-trace2.txt` of git).

use std::path::{Component, Path};

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

use crate::core::model::{ProcessId, SeenBelow, Untrusted};

/// One process of git's that may have changed files, refs or the stash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCommand {
    /// Git's name for the process, below those of the processes of git's that started it, joined by `/`.
    pub sid: Untrusted,
    /// Its PID in its own PID namespace.
    pub pid: u32,
    /// When it started.
    pub at: Timestamp,
    /// When it ended; `None` if it has not, or was killed.
    pub ended: Option<Timestamp>,
    /// Its exit code.
    pub exit: Option<i32>,
    /// The working tree.
    pub tree: Untrusted,
    /// Its arguments, without what looks like a secret, the program's name first.
    pub words: Vec<Untrusted>,
    /// Which files it may have changed, as its arguments say; `None` if they do not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<GitReach>,
    /// The names of the programs above it, its parent's first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub above: Vec<Untrusted>,
    /// The processes above it, if they were seen while it ran.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub caller: Option<GitCaller>,
}

/// The files that a git command may change.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitReach {
    /// All of the working tree.
    Tree,
    /// These and what lies below them: paths from the top of the working tree, or from a folder in it in which the
    /// command ran.
    Paths(Vec<Untrusted>),
}

/// What was above a git command when it started.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct GitCaller {
    /// The boot in which the numbers count.
    pub boot_id: Untrusted,
    /// The command's own process.
    pub process: ProcessId,
    /// The window below which it ran; `None` if it ran below none.
    pub window: Option<SeenBelow>,
}

impl GitCommand {
    /// Returns its command line as a person would type it.
    pub(crate) fn line(&self) -> String {
        let program = self.words.first().map(|word| word.raw().rsplit('/').next().unwrap_or_default());
        let rest = self.words.iter().skip(1).map(Untrusted::raw);
        program.into_iter().chain(rest).collect::<Vec<_>>().join(" ")
    }

    /// Returns whether it ran below another one, at any depth.
    pub(crate) fn is_below(&self, other: &Self) -> bool {
        self.sid.raw().strip_prefix(other.sid.raw()).is_some_and(|rest| rest.starts_with('/'))
    }
}

/// How much earlier than by the precise clock a file system may date a change: it reads the clock of the last tick
/// (`current_time` of the kernel), of which there are at least 100 a second.
const SLACK: SignedDuration = SignedDuration::from_millis(20);

/// The most to keep in total, the newest.
const MOST: usize = 4_096;

/// Merges two sets, sorted by time. Of two about one process stays the one that knows more.
pub(crate) fn merged(mut all: Vec<GitCommand>, more: Vec<GitCommand>) -> Vec<GitCommand> {
    all.extend(more);
    let knows = |one: &GitCommand| (one.caller.is_some(), one.ended.is_some());
    all.sort_by(|one, other| (&one.sid, knows(other)).cmp(&(&other.sid, knows(one))));
    all.dedup_by(|later, kept| later.sid == kept.sid);
    all.sort_by(|one, other| (one.at, &one.sid).cmp(&(other.at, &other.sid)));
    all.drain(..all.len().saturating_sub(MOST));
    all
}

/// Returns the command that has changed a file of a working tree at a moment; `None` if none is known, or commands of
/// several windows come into question. Of those of one window it is the last.
pub(crate) fn changer<'a>(
    commands: &'a [GitCommand],
    place: (&Path, &Path),
    since: Timestamp,
) -> Option<&'a GitCommand> {
    let all: Vec<&GitCommand> = commands.iter().filter(|command| changed(command, place, since)).collect();
    // What git calls itself is the same command.
    let is_topmost = |one: &&&GitCommand| !all.iter().any(|other| one.is_below(other));
    let tops: Vec<&&GitCommand> = all.iter().filter(is_topmost).collect();
    let last = tops.last()?;
    let window = |one: &GitCommand| Some(one.caller.as_ref()?.window.as_ref()?.id);
    let is_same =
        |one: &GitCommand| one.sid == last.sid || window(one).is_some() && window(one) == window(last);
    tops.iter().all(|one| is_same(one)).then_some(last)
}

/// Returns whether a command that has ended ran at a moment, and reaches a file.
fn changed(command: &GitCommand, (tree, file): (&Path, &Path), since: Timestamp) -> bool {
    let ran = command.at.duration_since(since) <= SLACK && command.ended.is_some_and(|ended| since <= ended);
    let inside = file.strip_prefix(tree).ok().filter(|_| Path::new(command.tree.raw()) == tree);
    let reaches = |inside: &Path| match &command.reach {
        None => false,
        Some(GitReach::Tree) => true,
        Some(GitReach::Paths(paths)) => paths.iter().any(|path| is_below(inside, Path::new(path.raw()))),
    };
    ran && inside.is_some_and(reaches)
}

/// Returns whether a file lies at a path or below it, from the top or from any folder above the file.
fn is_below(file: &Path, path: &Path) -> bool {
    let (file, path): (Vec<Component<'_>>, Vec<Component<'_>>) =
        (file.components().collect(), path.components().collect());
    !path.is_empty() && file.windows(path.len()).any(|part| part == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(file: &str, path: &str, expected: bool) {
        assert_eq!(is_below(Path::new(file), Path::new(path)), expected, "{file} at {path}");
    }

    #[test]
    fn a_path_is_meant_from_any_folder_above_the_file() {
        check("src/pay/a.rs", "src", true);
        check("src/pay/a.rs", "src/pay/a.rs", true);
        check("src/pay/a.rs", "pay", true);
        check("src/pay/a.rs", "a.rs", true);
        check("src/pay/a.rs", "src/a.rs", false);
        check("src/pay/a.rs", "b.rs", false);
        check("src/pay/a.rs", "src/pay/a.rs/b", false);
        check("src/pay/a.rs", "", false);
    }
}
