//! Tombstones: death is monotone, so a proof is kept.
//!
//! A tombstone states that within one boot, one PID namespace and one clock no process with this PID and this start
//! lives, and therefore none ever will: a start is never given twice. It is made only if a record, or a note of an
//! agent's hook, names an agent with both, and a pidfd or a look at all processes of the namespace proves the death.
//! A helper's PID, a session, or a holder without a start gets none. A living process with the same PID and start
//! refutes it, and another boot ends it; forgetting one is always safe.
//!
//! The ledger also keeps the processes that were seen below a window and outlive it, so that a later look of another
//! program judges as one that saw them there.

pub(crate) mod descent;
pub(crate) mod ended;
pub(crate) mod keeper;
#[cfg(test)]
mod tests;

use crate::core::model::Process;
use crate::core::model::snapshot::process::has_exited;

/// Returns whether a process lives that may have this start, by any clock.
pub(crate) fn may_be(process: &Process, start_ticks: u64) -> bool {
    !has_exited(process) && process.has_start(start_ticks) != Some(false)
}
