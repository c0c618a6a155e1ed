//! From any folder to its repository, as git itself finds it (gitrepository-layout(5)).

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::source::os::fence::{Fence, resolve};
use crate::source::os::open::plain::small;
use crate::source::repos::settings::settings;

/// How many folders upwards a repository is looked for.
const LEVELS: usize = 64;
/// The most bytes of `.git`, `commondir`, `gitdir` and `HEAD` files.
pub(crate) const POINTER: usize = 8 << 10;
/// The most bytes of `config` that are read.
const CONFIG: usize = 256 << 10;

/// A repository that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct RepoLocation {
    /// The common directory, resolved.
    pub(crate) common_dir: PathBuf,
    /// The main working tree, resolved; a bare repository has none.
    pub(crate) main: Option<PathBuf>,
}

/// Finds the repository that a folder lies in; the folder may be gone.
pub(crate) fn locate(folder: &Path, fence: &Fence) -> Option<RepoLocation> {
    if !folder.is_absolute() {
        return None;
    }
    let folder = fence.resolve(folder);
    folder.ancestors().take(LEVELS).take_while(|at| fence.allows(at)).find_map(|at| repository_at(at, fence))
}

/// Returns the repository whose working tree's top, or whose bare directory, is this folder.
pub(crate) fn repository_at(at: &Path, fence: &Fence) -> Option<RepoLocation> {
    let git_dir = git_dir(at)?;
    let common_dir = match pointer(&git_dir.join("commondir")) {
        Some(target) => fence.resolve(&git_dir.join(target)),
        None => git_dir.clone(),
    };
    if !fence.allows(&common_dir) || !is_repository(&common_dir) {
        return None;
    }
    // A folder with a `.git` that is not a linked one is the main working tree.
    let main =
        if common_dir == git_dir && at != git_dir { Some(at.to_path_buf()) } else { main_of(&common_dir) };
    Some(RepoLocation { common_dir, main })
}

/// Returns the directory that `.git` is or points to, or the folder itself when it is one.
pub(crate) fn git_dir(at: &Path) -> Option<PathBuf> {
    let dot_git = at.join(".git");
    match dot_git.metadata() {
        Ok(found) if found.is_dir() => dot_git.canonicalize().ok(),
        Ok(found) if found.is_file() => {
            let bytes = small(&dot_git, POINTER).ok()?;
            let target = bytes.trim_ascii_end().strip_prefix(b"gitdir: ")?;
            Some(resolve(&at.join(Path::new(std::ffi::OsStr::from_bytes(target)))))
        }
        Ok(_) => None,
        Err(_) => is_repository(at).then(|| at.to_path_buf()),
    }
}

/// Reads a file whose only line is a path.
pub(crate) fn pointer(file: &Path) -> Option<PathBuf> {
    let bytes = small(file, POINTER).ok()?;
    let path = bytes.trim_ascii_end();
    (!path.is_empty()).then(|| PathBuf::from(std::ffi::OsStr::from_bytes(path)))
}

/// Returns whether a directory is a repository: by git's rules, or because entire keeps its sessions in it, or because
/// it is named `.git` and has a head; even a damaged one shows which windows work where.
fn is_repository(dir: &Path) -> bool {
    let has_head = dir.join("HEAD").symlink_metadata().is_ok();
    let is_whole = has_head && dir.join("objects").is_dir() && dir.join("refs").is_dir();
    let is_named = dir.file_name().is_some_and(|name| name == ".git");
    is_whole || (is_named && (has_head || dir.join("entire-sessions").is_dir()))
}

/// Finds the main working tree of a common directory that was reached from a linked one.
fn main_of(common_dir: &Path) -> Option<PathBuf> {
    let config = small(&common_dir.join("config"), CONFIG).unwrap_or_default();
    let config = String::from_utf8_lossy(&config);
    if let Some(tree) = core_value(&config, "worktree") {
        return Some(resolve(&common_dir.join(tree)));
    }
    let is_bare = core_value(&config, "bare").as_deref() == Some("true");
    let is_inside = common_dir.file_name().is_some_and(|name| name == ".git");
    if is_inside && !is_bare { common_dir.parent().map(Path::to_path_buf) } else { None }
}

/// Returns a value of the section `core` of a repository's own configuration.
pub(crate) fn core_setting(git_dir: &Path, wanted: &str) -> Option<String> {
    let config = small(&git_dir.join("config"), CONFIG).ok()?;
    core_value(&String::from_utf8_lossy(&config), wanted)
}

/// Returns a value of the section `core` of a git configuration.
fn core_value(config: &str, wanted: &str) -> Option<String> {
    let wanted = format!("core.{}", wanted.to_ascii_lowercase());
    settings(config).into_iter().rev().find(|(name, _)| *name == wanted).map(|(_, value)| value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_section_core_is_read_and_no_other() {
        let config = "[remote \"x\"]\n\tbare = true\n[core]\n\tBare = false\n\tworktree = \"../../wt\"\n[a]\nbare = 1\n";
        assert_eq!(core_value(config, "bare").as_deref(), Some("false"));
        assert_eq!(core_value(config, "worktree").as_deref(), Some("../../wt"));
        assert_eq!(core_value("", "bare"), None);
    }
}
