//! The sheet of an action: its plans, what confirms them, and what became of each.

use std::collections::BTreeSet;

use crate::core::finding::Remedy;
use crate::core::journal::Ended;
use crate::core::key::Key;
use crate::core::plan::{Action, Confirmation, Offer, Place, Plan, Request, Step, Told, plan_for};
use crate::core::report::Report;

use super::lookup::Index;
use super::msg::{Confirmed, Effect, Press};
use super::page::Page;
use super::text::{count, outside};
use super::tone::{Mark, Tone};

/// An open sheet.
#[derive(Clone, Debug, PartialEq)]
pub struct Sheet {
    /// What would be done.
    pub action: Action,
    /// To what.
    pub requests: Vec<Request>,
    /// The plans, as the files were when they were looked at.
    pub offers: Vec<Offer>,
    /// What was typed so far.
    pub typed: String,
    /// How far it has come.
    pub stage: Stage,
    /// What became of each request that is finished.
    pub told: Vec<Told>,
    /// The first line shown.
    pub scroll: usize,
}

/// How far a sheet has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// The files are being looked at.
    Looking,
    /// It waits for a person.
    Asking,
    /// The world is not as it was when the plans were made: nothing can be confirmed.
    Moved,
    /// claimtop is read-only: the plans are only shown.
    ReadOnly,
    /// It is being done.
    Working,
    /// All that was confirmed is finished.
    Finished,
}

/// Returns the verb of an action.
pub(super) fn verb(action: Action) -> &'static str {
    match action {
        Action::Release => "release",
        Action::Migrate => "migrate",
        Action::Park => "park",
        Action::Undo => "undo",
    }
}

impl Sheet {
    /// Opens a sheet, before its files were looked at.
    pub(super) fn new(action: Action, requests: Vec<Request>) -> Self {
        let (offers, told) = (Vec::new(), Vec::new());
        Self { action, requests, offers, typed: String::new(), stage: Stage::Looking, told, scroll: 0 }
    }

    /// Takes the plans.
    pub(super) fn offered(&mut self, offers: Vec<Offer>) {
        self.offers = offers;
        self.stage = Stage::Asking;
        self.typed.clear();
    }

    /// Shows what would be done, without looking at any file.
    pub(super) fn only_shown(&mut self, report: &Report) {
        let plan = |request: &Request| match request {
            Request::Act { key, action } => {
                Offer { request: request.clone(), plan: Ok((plan_for(report, key, *action), None)) }
            }
            Request::Undo { .. } => {
                Offer { request: request.clone(), plan: Err("claimtop is read-only".to_owned()) }
            }
        };
        self.offers = self.requests.iter().map(plan).collect();
        self.stage = Stage::ReadOnly;
    }

    /// Returns the plans that can be confirmed at all.
    fn plans(&self) -> impl Iterator<Item = (&Plan, Option<&str>)> {
        self.offers
            .iter()
            .filter_map(|offer| offer.plan.as_ref().ok())
            .map(|(plan, code)| (plan, code.as_deref()))
    }

    /// Returns whether a plain yes does something.
    pub fn takes_yes(&self) -> bool {
        self.stage == Stage::Asking && self.plans().any(|(plan, _)| plan.confirmation == Confirmation::Yes)
    }

    /// Returns whether something must be typed.
    pub fn takes_text(&self) -> bool {
        self.stage == Stage::Asking && !self.takes_yes() && self.plans().any(|(_, code)| code.is_some())
    }

    /// Returns whether what could not be put back can be put beside.
    pub fn takes_beside(&self) -> bool {
        let is_taken = |offer: &Offer| {
            matches!(&offer.plan, Err(why) if why.starts_with("the place is taken"))
                && matches!(offer.request, Request::Undo { place: Place::Own, .. })
        };
        self.stage == Stage::Asking && self.offers.iter().any(is_taken)
    }

