//! Rows of databases, as the road needs them: read, change together or not at all, read back.

pub mod postgres;
pub mod sqlite;

use std::collections::BTreeMap;
use std::path::Path;

use super::trouble::Trouble;
use crate::core::model::record::format::Format;
use crate::core::model::row::{Columns, RowChange};
use crate::source::sqlite::copies::{COPIES, Copies};

/// The databases of one system.
pub trait Rows: Send + Sync {
    /// Reads the columns of one row that a release relies on or changes; `None` when there is no
    /// such row.
    ///
    /// # Errors
    /// It cannot be read, or it is never touched.
    fn row(&self, database: &str, table: &str, id: &str) -> Result<Option<Columns>, Trouble>;

    /// Copies a whole database into an empty file of claimtop's own.
    ///
    /// # Errors
    /// It cannot be copied whole.
    fn back_up(&self, database: &str, to: &Path) -> Result<(), Trouble>;

    /// Changes rows in one transaction, only if every one of them is as it was seen, and
    /// `agrees` says so while nobody else can write.
    ///
    /// # Errors
    /// Nothing was changed; or, after [`Trouble::Unsure`], nobody knows.
    fn apply(
        &self,
        database: &str,
        changes: &[RowChange],
        agrees: &mut dyn FnMut() -> Result<(), Trouble>,
    ) -> Result<(), Trouble>;

    /// Lets the database take back what an interrupted transaction left, so that it can be read.
    ///
    /// # Errors
    /// It cannot be opened.
    fn settle(&self, _database: &str) -> Result<(), Trouble> {
        Ok(())
    }

    /// Says how rows stand right after a change was done; empty where its commit says all.
    fn told(&self, _database: &str, _changes: &[RowChange]) -> String {
        String::new()
    }

    /// Reads back how rows stand.
    fn standing(&self, database: &str, changes: &[RowChange]) -> Standing {
        let mut standing = None;
        if let Err(trouble) = self.settle(database) {
            return Standing::Unknown(trouble.to_string());
        }
        for change in changes {
            let one = match self.row(database, &change.table, &change.id) {
                Err(trouble) => return Standing::Unknown(trouble.to_string()),
                Ok(Some(columns)) if columns == change.before => Standing::Before,
                Ok(Some(columns)) if columns == change.after => Standing::After,
                Ok(_) => return Standing::Other(format!("{} {}", change.table, change.id)),
            };
            if standing.get_or_insert_with(|| one.clone()) != &one {
                return Standing::Other(format!("{} {}", change.table, change.id));
            }
        }
        standing.unwrap_or(Standing::Before)
    }
}

/// How the rows of a change stand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// All are as they were.
    Before,
    /// All are as they were to become.
    After,
    /// This one is neither, or not like the others: somebody else has changed it.
    Other(String),
    /// They cannot be read now.
    Unknown(String),
}

/// The databases of every system that has some.
pub struct Stores(BTreeMap<Format, Box<dyn Rows>>);

impl Stores {
    /// Knows those systems whose databases are plain files; copies go into the state folder.
    pub fn new(state: &Path) -> Self {
        let mut stores = Self(BTreeMap::new());
        let copies = Copies::below(&state.join(COPIES));
        stores.insert(Format::Obra, Box::new(sqlite::Sqlite { copies }));
        stores
    }

    /// Adds the databases of a system.
    pub fn insert(&mut self, format: Format, rows: Box<dyn Rows>) {
        self.0.insert(format, rows);
    }

    /// Returns the databases of a system.
    pub(super) fn of(&self, format: Format) -> Result<&dyn Rows, Trouble> {
        let none = || Trouble::Never(format!("no database of {} is set up", format.name()));
        self.0.get(&format).map(|rows| &**rows).ok_or_else(none)
    }
}
