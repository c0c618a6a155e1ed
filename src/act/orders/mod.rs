//! Orders between machines, in the journals of both: those sent to other machines and those received.

pub(crate) mod sender;
pub(crate) mod service;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::state::journal_store::Lock;
use crate::core::fleet::order::{Became, OpenOrders, OrderReceipt, Part, Settle};
use crate::core::history::journal::{Entry, History, Intent, Outcome};
use crate::core::model::{Action, EndResult, ErrorKind, Obstacle, OrderNote, OrderSide};

/// The most characters that are kept of another machine's name for something.
const LONGEST: usize = 255;

/// An order that is about to be sent.
#[derive(Clone, Debug)]
pub struct PendingOrder {
    /// The action.
    pub action: Action,
    /// What it is about, for people.
    pub title: String,
    /// Why, for people.
    pub why: String,
    /// The entry of this journal that it takes back.
    pub undoes: Option<u64>,
    /// Its number, and the machine that it is sent to.
    pub order: OrderNote,
}

impl<D: Disk> Lock<'_, D> {
    /// Journals an order before it is sent, and brings that to the disk; returns the entry's number.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn place(&mut self, placed: PendingOrder, now: Timestamp) -> Result<u64, ActionError> {
        let entry = self.history.next();
        let PendingOrder { action, title, why, undoes, order } = placed;
        let intent = Intent { undoes, order: Some(order), ..Intent::new(action, title, why) };
        self.begin(entry, &intent, now)?;
        Ok(entry)
    }

    /// Journals the receipt of an order, unless it is known already or the result is still unknown.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn note_receipt(&mut self, receipt: &OrderReceipt, now: Timestamp) -> Result<(), ActionError> {
        let is_its = |(_, order): &(&Entry, &OrderNote)| order.id == receipt.id;
        let Some(entry) = self.history.open_orders().find(is_its).map(|(entry, _)| entry.number) else {
            return Ok(());
        };
        match outcome_of(receipt) {
            Some(outcome) => self.finish(entry, outcome, now),
            None => Ok(()),
        }
    }

    /// Returns the receipt of an order that another machine has sent; one that has not begun never will.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub fn settle(&mut self, settle: &Settle, now: Timestamp) -> Result<OrderReceipt, ActionError> {
        if self.history.ordered(&settle.id).is_none() {
            let why = format!("requested by {}", cut(&settle.from.host));
            let order = asked_by(&settle.id, &settle.from.host, settle.from.store.as_deref());
            let (action, title) = (settle.action, cut(&settle.title));
            let placed = PendingOrder { action, title, why, undoes: None, order };
            let entry = self.place(placed, now)?;
            let why = "the connection broke before it began; it was cancelled".to_owned();
            self.finish(entry, Outcome::new(EndResult::Failed, why), now)?;
        }
        Ok(self.receipt_of(&settle.id))
    }

    /// Returns the journal's receipt of an order that another machine has sent.
    pub fn receipt_of(&self, id: &str) -> OrderReceipt {
        let unknown = || OrderReceipt::unknown(id, "it is not in the journal there");
        receipt_of(&self.history, id).unwrap_or_else(unknown)
    }
}

/// Returns the orders whose results the journal does not have.
pub(crate) fn open_orders(history: &History) -> OpenOrders {
    let mut open = OpenOrders::default();
    history.open_orders().for_each(|(_, order)| open.place(&order.id, order.store.as_deref()));
    open
}

/// Cuts another machine's name for something to the length that is kept.
fn cut(text: &str) -> String {
    text.chars().take(LONGEST).collect()
}

/// Notes which machine has sent an order.
pub(crate) fn asked_by(id: &str, host: &str, store: Option<&str>) -> OrderNote {
    let store = store.map(str::to_owned);
    OrderNote { id: id.to_owned(), side: OrderSide::AskedBy, machine: cut(host), store }
}

/// Returns a journal's receipt of an order that another machine has sent.
pub(crate) fn receipt_of(history: &History, id: &str) -> Option<OrderReceipt> {
    let entry = history.ordered(id)?;
    let followed = history.entries.iter().filter(|one| one.intent.follows == Some(entry.number));
    let part = |one: &Entry| Part { title: one.intent.title.clone(), became: became(one) };
    Some(OrderReceipt { id: id.to_owned(), became: became(entry), followed: followed.map(part).collect() })
}

