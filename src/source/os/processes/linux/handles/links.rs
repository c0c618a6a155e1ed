//! What a process has open: the links in its folder `fd` (proc(5)).

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};

use rustix::fs::{AtFlags, Dir, Mode, OFlags, openat, readlinkat, statat};
use rustix::io::Errno;

use crate::core::model::{Interaction, Untrusted};

/// An open file without a path, by its inode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Nameless {
    Socket(u64),
    Pipe(u64),
}

/// Reads the target of one link, if it has no path.
pub(crate) fn nameless(at: BorrowedFd<'_>, path: &str) -> Option<Nameless> {
    understood(readlinkat(at, path, Vec::new()).ok()?.as_bytes())
}

fn understood(target: &[u8]) -> Option<Nameless> {
    let target = std::str::from_utf8(target).ok()?;
    let (sort, inode) = target.strip_suffix(']')?.split_once(":[")?;
    let inode = inode.parse().ok()?;
    match sort {
        "socket" => Some(Nameless::Socket(inode)),
        "pipe" => Some(Nameless::Pipe(inode)),
        _ => None,
    }
}

/// The facts that are read from all open files of a process.
#[derive(Default)]
pub(crate) struct LinkQuery {
    /// The inodes of its sockets, in order.
    pub(crate) sockets: Vec<u64>,
    /// The lock of a git repository.
    pub(crate) lock: Option<Untrusted>,
    /// A sign that a person may be working with it.
    pub(crate) interaction: Option<Interaction>,
}

/// Reads all links of a process once.
pub(crate) fn opened(folder: BorrowedFd<'_>) -> Result<LinkQuery, Errno> {
    let (mut opened, at) = (LinkQuery::default(), descriptors(folder)?);
    each(&at, |name| {
        let Ok(target) = readlinkat(&at, name, Vec::new()) else { return };
        let target = target.as_bytes();
        if let Some(Nameless::Socket(inode)) = understood(target) {
            opened.sockets.push(inode);
        } else if is_lock_of_git(target) {
            opened.lock = Some(Untrusted::from_bytes(target));
        } else if let Some(found) = interaction(target) {
            opened.interaction = Some(found);
        }
    })?;
    opened.sockets.sort_unstable();
    opened.sockets.dedup();
    Ok(opened)
}

/// A program that runs a virtual machine has one of these open: KVM's (`Documentation/virt/kvm/api.rst`),
/// VirtualBox's, VMware's.
const MACHINES: [&[u8]; 4] = [b"anon_inode:kvm-vm", b"/dev/vboxdrv", b"/dev/vboxdrvu", b"/dev/vmmon"];

/// Returns the interaction that an open device shows: the master side of a terminal (pts(4), also if it is mounted
/// elsewhere), a virtual machine, a keyboard or a mouse.
fn interaction(target: &[u8]) -> Option<Interaction> {
    if target.ends_with(b"/ptmx") {
        Some(Interaction::Terminals)
    } else if MACHINES.contains(&target) {
        Some(Interaction::Machine)
    } else if target.starts_with(b"/dev/input/") {
        Some(Interaction::Devices)
    } else {
        None
    }
}

/// Returns those of these pipes that a process can write into.
pub(crate) fn written(folder: BorrowedFd<'_>, pipes: &BTreeSet<u64>) -> Result<Vec<u64>, Errno> {
    let (mut inodes, at) = (Vec::new(), descriptors(folder)?);
    each(&at, |name| {
        let is_for_writing = || mode(at.as_fd(), name) & 0o200 != 0;
        if let Some(Nameless::Pipe(inode)) = nameless(at.as_fd(), name)
            && pipes.contains(&inode)
            && is_for_writing()
        {
            inodes.push(inode);
        }
    })?;
    Ok(inodes)
}

/// Returns whether this is the path of such a lock: git makes one of each file that it is to replace
/// (gitrepository-layout(5)).
fn is_lock_of_git(path: &[u8]) -> bool {
    let mut parts = path.split(|byte| *byte == b'/');
    let is_lock = parts.next_back().is_some_and(|name| name.ends_with(b".lock"));
    is_lock && parts.any(|folder| folder.ends_with(b".git"))
}

/// Returns the mode of a link in a process's folder `fd`, which shows how the file is open.
pub(crate) fn mode(at: BorrowedFd<'_>, link: &str) -> u32 {
    statat(at, link, AtFlags::SYMLINK_NOFOLLOW).map_or(0, |link| link.st_mode)
}

pub(crate) fn descriptors(folder: BorrowedFd<'_>) -> Result<OwnedFd, Errno> {
    openat(folder, "fd", OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty())
}

pub(crate) fn each(at: &OwnedFd, mut take: impl FnMut(&str)) -> Result<(), Errno> {
    for entry in Dir::read_from(at)? {
        if let Ok(name) = entry?.file_name().to_str() {
            take(name);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_of_git_lies_in_a_repository() {
        for path in ["/w/.git/index.lock", "/w/.git/worktrees/x/HEAD.lock", "/srv/shop.git/refs/heads/a.lock"]
        {
            assert!(is_lock_of_git(path.as_bytes()), "{path}");
        }
        for path in
            ["/w/Cargo.lock", "/w/.git/index", "/w/.git/index.lock (deleted)", "/w/.github/x.lock", ".lock"]
        {
            assert!(!is_lock_of_git(path.as_bytes()), "{path}");
        }
    }

    #[test]
    fn devices_that_a_person_uses_are_known_wherever_they_are_mounted() {
        for (target, expected) in [
            ("/dev/ptmx", Some(Interaction::Terminals)),
            ("/dev/pts/ptmx", Some(Interaction::Terminals)),
            ("anon_inode:kvm-vm", Some(Interaction::Machine)),
            ("/dev/vboxdrv", Some(Interaction::Machine)),
            ("/dev/input/event3", Some(Interaction::Devices)),
            ("/dev/pts/3", None),
            ("/dev/kvm", None),
            ("anon_inode:[eventpoll]", None),
            ("/home/dev/ptmx.c", None),
        ] {
            assert_eq!(interaction(target.as_bytes()), expected, "{target}");
        }
    }

    #[test]
    fn only_what_has_no_path_has_an_inode_in_its_link() {
        assert_eq!(understood(b"socket:[123]"), Some(Nameless::Socket(123)));
        assert_eq!(understood(b"pipe:[77]"), Some(Nameless::Pipe(77)));
        for target in
            ["/dev/null", "anon_inode:[eventfd]", "socket:[x]", "/tmp/socket:[1]", "pipe:[1] (deleted)"]
        {
            assert_eq!(understood(target.as_bytes()), None, "{target}");
        }
    }
}
