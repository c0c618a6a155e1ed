//! The calls that an ending makes on processes. Tests inject changes between them.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::core::judge::left_over::protected::hindered;
use crate::core::judge::window::agent::Role;
use crate::core::model::{Hindrance, Interaction, Load, Port, ProcessId, ProcessPrint, Signal};

/// The processes of this machine.
pub trait Processes: Send + Sync {
    /// Returns our own PID.
    fn own_pid(&self) -> u32;

    /// Returns every process with its parent.
    ///
    /// # Errors
    /// They cannot be listed.
    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError>;

    /// Reads what a process is; `None` if it has exited, or cannot be identified.
    fn print(&self, pid: u32) -> Option<ProcessPrint>;

    /// Returns what kind of agent a process is.
    fn agent(&self, id: ProcessId) -> Agent;

    /// Returns what a process is in the middle of; `None` if that could not be read.
    fn hindrance(&self, id: ProcessId) -> Option<Hindrance>;

    /// Returns whether a person may be working with a process; `None` if that could not be read.
    fn interaction(&self, id: ProcessId) -> Option<Interaction>;

    /// Returns the ports that each of these listens on, without those whose ports are unknown.
    fn ports(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>>;

    /// Returns the load of each of these, as far as it is known.
    fn loads(&self, _those: &[ProcessId]) -> BTreeMap<ProcessId, Load> {
        BTreeMap::new()
    }

    /// Returns every port that is listened on; `None` if that is unknown.
    fn listening(&self) -> Option<BTreeSet<u16>>;

    /// Opens a handle to a process, so that it cannot be confused with another; `None` if there is no such process.
    ///
    /// # Errors
    /// The system cannot do that.
    fn hold(&self, pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError>;

    /// Returns how long signalled processes have to end.
    fn patience(&self) -> Duration;
}

/// What kind of agent a process is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Agent {
    /// None.
    No,
    /// It may be one, or that is unknown.
    Maybe,
    /// This one.
    Is(String, Role),
}

/// Reads what a process is through its handle. While it becomes another program there is a moment in which it cannot
/// be identified.
pub(crate) fn print_of(
    machine: &dyn Processes,
    held: &dyn ProcessHandle,
    id: ProcessId,
) -> Option<ProcessPrint> {
    const TRIES: usize = 20;
    let print = |_| {
        let print = machine.print(id.pid).filter(|print| print.id == id);
        if print.is_none() {
            held.wait(Duration::from_millis(2));
        }
        print
    };
    (0..TRIES).take_while(|_| held.has_exited() != Some(true)).find_map(print)
}

/// Returns why a held process is not ended now. Most waits in the kernel are over in a moment.
pub(crate) fn hindered_now(
    machine: &dyn Processes,
    held: &dyn ProcessHandle,
    print: &ProcessPrint,
) -> Option<String> {
    const TRIES: usize = 20;
    let mut hindrance = machine.hindrance(print.id);
    for _ in 1..TRIES {
        if hindrance != Some(Hindrance::Waiting) {
            break;
        }
        held.wait(Duration::from_millis(2));
        hindrance = machine.hindrance(print.id);
    }
    hindered(hindrance.as_ref()).map(|why| format!("PID {} ({}) {why}", print.id.pid, print.name))
}

/// A handle to a process.
pub trait ProcessHandle {
    /// Returns whether it has exited; `None` if that is unknown.
    fn has_exited(&self) -> Option<bool>;

    /// Waits until it has exited, at most for so long.
    fn wait(&self, at_most: Duration);

    /// Signals this process, and no other.
    ///
    /// # Errors
    /// The system refuses, or it has exited (`ESRCH`).
    fn signal(&self, signal: Signal) -> Result<(), Errno>;
}
