//! The threads that act on other machines, one for each: a machine that does not answer delays no other.

use std::collections::HashMap;
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender as WorkSender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::Sender;

use super::event::Event;
use super::options::Orders;
use super::work::Work;
use crate::act::executor::Executor;
use crate::act::order_sender::{OrderSender, Sent};
use crate::app::msg::{Confirmed, Msg};
use crate::core::fleet::order::{Became, MOST_REQUESTS, Proposed, Standing};
use crate::core::history::journal::Entry;
use crate::core::model::{ActionResult, Confirmation, Ended, ErrorKind, Obstacle, Offer, Request};
use crate::observe::fleet::dispatch::Dispatcher;

/// How often a machine is asked for what is not known.
const AGAIN: Duration = Duration::from_millis(500);

/// The ways to the threads.
pub(super) struct Ordering {
    orders: Orders,
    dispatcher: Dispatcher,
    sender: Sender<Event>,
    is_called_off: Arc<AtomicBool>,
    threads: Mutex<HashMap<String, WorkSender<Work>>>,
}

impl Ordering {
    /// Starts a thread for each machine of which it is not known what has become of an order.
    pub(super) fn new(orders: Orders, dispatcher: Dispatcher, sender: Sender<Event>) -> Self {
        let history = (orders.executor)().ok().and_then(|executor| executor.history().ok());
        let open = history.iter().flat_map(|history| history.open_orders());
        let machines: Vec<String> = open.map(|(_, order)| order.machine.clone()).collect();
        let (is_called_off, threads) = (Arc::default(), Mutex::default());
        let ordering = Self { orders, dispatcher, sender, is_called_off, threads };
        for machine in machines.iter().filter(|machine| ordering.dispatcher.may_come(machine)) {
            ordering.thread(machine);
        }
        ordering
    }

    /// Asks for work on a machine.
    pub(super) fn ask(&self, machine: &str, work: Work) {
        self.is_called_off.store(false, Relaxed);
        // The thread ends only with the program.
        let _ = self.thread(machine).send(work);
    }

    /// Begins nothing more of what was confirmed.
    pub(super) fn call_off(&self) {
        self.is_called_off.store(true, Relaxed);
    }

