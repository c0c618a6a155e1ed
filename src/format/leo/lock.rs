//! Locks. Both hold the PID of a short command, so a lock that is left over is nearly always
//! dead.

use super::{id, moment, names};
use crate::core::model::{
    Binding, BrokenFile, Expiry, FileImage, Format, Holder, Record, RecordKind, ResourceKind, Role,
    StatedClaim,
};
use crate::format::reading::Reading;
use crate::format::reading::json;
use crate::format::reading::json::Object;
use crate::format::reading::{draft, time};

/// After how many seconds LEO breaks an identity lock, by the file's own time.
const BROKEN_AFTER: i64 = 30;

/// Reads the lock of a `session-identity` folder.
///
/// # Errors
/// The broken file: not readable, torn or corrupt.
pub(super) fn identity(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = lock(&object, file, reading);
    record.variant = "identity lock";
    record.title = "session identity".into();
    record.started_at = moment::past(&object, "at", reading.now, &mut record.problems);
    record.expiry =
        Some(Expiry { at: time::add_seconds(record.written_at, BROKEN_AFTER), rule: "lock older than 30 s" });
    Ok(record)
}

/// Reads the lock of one worktree, which is stale when its process is gone.
///
/// # Errors
/// The broken file: not readable, torn (its content is not written atomically) or corrupt.
pub(super) fn worktree(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let object = json::object(Format::Leo, file, reading)?;
    let mut record = lock(&object, file, reading);
    record.variant = "worktree lock";
    record.title = names::locked_key(file.name()).unwrap_or_default().into();
    record.session_id = id::required(&object, "sessionId", &mut record.problems);
    record.started_at = moment::past(&object, "timestamp", reading.now, &mut record.problems);
    let (id, since) = (record.title.clone(), record.started_at);
    record.claims = vec![StatedClaim::new(ResourceKind::Worktree, id, "file", since)];
    record.facts = [("stale when", "its PID is gone; an unrelated process can keep it held".into())].into();
    Ok(record)
}

fn lock(object: &Object<'_>, file: &FileImage, reading: &Reading<'_>) -> Record {
    let mut record = draft::record(Format::Leo, RecordKind::Lock, file, reading);
    record.holder = object.pid("pid", true).map(|pid| Holder::new(pid, Role::Hook, Binding::File));
    record.problems.extend(json::ownership_problems(file, reading, None));
    record
}
