//! Verdicts on a PID that no process has, or that another process has now.

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::liveness::answer::{Answer, Trail, alive, dead, unknown};
use crate::core::judge::liveness::domain::{Home, home_of};
use crate::core::judge::liveness::owner::could_own;
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::world::World;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{
    Absence, BoundSession, Holder, Process, Reason, Record, RecordKind, Role, Tombstone,
};

/// Judges a PID that is not in the table.
pub(crate) fn absent(
    record: &Record,
    holder: &Holder,
    pid: u32,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    match world.snapshot.processes.absence(pid) {
        Absence::Unreadable => {
            trail.add("process", "present, but cannot be read", "/proc");
            return unknown(Reason::NoPermission);
        }
        Absence::Unproven(why) => {
            trail.add("process", format!("not seen, but not all processes can be seen: {why}"), "/proc");
            return unknown(Reason::PartialScan);
        }
        Absence::Proven => {}
    }
    trail.add("process", "no process has this PID", "complete scan of /proc after the record was read");
    gone(record, holder, pid, Reason::NoProcess, world, trail)
}

/// Decides what the end of the process behind the stored PID means: death for an agent's PID, nothing yet for a
/// helper's, and nothing at all if another PID namespace could have written the number.
pub(crate) fn gone(
    record: &Record,
    holder: &Holder,
    pid: u32,
    reason: Reason,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    if let Some(answer) = named_elsewhere(holder, pid, world, trail) {
        return Some(answer);
    }
    // A dead process whose start the record states is the holder, whatever its number means elsewhere.
    let is_certain = reason == Reason::Exited && holder.start_ticks.is_some();
    if !is_certain && let Some(answer) = in_other_namespace(holder, pid, world, trail) {
        return Some(answer);
    }
    let is_stated = holder.role == Role::Agent || is_daemons_own(record, holder);
    let survivor = world.survivor(pid).filter(|_| holder.start_ticks.is_none());
    let survivor = survivor.filter(|survivor| !led_by_agent(record, pid, survivor, world));
    let was_agent = (!is_stated || survivor.is_some())
        && !may_be_outsiders(record, world)
        && was_seen_as_agent(record, pid, world, trail);
    if let Some(survivor) = survivor.filter(|_| !was_agent) {
        trail.add(
            "process group",
            format!("{} {} belongs to the group or session {pid}", survivor.comm, survivor.id.pid),
            "/proc/<pid>/stat",
        );
        trail.has_survivors = true;
        return if is_stated { unknown(Reason::ProcessPresent) } else { None };
    }
    if is_stated || was_agent {
        return dead(if is_before_boot(record, world, trail) { Reason::OtherBoot } else { reason });
    }
    trail.helper_gone = Some(reason);
    None
}

/// Returns whether a file is about a daemon itself, and states which start of it: then the daemon's end is the end of
/// what the file describes.
fn is_daemons_own(record: &Record, holder: &Holder) -> bool {
    holder.role == Role::Daemon && record.kind == RecordKind::Metadata && holder.start_ticks.is_some()
}

/// Returns whether an agent that has ended led the group with this number, according to its registry, its hook or a
/// tombstone: it lived when `survivor` had already begun, and no process gets a number that a group has; or it had
/// the number when the record was last written, and no process in the group may be an agent. Then the rest of the
/// group is not the holder.
fn led_by_agent(record: &Record, pid: u32, survivor: &Process, world: &World<'_>) -> bool {
    let mut living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let has_agent = living.any(|one| [one.group, one.session].contains(&pid) && world.may_be_agents(one));
    let led = |start: u64, last_at: Timestamp| {
        // Claimtop's own demo dates its files back.
        is_played(survivor)
            || is_past_start(survivor.id.start_ticks, last_at, world)
            || !has_agent && was_there(record, start, last_at, world)
    };
    let is_leaders = |other: &&Record| {
        let start = other.holder.as_ref().and_then(|holder| holder.start_ticks);
        other.medium().is_this_machines() && start.is_some_and(|start| led(start, other.written_at))
    };
    let is_buried = |stone: &Tombstone| {
        stone.id.pid == pid
            && stone.counts_on(&world.snapshot.host)
            && stone.seen_alive_at.is_some_and(|last_at| led(stone.id.start_ticks, last_at))
    };
    world.snapshot.tombstones.iter().any(is_buried)
        || world.registered(pid).iter().any(is_leaders)
        || world.bindings.gone_with(pid).iter().any(|note| led(note.start_ticks, last_sign(note, world)))
}

