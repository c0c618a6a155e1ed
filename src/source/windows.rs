//! Facts about windows from the process table.

use std::collections::BTreeSet;
use std::path::PathBuf;

use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::judge::window::interpreter::program;
use crate::core::model::{Details, Process, ProcessTable};

/// Returns the processes that are windows, or may be.
pub(crate) fn sessions_of<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = &'a Process> {
    table.by_pid.values().filter(|process| {
        signatures.classify(process).is_some_and(|(_, role)| matches!(role, Role::Agent | Role::Spare))
    })
}

pub(crate) fn programs(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures).filter_map(program).map(PathBuf::from).collect()
}

pub(crate) fn working(table: &ProcessTable, signatures: &Signatures) -> BTreeSet<PathBuf> {
    sessions_of(table, signatures)
        .filter_map(|process| process.details.as_ref()?.folder_here())
        .map(|cwd| PathBuf::from(cwd.raw()))
        .collect()
}

pub(crate) fn details<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
) -> impl Iterator<Item = (&'a str, &'a Details)> {
    sessions_of(table, signatures).filter_map(|process| {
        let (agent, _) = signatures.classify(process)?;
        Some((agent.name.as_str(), process.details.as_ref()?))
    })
}
