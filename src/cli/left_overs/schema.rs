//! The name of the JSON schema of all that `leftovers` prints.

pub(super) const SCHEMA: &str = "claimtop.leftovers.v1";
