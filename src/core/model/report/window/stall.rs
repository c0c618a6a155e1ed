//! The proof that a window's tool call does not end by itself.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::Untrusted;
use crate::core::model::text::named::named;

named! {
    /// Why a call does not end; the names are the interface's.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum StallReason {
        /// The tool's shell has ended, but a process that it left has the tool's output open.
        OutputHeld = "output-held",
        /// A process of the call is stopped.
        Stopped = "stopped",
        /// It waits for a lock.
        Lock = "lock",
        /// It reads from a terminal that only this window can answer.
        Terminal = "terminal",
    }
}

/// The proof that a window's tool call does not end by itself.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Stall {
    /// Why.
    pub reason: StallReason,
    /// The process that proves it: that has the output or the lock, is stopped, or reads.
    pub pid: u32,
    /// Its command line, cut, without what looks like a secret.
    pub command: Untrusted,
    /// Since when the call is open.
    pub since: Timestamp,
    /// The terminal that it reads from, or the locked file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub on: Option<Untrusted>,
    /// The process of the call that waits for the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waits: Option<u32>,
    /// The PID of the other window whose process holds the lock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window_pid: Option<u32>,
    /// The name of that window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Untrusted>,
}
