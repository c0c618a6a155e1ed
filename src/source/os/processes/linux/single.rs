//! One process alone, by its PID: what a script asks about.

use std::collections::BTreeSet;

use crate::core::model::ProcessTable;
use crate::source::os::processes::linux::closer::{self, Closer};
use crate::source::os::processes::linux::proc::Proc;
use crate::source::os::processes::linux::proc::threads::threads;

/// Reads one process and nothing else, so the table proves no absence. The number of a thread is not resolved.
pub(crate) fn single(pid: u32) -> ProcessTable {
    let partial = Some("only this process was read".to_owned());
    let mut table = ProcessTable { partial, ..ProcessTable::default() };
    let Ok(mut proc) = Proc::open() else { return table };
    if !proc.is_own() || !threads(&proc, &BTreeSet::from([pid]), &BTreeSet::new()).is_empty() {
        return table;
    }
    match closer::look(&mut proc, pid, None) {
        Closer::Read(read) => {
            table.listed.insert(pid);
            table.by_pid.insert(pid, read.process);
        }
        Closer::Unreadable => {
            table.listed.insert(pid);
        }
        Closer::Gone => {}
    }
    table
}
