//! Another machine, as seen from here.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::{Key, KeyKind, Untrusted};

named! {
    /// The connection state of another machine.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
    pub enum MachineState {
        /// It is being reached for the first time.
        Connecting = "connecting",
        /// Its claimtop is reporting.
        Live = "live",
        /// A sign of life is overdue; its reports still count.
        Late = "late",
        /// It was reached before, but nothing is received from it now.
        Silent = "silent",
        /// It cannot be reached, or it is not what it was.
        Unreached = "unreached",
    }
}

impl MachineState {
    /// Returns whether its reports count as current.
    pub fn is_heard(self) -> bool {
        match self {
            Self::Live | Self::Late => true,
            Self::Connecting | Self::Silent | Self::Unreached => false,
        }
    }
}

/// A configured source that a person has excluded.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum NotAsked {
    /// Another machine, by its name.
    Machine(String),
    /// The database of the fleet, by its URL without a password.
    Fleet(String),
    /// The hosts of that database that the person did not name.
    OtherHosts(String),
}

/// Another machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct MachineView {
    /// Stable for as long as it has its name.
    pub key: Key,
    /// Its name here.
    pub name: String,
    /// How it is reached, such as `ssh devbox`.
    pub transport: String,
    /// Its connection state.
    pub state: MachineState,
    /// What went wrong, and what to do about it; empty if nothing did.
    pub detail: Untrusted,
    /// The version of its claimtop.
    pub version: Option<Untrusted>,
    /// Its host name.
    pub host: Option<Untrusted>,
    /// How many windows it has, according to its last report.
    pub windows: usize,
    /// When something was last received from it.
    pub seen_at: Option<Timestamp>,
    /// How long its last answer took, in milliseconds.
    pub latency_ms: Option<u64>,
    /// How many reported things this version does not know.
    #[serde(skip_serializing_if = "is_none")]
    pub not_understood: usize,
    /// By how many seconds its clock is ahead of the one here, negative if behind; 0 if they agree.
    #[serde(skip_serializing_if = "agrees")]
    pub clock_ahead_seconds: i64,
    /// The other name under which it, or a copy of it, is shown instead of this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub same_as: Option<String>,
    /// Why nothing can be done there from here; `None` if it accepts orders.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub no_orders: Option<Untrusted>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn agrees(seconds: &i64) -> bool {
    *seconds == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(number: &usize) -> bool {
    *number == 0
}

impl MachineView {
    /// Returns why nothing can be done on it now from here; `None` if something can.
    pub fn why_no_orders(&self) -> Option<String> {
        match self.state {
            MachineState::Live | MachineState::Late => self.no_orders.as_ref().map(Untrusted::shown),
            MachineState::Connecting => Some("still connecting to it".to_owned()),
            MachineState::Silent => Some("it is silent, so its state is not known".to_owned()),
            MachineState::Unreached => Some("it cannot be reached".to_owned()),
        }
    }

    /// Creates a machine of which nothing is known yet.
    pub fn new(name: &str, transport: String) -> Self {
        Self {
            key: Key::derive(KeyKind::Machine, &[name]),
            name: name.to_owned(),
            transport,
            state: MachineState::Connecting,
            detail: Untrusted::default(),
            version: None,
            host: None,
            windows: 0,
            seen_at: None,
            latency_ms: None,
            not_understood: 0,
            clock_ahead_seconds: 0,
            same_as: None,
            no_orders: Some("it is only watched from here".into()),
        }
    }
}
