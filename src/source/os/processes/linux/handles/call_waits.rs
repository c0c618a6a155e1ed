//! What the processes of tool calls wait for, by their files below `/proc` (proc(5)), as far as their own user may read
//! them.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::ffi::OsStrExt as _;

use rustix::fs::{AtFlags, readlinkat, statat};

use crate::core::judge::window::tool_shell::tool_command;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    CallProcesses, CallWait, FileMeta, LockHold, ProcessId, ProcessTable, Untrusted, WaitSort,
};
use crate::format::reading::excerpt::excerpt;
use crate::source::os::locks::{LockWait, lock_waits};
use crate::source::os::open::meta::meta_of;
use crate::source::os::opener;
use crate::source::os::processes::linux::details;
use crate::source::os::processes::linux::handles::blocking::{self, Blocking, Terminals};
use crate::source::os::processes::linux::handles::input::{peers, written_by};
use crate::source::os::processes::linux::handles::links::{Nameless, descriptors, each, mode, nameless};
use crate::source::os::processes::linux::proc::{Proc, Reading, number, slurp, status};

/// The most characters of a command line.
const COMMAND: usize = 200;
/// The most bytes of a list of children.
const CHILDREN: usize = 16 << 10;

/// Reads what the processes of these calls wait for.
pub(crate) fn read(
    proc: &mut Proc,
    calls: &[CallProcesses],
    (table, uid): (&ProcessTable, u32),
) -> Vec<CallWait> {
    let has_members = calls.iter().any(|call| !call.members.is_empty());
    let locks = if has_members { lock_waits() } else { Vec::new() };
    let mut found = Vec::new();
    for call in calls {
        let waits = match call.members.is_empty() {
            true => holders(proc, call).into_iter().map(|id| (id, WaitSort::Output)).collect(),
            false => settled_waits(proc, call, (table, uid, &locks)),
        };
        for (process, wait) in waits {
            if let Some(command) = command(proc, process) {
                found.push(CallWait { agent: call.agent, process, command, wait });
            }
        }
    }
    found
}

/// Returns the command line of a process; nothing if it has exited.
fn command(proc: &mut Proc, id: ProcessId) -> Option<Untrusted> {
    let folder = proc.folder_of(id)?;
    let argv = details::argv(folder.as_fd(), "cmdline");
    let all = || argv.iter().map(Untrusted::raw).collect::<Vec<_>>().join(" ");
    // The shell of a tool has far more in its arguments than the tool was given.
    let line = tool_command(&argv).unwrap_or_else(all);
    Some(excerpt(line.trim(), COMMAND))
}

/// Returns the processes whose output is the other end of a pipe or a socket that the agent reads.
fn holders(proc: &mut Proc, call: &CallProcesses) -> Vec<ProcessId> {
    let outputs = call.strays.iter().map(|id| (*id, outputs(proc, *id)));
    let outputs: Vec<(ProcessId, Vec<Nameless>)> = outputs.filter(|(_, ends)| !ends.is_empty()).collect();
    if outputs.is_empty() {
        return Vec::new();
    }
    let Some(agent) = proc.folder_of(call.agent) else { return Vec::new() };
    let read = inputs(agent.as_fd());
    // They are queried if any is needed.
    let is_socket = |end: &Nameless| matches!(end, Nameless::Socket(_));
    let peers = outputs.iter().flat_map(|(_, ends)| ends).any(is_socket).then(peers).flatten();
    let is_read = |end: &Nameless| match end {
        Nameless::Pipe(_) => read.contains(end),
        Nameless::Socket(own) => {
            let peer = peers.as_ref().and_then(|peers| peers.get(own)).filter(|peer| **peer != 0);
            peer.is_some_and(|peer| read.contains(&Nameless::Socket(u64::from(*peer))))
        }
    };
    outputs.iter().filter(|(_, ends)| ends.iter().any(is_read)).map(|(id, _)| *id).collect()
}

