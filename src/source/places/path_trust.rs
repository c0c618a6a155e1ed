//! Whether another user can change where a path leads.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// How many links one path may lead over, as for the kernel (path_resolution(7)).
const MAX_LINKS: usize = 40;

/// Only its owners rename what lies in a folder (inode(7)).
const STICKY: u32 = 0o1000;

/// Returns whether only this user and root can change where a path leads: every folder and every link on the way is
/// theirs, and no other user may write into these folders, unless files there stay their owner's.
pub(crate) fn is_steady(path: &Path, uid: u32) -> bool {
    let mut way = Way { at: PathBuf::from("/"), left: parts(path), links: 0 };
    while let Some(part) = way.left.pop_front() {
        if !way.step(&part, uid) {
            return false;
        }
    }
    path.is_absolute()
}

/// How far a path was followed.
struct Way {
    at: PathBuf,
    left: VecDeque<OsString>,
    links: usize,
}

impl Way {
    fn step(&mut self, part: &OsString, uid: u32) -> bool {
        if part == ".." {
            self.at.pop();
            return true;
        }
        let next = self.at.join(part);
        let Some(found) = next.symlink_metadata().ok().filter(|found| is_theirs(found, uid)) else {
            return false;
        };
        if found.is_symlink() {
            return self.turn(&next);
        }
        self.at = next;
        !others_may_rename(&found, uid)
    }

    fn turn(&mut self, link: &Path) -> bool {
        self.links += 1;
        let Some(target) = link.read_link().ok().filter(|_| self.links <= MAX_LINKS) else { return false };
        if target.is_absolute() {
            self.at = PathBuf::from("/");
        }
        parts(&target).into_iter().rev().for_each(|part| self.left.push_front(part));
        true
    }
}

fn parts(path: &Path) -> VecDeque<OsString> {
    let names = path.components().filter(|part| matches!(part, Component::Normal(_) | Component::ParentDir));
    names.map(|part| part.as_os_str().to_owned()).collect()
}

fn is_theirs(found: &Metadata, uid: u32) -> bool {
    found.uid() == uid || found.uid() == 0
}

/// Returns whether others may rename what lies in a folder. A group of the user's own number is by
/// convention the user alone.
fn others_may_rename(found: &Metadata, uid: u32) -> bool {
    let writable = if found.gid() == uid || found.gid() == 0 { 0o002 } else { 0o022 };
    found.mode() & writable != 0 && found.mode() & STICKY == 0
}

#[cfg(test)]
mod tests {
    use std::fs::{Permissions, create_dir, set_permissions};
    use std::os::unix::fs::{PermissionsExt, symlink};

    use super::*;

    #[test]
    fn a_path_that_others_can_turn_elsewhere_is_not_steady() {
        let world = tempfile::tempdir().unwrap();
        let at = |below: &str| world.path().join(below);
        for (name, mode) in [("own", 0o700), ("open", 0o777), ("sticky", 0o1777)] {
            create_dir(at(name)).unwrap();
            set_permissions(at(name), Permissions::from_mode(mode)).unwrap();
            create_dir(at(name).join("home")).unwrap();
        }
        symlink("own/home", at("near")).unwrap();
        symlink(at("open/home"), at("far")).unwrap();
        symlink("../own/home", at("open/link")).unwrap();
        symlink("round", at("round")).unwrap();
        let uid = rustix::process::getuid().as_raw();
        for (path, expected) in [
            ("own/home", true),
            ("sticky/home", true),
            ("near", true),
            ("own/../near", true),
            ("open/home", false),
            ("far", false),
            ("open/link", false),
            ("round", false),
            ("none", false),
        ] {
            assert_eq!(is_steady(&at(path), uid), expected, "{path}");
        }
        assert!(!is_steady(Path::new("own/home"), uid), "not told from where");
    }

    #[test]
    fn what_belongs_to_another_is_not_steady() {
        let world = tempfile::tempdir().unwrap();
        let uid = rustix::process::getuid().as_raw();
        assert_eq!(is_steady(world.path(), uid + 1), uid == 0, "root's is everybody's");
    }
}
