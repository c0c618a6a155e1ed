//! Looks at what an action would touch, and verifies it once more under the lock.

pub(crate) mod confirmed;
pub(super) mod holder;
mod inspect;
mod look;
pub(super) mod prepared;
pub(crate) mod preview;
