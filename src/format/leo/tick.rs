//! Ticks: the daemon beside a session that watches its Claude Code, LEO's strongest binding.

use super::{facts, id, moment, names};
use crate::core::model::{
    Binding, BrokenFile, FileImage, Format, Holder, HolderNames, Record, RecordKind, Role, Untrusted,
};
use crate::format::reading::Reading;
use crate::format::reading::draft;
use crate::format::reading::json;
use crate::format::reading::json::Object;

/// Reads a tick. Its `started_at` stays the same when the daemon adopts another parent and
/// rewrites the file, so only the file's own time may be compared with a process's start. The
/// heartbeat goes to the database; the file has none.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = draft::record(Format::Leo, RecordKind::Tick, file, reading);
    record.variant = "tick";
    record.session_id = id::required(&object, "session_id", &mut record.problems);
    let named = names::ticking(file.name());
    record.title = record
        .session_id
        .clone()
        .unwrap_or_else(|| crate::format::reading::excerpt::excerpt(named.unwrap_or_default(), 40));
    record.problems.extend(id::split(
        named.map(Untrusted::from),
        record.session_id.clone(),
        Untrusted::shown,
    ));
    record.started_at = moment::past(&object, "started_at", reading.now, &mut record.problems);
    record.facts = facts::from_fields(&object, &[("tick pid", "tick_pid")]);
    if watches_itself(&object) {
        record.add_fact("watches itself", "the daemon took its own PID for its parent's");
    }
    record.holder = holder(&object);
    record.problems.extend(json::ownership_problems(file, reading, None));
    Ok(record)
}

/// Returns the watched process: Claude Code if its marker named it, else the parent of the script that started the
/// daemon, which can be a shell; or the daemon itself, which keeps it running for good.
fn holder(object: &Object<'_>) -> Option<Holder> {
    let pid = object.pid("cc_parent_pid", true)?;
    let role = if watches_itself(object) { Role::Daemon } else { Role::Unknown };
    let names = HolderNames { host: object.text("hostname"), ..Default::default() }.kept();
    Some(Holder { names, ..Holder::new(pid, role, Binding::Tick) })
}

fn watches_itself(object: &Object<'_>) -> bool {
    let watched = object.pid("cc_parent_pid", true);
    watched.is_some() && watched == object.pid("tick_pid", true)
}
