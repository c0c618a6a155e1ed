//! Maia's active-agent session files, in all four generations of paths, and their companions.
//!
//! Maia keeps one JSON file for each window and ties it to the window by the context ID in its name: the agent's PID
//! on macOS, a short-lived shell's elsewhere, or any text that `CLAUDE_SESSION_ID` held. The file does not show which
//! of the two PIDs it is.

mod companion;
mod moment;
mod names;
mod session;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod totality;

use crate::core::model::{BrokenFile, FileImage, Format, Record};
use crate::format::maia::names::{Form, Kind};
use crate::format::reading::draft;
use crate::format::reading::json::parsed;
use crate::format::reading::place::place;
use crate::format::reading::{FileContents, Reading};
use crate::format::spec::Spec;

/// How claimtop reads it.
pub(crate) const SPEC: Spec = Spec::of_files(&[
    place!(Maia, Home, ".maia/sessions", names::in_sessions => read),
    place!(Maia, Home, ".maia/checkpoints/*", names::in_checkpoints => read),
    place!(Maia, Tmp, "", names::in_tmp => read),
]);

fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> FileContents {
    parsed(match kind {
        Kind::Session(form) => session::read(form, file, reading),
        Kind::Temp(form) => temporary(form, file, reading),
        Kind::Learning => companion::learning(file, reading),
        Kind::Checkpoint => companion::checkpoint(file, reading),
    })
}

fn temporary(form: Form, file: &FileImage, reading: &Reading<'_>) -> Result<Record, BrokenFile> {
    let mut record = draft::temporary(Format::Maia, file, reading)?;
    record.generation = names::generation(form);
    record.variant = "session being written";
    record.context_id = names::context(form, file.name()).map(Into::into);
    record.title = file.name().into();
    Ok(record)
}
