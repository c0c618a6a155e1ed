//! A world's expectations for its available plans.

use claimtop::core::model::{Key, Location, Report};
use claimtop::testing::core::{Action, Plan, Step, plan_for};
use serde::Deserialize;

use super::expect::{json_name, same};

/// The expectations for one plan.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct ExpectPlan {
    /// The end of the path of a record or of a broken file, a row's table and ID, or a claim's resource.
    about: String,
    action: Action,
    confirmation: String,
    /// Each step in one line.
    #[serde(default)]
    steps: Vec<String>,
    /// Each step of the follow-ups, in one line.
    #[serde(default)]
    then: Vec<String>,
    /// A part of the plan's effect.
    #[serde(default)]
    what: String,
    /// Parts of its reason.
    #[serde(default)]
    why: Vec<String>,
    /// A text that no part of the reason may contain.
    #[serde(default)]
    why_not: Vec<String>,
    /// The text that a person would have to type for a live holder.
    #[serde(default)]
    name: Option<String>,
}

/// Compares one plan with its expectations.
pub(crate) fn check_plan(wanted: &ExpectPlan, report: &Report, out: &mut Vec<String>) {
    let Some(key) = key_of(&wanted.about, report) else {
        return out.push(format!("nothing to plan about at {}", wanted.about));
    };
    let plan = plan_for(report, &key, wanted.action);
    let about = format!("{} {}", json_name(&wanted.action), wanted.about);
    same(&format!("{about} confirmation"), Some(&wanted.confirmation), json_name(&plan.confirmation), out);
    same(&format!("{about} steps"), Some(&wanted.steps), plan.steps.iter().map(line).collect(), out);
    let then = plan.follows.iter().flat_map(|plan| &plan.steps).map(line).collect();
    same(&format!("{about} then"), Some(&wanted.then), then, out);
    same(&format!("{about} name"), wanted.name.as_ref(), plan.name.clone(), out);
    let parts = std::iter::once((&plan.what, &wanted.what));
    let whys = plan.why.join("; ");
    for (text, part) in parts.chain(wanted.why.iter().map(|part| (&whys, part))) {
        if !text.contains(part.as_str()) {
            out.push(format!("{about}: {text:?} does not contain {part:?}"));
        }
    }
    for part in wanted.why_not.iter().filter(|part| whys.contains(part.as_str())) {
        out.push(format!("{about}: {whys:?} contains {part:?}"));
    }
    out.extend(incomplete(&plan).map(|what| format!("{about}: {what}")));
}

/// Returns the text that every plan must have and this one lacks.
fn incomplete(plan: &Plan) -> Option<String> {
    let is_refused = plan.steps.is_empty();
    let says_all = !plan.what.is_empty() && !plan.why.is_empty() && !plan.inverse.is_empty();
    if !says_all || is_refused != plan.refuses_when.is_empty() || is_refused != plan.name.is_empty() {
        return Some(format!("the plan does not say all: {plan:?}"));
    }
    None
}

fn key_of(about: &str, report: &Report) -> Option<Key> {
    let is_there = |location: &Location| match location {
        Location::File(path) => path.text().raw().ends_with(about),
        Location::Row(row) => format!("{} {}", row.table, row.id.raw()).ends_with(about),
    };
    let record = report.records().find(|record| is_there(&record.location)).map(|record| &record.key);
    let claim = || {
        let name = |kind: &str, id: &str| format!("{kind} {id}");
        let is_it = |claim: &&claimtop::core::model::ClaimView| {
            name(claim.resource.kind.name(), claim.resource.id.raw()) == about
        };
        report.claims.iter().find(is_it).map(|claim| &claim.key)
    };
    let broken = || {
        let finding = report.findings.iter().find(|finding| finding.message.to_string().contains(about))?;
        finding.subjects.first()
    };
    record.or_else(claim).or_else(broken).cloned()
}

fn line(step: &Step) -> String {
    match step {
        Step::Park { path } => format!("park {}", path.text().raw()),
        Step::Move { path, to } => format!("move {} to {}", path.text().raw(), to.text().raw()),
        Step::Restore { parked, to } => format!("restore {} to {}", parked.raw(), to.text().raw()),
        Step::BringBack { path, size, .. } => format!("bring back {} ({size} bytes)", path.text().raw()),
        Step::Merge { path, conflicts, .. } => {
            format!("merge into {} ({conflicts} conflicts)", path.text().raw())
        }
        Step::Settings { path, change, .. } => format!("settings {}: {change}", path.text().raw()),
        Step::EndEntireSession { path, change } => format!("exchange {}: {change}", path.text().raw()),
        Step::Row { table, id, change, .. } => format!("change {table} {id}: {change}"),
        Step::Stop { id, command, signal, .. } => format!("{} {} {}", signal.name(), id.pid, command.raw()),
    }
}
