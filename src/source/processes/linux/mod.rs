//! Linux: straight from `/proc`, with pidfds for whoever matters.

mod chain;
mod closer;
mod completeness;
mod details;
mod known;
mod pidfd;
mod proc;
mod stat;
mod tty;

use std::collections::{BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

use rustix::fs::{CWD, Dir, DirEntry, Mode, OFlags, openat, readlinkat};

pub(super) use self::chain::chain;
use self::closer::{Closer, Kept};
use self::known::Known;
pub(super) use self::pidfd::inode_of as pidfd_inode;
pub(in crate::source) use self::pidfd::of as pidfd_of;
use self::proc::{Proc, Reading};
use super::{Depth, Wanted};
use crate::core::agent::Candidates;
use crate::core::process::{Process, ProcessTable, ancestry};

/// Returns the ticks per second in which the kernel tells starts (`sysconf(_SC_CLK_TCK)`).
pub(super) fn ticks_per_second() -> u64 {
    rustix::param::clock_ticks_per_second()
}

/// Returns the paths of the files that a process has open (proc(5), `fd`).
pub(super) fn open_files(pid: u32) -> Vec<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, format!("/proc/{pid}/fd"), flags, Mode::empty()) else { return Vec::new() };
    let Ok(entries) = Dir::read_from(&folder) else { return Vec::new() };
    let target = |entry: DirEntry| readlinkat(&folder, entry.file_name(), Vec::new()).ok();
    let targets = entries.filter_map(|entry| target(entry.ok()?));
    let is_path = |target: &CString| target.as_bytes().starts_with(b"/");
    targets.filter(is_path).map(|target| OsStr::from_bytes(target.as_bytes()).into()).collect()
}

/// What one scan leaves for the next.
#[derive(Default)]
pub(super) struct Scanner {
    /// The details that do not change while a process runs one program.
    kept: HashMap<u32, Kept>,
    known: Known,
}

impl Scanner {
    pub(super) fn scan(&mut self, wanted: Wanted<'_>, depth: Depth) -> ProcessTable {
        let mut proc = match Proc::open() {
            Ok(proc) => proc,
            Err(error) => return ProcessTable { partial: Some(error), ..ProcessTable::default() },
        };
        let (listing, failure) = proc.list();
        let mut table = ProcessTable { partial: failure, ..ProcessTable::default() };
        let mut entries = Vec::with_capacity(listing.len());
        let mut before = self.known.renew(listing.len());
        for (pid, inode) in listing {
            let known = before.take(pid, inode).filter(|known| known.lasts(depth));
            let (reading, is_kernels) = match known {
                Some(known) => (Reading::Read(known.process), known.is_kernels),
                None => (proc.process(pid), proc.was_kernels()),
            };
            match reading {
                Reading::Read(process) => {
                    self.known.keep(inode, &process, is_kernels);
                    entries.push((pid, process));
                }
                Reading::Unreadable => {}
                // It has exited since it was listed.
                Reading::Gone => continue,
            }
            table.listed.insert(pid);
        }
        table.by_pid = entries.into_iter().collect();
        table.partial = table.partial.or_else(|| completeness::doubt(&proc));
        self.look_closer(&mut proc, &mut table, wanted);
        table
    }

    /// Returns whether a possible agent has come, stopped or gone on since the last look. It costs
    /// one listing of `/proc`, and one `stat` of each possible agent and of whoever is young.
    pub(super) fn has_news(&mut self, candidates: &Candidates) -> bool {
        let Ok(mut proc) = Proc::open() else { return false };
        let (listing, _) = proc.list();
        self.known.tell_time();
        let mut is_any = false;
        for (pid, inode) in listing {
            let known = self.known.get(pid, inode);
            let is_one = |process: &Process| candidates.may_be(process.comm.raw());
            let before = known.filter(|known| is_one(&known.process)).map(|known| known.process.state);
            if before.is_none() && known.is_some_and(|known| known.is_settled) {
                continue;
            }
            if let Reading::Read(process) = proc.process(pid) {
                is_any |= is_one(&process) && before != Some(process.state);
                self.known.keep(inode, &process, proc.was_kernels());
            }
        }
        is_any
    }

    /// Replaces the entries of those who matter by a closer look at each.
    fn look_closer(&mut self, proc: &mut Proc, table: &mut ProcessTable, wanted: Wanted<'_>) {
        let mut kept = HashMap::new();
        for pid in those_who_matter(table, wanted) {
            match closer::look(proc, pid, self.kept.remove(&pid)) {
                Closer::Read(process, keep) => {
                    kept.insert(pid, keep);
                    table.by_pid.insert(pid, *process);
                }
                Closer::Unreadable => {}
                Closer::Gone => {
                    table.by_pid.remove(&pid);
                    table.listed.remove(&pid);
                }
            }
        }
        self.kept = kept;
    }
}

/// Returns possible agents, whoever records name, and all their ancestors.
fn those_who_matter(table: &ProcessTable, wanted: Wanted<'_>) -> BTreeSet<u32> {
    let candidates = table.by_pid.values().filter(|process| wanted.matters(process.comm.raw()));
    let named = wanted.named.iter().filter(|pid| table.by_pid.contains_key(pid)).copied();
    let mut those = BTreeSet::new();
    for pid in candidates.map(|process| process.id.pid).chain(named) {
        if those.contains(&pid) {
            continue;
        }
        those.extend(ancestry(table, pid).into_iter().map(|process| process.id.pid));
    }
    those
}
