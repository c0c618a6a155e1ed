//! Folders where agents put working trees of a repository, and which git's list of these does not have.

use std::path::Path;

use super::locate::{POINTER, RepoLocation, git_dir, pointer};
use super::worktrees::branch;
use crate::core::model::{StrayTree, TreeSort, Worktree};
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::plain::small;

/// Where Claude Code puts the working trees that it makes, below the main one.
const PUTS: &str = ".claude/worktrees";
/// The most of one repository.
const MOST: usize = 64;

/// Finds those that lie where an agent puts its trees.
pub(super) fn read(
    located: &RepoLocation,
    known: &[Worktree],
    fence: &Fence,
    problems: &mut Vec<String>,
) -> Vec<StrayTree> {
    let Some(folder) = located.main.as_ref().map(|main| main.join(PUTS)) else { return Vec::new() };
    if !fence.allows(&folder) {
        return Vec::new();
    }
    let Ok(entries) = Folder::open(&folder).and_then(|folder| folder.entries(|_| true)) else {
        return Vec::new();
    };
    let paths = entries.iter().map(|entry| folder.join(&entry.name));
    let mut all: Vec<StrayTree> = paths
        .filter(|path| known.iter().all(|tree| tree.path != *path))
        .filter(|path| path.symlink_metadata().is_ok_and(|meta| meta.is_dir()))
        .filter_map(|path| {
            let sort = sort_of(&path, &located.common_dir)?;
            let branch = (sort == TreeSort::Clone).then(|| branch(&path.join(".git/HEAD"))).flatten();
            Some(StrayTree { path, sort, branch })
        })
        .collect();
    if all.len() > MOST {
        problems.push(format!("more than {MOST} folders that git does not list; the others were not read"));
        all.truncate(MOST);
    }
    all
}

/// Returns how a folder relates to a repository; `None` if it is unrelated, or one of its listed trees under another
/// name.
fn sort_of(path: &Path, common: &Path) -> Option<TreeSort> {
    let dot_git = path.join(".git");
    let meta = dot_git.symlink_metadata().ok()?;
    if meta.is_dir() {
        return dot_git.join("HEAD").symlink_metadata().is_ok().then_some(TreeSort::Clone);
    }
    // The file must be plain, and not a link.
    small(&dot_git, POINTER).ok().filter(|_| meta.is_file())?;
    let own = git_dir(path)?;
    if own.parent() != Some(&common.join("worktrees")) {
        return None;
    }
    let Some(listed) = pointer(&own.join("gitdir")) else { return Some(TreeSort::Forgotten) };
    let there = own.join(listed);
    (there != dot_git && there.symlink_metadata().is_err()).then_some(TreeSort::Moved)
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes what is found")]

    use super::*;

    #[test]
    fn a_folder_that_git_does_not_list_is_told_by_its_link() {
        let root = tempfile::tempdir().unwrap();
        let main = root.path().canonicalize().unwrap();
        let write = |below: &str, text: String| {
            let path = main.join(below);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        let put = |name: &str| format!("{PUTS}/{name}/.git");
        let common = main.join(".git");
        let own = |id: &str| format!("gitdir: {}\n", common.join("worktrees").join(id).display());
        write(&put("forgotten"), own("forgotten"));
        write(&put("moved"), own("was-here"));
        write(".git/worktrees/was-here/gitdir", format!("{}\n", main.join("gone/.git").display()));
        write(&put("listed"), own("listed"));
        write(".git/worktrees/listed/gitdir", format!("{}\n", main.join(put("listed")).display()));
        write(&put("of-another"), "gitdir: /elsewhere/.git/worktrees/x\n".to_owned());
        write(&format!("{PUTS}/clone/.git/HEAD"), "ref: refs/heads/main\n".to_owned());
        write(&format!("{PUTS}/plain/a.txt"), String::new());
        let located = RepoLocation { common_dir: common, main: Some(main.clone()) };
        let mut problems = Vec::new();
        let found = read(&located, &[], &Fence::default(), &mut problems);
        let found: Vec<_> =
            found.iter().map(|one| (one.path.file_name().unwrap().to_str().unwrap(), one.sort)).collect();
        let expected =
            [("clone", TreeSort::Clone), ("forgotten", TreeSort::Forgotten), ("moved", TreeSort::Moved)];
        assert_eq!(found, expected, "{problems:?}");
    }
}
