//! Processes that are remembered as seen below a window, once that window is proven dead.

use std::collections::BTreeMap;

use crate::core::judge::tombstone::keeper::proof;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Absence, Descent, ProcessId, SeenBelow, Snapshot};

/// Which processes were seen below which agents, the nearest first.
pub type SeenBelowMap = BTreeMap<ProcessId, Vec<SeenBelow>>;

/// Returns the surviving processes that were seen below a window that this look proves dead, except those already
/// kept.
pub fn to_keep(seen: &SeenBelowMap, kept: &[Descent], snapshot: &Snapshot) -> Vec<Descent> {
    let mut is_dead: BTreeMap<ProcessId, bool> = BTreeMap::new();
    let orphans = seen.iter().filter(|(id, below)| {
        let Some(window) = below.first() else { return false };
        lives(**id, snapshot) && !lives(window.id, snapshot) && {
            *is_dead.entry(window.id).or_insert_with(|| proof(window.id, snapshot).is_some())
        }
    });
    let all = orphans.filter_map(|(id, below)| descent(*id, below, snapshot));
    all.filter(|new| !kept.iter().any(|known| known.covers(new))).collect()
}

/// Returns the kept ones whose processes this look proves to have ended.
pub fn ended(kept: &[Descent], snapshot: &Snapshot) -> Vec<ProcessId> {
    let here = kept.iter().filter(|one| one.counts_on(&snapshot.host)).map(|one| one.id);
    here.filter(|id| match snapshot.processes.get(id.pid) {
        Some(process) => process.id != *id,
        None => snapshot.processes.absence(id.pid) == Absence::Proven,
    })
    .collect()
}

fn lives(id: ProcessId, snapshot: &Snapshot) -> bool {
    snapshot.processes.get(id.pid).is_some_and(|process| process.id == id && !has_exited(process))
}

fn descent(id: ProcessId, below: &[SeenBelow], snapshot: &Snapshot) -> Option<Descent> {
    let host = &snapshot.host;
    Some(Descent {
        id,
        host: host.name.as_str().into(),
        boot_id: host.boot_id.as_deref()?.into(),
        pid_namespace: host.pid_namespace?,
        time_namespace: host.time_namespace?,
        below: below.to_vec(),
        kept_at: snapshot.taken_at,
    })
}
