//! Verdicts on git's locks, which name no process: whether any git lives that may hold them.
//!
//! A lock is dead only if all processes can be seen, no process of git's and its kin lives anywhere (an environment
//! variable can lead one that works elsewhere to this repository), no process has the file open, and no process that
//! was there when the lock was last written uses the repository: git closes a lock while an editor or a hook runs,
//! and a program with a library of its own is not git.

use crate::core::judge::git::{is_harmless, lock_of, lockers, repo_of, tree_of, works_at};
use crate::core::judge::liveness::absent::{is_before_boot, is_untouched_since_boot};
use crate::core::judge::liveness::answer::{Answer, Trail, alive, unknown};
use crate::core::judge::liveness::own::own_verdict;
use crate::core::judge::liveness::owners::unseen;
use crate::core::judge::liveness::reach::is_of_other_user;
use crate::core::judge::liveness::session::by_session;
use crate::core::judge::liveness::steps::{by_note, spared};
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{GitLock, Process, Reason, Record, VerdictState};

pub(crate) fn judge(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let lock = lock_of(record);
    let own = match lock {
        GitLock::Command => by_opener(record, world, trail),
        GitLock::Gc | GitLock::Worktree => own_verdict(record, world, trail),
    };
    match own {
        Some(Answer(VerdictState::Alive | VerdictState::Unknown, _)) => {}
        _ if lock == GitLock::Worktree => return worktree(record, own, world, trail),
        Some(Answer(VerdictState::Dead, _)) | None => {}
    }
    own.or_else(|| unseen(false, world, trail))
        .or_else(|| hidden(world, trail))
        .or_else(|| by_gits(record, world, trail))
        .or_else(|| by_users(record, world, trail))
        .unwrap_or_else(|| dead(record, world, trail))
}

/// Judges by a process that had the lock open at this look, whenever it was born: a child inherits
/// what its parent had open before it.
fn by_opener(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let pid = record.pid()?;
    let process = world.snapshot.processes.get(pid).filter(|process| !has_exited(process));
    let Some(process) = process else {
        trail.add("open file", format!("PID {pid} had the lock open a moment ago"), "/proc/<pid>/fd");
        return unknown(Reason::ProcessPresent);
    };
    trail.add("open file", format!("{} {pid} has the lock open", process.comm), "/proc/<pid>/fd");
    alive(Reason::ProcessPresent)
}

/// Finds a process that uses the repository and could have made the lock, though it is not git.
fn by_users(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    if lock_of(record) != GitLock::Command || is_untouched_since_boot(record, world) {
        return None;
    }
    if !record.medium().is_this_machines() {
        let words = "other machines may work in it: it is not on a disk of this one";
        trail.add("repository", words, "file system");
        return unknown(Reason::NoPid);
    }
    let Some(users) = repo_of(record, &world.snapshot.repos).and_then(|repo| repo.users.as_ref()) else {
        trail.add("repository", "could not determine who is working in it", "/proc");
        return unknown(Reason::NoPid);
    };
    let could_make = |pid: &&u32| could_make(**pid, record, world);
    let words = if let Some(pid) = users.pids.iter().find(could_make) {
        format!("{} was there before the lock was written, and works in the repository", name(*pid, world))
    } else {
        let pid = users.unread.iter().find(could_make)?;
        format!("{} was there before the lock was written, and may work in the repository", name(*pid, world))
    };
    trail.add("repository", words, "working folders and open files in /proc");
    unknown(Reason::NoPid)
}

/// Returns whether a process could have made a lock: it lives, and was not born after the last
/// write.
fn could_make(pid: u32, record: &Record, world: &World<'_>) -> bool {
    let table = &world.snapshot.processes;
    match table.get(pid) {
        Some(process) => !has_exited(process) && !is_harmless(process) && !world.is_younger(process, record),
        None => table.listed.contains(&pid),
    }
}

fn name(pid: u32, world: &World<'_>) -> String {
    let process = world.snapshot.processes.get(pid);
    process.map_or_else(|| format!("process {pid}"), |process| format!("{} {pid}", process.comm))
}

/// Finds a living process of git's: in the very tree it holds the lock, as far as can be seen; anywhere else it may.
fn by_gits(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let is_here = |process: &&Process| works_at(process, record, &world.snapshot.repos);
    if let Some(process) = lockers(&world.snapshot.processes).find(is_here) {
        trail.add("git", format!("{} {} works here", process.comm, process.id.pid), "process table");
        return alive(Reason::ProcessPresent);
    }
    let process = lockers(&world.snapshot.processes).next()?;
    let words = format!("{} {} is running and may work here", process.comm, process.id.pid);
    trail.add("git", words, "process table");
    unknown(Reason::ProcessPresent)
}

fn hidden(world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let table = &world.snapshot.processes;
    let pid = table.listed.iter().find(|pid| table.get(**pid).is_none())?;
    trail.add("process", format!("{pid} cannot be read and may be git"), "/proc");
    unknown(Reason::NoPermission)
}

fn dead(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    trail.add("git", "no git process is running", "complete scan of /proc");
    if lock_of(record) == GitLock::Command {
        trail.add("open file", "no process has the lock open", "/proc/<pid>/fd");
        let words = "no process that works in it is older than the lock";
        trail.add("repository", words, "working folders and open files in /proc");
    }
    let is_before = is_before_boot(record, world, trail);
    let reason = if is_before { Reason::OtherBoot } else { Reason::NoProcess };
    Answer(VerdictState::Dead, trail.helper_gone.filter(|_| !is_before).unwrap_or(reason))
}

/// Judges the lock of a whole tree whose process, if it names one, is gone. Its session may have come back under
/// another PID: so no process that could be an agent may work in the tree.
fn worktree(record: &Record, own: Option<Answer>, world: &World<'_>, trail: &mut Trail) -> Answer {
    let lives = by_note(record, world, trail).or_else(|| by_session(record, world, trail));
    if let Some(answer) = lives {
        return answer;
    }
    let tree = tree_of(record, &world.snapshot.repos).map(|tree| tree.path.as_path());
    let is_in = |agent: &PossibleAgent<'_>| match agent {
        PossibleAgent::Hidden(_) => true,
        PossibleAgent::Known(process, _) | PossibleAgent::Unproven(process)
            if is_of_other_user(record, process, world) =>
        {
            false
        }
        PossibleAgent::Known(process, _) | PossibleAgent::Unproven(process) => {
            let cwd = process.details.as_ref().and_then(|details| details.cwd.as_ref());
            cwd.is_none_or(|cwd| tree.is_none_or(|tree| std::path::Path::new(cwd.raw()).starts_with(tree)))
        }
    };
    if let Some((agent, _)) = world.possible_agents.iter().find(|(agent, _)| is_in(agent)) {
        trail.add("working tree", format!("{} may work in it", agent.name()), "working directories");
        return Answer(VerdictState::Unknown, Reason::WrongRole);
    }
    match own {
        Some(answer) => spared(answer, record, world, trail),
        None if trail.helper_gone.is_some() => Answer(VerdictState::Unknown, Reason::WrongRole),
        None => {
            trail.add("owner", "its reason names no process", "record");
            Answer(VerdictState::Unknown, Reason::NoPid)
        }
    }
}
