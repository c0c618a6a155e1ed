//! Linux: straight from `/proc`, with pidfds for the processes that matter.

pub(crate) mod chain;
pub(crate) mod closer;
pub(crate) mod completeness;
pub(crate) mod cost;
pub(crate) mod details;
pub(crate) mod folders;
pub(crate) mod handles;
pub(crate) mod known;
pub(crate) mod namespace;
pub(crate) mod pidfd;
pub(crate) mod print;
pub(crate) mod proc;
pub(crate) mod single;
pub(crate) mod sockets;
pub(crate) mod trace;

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::ffi::{CString, OsStr};
use std::os::fd::AsFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, Dir, DirEntry, Mode, OFlags, openat, readlinkat};
use rustix::io::Errno;

pub(crate) use self::chain::chain;
pub(crate) use self::folders::{View, own_view, view_of, working_folder};
pub(crate) use self::known::settled_tick;
pub(crate) use self::pidfd::{inode_of as pidfd_inode, lives, lives_by_inode, open_verified as pidfd_of};
pub(crate) use self::proc::stat::ticks_per_second;
pub(crate) use self::single::single;
use crate::core::judge::window::agent::Candidates;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::{
    CallProcesses, CallWait, Household, InnerPids, InputEnd, Interaction, Load, Member, Port, ProcessId,
    ProcessState, ProcessTable, Untrusted,
};
use crate::source::os::opener::HiddenOpener;
use crate::source::os::processes::linux::closer::{Closer, DetailCache};
use crate::source::os::processes::linux::known::{KnownProcess, ProcessCache};
use crate::source::os::processes::linux::namespace::inner_pids;
use crate::source::os::processes::linux::proc::stat::Line;
use crate::source::os::processes::linux::proc::{Proc, Reading};
use crate::source::os::processes::measure::Measure;
use crate::source::os::processes::traced::TraceReading;
use crate::source::os::processes::wanted::{Depth, DetailTargets};
use crate::source::os::{host, opener};

/// Returns the paths of the files that a process has open (proc(5), `fd`).
pub(crate) fn open_files(pid: u32) -> Vec<PathBuf> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let Ok(folder) = openat(CWD, format!("/proc/{pid}/fd"), flags, Mode::empty()) else { return Vec::new() };
    let Ok(entries) = Dir::read_from(&folder) else { return Vec::new() };
    let target = |entry: DirEntry| readlinkat(&folder, entry.file_name(), Vec::new()).ok();
    let targets = entries.filter_map(|entry| target(entry.ok()?));
    let is_path = |target: &CString| target.as_bytes().starts_with(b"/");
    targets.filter(is_path).map(|target| OsStr::from_bytes(target.as_bytes()).into()).collect()
}

/// Returns a process whose open files cannot be seen: its descriptors may not be read, or it may not even be listed.
/// Kernel threads and exited processes have nothing open.
pub(crate) fn hidden_opener() -> Option<HiddenOpener> {
    let Ok(mut proc) = Proc::open() else { return Some(HiddenOpener::Unlisted) };
    let (listed, short) = proc.list();
    let is_inside = host::pid_namespace() != Some(INITIAL_PID_NAMESPACE);
    let has_files = |process: &Line| !process.is_kernels && process.process.state != ProcessState::Zombie;
    let mut is_hidden = |pid: u32| match opener::descriptors(pid) {
        Ok(_) | Err(Errno::NOENT | Errno::SRCH) => false,
        Err(_) => match proc.process(pid) {
            Reading::Read(line) => has_files(&line),
            Reading::Gone => false,
            Reading::Unreadable => true,
        },
    };
    let hidden = listed.iter().map(|(pid, _)| *pid).find(|pid| is_hidden(*pid));
    let is_partial = || is_inside || short.is_some() || completeness::doubt(&proc).is_some();
    hidden.map(HiddenOpener::Process).or_else(|| is_partial().then_some(HiddenOpener::Unlisted))
}

