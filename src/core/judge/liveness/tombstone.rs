//! Verdicts on holders that were proven dead before: death is monotone.

use crate::core::judge::liveness::answer::{Answer, Trail, dead, unknown};
use crate::core::judge::tombstone::may_be;
use crate::core::judge::world::World;
use crate::core::model::{Holder, Process, ProcessId, Reason, Role};

/// Judges an agent that has a tombstone: dead as it was first proven, however little this look can see; unknown if a
/// process lives that may be it after all.
pub(crate) fn by_tombstone(
    holder: &Holder,
    pid: u32,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let start_ticks = holder.start_ticks.filter(|_| holder.role == Role::Agent)?;
    let stone = world.snapshot.tombstone(ProcessId { pid, start_ticks })?;
    let own = world.snapshot.processes.get(pid);
    // A process that is there and could not be read may be it, by this number or by that in a container.
    let may_be_it = |process: &Option<&Process>| process.is_none_or(|process| may_be(process, start_ticks));
    if world.unread.iter().any(may_be_it) {
        return None;
    }
    trail.facts.push(stone.evidence());
    let mut all = own.into_iter().chain(world.inner(pid).iter().copied());
    if let Some(process) = all.find(|process| may_be(process, start_ticks)) {
        trail.add(
            "process",
            format!("process {} may have this PID and start, and is running", process.id.pid),
            "/proc",
        );
        return unknown(Reason::ProcessPresent);
    }
    dead(stone.reason)
}
