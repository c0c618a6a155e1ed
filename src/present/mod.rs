//! One way to say a thing, for the screen, the commands and the report.

pub mod age;
pub mod map;
pub mod summary;
pub mod text;
pub mod tone;
pub(crate) mod words;
