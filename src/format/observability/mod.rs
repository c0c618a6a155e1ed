//! The multi-agent observability system's files in the temporary folder.
//!
//! Each project, named after its repository's folder, has one slot with the ID of the session that started last. No
//! file of this system holds a PID, so none has a holder.

mod marker;
mod names;
mod slot;
mod stamp;
#[cfg(test)]
mod tests;

use crate::core::model::{BrokenFile, FileImage, Format, Record};
use crate::format::observability::names::{Kind, SLOT};
use crate::format::reading::draft;
use crate::format::reading::json::parsed;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(Observability, Tmp, "", names::in_tmp => read),
    place!(Observability, Tmp, "claude_spawn_markers", names::in_markers => read),
]);

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(match kind {
        Kind::Slot => slot::slot(file, reading),
        Kind::RateLimit => slot::rate_limit(file, reading),
        Kind::Correlation => slot::correlation(file, reading),
        Kind::Temp => temporary(file, reading),
        Kind::SpawnMarker => marker::read(file, reading),
    })
}

fn temporary(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = draft::temporary(Format::Observability, file, reading)?;
    record.variant = "file being written";
    record.title = file.name().into();
    record.context_id = file
        .name()
        .strip_prefix(SLOT)
        .and_then(|project| project.get(..project.len().checked_sub("_12345678.tmp".len())?))
        .filter(|project| !project.is_empty())
        .map(Into::into);
    Ok(record)
}
