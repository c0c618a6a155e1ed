//! The tables of LEO's database that matter, their columns, and their rows.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::super::id;
use crate::format::reading::cells::Cells;

/// The table of sessions, whose `sd_key` mirrors the item that a session works on.
pub const SESSIONS: &str = "claude_sessions";

/// The table of strategic directives, which name their owner.
pub const DIRECTIVES: &str = "strategic_directives_v2";

/// The table of quick fixes, which name theirs.
pub const QUICK_FIXES: &str = "quick_fixes";

/// The table of files that sessions keep for themselves.
pub const FILE_LOCKS: &str = "file_claim_locks";

/// The table of events in sessions' lives.
pub const EVENTS: &str = "session_lifecycle_events";

/// The table of messages between sessions.
pub const MESSAGES: &str = "session_coordination";

/// The column that names a row of a table.
pub(crate) fn key_column(table: &str) -> &'static str {
    match table {
        SESSIONS => "session_id",
        DIRECTIVES => "sd_key",
        FILE_LOCKS => "file_path",
        _ => "id",
    }
}

/// The columns of a table that are read if they exist.
pub(crate) fn columns(table: &str) -> &'static [&'static str] {
    match table {
        SESSIONS => &[
            "session_id", "id", "sd_key", "sd_id", "track", "tty", "pid", "hostname", "codebase",
            "machine_id", "terminal_id", "status", "released_reason", "released_at", "stale_reason",
            "current_branch", "worktree_path", "current_tool", "current_tool_expected_end_at", "claimed_at",
            "heartbeat_at", "created_at", "updated_at", "process_alive_at", "expected_silence_until",
            "last_tool_at", "is_virtual", "is_alive", "has_uncommitted_changes", "parent_session_id",
            "metadata",
        ],
        DIRECTIVES => &[
            "sd_key", "title", "status", "current_phase", "progress_percentage", "parent_sd_id", "id",
            "claiming_session_id", "updated_at",
        ],
        QUICK_FIXES => &[
            "id", "title", "status", "claiming_session_id", "pr_url", "commit_sha", "created_at",
            "updated_at",
        ],
        FILE_LOCKS => &["file_path", "holder_session_id", "sd_id", "branch", "claimed_at", "heartbeat_at"],
        _ => &[],
    }
}

/// The rows that were read. Released sessions that hold nothing are left out, and so is finished work without a claim.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tables {
    /// Of [`SESSIONS`].
    pub sessions: Vec<Arc<Cells>>,
    /// Of [`DIRECTIVES`].
    pub directives: Vec<Arc<Cells>>,
    /// Of [`QUICK_FIXES`].
    pub quick_fixes: Vec<Arc<Cells>>,
    /// Of [`FILE_LOCKS`].
    pub file_locks: Vec<Arc<Cells>>,
    /// The newest of [`EVENTS`] of each session: `session_id`, `event_type`, `reason`,
    /// `created_at`.
    pub events: Vec<Cells>,
    /// How many [`MESSAGES`] wait for each session: `target_session`, `number`.
    pub messages: Vec<Cells>,
    /// The tables of owners that could not be read.
    pub unread: Vec<&'static str>,
}

/// Returns the work item that a session's own row names, in new and old deployments.
pub(super) fn mirrored(session: &Cells) -> Option<&str> {
    session.text("sd_key").or_else(|| session.text("sd_id")).filter(|key| !key.is_empty())
}

/// Returns the session that an item names as its owner.
pub(super) fn owner(item: &Cells) -> Option<&str> {
    item.text("claiming_session_id").filter(|owner| !owner.is_empty())
}

/// The sessions' IDs by the keys of their rows, to which `file_claim_locks.holder_session_id` refers.
pub(super) struct SessionKeys<'a>(BTreeMap<&'a str, &'a str>);

impl<'a> SessionKeys<'a> {
    pub(super) fn new(sessions: &'a [Arc<Cells>]) -> Self {
        Self(sessions.iter().filter_map(|row| Some((row.text("id")?, row.text("session_id")?))).collect())
    }

    /// Returns the session that holds a lock. If no row has that key, as in deployments without it, the lock names the
    /// session itself.
    pub(super) fn holder(&self, lock: &'a Cells) -> Option<&'a str> {
        let holder = lock.text("holder_session_id")?;
        Some(self.0.get(holder).copied().unwrap_or(holder))
    }
}

/// Returns whether a session's ID names one at all: the nil UUID once stood for "not set".
pub(super) fn is_session(id: &str) -> bool {
    id::judged(id).is_ok()
}
