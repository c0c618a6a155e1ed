//! The asking session, the process that wrote a ledger, and whether it lives.

use std::collections::BTreeMap;

use crate::core::guard::decide::{Life, Other};
use crate::core::judge::window::agent::{Candidates, Signatures};
use crate::core::judge::window::context::up_to_daemon;
use crate::core::model::snapshot::ledger::LedgerHolder;
use crate::core::model::snapshot::process::MAX_DEPTH;
use crate::core::model::{ProcessId, Untrusted};
use crate::source::os::processes;

/// The asking session, so that it is not warned of itself.
pub(crate) struct Own<'a> {
    pub(crate) session: &'a Untrusted,
    pub(crate) process: Option<ProcessId>,
    /// The processes above it, up to a daemon.
    pub(crate) above: &'a [ProcessId],
    /// The sessions whose conversation it continues in the background, or that continue its own.
    pub(crate) same_conversation: &'a [Untrusted],
}

/// The source of facts about processes.
pub(crate) enum Processes {
    /// The system; these may be agents, and so one is known from its daemon.
    System { candidates: Candidates, signatures: Signatures },
    /// A recording: the running processes, each with its parent.
    Recorded(BTreeMap<ProcessId, Option<ProcessId>>),
}

impl Processes {
    /// Returns whether the very process lives; `None` if that cannot be determined. A known inode of its pidfd
    /// decides, as it has another start time in another time namespace.
    fn lives(&self, id: ProcessId, pidfd_inode: Option<u64>) -> Option<bool> {
        match self {
            Self::System { .. } => {
                let by_inode = pidfd_inode.and_then(|inode| processes::lives_by_inode(id.pid, inode));
                by_inode.or_else(|| processes::lives(id))
            }
            Self::Recorded(running) => Some(running.contains_key(&id)),
        }
    }

    /// Returns the inode of a process's pidfd, if there is one.
    pub(crate) fn pidfd_inode(&self, id: ProcessId) -> Option<u64> {
        match self {
            Self::System { .. } => processes::pidfd_inode(id),
            Self::Recorded(_) => None,
        }
    }

    fn is_below(&self, process: ProcessId, above: ProcessId) -> bool {
        match self {
            Self::System { candidates, signatures } => {
                let table = processes::chain(process.pid, candidates);
                table.get(process.pid).is_some_and(|found| found.id == process)
                    && up_to_daemon(&table, signatures, process.pid).any(|found| found.id == above)
            }
            Self::Recorded(running) => {
                let parent = |id: &ProcessId| running.get(id).copied().flatten();
                std::iter::successors(Some(process), parent).take(MAX_DEPTH).any(|one| one == above)
            }
        }
    }
}

/// The machine, for the identity of processes.
pub(crate) struct Here {
    pub(crate) host: Untrusted,
    pub(crate) boot_id: Option<Untrusted>,
    pub(crate) pid_namespace: Option<u64>,
    pub(crate) processes: Processes,
}

/// Returns whether a ledger belongs to the asking process itself, to one that is above it or was below it, or to the same
/// conversation.
pub(crate) fn is_kin(holder: &LedgerHolder, own: &Own<'_>, processes: &Processes) -> bool {
    if own.same_conversation.contains(&holder.session) {
        return true;
    }
    let Some(process) = holder.process else { return false };
    let is_below = |above: ProcessId| processes.is_below(process, above);
    // For a process that has ended, only its own ledger shows what it was below.
    let was_below = |above: ProcessId| holder.above.contains(&above) || is_below(above);
    own.process == Some(process) || own.above.contains(&process) || own.process.is_some_and(was_below)
}

/// Returns a session as others are told of it, without its edits, by a ledger where only this machine writes.
pub(crate) fn other_of(holder: &LedgerHolder, here: &Here) -> Other {
    let (edits, holds) = (Vec::new(), Vec::new());
    let life = life(holder, here, true);
    Other { holder: holder.clone(), life, name: None, doing: None, edits, is_cut: false, holds }
}

/// Returns whether the process that runs a session lives.
pub(super) fn life(holder: &LedgerHolder, here: &Here, is_local: bool) -> Life {
    let Some(process) = holder.process.filter(|_| holder.host == here.host) else { return Life::Unknown };
    match (&holder.boot_id, &here.boot_id) {
        (Some(then), Some(now)) if then == now => {}
        // Another boot of this very machine, as no other machine reaches the folder.
        (Some(_), Some(_)) if is_local => return Life::Dead,
        (_, _) => return Life::Unknown,
    }
    if holder.pid_namespace.is_none() || holder.pid_namespace != here.pid_namespace {
        return Life::Unknown;
    }
    match here.processes.lives(process, holder.pidfd_inode) {
        Some(true) => Life::Alive,
        Some(false) => Life::Dead,
        None => Life::Unknown,
    }
}
