//! Orders from one machine to another: what the side that asks remembers, and what the side that executes does.
//!
//! Nothing here knows how lines travel: they may be late, twice, in another order, or not at all. Whatever
//! happens, an order is executed at most once, and nobody is told that it was not done while it still could be.

use std::collections::{BTreeMap, VecDeque};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::core::fleet::wire::sanitize::harmless;
use crate::core::model::text::hex;
use crate::core::model::text::named::named;
use crate::core::model::{Action, EndResult, ErrorKind, Obstacle, Plan, Request};

/// How long after its plan was made an order is still executed, by the steady clock of whoever executes it.
pub const VALID_FOR: Duration = Duration::from_secs(60);

/// How many requests may be asked about at once.
pub const MOST_REQUESTS: usize = 100;

/// The most bytes of a plan, with all that follows it.
const MOST_OF_PLAN: usize = 256 << 10;

/// The most bytes of an order's number.
const LONGEST_ID: usize = 128;

/// How many plans wait for an order at most; the oldest are forgotten first.
const MOST_PLANS: usize = 2 * MOST_REQUESTS;

/// How many receipts are remembered, beside the journal.
const MOST_RECEIPTS: usize = 1_024;

named! {
    /// Which orders a machine takes, as its own configuration says.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
    pub(crate) enum Accepts {
        /// All that a person could confirm there.
        #[default]
        All = "all",
        /// Only what needs no more than a plain yes: what is proven dead.
        DeadOnly = "dead-only",
        /// None.
        Never = "never",
    }
}

/// What is asked of a machine, as this one's configuration says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Allow {
    /// To tell what it sees.
    #[default]
    Observe,
    /// To take orders as well.
    Operate,
}

/// Asks what would be done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ask {
    /// Counted by whoever asks; the answer bears the same number.
    pub number: u64,
    /// What is asked for.
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

/// What would be done, and what confirms it; or why nothing is done.
pub type Proposal = Result<ProposedPlan, Obstacle>;

/// A plan as it was made on the machine that it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProposedPlan {
    /// The plan.
    pub plan: Plan,
    /// What must be typed, where a plain yes is not enough.
    pub wanted: Option<String>,
    /// Names this very plan for the state that was seen.
    pub digest: String,
}

/// Asks to carry out a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Order {
    /// Its number, which no other order ever has.
    pub id: String,
    /// The ID of the state folder of the machine that is meant.
    pub to: Option<String>,
    /// The plan's digest.
    pub digest: String,
    /// What was typed; nothing for a plain yes.
    pub typed: Option<String>,
    /// Who asks.
    pub from: Asker,
}

/// Who asks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Asker {
    /// Its host name.
    pub host: String,
    /// The ID of its state folder.
    pub store: Option<String>,
}

/// Asks what has become of an order. One that was not begun by then never is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settle {
    /// The order's number.
    pub id: String,
    /// What it was.
    pub action: Action,
    /// What it was about, for people.
    pub title: String,
    /// Who asks.
    pub from: Asker,
}

/// What one machine asks of another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Work {
    /// What would be done.
    Plan(Ask),
    /// To carry out a plan.
    Do(Order),
    /// What has become of an order.
    Settle(Settle),
}

#[cfg(feature = "postgres")]
impl Work {
    /// Returns the same, but that nothing is begun: of an order only what has become of it.
    pub(crate) fn without_beginning(self) -> Self {
        match self {
            Self::Do(Order { id, from, .. }) => {
                Self::Settle(Settle { id, action: Action::Release, title: String::new(), from })
            }
            Self::Plan(_) | Self::Settle(_) => self,
        }
    }
}

/// What has become of an order.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderReceipt {
    /// The order's number.
    pub id: String,
    /// What has become of it.
    pub became: Became,
    /// What followed it as a part of the same action.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub followed: Vec<Part>,
}

/// What followed an order as a part of the same action.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// What it was about, for people.
    pub title: String,
    /// What has become of it.
    pub became: Became,
}

