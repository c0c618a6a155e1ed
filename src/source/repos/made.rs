//! What files show about a working tree that an agent made.

use std::path::Path;

use rustix::fs::{Stat, stat};

use super::head::Commit;
use crate::core::model::text::is_uuid;
use crate::core::model::{MadeTree, Untrusted};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::plain::small;
use crate::source::repos::objects::{Name, parse_name};

/// The file in which Claude Code notes the commit that a tree began from.
const BASE: &str = "CLAUDE_BASE";
/// How Claude Code's reason for a lock begins.
const REASON: &str = "claude ";
/// The most bytes of `CLAUDE_BASE`.
const MOST_BASE: usize = 4 << 10;
/// The most bytes of a log in which every move of the head is looked at.
const MOST_LOG: usize = 256 << 10;

/// Reads the facts of a linked tree from its folder below `worktrees`; `None` if nothing shows that an agent made it.
pub(super) fn made(own: &Path, common: &Path, path: &Path, locked: Option<&Untrusted>) -> Option<MadeTree> {
    let base = small(&own.join(BASE), MOST_BASE).ok();
    let is_locked_by_agent = locked.is_some_and(|reason| reason.raw().starts_with(REASON));
    if base.is_none() && !is_locked_by_agent && !is_agents_place(path) {
        return None;
    }
    let head = Commit::checked_out(own, common);
    let base = base.and_then(|base| parse_name(base.trim_ascii()));
    let log = || small(&own.join("logs/HEAD"), MOST_LOG).ok();
    let has_no_commit =
        base.is_some() && base == head && log().zip(base).is_some_and(|(log, base)| stayed(&log, &base));
    let main = head.and_then(|_| Commit::checked_out(common, common));
    Some(MadeTree { has_no_commit, is_at_main: head.is_some() && head == main, users: None })
}

/// Returns whether a folder lies where only agents put one: among a session's own things, which bear its ID, or among
/// the trees of Claude Code or Codex, by its path.
fn is_agents_place(path: &Path) -> bool {
    let parts: Vec<&str> = path.iter().filter_map(|part| part.to_str()).collect();
    let names_session = parts.iter().any(|part| is_uuid(part));
    names_session || parts.windows(2).any(|two| matches!(two, [".claude" | ".codex", "worktrees"]))
}

/// Returns whether a head has only ever stood at one commit: its log is whole, from its first line on,
/// and names no other. A commit that was taken back is in it.
fn stayed(log: &[u8], base: &Name) -> bool {
    let mut lines = log.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()).peekable();
    let is_whole = lines.peek().is_some_and(|first| first.iter().take(40).all(|byte| *byte == b'0'));
    let new = |line: &[u8]| parse_name(line.get(41..81)?);
    is_whole && lines.all(|line| new(line).is_some_and(|name| name == *base))
}

/// Returns whether a folder has certainly gone. A folder on a file system that is not mounted now looks the same: so
/// the folder above must be one of the repository's owner, on the repository's own device, and not empty, as a mount
/// point would be.
pub(super) fn is_gone(path: &Path, common: &Path) -> bool {
    if path.symlink_metadata().is_ok() {
        return false;
    }
    let Ok(repo) = stat(common) else { return false };
    let above = path.ancestors().skip(1).find_map(|above| Some((above, stat(above).ok()?)));
    above.is_some_and(|(above, stat)| is_alike(&stat, &repo) && has_entries(above))
}

fn is_alike(one: &Stat, other: &Stat) -> bool {
    (one.st_dev, one.st_uid) == (other.st_dev, other.st_uid)
}

fn has_entries(folder: &Path) -> bool {
    Folder::open(folder).and_then(|folder| folder.entries(|_| true)).is_ok_and(|entries| !entries.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: &str = "d5bd669c76d540d7f64830d021f124522c02df74";
    const B: &str = "87d138daf76b1ad57337db38672ecd8e4e24637b";
    const NONE: &str = "0000000000000000000000000000000000000000";

    #[track_caller]
    fn check(moves: &[(&str, &str)], expected: bool) {
        let line = |(from, to): &(&str, &str)| format!("{from} {to} dev <dev@x> 1795420797 +0000\tmove\n");
        let log: String = moves.iter().map(line).collect();
        assert_eq!(stayed(log.as_bytes(), &parse_name(A.as_bytes()).unwrap()), expected, "{moves:?}");
    }

    #[test]
    fn a_head_that_has_moved_had_a_commit_also_where_that_was_taken_back() {
        check(&[(NONE, A)], true);
        check(&[(NONE, A), (A, A)], true);
        check(&[(NONE, A), (A, B), (B, A)], false);
        check(&[(NONE, A), (A, B)], false);
        // An entry that expired from it may have been a commit.
        check(&[(A, A)], false);
        check(&[], false);
    }

    #[test]
    fn a_folder_has_gone_only_where_no_mount_can_hide_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = |below: &str| folder.path().join(below);
        for below in ["shop/.git", "shop/trees/other", "disk"] {
            std::fs::create_dir_all(path(below)).unwrap();
        }
        let common = path("shop/.git");
        assert!(is_gone(&path("shop/trees/fix"), &common));
        assert!(is_gone(&path("shop/gone/trees/fix"), &common));
        assert!(!is_gone(&path("shop/trees/other"), &common));
        // An empty folder can be a place to mount on.
        assert!(!is_gone(&path("disk/trees/fix"), &common));
        assert!(!is_gone(Path::new("/proc/no-such/fix"), &common), "another device");
    }
}
