//! Where an agent keeps its sessions, each in files that name its working folder and at most a process.

use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::core::model::{Talk, Untrusted};
use crate::format::reading::json::Object;
use crate::format::work::Draft;

/// The files that state an agent's sessions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SessionFiles {
    /// The agent, by its name in the table of agents.
    pub(crate) agent: &'static str,
    /// Returns the folder below the home that has the sessions of a working folder; a part `*` stands for any folder.
    pub(crate) folder: fn(cwd: &str) -> String,
    /// Returns whether a file of this name states a session.
    pub(crate) is_one: fn(name: &str) -> bool,
    /// Reads the beginning of such a file.
    pub(crate) state: fn(&[u8]) -> Option<StatedSession>,
    /// Returns the file with the work of the session.
    pub(crate) transcript: fn(file: &Path, session: &str) -> Option<PathBuf>,
}

/// A session as a file states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct StatedSession {
    pub(crate) id: Untrusted,
    /// The folder in which it works.
    pub(crate) cwd: Untrusted,
    pub(crate) began_at: Option<Timestamp>,
    /// Whether it began as a copy of another one.
    pub(crate) is_fork: bool,
    /// The process that began it.
    pub(crate) pid: Option<u32>,
}

/// The work of a session that is one JSON document, rewritten whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Document {
    /// Takes over what it says.
    pub(crate) work: fn(&mut Draft, &Object<'_>),
    /// Takes over what was said.
    pub(crate) talk: fn(&mut Talk, &Object<'_>),
    /// A second document that says how the session stands, if there is one.
    pub(crate) status: Option<StatusDocument>,
}

/// A document beside the work of a session that says how it stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StatusDocument {
    /// Returns its path by that of the work.
    pub(crate) path: fn(&Path) -> Option<PathBuf>,
    /// Takes over what it says, after the work.
    pub(crate) work: fn(&mut Draft, &Object<'_>),
}
