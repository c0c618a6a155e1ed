//! Verdicts on a process that a caller names by its PID, with or without its start. The rules are those for the PID of
//! a record.

use std::str::FromStr;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::liveness::absent::{absent, gone};
use crate::core::judge::liveness::answer::{Answer, Trail, unknown};
use crate::core::judge::liveness::machine::elsewhere;
use crate::core::judge::liveness::own::present;
use crate::core::judge::world::World;
use crate::core::model::record::holder::is_start;
use crate::core::model::{
    Binding, Domain, Format, Holder, HolderNames, Host, Location, Ownership, Process, Reason, Record,
    RecordKind, Role, Row, StatedPid, Untrusted, Verdict, VerdictState,
};

/// The start of a process, as a caller has recorded it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RecordedStart {
    /// In clock ticks since the boot (field 22 of `/proc/<pid>/stat`).
    Ticks(u64),
    /// By the wall clock.
    Moment(Timestamp),
}

/// A process as a caller names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ProcessQuery {
    /// Its PID.
    pub(crate) pid: StatedPid,
    /// Its start, if the caller has recorded one.
    pub(crate) start: Option<RecordedStart>,
    /// The inode of the PID namespace in which the PID was recorded, if the caller knows it.
    pub(crate) namespace: Option<u64>,
}

/// How far two statements of one start may differ: programs round to the second, up or down, and read two clocks.
const ROUNDING: SignedDuration = SignedDuration::from_secs(2);

/// How much later than a recorded moment a process must have started to be certain to be another one: what a program
/// records as the start may be when it read the clock.
const EDGE: SignedDuration = SignedDuration::from_secs(60);

impl FromStr for ProcessQuery {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (pid, start) = text.split_once('@').map_or((text, None), |(pid, start)| (pid, Some(start)));
        let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
        let number = Some(pid).filter(|pid| is_number(pid)).and_then(|pid| pid.parse().ok());
        let number = number.ok_or("a PID is a decimal number")?;
        let start = match start {
            None => None,
            Some(ticks) if is_number(ticks) => {
                let ticks = ticks.parse().ok().filter(is_start).ok_or("no process has this start")?;
                Some(RecordedStart::Ticks(ticks))
            }
            Some(moment) => {
                let wrong = "a start is in clock ticks since the boot, or in RFC 3339";
                Some(RecordedStart::Moment(moment.parse().map_err(|_| wrong)?))
            }
        };
        Ok(Self { pid: StatedPid::from_number(number), start, namespace: None })
    }
}

impl ProcessQuery {
    /// Returns what the caller states, as a record of this moment.
    pub(crate) fn to_record(&self, now: Timestamp, host: &Host) -> Record {
        let row = Row::new("question".into(), "process", Untrusted::default());
        // Every agent may run records of this format, so the format excludes no process.
        let kind = (Format::Entire, RecordKind::Lock);
        let record = Record::blank(kind, Location::Row(row.into()), Ownership::default(), now);
        self.in_record(record, host)
    }

    /// Returns a record that states this process as its holder.
    pub(crate) fn in_record(&self, mut record: Record, host: &Host) -> Record {
        let mut holder = Holder::new(self.pid.clone(), Role::Agent, Binding::Row);
        if let Some(RecordedStart::Ticks(ticks)) = self.start {
            holder.start_ticks = Some(ticks);
        }
        // The caller asks about its own machine.
        let machine = host.machine_id.as_deref().map(Untrusted::from);
        let domain = self.namespace.map(|inode| Domain::Linux { machine, namespace: Some(inode) });
        holder.names = HolderNames { domain, ..HolderNames::default() }.kept();
        record.holder = Some(holder);
        record
    }
}

