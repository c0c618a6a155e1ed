//! Looks at the files that an action would touch, and verifies it again under the lock.

pub(crate) mod confirmed;
pub(super) mod holder;
mod inspect;
mod look;
pub(super) mod prepared;
pub(crate) mod preview;
mod rescue;
mod setup;
pub(super) mod undo;
