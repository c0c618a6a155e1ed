//! Finds the processes of starts in local time, to the second, as `ps` of macOS prints them.
//!
//! Both this time and the start that the system reports are the same moment, which the kernel keeps; so they agree to
//! the second, whatever the clock has done since. But the zone of the text is not known: a laptop travels. So a
//! process whose start differs by what zones differ by may be the one that is meant, and is taken neither for it nor
//! for another one.

use std::sync::Arc;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::TimeZone;

use crate::core::model::{Holder, Host, Platform, ProcessTable, SeenAgent, Snapshot};

/// How far two statements of one start may differ, in seconds.
const SLACK: i64 = 1;

/// What all zones differ by a multiple of, and how much they differ at most, in seconds (tzdata, since 1972).
const ZONES_STEP: i64 = 15 * 60;
const ZONES_APART: i64 = 26 * 60 * 60;

/// How a start in local time relates to that of a process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Match {
    Same,
    /// They are the same if the text was written in another zone.
    Perhaps,
    Other,
}

/// Gives every holder whose start is in local time the exact start, if it is that of a process which is there or was
/// seen before. If no process has that start, the PID counts as another process's; if it cannot be known, the holder
/// has no start.
pub fn settle(snapshot: &mut Snapshot) {
    let Snapshot { host, processes, records, seen_agents, .. } = snapshot;
    if host.platform != Platform::MacOs {
        return;
    }
    for record in records {
        let holder_with_start = record.holder.as_ref().filter(|holder| holder.local_start().is_some());
        let Some(holder) = holder_with_start else { continue };
        let start = start_of(holder, (processes, seen_agents), host);
        if holder.start_ticks != start
            && let Some(holder) = Arc::make_mut(record).holder.as_mut()
        {
            holder.start_ticks = start;
        }
    }
}

fn start_of(holder: &Holder, (table, seen): (&ProcessTable, &[SeenAgent]), host: &Host) -> Option<u64> {
    let (stated, pid) = (holder.local_start()?, holder.pid.as_ref()?.valid()?);
    let compared = |start: u64| compare(stated, &host.zone, host.wall_clock(start)?);
    let seen = || {
        let mut starts = seen.iter().filter(|agent| agent.id.pid == pid).map(|agent| agent.id.start_ticks);
        starts.find(|start| compared(*start) == Some(Match::Same))
    };
    let Some(process) = table.get(pid) else { return seen() };
    match compared(process.id.start_ticks)? {
        Match::Same => Some(process.id.start_ticks),
        Match::Perhaps => None,
        Match::Other => seen().or_else(|| {
            let at = stated.to_zoned(host.zone.clone()).ok()?.timestamp();
            u64::try_from(at.as_microsecond()).ok()
        }),
    }
}

/// Compares local time with a start; `None` for a time outside every calendar.
fn compare(stated: DateTime, zone: &TimeZone, start: Timestamp) -> Option<Match> {
    let ambiguous = zone.to_ambiguous_zoned(stated);
    // One of two, if the clock was set back an hour.
    let moments = [ambiguous.clone().earlier().ok()?, ambiguous.later().ok()?];
    let apart = |moment: Timestamp| (start.as_second() - moment.as_second()).abs();
    let apart = moments.map(|moment| apart(moment.timestamp()));
    if apart.iter().any(|apart| *apart <= SLACK) {
        return Some(Match::Same);
    }
    let is_of_zones =
        |apart: &i64| *apart <= ZONES_APART + SLACK && (apart + SLACK).rem_euclid(ZONES_STEP) <= 2 * SLACK;
    Some(if apart.iter().any(is_of_zones) { Match::Perhaps } else { Match::Other })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(told: &str, zone: &str, start: &str, expected: Match) {
        let zone = TimeZone::get(zone).unwrap();
        assert_eq!(
            compare(told.parse().unwrap(), &zone, start.parse().unwrap()),
            Some(expected),
            "{told} {start}"
        );
    }

    #[test]
    fn a_second_is_the_same_and_more_is_another() {
        let told = "2026-11-20T13:10:11";
        check(told, "Europe/Berlin", "2026-11-20T12:10:11.999999Z", Match::Same);
        check(told, "Europe/Berlin", "2026-11-20T12:10:10Z", Match::Same);
        check(told, "Europe/Berlin", "2026-11-20T12:10:12.999999Z", Match::Same);
        check(told, "Europe/Berlin", "2026-11-20T12:10:13Z", Match::Other);
        check(told, "Europe/Berlin", "2026-11-20T12:10:09.999999Z", Match::Other);
    }

    #[test]
    fn what_another_zone_explains_decides_nothing() {
        let told = "2026-11-20T13:10:11";
        // It was written in Los Angeles, in Kathmandu, and on the other side of the date line.
        check(told, "Europe/Berlin", "2026-11-20T21:10:11.5Z", Match::Perhaps);
        check(told, "Europe/Berlin", "2026-11-20T07:25:12Z", Match::Perhaps);
        check(told, "Pacific/Kiritimati", "2026-11-21T01:10:11Z", Match::Perhaps);
        check(told, "Europe/Berlin", "2026-11-22T13:10:11Z", Match::Other);
        check(told, "Europe/Berlin", "2026-11-20T21:10:14Z", Match::Other);
    }

    #[test]
    fn an_hour_that_comes_twice_is_both() {
        let told = "2026-10-25T02:30:00";
        check(told, "Europe/Berlin", "2026-10-25T00:30:00Z", Match::Same);
        check(told, "Europe/Berlin", "2026-10-25T01:30:00Z", Match::Same);
    }

    #[test]
    fn an_hour_that_is_left_out_is_near_enough_to_decide_nothing() {
        check("2026-03-29T02:30:00", "Europe/Berlin", "2026-03-29T03:30:00Z", Match::Perhaps);
    }
}
