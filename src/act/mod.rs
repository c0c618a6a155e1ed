//! The only module that changes anything in the world.
//!
//! Every action takes one road, and its stations are types, so that none can be left out:
//!
//! [`road::Seen`] (a plan with the prints of its files) -> [`road::Confirmed`] (a person gave
//! what that very state asks for) -> [`road::Verified`] (looked at again under the lock, and
//! bound to it) -> [`road::Receipt`].
//!
//! Two movements carry everything: *take* moves a file out of the world into the parked folder
//! and looks at it there, *put* moves a parked file to where nothing lies. Neither overwrites,
//! and every movement is journalled before it begins.

pub mod disk;
mod entire;
pub mod hand;
pub mod lock;
mod movement;
mod planned;
pub mod prune;
mod recover;
pub mod road;
mod sight;
pub mod system;
pub mod trouble;
pub mod undo;
pub mod witness;
