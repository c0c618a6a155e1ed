//! The process above what a window has left: none, or the reaper of orphans.
//!
//! Orphans go to a child subreaper (prctl(2)), which cannot be recognised from outside. So the test is not a parent
//! PID of 1, but that no agent stands above, and whether the parent may have started the process itself.

use crate::core::judge::world::World;
use crate::core::model::Process;
use crate::core::model::snapshot::process::{MAX_DEPTH, ancestry};

/// The process above the topmost process that bears a window's traces.
pub(crate) enum Above<'a> {
    /// Only the machine's own init.
    Nobody,
    /// A process that no window started, and that cannot have started it.
    Reaper,
    /// A process that no window started, and that may have started it.
    Parent(&'a Process),
    /// A process whose own origin is not known.
    Unread(&'a Process),
}

/// Returns the process above this one; `None` if that is an agent, or bears these traces too, or is the window
/// itself: then this one is not a left-over of its own.
pub(crate) fn find_above<'a>(world: &World<'a>, process: &Process, window_pid: u32) -> Option<Above<'a>> {
    let table = &world.snapshot.processes;
    if table.is_orphan(process) {
        return Some(Above::Nobody);
    }
    let parent = table.get(process.parent)?;
    let chain = ancestry(table, parent.id.pid);
    let is_cut = chain.len() >= MAX_DEPTH;
    let bears = |above: &Process| world.trace_of(above.id).is_some_and(|trace| trace.names_window());
    let belongs = |above: &&Process| {
        above.id.pid == window_pid || bears(above) || world.may_be_agents(above) || above.id == process.id
    };
    if is_cut || chain.iter().any(belongs) {
        return None;
    }
    let is_read = world.trace_of(parent.id).is_some_and(|trace| trace.origin.is_some());
    Some(match (is_read, is_handed_over(process, parent)) {
        (false, _) => Above::Unread(parent),
        (true, true) => Above::Reaper,
        (true, false) => Above::Parent(parent),
    })
}

/// Returns whether a parent cannot have started a process: a child is younger, and is in its parent's session or
/// leads one of its own (credentials(7)).
fn is_handed_over(process: &Process, parent: &Process) -> bool {
    let is_elsewhere = process.session != parent.session && process.session != process.id.pid;
    is_elsewhere || process.id.start_ticks < parent.id.start_ticks
}
