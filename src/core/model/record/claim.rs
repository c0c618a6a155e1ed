//! What a session holds according to its record.

use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::fixed;
use crate::core::model::text::named::named;
use crate::core::model::{Untrusted, Word};

named! {
    /// What a claim holds. The names are the interface's.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
    pub enum ResourceKind {
        /// A specialist persona (Maia).
        AgentRole = "agent-role",
        /// A project's one session slot (observability).
        Project = "project",
        /// A working tree.
        Worktree = "worktree",
        /// A branch, also a shadow branch.
        Branch = "branch",
        /// A set of files.
        Files = "files",
        /// A work item (LEO).
        WorkItem = "work-item",
        /// A task.
        Task = "task",
        /// A session of an agent.
        Session = "session",
        /// A lock.
        Lock = "lock",
    }
}

/// One thing that can be held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// The kind of thing.
    pub kind: ResourceKind,
    /// Its name within its kind.
    pub id: Untrusted,
}

/// What one place states about a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurfaceState {
    /// It states the same.
    Agrees,
    /// It names another holder.
    Disagrees,
    /// It should state the claim but does not.
    Missing,
    /// It could not be read.
    Unread,
}

/// One place where a claim is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    /// The place, such as `file` or `claude_sessions.sd_key`.
    #[serde(deserialize_with = "fixed::word")]
    pub name: Word,
    /// What it states.
    pub state: SurfaceState,
}

/// A claim as stated by one record, before it is judged.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StatedClaim {
    /// What is held.
    pub resource: Resource,
    /// Since when, if stored.
    pub since: Option<Timestamp>,
    /// The places where it is written.
    pub surfaces: Arc<[Surface]>,
}

impl StatedClaim {
    /// Creates a claim that is written in one place.
    pub(crate) fn new(
        kind: ResourceKind,
        id: impl Into<Untrusted>,
        surface: Word,
        since: Option<Timestamp>,
    ) -> Self {
        let surfaces = [Surface { name: surface, state: SurfaceState::Agrees }].into();
        Self { resource: Resource { kind, id: id.into() }, since, surfaces }
    }
}
