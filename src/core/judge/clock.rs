//! Compares moments of different clocks, and reads the history of the wall clock from the notes of a look, each of
//! which is dated by both clocks at once.

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{ClockReading, Host, Medium, Snapshot};

/// Adds the readings in notes and tombstones of this boot to the clock's history, and the stamp of the boot if it has
/// none: a container's runtime makes the device nodes just after the container's first process has started.
pub(crate) fn settle(snapshot: &mut Snapshot, container: Option<jiff::Timestamp>) {
    let host = &snapshot.host;
    let mut readings: Vec<ClockReading> = noted(snapshot).chain(proven(snapshot)).collect();
    if !host.clock.has_stamp()
        && let Some((first, made_at)) = snapshot.processes.get(1).zip(container)
    {
        let since = host.up_for(first.id.start_ticks).unwrap_or_default();
        let stamp = ClockReading::new(since, made_at);
        readings.extend(stamp.map(|stamp| ClockReading { up_for: SignedDuration::ZERO, ..stamp }));
    }
    snapshot.host.clock.add(readings);
}

fn noted(snapshot: &Snapshot) -> impl Iterator<Item = ClockReading> {
    let host = &snapshot.host;
    let notes = snapshot.bound.notes.iter().filter(|note| {
        snapshot.bound.medium.is_this_machines()
            && host.boot_id.as_deref() == Some(note.boot_id.raw())
            && host.pid_namespace == Some(note.pid_namespace)
    });
    notes.filter_map(|note| {
        let up_for = SignedDuration::from_millis(i64::try_from(note.since_boot_ms).ok()?);
        ClockReading::new(up_for, note.written_at)
    })
}

fn proven(snapshot: &Snapshot) -> impl Iterator<Item = ClockReading> {
    let host = &snapshot.host;
    let stones = snapshot.tombstones.iter().filter(|stone| stone.counts_on(host));
    stones.filter_map(|stone| ClockReading::new(host.up_for(stone.proven_tick?)?, stone.proven_at))
}

/// How much later than a record's last write a process may have started and still be the one
/// that wrote it: 2 s for clocks and file times, and one tick of at most 10 ms.
pub(crate) const SLACK: SignedDuration = SignedDuration::from_millis(2_010);

pub(crate) fn is_after(host: &Host, later: Timestamp, earlier: Timestamp) -> bool {
    earlier.checked_add(SLACK + host.clock_doubt).is_ok_and(|earlier| later > earlier)
}

/// Returns whether the machine is certain to have booted since something was written on a medium.
pub(crate) fn has_booted_since(host: &Host, written_at: Timestamp, medium: Medium) -> bool {
    medium.is_this_machines() && host.booted_by().is_some_and(|boot_at| is_after(host, boot_at, written_at))
}
