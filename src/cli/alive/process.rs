//! Whether one process lives.

use std::collections::BTreeSet;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use super::answer::{Answer, Subject};
use crate::core::judge::liveness::by_number::{ProcessQuery, judge_process};
use crate::core::judge::window::agent::Signatures;
use crate::core::judge::world::World;
use crate::core::model::{Host, Record, Snapshot, StatedPid, Untrusted, Verdict, VerdictState};
use crate::source::os::processes::{self, Scanner};
use crate::source::os::{clock, host};

/// Answers for a process that a caller has named.
pub(super) fn answer(query: &ProcessQuery) -> Answer {
    let now = clock::now();
    let host = own_host(now);
    let record = query.to_record(now, &host);
    let name = match &query.pid {
        StatedPid::Valid(pid) => Untrusted::new(pid.to_string()),
        StatedPid::Bad(text) => text.clone(),
    };
    answer_for(query, &record, host, Subject::Process(name))
}

/// Reads what is known of this machine. It needs a name, for a caller asks about its own; a container often has none.
pub(super) fn own_host(now: Timestamp) -> Host {
    let mut host = host::host_in(TimeZone::UTC, now);
    host.machine_id.get_or_insert_with(|| "this machine".to_owned());
    host
}

/// Answers for the process that a record names. That it lives is seen from this process alone. Every other answer takes
/// a look at all of them: its number may be another one's in a container.
pub(super) fn answer_for(query: &ProcessQuery, record: &Record, host: Host, subject: Subject) -> Answer {
    let now = clock::now();
    let pid = query.pid.valid();
    let single = pid.map(processes::single).unwrap_or_default();
    let mut snapshot = Snapshot::of_processes(now, host, single);
    let mut verdict = judged(query, record, &snapshot);
    if verdict.state != VerdictState::Alive
        && let Some(pid) = pid
    {
        snapshot.processes = Scanner::new(&Signatures::default()).scan(&BTreeSet::from([pid]));
        verdict = judged(query, record, &snapshot);
    }
    Answer::new(subject, verdict, now).with_process(pid, &snapshot)
}

fn judged(query: &ProcessQuery, record: &Record, snapshot: &Snapshot) -> Verdict {
    judge_process(query, record, &World::new(snapshot, &Signatures::default()))
}
