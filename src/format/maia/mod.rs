//! Maia's active-agent session files, in all four generations of paths, and their companions.
//!
//! Maia keeps one JSON file for each window and ties it to the window by the context ID in its
//! name: the agent's PID on macOS, a short-lived shell's elsewhere, or any text that
//! `CLAUDE_SESSION_ID` held. Which of the two PIDs it is cannot be told from the file.

mod companion;
mod moment;
mod names;
mod session;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod totality;

use super::json::parsed;
use super::{Base, FileKind, Parsed, Place, Reading, draft};
use crate::core::model::file::FileImage;
use crate::core::model::record::Record;
use crate::core::model::record::format::Format;
use crate::core::model::snapshot::BrokenFile;

/// Which file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Kind {
    /// A window's session.
    Session(Form),
    /// What a write of a session goes through: the same name, ending in `.tmp`.
    Temp(Form),
    /// `learning_session_{CTX}.json`, beside the current form.
    Learning,
    /// `checkpoint_{time}.json` in a folder named by the context ID.
    Checkpoint,
}

/// How a session file is named: Maia's generations of paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Form {
    /// `~/.maia/sessions/swarm_session_{CTX}.json` (G4 and G5).
    Current,
    /// `/tmp/maia_active_swarm_session_{CTX}.json` (G3).
    Context,
    /// `/tmp/maia_active_swarm_session_context_{PPID}.json` (G2).
    Parent,
    /// `/tmp/maia_active_swarm_session.json`, one for the machine (G0 and G1).
    Global,
}

/// Where the files are.
pub const PLACES: &[Place] = &[
    Place {
        format: Format::Maia,
        base: Base::Home,
        dir: ".maia/sessions",
        recognise: |name| names::in_sessions(name).map(FileKind::Maia),
    },
    Place {
        format: Format::Maia,
        base: Base::Home,
        dir: ".maia/checkpoints/*",
        recognise: |name| names::in_checkpoints(name).map(FileKind::Maia),
    },
    Place {
        format: Format::Maia,
        base: Base::Tmp,
        dir: "",
        recognise: |name| names::in_tmp(name).map(FileKind::Maia),
    },
];

/// Reads one file.
pub fn read(kind: Kind, file: &FileImage, reading: &Reading<'_>) -> Parsed {
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
