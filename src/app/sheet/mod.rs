//! The sheet of an action: its plans, what confirms them, and what became of each.

pub(crate) mod targets;
pub(crate) mod write;

pub(crate) use self::targets::{meant, name, requests, window};
pub(crate) use self::write::write;
use super::msg::{Effect, Press, SheetAnswer};
use crate::core::model::{
    Action, ActionResult, Confirmation, EndResult, ErrorKind, Obstacle, Offer, Plan, Report, Request,
    RescueTarget, RescueWay, RestoreTo,
};
use crate::core::plan::about::plan_for;
use crate::core::plan::left::plan_left;
use crate::core::plan::rescue::plan_lost;
use crate::core::plan::several::plan_several;
use crate::core::plan::stop::plan_stop;

#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Sheet {
    /// What would be done.
    pub(crate) action: Action,
    pub(crate) requests: Vec<Request>,
    /// The machine that they are about, where that is another one.
    pub(crate) machine: Option<String>,
    /// Distinguishes it from every other sheet: another machine's answer may come after it was left.
    pub(crate) number: u64,
    /// What each of them is about, for people.
    pub(crate) names: Vec<String>,
    /// The plans that wait, as the files were when they were looked at.
    pub(crate) offers: Vec<Offer>,
    /// The plans that were confirmed last.
    pub(crate) at_work: Vec<Offer>,
    /// How many results are still to come.
    pub(crate) due: usize,
    /// How many plans were confirmed by a text.
    pub(crate) answered: usize,
    /// What was typed so far.
    pub(crate) typed: String,
    /// Whether Enter was pressed on it although it is not what is asked for.
    pub(crate) is_wrong: bool,
    /// How far it has come.
    pub(crate) stage: Stage,
    /// What became of each request that is finished.
    pub(crate) results: Vec<ActionResult>,
    /// The first line shown.
    pub(crate) scroll: usize,
}

/// How far a sheet has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Stage {
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
    Finished,
}

/// Plans what is asked for, as far as a report says all about it.
pub(crate) fn planned(report: &Report, request: &Request) -> Option<Plan> {
    match request {
        Request::Act { key, action } => Some(plan_for(report, key, *action)),
        Request::Several { keys, action } => Some(plan_several(report, keys, *action)),
        Request::Left { of } => Some(plan_left(report, of)),
        Request::Stop { key, signal } => Some(plan_stop(report, key, *signal)),
        Request::Rescue { lost: RescueTarget::By(key), .. } => Some(plan_lost(report, key)),
        Request::Undo { .. }
        | Request::Setup { .. }
        | Request::Rescue { lost: RescueTarget::Files(_), .. } => None,
    }
}

impl Sheet {
    /// Opens a sheet, before its files were looked at; of another machine under a number of its own.
    pub(crate) fn new(
        action: Action,
        requests: Vec<Request>,
        names: Vec<String>,
        (machine, number): (Option<String>, u64),
    ) -> Self {
        Self {
            action,
            requests,
            machine,
            number,
            names,
            offers: Vec::new(),
            at_work: Vec::new(),
            due: 0,
            answered: 0,
            typed: String::new(),
            is_wrong: false,
            stage: Stage::Looking,
            results: Vec::new(),
            scroll: 0,
        }
    }

    /// Takes the plans, unless they are those of a sheet that was closed before they came.
    pub(crate) fn offered(&mut self, offers: Vec<Offer>) {
        if self.stage == Stage::Looking && offers.iter().map(|offer| &offer.request).eq(&self.requests) {
            self.offers = offers;
            self.stage = Stage::Asking;
        }
    }

    /// Shows what would be done, without looking at any file.
    pub(crate) fn only_shown(&mut self, report: &Report) {
        let is_here = self.machine.is_none();
        let plan = |request: &Request| match planned(report, request).filter(|_| is_here) {
            Some(plan) => {
                let name = (plan.confirmation == Confirmation::FullName).then(|| plan.name.clone());
                let plan = match &plan.refusal {
                    Some(refusal) => Err(never(refusal.to_string())),
                    None => Ok((plan, name)),
                };
                Offer { request: request.clone(), plan }
            }
            None => Offer { request: request.clone(), plan: Err(never("claimtop is read-only".to_owned())) },
        };
        self.offers = self.requests.iter().map(plan).collect();
        self.stage = Stage::ReadOnly;
    }

