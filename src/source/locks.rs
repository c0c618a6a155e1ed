//! Who holds kernel locks on files, from `/proc/locks` (proc(5)).

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::path::Path;

use rustix::fs::makedev;

use super::open::small;
use super::opener;
use crate::core::file::FileMeta;

/// The most bytes of locks that are read.
const LOCKS: usize = 4 << 20;

/// Every held lock: device and inode, and the PID.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct Locks {
    /// Every file that is locked by anybody, also by whom the list does not tell.
    locked: HashSet<(u64, u64)>,
    holders: HashMap<(u64, u64), u32>,
    /// Who holds SQLite's lock for writing.
    writers: HashMap<(u64, u64), u32>,
}

/// The byte that whoever is about to write an SQLite database locks (`RESERVED_BYTE`,
/// sqlite.org/src/file/src/os.h).
const RESERVED: u64 = 0x4000_0001;

impl Locks {
    /// Reads all locks; none where the system has no such list.
    pub fn read() -> Self {
        let text = small(Path::new("/proc/locks"), LOCKS).unwrap_or_default();
        parse(&String::from_utf8_lossy(&text))
    }

    /// Returns the PID that holds a lock on a file. A holder without a PID of its own, as of a
    /// lock that belongs to an open file, or in another PID namespace, is not told.
    pub fn holder(&self, meta: &FileMeta) -> Option<u32> {
        self.holders.get(&(meta.dev, meta.ino)).copied()
    }

    /// Returns the PID that is writing an SQLite database, or is about to.
    pub fn writer(&self, meta: &FileMeta) -> Option<u32> {
        self.writers.get(&(meta.dev, meta.ino)).copied()
    }
}

/// Returns whether any process holds a lock on a file, also one that belongs to an open file.
///
/// The list names the device of a whole file system, and what a file of btrfs says is another one:
/// there only the process itself tells that it is this very file.
pub(crate) fn is_locked(name: &OsStr, meta: &FileMeta) -> bool {
    let locked = Locks::read().locked;
    locked.contains(&(meta.dev, meta.ino))
        || locked.iter().any(|(_, ino)| *ino == meta.ino) && opener::locker_of(name, meta).is_some()
}

/// Returns a process that holds a lock on a file, as far as can be seen.
pub(crate) fn locker_of(name: &OsStr, meta: &FileMeta) -> Option<u32> {
    Locks::read().holder(meta).or_else(|| opener::locker_of(name, meta))
}

fn parse(text: &str) -> Locks {
    let told = |line| held(line).and_then(|(id, pid)| Some((id, pid?)));
    let writers = text.lines().filter(|line| is_reserving(line)).filter_map(told).collect();
    let locked = text.lines().filter_map(held).map(|(id, _)| id).collect();
    Locks { locked, holders: text.lines().filter_map(told).collect(), writers }
}

/// Reads one line, such as `1: FLOCK  ADVISORY  WRITE 708 08:01:1234 0 EOF`; a line with `->`
/// only waits. The PID is left out where it is not told.
fn held(line: &str) -> Option<((u64, u64), Option<u32>)> {
    let mut fields = line.split_ascii_whitespace().skip(1);
    if fields.next()? == "->" {
        return None;
    }
    let pid = fields.nth(2)?.parse().ok().filter(|pid| *pid > 0);
    let mut place = fields.next()?.split(':');
    let major = u32::from_str_radix(place.next()?, 16).ok()?;
    let minor = u32::from_str_radix(place.next()?, 16).ok()?;
    Some(((makedev(major, minor), place.next()?.parse().ok()?), pid))
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

#[cfg(test)]
mod tests {
    use super::*;

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
