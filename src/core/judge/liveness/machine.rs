//! Verdicts by a record's statements about its machine, its boot and its PID namespace.
//!
//! A different boot ID is not a death by itself: containers have boot IDs of their own, and machines that were cloned
//! share their names. It takes a record of this machine, for all that is known, that was begun and last written
//! before this boot.

use crate::core::judge::liveness::absent::{
    is_before_boot, is_untouched_since_boot, named_elsewhere, seen, was_written_before_boot,
};
use crate::core::judge::liveness::answer::{Answer, Trail, alive, dead, unknown};
use crate::core::judge::liveness::domain::{Home, home_of};
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Domain, Holder, ProcessId, Reason, Record, VerdictState};

/// Judges a record by its machine, boot and PID namespace; `None` if its PID counts here.
pub(crate) fn elsewhere(
    record: &Record,
    holder: &Holder,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let here = &world.snapshot.host;
    if let Some(host) = holder.host() {
        trail.add("host", host.clone(), "record");
        if !host.raw().eq_ignore_ascii_case(&here.name) {
            trail.add("this host", here.name.as_str(), "uname");
            return unknown(Reason::OtherHost);
        }
    }
    by_boot(record, holder, world, trail).or_else(|| by_domain(record, holder, world, trail))
}

fn by_boot(record: &Record, holder: &Holder, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let recorded = holder.boot_id()?;
    trail.add("boot", recorded.clone(), "record");
    let Some(boot) = world.snapshot.host.boot_id.as_deref() else { return unknown(Reason::Unreadable) };
    if boot == recorded.raw() {
        return None;
    }
    trail.add("this boot", boot, "/proc/sys/kernel/random/boot_id");
    if holder_may_live_here(holder, world) {
        let value = "not this one, yet a process here has, or may have, that PID and start: a \
                     container can have a boot ID of its own";
        trail.add("other boot", value, "/proc");
        return unknown(Reason::OtherNamespace);
    }
    if is_before_boot(record, world, trail) {
        return dead(Reason::OtherBoot);
    }
    let value = "not this one, but the record may have been written since this machine booted: by a \
                 container, or by a machine of the same name";
    trail.add("other boot", value, "file time and boot clock");
    unknown(Reason::OtherHost)
}

/// Returns whether the recorded process may live here; without PID or start there is none to look for.
fn holder_may_live_here(holder: &Holder, world: &World<'_>) -> bool {
    let named = holder.pid.as_ref().and_then(|pid| pid.valid()).zip(holder.start_ticks);
    named.is_some_and(|(pid, start_ticks)| world.snapshot.processes.may_have(ProcessId { pid, start_ticks }))
}

/// Returns whether a record that names this machine was begun and last written before it booted. If it was copied or
/// moved since, its time may have been set: then every agent of the machine must be seen, and no living one may have
/// its PID, here or where it counts its own.
fn is_of_earlier_boot(record: &Record, holder: &Holder, world: &World<'_>, trail: &mut Trail) -> bool {
    let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
    let is_taken = |pid| world.possible_agents.iter().any(|(agent, _)| may_have(agent, pid, world));
    let is_proven = || world.sees_whole_machine() && !pid.is_some_and(is_taken);
    (is_untouched_since_boot(record, world) || is_proven()) && was_written_before_boot(record, world, trail)
}

/// Returns whether an agent has a PID here, or may have it in its own PID namespace.
fn may_have(agent: &PossibleAgent<'_>, pid: u32, world: &World<'_>) -> bool {
    agent.process().is_none_or(|process| {
        let is_inside = || world.inner(pid).iter().any(|inner| inner.id == process.id);
        process.id.pid == pid || !process.is_placed() || is_inside()
    })
}

/// Judges by the machine and the namespace that a registry names.
fn by_domain(record: &Record, holder: &Holder, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    match home_of(holder.domain()?, world) {
        Home::Elsewhere => {
            trail.add(
                "pid domain",
                "the PID is from another machine, or the record does not name one",
                "record",
            );
            unknown(Reason::OtherHost)
        }
        Home::OtherNamespace => {
            trail.add("pid domain", "the PID is from another PID namespace of this machine: a container, or one before its last start", "record");
            let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
            // A living process is not dead, however old the file claims it to be.
            if let Some(answer) = pid.and_then(|pid| named_elsewhere(holder, pid, world, trail)) {
                return Some(answer);
            }
            if is_of_earlier_boot(record, holder, world, trail) {
                return dead(Reason::OtherBoot);
            }
            pid.and_then(|_| unknown(Reason::OtherNamespace))
        }
        Home::Here if record.medium().is_this_machines() => None,
        Home::Here => {
            trail.add(
                "file system",
                "shared between machines: no matching process here proves nothing",
                "statfs",
            );
            if is_the_process(holder, world) {
                alive(Reason::SameProcess)
            } else {
                unknown(Reason::OtherHost)
            }
        }
    }
}

/// Takes back the death of a Mac's holder that claimtop has not seen live here itself. A Mac's record does not state
/// of which Mac it is, and a home that several of them synchronise lies on the own disk of each.
pub(crate) fn of_this_mac(record: &Record, answer: Answer, world: &World<'_>, trail: &mut Trail) -> Answer {
    let holder = record.holder.as_ref().filter(|holder| holder.domain() == Some(&Domain::Darwin));
    let Some(holder) = holder.filter(|_| answer.0 == VerdictState::Dead) else { return answer };
    let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
    if pid.is_some_and(|pid| seen(pid, holder, world)) {
        return answer;
    }
    trail.add("machine", "the record does not name its Mac; its home may be synchronised", "record");
    Answer(VerdictState::Unknown, Reason::OtherHost)
}

/// Returns whether the PID's process is the recorded one, and lives.
fn is_the_process(holder: &Holder, world: &World<'_>) -> bool {
    let pid = holder.pid.as_ref().and_then(|pid| pid.valid());
    let process = pid.and_then(|pid| world.snapshot.processes.get(pid));
    process.is_some_and(|process| Some(process.id.start_ticks) == holder.start_ticks && !has_exited(process))
}