    /// Gives a key to the text that must be typed; `None` when it is not for the text.
    pub(super) fn typed(&mut self, press: Press) -> Option<Vec<Effect>> {
        if !self.takes_text() {
            return None;
        }
        match press {
            Press::Char(c) if self.typed.chars().count() < 200 => self.typed.push(c),
            Press::Backspace => {
                self.typed.pop();
            }
            Press::Ctrl('u') => self.typed.clear(),
            Press::Enter => {
                let is_wanted = self.plans().any(|(_, code)| code == Some(self.typed.as_str()));
                return Some(if is_wanted {
                    self.confirm(Confirmed::Typed(self.typed.clone()))
                } else {
                    Vec::new()
                });
            }
            Press::Char(_)
            | Press::Ctrl(_)
            | Press::Esc
            | Press::Tab
            | Press::BackTab
            | Press::Up
            | Press::Down
            | Press::PageUp
            | Press::PageDown
            | Press::Home
            | Press::End => return None,
        }
        Some(vec![Effect::Redraw])
    }

    /// Confirms what was offered.
    pub(super) fn confirm(&mut self, confirmed: Confirmed) -> Vec<Effect> {
        self.stage = Stage::Working;
        self.scroll = 0;
        vec![Effect::Act(confirmed), Effect::Redraw]
    }

    /// Asks once more for an undo, beside what has come to its place.
    pub(super) fn beside(&mut self) -> Vec<Effect> {
        for request in &mut self.requests {
            if let Request::Undo { place, .. } = request {
                *place = Place::Beside;
            }
        }
        self.stage = Stage::Looking;
        vec![Effect::Offer(self.requests.clone()), Effect::Redraw]
    }

    /// Compares the plans with a newer look; what is no longer so cannot be confirmed.
    pub(super) fn recheck(&mut self, report: &Report) {
        if self.stage != Stage::Asking {
            return;
        }
        let is_same = |offer: &Offer| match (&offer.request, &offer.plan) {
            (Request::Act { key, action }, Ok((plan, _))) => {
                let now = plan_for(report, key, *action);
                (&now.steps, &now.confirmation) == (&plan.steps, &plan.confirmation)
            }
            (Request::Act { .. } | Request::Undo { .. }, _) => true,
        };
        if !self.offers.iter().all(is_same) {
            self.stage = Stage::Moved;
        }
    }
}

/// Returns the records and claims that an action on the chosen things is about: a record or
/// claim itself; for a window or a finding, what its findings say that the action helps.
pub(super) fn targets(index: &Index, chosen: &[Key], action: Action) -> Vec<Key> {
    let is_target = |key: &Key| {
        index.record(key).is_some()
            || index.claim(key).is_some()
            || (action == Action::Park && index.window(key).is_none() && index.finding(key).is_none())
    };
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
        Remedy::Undo => action == Action::Undo,
        Remedy::None => false,
    }
}

/// Writes a sheet.
pub(super) fn write(page: &mut Page, sheet: &Sheet) {
    write_stage(page, sheet);
    for told in &sheet.told {
        write_told(page, told);
    }
    if sheet.stage == Stage::Finished {
        return;
    }
    for offer in &sheet.offers {
        page.gap();
        match &offer.plan {
            Ok((plan, code)) => {
                page.heading(&plan.name);
                write_plan(page, plan, code.as_deref());
            }
            Err(why) => page.bullet(Mark::Warning, &format!("Not done: {why}"), Tone::Notice),
        }
    }
}

