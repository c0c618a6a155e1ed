//! An order from one machine to another, as recorded in both journals.

use serde::{Deserialize, Serialize};

/// The side of an order this machine is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderSide {
    /// This machine has sent the order to the other one.
    AskedOf,
    /// The other machine has sent the order to this one.
    AskedBy,
}

/// What a journal entry records about the other machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderNote {
    /// The order's own number, which no other order ever has.
    pub id: String,
    /// The side this machine is on.
    pub side: OrderSide,
    /// The name of the other machine: as configured here if this machine sent the order, as given by itself if it did.
    pub machine: String,
    /// The ID of the other one's state folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
}
