//! The sheet of an action: its plans, what confirms them, and what became of each.

mod targets;
mod write;

pub(super) use self::targets::targets;
pub(super) use self::write::write;

use crate::core::plan::{Action, Confirmation, Offer, Place, Plan, Request, Told, plan_for};
use crate::core::report::Report;

use super::msg::{Confirmed, Effect, Press};

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
