//! What it means: windows, verdicts, claims, findings and stories, all from a snapshot.

pub mod agent;
pub(crate) mod below;
pub(crate) mod binding;
pub(crate) mod claim;
pub(crate) mod context;
pub(crate) mod edited;
pub(crate) mod git;
pub(crate) mod glob;
pub(crate) mod left_by;
pub(crate) mod left_over;
pub(crate) mod left_tree;
pub(crate) mod liveness;
pub(crate) mod needs;
pub(crate) mod never_ended;
pub(crate) mod place;
pub(crate) mod rules;
pub(crate) mod session;
pub(crate) mod stand_in;
pub(crate) mod story;
pub(crate) mod successors;
pub(crate) mod taken_over;
pub(crate) mod times;
pub(crate) mod tombstone;
pub(crate) mod tool_shell;
pub(crate) mod window;
pub(crate) mod world;
