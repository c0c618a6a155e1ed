//! Stand-ins: the processes of claimtop's own demo. Off their stage they are no agents, and own nothing.

use std::path::Path;

use super::process::{Details, ProcessTable};

/// The variable that makes claimtop's own program play an agent.
pub const STAND_IN_VARIABLE: &str = "CLAIMTOP_STAND_IN";
/// How the name of every stage's folder begins.
pub const STAGE_PREFIX: &str = "claimtop-demo-";

/// Returns whether a process only plays an agent: it was told to, and its program is one of a stage.
pub fn is_stand_in(details: &Details) -> bool {
    let is_stage = |part: &str| part.starts_with(STAGE_PREFIX);
    details.env.contains_key(STAND_IN_VARIABLE)
        && details.exe.as_ref().is_some_and(|exe| exe.raw().split('/').any(is_stage))
}

/// Takes the stand-ins whose programs lie below a stage for the agents that they play.
pub fn let_play(table: &mut ProcessTable, stage: &Path) {
    for details in table.by_pid.values_mut().filter_map(|process| process.details.as_mut()) {
        if details.exe.as_ref().is_some_and(|exe| Path::new(exe.raw()).starts_with(stage)) {
            details.env.remove(STAND_IN_VARIABLE);
        }
    }
}
