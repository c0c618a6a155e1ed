//! Plans and their outcomes: what would be done, step by step, and how it ended.

use crate::core::model::{Ended, Plan, Step};
use crate::present::page::Page;
use crate::present::tone::{Mark, Tone};

/// Writes a plan, and last what confirms it.
pub(crate) fn write(page: &mut Page, plan: &Plan, (confirms, tone): (&str, Tone)) {
    page.field("Held by", plan.held_by.as_deref().unwrap_or_default(), Tone::Strong);
    page.field("What", &plan.what, Tone::Strong);
    page.list("Why", plan.why.iter().map(String::as_str), Tone::Plain);
    let steps = plan.steps.iter().enumerate().map(|(at, one)| format!("{}. {}", at + 1, step(one)));
    page.list("Steps", steps, Tone::Plain);
    page.list("Then", plan.follows.iter().flat_map(|plan| &plan.steps).map(step), Tone::Plain);
    page.field("Undo", &plan.inverse, Tone::Good);
    page.list("Refuses when", plan.refuses_when.iter().copied(), Tone::Dim);
    page.field("Confirm", confirms, tone);
}

fn step(step: &Step) -> String {
    match step {
        Step::Park { path } => format!("put {} aside, whole", path.text()),
        Step::Move { path, to } => format!("move {} to {}, only where nothing is", path.text(), to.text()),
        Step::Restore { parked, to } => format!("put {parked} back to {}, only where nothing is", to.text()),
        Step::EndEntireSession { path, change } => format!("in {}: {change}", path.text()),
        Step::Row { database, table, id, change, .. } => format!("in {database}, {table} {id}: {change}"),
    }
}

/// Returns how something that was begun has ended; `None` when its end is not known yet.
pub(crate) fn ended(ended: Option<Ended>) -> (Mark, Tone, &'static str) {
    match ended {
        Some(Ended::Done) => (Mark::Alive, Tone::Good, "done"),
        Some(Ended::Changed) => (Mark::Quiet, Tone::Notice, "changed"),
        Some(Ended::Failed) => (Mark::Dead, Tone::Warning, "failed"),
        Some(Ended::Stuck) => (Mark::Dead, Tone::Bad, "stuck"),
        Some(Ended::Unknown) => (Mark::Unknown, Tone::Notice, "unknown"),
        None => (Mark::Unknown, Tone::Notice, "open"),
    }
}
