//! Servers of an agent that outlive the screen that started them, and keep what they hold.

use crate::core::judge::window::agent::Role;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Binding, Process, Record};

/// Returns the server that holds a session's lock, if the process that started it is gone: Codex's `app-server`
/// beside a pane, whose thread can no longer be opened (codex#38144). A managed daemon outlives its screens by
/// design, and a screen that is to use a server (`--remote`) may use this one.
pub(crate) fn holding_server<'a>(record: &Record, world: &World<'a>) -> Option<&'a Process> {
    let holder = record.holder.as_ref().filter(|holder| holder.binding == Binding::Lock)?;
    let table = &world.snapshot.processes;
    let process = table.get(holder.pid.as_ref()?.valid()?).filter(|process| !has_exited(process))?;
    let (_, role) = world.signatures.classify(process)?;
    let is_unit = world
        .trace_of(process.id)
        .and_then(|trace| trace.origin.as_ref())
        .is_some_and(|origin| origin.is_unit);
    let has_remote = || world.windows.iter().any(|window| has(window.process, "--remote"));
    let is_alone = role == Role::Daemon
        && has(process, "app-server")
        && !has(process, "--managed-daemon")
        && !has_shared_socket(process)
        && table.is_orphan(process)
        && !is_unit
        && !has_remote();
    is_alone.then_some(process)
}

/// Returns whether it listens where every screen of its user finds it, as the managed daemon does.
fn has_shared_socket(process: &Process) -> bool {
    let argv = process.details.as_ref().map(|details| details.argv.as_slice()).unwrap_or_default();
    argv.iter().any(|one| one.raw().contains("unix:"))
}

fn has(process: &Process, argument: &str) -> bool {
    let argv = process.details.as_ref().map(|details| details.argv.as_slice()).unwrap_or_default();
    argv.iter().any(|one| one.raw() == argument || one.raw().split('=').next() == Some(argument))
}
