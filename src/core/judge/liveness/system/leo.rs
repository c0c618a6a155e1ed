//! Verdicts on LEO's rows: the process decides where it can be seen from here, then what the
//! database holds as life, and never the age of a heartbeat alone.
//!
//! The precedence of PIDs is LEO's own: a tick's parent, a marker, the end of a terminal ID, the
//! row's PID. The last of them is the last guess of some writer, so its end proves nothing.

use crate::core::judge::liveness::answer::{Answer, Trail};
use crate::core::judge::liveness::machine::elsewhere;
use crate::core::judge::liveness::own::by_stated_pid;
use crate::core::judge::liveness::owners::by_possible_owners;
use crate::core::judge::liveness::session::by_session;
use crate::core::judge::world::World;
use crate::core::model::{Location, Reason, Record, RecordKind, VerdictState};

/// Judges one row of a session, of an item of work or of a file's lock.
pub(crate) fn judge(asked: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let record = row_of_session(asked, world).unwrap_or(asked);
    if let Some(alive) = by_session(record, world, trail) {
        return alive;
    }
    let by_processes = by_processes(record, world, trail);
    let by_sign = by_sign(record, world, trail);
    match (by_processes.0, by_sign) {
        (VerdictState::Alive, _) => by_processes,
        // The visible candidates are gone, and still something shows life: the answer is unknown.
        (VerdictState::Dead, Some(_)) => Answer(VerdictState::Unknown, Reason::SignOfLife),
        // So is the process that the row names, while its heartbeat is fresh: both are reported.
        (VerdictState::Unknown, Some(_)) if trail.helper_gone.is_some() => {
            Answer(VerdictState::Unknown, Reason::SignOfLife)
        }
        (VerdictState::Unknown, Some(sign)) => sign,
        (VerdictState::Unknown, None) => by_processes,
        (VerdictState::Dead, None) => proven([asked, record], by_processes, world, trail),
    }
}

/// Returns the session's own row, which has more evidence of its life than an item or a lock.
fn row_of_session<'a>(record: &Record, world: &World<'a>) -> Option<&'a Record> {
    let session = record.session_id.as_ref().filter(|_| record.kind != RecordKind::Session)?;
    let is_row =
        |other: &&&Record| other.kind == RecordKind::Session && matches!(other.location, Location::Row(_));
    world.records_of(session).iter().find(is_row).copied()
}

/// Judges by the row's own PID and by the processes that could own the session.
fn by_processes(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    let Some(holder) = record.holder.as_ref() else {
        // Only the session's own row states on which machine a file's lock is held.
        if record.kind == RecordKind::Lock {
            trail.add("session", "it has no row: its machine is not known", "PostgreSQL");
            return Answer(VerdictState::Unknown, Reason::OtherHost);
        }
        return by_possible_owners(record, world, trail);
    };
    if let Some(answer) = elsewhere(record, holder, world, trail) {
        return answer;
    }
    if holder.host().is_none() && !is_known_here(record, world) {
        trail.add("host", "the row names none, and no file of this machine names it", "row");
        return Answer(VerdictState::Unknown, Reason::OtherHost);
    }
    let own = holder.pid.as_ref().and_then(|_| by_stated_pid(record, world, trail));
    own.unwrap_or_else(|| by_possible_owners(record, world, trail))
}

/// Returns whether a file of this machine knows the session.
fn is_known_here(record: &Record, world: &World<'_>) -> bool {
    let others = record.session_id.as_ref().map_or(&[][..], |session| world.records_of(session));
    others.iter().any(|other| matches!(other.location, Location::File(_)))
}

/// Judges by the row's signs of life: a tick, a heartbeat, an announced silence, a tool's end.
fn by_sign(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let now = world.snapshot.taken_at;
    let sign = record.signs.iter().find(|sign| sign.until > now)?;
    trail.add("sign of life", format!("{}, until {}", sign.what.label(), sign.until), "row");
    Some(Answer(VerdictState::Alive, Reason::SignOfLife))
}

/// Lets a death stand only if the rows are certain to be the present ones, and silent for longer than LEO's own
/// limits: the row in question, and its session's.
fn proven([asked, session]: [&Record; 2], answer: Answer, world: &World<'_>, trail: &mut Trail) -> Answer {
    let Location::Row(row) = &asked.location else { return answer };
    if !world.database(row).is_some_and(|database| database.is_complete) {
        trail.add("database", "it could not be read completely by this scan", "PostgreSQL");
        return Answer(VerdictState::Unknown, Reason::Unreadable);
    }
    let is_young = |row: &Record| row.expiry.as_ref().is_some_and(|it| it.at > world.snapshot.taken_at);
    let has_no_age = asked.kind == RecordKind::Lock && asked.expiry.is_none();
    if is_young(asked) || is_young(session) || has_no_age {
        trail.add("heartbeat", "not old enough for LEO itself to release it", "row");
        return Answer(VerdictState::Unknown, Reason::SignOfLife);
    }
    answer
}
