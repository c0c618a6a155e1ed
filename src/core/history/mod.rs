//! History: the journal, changes between looks, recordings.

pub(crate) mod change;
pub(crate) mod dead_holds;
pub(crate) mod diff;
pub(crate) mod first_told;
pub(crate) mod gone;
pub(crate) mod journal;
pub(crate) mod movement;
pub mod recording;
pub(crate) mod subject;
pub(crate) mod timeline;
