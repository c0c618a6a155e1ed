//! The lines between two claimtops: one JSON object each, with one member.
//!
//! A later version may add members and fields; a reader that does not know them skips them, and counts what it could
//! not use.

use jiff::Timestamp;
use lean_string::LeanString;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};

use crate::core::fleet::order::{Ask, Order, RawPlans, Settle};
use crate::core::model::EndedWindow;
use crate::core::model::text::hex;

/// The name of the protocol; another number is an incompatible protocol.
pub(crate) const SCHEMA: &str = "claimtop.stream.v1";

/// What the witness of a machine sends, and what is requested from it.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Line<'a> {
    /// The sender; always first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hello: Option<Hello>,
    /// A thing that is new or has changed.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub part: Option<RawPart<'a>>,
    /// A thing that no longer exists.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gone: Option<PartId>,
    /// All results of a look have been sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub look: Option<LookEnd>,
    /// A sign of life.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beat: Option<Beat>,
    /// Asks for plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ask: Option<Ask>,
    /// Answers with plans.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plans: Option<RawPlans<'a>>,
    /// Requests the execution of a plan.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub order: Option<Order>,
    /// Asks for the outcome of an order.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub settle: Option<Settle>,
    /// Reports the outcome of an order.
    #[serde(borrow, skip_serializing_if = "Option::is_none")]
    pub receipt: Option<&'a RawValue>,
}

/// The sender.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Hello {
    /// The name of the protocol of its lines.
    pub schema: String,
    /// The version of its claimtop.
    pub version: String,
    /// Its identity among machines.
    #[serde(flatten)]
    pub identity: Identity,
    /// Its host name.
    pub host: String,
    /// Its current boot.
    pub boot: Option<String>,
    /// The inode of the PID namespace that its PIDs count in.
    pub pid_namespace: Option<u64>,
    /// Its clock.
    pub now: Timestamp,
    /// Whether it accepts orders.
    #[serde(default)]
    pub takes_orders: bool,
    /// Why it does not accept orders.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_orders: Option<String>,
}

/// The identity of a machine, whatever name it was reached by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Identity {
    /// Its machine ID, hashed: machine-id(5) asks to keep it confidential.
    pub machine: Option<String>,
    /// The ID of its claimtop's own state folder; machines that were cloned share the other one.
    pub store: Option<String>,
}

/// Returns the hash of a machine ID, for other machines.
pub fn hashed(machine_id: &str) -> String {
    let digest = Sha256::digest(format!("{machine_id} claimtop"));
    hex(digest.iter().take(16))
}

/// The kind of thing a part is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum PartKind {
    Source,
    Window,
    Record,
    /// A claim without a session, on which a transcript's claim rests.
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
    /// When it finished, by the clock there.
    pub at: Timestamp,
    /// The IDs of windows, needs and left-overs in their order, if that has changed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub order: Option<Vec<PartId>>,
    /// The windows whose process is proven to have ended since the previous look, with the proof.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ended: Vec<EndedWindow>,
}

/// A sign of life; the near side sends it too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Beat {
    /// A counter of the side that begins it; an answer carries the same number.
    pub number: u64,
}
