//! Verdicts by what binds a record's session, or its context, to a living process.

use crate::core::judge::left_over::lone_server::holding_server;
use crate::core::judge::liveness::answer::{Answer, Trail, alive};
use crate::core::judge::liveness::machine::elsewhere;
use crate::core::judge::liveness::own::present;
use crate::core::judge::liveness::system::team;
use crate::core::judge::window::{Window, window_of};
use crate::core::judge::world::World;
use crate::core::model::report::context::CONTEXT_VARIABLE;
use crate::core::model::snapshot::process::{ancestry, has_exited};
use crate::core::model::text::is_uuid;
use crate::core::model::{Binding, Holder, Process, Reason, Record, Tie, Untrusted, Verdict, VerdictState};

/// Judges by any other evidence that binds the record's session to a living process.
pub(crate) fn by_session(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let session = record.session_id.as_ref()?;
    if let Some(pid) = world.pids_of_session(session).next() {
        trail.add(
            "session",
            format!("PID {pid} runs this session"),
            "Claude Code's registry, PID and start match",
        );
        return alive(Reason::SameProcess);
    }
    if let Some(process) = lock_holder(session, record, world) {
        let value = format!("{} {} holds the lock of this session", process.comm, process.id.pid);
        trail.add("session", value, "/proc/locks");
        return alive(Reason::ProcessPresent);
    }
    let others = world.records_of(session).iter().filter(|other| !std::ptr::eq(**other, record));
    let process = others
        .filter_map(|other| other.holder.as_ref().map(|holder| (*other, holder)))
        .filter(|(_, holder)| matches!(holder.binding, Binding::Marker | Binding::Tick | Binding::Owner))
        .find_map(|(other, holder)| living(other, holder, session, world))
        .or_else(|| named_in_arguments(session, world))?;
    trail.add(
        "session",
        format!("PID {} runs this session", process.id.pid),
        "marker, tick, owner or arguments",
    );
    alive(Reason::ProcessPresent)
}

/// Returns the living process that holds an agent's lock of a session, according to the kernel: a window's, or a
/// server's.
fn lock_holder<'a>(session: &Untrusted, record: &Record, world: &World<'a>) -> Option<&'a Process> {
    let files = world.snapshot.session_files.iter();
    let own = files.filter(|file| file.session == *session && file.medium.is_this_machines());
    let by_file = own.filter(|file| matches!(file.tie, Tie::Locked(_))).filter_map(|file| file.tie.pid());
    let is_lock = |other: &&&Record| {
        let holder = other.holder.as_ref();
        !std::ptr::eq(**other, record) && holder.is_some_and(|holder| holder.binding == Binding::Lock)
    };
    let by_record = world.records_of(session).iter().filter(is_lock).filter_map(|other| other.pid());
    let living = |pid: u32| world.snapshot.processes.get(pid).filter(|process| !has_exited(process));
    by_file.chain(by_record).find_map(living)
}

/// Returns the process that another record of the session binds it to, if it lives and is not certain to run another
/// session now.
pub(crate) fn living<'a>(
    other: &Record,
    holder: &Holder,
    session: &Untrusted,
    world: &World<'a>,
) -> Option<&'a Process> {
    let mut trail = Trail::default();
    if elsewhere(other, holder, world, &mut trail).is_some() {
        return None;
    }
    let pid = holder.pid.as_ref()?.valid()?;
    let process = world.snapshot.processes.get(pid)?;
    let is_alive = present(other, holder, process, world, &mut trail)
        .is_some_and(|answer| answer.0 == VerdictState::Alive);
    let window = window_of(&world.snapshot.processes, &world.windows, pid)?;
    (is_alive && world.may_run(window.process.id.pid, session)).then_some(process)
}

fn named_in_arguments<'a>(session: &Untrusted, world: &World<'a>) -> Option<&'a Process> {
    if !is_uuid(session.raw()) {
        return None;
    }
    let started = world.started_with(session.raw()).iter();
    started.copied().find(|process| world.may_run(process.id.pid, session))
}

/// Judges by the context ID that a living window was given: a process that bears it is that window's.
pub(crate) fn by_context(record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let window = given_context(record, world)?;
    trail.add(
        "context ID",
        format!("{} {} has it in its environment", window.agent, window.process.id.pid),
        "/proc/<pid>/environ",
    );
    alive(Reason::ProcessPresent)
}

/// Returns the window that has a record's context ID in its own environment.
fn given_context<'w, 'a>(record: &Record, world: &'w World<'a>) -> Option<&'w Window<'a>> {
    let context = record.context_id.as_ref()?;
    let is_given = |window: &&Window<'_>| {
        let env = window.process.details.as_ref().map(|details| &details.env);
        env.and_then(|env| env.get(CONTEXT_VARIABLE)) == Some(context)
    };
    world.windows.iter().filter(|window| record.format.runs_on(window.agent)).find(is_given)
}

/// Returns the window that a judged record belongs to: its own PID's, or its session's.
pub(crate) fn window_of_record(record: &Record, verdict: &Verdict, world: &World<'_>) -> Option<u32> {
    if verdict.state != VerdictState::Alive {
        return None;
    }
    let table = &world.snapshot.processes;
    let own = record.pid();
    // A process with the session in its arguments cannot open it while such a one holds it.
    if holding_server(record, world).is_some() {
        return None;
    }
    let of_own =
        own.and_then(|pid| window_of(table, &world.windows, pid)).map(|window| window.process.id.pid);
    let session = team::session_of(record, world);
    of_own
        .filter(|_| own.is_some_and(|pid| !ancestry(table, pid).is_empty()))
        .or_else(|| session.and_then(|session| world.pids_of_session(session).next()))
        .or_else(|| session.and_then(|session| bound_window(session, world)))
        .or_else(|| given_context(record, world).map(|window| window.process.id.pid))
}

/// Returns the window to which a marker, a tick or an argument binds a session.
fn bound_window(session: &Untrusted, world: &World<'_>) -> Option<u32> {
    let by_record = world
        .records_of(session)
        .iter()
        .filter_map(|other| other.holder.as_ref().map(|holder| (*other, holder)))
        .find_map(|(other, holder)| living(other, holder, session, world));
    let process = by_record.or_else(|| named_in_arguments(session, world))?;
    window_of(&world.snapshot.processes, &world.windows, process.id.pid).map(|window| window.process.id.pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_uuid_is_known_by_its_shape() {
        for (text, expected) in [
            ("95fe798d-3725-4649-974a-0dec79220193", true),
            ("95fe798d-3725-4649-974a-0dec7922019", false),
            ("95fe798d-3725-4649-974a", false),
            ("95fe798d-3725-4649-974a-0dec79220193-", false),
            ("95fe798d_3725-4649-974a-0dec79220193", false),
            ("95fe7_8d-3725-4649-974a-0dec79220193", false),
            ("", false),
        ] {
            assert_eq!(is_uuid(text), expected, "{text:?}");
        }
    }
}
