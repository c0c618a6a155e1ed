//! Which processes hold kernel locks on files, from `/proc/locks` (proc(5)).

use std::cell::OnceCell;
use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::makedev;

use crate::core::model::FileMeta;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::source::os::open::meta::wide;
use crate::source::os::open::plain::small;
use crate::source::os::{host, opener};

/// The most bytes of locks that are read.
const LOCKS: usize = 4 << 20;

/// Every held lock: device and inode, and the PID.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// Every locked file, also those whose holder the list does not show.
    locked: HashSet<(u64, u64)>,
    holders: HashMap<(u64, u64), u32>,
    /// The processes that hold SQLite's lock for writing.
    writers: HashMap<(u64, u64), u32>,
    /// The inodes of the files that processes hold locks on, read if the list is short.
    by_descriptor: OnceCell<HashSet<u64>>,
}

/// The byte that a process locks before it writes an SQLite database (`RESERVED_BYTE`, sqlite.org/src/file/src/os.h).
const RESERVED: u64 = 0x4000_0001;

impl Locks {
    /// Reads all locks; none if the system has no such list.
    pub fn read() -> Self {
        let text = small(Path::new("/proc/locks"), LOCKS).unwrap_or_default();
        parse(&String::from_utf8_lossy(&text))
    }

    /// Returns the PID that took a lock on a file, as the list has it. A holder without a PID, as of a lock that
    /// belongs to an open file, or in another PID namespace, is not known.
    pub fn holder(&self, meta: &FileMeta) -> Option<u32> {
        self.holders.get(&(meta.dev, meta.ino)).copied()
    }

    /// Returns whether a file is locked by an unknown holder.
    pub(crate) fn hides_holder(&self, meta: &FileMeta) -> bool {
        let id = (meta.dev, meta.ino);
        self.locked.contains(&id) && !self.holders.contains_key(&id)
    }

    /// Returns the PID that holds a lock on a file at this moment; 0 if the holder cannot be identified. The process
    /// that took the lock may have died and left it to a child (flock(2)).
    pub(crate) fn held_by(&self, name: &OsStr, meta: &FileMeta) -> Option<u32> {
        let taken_by = self.holder(meta);
        if taken_by.is_some_and(|pid| opener::is_locker(pid, name, meta)) {
            return taken_by;
        }
        match self.listing(meta) {
            Listing::This => Some(opener::locker_of(name, meta).unwrap_or(0)),
            Listing::Perhaps => opener::locker_of(name, meta),
            Listing::No => None,
        }
    }

    /// Returns what the list shows about a file. The list has the device of a whole file system, while a btrfs file
    /// reports another one; and in a PID namespace other than the first it lacks a lock whose taker has exited
    /// (`locks_show` of the kernel).
    fn listing(&self, meta: &FileMeta) -> Listing {
        let is_short = || host::pid_namespace() != Some(INITIAL_PID_NAMESPACE);
        let has_descriptor = || self.by_descriptor.get_or_init(opener::locked).contains(&meta.ino);
        if self.locked.contains(&(meta.dev, meta.ino)) {
            Listing::This
        } else if self.locked.iter().any(|(_, ino)| *ino == meta.ino) || is_short() && has_descriptor() {
            Listing::Perhaps
        } else {
            Listing::No
        }
    }

    /// Returns the PID that is writing an SQLite database, or is about to.
    pub(crate) fn writer(&self, meta: &FileMeta) -> Option<u32> {
        self.writers.get(&(meta.dev, meta.ino)).copied()
    }
}

/// What the list of all locks shows about a file.
enum Listing {
    This,
    /// It may be listed: only its process can show it.
    Perhaps,
    No,
}

/// Returns whether any process holds a lock on a file, also one that belongs to an open file.
pub(crate) fn is_locked(name: &OsStr, meta: &FileMeta) -> bool {
    match Locks::read().listing(meta) {
        Listing::This => true,
        Listing::Perhaps => opener::locker_of(name, meta).is_some(),
        Listing::No => false,
    }
}

