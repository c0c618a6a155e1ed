//! What the processes of a tool call wait for, as the kernel shows it.

use serde::{Deserialize, Serialize};

use crate::core::model::{ProcessId, Untrusted};

/// The processes of one window that may show why its tool call does not end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CallProcesses {
    /// The agent's process.
    pub agent: ProcessId,
    /// The processes below it that have started since the call.
    pub members: Vec<ProcessId>,
    /// The processes below no window that have started since the call: the call may have started them.
    pub strays: Vec<ProcessId>,
}

/// One fact about a process of a tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallWait {
    /// The agent's process.
    pub agent: ProcessId,
    /// The process that the fact is about.
    pub process: ProcessId,
    /// Its command line, cut, without what looks like a secret.
    pub command: Untrusted,
    /// The fact.
    pub wait: WaitSort,
}

/// What a process waits for, or has open.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WaitSort {
    /// Its own output is the other end of a pipe or a socket that the agent reads.
    Output,
    /// It is stopped, and no tracer has stopped it.
    Stopped,
    /// It waits until a process that it has started ends.
    Child,
    /// It reads from a terminal, whose other side the agent has open; the name of the terminal.
    Terminal(Untrusted),
    /// It reads from a pipe into which these processes, sorted, can write.
    Pipe(Vec<u32>),
    /// It waits for the lock on a file.
    Lock(LockHold),
}

/// The lock that a process waits for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LockHold {
    /// The file, if its path is known.
    pub path: Option<Untrusted>,
    /// The living process that holds it.
    pub holder: ProcessId,
    /// The command line of that process.
    pub command: Untrusted,
    /// The process that has taken it, if that one has ended and left it to the holder (flock(2)).
    pub taken_by: Option<u32>,
}
