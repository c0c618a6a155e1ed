//! How to end exactly one process.

use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::{ProcessId, Untrusted};

named! {
    /// The signal sent to end a process (signal(7)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Signal {
        /// The process is asked to end, and may clean up first.
        Term = "TERM",
        /// The kernel ends it.
        Kill = "KILL",
    }
}

/// The identity of a process when it was selected: if anything differs, it is not the selected process.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ProcessPrint {
    /// PID and start.
    #[serde(flatten)]
    pub id: ProcessId,
    /// The parent's PID.
    pub parent: u32,
    /// The kernel's name for it.
    pub name: Untrusted,
    /// Its executable.
    pub exe: Untrusted,
    /// Its arguments, without the secrets in them.
    pub command: Untrusted,
    /// The SHA-256 of its executable, of its arguments as they are, and of their address in memory, which the kernel
    /// chooses anew for every program that the process executes.
    #[serde(skip)]
    pub program: String,
    /// Its working folder.
    pub folder: Option<Untrusted>,
    /// The names of its environment variables, without their values.
    pub environment: Vec<Untrusted>,
}

impl ProcessPrint {
    /// Returns whether it is the same process, running the same program, whatever its parent is now.
    pub(crate) fn is_still(&self, now: &Self) -> bool {
        (self.id, &self.program) == (now.id, &now.program)
    }
}
