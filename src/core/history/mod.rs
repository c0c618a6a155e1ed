//! What was: the journal, what changed between looks, recordings.

pub mod change;
pub mod diff;
pub mod journal;
pub mod recording;
pub mod subject;
pub mod timeline;