fn became(entry: &Entry) -> Became {
    match &entry.outcome {
        Some(Outcome { ended, detail, .. }) => {
            Became::Ended { entry: entry.number, ended: *ended, detail: detail.clone() }
        }
        None => Became::Unknown("it is still running there".to_owned()),
    }
}

/// Returns the outcome of an order's entry here; `None` while it is unknown.
fn outcome_of(receipt: &OrderReceipt) -> Option<Outcome> {
    Some(match &receipt.became {
        Became::Unknown(_) | Became::Ended { ended: EndResult::Unknown, .. } => return None,
        Became::Ended { entry, ended, detail } => {
            Outcome { ended: *ended, detail: detail.clone(), there: Some(*entry) }
        }
        Became::Refused(Obstacle { kind, text }) => {
            let ended = match kind {
                ErrorKind::Failed | ErrorKind::Unsure | ErrorKind::Stuck => EndResult::Failed,
                ErrorKind::Never
                | ErrorKind::NotConfirmed
                | ErrorKind::Changed
                | ErrorKind::TooYoung
                | ErrorKind::Busy
                | ErrorKind::Taken => EndResult::Changed,
            };
            Outcome::new(ended, text.clone())
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::fs::disk::Patience;
    use crate::act::fs::system::System;
    use crate::act::state::journal_store::StateFolder;
    use crate::core::fleet::order::{Asker, Standing};
    use crate::source::os::clock;

    fn settle(id: &str) -> Settle {
        let from = Asker { host: "laptop".to_owned(), store: None };
        Settle { id: id.to_owned(), action: Action::Release, title: "t".to_owned(), from }
    }

    #[test]
    fn an_order_that_was_not_begun_when_it_was_asked_for_is_called_off_for_good() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        let ask = |id: &str| {
            let mut lock = state.lock(Patience::Wait, clock::now()).unwrap();
            lock.settle(&settle(id), clock::now()).unwrap()
        };
        let first = ask("o-1");
        assert_eq!(first.became.standing(), Standing::NotDone);
        assert_eq!(ask("o-1"), first);
        let history = state.history().unwrap();
        assert_eq!(history.entries.len(), 1);
        // The service that is about to carry it out finds that under the lock.
        assert!(history.ordered("o-1").is_some() && history.newest_undoable().is_none());
    }

    #[test]
    fn what_has_become_of_an_order_is_open_here_until_a_receipt_says_it() {
        let folder = tempfile::tempdir().unwrap();
        let state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        let lock = || state.lock(Patience::Wait, clock::now()).unwrap();
        let place = |id: &str, action| {
            let order = OrderNote {
                id: id.to_owned(),
                side: OrderSide::AskedOf,
                machine: "devbox".to_owned(),
                store: None,
            };
            let (title, why) = ("t".to_owned(), String::new());
            lock().place(PendingOrder { action, title, why, undoes: None, order }, clock::now()).unwrap()
        };
        let (one, two) = (place("o-1", Action::Release), place("o-2", Action::Stop));
        let open = || state.history().unwrap().open_orders().count();
        // There is nothing of it here to put right.
        drop(lock());
        assert_eq!(open(), 2);
        let note = |receipt: &OrderReceipt| lock().note_receipt(receipt, clock::now()).unwrap();
        note(&OrderReceipt::unknown("o-1", "it is still running there"));
        note(&OrderReceipt::refused("never", ErrorKind::Changed, "no"));
        assert_eq!(open(), 2);
        for id in ["o-1", "o-2"] {
            let became = Became::Ended { entry: 3, ended: EndResult::Done, detail: String::new() };
            note(&OrderReceipt { id: id.to_owned(), became, followed: Vec::new() });
        }
        note(&OrderReceipt::refused("o-1", ErrorKind::Changed, "a second answer counts for nothing"));
        let history = state.history().unwrap();
        let entry = history.entry(one).unwrap();
        assert_eq!((open(), entry.there()), (0, Some(3)));
        assert!(entry.can_be_undone() && !history.entry(two).unwrap().can_be_undone());
    }
}
