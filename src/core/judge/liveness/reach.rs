//! Whether a process can have written a record: by its user, and by the homes that it works in.

use crate::core::judge::world::World;
use crate::core::model::{Location, Process, Record};

/// The permission bits by which others than its owner may write into a file.
const WRITABLE: u16 = 0o022;

/// Returns whether a process can have written a record, for all that is known.
pub(crate) fn may_have_written(record: &Record, process: &Process, world: &World<'_>) -> bool {
    !is_of_other_user(record, process, world) && !world.is_of_other_home(record, process)
}

/// Returns whether a process is of another user than a record's file, and cannot have written into it either: others
/// can if they have permission, or if owners are not the writers. A file that was given away since proves nothing,
/// nor does the row of a server, which has no owner.
pub(crate) fn is_of_other_user(record: &Record, process: &Process, world: &World<'_>) -> bool {
    let is_file = match &record.location {
        Location::File(_) => true,
        Location::Row(row) => world.database(row).is_some_and(|database| database.file.is_some()),
    };
    let credentials = process.details.as_ref().and_then(|details| details.credentials.as_ref());
    is_file
        && record.ownership.mode & WRITABLE == 0
        && record.medium().has_true_owners()
        && record.changed_at.is_none()
        && credentials.is_some_and(|credentials| credentials.exclude(record.ownership.uid))
}
