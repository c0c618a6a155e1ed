//! The other end of a process's standard input.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::os::fd::{AsFd, BorrowedFd};

use rustix::io::Errno;
use rustix::net::AddressFamily;

use crate::core::model::{InputEnd, ProcessId};
use crate::source::os::processes::linux::completeness;
use crate::source::os::processes::linux::handles::links::{Nameless, nameless, written};
use crate::source::os::processes::linux::proc::status;
use crate::source::os::processes::linux::proc::{Proc, is_gone, slurp};
use crate::source::os::processes::linux::sockets::diag::{dump, u16_at, u32_at};

/// `UDIAG_SHOW_PEER` and `UNIX_DIAG_PEER` of `linux/unix_diag.h`.
const SHOW_PEER: u32 = 4;
const PEER: u16 = 2;
/// The length of `struct unix_diag_msg`.
const MESSAGE: usize = 16;

/// Returns the other end of each process's input, for processes for which it can be determined.
pub(crate) fn inputs(proc: &mut Proc, those: &[ProcessId], uid: u32) -> BTreeMap<ProcessId, InputEnd> {
    let own = those.iter().filter_map(|id| Some((*id, nameless(proc.folder_of(*id)?.as_fd(), "fd/0")?)));
    let own: BTreeMap<ProcessId, Nameless> = own.collect();
    let pipe = |input: &Nameless| match input {
        Nameless::Pipe(inode) => Some(*inode),
        Nameless::Socket(_) => None,
    };
    let pipes: BTreeSet<u64> = own.values().filter_map(pipe).collect();
    let written = if pipes.is_empty() { None } else { all_written(proc, &pipes, uid) };
    let peers = if pipes.len() == own.len() { HashMap::new() } else { peers().unwrap_or_default() };
    let end = |input: &Nameless| {
        let is_open = match input {
            Nameless::Pipe(inode) => written.as_ref()?.contains(inode),
            Nameless::Socket(inode) => *peers.get(inode)? != 0,
        };
        Some(if is_open { InputEnd::Open } else { InputEnd::Closed })
    };
    own.iter().filter_map(|(id, input)| Some((*id, end(input)?))).collect()
}

/// Returns which of these pipes a process of this user can write into; `None` if a process could not be inspected.
fn all_written(proc: &mut Proc, pipes: &BTreeSet<u64>, uid: u32) -> Option<BTreeSet<u64>> {
    let (mut all, mut seen) = (BTreeSet::new(), BTreeSet::new());
    // A process forked meanwhile may have a pipe that its parent has closed since.
    for _ in 0..2 {
        let (listing, failure) = proc.list();
        if failure.or_else(|| completeness::doubt(proc)).is_some() {
            return None;
        }
        for (pid, inode) in listing {
            if seen.insert((pid, inode)) {
                all.extend(written_by(proc, pid, pipes, uid)?);
            }
        }
    }
    Some(all)
}

/// Returns the same of one process; none if it has exited.
pub(crate) fn written_by(proc: &mut Proc, pid: u32, pipes: &BTreeSet<u64>, uid: u32) -> Option<Vec<u64>> {
    let folder = match proc.folder(pid) {
        Ok(folder) => folder,
        Err(error) => return is_gone(error).then(Vec::new),
    };
    match written(folder.as_fd(), pipes) {
        Ok(own) => Some(own),
        Err(error) => (is_gone(error) || is_anothers(folder.as_fd(), uid)).then(Vec::new),
    }
}

/// Returns whether a process is another user's. The owner of its folder does not show that: the folder of a process
/// that may not be inspected is root's.
fn is_anothers(folder: BorrowedFd<'_>, uid: u32) -> bool {
    let mut text = Vec::new();
    let outcome: Result<(), Errno> = slurp(folder, "status", &mut text, status::MOST);
    outcome.is_ok() && status::user(&text).is_some_and(|user| user != uid)
}

/// Returns the inodes of the peers of all unix sockets that have one; 0 for a closed peer.
pub(crate) fn peers() -> Option<HashMap<u64, u32>> {
    let mut request = vec![u8::try_from(AddressFamily::UNIX.as_raw()).ok()?, 0, 0, 0];
    for number in [u32::MAX, 0, SHOW_PEER, 0, 0] {
        request.extend(number.to_ne_bytes());
    }
    Some(dump(&request).ok()?.iter().filter_map(|answer| peer(answer)).collect())
}

/// Parses a `struct unix_diag_msg` with its attributes (netlink(7)).
fn peer(answer: &[u8]) -> Option<(u64, u32)> {
    let inode = u32_at(answer, 4)?;
    let mut rest = answer.get(MESSAGE..)?;
    loop {
        let length = usize::from(u16_at(rest, 0)?);
        if u16_at(rest, 2)? == PEER {
            return Some((inode.into(), u32_at(rest.get(..length)?, 4)?));
        }
        rest = rest.get(length.next_multiple_of(4).max(4)..)?;
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the tests start processes")]
mod tests {
    use std::os::fd::OwnedFd;
    use std::os::unix::net::UnixStream;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::processes::linux::proc::Reading;
    use crate::source::os::processes::started::spawn;

    fn sleep(input: impl Into<Stdio>) -> Child {
        spawn(Command::new("/bin/sleep").arg("600").stdin(input))
    }

    fn input(child: &Child) -> Option<InputEnd> {
        let mut proc = Proc::open().unwrap();
        let Reading::Read(line) = proc.process(child.id()) else { panic!("it runs") };
        let uid = rustix::process::geteuid().as_raw();
        inputs(&mut proc, &[line.process.id], uid).remove(&line.process.id)
    }

    #[track_caller]
    fn check(mut child: Child, other_end: OwnedFd) {
        let open = input(&child);
        drop(other_end);
        let mut closed = input(&child);
        // A process that another test forks has our end until it runs a program of its own.
        while closed == Some(InputEnd::Open) {
            closed = input(&child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
        // Unknown if the kernel may not be queried, or if not all processes may be inspected.
        let is_known = open.is_some() && closed.is_some();
        assert!(!is_known || (open, closed) == (Some(InputEnd::Open), Some(InputEnd::Closed)), "{open:?}");
    }

    #[test]
    fn who_has_asked_a_server_shows_at_its_input() {
        let (ours, theirs) = UnixStream::pair().unwrap();
        check(sleep(OwnedFd::from(theirs)), OwnedFd::from(ours));
        let mut child = sleep(Stdio::piped());
        let ours = child.stdin.take().unwrap();
        check(child, OwnedFd::from(ours));
    }

    #[test]
    fn an_end_without_another_is_nobodys() {
        let mut child = sleep(Stdio::null());
        let end = input(&child);
        child.kill().unwrap();
        child.wait().unwrap();
        assert_eq!(end, None);
    }

    #[test]
    fn the_peer_is_among_the_attributes() {
        let head = [&[1, 1, 1, 0][..], &77_u32.to_ne_bytes(), &[0; 8]].concat();
        let attribute = |kind: u16, value: u32| {
            [&8_u16.to_ne_bytes()[..], &kind.to_ne_bytes(), &value.to_ne_bytes()].concat()
        };
        let with = |rest: &[Vec<u8>]| peer(&[head.clone(), rest.concat()].concat());
        assert_eq!(with(&[attribute(6, 5), attribute(PEER, 78)]), Some((77, 78)));
        assert_eq!(with(&[attribute(PEER, 0)]), Some((77, 0)));
        assert_eq!(with(&[attribute(6, 5)]), None);
        assert_eq!(with(&[vec![0; 4], vec![2, 0, 2, 0]]), None);
    }
}
