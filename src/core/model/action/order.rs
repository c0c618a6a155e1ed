//! An order from one machine to another, as the journals of both note it.

use serde::{Deserialize, Serialize};

/// Which side of an order this machine is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum OrderSide {
    /// This machine has asked the other one.
    AskedOf,
    /// The other one has asked this machine.
    AskedBy,
}

/// What an entry of the journal says of the other machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OrderNote {
    /// The order's own number, which no other order ever has.
    pub id: String,
    /// Which side this machine is.
    pub side: OrderSide,
    /// What the other one is called: by this machine where it was asked, by itself where it has asked.
    pub machine: String,
    /// The ID of the other one's state folder.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub store: Option<String>,
}