    fn name(&self, request: &Request) -> &str {
        let named = self.requests.iter().zip(&self.names).find(|(one, _)| *one == request);
        named.map_or("", |(_, name)| name)
    }

    /// Returns the plans that can be confirmed at all.
    fn plans(&self) -> impl Iterator<Item = (&Plan, Option<&str>)> {
        self.offers
            .iter()
            .filter_map(|offer| offer.plan.as_ref().ok())
            .map(|(plan, code)| (plan, code.as_deref()))
    }

    /// Returns whether a plain yes does something.
    pub(crate) fn takes_yes(&self) -> bool {
        self.stage == Stage::Asking && self.plans().any(|(plan, _)| plan.confirmation == Confirmation::Yes)
    }

    /// Returns the plans that ask for a text, with that text. They are asked for one after the
    /// other, since several can ask for the same.
    fn asking(&self) -> impl Iterator<Item = (&Request, &Plan, &str)> {
        self.offers.iter().filter_map(|offer| match &offer.plan {
            Ok((plan, code)) => Some((&offer.request, plan, code.as_deref()?)),
            Err(_) => None,
        })
    }

    /// Returns whether something must be typed.
    pub(crate) fn takes_text(&self) -> bool {
        self.stage == Stage::Asking && !self.takes_yes() && self.asking().next().is_some()
    }