/// Returns the traces of these processes, as far as they are this user's and their home is one of these.
pub(crate) fn traces(those: &[ProcessId], uid: u32, homes: &[&Path]) -> Vec<(ProcessId, TraceReading)> {
    if those.is_empty() {
        return Vec::new();
    }
    let Ok(mut proc) = Proc::open() else { return Vec::new() };
    let traced = |id| match trace::read(&mut proc, id, uid, homes) {
        Reading::Read(trace) => TraceReading::Read(Box::new(trace)),
        Reading::Unreadable => TraceReading::Unread,
        Reading::Gone => TraceReading::Gone,
    };
    those.iter().copied().zip(those.iter().copied().map(traced)).collect()
}

/// Returns the arguments of a process as they are now.
pub(crate) fn arguments(pid: u32) -> Vec<Untrusted> {
    details::argv(CWD, &format!("/proc/{pid}/cmdline"))
}

/// Returns whether a process is another user's, or may not be inspected by its own user (PR_SET_DUMPABLE of prctl(2)).
pub(crate) fn is_others(pid: u32, uid: u32) -> bool {
    rustix::fs::stat(format!("/proc/{pid}")).is_ok_and(|stat| stat.st_uid != uid)
}

/// Measures a window's own process and those below it, parents before their children.
pub(crate) fn measured(of: &Household) -> Vec<Member> {
    cost::household::measured(of)
}

/// Returns the costs of these processes.
pub(crate) fn loads(those: &[ProcessId]) -> Vec<(ProcessId, Option<Load>)> {
    if those.is_empty() {
        return Vec::new();
    }
    let Ok(mut proc) = Proc::open() else { return Vec::new() };
    those.iter().map(|id| (*id, cost::load::read(&mut proc, *id))).collect()
}

/// Returns what the processes of these calls wait for.
pub(crate) fn call_waits(calls: &[CallProcesses], table: &ProcessTable, uid: u32) -> Vec<CallWait> {
    if calls.is_empty() {
        return Vec::new();
    }
    let Ok(mut proc) = Proc::open() else { return Vec::new() };
    handles::call_waits::read(&mut proc, calls, (table, uid))
}

/// Measures these processes, without the clients of their ports.
pub(crate) fn measures(those: &[ProcessId]) -> BTreeMap<ProcessId, Measure> {
    if those.is_empty() {
        return BTreeMap::new();
    }
    Proc::open().map(|mut proc| cost::measure::measures(&mut proc, those)).unwrap_or_default()
}

/// Returns whether a person may be working with each of these processes.
pub(crate) fn interactions(those: &[ProcessId]) -> BTreeMap<ProcessId, Interaction> {
    if those.is_empty() {
        return BTreeMap::new();
    }
    Proc::open().map(|mut proc| handles::interaction::interactions(&mut proc, those)).unwrap_or_default()
}

/// Returns the TCP ports that each of these processes listens on.
pub(crate) fn ports(those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
    if those.is_empty() {
        return BTreeMap::new();
    }
    Proc::open().map(|mut proc| sockets::tcp::ports(&mut proc, those)).unwrap_or_default()
}

/// Counts the connections to each of these ports.
pub(crate) fn count_clients(ports: Vec<&mut Port>) {
    sockets::tcp::count_clients(ports);
}

/// Returns the sockets that listen on each of these ports, by their inodes.
pub(crate) fn listeners(wanted: &BTreeSet<u16>) -> BTreeMap<u16, Vec<u64>> {
    sockets::tcp::listeners(wanted)
}

/// Returns which of these processes has each of these sockets open.
pub(crate) fn owners(those: &[ProcessId], inodes: &BTreeSet<u64>) -> BTreeMap<u64, ProcessId> {
    Proc::open().map(|mut proc| sockets::tcp::owners(&mut proc, those, inodes)).unwrap_or_default()
}