/// Returns the pipes and sockets into which a process writes its output.
fn outputs(proc: &mut Proc, id: ProcessId) -> Vec<Nameless> {
    let Some(folder) = proc.folder_of(id) else { return Vec::new() };
    let ends = ["fd/1", "fd/2"].into_iter().filter(|end| mode(folder.as_fd(), end) & 0o200 != 0);
    ends.filter_map(|end| nameless(folder.as_fd(), end)).collect()
}

/// Returns the pipes that a process can only read, and its sockets.
fn inputs(folder: BorrowedFd<'_>) -> BTreeSet<Nameless> {
    let mut found = BTreeSet::new();
    let Ok(at) = descriptors(folder) else { return found };
    let _ = each(&at, |name| match nameless(at.as_fd(), name) {
        Some(pipe @ Nameless::Pipe(_)) if mode(at.as_fd(), name) & 0o600 == 0o400 => {
            found.insert(pipe);
        }
        Some(socket @ Nameless::Socket(_)) => {
            found.insert(socket);
        }
        Some(Nameless::Pipe(_)) | None => {}
    });
    found
}

/// Returns what the members of a call wait for; nothing if one of them has run while they were read: what one waits for
/// is only known together with what the others do.
fn settled_waits(
    proc: &mut Proc,
    call: &CallProcesses,
    known: (&ProcessTable, u32, &[LockWait]),
) -> Vec<(ProcessId, WaitSort)> {
    let before = runs(proc, call);
    let waits = waits(proc, call, known);
    let is_whole = call.members.iter().all(|id| has_only_members(proc, *id, call));
    match before.is_some() && is_whole && before == runs(proc, call) {
        true => waits,
        false => Vec::new(),
    }
}

/// Returns how often each member has been given the processor; `None` if one has exited or may not be read.
fn runs(proc: &mut Proc, call: &CallProcesses) -> Option<Vec<u64>> {
    let mut text = Vec::new();
    let mut count = |id: &ProcessId| {
        let folder = proc.folder_of(*id)?;
        slurp(folder.as_fd(), "status", &mut text, status::MOST).ok()?;
        status::switches(&text)
    };
    call.members.iter().map(&mut count).collect()
}

/// Returns whether every child of a process is a member as well, or has exited: one that was not listed yet may be
/// what it waits for.
fn has_only_members(proc: &mut Proc, id: ProcessId, call: &CallProcesses) -> bool {
    let Some(folder) = proc.folder_of(id) else { return false };
    let mut text = Vec::new();
    let path = format!("task/{}/children", id.pid);
    if slurp(folder.as_fd(), &path, &mut text, CHILDREN).is_err() {
        return false;
    }
    let mut children = text.split(|byte| *byte == b' ').filter_map(number);
    children.all(|child| {
        let is_member = call.members.iter().any(|member| member.pid == child);
        is_member || matches!(proc.process(child), Reading::Read(line) if has_exited(&line.process))
    })
}

/// Returns what the members of a call wait for.
fn waits(
    proc: &mut Proc,
    call: &CallProcesses,
    (table, uid, locks): (&ProcessTable, u32, &[LockWait]),
) -> Vec<(ProcessId, WaitSort)> {
    let agent = proc.folder_of(call.agent);
    let terminals = agent.map(|agent| Terminals::of_process(agent.as_fd())).unwrap_or_default();
    let mut waits: BTreeMap<ProcessId, Blocking> = BTreeMap::new();
    for id in &call.members {
        let lock = locks.iter().find(|wait| wait.waiter == id.pid);
        let wait = match lock {
            Some(wait) => hold(proc, *id, (wait, table)).map(|hold| Blocking::Known(WaitSort::Lock(hold))),
            None => sleep(proc, *id, (&terminals, table)),
        };
        waits.extend(wait.map(|wait| (*id, wait)));
    }
    // All open files are only searched if something else is held up.
    let is_held = |wait: &Blocking| matches!(wait, Blocking::Known(wait) if *wait != WaitSort::Child);
    let pipes: BTreeSet<u64> = match waits.values().any(is_held) {
        true => waits.values().filter_map(Blocking::pipe).collect(),
        false => BTreeSet::new(),
    };
    let writers = if pipes.is_empty() { None } else { writers(proc, &pipes, uid) };
    let wait = |(id, wait)| match wait {
        Blocking::Known(wait) => Some((id, wait)),
        Blocking::Pipe(inode) => {
            let writers = writers.as_ref()?.get(&inode).cloned().unwrap_or_default();
            Some((id, WaitSort::Pipe(writers.into_iter().collect())))
        }
    };
    waits.into_iter().filter_map(wait).collect()
}

