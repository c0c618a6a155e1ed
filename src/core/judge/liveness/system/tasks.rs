//! Verdicts on tasks, which name no process: their list is a session's, or a team's.

use crate::core::judge::liveness::answer::{Answer, Trail};
use crate::core::judge::liveness::steps::by_holder;
use crate::core::judge::liveness::system::team::{session_of, team};
use crate::core::judge::world::World;
use crate::core::model::{ClaudeCode, Reason, Record, RecordDetail, VerdictState};

/// Judges one task by the session of its list.
pub(crate) fn judge(record: &Record, world: &World<'_>, trail: &mut Trail) -> Answer {
    if let Some(team) = team(record, world) {
        trail.add_from("team", team.title.clone(), team.location.text().clone());
        // A member with a pane of its own outlives its leader.
        if let RecordDetail::ClaudeCode(ClaudeCode::Team { in_panes: Some(names) }) = &team.detail {
            trail.add_from("members in panes", names.clone(), team.location.text().clone());
            return Answer(VerdictState::Unknown, Reason::NoPid);
        }
    }
    let record = Record { session_id: session_of(record, world).cloned(), ..record.clone() };
    by_holder(&record, world, trail)
}
