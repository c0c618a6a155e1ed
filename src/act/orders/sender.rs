//! Sends orders to other machines: journals each here first, and follows it until its result is known.

use std::time::Duration;

use crate::act::error::ActionError;
use crate::act::executor::Executor;
use crate::act::orders::{PendingOrder, open_orders};
use crate::act::state::store_id;
use crate::core::fleet::order::{
    Asker, OpenOrders, Order, OrderReceipt, Proposal, ProposedPlan, Settle, Standing,
};
use crate::core::history::journal::Entry;
use crate::core::model::{Action, ErrorKind, OrderNote, OrderSide, Request};
use crate::observe::fleet::Question;
use crate::observe::fleet::dispatch::{Dispatcher, NoAnswer};
use crate::source::os::clock;

/// How long to wait before a machine whose connection was lost is asked again.
const AGAIN: Duration = Duration::from_millis(200);

/// Sends orders to one machine.
pub(crate) struct OrderSender {
    dispatcher: Dispatcher,
    machine: String,
    from: Asker,
}

/// An order that was sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct SentOrder {
    /// The number of its entry in this machine's journal.
    pub(crate) entry: u64,
    /// Its result, as far as that is known.
    pub(crate) receipt: OrderReceipt,
}

impl OrderSender {
    pub(crate) fn new(dispatcher: Dispatcher, machine: &str, from: Asker) -> Self {
        Self { dispatcher, machine: machine.to_owned(), from }
    }

    /// Returns the proposed plans of the machine.
    pub(crate) fn plan(&self, requests: &[Request]) -> Vec<Proposal> {
        self.dispatcher.plan(&self.machine, requests.iter().map(Request::there).collect())
    }

    /// Journals an order, sends it and waits for its receipt. `typed` is what a person has typed, and `undoes` is the
    /// entry here that the order takes back.
    ///
    /// # Errors
    /// It cannot be journalled here; nothing was sent.
    pub(crate) fn send(
        &self,
        executor: &mut Executor,
        (action, proposed): (Action, &ProposedPlan),
        typed: Option<String>,
        undoes: Option<u64>,
    ) -> Result<SentOrder, ActionError> {
        let to = self.store();
        let store = self.from.store.as_deref().unwrap_or("none");
        let id = format!("{store}-{}", store_id::random());
        let note = OrderNote {
            id: id.clone(),
            side: OrderSide::AskedOf,
            machine: self.machine.clone(),
            store: to.clone(),
        };
        let title = proposed.plan.what.clone();
        let why = proposed.plan.why.first().cloned().unwrap_or_default();
        let entry = executor.place(PendingOrder { action, title, why, undoes, order: note })?;
        let mut open = OpenOrders::default();
        open.place(&id, to.as_deref());
        let order =
            Order { id: id.clone(), to, digest: proposed.digest.clone(), typed, from: self.from.clone() };
        let receipt = match self.dispatcher.receipt(&self.machine, Question::Do(order)) {
            Ok(receipt) => receipt,
            Err(NoAnswer::NotSent(why)) => {
                OrderReceipt::refused(&id, ErrorKind::Failed, format!("nothing was sent: {why}"))
            }
            Err(NoAnswer::Lost) => {
                OrderReceipt::unknown(&id, "the connection was lost before a receipt came")
            }
        };
        self.note(executor, &mut open, &receipt)?;
        Ok(SentOrder { entry, receipt })
    }

    /// Asks once for the result of an order that was sent before; `None` if it is still unknown.
    ///
    /// # Errors
    /// It cannot be journalled here.
    pub(crate) fn settle(
        &self,
        executor: &mut Executor,
        entry: &Entry,
    ) -> Result<Option<OrderReceipt>, ActionError> {
        let Some(order) = entry.intent.asked_of().filter(|_| self.dispatcher.is_ready(&self.machine)) else {
            return Ok(None);
        };
        let mut open = open_orders(&executor.history()?);
        let settle = Settle {
            id: order.id.clone(),
            action: entry.intent.action,
            title: entry.intent.title.clone(),
            from: self.from.clone(),
        };
        // Another machine that has taken over its name does not know the order.
        if !open.numbers_sent_to(self.store().as_deref()).any(|id| id == order.id) {
            return Ok(None);
        }
        match self.dispatcher.receipt(&self.machine, Question::Settle(settle)) {
            Ok(receipt) => {
                let standing = self.note(executor, &mut open, &receipt)?;
                Ok(standing.filter(|standing| *standing != Standing::Unknown).map(|_| receipt))
            }
            Err(NoAnswer::NotSent(_) | NoAnswer::Lost) => Ok(None),
        }
    }

    /// Asks repeatedly for the result of an order, until this time has passed.
    ///
    /// # Errors
    /// It cannot be journalled here.
    pub(crate) fn settle_within(
        &self,
        executor: &mut Executor,
        number: u64,
        limit: Duration,
    ) -> Result<Option<OrderReceipt>, ActionError> {
        let began = clock::steady();
        while clock::steady() - began < limit {
            let history = executor.history()?;
            let Some(entry) = history.entry(number) else { return Ok(None) };
            if let Some(receipt) = self.settle(executor, entry)? {
                return Ok(Some(receipt));
            }
            std::thread::sleep(AGAIN);
        }
        Ok(None)
    }

    /// Asks for the results of all orders that this machine was sent before, and returns those known now.
    ///
    /// # Errors
    /// It cannot be journalled here.
    pub(crate) fn settle_open(
        &self,
        executor: &mut Executor,
    ) -> Result<Vec<(Entry, OrderReceipt)>, ActionError> {
        let history = executor.history()?;
        let of_it = history.open_orders().filter(|(_, order)| order.machine == self.machine);
        let mut settled = Vec::new();
        for (entry, _) in of_it {
            if let Some(receipt) = self.settle(executor, entry)? {
                settled.push((entry.clone(), receipt));
            }
        }
        Ok(settled)
    }

    /// Journals a receipt, if it belongs to an order that was sent to this machine.
    fn note(
        &self,
        executor: &mut Executor,
        open: &mut OpenOrders,
        receipt: &OrderReceipt,
    ) -> Result<Option<Standing>, ActionError> {
        let standing = open.take(self.store().as_deref(), receipt);
        if standing.is_some_and(|standing| standing != Standing::Unknown) {
            executor.note_receipt(receipt)?;
        }
        Ok(standing)
    }

    /// Returns the ID of the machine's state folder.
    pub(crate) fn store(&self) -> Option<String> {
        self.dispatcher.machine(&self.machine)?.hello?.identity.store
    }
}
