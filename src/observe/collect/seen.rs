//! The agents that were seen alive, also in earlier looks.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::model::{
    Binding, Holder, Process, ProcessId, ProcessState, ProcessTable, Record, SeenAgent,
};

/// How many agents are remembered; the longest unseen are forgotten first.
const MAX_SEEN: usize = 4_096;

/// The agents that were seen, and when last.
#[derive(Default)]
pub(crate) struct SeenAgents {
    agents: HashMap<ProcessId, SeenAgent>,
}

impl SeenAgents {
    /// Notes the agents that are alive now, and returns all that are remembered.
    pub(crate) fn update(
        &mut self,
        (table, records): (&ProcessTable, &[Arc<Record>]),
        signatures: &Signatures,
        now: Timestamp,
    ) -> Vec<SeenAgent> {
        let agents = table.by_pid.values().filter(|process| {
            is_alive(process) && signatures.classify(process).is_some_and(|(_, role)| role == Role::Agent)
        });
        let registered = registered(records);
        for id in agents.map(|process| process.id) {
            let registered_at = registered.contains(&id).then_some(now);
            let before = self.agents.get(&id).and_then(|seen| seen.registered_at);
            let seen = SeenAgent { id, last_seen_at: now, registered_at: registered_at.or(before) };
            self.agents.insert(id, seen);
        }
        let mut all: Vec<SeenAgent> = self.agents.values().copied().collect();
        all.sort_unstable_by_key(|seen| (std::cmp::Reverse(seen.last_seen_at), seen.id));
        for forgotten in all.drain(MAX_SEEN.min(all.len())..) {
            self.agents.remove(&forgotten.id);
        }
        all
    }
}

/// Returns the processes that have an entry in their agent's own registry.
fn registered(records: &[Arc<Record>]) -> HashSet<ProcessId> {
    let entries = records.iter().filter_map(|record| record.holder.as_ref().map(|holder| (record, holder)));
    let entries = entries.filter(|(_, holder)| holder.binding == Binding::Registry);
    let id = |(record, holder): (&Arc<Record>, &Holder)| {
        Some(ProcessId { pid: record.pid()?, start_ticks: holder.start_ticks? })
    };
    entries.filter_map(id).collect()
}

fn is_alive(process: &Process) -> bool {
    let has_ended = process.has_exited == Some(true);
    match process.state {
        ProcessState::Running | ProcessState::Stopped | ProcessState::LeaderExited => !has_ended,
        ProcessState::Zombie => false,
    }
}
