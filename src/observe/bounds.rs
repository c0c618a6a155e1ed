//! The bounds of reads.

pub(crate) use crate::observe::collect::MAX_KEPT as KEPT_FILES;
pub(crate) use crate::source::database::obra::MAX_ROWS as ROWS;
pub(crate) use crate::source::own::bindings::MAX_NOTES as NOTES;
pub(crate) use crate::source::repos::find::MAX_REPOS as REPOS;