/// Returns whether a process that started then, and was last seen alive at a moment, was there when a record was last
/// written.
fn was_there(record: &Record, start_ticks: u64, last_at: Timestamp, world: &World<'_>) -> bool {
    record.medium().is_this_machines()
        && is_past_start(start_ticks, record.written_at, world)
        && last_at.duration_since(record.touched_at()) >= world.snapshot.host.clock_doubt
}

/// Returns whether a record is from before the machine booted, by the machine's own clock: it was neither written nor
/// moved since, or it could have come from another machine; and it states nothing that has happened since.
pub(crate) fn is_before_boot(record: &Record, world: &World<'_>, trail: &mut Trail) -> bool {
    is_untouched_since_boot(record, world) && was_written_before_boot(record, world, trail)
}

/// Returns whether a record was last written before the machine booted, and states nothing that has happened since.
pub(crate) fn was_written_before_boot(record: &Record, world: &World<'_>, trail: &mut Trail) -> bool {
    let booted = world.booted.as_ref().filter(|_| record.medium().is_this_machines());
    let mut times = record.stated_times().chain([record.written_at]);
    let booted = booted.filter(|(at, _)| times.all(|time| world.is_after(*at, time)));
    trail.facts.extend(booted.map(|(_, evidence)| evidence.clone()));
    booted.is_some()
}

/// Returns whether a record was neither written nor moved since the machine booted: no process that lives now has
/// ever had to do with it, under any number.
pub(crate) fn is_untouched_since_boot(record: &Record, world: &World<'_>) -> bool {
    let booted = world.booted.as_ref().filter(|_| record.medium().is_this_machines());
    booted.is_some_and(|(at, _)| world.is_after(*at, record.touched_at()))
}

/// Returns whether an agent of another PID namespace could have written a record, with a number
/// that counts there.
fn may_be_outsiders(record: &Record, world: &World<'_>) -> bool {
    world.outsiders.iter().any(|agent| match agent {
        PossibleAgent::Known(..) | PossibleAgent::Unproven(_) => could_own(record, agent, world),
        PossibleAgent::Hidden(_) => true,
    })
}

/// Looks for a living process that has this number in its own PID namespace.
pub(crate) fn named_elsewhere(
    holder: &Holder,
    pid: u32,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let process = world.inner(pid).iter().find(|process| may_be(holder, process))?;
    trail.add_other_namespace(
        format!("process {} here is {pid} in its own PID namespace", process.id.pid),
        "NSpid of /proc/<pid>/status",
    );
    match holder.start_ticks.and_then(|start| process.has_start(start)) {
        Some(_) => alive(Reason::SameProcess),
        None => unknown(Reason::OtherNamespace),
    }
}

/// Decides whether the number may count in a PID namespace that is not visible from here.
fn in_other_namespace(holder: &Holder, pid: u32, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    if let Some(who) = world.unplaced.iter().find(|agent| may_count_as(holder, agent)) {
        trail.add_other_namespace(
            format!("{} may have this number in its own PID namespace", who.name()),
            "/proc",
        );
        return unknown(Reason::OtherNamespace);
    }
    // A process that cannot be seen at all may have the number in a namespace of its own.
    if let Some(why) = world.snapshot.processes.partial.as_ref().filter(|_| !seen(pid, holder, world)) {
        trail.add("processes", format!("not all can be seen: {why}"), "/proc");
        return unknown(Reason::PartialScan);
    }
    let namespace = world.snapshot.host.pid_namespace;
    // Neither host name nor boot ID identifies the namespace: containers may share both.
    if namespace == Some(INITIAL_PID_NAMESPACE)
        || names_this_namespace(holder, world)
        || seen(pid, holder, world)
    {
        return None;
    }
    trail.add(
        "namespace",
        "claimtop is not in the machine's first PID namespace; the PID may be from another one",
        "/proc/self/ns/pid",
    );
    unknown(Reason::OtherNamespace)
}

/// Returns whether a record itself states that its PID counts in claimtop's own namespace, which no start of a
/// container or of WSL shares: an earlier start with the same inode ended with all its processes.
fn names_this_namespace(holder: &Holder, world: &World<'_>) -> bool {
    holder.domain().is_some_and(|domain| home_of(domain, world) == Home::Here)
}

