//! The threads that act on other machines, one for each: a machine that does not answer delays no other.

use std::collections::HashMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as WorkSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use super::event::Event;
use super::work::FarWork;
use crate::act::executor::Executor;
use crate::act::orders::sender::{OrderSender, SentOrder};
use crate::app::msg::{Msg, SheetAnswer};
use crate::core::fleet::order::{Became, MOST_REQUESTS, ProposedPlan, Standing};
use crate::core::history::journal::Entry;
use crate::core::model::{ActionResult, Confirmation, EndResult, ErrorKind, Obstacle, Offer, Request};
use crate::observe::fleet::dispatch::Dispatcher;
use crate::run::options::Orders;
use crate::run::tickets::{Ticket, Tickets};

/// How often a machine is asked for what is not known.
const AGAIN: Duration = Duration::from_millis(500);

/// The ways to the threads.
pub(crate) struct Ordering {
    orders: Orders,
    dispatcher: Dispatcher,
    sender: Sender<Event>,
    tickets: Arc<Tickets>,
    threads: Mutex<HashMap<String, WorkSender<FarWork>>>,
}

impl Ordering {
    /// Starts a thread for each machine of which it is not known what has become of an order.
    pub(crate) fn new(
        orders: Orders,
        dispatcher: Dispatcher,
        sender: Sender<Event>,
        tickets: Arc<Tickets>,
    ) -> Self {
        let history = (orders.executor)().ok().and_then(|executor| executor.history().ok());
        let open = history.iter().flat_map(|history| history.open_orders());
        let machines: Vec<String> = open.map(|(_, order)| order.machine.clone()).collect();
        let ordering = Self { orders, dispatcher, sender, tickets, threads: Mutex::default() };
        for machine in machines.iter().filter(|machine| ordering.dispatcher.may_come(machine)) {
            ordering.thread(machine);
        }
        ordering
    }

    /// Asks for work on a machine.
    pub(crate) fn ask(&self, machine: &str, work: FarWork) {
        // The thread ends only with the program.
        let _ = self.thread(machine).send(work);
    }

    /// Returns the way to the thread of a machine.
    fn thread(&self, machine: &str) -> WorkSender<FarWork> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = threads.entry(machine.to_owned()).or_insert_with(|| {
            let (work, asked) = channel();
            let worker = Worker {
                executor: (self.orders.executor)(),
                orders: OrderSender::new(self.dispatcher.clone(), machine, self.orders.from.clone()),
                machine: machine.to_owned(),
                seen: OfferedPlans::default(),
                sender: self.sender.clone(),
                tickets: Arc::clone(&self.tickets),
            };
            let name = "ordering".to_owned();
            if let Err(error) = std::thread::Builder::new().name(name).spawn(move || worker.run(&asked)) {
                tracing::warn!(%error, machine, "nothing can be ordered");
            }
            work
        });
        begun.clone()
    }
}

struct Worker {
    executor: Result<Executor, String>,
    orders: OrderSender,
    machine: String,
    seen: OfferedPlans,
    sender: Sender<Event>,
    tickets: Arc<Tickets>,
}

/// What was offered last and is not confirmed yet, and to which sheet.
#[derive(Default)]
struct OfferedPlans {
    sheet: u64,
    offered: Vec<(Request, ProposedPlan)>,
}

