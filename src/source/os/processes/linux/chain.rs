//! One process and its ancestors, with as few system calls as possible.

use rustix::fs::CWD;

use crate::core::judge::window::agent::Candidates;
use crate::core::model::snapshot::process::MAX_DEPTH;
use crate::core::model::{Details, Process, ProcessTable};
use crate::source::os::processes::linux::details::{argv, environment, exe};
use crate::source::os::processes::linux::proc::slurp;
use crate::source::os::processes::linux::proc::stat;

/// Reads one process and its ancestors.
pub(crate) fn chain(pid: u32, candidates: &Candidates) -> ProcessTable {
    let partial = Some("only one process and its parents were read".to_owned());
    let mut table = ProcessTable { partial, ..ProcessTable::default() };
    let mut next = pid;
    while next != 0 && table.listed.len() < MAX_DEPTH && table.listed.insert(next) {
        let Some(mut process) = level(next, candidates) else {
            table.listed.remove(&next);
            break;
        };
        // Our own environment is known already.
        if next == pid && pid != crate::source::os::processes::own::own_pid() {
            let details = process.details.get_or_insert_default();
            details.env = environment(CWD, &format!("/proc/{pid}/environ"));
        }
        next = process.parent;
        table.by_pid.insert(process.id.pid, process);
    }
    table
}

fn level(pid: u32, candidates: &Candidates) -> Option<Process> {
    let mut text = Vec::new();
    slurp(CWD, &format!("/proc/{pid}/stat"), &mut text, 4 << 10).ok()?;
    let mut process = stat::parse(pid, &text)?.process;
    let exe = exe(CWD, &format!("/proc/{pid}/exe"));
    let argv = argv(CWD, &format!("/proc/{pid}/cmdline"));
    let matters = candidates.may_be(process.comm.raw())
        || exe.as_ref().is_some_and(|exe| candidates.may_run(exe.raw()))
        || candidates.may_start(&argv);
    let argv = if matters { argv } else { Vec::new() };
    process.details = Some(Details { exe, argv, ..Details::default() });
    Some(process)
}