/// Returns whether an agent whose namespace could not be read may be the holder.
fn may_count_as(holder: &Holder, agent: &PossibleAgent<'_>) -> bool {
    agent.process().is_none_or(|process| may_be(holder, process))
}

/// Returns whether a process agrees with everything that a record states of its holder's start.
fn may_be(holder: &Holder, process: &Process) -> bool {
    holder.start_ticks.and_then(|start| process.has_start(start)).unwrap_or(true)
}

/// Returns whether claimtop has seen exactly this process: a number alone may belong to another one, in another
/// namespace.
pub(crate) fn seen(pid: u32, holder: &Holder, world: &World<'_>) -> bool {
    world.seen(pid).iter().any(|agent| holder.start_ticks == Some(agent.id.start_ticks))
}

/// How much later than an agent's start a file was certainly written: a tick of 10 ms and the
/// coarse clock of file times, which is up to 10 ms behind.
const TICKS: SignedDuration = SignedDuration::from_millis(20);

/// Returns whether a process that started then was certainly there at a moment of the wall clock.
fn is_past_start(start_ticks: u64, at: Timestamp, world: &World<'_>) -> bool {
    let times = world.up_for(start_ticks).zip(world.moments_of(at));
    times.is_some_and(|(start, at)| at.earliest.saturating_sub(start) >= TICKS)
}

/// Returns whether the PID is known to have been an agent's when the record was last written: claimtop saw it alive
/// as one before and after, or so does the agent's own registry. An agent that ended before may have left its PID to
/// the very helper that wrote the record, and a record begun before the agent was born may have been written by a
/// slow helper that had its PID first.
fn was_seen_as_agent(record: &Record, pid: u32, world: &World<'_>, trail: &mut Trail) -> bool {
    if !record.medium().is_this_machines() {
        return false;
    }
    let was_there = |start: u64, last_at: Timestamp| was_there(record, start, last_at, world);
    let is_its_own = |start: u64| record.started_at.is_none_or(|began| is_past_start(start, began, world));
    let by_us = world.seen(pid).iter().find(|agent| {
        let start = agent.id.start_ticks;
        was_there(start, agent.last_seen_at) && is_its_own(start)
    });
    if let Some(agent) = by_us {
        trail.add(
            "role",
            format!("claimtop saw it as an agent until {}", agent.last_seen_at),
            "earlier look",
        );
        return true;
    }
    // A note states in which namespace the number counts.
    let noted = world.bindings.gone_with(pid).iter().find(|note| {
        world.snapshot.host.pid_namespace == Some(note.pid_namespace)
            && was_there(note.start_ticks, last_sign(note, world))
            && (record.session_id.as_ref() == Some(&note.session_id) || is_its_own(note.start_ticks))
    });
    if let Some(note) = noted {
        trail.add_from(
            "role",
            "the agent's own hook named this PID, which existed at the last write",
            note.source(),
        );
        return true;
    }
    // The number alone may be that of another PID namespace; with the session it is certain.
    let session = record.session_id.as_ref();
    let registered = world
        .registered(pid)
        .iter()
        .filter(|other| session.is_some() && other.session_id.as_ref() == session);
    let registry = registered.into_iter().find(|other| {
        let holder = other.holder.as_ref().filter(|holder| holder.role == Role::Agent);
        let holder = holder.filter(|_| other.medium().is_this_machines());
        let start = holder.and_then(|holder| holder.start_ticks);
        start.is_some_and(|start| was_there(start, other.written_at))
    });
    if let Some(other) = registry {
        trail.add_from(
            "role",
            "the agent's own registry names this PID for the session, and was written later",
            other.location.text().clone(),
        );
    }
    registry.is_some()
}

/// Returns until when the process of a note is certain to have lived: until it was written, or until
/// the agent last wrote the registry's entry of this PID and start.
fn last_sign(note: &BoundSession, world: &World<'_>) -> Timestamp {
    let is_same = |other: &&&Record| {
        let start = other.holder.as_ref().and_then(|holder| holder.start_ticks);
        start == Some(note.start_ticks)
    };
    let now = world.snapshot.taken_at;
    let entries = world.registered(note.pid).iter().filter(is_same);
    let entries = entries.filter(|entry| entry.medium().is_this_machines() && entry.written_at <= now);
    entries.map(|entry| entry.written_at).chain([note.written_at]).max().unwrap_or(note.written_at)
}
