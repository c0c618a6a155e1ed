//! What it means: windows, verdicts, claims, findings and stories, all from a snapshot.

pub mod agent;
pub mod binding;
pub mod claim;
pub mod context;
pub mod git;
pub mod glob;
pub mod liveness;
pub mod place;
pub mod rules;
pub mod session;
pub mod stand_in;
pub mod story;
pub mod successors;
pub mod times;
pub mod tombstone;
pub mod window;
pub mod world;
