//! Names the window that each left-over came from, and when it ended.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use jiff::Timestamp;

use crate::core::judge::world::World;
use crate::core::model::{
    Binding, Certainty, JudgedRecord, LeftOver, RecordKind, Tombstone, Untrusted, VerdictState, WindowView,
};

/// Adds to each left-over the name of its window and when it ended, as far as that is known.
pub(crate) fn add_owners(
    left_overs: &mut [LeftOver],
    windows: &[WindowView],
    records: &[JudgedRecord],
    world: &World<'_>,
) {
    if left_overs.is_empty() {
        return;
    }
    let living: HashMap<u32, &WindowView> = windows.iter().map(|window| (window.pid, window)).collect();
    let sessions: HashSet<Untrusted> = left_overs.iter().filter_map(|one| one.session.clone()).collect();
    let pids: HashSet<u32> = left_overs.iter().filter_map(|one| one.window_pid).collect();
    let is_any = |record: &&JudgedRecord| {
        record.session_id.as_ref().is_some_and(|session| sessions.contains(session))
            || record.pid().is_some_and(|pid| pids.contains(&pid))
    };
    let records: Vec<&JudgedRecord> = records.iter().filter(is_any).collect();
    for one in left_overs {
        if one.certainty == Certainty::Held {
            let window = one.window_pid.and_then(|pid| living.get(&pid));
            one.window_name = window.map(|window| window.title().as_str().into());
            continue;
        }
        let own = records.iter().copied().filter(|record| is_its(record, one));
        let owner = own.min_by_key(|record| rank(record, one));
        one.window_name = name(one, owner, world);
        one.window_ended_at = ended_at(one, owner, world);
    }
}

/// Returns whether a dead holder's record belongs to the window: by its session, or by its PID while that was the
/// window's. The session changes while a window lives.
pub(crate) fn is_its(record: &JudgedRecord, one: &LeftOver) -> bool {
    if record.verdict.state != VerdictState::Dead {
        return false;
    }
    let is_of_pid = || {
        let ticks = record.record.holder.as_ref().and_then(|holder| holder.start_ticks);
        record.pid() == one.window_pid
            && ticks.is_none_or(|ticks| ticks <= one.start_ticks)
            && one.started_at.is_some_and(|started| record.written_at >= started)
    };
    is_of_session(record, one) || (one.window_pid.is_some() && is_of_pid())
}

fn is_of_session(record: &JudgedRecord, one: &LeftOver) -> bool {
    record.session_id.is_some() && record.session_id == one.session
}

/// Its agent's own registry names a window best.
fn rank(record: &JudgedRecord, one: &LeftOver) -> (bool, bool, bool, Reverse<Timestamp>) {
    let registry = record.record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry);
    let is_other = !is_of_session(record, one);
    (is_other, !registry, record.kind != RecordKind::Session, Reverse(record.written_at))
}

/// Returns its window's name: from its record, else, as a window that ends cleanly leaves no record, what claimtop has
/// kept of it, else what its session's own file says.
fn name(one: &LeftOver, owner: Option<&JudgedRecord>, world: &World<'_>) -> Option<Untrusted> {
    let kept = || {
        let last = stones(one, world).max_by_key(|stone| stone.proven_at)?;
        last.name.clone()
    };
    let from_session = || {
        let session = one.session.as_ref()?;
        let work = world.snapshot.work.iter().find(|work| work.session == *session)?;
        work.doing.name.clone()
    };
    owner.map(|record| record.title.clone()).or_else(kept).or_else(from_session)
}

/// Returns when it was proven dead, or else the last sign of life in its record.
fn ended_at(one: &LeftOver, owner: Option<&JudgedRecord>, world: &World<'_>) -> Option<Timestamp> {
    let last = |record: &JudgedRecord| record.heartbeat_at.unwrap_or(record.written_at);
    stones(one, world).map(|stone| stone.proven_at).max().or_else(|| owner.map(last))
}

/// Returns the tombstones of the windows that had its window's PID and can have started it.
fn stones<'a>(one: &LeftOver, world: &'a World<'_>) -> impl Iterator<Item = &'a Tombstone> {
    let (pid, start_ticks) = (one.window_pid, one.start_ticks);
    world.snapshot.tombstones.iter().filter(move |stone| {
        Some(stone.id.pid) == pid
            && stone.id.start_ticks <= start_ticks
            && stone.counts_on(&world.snapshot.host)
    })
}
