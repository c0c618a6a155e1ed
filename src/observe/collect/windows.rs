//! What processes and records say of the windows.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;

use crate::core::judge::agent::{Role, Signatures, program};
use crate::core::model::host::Host;
use crate::core::model::note::Notes;
use crate::core::model::process::{Details, Process, ProcessTable};
use crate::core::model::record::Record;
use crate::core::model::record::holder::Binding;

/// Returns the processes that are windows, or may be.
pub(crate) fn sessions_of<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = &'a Process> {
    table.by_pid.values().filter(|process| {
        signatures.classify(process).is_some_and(|(_, role)| matches!(role, Role::Agent | Role::Spare))
    })
}

/// Returns the windows whose own session files are looked for.
pub(crate) fn wanted(
    table: &ProcessTable,
    signatures: &Signatures,
    host: &Host,
) -> Vec<crate::source::sessions::look::Wanted> {
    let wanted = |process: &Process| {
        let (agent, _) = signatures.classify(process)?;
        let details = process.details.as_ref()?;
        Some(crate::source::sessions::look::Wanted {
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
pub(crate) fn is_registered(pid: u32, records: &[Arc<Record>], bound: &Notes) -> bool {
    let names = |record: &Arc<Record>| {
        let is_registry = record.holder.as_ref().is_some_and(|holder| holder.binding == Binding::Registry);
        is_registry && record.pid() == Some(pid)
    };
    bound.notes.iter().any(|note| note.pid == pid) || records.iter().any(names)
}

/// Returns the programs that the windows run.
pub(crate) fn programs(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures).filter_map(program).map(PathBuf::from).collect()
}

/// Returns where the windows work.
pub(crate) fn working(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures)
        .filter_map(|process| process.details.as_ref()?.cwd.as_ref())
        .map(|cwd| PathBuf::from(cwd.raw()))
        .collect()
}

/// Returns every window's agent and details.
pub(crate) fn details<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = (&'a str, &'a Details)> {
    sessions_of(table, signatures).filter_map(|process| {
        let (agent, _) = signatures.classify(process)?;
        Some((agent.name.as_str(), process.details.as_ref()?))
    })
}
