//! Real processes in other namespaces than claimtop's, and a `/proc` that hides some: a live process is never reported
//! dead, seen from either side.
//!
//! Every process that is ended here was started here.

mod churn;
mod descents;
mod hidden;
mod mounts;
mod overlay;
mod pids;
mod stage;
mod times;
mod tombstones;
