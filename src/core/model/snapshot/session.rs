//! The session of a window, and how certain it is.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::{Evidence, FilePath, Medium, ProcessId, Untrusted, Word};

/// How certain it is that a window runs a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strength {
    /// Folder and time fit, and nothing else is known.
    Guess,
    /// Something says so that can be out of date by now.
    Strong,
    /// The agent itself says so, for this very process.
    Exact,
}

impl Strength {
    /// Tells people how much may rest on it.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Exact => "exact",
            Self::Strong => "strong, but it may have switched to another session",
            Self::Guess => "a guess, and no decision relies on it",
        }
    }
}

/// The session of a window.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionView {
    /// The agent's session ID.
    pub id: Untrusted,
    /// How certain that is.
    pub strength: Strength,
    /// What says so.
    pub evidence: Evidence,
}

/// A session file of an agent, and what ties it to a process.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct SessionFile {
    /// Which agent, such as `codex`.
    #[serde(deserialize_with = "fixed::word")]
    pub agent: Word,
    /// The session.
    pub session: Untrusted,
    /// What ties it to a window.
    pub tie: Tie,
    /// When it was last written.
    pub written_at: Timestamp,
    /// Where it stands.
    pub path: FilePath,
    /// What kind of file system it lies on.
    #[serde(default = "unknown")]
    pub medium: Medium,
    /// Whether its process is tied to other sessions as well.
    #[serde(default)]
    pub others: Others,
    /// How it began.
    #[serde(default)]
    pub beginning: Beginning,
}

/// How a session began, as far as that is known.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Beginning {
    /// When.
    pub at: Option<Timestamp>,
    /// Whether it began as a copy of another one.
    pub is_fork: bool,
    /// The session of the same window that `/clear` has led from to this one.
    pub cleared: Option<Untrusted>,
}

/// Older recordings do not say it.
pub(crate) fn unknown() -> Medium {
    Medium::Unknown
}

/// Whether the process that a session file is tied to is tied to other sessions of its agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Others {
    /// To none: all that the agent keeps was read.
    None,
    /// To some, or it cannot be told.
    #[default]
    Unknown,
}

impl SessionFile {
    /// Returns a session file of which only names, times and what ties it are known.
    pub(crate) fn new(
        agent: Word,
        session: Untrusted,
        tie: Tie,
        (path, written_at): (FilePath, Timestamp),
    ) -> Self {
        let (medium, others, beginning) = (Medium::Unknown, Others::Unknown, Beginning::default());
        Self { agent, session, tie, written_at, path, medium, others, beginning }
    }
}

/// What ties a session file to a window; PIDs are claimtop's own numbers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Tie {
    /// This process holds a kernel lock on it.
    Locked(u32),
    /// It names this process.
    Named(u32),
    /// Its agent's own registry states that this process runs it.
    Stated(ProcessId),
    /// This process has it open.
    Opened(u32),
    /// Its session works in this folder.
    Folder(Untrusted),
}

impl Tie {
    /// Returns the process that it names.
    pub fn pid(&self) -> Option<u32> {
        match self {
            Self::Locked(pid) | Self::Named(pid) | Self::Opened(pid) => Some(*pid),
            Self::Stated(process) => Some(process.pid),
            Self::Folder(_) => None,
        }
    }
}
