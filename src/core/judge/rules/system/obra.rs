//! Findings about Obra's database: stranded tasks, concurrent orchestrators, a writer that is stuck.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::rules::facts::{Facts, count};
use crate::core::judge::rules::found::Findings;
use crate::core::model::{
    Code, Database, Evidence, Finding, Format, JudgedRecord, Key, KeyKind, Location, RecordKind, Remedy,
    ResourceKind, Untrusted, VerdictState,
};

/// How long a transaction may be open before it counts as stuck: 30 s. Obra's own are of
/// milliseconds.
const STUCK_AFTER: SignedDuration = SignedDuration::from_secs(30);

/// Finds what is wrong with Obra's tasks, runs and databases.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    let rows: Vec<&JudgedRecord> =
        facts.records.iter().filter(|judged| judged.record.format == Format::Obra).collect();
    let holds = |row: &&&JudgedRecord| row.record.kind != RecordKind::Metadata && !row.record.has_ended;
    let held: HashSet<Task<'_>> = rows.iter().filter(holds).filter_map(|row| task_of(row)).collect();
    found.extend(rows.iter().filter_map(|task| stranded(task, &held)));
    found.extend(concurrent(&rows, facts));
    found.extend(facts.world.snapshot.databases.iter().filter_map(|database| stuck(database, facts)));
}

/// A database and a task in it.
type Task<'a> = (&'a Untrusted, &'a Untrusted);

/// Returns the database of a row and its task.
fn task_of(judged: &JudgedRecord) -> Option<Task<'_>> {
    let Location::Row(row) = &judged.record.location else { return None };
    Some((&row.database, judged.record.detail.obra()?.task.as_ref()?))
}

/// A task that was begun, without an open session, and whose queue died with its process.
fn stranded(task: &JudgedRecord, held: &HashSet<Task<'_>>) -> Option<Finding> {
    if task.record.kind != RecordKind::Metadata || task.verdict.state != VerdictState::Dead {
        return None;
    }
    if held.contains(&task_of(task)?) {
        return None;
    }
    let status = task.record.detail.obra().and_then(|row| row.status.as_ref());
    let message = format!(
        "{}: its status is {}, but no one works on it, and a new orchestrator only looks for PENDING",
        task.record.title,
        status.map_or_else(String::new, Untrusted::shown)
    );
    let evidence = task.all_evidence();
    Some(Finding::new(Code::StrandedItem, [task.key.clone()], message, evidence, Remedy::Release))
}

/// Two orchestrators at work in one directory.
fn concurrent(rows: &[&JudgedRecord], facts: &Facts<'_>) -> Vec<Finding> {
    let mut folders: BTreeMap<&Path, Vec<&JudgedRecord>> = BTreeMap::new();
    let live = rows
        .iter()
        .filter(|row| row.record.kind == RecordKind::Session && row.verdict.state == VerdictState::Alive);
    for row in live.filter(|row| !row.record.has_ended) {
        if let Some(folder) = row.record.cwd.as_deref() {
            folders.entry(folder).or_default().push(row);
        }
    }
    folders.into_iter().filter_map(|(folder, runs)| tell_concurrent(folder, &runs, facts)).collect()
}

fn tell_concurrent(folder: &Path, runs: &[&JudgedRecord], facts: &Facts<'_>) -> Option<Finding> {
    let databases = runs.iter().filter_map(|run| match &run.record.location {
        Location::Row(row) => facts.world.database(row),
        Location::File(_) => None,
    });
    let pids: BTreeSet<u32> = databases.flat_map(orchestrators).collect();
    // Two windows that hold one project are reported by the rule for all formats.
    let windows: BTreeSet<u32> = runs.iter().filter_map(|run| run.window_pid).collect();
    if runs.len() < 2 || pids.len() < 2 || windows.len() > 1 {
        return None;
    }
    let names: Vec<String> = pids.iter().map(|pid| format!("PID {pid}")).collect();
    let message = format!(
        "{} of Obra ({}) have {} open in {}: each would undo the other's work; end one of them",
        count(pids.len(), "orchestrator"),
        names.join(" and "),
        count(runs.len(), "session"),
        Untrusted::from_path(folder)
    );
    let of_runs = |key: &Key| runs.iter().any(|run| run.key == *key);
    let claims = facts.claims.iter().filter(|claim| claim.resource.kind == ResourceKind::Project);
    let subjects = claims.filter(|claim| of_runs(&claim.record.key)).map(|claim| claim.key.clone());
    let evidence: Vec<Evidence> = runs.iter().map(|run| run.evidence()).collect();
    Some(Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::None))
}

/// Returns Obra's processes that have a database open.
fn orchestrators(database: &Database) -> impl Iterator<Item = u32> + '_ {
    let openers = database.opened_by.as_deref().unwrap_or_default();
    let runners = database.file.as_ref().map_or(&[] as &[u32], |file| &file.runners);
    openers.iter().copied().filter(|pid| runners.contains(pid))
}

/// A transaction that is open for too long. After an exception Obra's counter of nested
/// transactions ends below zero, and nothing that it writes is ever committed.
fn stuck(database: &Database, facts: &Facts<'_>) -> Option<Finding> {
    let file = database.file.as_ref()?;
    let pid = file.written_by.or_else(|| database.opened_by.as_ref()?.first().copied())?;
    // An earlier process can have left the journal: this one has used it since its own start.
    let process = facts.world.snapshot.processes.get(pid);
    let started_at = process.and_then(|process| facts.world.started_at(process));
    let since = file.journal_since?.max(started_at.unwrap_or(Timestamp::MIN));
    let age = facts.world.snapshot.taken_at.duration_since(since);
    if age < STUCK_AFTER {
        return None;
    }
    let message = format!(
        "{}: PID {pid} has kept a transaction open for {} s: others read old data, nothing can be \
         released, and its changes are lost when it ends",
        database.name,
        age.as_secs()
    );
    let evidence =
        Evidence::new("journal", database.name.clone(), format!("{}-journal", database.name.raw()));
    let key = Key::derive(KeyKind::Source, &[&format!("obra:{}", database.name.raw())]);
    Some(Finding::new(Code::StuckWriter, [key], message, [evidence.dated(since)], Remedy::None))
}
