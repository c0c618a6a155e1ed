//! Pairs: a standalone task's run has two active rows, which belong together.
//!
//! The run's own row names neither task nor milestone, and no process has its UUID in its arguments; each iteration
//! has a row of its own with the task.

use std::collections::BTreeMap;

use jiff::SignedDuration;

use super::tables::is_active;
use crate::format::reading::cells::Cells;

/// The active iteration of each active run, by the IDs of their rows.
pub(super) type Pairs = BTreeMap<i64, i64>;

/// The longest time between a run and its first iteration: 60 s. One call writes both.
const FIRST_WITHIN: SignedDuration = SignedDuration::from_secs(60);

/// Finds for each active run its newest active iteration: one that began with it, or any later one if no other run of
/// that project began before that. A run that was killed stays active, and a later iteration of another run is not its
/// own.
pub(super) fn pairs(sessions: &[Cells]) -> Pairs {
    let active = |row: &&Cells| is_active(row);
    let iterations = sessions.iter().filter(active).filter(|row| row.number("task_id").is_some());
    let runs: Vec<&Cells> = sessions.iter().filter(active).filter(|row| is_run(row)).collect();
    let mut pairs = Pairs::new();
    for iteration in iterations {
        let Some(id) = iteration.number("id") else { continue };
        let own = runs.iter().filter(|run| run.number("project_id") == iteration.number("project_id"));
        let before: Vec<&Cells> =
            own.copied().filter(|run| run.number("id").is_some_and(|run| run < id)).collect();
        let run = match before.as_slice() {
            [only] => Some(*only),
            several => several.iter().copied().rfind(|run| began_with(run, iteration)),
        };
        if let Some(run) = run.and_then(|run| run.number("id")) {
            let newest = pairs.entry(run).or_insert(id);
            *newest = id.max(*newest);
        }
    }
    pairs
}

fn began_with(run: &Cells, iteration: &Cells) -> bool {
    let began = run.time("started_at").zip(iteration.time("started_at"));
    began.is_some_and(|(run, iteration)| {
        (SignedDuration::ZERO..=FIRST_WITHIN).contains(&iteration.duration_since(run))
    })
}

/// Returns whether a row is that of a standalone run, not of an iteration or an epic.
pub(super) fn is_run(row: &Cells) -> bool {
    row.number("task_id").is_none() && row.number("milestone_id").is_none()
}
