//! Verdicts by whether any living agent could be the owner.

use crate::core::judge::liveness::absent::is_before_boot;
use crate::core::judge::liveness::answer::{Answer, Trail, unknown};
use crate::core::judge::liveness::own::own_verdict;
use crate::core::judge::liveness::owner::could_own;
use crate::core::judge::world::World;
use crate::core::model::snapshot::host::INITIAL_PID_NAMESPACE;
use crate::core::model::{Reason, Record, Untrusted, VerdictState};

/// Judges a record that no stored PID can decide: it is dead only if nothing that lives could
/// own it.
pub(crate) fn by_possible_owners(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let has_pid = record.holder.as_ref().is_some_and(|holder| holder.pid.is_some());
    let open = if has_pid { Reason::WrongRole } else { Reason::NoPid };
    if record.context_id.is_none() && record.session_id.is_none() {
        trail.add("owner", "the record names neither a process nor a session", "record");
        return Answer(VerdictState::Unknown, open);
    }
    if let Some(answer) = unseen(has_pid, world, trail) {
        return answer;
    }
    if let Some(title) = unknown_agent(record, world) {
        let value = format!("{title} runs this session, and claimtop cannot recognize its processes");
        trail.add("agent", value, "record");
        return Answer(VerdictState::Unknown, open);
    }
    let mut possible = world.possible_agents.iter();
    if let Some((_, evidence)) = possible.find(|(agent, _)| could_own(record, agent, world)) {
        trail.facts.push(evidence.clone());
        return Answer(VerdictState::Unknown, open);
    }
    trail.add("possible owners", "no running agent could have written it", "complete scan of /proc");
    if is_before_boot(record, world, trail) {
        return Answer(VerdictState::Dead, Reason::OtherBoot);
    }
    match trail.helper_gone.or_else(|| session_gone(record, world, trail)) {
        _ if trail.has_survivors => Answer(VerdictState::Unknown, open),
        Some(reason) => Answer(VerdictState::Dead, reason),
        // No visible process can own it, but no process was ever named: no proof.
        None => Answer(VerdictState::Unknown, open),
    }
}

/// Returns the agent that a record names, if no signature describes it: then no scan can find its processes.
fn unknown_agent<'a>(record: &'a Record, world: &World<'_>) -> Option<&'a Untrusted> {
    let stated = record.detail.entire()?.agent.as_ref()?;
    world.signatures.name_by_title(stated.raw()).is_none().then_some(stated)
}

/// Returns why an owner could be out of sight.
pub(crate) fn unseen(has_pid: bool, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    if let Some(why) = world.snapshot.processes.partial.as_ref() {
        trail.add("processes", format!("not all can be seen: {why}"), "/proc");
        return unknown(Reason::PartialScan);
    }
    if !has_pid && world.snapshot.host.pid_namespace != Some(INITIAL_PID_NAMESPACE) {
        trail.add("namespace", "the owner may be in another PID namespace", "/proc/self/ns/pid");
        return unknown(Reason::OtherNamespace);
    }
    None
}

/// Returns how the agent's process ended that another record of the session names.
fn session_gone(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Reason> {
    let session = record.session_id.as_ref()?;
    if let Some((note, reason)) = world.bindings.gone(session) {
        let gone = format!("the agent that ran it, PID {}, is gone: {}", note.pid, reason.name());
        trail.add_from("binding", gone, note.source());
        // If the record was written since, its writer is not the one that an earlier boot has ended.
        let is_earlier = reason != Reason::OtherBoot || is_before_boot(record, world, &mut Trail::default());
        return Some(if is_earlier { reason } else { Reason::NoProcess });
    }
    if let Some(stone) = world.tombstone_of(session) {
        trail.facts.push(stone.evidence());
        return Some(stone.reason);
    }
    let others = world.records_of(session).iter();
    let dead = |other: &&&Record| {
        let verdict = own_verdict(other, world, &mut Trail::default());
        verdict.is_some_and(|answer| answer.0 == VerdictState::Dead)
    };
    let named = others.filter(|other| !std::ptr::eq(**other, record)).find(dead)?;
    let path = named.location.text().clone();
    trail.add_from("session", "the agent that another record names for it is gone", path);
    Some(Reason::NoProcess)
}