/// Returns what a process waits for that is stopped, or has one thread and sleeps.
fn sleep(
    proc: &mut Proc,
    id: ProcessId,
    (terminals, table): (&Terminals, &ProcessTable),
) -> Option<Blocking> {
    let folder = proc.folder_of(id)?;
    let mut text = Vec::new();
    slurp(folder.as_fd(), "status", &mut text, status::MOST).ok()?;
    match (status::state(&text)?, status::tracer(&text)?) {
        (b'T', 0) => Some(Blocking::Known(WaitSort::Stopped)),
        // What a program of several threads does is not known by its first one.
        (b'S', 0) if status::threads(&text) == Some(1) => {
            blocking::read(folder.as_fd(), terminals, table.by_pid.get(&id.pid)?)
        }
        _ => None,
    }
}

/// Returns the lock that a process waits for, if a living process is known to hold it.
fn hold(proc: &mut Proc, id: ProcessId, (wait, table): (&LockWait, &ProcessTable)) -> Option<LockHold> {
    let folder = proc.folder_of(id)?;
    let (path, name, meta) = locked_file(folder.as_fd(), wait.inode)?;
    let living = |pid: u32| table.by_pid.get(&pid).filter(|process| !has_exited(process));
    let taker = living(wait.taken_by);
    let is_its = || opener::is_locker(wait.taken_by, &name, &meta);
    let holder = match taker {
        Some(taker) if is_its() => taker,
        _ => living(opener::locker_of(&name, &meta)?)?,
    };
    // A process that has started since all were listed may have taken it.
    let has_ended = taker.is_none() && !table.listed.contains(&wait.taken_by);
    let has_ended = has_ended && proc.folder(wait.taken_by).is_err();
    let command = command(proc, holder.id)?;
    let taken_by = has_ended.then_some(wait.taken_by);
    Some(LockHold { path: Some(path), holder: holder.id, command, taken_by })
}

/// Returns the file of this inode that a process has open: its path, its name and its facts.
fn locked_file(folder: BorrowedFd<'_>, inode: u64) -> Option<(Untrusted, OsString, FileMeta)> {
    let at = descriptors(folder).ok()?;
    let mut found = None;
    let mut text = Vec::new();
    each(&at, |name| {
        let info = slurp(folder, &format!("fdinfo/{name}"), &mut text, status::MOST);
        let line = text.split(|byte| *byte == b'\n').find_map(|line| line.strip_prefix(b"ino:"));
        let stated = line.and_then(|line| std::str::from_utf8(line).ok()?.trim().parse().ok());
        if info.is_ok() && stated == Some(inode) && found.is_none() {
            let path = readlinkat(&at, name, Vec::new()).ok();
            let meta = statat(&at, name, AtFlags::empty()).ok().map(|stat| meta_of(&stat));
            found = path.zip(meta);
        }
    })
    .ok()?;
    let (path, meta) = found?;
    let path = path.as_bytes().strip_prefix(b"/").map(|_| path.as_bytes())?;
    let name = path.rsplit(|byte| *byte == b'/').next()?;
    Some((Untrusted::from_bytes(path), OsStr::from_bytes(name).to_owned(), meta))
}

/// Returns the processes that can write into each of these pipes; `None` if one of this user's could not be inspected.
fn writers(proc: &mut Proc, pipes: &BTreeSet<u64>, uid: u32) -> Option<BTreeMap<u64, BTreeSet<u32>>> {
    let mut all: BTreeMap<u64, BTreeSet<u32>> = BTreeMap::new();
    let (listing, failure) = proc.list();
    if failure.is_some() {
        return None;
    }
    for (pid, _) in listing {
        for inode in written_by(proc, pid, pipes, uid)? {
            all.entry(inode).or_default().insert(pid);
        }
    }
    Some(all)
}