/// Returns a process that holds a lock on a file, as far as can be seen.
pub(crate) fn locker_of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    Locks::read().holder(meta).or_else(|| opener::locker_of(name, meta))
}

fn parse(text: &str) -> Locks {
    let holder = |line| held(line).and_then(|(id, pid)| Some((id, pid?)));
    let writers = text.lines().filter(|line| is_reserving(line)).filter_map(holder).collect();
    let locked = text.lines().filter_map(held).map(|(id, _)| id).collect();
    let holders = text.lines().filter_map(holder).collect();
    Locks { locked, holders, writers, by_descriptor: OnceCell::new() }
}

/// Reads one line, such as `1: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF`; a line with `->` only waits. The PID is
/// left out if it is not known.
fn held(line: &str) -> Option<((u64, u64), Option<u32>)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    if fields.next()? == "->" {
        return None;
    }
    let pid = fields.nth(2)?.parse().ok().filter(|pid| *pid > 0);
    let mut place = fields.next()?.split(':');
    let major = u32::from_str_radix(place.next()?, 16).ok()?;
    let minor = u32::from_str_radix(place.next()?, 16).ok()?;
    Some(((wide(makedev(major, minor)), place.next()?.parse().ok()?), pid))
}

/// A process that waits for a lock.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct LockWait {
    /// Its PID.
    pub(crate) waiter: u32,
    /// The process that has taken the lock, which may have died and left it to a child (flock(2)).
    pub(crate) taken_by: u32,
    /// The inode of the locked file.
    pub(crate) inode: u64,
}

/// Returns every process that waits for a lock whose taker is listed; none if the system has no such list.
pub(crate) fn lock_waits() -> Vec<LockWait> {
    let text = small(Path::new("/proc/locks"), LOCKS).unwrap_or_default();
    waits_in(&String::from_utf8_lossy(&text))
}

/// Reads the lines of waiting processes, which begin with the number of the lock that they wait for:
/// `2: -> FLOCK  ADVISORY  WRITE 709 08:01:77 0 EOF`.
fn waits_in(text: &str) -> Vec<LockWait> {
    let number = |line: &str| line.split_ascii_whitespace().next().map(str::to_owned);
    let takers = text.lines().filter_map(|line| {
        let ((_, inode), pid) = held(line)?;
        Some((number(line)?, (pid?, inode)))
    });
    let takers: HashMap<String, (u32, u64)> = takers.collect();
    let wait = |line: &str| {
        let mut fields = line.split_ascii_whitespace().skip(1);
        let is_waiting = fields.next()? == "->";
        let (taken_by, inode) = *takers.get(&number(line)?).filter(|_| is_waiting)?;
        let waiter = fields.nth(3)?.parse().ok().filter(|pid| *pid > 0)?;
        Some(LockWait { waiter, taken_by, inode })
    };
    text.lines().filter_map(wait).collect()
}

