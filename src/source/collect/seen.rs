//! The agents that were seen alive, also in earlier looks.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::core::agent::{Role, Signatures};
use crate::core::process::{Process, ProcessId, ProcessState, ProcessTable};
use crate::core::snapshot::SeenAgent;

/// How many agents are remembered; the longest unseen are forgotten first.
const MAX_SEEN: usize = 4_096;

/// Who was seen, and when last.
#[derive(Default)]
pub(super) struct Seen {
    last_seen_at: HashMap<ProcessId, Timestamp>,
}

impl Seen {
    /// Notes who is alive now, and returns everybody who is remembered.
    pub(super) fn update(
        &mut self,
        table: &ProcessTable,
        signatures: &Signatures,
        now: Timestamp,
    ) -> Vec<SeenAgent> {
        let agents = table.by_pid.values().filter(|process| {
            is_alive(process) && signatures.classify(process).is_some_and(|(_, role)| role == Role::Agent)
        });
        self.last_seen_at.extend(agents.map(|process| (process.id, now)));
        let mut all: Vec<SeenAgent> = self
            .last_seen_at
            .iter()
            .map(|(id, last_seen_at)| SeenAgent { id: *id, last_seen_at: *last_seen_at })
            .collect();
        all.sort_unstable_by_key(|seen| (std::cmp::Reverse(seen.last_seen_at), seen.id));
        for forgotten in all.drain(MAX_SEEN.min(all.len())..) {
            self.last_seen_at.remove(&forgotten.id);
        }
        all
    }
}

fn is_alive(process: &Process) -> bool {
    let has_ended = process.has_exited == Some(true);
    match process.state {
        ProcessState::Running | ProcessState::Stopped | ProcessState::LeaderExited => !has_ended,
        ProcessState::Zombie => false,
    }
}
