//! What processes and records say of the windows.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::core::agent::{Role, Signatures, program};
use crate::core::bound::Notes;
use crate::core::process::{Details, Process, ProcessTable};
use crate::core::record::{Binding, Record};
use crate::core::snapshot::Host;
use crate::source::sessions;

/// Returns the processes that are windows, or may be.
pub(super) fn sessions_of<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = &'a Process> {
    table.by_pid.values().filter(|process| {
        signatures.classify(process).is_some_and(|(_, role)| matches!(role, Role::Agent | Role::Spare))
    })
}

/// Returns the windows whose own session files are looked for.
pub(super) fn wanted(table: &ProcessTable, signatures: &Signatures, host: &Host) -> Vec<sessions::Wanted> {
    let wanted = |process: &Process| {
        let (agent, _) = signatures.classify(process)?;
        let details = process.details.as_ref()?;
        Some(sessions::Wanted {
            agent: agent.name.clone(),
            id: process.id,
            cwd: details.cwd.clone(),
            homes: details.homes.clone().filter(|_| details.has_certain_homes),
            started_at: host.wall_clock(process.id.start_ticks),
        })
    };
    sessions_of(table, signatures).filter_map(wanted).collect()
}

/// Returns whether a note or an agent's own registry names a process: then what files say beside
/// it is not asked.
pub(super) fn is_registered(pid: u32, records: &[Arc<Record>], bound: &Notes) -> bool {
    let names = |record: &Arc<Record>| {
        let is_registry = record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry);
        is_registry && record.pid() == Some(pid)
    };
    bound.notes.iter().any(|note| note.pid == pid) || records.iter().any(names)
}

/// Returns the programs that the windows run.
pub(super) fn programs(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures).filter_map(program).map(PathBuf::from).collect()
}

/// Returns where the windows work.
pub(super) fn working(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures)
        .filter_map(|process| process.details.as_ref()?.cwd.as_ref())
        .map(|cwd| PathBuf::from(cwd.raw()))
        .collect()
}

/// Returns every window's agent and details.
pub(super) fn details<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = (&'a str, &'a Details)> {
    sessions_of(table, signatures).filter_map(|process| {
        let (agent, _) = signatures.classify(process)?;
        Some((agent.name.as_str(), process.details.as_ref()?))
    })
}
