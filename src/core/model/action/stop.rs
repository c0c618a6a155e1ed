//! What it takes to end a process, and no other.

use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::{ProcessId, Untrusted};

named! {
    /// What a process is sent so that it ends (signal(7)).
    #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
    pub enum Signal {
        /// It is asked to end, and may tidy up first.
        Term = "TERM",
        /// The kernel ends it.
        Kill = "KILL",
    }
}

/// What a process was: if anything of it differs, it is not the process that was meant.
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
    /// The SHA-256 of its executable, of its arguments as they are, and of where in memory the kernel has
    /// put them, which is another place for every program that it becomes.
    #[serde(skip)]
    pub program: String,
    /// Where it works.
    pub folder: Option<Untrusted>,
    /// The names of its environment's variables, and nothing of their values.
    pub environment: Vec<Untrusted>,
}

impl ProcessPrint {
    /// Returns whether it is the very process, running the very program, whoever is its parent by now.
    pub(crate) fn is_still(&self, now: &Self) -> bool {
        (self.id, &self.program) == (now.id, &now.program)
    }
}
