//! The entire CLI's session state, its locks and its live registry.
//!
//! The state lies in the git common directory and so is shared by all working trees. It has no version number; its
//! keys identify it. A lock file that exists is not a lock that is held; only the kernel knows (`/proc/locks`).

pub(crate) mod end;
mod live;
mod lock;
mod names;
mod state;
#[cfg(test)]
mod tests;

use crate::core::model::{BrokenFile, FileImage, Format, Record, RecordKind};
use crate::format::entire::names::Kind;
use crate::format::reading::draft;
use crate::format::reading::json::parsed;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(Entire, GitCommon, "entire-sessions", names::in_sessions => read),
    place!(Entire, GitCommon, "entire-session-locks", names::in_locks => read),
    place!(Entire, Cache, "entire/live-sessions", names::in_live_sessions => read),
]);

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    match kind {
        Kind::State => parsed(state::read(file, reading)),
        Kind::Temp => parsed(temporary(file, reading)),
        Kind::Model => parsed(model(file, reading)),
        Kind::Lock => lock::read(file, reading),
        Kind::Live => parsed(live::read(file, reading)),
    }
}

fn temporary(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = draft::temporary(Format::Entire, file, reading)?;
    record.variant = "state being written";
    record.title = file.name().into();
    Ok(record)
}

/// Reads the model's name for the next turn; it has no life of its own.
fn model(file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let bytes = crate::format::reading::json::bytes(Format::Entire, file, reading)?;
    let mut record = draft::record(Format::Entire, RecordKind::Companion, file, reading);
    let id = file.name().trim_end_matches(".model");
    record.variant = "model hint";
    record.context_id = Some(id.into());
    record.title = crate::format::reading::excerpt::excerpt(String::from_utf8_lossy(bytes).trim(), 60);
    Ok(record)
}
