//! Queries git about working trees when a person wants it: never while looking, and never by a command that runs a
//! program which the repository names (`git status` does).

pub(crate) mod foresight;
pub(crate) mod merge;
mod run;
#[cfg(test)]
mod tests;

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use rustix::fs::stat;

use self::run::Git;
use crate::core::model::text::hex;
use crate::core::model::{Names, TreeState, Untrusted};
use crate::source::os::fence::Fence;
use crate::source::repos::head::Commit;
use crate::source::repos::locate::{git_dir, repository_at};

/// The most names of one kind that are shown.
const MOST_NAMES: usize = 5;

/// Files in a tree's own folder while a git operation is in progress.
const AMID: [(&str, &str); 7] = [
    ("rebase-merge", "rebase"),
    ("rebase-apply", "rebase"),
    ("MERGE_HEAD", "merge"),
    ("CHERRY_PICK_HEAD", "cherry-pick"),
    ("REVERT_HEAD", "revert"),
    ("BISECT_LOG", "bisect"),
    ("sequencer", "sequence of commits"),
];

/// How to run git: the folders of programs, and whose settings count.
pub(crate) struct Asker {
    /// The folders of programs.
    pub(crate) programs: Vec<PathBuf>,
    /// The home of the person who asks.
    pub(crate) home: PathBuf,
}

impl Asker {
    /// Determines what the removal of a linked working tree would lose.
    pub(crate) fn ask(&self, tree: &Path, fence: &Fence) -> TreeState {
        let unasked = |why: &str| TreeState { unasked: Some(why.to_owned()), ..TreeState::default() };
        let Some(own) = git_dir(tree) else {
            let is_there = tree.symlink_metadata().is_ok();
            return unasked(if is_there {
                "its folder has lost its .git file"
            } else {
                "its folder is not there"
            });
        };
        let Some(located) = repository_at(tree, fence) else { return unasked("its repository is not there") };
        if own == located.common_dir {
            return unasked("it is not a linked working tree");
        }
        // Git itself refuses if another user can have written its settings.
        let uid = rustix::process::geteuid().as_raw();
        let is_ours = |path: &Path| stat(path).is_ok_and(|stat| stat.st_uid == uid);
        if ![tree, &own, &located.common_dir].into_iter().all(is_ours) {
            return unasked("it belongs to another user");
        }
        let Some(program) = self.program() else { return unasked("git was not found") };
        let (home, tree) = (self.home.clone(), tree.to_path_buf());
        let mut git = Git { program, home, tree, own, filters: Vec::new() };
        let Some(filters) = filters(&git) else { return unasked("git did not list its settings in time") };
        git.filters = filters;
        state(&git, &located.common_dir)
    }

    /// Finds git.
    pub(super) fn program(&self) -> Option<PathBuf> {
        program_in(&self.programs)
    }
}

/// Finds git in the folders of programs.
pub(crate) fn program_in(programs: &[PathBuf]) -> Option<PathBuf> {
    let mut all = programs.iter().filter(|folder| folder.is_absolute()).map(|folder| folder.join("git"));
    all.find(|path| path.is_file())
}

/// Returns the names of all filters that the settings have.
fn filters(git: &Git) -> Option<Vec<OsString>> {
    let answer = git.ask(&["config", "-z", "--name-only", "--get-regexp", r"^filter\."])?;
    // Exit code 1 means that there are none.
    if answer.is_cut || !matches!(answer.code, 0 | 1) {
        return None;
    }
    let name = |setting: &[u8]| {
        let rest = setting.strip_prefix(b"filter.")?;
        let end = rest.iter().rposition(|byte| *byte == b'.')?;
        Some(OsString::from_vec(rest.get(..end)?.to_vec()))
    };
    let mut names: Vec<OsString> = answer.out.split(|byte| *byte == 0).filter_map(name).collect();
    names.sort();
    names.dedup();
    Some(names)
}

fn state(git: &Git, common: &Path) -> TreeState {
    let has = |name: &str| git.own.join(name).symlink_metadata().is_ok();
    let main = Commit::checked_out(common, common);
    // With a detached head, commits on no branch are lost; otherwise the branch stays.
    let is_on_branch = git.ask(&["symbolic-ref", "-q", "HEAD"]).map(|answer| answer.code == 0);
    let unnamed = match is_on_branch {
        Some(true) => Some(0),
        Some(false) => count(git, &["HEAD", "--not", "--branches", "--remotes", "--tags"]),
        None => None,
    };
    TreeState {
        unasked: None,
        is_changed: differs(git, &["diff-files", "--quiet", "--no-ext-diff", "--ignore-submodules=all"]),
        is_staged: differs(
            git,
            &["diff-index", "--cached", "--quiet", "--no-ext-diff", "--ignore-submodules=all", "HEAD"],
        ),
        untracked: others(git, &["ls-files", "-o", "-z", "--directory", "--exclude-standard"]),
        ignored: others(git, &["ls-files", "-o", "-i", "-z", "--directory", "--exclude-standard"]),
        unwatched: unwatched(git),
        unmerged: main.and_then(|main| count(git, &["HEAD", "--not", &hex(&main)])),
        unnamed,
        amid: AMID.into_iter().find_map(|(name, amid)| has(name).then_some(amid)),
        has_submodules: has("modules") || git.tree.join(".gitmodules").symlink_metadata().is_ok(),
    }
}

/// Returns whether something differs: exit code 0 is no, 1 is yes.
fn differs(git: &Git, arguments: &[&str]) -> Option<bool> {
    match git.ask(arguments)?.code {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

fn count(git: &Git, commits: &[&str]) -> Option<u64> {
    let answer = git.ask(&[&["rev-list", "--count"], commits].concat()).filter(|answer| answer.code == 0)?;
    std::str::from_utf8(answer.out.trim_ascii()).ok()?.parse().ok()
}

/// Queries names, each ended by a zero byte.
fn others(git: &Git, arguments: &[&str]) -> Option<Names> {
    let answer = git.ask(arguments).filter(|answer| answer.code == 0)?;
    let names = answer.out.split(|byte| *byte == 0).filter(|name| !name.is_empty());
    Some(shown_names(names, answer.is_cut))
}

/// Queries the files that git was configured to take for unchanged (a small letter before the name), or to leave out
/// although they exist (`S`).
fn unwatched(git: &Git) -> Option<Names> {
    let answer = git.ask(&["ls-files", "-v", "-z"]).filter(|answer| answer.code == 0 && !answer.is_cut)?;
    let is_there =
        |name: &[u8]| git.tree.join(Path::new(std::ffi::OsStr::from_bytes(name))).symlink_metadata().is_ok();
    let name = |line: &'_ [u8]| match line.split_at_checked(2) {
        Some((tag, name)) if tag.first().is_some_and(u8::is_ascii_lowercase) => Some(name.to_vec()),
        Some((b"S ", name)) if is_there(name) => Some(name.to_vec()),
        _ => None,
    };
    let names: Vec<Vec<u8>> = answer.out.split(|byte| *byte == 0).filter_map(name).collect();
    Some(shown_names(names.iter().map(Vec::as_slice), false))
}

fn shown_names<'a>(names: impl Iterator<Item = &'a [u8]> + Clone, is_more: bool) -> Names {
    let first = names.clone().take(MOST_NAMES).map(Untrusted::from_bytes).collect();
    Names { count: names.count(), is_more, first }
}
