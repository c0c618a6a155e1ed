//! Tasks, and the teams that they belong to.

use crate::core::judge::world::World;
use crate::core::model::{ClaudeCode, Record, RecordDetail, Untrusted};

pub(crate) fn is_task(record: &Record) -> bool {
    matches!(record.detail, RecordDetail::ClaudeCode(ClaudeCode::Task { .. }))
}

/// Returns the session of a record: its own, or that of the leader of its team.
pub(crate) fn session_of<'a>(record: &'a Record, world: &World<'a>) -> Option<&'a Untrusted> {
    let own = record.session_id.as_ref();
    own.or_else(|| team(record, world).and_then(|team| team.session_id.as_ref()))
}

pub(crate) fn team<'a>(record: &Record, world: &World<'a>) -> Option<&'a Record> {
    let list = record.context_id.as_ref().filter(|_| is_task(record))?;
    let records = world.snapshot.records.iter().map(|record| &**record);
    let is_team = |other: &&Record| matches!(other.detail, RecordDetail::ClaudeCode(ClaudeCode::Team { .. }));
    records.into_iter().filter(is_team).find(|team| team.context_id.as_ref() == Some(list))
}
