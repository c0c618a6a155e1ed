//! Windows: which processes are the root of one agent's process tree.

pub mod agent;
pub(crate) mod below;
pub(crate) mod binding;
pub(crate) mod context;
pub(crate) mod doing_now;
pub(crate) mod interpreter;
pub(crate) mod loader;
pub(crate) mod local_start;
pub(crate) mod place;
pub(crate) mod possible_agent;
pub(crate) mod screens;
pub(crate) mod stand_in;
pub(crate) mod stuck;
pub(crate) mod tool_shell;
pub(crate) mod whose_turn;

use std::collections::{BTreeMap, BTreeSet};

use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Host, Key, KeyKind, Process, ProcessState, ProcessTable, Record, Untrusted};

/// A running agent, before its records are known.
#[derive(Clone, Debug)]
pub struct Window<'a> {
    /// The agent's process.
    pub process: &'a Process,
    /// Which agent, such as `claude-code`.
    pub(crate) agent: &'a str,
}

impl Window<'_> {
    /// Returns its key, the same for as long as its process lives.
    pub(crate) fn key(&self, host: &Host) -> Key {
        let id = self.process.id;
        let (pid, start) = (id.pid.to_string(), id.start_ticks.to_string());
        Key::derive(KeyKind::Window, &[host.boot_id.as_deref().unwrap_or(""), &pid, &start])
    }
}

/// Finds every window: agents that are neither launchers, helpers, daemons nor part of another
/// agent's tree. `registered` are the PIDs that the agent's own registry proves to be sessions;
/// it alone distinguishes a claimed spare from an idle one.
pub fn windows<'a>(
    table: &'a ProcessTable,
    signatures: &'a Signatures,
    registered: &BTreeSet<u32>,
) -> Vec<Window<'a>> {
    table
        .by_pid
        .values()
        .filter_map(|process| {
            let (signature, role) = signatures.classify(process)?;
            let is_session = match role {
                Role::Agent => true,
                Role::Spare => registered.contains(&process.id.pid),
                Role::Launcher | Role::Helper | Role::Daemon => false,
            };
            let starts_itself_again =
                signature.leaf && has_same_child(table, signatures, process, &signature.name);
            (is_session
                && !starts_itself_again
                && !is_nested(table, signatures, process)
                && !is_gone(process))
            .then_some(Window { process, agent: &signature.name })
        })
        .collect()
}

/// Returns the processes that are not windows by their own entry, with the background session that each shows: those
/// whose conversation has gone there, and spare ones, which show none.
pub(crate) fn aside<'a>(entries: &[(u32, &'a Record)]) -> BTreeMap<u32, Option<&'a Untrusted>> {
    let shown = |(pid, entry): &(u32, &'a Record)| {
        let status = entry.detail.claude_status()?;
        let parked = status.parked_job.as_ref();
        (parked.is_some() || status.is_spare).then_some((*pid, parked))
    };
    entries.iter().filter_map(shown).collect()
}

fn is_gone(process: &Process) -> bool {
    process.state == ProcessState::Zombie || process.has_exited == Some(true)
}

/// Returns whether a child of `process` is the same agent: then the child is the window.
fn has_same_child(table: &ProcessTable, signatures: &Signatures, process: &Process, name: &str) -> bool {
    table.by_pid.values().any(|child| {
        child.parent == process.id.pid
            && signatures
                .classify(child)
                .is_some_and(|(agent, role)| agent.name == name && role == Role::Agent)
    })
}

/// Returns whether another agent's own process stands above on the same terminal (or this one has none): then a
/// person sees one pane, and that one is the window. An agent that starts itself again, once or more, is not another
/// one.
fn is_nested(table: &ProcessTable, signatures: &Signatures, process: &Process) -> bool {
    let leaf = signatures.classify(process).filter(|(agent, _)| agent.leaf).map(|(agent, _)| &agent.name);
    let mut is_chain = true;
    ancestry(table, process.id.pid).into_iter().skip(1).any(|above| {
        let known = signatures.classify(above);
        is_chain &= known.is_some_and(|(agent, _)| leaf == Some(&agent.name));
        let is_agent = known.is_some_and(|(_, role)| role == Role::Agent);
        is_agent && !is_chain && (process.tty.is_none() || process.tty == above.tty)
    })
}

/// Returns the window that `pid` belongs to: itself or the nearest above it.
pub(crate) fn window_of<'a, 'b>(
    table: &ProcessTable,
    windows: &'b [Window<'a>],
    pid: u32,
) -> Option<&'b Window<'a>> {
    // Windows are in the order of the table: by PID.
    let own = |process: &Process| {
        let at = windows.binary_search_by_key(&process.id.pid, |window| window.process.id.pid).ok()?;
        windows.get(at).filter(|window| window.process.id == process.id)
    };
    ancestry(table, pid).into_iter().find_map(own)
}
