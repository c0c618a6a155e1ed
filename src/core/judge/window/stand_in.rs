//! Stand-ins: the processes of claimtop's own demo. Off their stage they are not agents, and own nothing.

use std::path::Path;

use crate::core::model::{Details, Process, ProcessTable};

/// The variable that makes claimtop's own program play an agent.
pub(crate) const STAND_IN_VARIABLE: &str = "CLAIMTOP_STAND_IN";
/// How the name of every stage's folder begins.
pub(crate) const STAGE_PREFIX: &str = "claimtop-demo-";

/// Marks the processes that only play agents: a variable makes them do so, and their program is one of a stage. Those
/// of the stage that is looked at count as what they play.
pub fn mark(table: &mut ProcessTable, stage: Option<&Path>) {
    for details in table.by_pid.values_mut().filter_map(|process| process.details.as_mut()) {
        details.is_stand_in = plays(details, stage);
    }
}

/// Returns whether a process plays on any stage; its window, too, is only played.
pub(crate) fn is_played(process: &Process) -> bool {
    process.details.as_ref().is_some_and(|details| plays(details, None))
}

fn plays(details: &Details, stage: Option<&Path>) -> bool {
    let Some(exe) = details.exe.as_ref().map(|exe| Path::new(exe.raw())) else { return false };
    let is_stage = |part: &str| part.starts_with(STAGE_PREFIX);
    details.env.contains_key(STAND_IN_VARIABLE)
        && exe.iter().any(|part| part.to_str().is_some_and(is_stage))
        && !stage.is_some_and(|stage| exe.starts_with(stage))
}
