//! The meaning of the names of entire's files.

use sha2::{Digest, Sha256};

use crate::core::model::text::hex;

/// Returns the kind of a file beside the states; unknown names are ignored.
pub(super) fn in_sessions(name: &str) -> Option<Kind> {
    match name {
        _ if name.ends_with(".tmp") && name.contains(".json") => Some(Kind::Temp),
        _ if name.ends_with(".json") && name.len() > 5 => Some(Kind::State),
        _ if name.ends_with(".model") && name.len() > 6 => Some(Kind::Model),
        _ => None,
    }
}

/// Returns the kind of a file beside the locks.
pub(super) fn in_locks(name: &str) -> Option<Kind> {
    name.ends_with(".lock").then_some(Kind::Lock)
}

/// Returns the kind of a file of the live registry; the existence of its locks means nothing.
pub(super) fn in_live_sessions(name: &str) -> Option<Kind> {
    (name.ends_with(".json") && name.len() > 5).then_some(Kind::Live)
}

/// Returns the agent's own ID of a session: legacy IDs have the prefix `YYYY-MM-DD-`.
pub(super) fn agent_id(id: &str) -> &str {
    if has_date(id) { id.get(11..).unwrap_or(id) } else { id }
}

/// Returns whether an ID begins with a date, as entire's did until January 2026.
pub(super) fn has_date(id: &str) -> bool {
    let digits = |range: std::ops::Range<usize>| {
        id.get(range).is_some_and(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let dashes = [4, 7, 10].iter().all(|at| id.as_bytes().get(*at) == Some(&b'-'));
    id.len() > 11 && dashes && digits(0..4) && digits(5..7) && digits(8..10)
}

/// Returns the shadow branch of a base commit in a working tree: seven digits of the commit,
/// six of the hash of the tree's name (empty for the main one).
pub(super) fn shadow_branch(base_commit: &str, worktree_id: &str) -> Option<String> {
    let commit = base_commit.get(..7)?;
    let hash = Sha256::digest(worktree_id.as_bytes());
    Some(format!("entire/{commit}-{}", hex(hash.iter().take(3))))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Kind {
    /// `entire-sessions/<id>.json`.
    State,
    /// `<id>.json.tmp` or `<id>.json.<random>.tmp` beside it.
    Temp,
    /// `<id>.model` beside it.
    Model,
    /// `entire-session-locks/<id>.lock`.
    Lock,
    /// `live-sessions/<id>.json` in the cache.
    Live,
}