fn write_stage(page: &mut Page, sheet: &Sheet) {
    let plans = sheet.plans().count();
    match sheet.stage {
        Stage::Looking => page.bullet(Mark::Info, "Looking at the files…", Tone::Dim),
        Stage::Moved => page.bullet(
            Mark::Warning,
            "The world has moved since this was planned; nothing was touched. Esc, then plan again.",
            Tone::Warning,
        ),
        Stage::ReadOnly => {
            page.bullet(Mark::Info, "claimtop is read-only: this is only shown.", Tone::Notice)
        }
        Stage::Working => {
            let all: usize = sheet.plans().map(|(plan, _)| 1 + plan.follows.len()).sum();
            let done = format!("Doing it: {} of {all} finished; Esc calls the rest off", sheet.told.len());
            page.bullet(Mark::Info, &done, Tone::Accent);
        }
        Stage::Finished => page.bullet(Mark::Info, "Finished; z undoes the last of it", Tone::Accent),
        Stage::Asking if sheet.takes_yes() => {
            let yes = sheet.plans().filter(|(plan, _)| plan.confirmation == Confirmation::Yes).count();
            let what = match (yes, plans) {
                (1, 1) => "y does it".to_owned(),
                (yes, plans) if yes == plans => format!("y does all {yes}"),
                (yes, plans) => {
                    format!(
                        "y does {yes}; the other {} ask for more, plan them alone",
                        count(plans - yes, "plan")
                    )
                }
            };
            page.bullet(Mark::Info, &what, Tone::Key);
        }
        Stage::Asking if sheet.takes_text() => {
            page.bullet(Mark::Info, &format!("{}, then Enter: {}▌", wanted(sheet), sheet.typed), Tone::Key);
        }
        Stage::Asking if sheet.takes_beside() => {
            page.bullet(Mark::Info, "b restores it beside what lies there", Tone::Key);
        }
        Stage::Asking => page.bullet(Mark::Info, "Nothing of this can be done.", Tone::Notice),
    }
}

/// Says what must be typed.
fn wanted(sheet: &Sheet) -> String {
    let asking: Vec<_> = sheet.plans().filter_map(|(plan, code)| Some((plan, code?))).collect();
    match asking.as_slice() {
        [(plan, name)] if plan.confirmation == Confirmation::FullName => {
            format!("A live window holds this. To take it away all the same, type its name {name}")
        }
        [(_, code)] => format!("It cannot be told whether the holder lives. If you know better, type {code}"),
        _ => "Each asks for its own; type what one of them asks for".to_owned(),
    }
}

fn write_told(page: &mut Page, told: &Told) {
    let (mark, tone, word) = match told.ended {
        Some(Ended::Done) => (Mark::Alive, Tone::Good, "Done"),
        Some(Ended::Changed) => (Mark::Quiet, Tone::Notice, "Changed under you, nothing was done"),
        Some(Ended::Failed) => (Mark::Dead, Tone::Bad, "Failed, everything is where it was"),
        Some(Ended::Stuck) => (Mark::Dead, Tone::Bad, "Stuck"),
        Some(Ended::Unknown) => (Mark::Unknown, Tone::Notice, "Unknown, it is read back later"),
        None => (Mark::Quiet, Tone::Notice, "Not done"),
    };
    let detail = if told.detail.is_empty() { String::new() } else { format!(" ({})", told.detail) };
    page.bullet(mark, &format!("{word}: {}{detail}", told.title), tone);
}

fn write_plan(page: &mut Page, plan: &Plan, code: Option<&str>) {
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
    for (at, step) in plan.follows.iter().flat_map(|plan| &plan.steps).enumerate() {
        page.field(if at == 0 { "Then" } else { "" }, &step_words(step), Tone::Plain);
    }
    page.field("Undo", &plan.inverse, Tone::Good);
    for (at, refuses) in plan.refuses_when.iter().enumerate() {
        page.field(if at == 0 { "Refuses when" } else { "" }, refuses, Tone::Dim);
    }
    let (confirmation, tone) = confirmation_words(&plan.confirmation, code.unwrap_or_default());
    page.field("Confirm", &confirmation, tone);
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
        Step::Row { database, table, id, change, .. } => {
            format!("in {}, {table} {}: {change}", outside(Some(database)), outside(Some(id)))
        }
    }
}

fn confirmation_words(confirmation: &Confirmation, code: &str) -> (String, Tone) {
    match confirmation {
        Confirmation::Yes => ("y".to_owned(), Tone::Good),
        Confirmation::Code => {
            (format!("type {code}: it cannot be told whether the holder lives"), Tone::Notice)
        }
        Confirmation::FullName => {
            (format!("type its full name, {code}: a live window holds it and would lose it"), Tone::Bad)
        }
        Confirmation::Refused => ("nothing: this is never done".to_owned(), Tone::Dim),
    }
}
