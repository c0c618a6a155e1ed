//! Processes that could be agents, for all that was read of them.

use crate::core::judge::window::agent::{Role as ProcessRole, Signatures};
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Evidence, InnerPids, Process, Snapshot};

/// A process that could be an agent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PossibleAgent<'a> {
    /// It is one; its name.
    Known(&'a Process, &'a str),
    /// It bears an agent's name, or too little could be read to exclude it.
    Unproven(&'a Process),
    /// Nothing could be read of this PID.
    Hidden(u32),
}

impl PossibleAgent<'_> {
    /// Returns whether it was seen in another PID namespace than claimtop's, or nothing could be
    /// read of it.
    pub(crate) fn may_be_outside(&self) -> bool {
        self.inner_pids().is_none_or(|inner| inner.is_some_and(|inner| !inner.is_empty()))
    }

    /// Returns its numbers in other PID namespaces as far as they are known; nothing if nothing could be read.
    fn inner_pids(&self) -> Option<Option<&[u32]>> {
        self.process().map(Process::inner_pids)
    }

    /// Returns what was read of it; nothing if nothing could be.
    pub(crate) fn process(&self) -> Option<&Process> {
        match self {
            Self::Known(process, _) | Self::Unproven(process) => Some(process),
            Self::Hidden(_) => None,
        }
    }

    /// Names it for a sentence.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Known(process, _) | Self::Unproven(process) => {
                format!("{} {}", process.comm, process.id.pid)
            }
            Self::Hidden(pid) => format!("process {pid}, which cannot be read,"),
        }
    }
}

pub(crate) fn possible_agents<'a>(
    snapshot: &'a Snapshot,
    signatures: &'a Signatures,
) -> Vec<(PossibleAgent<'a>, Evidence)> {
    let table = &snapshot.processes;
    let candidates = signatures.candidates();
    let possible = |pid: &u32| {
        let Some(process) = table.get(*pid) else { return Some(PossibleAgent::Hidden(*pid)) };
        if has_exited(process) {
            return None;
        }
        match signatures.matched(process) {
            Some((agent, pattern)) => {
                let is_agent = matches!(pattern.role, ProcessRole::Agent | ProcessRole::Spare);
                (is_agent || pattern.runs_sessions).then_some(PossibleAgent::Known(process, &agent.name))
            }
            None => {
                let is_unread = !is_read(process)
                    && (process.is_renamed || candidates.may_be(process.comm.raw()))
                    && !signatures.runs_another(process);
                (is_unread || signatures.resembles(process)).then_some(PossibleAgent::Unproven(process))
            }
        }
    };
    let with_evidence = |agent: PossibleAgent<'a>| {
        let value = format!("{} is running and could be the owner", agent.name());
        (agent, Evidence::new("possible owner", value, "process table"))
    };
    table.listed.iter().filter_map(possible).map(with_evidence).collect()
}

/// Returns every living process that may count in another PID namespace, for all that could be
/// read of it: a number in a record may be its own there, whatever it runs.
pub(crate) fn unplaced<'a>(
    snapshot: &'a Snapshot,
    agents: impl Iterator<Item = PossibleAgent<'a>>,
) -> Vec<PossibleAgent<'a>> {
    let agents = agents.filter(|agent| agent.inner_pids().flatten().is_none());
    let is_unread = |process: &&Process| process.inner == InnerPids::Unread && !has_exited(process);
    let others = snapshot.processes.by_pid.values().filter(is_unread).map(PossibleAgent::Unproven);
    agents.chain(others).collect()
}

/// Returns whether enough was read of a process to exclude that it is an agent.
pub(crate) fn is_read(process: &Process) -> bool {
    process.details.as_ref().is_some_and(|details| details.exe.is_some() && !details.argv.is_empty())
}