/// Judges the process of a query; `record` is what states it.
pub(crate) fn judge_process(query: &ProcessQuery, record: &Record, world: &World<'_>) -> Verdict {
    let mut trail = Trail::default();
    let answer = answer(query, record, world, &mut trail);
    let answer = answer.unwrap_or(Answer(VerdictState::Unknown, Reason::WrongRole));
    if answer.0 == VerdictState::Alive && query.start.is_none() {
        let value = "some process has this PID: without a start it may be another one than was meant";
        trail.add("identity", value, "rule");
    }
    answer.into_verdict(trail)
}

fn answer(query: &ProcessQuery, record: &Record, world: &World<'_>, trail: &mut Trail) -> Option<Answer> {
    let holder = record.holder.as_ref()?;
    let pid = match &query.pid {
        StatedPid::Valid(pid) => *pid,
        StatedPid::Bad(text) => {
            trail.add("pid", format!("{} is not the PID of a user's process", text.raw()), "record");
            return unknown(Reason::BadPid);
        }
    };
    if let Some(answer) = elsewhere(record, holder, world, trail) {
        return Some(answer);
    }
    let Some(process) = world.snapshot.processes.get(pid) else {
        return absent(record, holder, pid, world, trail);
    };
    match query.start {
        Some(RecordedStart::Moment(moment)) => {
            by_moment((record, holder, pid), moment, process, world, trail)
        }
        Some(RecordedStart::Ticks(_)) | None => present(record, holder, process, world, trail),
    }
}

/// Judges a PID whose start was recorded by the wall clock: the same process if the starts agree but for rounding,
/// another one if it started later by more than any clock or program can explain.
fn by_moment(
    (record, holder, pid): (&Record, &Holder, u32),
    moment: Timestamp,
    process: &Process,
    world: &World<'_>,
    trail: &mut Trail,
) -> Option<Answer> {
    let source = world.snapshot.host.process_source(process.id.pid);
    trail.add("recorded start", moment.to_string(), "record");
    let Some(started) = world.started_at(process) else {
        trail.add_from("process start", "in the future, or not known", source.into());
        return unknown(Reason::OtherClock);
    };
    trail.add_from("process start", format!("{started}, by the present clock"), source.into());
    let later_by = started.duration_since(moment);
    if later_by.abs() <= ROUNDING {
        let exact = Holder { start_ticks: Some(process.id.start_ticks), ..holder.clone() };
        return present(record, &exact, process, world, trail);
    }
    let is_other = moment.checked_add(EDGE).is_ok_and(|edge| world.is_born_after(process, edge));
    if is_other && process.id.pid == pid {
        return gone(record, holder, pid, Reason::OtherProcess, world, trail);
    }
    let value = if later_by.is_negative() {
        "the process had the PID before the recorded start"
    } else {
        "the starts differ by less than clocks and programs can explain"
    };
    trail.add("start", value, "rule");
    unknown(Reason::OtherClock)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn query(text: &str) -> Result<ProcessQuery, String> {
        text.parse()
    }

    #[test]
    fn a_process_is_a_pid_and_perhaps_a_start() {
        let of = |number: i128, start| {
            Ok(ProcessQuery { pid: StatedPid::from_number(number), start, namespace: None })
        };
        assert_eq!(query("77"), of(77, None));
        assert_eq!(query("77@686753"), of(77, Some(RecordedStart::Ticks(686_753))));
        let moment = Some(RecordedStart::Moment("2026-11-20T10:00:00Z".parse().unwrap()));
        assert_eq!(query("77@2026-11-20T10:00:00Z"), of(77, moment));
        assert_eq!(query("77@2026-11-20T11:00:00+01:00"), of(77, moment));
        assert_eq!(query("0"), of(0, None), "a number that is no process's is an answer, not an error");
    }

    #[test]
    fn what_a_script_has_left_empty_is_an_error_and_no_answer() {
        for text in
            ["", "@", "77@", "@77", "-1", "+77", " 77", "7x", "77@0", "77@x", "77@1@2", "77@2026-11-20"]
        {
            assert!(query(text).is_err(), "{text:?}");
        }
        assert!(query(&format!("77@{}0", u64::MAX)).is_err());
    }
}
