//! Whether a holder lives, and why.

use serde::{Deserialize, Serialize};

use crate::core::model::Evidence;

/// Alive, dead or unknown.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerdictState {
    /// The holder's process lives.
    Alive,
    /// The holder's process is proven gone.
    Dead,
    /// It cannot be told.
    Unknown,
}

/// Why; the names are the interface's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Reason {
    /// PID and start are the recorded ones.
    SameProcess,
    /// No start is recorded and nothing contradicts.
    ProcessPresent,
    /// Its own system's database holds a sign of life that is not over.
    SignOfLife,
    /// A complete look found no such PID.
    NoProcess,
    /// Start or pidfd inode differs.
    OtherProcess,
    /// The PID's process is younger than the record.
    BornLater,
    /// The format says the PID is an agent, and this one is none.
    NotAnAgent,
    /// The record is from before the last boot.
    OtherBoot,
    /// The pidfd is readable: it has exited.
    Exited,
    /// The record names another host.
    OtherHost,
    /// The record is from another PID namespace.
    OtherNamespace,
    /// The record and the process bear times of two clocks, or one that lies ahead.
    OtherClock,
    /// The process may not be looked at.
    NoPermission,
    /// The look was not complete.
    PartialScan,
    /// No PID is recorded.
    NoPid,
    /// The recorded PID cannot be one.
    BadPid,
    /// The only known PID is, or may be, a helper's.
    WrongRole,
    /// The record cannot be read.
    Unreadable,
}

impl Reason {
    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::SameProcess => "same-process",
            Self::ProcessPresent => "process-present",
            Self::SignOfLife => "sign-of-life",
            Self::NoProcess => "no-process",
            Self::OtherProcess => "other-process",
            Self::BornLater => "born-later",
            Self::NotAnAgent => "not-an-agent",
            Self::OtherBoot => "other-boot",
            Self::Exited => "exited",
            Self::OtherHost => "other-host",
            Self::OtherNamespace => "other-namespace",
            Self::OtherClock => "other-clock",
            Self::NoPermission => "no-permission",
            Self::PartialScan => "partial-scan",
            Self::NoPid => "no-pid",
            Self::BadPid => "bad-pid",
            Self::WrongRole => "wrong-role",
            Self::Unreadable => "unreadable",
        }
    }
}

/// Whether a holder lives, why, and by what evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Verdict {
    /// Alive, dead or unknown.
    pub state: VerdictState,
    /// The rule that decided.
    pub reason: Reason,
    /// Whether the recorded PID counts, or may count, in another PID namespace of this machine.
    #[serde(skip)]
    pub in_other_namespace: bool,
    /// The facts, in the order in which they were weighed.
    pub evidence: Vec<Evidence>,
}

impl VerdictState {
    /// Returns the name that JSON has.
    pub fn name(self) -> &'static str {
        match self {
            Self::Alive => "alive",
            Self::Dead => "dead",
            Self::Unknown => "unknown",
        }
    }
}