    /// Returns whether what could not be put back can be put beside.
    pub(crate) fn takes_beside(&self) -> bool {
        let can_go = |offer: &Offer| match offer.request {
            Request::Undo { to: RestoreTo::Origin, .. } => is_in_the_way(offer),
            Request::Rescue { way: RescueWay::Place, .. } => is_in_the_way(offer),
            Request::Rescue { way: RescueWay::Merge, .. } => true,
            Request::Undo { to: RestoreTo::Beside, .. }
            | Request::Rescue { way: RescueWay::Beside, .. }
            | Request::Setup { .. }
            | Request::Act { .. }
            | Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. } => false,
        };
        self.stage == Stage::Asking && self.offers.iter().any(can_go)
    }

    /// Returns whether what could not be put back can be merged with what is there.
    pub(crate) fn takes_merge(&self) -> bool {
        let can_go = |offer: &Offer| match offer.request {
            Request::Rescue { way: RescueWay::Place, .. } => is_in_the_way(offer),
            Request::Rescue { way: RescueWay::Beside, .. } => true,
            Request::Undo { .. }
            | Request::Rescue { way: RescueWay::Merge, .. }
            | Request::Setup { .. }
            | Request::Act { .. }
            | Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. } => false,
        };
        self.stage == Stage::Asking && self.offers.iter().any(can_go)
    }

    /// Gives a key to the text that must be typed; `None` when it is not for the text.
    pub(crate) fn typed(&mut self, press: Press) -> Option<Vec<Effect>> {
        if !self.takes_text() {
            return None;
        }
        match press {
            Press::Char(c) => {
                if self.typed.chars().count() < 200 {
                    self.typed.push(c);
                }
            }
            Press::Backspace => {
                self.typed.pop();
            }
            Press::Ctrl('u') => self.typed.clear(),
            Press::Enter => {
                let asked = self.asking().next().filter(|(_, _, code)| *code == self.typed);
                if let Some(request) = asked.map(|(request, _, _)| request.clone()) {
                    self.answered += 1;
                    let text = std::mem::take(&mut self.typed);
                    return Some(self.confirm(SheetAnswer::Typed { request, text }));
                }
            }
            Press::Ctrl(_)
            | Press::Esc
            | Press::Tab
            | Press::BackTab
            | Press::Up
            | Press::Down
            | Press::Left
            | Press::Right
            | Press::PageUp
            | Press::PageDown
            | Press::Home
            | Press::End => return None,
        }
        self.is_wrong = press == Press::Enter;
        Some(vec![Effect::Redraw])
    }

    /// Confirms what was offered.
    pub(crate) fn confirm(&mut self, confirmed: SheetAnswer) -> Vec<Effect> {
        let is_meant = |offer: &Offer| match (&confirmed, &offer.plan) {
            (SheetAnswer::Yes, Ok((plan, _))) => plan.confirmation == Confirmation::Yes,
            (SheetAnswer::Yes, Err(_)) => false,
            (SheetAnswer::Typed { request, .. }, _) => offer.request == *request,
        };
        (self.at_work, self.offers) = std::mem::take(&mut self.offers).into_iter().partition(is_meant);
        let plans = self.at_work.iter().filter_map(|offer| offer.plan.as_ref().ok());
        self.due = self.results.len() + plans.map(|(plan, _)| 1 + plan.follows.len()).sum::<usize>();
        self.stage = Stage::Working;
        self.scroll = 0;
        let act = match &self.machine {
            Some(machine) => Effect::ActOn(machine.clone(), self.number, confirmed),
            None => Effect::Act(confirmed),
        };
        vec![act, Effect::Redraw]
    }

    /// Asks for the plans.
    pub(crate) fn ask(&self) -> Effect {
        match &self.machine {
            Some(machine) => Effect::OfferOn(machine.clone(), self.number, self.requests.clone()),
            None => Effect::Offer(self.requests.clone()),
        }
    }

    /// Takes what has become of an order of which that was not known; returns whether it was one of these.
    pub(crate) fn settle(&mut self, result: ActionResult) -> bool {
        let is_open = |known: &&mut ActionResult| {
            known.ended == Some(EndResult::Unknown) && known.entry.is_some() && known.entry == result.entry
        };
        let Some(known) = self.results.iter_mut().find(is_open) else { return false };
        *known = result;
        true
    }

    /// Asks for the next text when what was confirmed is finished, if there is one to ask for.
    pub(crate) fn finished(&mut self) {
        self.at_work.clear();
        self.stage = if self.asking().next().is_some() { Stage::Asking } else { Stage::Finished };
    }

    /// Begins nothing more, and asks for nothing more.
    pub(crate) fn call_off(&mut self) -> Vec<Effect> {
        self.offers.clear();
        vec![Effect::CallOff]
    }

    /// Returns the last entry of what was done here, to be undone once all is finished.
    pub(crate) fn undoable(&self) -> Option<u64> {
        if self.stage != Stage::Finished || self.action == Action::Undo {
            return None;
        }
        let done = self.results.iter().rev().filter(|result| result.ended == Some(EndResult::Done));
        done.filter_map(|result| result.entry).next()
    }

    /// Asks once more, to restore beside what has come to the place.
    pub(crate) fn beside(&mut self) -> Vec<Effect> {
        self.ask_again(RescueWay::Beside)
    }

    /// Asks once more, to merge with what has come to the place.
    pub(crate) fn merge(&mut self) -> Vec<Effect> {
        self.ask_again(RescueWay::Merge)
    }

    fn ask_again(&mut self, wanted: RescueWay) -> Vec<Effect> {
        for request in &mut self.requests {
            match request {
                Request::Undo { to, .. } => *to = RestoreTo::Beside,
                Request::Rescue { way, .. } => *way = wanted,
                Request::Act { .. }
                | Request::Several { .. }
                | Request::Left { .. }
                | Request::Setup { .. }
                | Request::Stop { .. } => {}
            }
        }
        self.stage = Stage::Looking;
        vec![self.ask(), Effect::Redraw]
    }

    /// Compares the plans with a newer look; what is no longer so cannot be confirmed.
    pub(crate) fn recheck(&mut self, report: &Report) {
        if self.stage != Stage::Asking {
            return;
        }
        if let Some(machine) = &self.machine {
            // It judges anew by itself; a machine that cannot be asked any more cannot be asked to.
            let is_there =
                report.machines.iter().any(|view| view.name == *machine && view.why_no_orders().is_none());
            self.stage = if is_there { Stage::Asking } else { Stage::Moved };
            return;
        }
        let is_same = |offer: &Offer| match (planned_in_full(report, &offer.request), &offer.plan) {
            (Some(newer), Ok((plan, _))) => plan.is_same_as(&newer),
            (Some(_), Err(_)) | (None, _) => true,
        };
        if !self.offers.iter().all(is_same) {
            self.stage = Stage::Moved;
        }
    }
}

/// Plans what a report alone says all about; what is brought back is read from files, and is compared when it is done.
fn planned_in_full(report: &Report, request: &Request) -> Option<Plan> {
    planned(report, request).filter(|_| request.action() != Action::Rescue)
}

/// Returns whether something else lies in a place, or in one of several.
fn is_in_the_way(offer: &Offer) -> bool {
    match &offer.plan {
        Ok((plan, _)) => plan.is_in_the_way,
        Err(why) => why.kind == ErrorKind::Taken,
    }
}

fn never(text: String) -> Obstacle {
    Obstacle { kind: ErrorKind::Never, text }
}
