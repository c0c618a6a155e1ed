//! The steps that apply to everything that names a process or a session.

use crate::core::judge::liveness::answer::{Answer, Trail, alive};
use crate::core::judge::liveness::own::own_verdict;
use crate::core::judge::liveness::owners::by_possible_owners;
use crate::core::judge::liveness::session::{by_context, by_session};
use crate::core::judge::liveness::system::leo;
use crate::core::judge::world::World;
use crate::core::model::{Binding, Format, Holder, Location, Reason, Record, RecordKind, VerdictState};

/// Judges by the three steps that apply to everything that names a process or a session.
pub(crate) fn by_holder(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    if let Some(answer) = by_note(record, world, trail) {
        return answer;
    }
    if record.format == Format::Leo && matches!(record.location, Location::Row(_)) {
        let answer = leo::judge(record, world, trail);
        return spared(answer, record, world, trail);
    }
    let own = own_verdict(record, world, trail);
    // If the times of a PID prove nothing, other evidence may bind the session; and a session of LEO's can be resumed
    // here, whatever machine its file names.
    let is_leos = record.format == Format::Leo && record.kind == RecordKind::Session;
    let is_open =
        |Answer(_, why): &Answer| *why == Reason::OtherClock || (*why == Reason::OtherHost && is_leos);
    if let Some(answer) = own.filter(|answer| !is_open(answer)) {
        return spared(answer, record, world, trail);
    }
    if let Some(answer) = by_session(record, world, trail) {
        return answer;
    }
    if let Some(answer) = by_context(record, world, trail) {
        return answer;
    }
    let answer = own.unwrap_or_else(|| by_possible_owners(record, world, trail));
    spared(answer, record, world, trail)
}

/// Judges by the report of the agent's own hook, which beats all other evidence for life.
pub(crate) fn by_note(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record))?;
    let (note, process) =
        world.bindings.running(session).iter().find(|(note, _)| record.format.runs_on(note.agent.raw()))?;
    trail.add_from(
        "binding",
        format!("PID {} runs this session, as its own hook reported at {}", process.id.pid, note.written_at),
        note.source(),
    );
    alive(Reason::SameProcess)
}

/// Returns whether a record is about one process and not about which other one may run its session: an agent's own
/// registry keeps one for each.
pub(crate) fn names_its_process(record: &Record) -> bool {
    let holder = record.holder.as_ref();
    let has_start = |holder: &Holder| holder.start_ticks.is_some() || holder.local_start().is_some();
    holder.is_some_and(|holder| has_start(holder) && holder.binding == Binding::Registry)
}

/// Takes a death back if a note states that the session may be run out of sight.
pub(crate) fn spared(answer: Answer, record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record));
    let why = session.and_then(|session| world.bindings.open(session));
    match (answer.0, why) {
        (VerdictState::Dead, Some(reason)) => {
            trail.add(
                "binding",
                "the session may be running where it cannot be seen from here",
                "claimtop's own notes",
            );
            Answer(VerdictState::Unknown, reason)
        }
        (VerdictState::Dead | VerdictState::Alive | VerdictState::Unknown, _) => answer,
    }
}
