//! Database rows for actions: read, change together or not at all, read back.

#[cfg_attr(not(feature = "postgres"), path = "postgres/stub.rs")]
pub(crate) mod postgres;
pub(crate) mod sqlite;
pub(crate) mod store;
pub(crate) mod update;

use std::collections::BTreeMap;
use std::path::Path;

use crate::act::error::ActionError;
use crate::act::rows::store::Rows;
use crate::core::model::Format;
use crate::source::database::sqlite::copies::{COPIES, Copies};

/// The databases of every system that has any.
pub struct Stores(BTreeMap<Format, Box<dyn Rows>>);

impl Stores {
    /// Creates the stores of systems whose databases are plain files; copies go into the state folder.
    pub(crate) fn new(state: &Path) -> Self {
        let mut stores = Self(BTreeMap::new());
        let copies = Copies::in_folder(&state.join(COPIES));
        stores.insert(Format::Obra, Box::new(sqlite::Sqlite { copies }));
        stores
    }

    /// Adds the databases of a system.
    pub fn insert(&mut self, format: Format, rows: Box<dyn Rows>) {
        self.0.insert(format, rows);
    }

    /// Returns the databases of a system.
    pub(crate) fn for_format(&self, format: Format) -> Result<&dyn Rows, ActionError> {
        let none = || ActionError::Never(format!("no database of {} is set up", format.name()));
        self.0.get(&format).map(|rows| &**rows).ok_or_else(none)
    }
}
