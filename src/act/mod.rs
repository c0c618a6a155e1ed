//! The only module that changes anything in the world.
//!
//! Every action takes one road, and its stations are types, so that none can be left out:
//!
//! [`road::Seen`] (a plan with the prints of its files) -> [`road::Confirmed`] (a person gave
//! what that very state asks for) -> [`road::Verified`] (looked at again under the lock, and
//! bound to it) -> [`road::Receipt`].
//!
//! Two movements carry every file: *take* moves a file out of the world into the parked folder
//! and looks at it there, *put* moves a parked file to where nothing lies. Neither overwrites,
//! and every movement is journalled before it begins. A third one changes rows of a database:
//! all of them in one transaction and only if they are as they were seen ([`rows`]).

pub mod bind;
mod change;
pub mod disk;
mod entire;
pub mod follow;
pub mod hand;
pub mod lock;
mod movement;
mod planned;
pub mod prune;
mod recover;
pub mod ring;
pub mod road;
pub mod rows;
mod sight;
pub mod system;
pub mod tombstones;
pub mod trouble;
pub mod undo;
pub mod witness;
