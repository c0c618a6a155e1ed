//! Pairs: a standalone task's run has two active rows, which are one thing.
//!
//! The run's own row names neither task nor milestone, and its UUID is in no process's arguments;
//! each iteration has a row of its own with the task.

use std::collections::BTreeMap;

use super::tables::is_active;
use crate::format::cells::Cells;

/// The active iteration of each active run, by the IDs of their rows.
pub(super) type Pairs = BTreeMap<i64, i64>;

/// Finds for each active run the newest active iteration that began after it and before the
/// next run of that project.
pub(super) fn pairs(sessions: &[Cells]) -> Pairs {
    let active = |row: &&Cells| is_active(row);
    let iterations = sessions.iter().filter(active).filter(|row| row.number("task_id").is_some());
    let runs: Vec<&Cells> = sessions.iter().filter(active).filter(|row| is_run(row)).collect();
    let mut pairs = Pairs::new();
    for iteration in iterations {
        let Some(id) = iteration.number("id") else { continue };
        let own = runs.iter().filter(|run| run.number("project_id") == iteration.number("project_id"));
        let before = own.filter_map(|run| run.number("id")).filter(|run| *run < id).max();
        if let Some(run) = before {
            let newest = pairs.entry(run).or_insert(id);
            *newest = id.max(*newest);
        }
    }
    pairs
}

/// Returns whether a row is that of a standalone run, not of an iteration or an epic.
pub(super) fn is_run(row: &Cells) -> bool {
    row.number("task_id").is_none() && row.number("milestone_id").is_none()
}