/// Returns whether a line is of a POSIX lock for writing that covers SQLite's reserved byte;
/// SQLite takes no others.
fn is_reserving(line: &str) -> bool {
    let fields: Vec<&str> = line.split_ascii_whitespace().collect();
    let [_, sort, _, mode, _, _, start, end] = fields.as_slice() else { return false };
    let covers = start.parse().is_ok_and(|start: u64| start <= RESERVED)
        && (*end == "EOF" || end.parse().is_ok_and(|end: u64| end >= RESERVED));
    *sort == "POSIX" && *mode == "WRITE" && covers
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test starts whom it looks at")]

    use std::process::{Command, Stdio};

    use super::*;
    use crate::source::os::open::meta::meta_of;

    #[test]
    fn a_lock_that_its_taker_left_to_a_child_is_the_childs() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let name = file.path().file_name().unwrap();
        let meta = meta_of(&rustix::fs::stat(file.path()).unwrap());
        assert_eq!(Locks::read().held_by(name, &meta), None);
        // The list in the machine's first PID namespace; a later one leaves out locks whose taker has exited.
        let listed = |taker: u32| {
            let (major, minor) = (rustix::fs::major(meta.dev), rustix::fs::minor(meta.dev));
            parse(&format!("1: FLOCK  ADVISORY  WRITE {taker} {major:02x}:{minor:02x}:{} 0 EOF", meta.ino))
        };
        let own = std::fs::File::open(file.path()).unwrap();
        // The shell takes the lock, starts a child that has it as well, and ends.
        let script = "exec 3<&0; flock --nonblock 3 && { sleep 600 >/dev/null 2>&1 & echo $$ $!; }";
        let shell = Command::new("sh").args(["-c", script]).stdin(Stdio::from(own)).output().unwrap();
        let text = String::from_utf8(shell.stdout).unwrap();
        let pids: Vec<u32> = text.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        let [taker, child] = pids[..] else { panic!("{text}") };
        let held_by = listed(taker).held_by(name, &meta);
        let child_pid = rustix::process::Pid::from_raw(child.cast_signed()).unwrap();
        rustix::process::kill_process(child_pid, rustix::process::Signal::KILL).unwrap();
        assert_eq!(held_by, Some(child));
        let is_free = (0..500).any(|_| opener::locker_of(name, &meta).is_none());
        assert!(is_free);
    }

    #[test]
    fn held_locks_are_told_and_waiting_ones_are_not() {
        let locks = parse(
            "1: POSIX  ADVISORY  WRITE 1699 fe:01:43529 1073741826 1073742335\n\
             2: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF\n\
             2: -> FLOCK  ADVISORY  WRITE 709 08:01:77 0 EOF\n\
             3: OFDLCK ADVISORY  READ  -1 08:01:5 0 EOF\n\
             4: nonsense\n",
        );
        assert_eq!((locks.locked.len(), locks.holders.len()), (3, 2));
        assert!(locks.locked.contains(&(makedev(8, 1), 5)));
        assert_eq!(locks.holders.get(&(makedev(0xfe, 1), 43_529)), Some(&1_699));
        assert_eq!(locks.holders.get(&(makedev(8, 1), 1_234)), Some(&708));
    }

    #[test]
    fn a_waiting_process_is_found_with_the_taker_of_the_lock() {
        let waits = waits_in(
            "1: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF\n\
             1: -> FLOCK  ADVISORY  WRITE 709 08:01:1234 0 EOF\n\
             1:    -> FLOCK  ADVISORY  WRITE 710 08:01:1234 0 EOF\n\
             2: OFDLCK ADVISORY  WRITE -1 08:01:5 0 EOF\n\
             2: -> OFDLCK ADVISORY  WRITE -1 08:01:5 0 EOF\n\
             3: -> POSIX  ADVISORY  WRITE 711 08:01:6 0 EOF\n\
             4: nonsense -> \n",
        );
        let wait = |waiter| LockWait { waiter, taken_by: 708, inode: 1_234 };
        assert_eq!(waits, [wait(709), wait(710)]);
    }

    #[test]
    fn who_writes_a_database_is_told_and_who_reads_it_is_not() {
        let locks = parse(
            "1: POSIX  ADVISORY  WRITE 9 fe:01:7 1073741825 1073741825\n\
             2: POSIX  ADVISORY  WRITE 10 fe:01:9 1073741824 1073742335\n\
             3: POSIX  ADVISORY  READ 8 fe:01:8 1073741826 1073742335\n\
             4: POSIX  ADVISORY  WRITE 8 fe:01:8 1073741826 1073742335\n\
             5: FLOCK  ADVISORY  WRITE 708 fe:01:11 0 EOF\n",
        );
        let of = |ino| (makedev(0xfe, 1), ino);
        assert_eq!(locks.writers, HashMap::from([(of(7), 9), (of(9), 10)]));
    }
}
