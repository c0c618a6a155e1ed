//! Whether a holder lives, and why.

use serde::{Deserialize, Serialize};

use crate::core::model::Evidence;
use crate::core::model::text::named::named;

named! {
    /// Alive, dead or unknown.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum VerdictState {
        /// The holder's process lives.
        Alive = "alive",
        /// The holder's process is proven gone.
        Dead = "dead",
        /// It is not known.
        Unknown = "unknown",
    }
}

named! {
    /// Why; the names are the interface's.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum Reason {
        /// PID and start are the recorded ones.
        SameProcess = "same-process",
        /// No start is recorded and nothing contradicts.
        ProcessPresent = "process-present",
        /// Its own system's database has a sign of life that is still valid.
        SignOfLife = "sign-of-life",
        /// A complete look found no such PID.
        NoProcess = "no-process",
        /// Start or pidfd inode differs.
        OtherProcess = "other-process",
        /// The PID's process is younger than the record.
        BornLater = "born-later",
        /// According to the format the PID is an agent, and this process is not one.
        NotAnAgent = "not-an-agent",
        /// The record is from before the last boot.
        OtherBoot = "other-boot",
        /// The pidfd is readable: it has exited.
        Exited = "exited",
        /// The record names another host.
        OtherHost = "other-host",
        /// The record is from another PID or time namespace.
        OtherNamespace = "other-namespace",
        /// The times of the record and the process are by two clocks, or one is in the future.
        OtherClock = "other-clock",
        /// The process may not be inspected.
        NoPermission = "no-permission",
        /// The look was not complete.
        PartialScan = "partial-scan",
        /// No PID is recorded.
        NoPid = "no-pid",
        /// The recorded PID cannot be one.
        BadPid = "bad-pid",
        /// The only known PID is, or may be, a helper's.
        WrongRole = "wrong-role",
        /// The record cannot be read.
        Unreadable = "unreadable",
        /// Its own machine's claimtop saw the holder alive, or has its tombstone.
        Witnessed = "witnessed",
        /// The holder's machine is silent.
        NotSeen = "not-seen",
    }
}

/// Whether a holder lives, why, and with what evidence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// Alive, dead or unknown.
    pub state: VerdictState,
    /// The rule that decided.
    pub reason: Reason,
    /// Whether the recorded PID counts, or may count, in another PID namespace of this machine.
    #[serde(skip)]
    pub in_other_namespace: bool,
    /// The facts, in the order in which they were weighed.
    pub evidence: Box<[Evidence]>,
}
