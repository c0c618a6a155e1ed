//! Verdicts: whether a record's holder lives, with proof for every "dead".
//!
//! The one rule above all: an answer of Dead needs proof, and forgetting any fact may turn an answer into Unknown but
//! never into Dead. If only a helper's PID is known (a shell, a hook), its death proves nothing as long as some
//! window could still be the owner.

pub(crate) mod absent;
pub(crate) mod answer;
pub(crate) mod by_number;
pub(crate) mod domain;
pub(crate) mod locks;
pub(crate) mod machine;
pub(crate) mod own;
pub(crate) mod owner;
pub(crate) mod owners;
pub(crate) mod reach;
pub(crate) mod session;
pub(crate) mod steps;
pub(crate) mod system;
pub(crate) mod tombstone;
mod turn;

use crate::core::judge::liveness::answer::Trail;
use crate::core::judge::liveness::owner::could_own;
use crate::core::judge::liveness::owners::unseen;
use crate::core::judge::liveness::steps::by_holder;
use crate::core::judge::world::World;
use crate::core::model::{Format, Record, Verdict};

/// Judges one record: by its own PID if that is the agent's, else by the evidence that binds its
/// session to a process, else by whether any living window could own it.
pub(crate) fn judge(record: &Record, world: &World<'_>) -> Verdict {
    let mut trail = Trail::default();
    let answer = if record.format == Format::Obra {
        system::obra::judge(record, world, &mut trail)
    } else if record.format == Format::Git {
        system::git::judge(record, world, &mut trail)
    } else if system::team::is_task(record) {
        system::tasks::judge(record, world, &mut trail)
    } else {
        by_holder(record, world, &mut trail)
    };
    machine::of_this_mac(record, answer, world, &mut trail).into_verdict(trail)
}

/// Returns whether it is certain that no living process could own a record.
pub(crate) fn is_unowned(record: &Record, world: &World<'_>) -> bool {
    unseen(false, world, &mut Trail::default()).is_none()
        && !world.possible_agents.iter().any(|(agent, _)| could_own(record, agent, world))
}