    /// Returns the way to the thread of a machine.
    fn thread(&self, machine: &str) -> WorkSender<Work> {
        let mut threads = self.threads.lock().unwrap_or_else(PoisonError::into_inner);
        let begun = threads.entry(machine.to_owned()).or_insert_with(|| {
            let (work, asked) = channel();
            let worker = Worker {
                executor: (self.orders.executor)(),
                orders: OrderSender::new(self.dispatcher.clone(), machine, self.orders.from.clone()),
                machine: machine.to_owned(),
                seen: Vec::new(),
                sender: self.sender.clone(),
                is_called_off: Arc::clone(&self.is_called_off),
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
    /// What was offered last and is not confirmed yet.
    seen: Vec<(Request, Proposed)>,
    sender: Sender<Event>,
    is_called_off: Arc<AtomicBool>,
}

impl Worker {
    fn run(mut self, asked: &Receiver<Work>) {
        loop {
            let work = match self.has_open() {
                true => asked.recv_timeout(AGAIN),
                false => asked.recv().map_err(|_| RecvTimeoutError::Disconnected),
            };
            match work {
                Ok(Work::Offer(requests)) => self.offer(&requests),
                Ok(Work::Act(confirmed)) => self.act(&confirmed),
                // All else is about this machine.
                Ok(Work::ReadHistory | Work::Measure(_) | Work::Record | Work::Keep(_)) => {}
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

    fn offer(&mut self, requests: &[Request]) {
        self.seen.clear();
        let refused = |kind, text: String| Err(Obstacle { kind, text });
        let proposals = match &self.executor {
            Err(why) => requests.iter().map(|_| refused(ErrorKind::Failed, why.clone())).collect(),
            Ok(_) if requests.len() > MOST_REQUESTS => {
                let why = "these are more than are done elsewhere at once";
                requests.iter().map(|_| refused(ErrorKind::Never, why.to_owned())).collect()
            }
            Ok(_) => self.orders.plan(requests),
        };
        let offers = requests.iter().zip(proposals).map(|(request, proposal)| {
            let request = request.clone();
            let plan = proposal.map(|proposed| {
                self.seen.push((request.clone(), proposed.clone()));
                (proposed.plan, proposed.wanted)
            });
            Offer { request, plan }
        });
        let offers = offers.collect();
        self.tell(Msg::Offered(offers));
    }

    fn act(&mut self, confirmed: &Confirmed) {
        for (request, proposed) in std::mem::take(&mut self.seen) {
            let Some(typed) = typed(&request, &proposed, confirmed) else {
                self.seen.push((request, proposed));
                continue;
            };
            let title = proposed.plan.what.clone();
            if self.is_called_off.load(Relaxed) {
                let detail = "called off".to_owned();
                self.tell(Msg::Told(ActionResult { title, ended: None, detail, entry: None }));
                continue;
            }
            self.order(&request, &proposed, typed, title);
        }
        self.tell_history();
        self.tell(Msg::Finished);
    }

    fn order(&mut self, request: &Request, proposed: &Proposed, typed: Option<String>, title: String) {
        let Ok(executor) = &mut self.executor else { return };
        let undoes = match request {
            Request::Undo { entry, .. } => executor.history().ok().and_then(|history| {
                let is_its = |known: &&Entry| {
                    let order = known.intent.asked_of();
                    order.is_some_and(|order| order.machine == self.machine) && known.there() == Some(*entry)
                };
                history.entries.iter().rev().find(is_its).map(|known| known.number)
            }),
            Request::Act { .. } | Request::Left { .. } | Request::Stop { .. } => None,
        };
        match self.orders.send(executor, (request.action(), proposed), typed, undoes) {
            Err(error) => {
                let detail = error.to_string();
                self.tell(Msg::Told(ActionResult { title, ended: None, detail, entry: None }));
            }
            Ok(Sent { entry, receipt }) => {
                let is_final = request.action() == crate::core::model::Action::Stop;
                self.tell(Msg::Told(result(title, &receipt.became, Some(entry), is_final)));
                for part in receipt.followed {
                    self.tell(Msg::Told(result(part.title, &part.became, None, true)));
                }
            }
        }
    }

    /// Asks what has become of what is not known, and tells it.
    fn settle(&mut self) {
        let Ok(executor) = &mut self.executor else { return };
        let settled = self.orders.settle_open(executor).unwrap_or_default();
        let is_any = !settled.is_empty();
        for (entry, receipt) in settled {
            if receipt.became.standing() == Standing::Unknown {
                continue;
            }
            let told = result(entry.intent.title, &receipt.became, Some(entry.number), false);
            self.tell(Msg::Settled(self.machine.clone(), told));
        }
        if is_any {
            self.tell_history();
        }
    }

    fn tell_history(&self) {
        if let Ok(Ok(history)) = self.executor.as_ref().map(Executor::history) {
            self.tell(Msg::History(Arc::new(history)));
        }
    }

    fn tell(&self, msg: Msg) {
        // A screen that has ended needs no answers.
        let _ = self.sender.blocking_send(Event::Message(msg));
    }
}

/// Returns what was typed for a plan, nothing for a plain yes; nothing at all where another one was confirmed.
fn typed(request: &Request, proposed: &Proposed, confirmed: &Confirmed) -> Option<Option<String>> {
    match (confirmed, &proposed.wanted) {
        (Confirmed::Yes, None) if proposed.plan.confirmation == Confirmation::Yes => Some(None),
        (Confirmed::Typed { request: meant, text }, Some(wanted)) if meant == request && text == wanted => {
            Some(Some(text.clone()))
        }
        (Confirmed::Yes | Confirmed::Typed { .. }, _) => None,
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
            let detail = format!("{why}; what has become of it is asked for as soon as it is heard again");
            ActionResult { title, ended: Some(Ended::Unknown), detail, entry }
        }
    }
}
