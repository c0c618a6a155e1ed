//! The plan of releasing everything that an ended window has left, as one action.

use crate::core::model::{
    Action, Binding, Confirmation, Format, Key, Location, Plan, Reason, RecordKind, RecordView, Report, Step,
    VerdictState,
};
use crate::core::plan::about::plan_for;
use crate::core::plan::bring_back::ends_listing;

/// Returns this record and the others that its window has left, in the order in which they go: proof that others are
/// dead goes after them. A window that lives has none.
pub fn left_by<'a>(report: &'a Report, seed: &'a RecordView) -> Vec<&'a RecordView> {
    let is_left = |record: &&RecordView| {
        record.window.is_none() && record.verdict.state != VerdictState::Alive && is_of_kind(record)
    };
    if !is_left(&seed) {
        return Vec::new();
    }
    let mut left = vec![seed];
    let mut others: Vec<&RecordView> =
        report.records().filter(is_left).filter(|record| record.key != seed.key).collect();
    loop {
        let (more, rest): (Vec<_>, Vec<_>) =
            others.into_iter().partition(|record| left.iter().any(|one| is_of_one_window(one, record)));
        if more.is_empty() {
            break;
        }
        left.extend(more);
        others = rest;
    }
    left.sort_by_key(|record| (turn(record), &record.key));
    left
}

fn is_of_kind(record: &RecordView) -> bool {
    match record.kind {
        RecordKind::Session | RecordKind::Marker | RecordKind::Tick | RecordKind::Lock => !record.has_ended,
        RecordKind::Pointer | RecordKind::Companion | RecordKind::Metadata | RecordKind::Temporary => false,
    }
}

/// Returns whether two records are of one session, or of one process as far as they state: a PID alone, of another
/// boot, could belong to any process.
fn is_of_one_window(one: &RecordView, other: &RecordView) -> bool {
    if one.session_id.is_some() && one.session_id == other.session_id {
        return true;
    }
    let start = |record: &RecordView| record.holder.as_ref().and_then(|holder| holder.start_ticks);
    let is_earlier = |record: &RecordView| record.verdict.reason == Reason::OtherBoot;
    let differs = |(a, b): (u64, u64)| a != b;
    one.pid().is_some()
        && one.pid() == other.pid()
        && is_earlier(one) == is_earlier(other)
        && !start(one).zip(start(other)).is_some_and(differs)
}

/// Returns the turn of a record. Rows are reported by files, and all by the registry.
fn turn(record: &RecordView) -> u8 {
    let is_registry = record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry);
    match (&record.location, record.kind) {
        _ if is_registry || record.format == Format::ClaudeCode => 6,
        // A file's lock is reported by its session's row.
        (Location::Row(_), RecordKind::Lock) => 0,
        (Location::Row(_), _) => 1,
        (Location::File(_), RecordKind::Lock) => 2,
        (Location::File(_), RecordKind::Marker) => 4,
        (Location::File(_), RecordKind::Tick) => 5,
        (Location::File(_), _) => 3,
    }
}

/// Plans to release everything that a window has left and that is proven dead, and names what stays.
pub fn plan_left(report: &Report, key: &Key) -> Plan {
    let seed = report.records().find(|record| &record.key == key);
    let left = seed.map_or_else(Vec::new, |seed| left_by(report, seed));
    let (mut parts, mut stays) = (Vec::<Plan>::new(), Vec::new());
    for record in &left {
        let plan = Plan { follows: Vec::new(), ..plan_for(report, &record.key, Action::Release) };
        let is_new = |step: &Step| parts.iter().all(|part| !part.steps.contains(step));
        match plan.confirmation {
            Confirmation::Yes if plan.steps.iter().any(is_new) => parts.push(plan),
            Confirmation::Yes => {}
            Confirmation::Code | Confirmation::FullName => {
                let why = plan.why.first().cloned().unwrap_or_default();
                stays.push(format!("stays: {} ({why})", name_of(record)));
            }
            Confirmation::Refused => {
                stays.extend(plan.refusal.map(|why| format!("stays: {} ({why})", name_of(record))));
            }
        }
    }
    let Some(name) = name(&left).filter(|_| !parts.is_empty()) else {
        return Plan::refused(key, "nothing that it left behind is proven dead", &stays.join("; "));
    };
    let number = match parts.len() {
        1 => "1 record".to_owned(),
        number => format!("{number} records"),
    };
    Plan {
        what: format!("release everything that {name} left behind and that is proven dead: {number}"),
        why: std::iter::once("its holder is proven dead, for each record by its own rule".to_owned())
            .chain(stays)
            .chain(left.iter().find_map(|record| ends_listing(record)))
            .collect(),
        follows: parts,
        inverse: "undo takes back everything that was done".to_owned(),
        refuses_when: vec!["a part has changed since it was seen; the other parts still go ahead"],
        confirmation: Confirmation::Yes,
        name,
        ..Plan::empty(key)
    }
}

/// Returns the name of the window: from its own registry, else its session or its PID.
fn name(left: &[&RecordView]) -> Option<String> {
    let of_registry = left.iter().find(|record| record.format == Format::ClaudeCode);
    let session = || left.iter().find_map(|record| record.session_id.as_ref());
    let pid = || left.iter().find_map(|record| record.pid());
    of_registry
        .map(|record| record.title.shown())
        .or_else(|| session().map(|session| format!("session {session}")))
        .or_else(|| pid().map(|pid| format!("PID {pid}")))
        .or_else(|| left.first().map(|record| record.title.shown()))
}

fn name_of(record: &RecordView) -> String {
    format!("{} {}", record.format.name(), record.location.text())
}
