//! What an issue holds, wherever it is read.

use jiff::Timestamp;

use crate::core::model::{ResourceKind, StatedClaim, Untrusted};

pub(crate) fn claim(id: Untrusted, since: Option<Timestamp>, surface: &'static str) -> StatedClaim {
    StatedClaim::new(ResourceKind::Task, id, surface, since)
}

/// Returns whether an issue of this status is somebody's.
pub(crate) fn is_taken(status: &str) -> bool {
    matches!(status, "in_progress" | "hooked")
}
