//! The processes that were seen below ended windows, as a claimtop has kept them.

use claimtop::core::model::{Descent, Host, ProcessId, ProcessTable, SeenBelow, Trace};
use claimtop::testing::core::merged_descents;
use claimtop::testing::source::Descents;

use super::WorldFile;
use super::spec::{DescentSpec, claude_code};

/// Adds to each trace the windows below which its process was seen, by the kept descents.
pub(super) fn recall(world: &WorldFile, host: &Host, table: &ProcessTable, traces: &mut [Trace]) {
    let kept = merged_descents(world.descent.iter().flat_map(|spec| kept(world, spec)).collect(), &[]);
    let descents = Descents::default();
    descents.recall(&kept, host, table);
    for trace in traces.iter_mut().filter(|trace| trace.seen_below.is_empty()) {
        trace.seen_below = descents.seen_below(trace.id);
    }
}

/// Returns the kept descent of one process, and those of younger ones of its window that have ended since.
fn kept(world: &WorldFile, spec: &DescentSpec) -> Vec<Descent> {
    let process = world.process.iter().find(|process| process.pid == spec.pid);
    let started = spec.started.as_deref().or(process.map(|process| process.started.as_str()));
    let id = ProcessId { pid: spec.pid, start_ticks: world.ticks(started.expect("when it started")) };
    let of = |id| Descent {
        id,
        host: world.host.name.as_str().into(),
        boot_id: spec.boot_id.as_deref().unwrap_or(&world.host.boot_id).into(),
        pid_namespace: spec.pid_namespace.unwrap_or(world.host.pid_namespace),
        time_namespace: spec.time_namespace.unwrap_or(world.host.time_namespace),
        below: spec.below.iter().map(|pid| agent(world, *pid)).collect(),
        kept_at: world.at(&spec.kept),
    };
    let younger = (1..=spec.younger)
        .map(|more| ProcessId { pid: 3_000_000 + more, start_ticks: id.start_ticks + u64::from(more) });
    std::iter::once(id).chain(younger).map(of).collect()
}

/// Returns a window that has a tombstone, or that lives.
fn agent(world: &WorldFile, pid: u32) -> SeenBelow {
    let dead = world.tombstone.iter().find(|stone| stone.pid == pid).map(|stone| &stone.started);
    let alive = world.process.iter().find(|process| process.pid == pid).map(|process| &process.started);
    let start_ticks = world.ticks(dead.or(alive).expect("that agent"));
    SeenBelow { id: ProcessId { pid, start_ticks }, agent: claude_code().as_str().into() }
}
