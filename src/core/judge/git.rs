//! Which processes are git's, and which of them may hold a repository's lock.

use std::path::{Path, PathBuf};

use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Details, GitLock, Location, Process, ProcessTable, Record, RecordDetail, Repo, Untrusted, Worktree,
};

/// Programs beside git itself that work on repositories, by the names of their main threads.
const KIN: [&str; 6] = ["lazygit", "tig", "jj", "gix", "ein", "sl"];

/// Subcommands that take no lock of a repository, and may run for as long as a pager or an editor.
const HARMLESS: [&str; 8] = [
    "blame", "cat-file", "credential-cache--daemon", "daemon", "fsmonitor--daemon", "log", "show",
    "upload-pack",
];

/// Git's options before the subcommand whose value is an argument of its own (git(1)).
const WITH_VALUE: [&str; 5] = ["-C", "-c", "--git-dir", "--work-tree", "--namespace"];

/// Returns whether a thread name is git's, or that of a program of its kin.
pub(crate) fn is_named_so(comm: &str) -> bool {
    comm.starts_with("git") || KIN.contains(&comm)
}

/// Returns the living processes of git and its kin, except those whose arguments prove that they take no lock.
pub(crate) fn lockers(table: &ProcessTable) -> impl Iterator<Item = &Process> {
    let lives = |process: &&Process| is_named_so(process.comm.raw()) && !has_exited(process);
    table.by_pid.values().filter(lives).filter(|process| !is_harmless(process))
}

/// Returns whether a process is a git whose arguments prove that it takes no lock.
pub(crate) fn is_harmless(process: &Process) -> bool {
    let details = process.details.as_ref().filter(|_| is_named_so(process.comm.raw()));
    details.and_then(subcommand).is_some_and(|name| HARMLESS.contains(&name))
}

/// Returns what a lock is for. A lock that does not state it counts as a command's, which needs the most proof before
/// it counts as dead.
pub(crate) fn lock_of(record: &Record) -> GitLock {
    if let RecordDetail::Git(lock) = record.detail { lock } else { GitLock::Command }
}

/// Returns the repository that a lock of git's lies in.
pub(crate) fn repo_of<'a>(record: &Record, repos: &'a [Repo]) -> Option<&'a Repo> {
    let path = record.location.path()?;
    repos.iter().find(|repo| path.starts_with(&repo.common_dir))
}

fn subcommand(details: &Details) -> Option<&str> {
    let mut arguments = details.argv.iter().skip(1).map(Untrusted::raw);
    loop {
        match arguments.next()? {
            option if WITH_VALUE.contains(&option) => drop(arguments.next()),
            option if option.starts_with('-') => {}
            name => return Some(name),
        }
    }
}

/// Returns whether a process works in the tree of a lock or in its repository: by its working
/// directory, or because an argument names it.
pub(crate) fn works_at(process: &Process, record: &Record, repos: &[Repo]) -> bool {
    let Some(details) = process.details.as_ref() else { return false };
    let places = places_of(record, repos);
    let is_in = |text: &str| places.iter().any(|place| Path::new(text).starts_with(place));
    let values = details.argv.iter().skip(1).map(|arg| arg.raw().rsplit('=').next().unwrap_or_default());
    details.cwd.as_ref().is_some_and(|cwd| is_in(cwd.raw())) || values.into_iter().any(is_in)
}

/// Returns the git folder that a lock lies in, and the working tree that it belongs to.
fn places_of(record: &Record, repos: &[Repo]) -> Vec<PathBuf> {
    let folder = record.location.path().and_then(Path::parent).map(Path::to_path_buf);
    folder.into_iter().chain(tree_of(record, repos).map(|tree| tree.path.clone())).collect()
}

/// Returns the working tree that a git lock belongs to.
pub fn tree_of<'a>(record: &Record, repos: &'a [Repo]) -> Option<&'a Worktree> {
    let Location::File(path) = &record.location else { return None };
    let folder = path.parent()?;
    repos.iter().find_map(|repo| {
        let id = if folder == repo.common_dir {
            ""
        } else {
            folder.strip_prefix(repo.common_dir.join("worktrees")).ok()?.to_str()?
        };
        repo.worktrees.iter().find(|tree| tree.id == id)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(argv: &[&str], expected: Option<&str>) {
        let argv = argv.iter().map(|arg| (*arg).into()).collect();
        assert_eq!(subcommand(&Details { argv, ..Details::default() }), expected);
    }

    #[test]
    fn options_of_git_itself_are_no_subcommand() {
        check(&["git", "commit", "-m", "log"], Some("commit"));
        check(&["git", "-C", "log", "--no-pager", "commit"], Some("commit"));
        check(&["git", "--git-dir=/x", "--work-tree", "show", "add"], Some("add"));
        check(&["git"], None);
        check(&[], None);
    }

    #[test]
    fn only_names_of_git_are_gits() {
        for (comm, expected) in [("git", true), ("git-remote-http", true), ("lazygit", true), ("vim", false)]
        {
            assert_eq!(is_named_so(comm), expected, "{comm}");
        }
    }
}
