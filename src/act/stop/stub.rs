//! Systems without pidfds: nothing is ended, because a PID alone may belong to another process by then.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::act::error::ActionError;
use crate::act::stop::processes::{Agent, ProcessHandle, Processes};
use crate::core::judge::window::agent::Signatures;
use crate::core::model::{Hindrance, Interaction, Port, ProcessId, ProcessPrint};

/// This machine.
pub struct Machine;

impl Machine {
    /// Returns the machine, which never ends a process.
    pub fn new(_signatures: Option<Signatures>, _stage: Option<std::path::PathBuf>) -> Self {
        Self
    }
}

fn never<T>() -> Result<T, ActionError> {
    Err(ActionError::Never("only Linux can signal a process without mistaking it for another".to_owned()))
}

impl Processes for Machine {
    fn own_pid(&self) -> u32 {
        crate::source::os::processes::own::own_pid()
    }

    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError> {
        never()
    }

    fn print(&self, _pid: u32) -> Option<ProcessPrint> {
        None
    }

    fn agent(&self, _id: ProcessId) -> Agent {
        Agent::Maybe
    }

    fn hindrance(&self, _id: ProcessId) -> Option<Hindrance> {
        None
    }

    fn interaction(&self, _id: ProcessId) -> Option<Interaction> {
        None
    }

    fn ports(&self, _those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
        BTreeMap::new()
    }

    fn listening(&self) -> Option<BTreeSet<u16>> {
        None
    }

    fn hold(&self, _pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError> {
        never()
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}
