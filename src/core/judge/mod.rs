//! What it means: windows, verdicts, claims, findings and stories, all from a snapshot.

pub mod agent;
pub(crate) mod binding;
pub(crate) mod claim;
pub(crate) mod context;
pub(crate) mod edited;
pub(crate) mod git;
pub(crate) mod glob;
pub(crate) mod liveness;
pub(crate) mod needs;
pub(crate) mod place;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod stand_in;
pub(crate) mod story;
pub(crate) mod successors;
pub(crate) mod times;
pub(crate) mod tombstone;
pub(crate) mod window;
pub(crate) mod world;
