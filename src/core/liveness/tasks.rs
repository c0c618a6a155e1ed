//! Verdicts on tasks, which name no process: their list is a session's, or a team's.

use super::{Answer, Ladder, by_holder};
use crate::core::assess::fact;
use crate::core::record::{Format, Record, TASK, TEAM};
use crate::core::report::{Reason, VerdictState};
use crate::core::text::Untrusted;
use crate::core::world::World;

/// Returns whether a record is a task of a list.
pub(super) fn is_task(record: &Record) -> bool {
    record.format == Format::ClaudeCode && record.variant == TASK
}

/// Judges one task by the session of its list.
pub(super) fn judge(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    if let Some(team) = team(record, world) {
        ladder.add_from("team", team.title.clone(), team.location.text().clone());
        // A member with a pane of its own outlives its leader.
        if let Some(names) = fact(team, "in panes") {
            ladder.add_from("members in panes", names.clone(), team.location.text().clone());
            return Answer(VerdictState::Unknown, Reason::NoPid);
        }
    }
    let record = Record { session_id: session_of(record, world).cloned(), ..record.clone() };
    by_holder(&record, world, ladder)
}

/// Returns the session of a record: its own, or that of the leader of its team.
pub(super) fn session_of<'a>(record: &'a Record, world: &World<'a>) -> Option<&'a Untrusted> {
    let own = record.session_id.as_ref();
    own.or_else(|| team(record, world).and_then(|team| team.session_id.as_ref()))
}

fn team<'a>(record: &Record, world: &World<'a>) -> Option<&'a Record> {
    let list = record.context_id.as_ref().filter(|_| is_task(record))?;
    let records = world.snapshot.records.iter().map(|record| &**record);
    records.into_iter().find(|other| {
        other.format == Format::ClaudeCode && other.variant == TEAM && other.context_id.as_ref() == Some(list)
    })
}