/// Returns the other end of the standard input of these processes, if it can be determined.
pub(crate) fn inputs(those: &[ProcessId], uid: u32) -> BTreeMap<ProcessId, InputEnd> {
    if those.is_empty() {
        return BTreeMap::new();
    }
    Proc::open().map(|mut proc| handles::input::inputs(&mut proc, those, uid)).unwrap_or_default()
}

/// State that one scan leaves for the next.
#[derive(Default)]
pub(crate) struct Scanner {
    /// The results of closer looks.
    kept: HashMap<u32, Box<DetailCache>>,
    known: ProcessCache,
}

impl Scanner {
    pub(crate) fn scan(&mut self, wanted: DetailTargets<'_>, depth: Depth) -> ProcessTable {
        let mut proc = match Proc::open() {
            Ok(proc) => proc,
            Err(error) => return ProcessTable { partial: Some(error), ..ProcessTable::default() },
        };
        let (listing, failure) = proc.list();
        let mut table = ProcessTable { partial: failure, ..ProcessTable::default() };
        let (mut listed, mut read) = (Vec::with_capacity(listing.len()), Vec::with_capacity(listing.len()));
        self.known.tell_time();
        for (pid, inode) in listing {
            let earlier = self.known.get(pid, inode);
            if !earlier.is_some_and(|known| known.lasts(depth)) {
                match proc.process(pid) {
                    Reading::Read(mut line) => {
                        line.process.inner = match inner_pids(&mut proc, &line, earlier) {
                            Reading::Read(inner) => inner,
                            Reading::Unreadable => InnerPids::Unread,
                            Reading::Gone => continue,
                        };
                        let is_renamed = is_renamed(&proc, &line, earlier, wanted.candidates);
                        self.known.keep(self.known.entry(inode, line, is_renamed, wanted.candidates));
                    }
                    Reading::Unreadable => {
                        listed.push(pid);
                        continue;
                    }
                    // It has exited since it was listed.
                    Reading::Gone => continue,
                }
            }
            listed.push(pid);
            read.push(pid);
        }
        table.listed = listed.into_iter().collect();
        table.by_pid = self.known.only(&read.into_iter().collect());
        table.partial = table.partial.or_else(|| completeness::doubt(&proc));
        table.threads = proc::threads::threads(&proc, wanted.named, &table.listed);
        let those = wanted.those_who_matter(&table, self.known.renamed());
        self.look_closer(&mut proc, &mut table, those, depth);
        self.look_twice(&mut proc, &mut table);
        table.listed.extend(table.threads.keys());
        table
    }

    /// Returns whether a possible agent has started, stopped or continued since the last look. It costs one listing of
    /// `/proc`, and one `stat` of each possible agent and of each young process, or of all processes but the kernel's
    /// own.
    pub(crate) fn has_news(&mut self, candidates: &Candidates, depth: Depth) -> bool {
        let Ok(mut proc) = Proc::open() else { return false };
        let (listing, _) = proc.list();
        self.known.tell_time();
        let mut is_any = false;
        for (pid, inode) in listing {
            let known = self.known.get(pid, inode);
            let before = known.filter(|known| known.may_be_agent).map(|known| known.process.state);
            let lasts =
                |known: &KnownProcess| known.is_settled && (known.is_kernels || depth == Depth::Changes);
            if before.is_none() && known.is_some_and(lasts) {
                continue;
            }
            if let Reading::Read(mut line) = proc.process(pid) {
                line.process.inner =
                    known.and_then(|known| known.inner_pids(line.process.id)).unwrap_or_default();
                let is_renamed = is_renamed(&proc, &line, known, candidates);
                let known = self.known.entry(inode, line, is_renamed, candidates);
                is_any |= known.may_be_agent && before != Some(known.process.state);
                self.known.keep(known);
            }
        }
        is_any
    }

