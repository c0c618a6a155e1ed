//! One process and its ancestors, with as few system calls as possible.

use rustix::fs::CWD;

use super::details::{argv, environment, exe};
use super::proc::slurp;
use super::stat;
use crate::core::process::{Details, MAX_DEPTH, Process, ProcessTable};

/// Reads one process and its ancestors.
pub(in crate::source::processes) fn chain(pid: u32) -> ProcessTable {
    let partial = Some("only one process and its parents were read".to_owned());
    let mut table = ProcessTable { partial, ..ProcessTable::default() };
    let mut next = pid;
    while next != 0 && table.listed.len() < MAX_DEPTH && table.listed.insert(next) {
        let Some(mut process) = level(next) else {
            table.listed.remove(&next);
            break;
        };
        if next == pid {
            let details = process.details.get_or_insert_default();
            details.env = environment(CWD, &format!("/proc/{pid}/environ"));
        }
        next = process.parent;
        table.by_pid.insert(process.id.pid, process);
    }
    table
}

fn level(pid: u32) -> Option<Process> {
    let mut text = Vec::new();
    slurp(CWD, &format!("/proc/{pid}/stat"), &mut text, 4 << 10).ok()?;
    let mut process = stat::parse(pid, &text)?;
    process.details = Some(Details {
        exe: exe(CWD, &format!("/proc/{pid}/exe")),
        argv: argv(CWD, &format!("/proc/{pid}/cmdline")),
        ..Details::default()
    });
    Some(process)
}