/// What has become of something that was asked for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Became {
    /// It was begun, and journalled there.
    Ended {
        /// The number of its entry there.
        entry: u64,
        /// How it has ended.
        ended: EndResult,
        /// What happened, for people.
        detail: String,
    },
    /// It was not begun, and will not be.
    Refused(Obstacle),
    /// It may still be begun, or is under way.
    Unknown(String),
}

/// How an order stands for whoever has asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Standing {
    /// It was done, at least in part.
    Done,
    /// It was not done, and will not be.
    NotDone,
    /// That is not known until it is seen.
    Unknown,
}

impl Became {
    /// Returns how the order stands.
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

    /// Returns the receipt of an order of which it cannot be said what has become.
    pub fn unknown(id: &str, why: &str) -> Self {
        Self { id: id.to_owned(), became: Became::Unknown(why.to_owned()), followed: Vec::new() }
    }

    /// Reads one that another machine has sent.
    ///
    /// # Errors
    /// It is none.
    pub fn read(text: &RawValue) -> serde_json::Result<Self> {
        serde_json::from_str(&harmless(text.get())?)
    }
}

/// Reads the plan that another machine has sent; all of it is text to show.
pub fn read_proposal(text: &RawValue) -> Proposal {
    let refused = |why: &str| Obstacle { kind: ErrorKind::Failed, text: why.to_owned() };
    if text.get().len() > MOST_OF_PLAN {
        return Err(refused("its plan is too large to be shown"));
    }
    let read = harmless(text.get()).and_then(|text| serde_json::from_str::<Proposal>(&text));
    read.unwrap_or_else(|_| Err(refused("its plan cannot be understood: update the older claimtop")))
}

/// Returns whether this can be the number of an order.
pub(crate) fn is_id(id: &str) -> bool {
    (1..=LONGEST_ID).contains(&id.len())
        && id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Names a plan, and the state for which it was made.
///
/// # Errors
/// The plan cannot be written as JSON. All such plans would have one name, so it gets none.
pub fn digest_of<T: Serialize>(plan: &T, states: &[&str]) -> serde_json::Result<String> {
    let text = serde_json::to_string(plan)?;
    Ok(hex(&Sha256::digest(format!("{text} {}", states.join(" ")))))
}

/// What the side that executes remembers beside its journal, for as long as it runs.
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

/// What is to be done about an order.
#[derive(Debug)]
pub enum OrderStep<P> {
    /// Verify this plan under the lock; if the journal still has no entry of this order there, carry it out.
    Begin(P),
    /// Nothing: this is what has become of it.
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

    /// Takes an order that the journal does not have. Each uses its plan up, whatever becomes of it.
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

    /// Remembers what has become of an order.
    pub fn answered(&mut self, receipt: OrderReceipt) {
        self.receipts.retain(|known| known.id != receipt.id);
        self.receipts.push_back(receipt);
        if self.receipts.len() > MOST_RECEIPTS {
            self.receipts.pop_front();
        }
    }
}

/// What the side that asks remembers: the orders of which it does not know yet what has become.
#[derive(Clone, Debug, Default)]
pub struct OpenOrders {
    /// By their numbers: the ID of the state folder of the machine that each was sent to.
    open: BTreeMap<String, Option<String>>,
}

impl OpenOrders {
    /// Remembers an order, before it is sent to the machine of this state folder.
    pub fn place(&mut self, id: &str, store: Option<&str>) {
        self.open.insert(id.to_owned(), store.map(str::to_owned));
    }

    /// Returns the numbers of those that were sent to this machine, to be asked for.
    pub fn numbers_sent_to<'a>(&'a self, store: Option<&'a str>) -> impl Iterator<Item = &'a str> {
        self.open.iter().filter(move |(_, to)| to.as_deref() == store).map(|(id, _)| id.as_str())
    }

    /// Takes what a machine says of an order, and returns how it stands; nothing where that was never asked of this
    /// machine, or is known already.
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
