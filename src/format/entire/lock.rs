//! Session locks: the file only provides a place to lock, and is a record while it is locked.

use super::names;
use crate::core::model::{FileImage, Format, Holder, RecordKind, ResourceKind, Role, StatedClaim};
use crate::format::reading::{FileContents, Reading};
use crate::format::reading::{draft, json};

/// Reads a lock: nothing while no process holds it.
pub(super) fn read(file: &FileImage, reading: &Reading<'_>) -> FileContents {
    if let Err(broken) = json::bytes(Format::Entire, file, reading) {
        return FileContents::Broken(broken);
    }
    let Some(pid) = file.locked_by else { return FileContents::Ignored };
    let id = file.name().trim_end_matches(".lock");
    let mut record = draft::record(Format::Entire, RecordKind::Lock, file, reading);
    record.variant = "session lock, held";
    record.context_id = Some(id.into());
    record.session_id = Some(names::agent_id(id).into());
    record.title = id.into();
    // The kernel names the present holder; the file's age does not matter.
    record.written_at = reading.now;
    record.holder = Some(Holder::of_lock(pid, Role::Hook));
    record.claims = vec![StatedClaim::new(ResourceKind::Lock, id, "flock", None)];
    FileContents::Record(record.into())
}
