//! Judges a snapshot: windows, verdicts, claims, findings and stories.

pub(crate) mod claim;
pub(crate) mod clock;
pub(crate) mod edited;
pub(crate) mod git;
pub(crate) mod glob;
pub(crate) mod left_over;
pub(crate) mod liveness;
pub(crate) mod needs;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod story;
pub(crate) mod successors;
pub(crate) mod tombstone;
pub mod window;
pub(crate) mod world;
