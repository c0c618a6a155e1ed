//! One way to say a thing, for the screen, the commands and the report.

pub mod age;
pub(crate) mod ladder;
pub mod lookup;
pub mod map;
pub(crate) mod page;
pub(crate) mod plan;
pub(crate) mod sources;
pub mod summary;
pub mod text;
pub mod tone;
pub(crate) mod words;
