//! Findings about actions of claimtop's own that were cut off or got stuck.

use crate::core::judge::rules::facts::{Facts, listed};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Code, Evidence, Finding, Halfway, ProcessState, ProcessTable, Remedy, UnfinishedAction,
};

/// Finds the actions that did not end, unless a process is at work on them.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let snapshot = facts.world.snapshot;
    found.extend(snapshot.unfinished.iter().filter_map(|one| finding(one, &snapshot.processes)));
}

fn finding(one: &UnfinishedAction, processes: &ProcessTable) -> Option<Finding> {
    let how = match one.end {
        Halfway::CutOff => "was interrupted".to_owned(),
        Halfway::AtWork(pid) => held_up(pid, processes)?,
        Halfway::Stuck => "got stuck; the files it took are parked".to_owned(),
        Halfway::LeftParked => "was not done, but left something parked".to_owned(),
    };
    let missing: Vec<String> = one.missing.iter().map(|path| path.text().to_string()).collect();
    let where_it_is = match missing.len() {
        0 => String::new(),
        1 => format!("; {} is parked, and its place is empty", listed(&missing)),
        _ => format!("; {} are parked, and their places are empty", listed(&missing)),
    };
    let message = format!("entry {} ({}) {how}{where_it_is}", one.entry, one.title);
    let began = Evidence::new("journal", format!("entry {} was begun", one.entry), "journal.jsonl");
    let missing = one.missing.iter();
    let parked = missing.map(|path| Evidence::new("parked", path.text().clone(), "journal.jsonl"));
    let evidence: Vec<Evidence> = std::iter::once(began.dated(one.began_at)).chain(parked).collect();
    Some(Finding::new(Code::UnfinishedAction, [one.key()], message, evidence, Remedy::Undo))
}

/// Describes an action whose process is stopped; one that runs may end it at any moment.
fn held_up(pid: u32, processes: &ProcessTable) -> Option<String> {
    let state = processes.get(pid)?.state;
    (state == ProcessState::Stopped)
        .then(|| format!("is blocked: claimtop, PID {pid}, is stopped in the middle of it"))
}
