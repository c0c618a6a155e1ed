//! The multi-agent observability system's files in the temporary folder.
//!
//! Each project, named by the folder of its repository, has one slot with the ID of the session
//! that started last. No file of this system holds a PID, so none has a holder.

mod marker;
mod slot;
mod stamp;
#[cfg(test)]
mod tests;

use super::json::parsed;
use super::{Base, FileKind, Parsed, Place, Reading, draft};
use crate::core::model::file::FileImage;
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::snapshot::BrokenFile;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// `claude_session_{project}`: a project's one session slot.
    Slot,
    /// `claude_session_{type}_last.txt`: when a session of that type started last. A project of
    /// such a name has its slot here, so the content decides.
    RateLimit,
    /// `claude_correlation_{project}_{tool}`: what ties a tool's end to its start.
    Correlation,
    /// A slot or a correlation being written.
    Temp,
    /// `claude_spawn_markers/{time}_{child}.json`: which session started which.
    SpawnMarker,
}

const SLOT: &str = "claude_session_";
const CORRELATION: &str = "claude_correlation_";
const RATE_LIMIT_END: &str = "_last.txt";

/// Where the files are.
pub const PLACES: &[Place] = &[
    Place {
        format: Format::Observability,
        base: Base::Tmp,
        dir: "",
        recognise: |name| in_tmp(name).map(FileKind::Observability),
    },
    Place {
        format: Format::Observability,
        base: Base::Tmp,
        dir: "claude_spawn_markers",
        recognise: |name| in_markers(name).map(FileKind::Observability),
    },
];

/// Recognises a file of the temporary folder. A project's name is a folder's, so it may hold
/// anything but a slash; an editor's backup of a slot is told by its last character.
fn in_tmp(name: &str) -> Option<Kind> {
    if name.ends_with('~') {
        return None;
    }
    if let Some(project) = name.strip_prefix(SLOT) {
        return Some(if is_random_temp(project) {
            Kind::Temp
        } else if project.ends_with(RATE_LIMIT_END) {
            Kind::RateLimit
        } else {
            Kind::Slot
        });
    }
    let scope = name.strip_prefix(CORRELATION).filter(|scope| scope.contains('_'))?;
    Some(if scope.ends_with(".tmp") { Kind::Temp } else { Kind::Correlation })
}

/// Returns whether a name ends as Python's `tempfile` makes it here: `_`, eight characters of
/// `a-z 0-9 _`, `.tmp`.
fn is_random_temp(project: &str) -> bool {
    let Some((rest, random)) =
        project.strip_suffix(".tmp").and_then(|stem| stem.split_at_checked(stem.len().checked_sub(8)?))
    else {
        return false;
    };
    rest.ends_with('_') && random.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'_')
}

fn in_markers(name: &str) -> Option<Kind> {
    (name.ends_with(".json") && !name.starts_with('.')).then_some(Kind::SpawnMarker)
}

/// Reads one file.
pub fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
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
