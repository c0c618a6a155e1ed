//! The bounds of what is read.

pub use crate::observe::collect::MAX_KEPT as KEPT_FILES;
pub use crate::source::bindings::MAX_NOTES as NOTES;
pub use crate::source::obra::MAX_ROWS as ROWS;
pub use crate::source::repos::find::MAX_REPOS as REPOS;
