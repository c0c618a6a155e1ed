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
    /// A source states it that can be out of date.
    Strong,
    /// The agent itself states it, for this very process.
    Exact,
}

impl Strength {
    /// Returns how far it can be relied on, as words for people.
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
    /// How certain it is.
    pub strength: Strength,
    /// The evidence for it.
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
    /// The tie to a window.
    pub tie: Tie,
    /// When it was last written.
    pub written_at: Timestamp,
    /// Its path.
    pub path: FilePath,
    /// The kind of file system it is on.
    #[serde(default = "unknown")]
    pub medium: Medium,
    /// Whether its process is tied to other sessions as well.
    #[serde(default)]
    pub others: Others,
    /// How it began.
    #[serde(default)]
    pub beginning: Beginning,
}

/// How a session began, if known.
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

/// The value for older recordings, which do not have it.
pub(crate) fn unknown() -> Medium {
    Medium::Unknown
}

/// Whether the process that a session file is tied to is tied to other sessions of its agent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Others {
    /// It is tied to no others: all that the agent keeps was read.
    None,
    /// It is tied to others, or that is not known.
    #[default]
    Unknown,
}

impl SessionFile {
    /// Creates a session file of which only names, times and the tie are known.
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

/// The tie of a session file to a window; PIDs are claimtop's own numbers.
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
