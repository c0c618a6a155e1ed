//! Orders from one machine to another: what the requesting side remembers, and what the executing side does.
//!
//! This module does not know how lines travel: they may be late, duplicated, reordered, or lost. Whatever happens, an
//! order is executed at most once, and is never reported as not done while it still could be.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::core::fleet::wire::sanitize::sanitized;
use crate::core::model::text::hex;
use crate::core::model::text::named::named;
use crate::core::model::{Action, EndResult, ErrorKind, Obstacle, Plan, Request};

/// How long after its plan was made an order is still executed, by the steady clock of the executing side.
pub const VALID_FOR: Duration = Duration::from_secs(60);

/// The most requests in one question.
pub const MOST_REQUESTS: usize = 100;

/// The most bytes of a plan, with all that follows it.
const MOST_OF_PLAN: usize = 256 << 10;

/// The most bytes of an order's number.
const LONGEST_ID: usize = 128;

/// The most plans that wait for an order; the oldest are forgotten first.
const MOST_PLANS: usize = 2 * MOST_REQUESTS;

/// How many receipts to remember, beside the journal.
const MOST_RECEIPTS: usize = 1_024;

named! {
    /// The orders that a machine accepts, by its own configuration.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum Accepts {
        /// All that a person could confirm on that machine.
        #[default]
        All = "all",
        /// Only what needs just a plain yes: what is proven dead.
        DeadOnly = "dead-only",
        /// No orders.
        Never = "never",
    }
}

/// What is requested from a machine, by this machine's configuration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Allow {
    /// To report what it sees.
    #[default]
    Observe,
    /// To accept orders too.
    Operate,
}

/// Asks for plans.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// A counter of the requesting side; the answer carries the same number.
    pub number: u64,
    /// The requests.
    pub requests: Vec<Request>,
}

/// The answer to an [`Ask`], unread.
#[derive(Debug, Serialize, Deserialize)]
pub struct RawPlans<'a> {
    /// The number of the question.
    pub number: u64,
    /// One [`Proposal`] for each request.
    #[serde(borrow)]
    pub is: Vec<&'a RawValue>,
}

/// A plan and its confirmation, or why nothing is done.
pub type Proposal = Result<ProposedPlan, Obstacle>;

/// A plan as made on the machine that it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedPlan {
    /// The plan.
    pub plan: Plan,
    /// What must be typed, if a plain yes is not enough.
    pub wanted: Option<String>,
    /// Identifies this exact plan for the state that was seen.
    pub digest: String,
}

/// Requests the execution of a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, which no other order ever has.
    pub id: String,
    /// The ID of the state folder of the intended machine.
    pub to: Option<String>,
    /// The plan's digest.
    pub digest: String,
    /// What was typed; `None` for a plain yes.
    pub typed: Option<String>,
    /// The requesting side.
    pub from: Asker,
}

/// The requesting side.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// Its host name.
    pub host: String,
    /// The ID of its state folder.
    pub store: Option<String>,
}

/// Asks for the outcome of an order. An order that has not begun by then never will.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The order's number.
    pub id: String,
    /// Its action.
    pub action: Action,
    /// Its subject, for people.
    pub title: String,
    /// The requesting side.
    pub from: Asker,
}

/// What one machine requests from another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum RemoteRequest {
    /// Plans.
    Plan(Ask),
    /// The execution of a plan.
    Do(Order),
    /// The outcome of an order.
    Settle(Settle),
}

#[cfg(feature = "postgres")]
impl RemoteRequest {
    /// Returns the same without beginning anything: for an order, only the question for its outcome.
    pub(crate) fn without_beginning(self) -> Self {
        match self {
            Self::Do(Order { id, from, .. }) => {
                Self::Settle(Settle { id, action: Action::Release, title: String::new(), from })
            }
            Self::Plan(_) | Self::Settle(_) => self,
        }
    }
}

/// The outcome of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReceipt {
    /// The order's number.
    pub id: String,
    /// Its outcome.
    pub became: Became,
    /// The parts of the same action that followed it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<Part>,
}

/// A part of the same action that followed an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Its subject, for people.
    pub title: String,
    /// Its outcome.
    pub became: Became,
}

/// The outcome of a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It was begun, and journalled there.
    Ended {
        /// The number of its entry there.
        entry: u64,
        /// How it ended.
        ended: EndResult,
        /// What happened, for people.
        detail: String,
    },
    /// It was not begun, and will not be.
    Refused(Obstacle),
    /// It may still be begun, or is under way.
    Unknown(String),
}

/// The status of an order for the requesting side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was done, at least in part.
    Done,
    /// It was not done, and will not be.
    NotDone,
    /// Not known until it is seen.
    Unknown,
}

impl Became {
    /// Returns the order's status.
    pub fn standing(&self) -> Standing {
        match self {
            Self::Ended { ended: EndResult::Done | EndResult::Partly | EndResult::Stuck, .. } => {
                Standing::Done
            }
            Self::Ended { ended: EndResult::Changed | EndResult::Failed, .. } | Self::Refused(_) => {
                Standing::NotDone
            }
            Self::Ended { ended: EndResult::Unknown, .. } | Self::Unknown(_) => Standing::Unknown,
        }
    }
}

impl OrderReceipt {
    /// Returns the receipt of an order that was not begun and will not be.
    pub fn refused(id: &str, kind: ErrorKind, why: impl Into<String>) -> Self {
        let became = Became::Refused(Obstacle { kind, text: why.into() });
        Self { id: id.to_owned(), became, followed: Vec::new() }
    }

