//! Which names in a folder matter.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

/// Names in single folders that none of our formats know, `*` standing for anything: of formats that a person has
/// described, and of databases.
pub(crate) type Names = BTreeMap<PathBuf, BTreeSet<String>>;
