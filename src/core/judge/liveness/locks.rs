//! Evidence from an agent's own session lock that its process does not own another session.

use crate::core::judge::world::World;
use crate::core::model::{Others, Process, Record, SessionFile, Tie, Untrusted};

/// Returns whether a process is certain to run another session than a record's, by the lock that it holds at this
/// moment, and cannot have run that one before: it began after the record was last written, and nothing shows that it
/// was ever given that session.
pub(crate) fn runs_another(
    record: &Record,
    session: &Untrusted,
    process: &Process,
    world: &World<'_>,
) -> bool {
    let holds_another = world.snapshot.session_files.iter().any(|file| {
        file.session != *session && is_sole_lock(file, process) && is_of_its_agent(file, process, world)
    });
    holds_another && world.is_younger(process, record) && !may_have_been_given(session, process, world)
}

/// Returns whether the kernel reports that a process holds this lock, on this very machine, and all the agent's files
/// tie it to no other session. A PID in a lock's name or text is no such proof: it may count on another machine or in
/// another PID namespace.
fn is_sole_lock(file: &SessionFile, process: &Process) -> bool {
    file.tie == Tie::Locked(process.id.pid) && file.others == Others::None && file.medium.is_this_machines()
}

fn is_of_its_agent(file: &SessionFile, process: &Process, world: &World<'_>) -> bool {
    world.windows.iter().any(|window| window.process.id == process.id && window.agent == file.agent)
}

/// Returns whether a process may have been started with a session, or its own hook has named it.
fn may_have_been_given(session: &Untrusted, process: &Process, world: &World<'_>) -> bool {
    let arguments = process.details.as_ref().map(|details| details.argv.as_slice()).unwrap_or_default();
    arguments.is_empty()
        || arguments.iter().any(|argument| argument.raw().contains(session.raw()))
        || !world.snapshot.bound.is_whole()
        || world.bindings.has_run(process.id.pid, session)
}
