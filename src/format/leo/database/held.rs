//! Owners of items of work and of file locks.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::core::model::WorkItem;
use crate::format::leo::database::tables::SessionKeys;
use crate::format::reading::cells::Cells;

/// The items of work by key and by the sessions that they name, and the sessions that keep files.
pub(crate) struct Holdings<'a> {
    pub(crate) owned: BTreeMap<&'a str, Vec<&'a WorkItem>>,
    pub(crate) by_key: BTreeMap<&'a str, &'a WorkItem>,
    /// The sessions that keep a file for themselves.
    pub(crate) keepers: BTreeSet<&'a str>,
}

impl<'a> Holdings<'a> {
    pub(super) fn from_rows(
        work: &'a [WorkItem],
        file_locks: &'a [Arc<Cells>],
        keys: &SessionKeys<'a>,
    ) -> Self {
        let mut owned: BTreeMap<&str, Vec<&WorkItem>> = BTreeMap::new();
        for item in work {
            if let Some(owner) = item.owner.as_ref() {
                owned.entry(owner.raw()).or_default().push(item);
            }
        }
        let keepers = file_locks.iter().filter_map(|row| keys.holder(row)).collect();
        Self { owned, by_key: work.iter().map(|item| (item.key.raw(), item)).collect(), keepers }
    }
}
