//! Processes that only show a session which another one runs: Claude Code's background sessions.

use crate::core::judge::window::place::place_of;
use crate::core::judge::world::World;
use crate::core::model::{PlaceView, Process, Record, Untrusted};

/// The command that opens a background session's screen.
const ATTACH: &str = "attach";

/// Returns the place of a window. For a background session that is where a person looks at it.
pub(crate) fn place_of_window(process: &Process, entry: Option<&Record>, world: &World<'_>) -> PlaceView {
    let table = &world.snapshot.processes;
    let own = place_of(process, table);
    let job = entry.and_then(|entry| entry.detail.claude_status()?.job.as_ref());
    let Some(job) = job.filter(|_| own.keeper.is_none()) else { return own };
    let attached = table.by_pid.values().filter(|other| attaches(other, job, world));
    let parked = world.aside.iter().filter(|(_, shown)| **shown == Some(job));
    let parked = parked.filter_map(|(pid, _)| table.get(*pid));
    let screens = attached.chain(parked).map(|screen| place_of(screen, table));
    let Some(screen) = screens.into_iter().find(|place| place.keeper.is_some()) else { return own };
    PlaceView { inner_pid: own.inner_pid, has_own_pid: own.has_own_pid, ..screen }
}

/// Returns whether a process is one of Claude Code's that shows this background session.
fn attaches(process: &Process, job: &Untrusted, world: &World<'_>) -> bool {
    let argv = process.details.as_ref().map(|details| details.argv.as_slice()).unwrap_or_default();
    let is_it = matches!(argv, [_, command, shown, ..] if command.raw() == ATTACH && shown == job);
    is_it && world.signatures.classify(process).is_some()
}
