//! The only module that changes anything in the world.
//!
//! Every action goes through four states, each a type, so that none can be skipped:
//!
//! [`preflight::preview::Preview`] (a plan with the prints of its files) ->
//! [`preflight::confirmed::ConfirmedPlan`] (a person gave the answer that this very state requires) ->
//! [`execute::VerifiedPlan`] (looked at again under the lock, and bound to it) ->
//! [`execute::Receipt`].
//!
//! Two movements carry every file: *take* moves a file out of the world into the parked folder and looks at it there,
//! *put* moves a parked file to a free place. Neither overwrites, and every movement is journalled before it begins. A
//! third one changes rows of a database: all of them in one transaction and only if they are as they were seen
//! ([`rows`]). A fourth one ends processes ([`stop`]), and is the only one that cannot be reversed.

pub(crate) mod error;
pub(crate) mod execute;
pub(crate) mod executor;
#[cfg_attr(not(feature = "postgres"), path = "fleet/stub.rs")]
pub(crate) mod fleet;
pub(crate) mod fs;
pub(crate) mod look;
pub(crate) mod orders;
pub(crate) mod preflight;
pub(crate) mod prune;
mod recover;
pub(crate) mod rows;
pub(crate) mod rules;
pub(crate) mod state;
pub(crate) mod stop;
mod undo;
