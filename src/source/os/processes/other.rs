//! Systems other than Linux and macOS, through sysinfo: weaker facts, so that absence proves nothing there.

use std::collections::BTreeMap;

use sysinfo::{Pid, ProcessRefreshKind, ProcessStatus, ProcessesToUpdate, System, UpdateKind};

use crate::core::judge::window::agent::Candidates;
use crate::core::model::snapshot::process::{MAX_DEPTH, ancestry};
use crate::core::model::text::secret::hide_in_arguments;
use crate::core::model::{Details, InnerPids, Process, ProcessId, ProcessState, ProcessTable, Untrusted};
pub(crate) use crate::source::os::processes::unread::*;
use crate::source::os::processes::wanted::{Depth, DetailTargets};

/// Returns 1: sysinfo reports starts in whole seconds.
pub(crate) fn ticks_per_second() -> u64 {
    1
}

/// Returns `None`: sysinfo cannot determine it.
pub(crate) fn lives(_id: ProcessId) -> Option<bool> {
    None
}

/// Returns no arguments: only traces need them.
pub(crate) fn arguments(_pid: u32) -> Vec<Untrusted> {
    Vec::new()
}

/// Not determined on this system.
pub(crate) fn is_others(_pid: u32, _uid: u32) -> bool {
    false
}

/// State that one scan leaves for the next.
#[derive(Default)]
pub(crate) struct Scanner {
    system: Option<System>,
}

impl Scanner {
    /// Returns `true`: a possible agent may always have started.
    pub(crate) fn has_news(&mut self, _candidates: &Candidates, _depth: Depth) -> bool {
        true
    }

    pub(crate) fn scan(&mut self, _wanted: DetailTargets<'_>, _depth: Depth) -> ProcessTable {
        if self.system.is_none() {
            self.system = System::new().ok();
        }
        let Some(system) = &mut self.system else {
            let partial = Some("sysinfo does not know this system".to_owned());
            return ProcessTable { partial, ..ProcessTable::default() };
        };
        let kind = ProcessRefreshKind::nothing()
            .with_exe(UpdateKind::Always)
            .with_cmd(UpdateKind::Always)
            .with_cwd(UpdateKind::Always)
            .with_user(UpdateKind::Always)
            .without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::All, true, kind);
        let booted_at = System::boot_time().unwrap_or_default();
        let by_pid: BTreeMap<u32, Process> = system
            .processes()
            .iter()
            .map(|(pid, process)| (pid.as_u32(), entry(process, booted_at)))
            .collect();
        ProcessTable {
            listed: by_pid.keys().copied().collect(),
            partial: Some("this system's list of processes is not proven complete".to_owned()),
            by_pid,
            ..ProcessTable::default()
        }
    }
}

/// Reads one process and its ancestors.
pub(crate) fn chain(pid: u32, candidates: &Candidates) -> ProcessTable {
    let wanted = DetailTargets { candidates, named: &Default::default() };
    let all = Scanner::default().scan(wanted, Depth::Whole);
    let by_pid: BTreeMap<u32, Process> = ancestry(&all, pid)
        .into_iter()
        .take(MAX_DEPTH)
        .map(|process| (process.id.pid, process.clone()))
        .collect();
    let listed = by_pid.keys().copied().collect();
    ProcessTable { listed, partial: all.partial, by_pid, ..ProcessTable::default() }
}

fn entry(process: &sysinfo::Process, booted_at: u64) -> Process {
    let start_ticks = process.start_time().saturating_sub(booted_at);
    Process {
        id: ProcessId { pid: process.pid().as_u32(), start_ticks },
        parent: process.parent().map_or(0, Pid::as_u32),
        state: state(process.status()),
        comm: Untrusted::from_path(process.name().as_ref()),
        tty: None,
        group: 0,
        session: process.session_id().map_or(0, Pid::as_u32),
        pidfd_inode: None,
        has_exited: None,
        inner: InnerPids::Read([].into()),
        is_renamed: false,
        details: Some(details(process)),
    }
}

fn details(process: &sysinfo::Process) -> Details {
    let mut argv: Vec<_> = process.cmd().iter().map(|arg| Untrusted::from_path(arg.as_ref())).collect();
    hide_in_arguments(&mut argv);
    Details {
        uid: process.effective_user_id().map(|uid| **uid),
        exe: process.exe().map(Untrusted::from_path),
        argv,
        cwd: process.cwd().map(Untrusted::from_path),
        ns_pids: vec![process.pid().as_u32()],
        has_other_clock: false,
        has_unread_clock: false,
        ..Details::default()
    }
}

#[expect(clippy::wildcard_enum_match_arm, reason = "sysinfo's enum has states of every system")]
fn state(status: ProcessStatus) -> ProcessState {
    match status {
        ProcessStatus::Zombie | ProcessStatus::Dead => ProcessState::Zombie,
        ProcessStatus::Stop | ProcessStatus::Tracing => ProcessState::Stopped,
        _ => ProcessState::Running,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Absence;

    #[test]
    fn we_find_ourselves_and_prove_no_absence() {
        let table = chain(std::process::id(), &Candidates::default());
        assert!(table.get(std::process::id()).is_some_and(|own| own.state == ProcessState::Running));
        assert_ne!(table.absence(4_194_304), Absence::Proven);
    }
}
