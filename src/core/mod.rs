//! What the world means: identities, records, claims, verdicts and findings, all pure.

pub mod agent;
pub mod assess;
pub mod bound;
pub mod claim;
pub mod context;
pub mod evidence;
pub mod file;
pub mod finding;
pub mod git;
pub mod journal;
pub mod json;
pub mod key;
pub mod liveness;
pub mod plan;
pub mod process;
pub mod record;
pub mod report;
pub mod row;
pub mod rules;
pub mod shared;
pub mod snapshot;
pub mod story;
pub mod summary;
pub mod text;
pub mod window;
pub mod world;