    /// Returns the receipt of an order whose outcome is unknown.
    pub fn unknown(id: &str, why: &str) -> Self {
        Self { id: id.to_owned(), became: Became::Unknown(why.to_owned()), followed: Vec::new() }
    }

    /// Parses a receipt sent by another machine.
    ///
    /// # Errors
    /// Fails if it is not a receipt.
    pub fn read(text: &RawValue) -> serde_json::Result<Self> {
        serde_json::from_str(&sanitized(text.get())?)
    }
}

/// Parses a plan sent by another machine; all of it is text for display.
pub fn read_proposal(text: &RawValue) -> Proposal {
    let refused = |why: &str| Obstacle { kind: ErrorKind::Failed, text: why.to_owned() };
    if text.get().len() > MOST_OF_PLAN {
        return Err(refused("its plan is too large to show"));
    }
    let read = sanitized(text.get()).and_then(|text| serde_json::from_str::<Proposal>(&text));
    read.unwrap_or_else(|_| Err(refused("its plan cannot be understood: update the older claimtop")))
}

/// Returns whether this can be the number of an order.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Returns the digest of a plan and the state for which it was made.
///
/// # Errors
/// Fails if the plan cannot be written as JSON: all such plans would have the same digest.
pub fn digest_of<T: Serialize>(plan: &T, states: &[&str]) -> serde_json::Result<String> {
    let text = serde_json::to_string(plan)?;
    Ok(hex(&Sha256::digest(format!("{text} {}", states.join(" ")))))
}

/// What the executing side remembers beside its journal, for as long as it runs.
#[derive(Debug)]
pub struct Taker<P> {
    plans: VecDeque<ShownPlan<P>>,
    receipts: VecDeque<OrderReceipt>,
}

/// A plan that was made and shown.
#[derive(Debug)]
struct ShownPlan<P> {
    digest: String,
    at: Duration,
    plan: P,
}

/// What to do with an order.
#[derive(Debug)]
pub enum OrderStep<P> {
    /// Verify this plan under the lock; if the journal still does not have an entry for this order then, carry it out.
    Begin(P),
    /// Nothing: this is its outcome.
    Answer(OrderReceipt),
}

impl<P> Default for Taker<P> {
    fn default() -> Self {
        Self { plans: VecDeque::new(), receipts: VecDeque::new() }
    }
}

impl<P> Taker<P> {
    /// Remembers a plan that was made at this moment of the steady clock.
    pub fn made(&mut self, digest: String, plan: P, at: Duration) {
        self.plans.retain(|made| made.digest != digest);
        self.plans.push_back(ShownPlan { digest, at, plan });
        while self.plans.len() > MOST_PLANS {
            self.plans.pop_front();
        }
    }

    /// Takes an order that is not in the journal. Each order uses up its plan, whatever its outcome.
    pub fn take(&mut self, order: &Order, own: Option<&str>, now: Duration) -> OrderStep<P> {
        if let Some(known) = self.receipts.iter().find(|known| known.id == order.id) {
            return OrderStep::Answer(known.clone());
        }
        let place = self.plans.iter().position(|made| made.digest == order.digest);
        let made = place.and_then(|at| self.plans.remove(at));
        let (kind, why) = match made {
            _ if order.to.as_deref() != own => (ErrorKind::Never, "it was meant for another machine"),
            None => (
                ErrorKind::Changed,
                "changed under you: it is not the plan that was made here; plan it again",
            ),
            Some(made) if now.saturating_sub(made.at) > VALID_FOR => {
                (ErrorKind::Changed, "it came more than 60 s after its plan was made; plan it again")
            }
            Some(made) => return OrderStep::Begin(made.plan),
        };
        let receipt = OrderReceipt::refused(&order.id, kind, why);
        self.answered(receipt.clone());
        OrderStep::Answer(receipt)
    }

    /// Remembers the outcome of an order.
    pub fn answered(&mut self, receipt: OrderReceipt) {
        self.receipts.retain(|known| known.id != receipt.id);
        self.receipts.push_back(receipt);
        if self.receipts.len() > MOST_RECEIPTS {
            self.receipts.pop_front();
        }
    }
}

/// What the requesting side remembers: the orders whose outcome is not yet known.
#[derive(Clone, Debug, Default)]
pub struct OpenOrders {
    /// The ID of the state folder of the machine that each order was sent to, by the order's number.
    open: BTreeMap<String, Option<String>>,
}

impl OpenOrders {
    /// Remembers an order, before it is sent to the machine of this state folder.
    pub fn place(&mut self, id: &str, store: Option<&str>) {
        self.open.insert(id.to_owned(), store.map(str::to_owned));
    }

    /// Returns the numbers of the orders sent to this machine, whose outcome is to be asked for.
    pub fn numbers_sent_to<'a>(&'a self, store: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        self.open.iter().filter(move |(_, to)| to.as_deref() == store).map(|(id, _)| id.as_str())
    }

    /// Processes a machine's receipt for an order, and returns the order's status; `None` if that order was never sent
    /// to this machine, or its outcome is already known.
    pub fn take(&mut self, from: Option<&str>, receipt: &OrderReceipt) -> Option<Standing> {
        self.open.get(&receipt.id).filter(|to| to.as_deref() == from)?;
        let standing = receipt.became.standing();
        if standing != Standing::Unknown {
            self.open.remove(&receipt.id);
        }
        Some(standing)
    }
}

#[cfg(test)]
mod tests;