impl Worker {
    fn run(mut self, asked: &Receiver<FarWork>) {
        loop {
            let work = match self.has_open() {
                true => asked.recv_timeout(AGAIN),
                false => asked.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match work {
                Ok(FarWork::Offer(sheet, requests)) => self.offer(sheet, &requests),
                Ok(FarWork::Act(sheet, ticket, confirmed)) => self.act((sheet, ticket), &confirmed),
                Err(RecvTimeoutError::Timeout) => self.settle(),
                Err(RecvTimeoutError::Disconnected) => return,
            }
        }
    }

    /// Returns whether it is not known what has become of an order to this machine.
    fn has_open(&self) -> bool {
        let history = self.executor.as_ref().ok().and_then(|executor| executor.history().ok());
        history.is_some_and(|history| {
            let mut open = history.open_orders();
            open.any(|(_, order)| order.machine == self.machine)
        })
    }

    fn offer(&mut self, sheet: u64, requests: &[Request]) {
        self.seen = OfferedPlans { sheet, offered: Vec::new() };
        let refused = |kind, text: String| Err(Obstacle { kind, text });
        let proposals = match &self.executor {
            Err(why) => requests.iter().map(|_| refused(ErrorKind::Failed, why.clone())).collect(),
            Ok(_) if requests.len() > MOST_REQUESTS => {
                let why = "these are too many to do elsewhere at once";
                requests.iter().map(|_| refused(ErrorKind::Never, why.to_owned())).collect()
            }
            Ok(_) => self.orders.plan(requests),
        };
        let offers = requests.iter().zip(proposals).map(|(request, proposal)| {
            let request = request.clone();
            let plan = proposal.map(|proposed| {
                self.seen.offered.push((request.clone(), proposed.clone()));
                (proposed.plan, proposed.wanted)
            });
            Offer { request, plan }
        });
        let offers = offers.collect();
        self.send(Msg::OfferedOn(sheet, offers));
    }

    fn act(&mut self, (sheet, ticket): (u64, Ticket), confirmed: &SheetAnswer) {
        // What was offered to another sheet is not what a person has seen on this one.
        let offered =
            if self.seen.sheet == sheet { std::mem::take(&mut self.seen.offered) } else { Vec::new() };
        for (request, proposed) in offered {
            let Some(typed) = typed(&request, &proposed, confirmed) else {
                self.seen.offered.push((request, proposed));
                continue;
            };
            let title = proposed.plan.what.clone();
            if self.tickets.is_called_off(ticket) {
                let detail = "cancelled".to_owned();
                self.report(sheet, ActionResult { title, ended: None, detail, entry: None });
                continue;
            }
            for result in self.order(&request, &proposed, typed, title) {
                self.report(sheet, result);
            }
        }
        self.tell_history();
        self.send(Msg::FinishedOn(sheet));
    }

    fn report(&self, sheet: u64, result: ActionResult) {
        self.send(Msg::ToldOn(sheet, self.machine.clone(), result));
    }

    /// Sends one order, and returns what has become of it and of what followed.
    fn order(
        &mut self,
        request: &Request,
        proposed: &ProposedPlan,
        typed: Option<String>,
        title: String,
    ) -> Vec<ActionResult> {
        let Ok(executor) = &mut self.executor else { return Vec::new() };
        let undoes = match request {
            Request::Undo { entry, .. } => executor.history().ok().and_then(|history| {
                let is_its = |known: &&Entry| {
                    let order = known.intent.asked_of();
                    order.is_some_and(|order| order.machine == self.machine) && known.there() == Some(*entry)
                };
                history.entries.iter().rev().find(is_its).map(|known| known.number)
            }),
            Request::Act { .. }
            | Request::Several { .. }
            | Request::Left { .. }
            | Request::Stop { .. }
            | Request::Rescue { .. }
            | Request::Setup { .. } => None,
        };
        match self.orders.send(executor, (request.action(), proposed), typed, undoes) {
            Err(error) => vec![ActionResult { title, ended: None, detail: error.to_string(), entry: None }],
            Ok(SentOrder { entry, receipt }) => {
                let is_final = request.action() == crate::core::model::Action::Stop;
                let first = result(title, &receipt.became, Some(entry), is_final);
                let followed = receipt.followed.into_iter();
                let followed = followed.map(|part| result(part.title, &part.became, None, true));
                [first].into_iter().chain(followed).collect()
            }
        }
    }

    /// Asks for the results that are not known, and passes them on.
    fn settle(&mut self) {
        let Ok(executor) = &mut self.executor else { return };
        let settled = self.orders.settle_open(executor).unwrap_or_default();
        let is_any = !settled.is_empty();
        for (entry, receipt) in settled {
            if receipt.became.standing() == Standing::Unknown {
                continue;
            }
            let told = result(entry.intent.title, &receipt.became, Some(entry.number), false);
            self.send(Msg::Settled(self.machine.clone(), told));
        }
        if is_any {
            self.tell_history();
        }
    }

    fn tell_history(&self) {
        if let Ok(Ok(history)) = self.executor.as_ref().map(Executor::history) {
            self.send(Msg::History(Arc::new(history)));
        }
    }

    fn send(&self, msg: Msg) {
        // A screen that has ended needs no answers.
        let _ = self.sender.blocking_send(Event::Message(msg));
    }
}

/// Returns what was typed for a plan, nothing for a plain yes; nothing at all where another one was confirmed.
fn typed(request: &Request, proposed: &ProposedPlan, confirmed: &SheetAnswer) -> Option<Option<String>> {
    match (confirmed, &proposed.wanted) {
        (SheetAnswer::Yes, None) if proposed.plan.confirmation == Confirmation::Yes => Some(None),
        (SheetAnswer::Typed { request: meant, text }, Some(wanted)) if meant == request && text == wanted => {
            Some(Some(text.clone()))
        }
        (SheetAnswer::Yes | SheetAnswer::Typed { .. }, _) => None,
    }
}

/// Returns what has become of an order, as a sheet shows it.
fn result(title: String, became: &Became, entry: Option<u64>, is_final: bool) -> ActionResult {
    match became {
        Became::Ended { ended, detail, .. } => {
            let entry = entry.filter(|_| !is_final);
            ActionResult { title, ended: Some(*ended), detail: detail.clone(), entry }
        }
        Became::Refused(why) => ActionResult { title, ended: None, detail: why.text.clone(), entry: None },
        Became::Unknown(why) => {
            let detail = format!("{why}; the outcome is requested as soon as the machine responds");
            ActionResult { title, ended: Some(EndResult::Unknown), detail, entry }
        }
    }
}
