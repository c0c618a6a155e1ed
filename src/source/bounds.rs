//! The bounds of what is read.

pub use super::bindings::MAX_NOTES as NOTES;
pub use super::collect::MAX_KEPT as KEPT_FILES;
pub use super::obra::MAX_ROWS as ROWS;
pub use super::repos::MAX_REPOS as REPOS;