    /// Replaces the entries of processes that matter by a closer look at each.
    fn look_closer(&mut self, proc: &mut Proc, table: &mut ProcessTable, those: BTreeSet<u32>, depth: Depth) {
        let mut kept = HashMap::new();
        for pid in those {
            let mut before = self.kept.remove(&pid);
            let is_as_before = depth == Depth::Changes && self.is_as_before(proc, pid, before.as_deref_mut());
            let closer = match before {
                Some(before) if is_as_before => Closer::Read(before),
                before => closer::look(proc, pid, before),
            };
            take_over(table, &mut kept, pid, closer);
        }
        self.kept = kept;
    }

    /// Looks once more at processes that could not be read, and at processes that matter and have just begun: one that
    /// has exited by then does not count.
    fn look_twice(&mut self, proc: &mut Proc, table: &mut ProcessTable) {
        let unread = table.listed.iter().filter(|pid| !table.by_pid.contains_key(pid));
        let unplaced = table.by_pid.values().filter(|process| process.inner_pids().is_none());
        let young = self.kept.keys().filter(|pid| self.known.is_young(**pid));
        let doubtful = unread.chain(young).copied().chain(unplaced.map(|process| process.id.pid));
        for pid in doubtful.collect::<BTreeSet<u32>>() {
            let closer = closer::look(proc, pid, self.kept.remove(&pid));
            take_over(table, &mut self.kept, pid, closer);
        }
    }

    /// Returns whether the last result of a process still holds, except for what is updated here; never for one that
    /// has just begun, which may become another program at any moment.
    fn is_as_before(&self, proc: &mut Proc, pid: u32, before: Option<&mut DetailCache>) -> bool {
        let folder = self.known.settled_folder(pid);
        folder.zip(before).is_some_and(|(folder, before)| closer::is_as_before(proc, folder, before))
    }
}

/// Puts the outcome of a closer look at a process into the table and the cache.
fn take_over(table: &mut ProcessTable, kept: &mut HashMap<u32, Box<DetailCache>>, pid: u32, closer: Closer) {
    match closer {
        Closer::Read(mut read) => {
            read.process.is_renamed = table.by_pid.get(&pid).is_some_and(|process| process.is_renamed);
            table.by_pid.insert(pid, read.process.clone());
            kept.insert(pid, read);
        }
        Closer::Unreadable => {}
        Closer::Gone => {
            table.by_pid.remove(&pid);
            table.listed.remove(&pid);
        }
    }
}

/// Returns whether an executable is one of the system's that run no other program in their own process: neither a
/// dynamic loader, which lies in a folder of libraries, nor an emulator of another machine.
fn is_of_the_system(exe: &str) -> bool {
    let name = ["/usr/bin/", "/usr/sbin/", "/bin/", "/sbin/", "/usr/lib/systemd/", "/usr/libexec/"]
        .iter()
        .find_map(|folder| exe.strip_prefix(folder));
    name.is_some_and(|name| !["ld", "qemu", "electron"].iter().any(|runner| name.starts_with(runner)))
}

/// Returns whether a process runs an agent's program under a name that is not the agent's, such as through a link, the
/// dynamic loader or another runtime. It is determined once for each name, as that costs as much as reading.
fn is_renamed(proc: &Proc, line: &Line, earlier: Option<&KnownProcess>, candidates: &Candidates) -> bool {
    let process = &line.process;
    if line.is_kernels || candidates.may_be(process.comm.raw()) {
        return false;
    }
    let is_as_before = |earlier: &&KnownProcess| earlier.is_settled && earlier.process.comm == process.comm;
    earlier.filter(is_as_before).map_or_else(
        || {
            let pid = process.id.pid;
            let exe = details::exe(proc.as_fd(), &format!("{pid}/exe"));
            exe.is_some_and(|exe| {
                let argv = || details::argv(proc.as_fd(), &format!("{pid}/cmdline"));
                candidates.may_run(exe.raw())
                    || (!is_of_the_system(exe.raw()) && candidates.may_start(&argv()))
            })
        },
        |earlier| earlier.is_renamed,
    )
}
