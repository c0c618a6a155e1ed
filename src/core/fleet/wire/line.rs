//! The lines that two claimtops speak: one JSON object each, with one member.
//!
//! A later version may add members and fields; whoever does not know them passes them over, and counts what it
//! could not use.

use jiff::Timestamp;
use lean_string::LeanString;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::core::fleet::order::{Ask, Order, RawPlans, Settle};
use crate::core::model::EndedWindow;
use crate::core::model::text::hex;

/// The name of what is spoken; another number is another language.
pub(crate) const SCHEMA: &str = "claimtop.stream.v1";

/// What the witness of a machine says, and what is asked of it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Line<'a> {
    /// Who speaks; always first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// A thing that is new, or not as it was.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub part: Option<RawPart<'a>>,
    /// A thing that is there no more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<PartId>,
    /// All that a look found has been told.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<LookEnd>,
    /// It is still there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beat: Option<Beat>,
    /// Asks what would be done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Answers that.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plans: Option<RawPlans<'a>>,
    /// Asks to carry out a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Asks what has become of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// Says what has become of an order.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<&'a RawValue>,
}

/// Who speaks.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The name of the form that its lines have.
    pub schema: String,
    /// The version of its claimtop.
    pub version: String,
    /// What tells it from other machines.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its host name.
    pub host: String,
    /// The boot that it is in.
    pub boot: Option<String>,
    /// The inode of the PID namespace that its PIDs count in.
    pub pid_namespace: Option<u64>,
    /// Its clock.
    pub now: Timestamp,
    /// Whether it takes orders.
    #[serde(default)]
    pub takes_orders: bool,
    /// Why it takes none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_orders: Option<String>,
}

/// What tells a machine from others, whatever name it was reached by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its machine ID, hashed: machine-id(5) asks to keep it confidential.
    pub machine: Option<String>,
    /// The ID of its claimtop's own state folder; machines that were cloned share the other one.
    pub store: Option<String>,
}

/// Hashes a machine ID for others to see.
pub fn hashed(machine_id: &str) -> String {
    let digest = Sha256::digest(format!("{machine_id} claimtop"));
    hex(digest.iter().take(16))
}

/// What kind of thing a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PartKind {
    Source,
    Window,
    Record,
    /// One that is no session's: a claim of what a transcript says rests on it.
    BehindClaim,
    Claim,
    Finding,
    Need,
    LeftOver,
    LeftTree,
    Broken,
    Tombstone,
}

/// The name of a part.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub(crate) struct PartId {
    pub kind: PartKind,
    pub id: LeanString,
}

/// A part, unread.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RawPart<'a> {
    pub kind: PartKind,
    pub id: LeanString,
    #[serde(borrow)]
    pub is: &'a RawValue,
}

/// The end of a look.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LookEnd {
    /// When it was finished, by the clock there.
    pub at: Timestamp,
    /// The IDs of windows, needs and left-overs in their order, where it is another one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<PartId>>,
    /// The windows whose process is proven to have ended since the look before, and by what.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedWindow>,
}

/// A sign of life; also what the near side says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// Counted by whoever begins it; an answer bears the same number.
    pub number: u64,
}
