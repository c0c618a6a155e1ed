//! Serves the orders of another machine: plans what it requests, and carries out what it confirms, as for a person
//! here.

use std::time::Duration;

use crate::act::error::ActionError;
use crate::act::executor::Executor;
use crate::act::orders::{asked_by, receipt_of};
use crate::act::preflight::preview::Preview;
use crate::act::rules::Answer;
use crate::core::fleet::order::{
    Accepts, Ask, Became, MOST_REQUESTS, Order, OrderReceipt, OrderStep, Part, Proposal, ProposedPlan,
    Settle, Taker,
};
use crate::core::model::text::shown;
use crate::core::model::{Action, Confirmation, ErrorKind, Obstacle, Report, Request};
use crate::core::plan::stop::topmost;

/// Why an order that requires more than a plain yes is not accepted.
const DEAD_ONLY: &str =
    "this machine accepts orders only for what is proven dead (accept_orders, or fleet.accept)";

/// Why nothing is brought back by an order.
const BRING_BACK_HERE: &str = "a window is brought back on its own machine (claimtop bring-back)";
const RESCUE_HERE: &str = "what windows wrote is brought back on their own machine (claimtop rescue)";

/// Why no settings are changed by an order.
const SETUP_HERE: &str = "agents' settings are changed on their own machine only (claimtop setup)";

/// Serves the orders of another machine.
pub(crate) struct OrderService {
    executor: Executor,
    taker: Taker<Preview>,
    /// The ID of this machine's own state folder.
    own: Option<String>,
    accepts: Accepts,
}

impl OrderService {
    pub(crate) fn new(executor: Executor, own: Option<String>, accepts: Accepts) -> Self {
        Self { executor, taker: Taker::default(), own, accepts }
    }

    /// Sets which orders it accepts.
    pub(crate) fn accept(&mut self, accepts: Accepts) {
        self.accepts = accepts;
    }

    /// Plans what is requested, at this time of the steady clock.
    pub(crate) fn plan(&mut self, ask: &Ask, steady: Duration) -> Vec<Proposal> {
        let requests = ask.requests.iter().take(MOST_REQUESTS);
        let report = self.executor.report();
        let requests: Vec<Request> = requests.map(|request| self.as_meant(&report, request)).collect();
        match self.executor.see(&report, &requests) {
            Err(error) => requests.iter().map(|_| Err(obstacle(&error))).collect(),
            Ok(seen) => {
                let all = requests.iter().zip(seen);
                all.map(|(request, seen)| match request.action() {
                    Action::Setup => Err(Obstacle { kind: ErrorKind::Never, text: SETUP_HERE.to_owned() }),
                    Action::BringBack => {
                        Err(Obstacle { kind: ErrorKind::Never, text: BRING_BACK_HERE.to_owned() })
                    }
                    Action::Rescue => Err(Obstacle { kind: ErrorKind::Never, text: RESCUE_HERE.to_owned() }),
                    Action::Release | Action::Migrate | Action::Park | Action::Undo | Action::Stop => {
                        self.proposed(seen, steady)
                    }
                })
                .collect()
            }
        }
    }

    /// Returns a request with the signal that comes next, by what was tried here before.
    fn as_meant(&self, report: &Report, request: &Request) -> Request {
        let mut request = request.clone();
        if let Request::Stop { key, signal } = &mut request
            && let Ok(history) = self.executor.history()
            && let Some(id) = topmost(report, key)
        {
            *signal = history.next_signal(id);
        }
        request
    }

    fn is_too_much(&self, seen: &Preview) -> bool {
        self.accepts == Accepts::DeadOnly && seen.plan.confirmation != Confirmation::Yes
    }

    fn proposed(&mut self, seen: Result<Preview, ActionError>, steady: Duration) -> Proposal {
        let seen = seen.map_err(|error| obstacle(&error))?;
        if self.is_too_much(&seen) {
            return Err(Obstacle { kind: ErrorKind::Never, text: DEAD_ONLY.to_owned() });
        }
        let digest = seen.digest().map_err(|error| obstacle(&error))?;
        let (plan, wanted) = (seen.plan.clone(), seen.wanted());
        self.taker.made(digest.clone(), seen, steady);
        Ok(ProposedPlan { plan, wanted, digest })
    }

    /// Carries out an order, unless it was answered before.
    pub(crate) fn order(&mut self, order: &Order, steady: Duration) -> OrderReceipt {
        match self.executor.history() {
            Err(error) => return OrderReceipt::refused(&order.id, error.kind(), error.to_string()),
            Ok(history) if history.ordered(&order.id).is_some() => return self.found(order),
            Ok(_) => {}
        }
        let preview = match self.taker.take(order, self.own.as_deref(), steady) {
            OrderStep::Answer(receipt) => return receipt,
            OrderStep::Begin(preview) if self.is_too_much(&preview) => {
                return OrderReceipt::refused(&order.id, ErrorKind::Never, DEAD_ONLY);
            }
            OrderStep::Begin(preview) => preview,
        };
        let receipt = self.carried_out(order, preview);
        if !matches!(receipt.became, Became::Unknown(_)) {
            self.taker.answered(receipt.clone());
        }
        receipt
    }

    fn carried_out(&mut self, order: &Order, mut preview: Preview) -> OrderReceipt {
        preview.order = Some(asked_by(&order.id, &order.from.host, order.from.store.as_deref()));
        let answer = answer(&preview, order.typed.as_deref());
        let done = self.executor.carry_out(preview, &answer);
        match (done, self.executor.history().map(|history| receipt_of(&history, &order.id))) {
            (Ok(done), Ok(Some(mut receipt))) => {
                let refused = done.followed.into_iter().filter_map(|one| {
                    let became = Became::Refused(obstacle(&one.end.err()?));
                    Some(Part { title: one.title, became })
                });
                receipt.followed.extend(refused);
                receipt
            }
            (Err(error), Ok(None)) => OrderReceipt::refused(&order.id, error.kind(), error.to_string()),
            // It has begun, and its outcome is not journalled yet.
            (_, Ok(Some(_)) | Err(_)) | (Ok(_), Ok(None)) => self.found(order),
        }
    }

    /// Returns the journal's receipt of an order that it has.
    fn found(&mut self, order: &Order) -> OrderReceipt {
        let (action, title) = (Action::Release, String::new());
        self.settle(&Settle { id: order.id.clone(), action, title, from: order.from.clone() })
    }

    /// Returns the receipt of an order; one that has not begun never will.
    pub(crate) fn settle(&mut self, settle: &Settle) -> OrderReceipt {
        let unknown = |error: ActionError| OrderReceipt::unknown(&settle.id, &error.to_string());
        self.executor.settle(settle).unwrap_or_else(unknown)
    }
}

/// Returns what was typed for a plan, unchanged if it was typed as it is shown.
fn answer(preview: &Preview, typed: Option<&str>) -> Answer {
    let Some(typed) = typed else { return Answer::Yes };
    let wanted = preview.wanted().filter(|wanted| *wanted == typed || shown(wanted) == typed);
    Answer::Typed(wanted.unwrap_or_else(|| typed.to_owned()))
}

fn obstacle(error: &ActionError) -> Obstacle {
    Obstacle { kind: error.kind(), text: error.to_string() }
}
