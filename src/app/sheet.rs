//! The sheet of an action: its plans, before anything is touched.

use std::collections::BTreeSet;

use crate::core::finding::Remedy;
use crate::core::key::Key;
use crate::core::plan::{Action, Confirmation, Plan, Step, plan_for};

use super::lookup::Index;
use super::page::Page;
use super::text::outside;
use super::tone::{Mark, Tone};

/// What the sheet says for as long as nothing can be confirmed.
const NOT_YET: &str = "Acting comes with the next release; nothing was touched.";

/// Returns the verb of an action.
pub(super) fn verb(action: Action) -> &'static str {
    match action {
        Action::Release => "release",
        Action::Migrate => "migrate",
        Action::Park => "park",
        Action::Undo => "undo",
    }
}

/// Returns the records and claims that an action on the chosen things is about: a record or
/// claim itself; for a window or a finding, what its findings say that the action helps.
pub(super) fn targets(index: &Index, chosen: &[Key], action: Action) -> Vec<Key> {
    let is_target = |key: &Key| index.record(key).is_some() || index.claim(key).is_some();
    let mut targets = Vec::new();
    for key in chosen {
        if is_target(key) {
            targets.push(key.clone());
        } else {
            let helped = index.findings_at(key).into_iter().filter(|finding| is_for(finding.remedy, action));
            targets.extend(
                helped.filter_map(|finding| finding.subjects.iter().find(|key| is_target(key)).cloned()),
            );
        }
    }
    let mut seen = BTreeSet::new();
    targets.retain(|key| seen.insert(key.clone()));
    targets
}

/// Decides whether an action is the remedy.
fn is_for(remedy: Remedy, action: Action) -> bool {
    match remedy {
        Remedy::Release => action == Action::Release,
        Remedy::Migrate => action == Action::Migrate,
        Remedy::Park => action == Action::Park,
        Remedy::Undo | Remedy::None => false,
    }
}

/// Writes the plans for `keys`.
pub(super) fn write(page: &mut Page, index: &Index, keys: &[Key], action: Action) {
    page.bullet(Mark::Info, NOT_YET, Tone::Accent);
    for key in keys {
        page.heading(&index.name(key));
        write_plan(page, &plan_for(&index.report, key, action));
    }
}

fn write_plan(page: &mut Page, plan: &Plan) {
    page.field("What", &plan.what, Tone::Strong);
    for (at, why) in plan.why.iter().enumerate() {
        page.field(if at == 0 { "Why" } else { "" }, why, Tone::Plain);
    }
    for (at, step) in plan.steps.iter().enumerate() {
        page.field(
            if at == 0 { "Steps" } else { "" },
            &format!("{}. {}", at + 1, step_words(step)),
            Tone::Plain,
        );
    }
    page.field("Undo", &plan.inverse, Tone::Good);
    for (at, refuses) in plan.refuses_when.iter().enumerate() {
        page.field(if at == 0 { "Refuses when" } else { "" }, refuses, Tone::Dim);
    }
    let (confirmation, tone) = confirmation_words(&plan.confirmation);
    page.field("Confirm", confirmation, tone);
}

fn step_words(step: &Step) -> String {
    match step {
        Step::Park { path } => format!("put {} aside, whole", outside(Some(path))),
        Step::Move { path, to } => {
            format!("move {} to {}, only where nothing is", outside(Some(path)), outside(Some(to)))
        }
        Step::Restore { parked, to } => {
            format!("put {} back to {}, only where nothing is", outside(Some(parked)), outside(Some(to)))
        }
        Step::Exchange { path, change } => format!("in {}: {change}", outside(Some(path))),
    }
}

fn confirmation_words(confirmation: &Confirmation) -> (&'static str, Tone) {
    match confirmation {
        Confirmation::Yes => ("y: the holder is proven dead", Tone::Good),
        Confirmation::Code => ("a short code: it cannot be told whether the holder lives", Tone::Notice),
        Confirmation::FullName => ("the full name of the resource: a live window holds it", Tone::Bad),
        Confirmation::Refused => ("nothing: this is never done", Tone::Dim),
    }
}
