//! The databases of one system, for actions.

use std::path::Path;

use crate::act::error::ActionError;
use crate::core::model::{Columns, RowChange};

/// The databases of one system.
pub trait Rows: Send + Sync {
    /// Reads the columns of one row that a release relies on or changes; `None` when there is no
    /// such row.
    ///
    /// # Errors
    /// It cannot be read, or must never be touched.
    fn row(&self, database: &str, table: &str, id: &str) -> Result<Option<Columns>, ActionError>;

    /// Copies a whole database into an empty file of claimtop's own.
    ///
    /// # Errors
    /// It cannot be copied whole.
    fn back_up(&self, database: &str, to: &Path) -> Result<(), ActionError>;

    /// Changes rows in one transaction, only if every one of them is as it was seen, and `agrees` succeeds while no
    /// other process can write.
    ///
    /// # Errors
    /// Nothing was changed; or, after [`ActionError::Unsure`], the outcome is unknown.
    fn apply(
        &self,
        database: &str,
        changes: &[RowChange],
        agrees: &mut dyn FnMut() -> Result<(), ActionError>,
    ) -> Result<(), ActionError>;

    /// Lets the database roll back an interrupted transaction, so that it can be read.
    ///
    /// # Errors
    /// It cannot be opened.
    fn settle(&self, _database: &str) -> Result<(), ActionError> {
        Ok(())
    }

    /// Describes the rows right after a change was done; empty if the commit is enough.
    fn after_text(&self, _database: &str, _changes: &[RowChange]) -> String {
        String::new()
    }

    /// Reads back the state of rows.
    fn state(&self, database: &str, changes: &[RowChange]) -> RowsState {
        let mut state = None;
        if let Err(error) = self.settle(database) {
            return RowsState::Unknown(error.to_string());
        }
        for change in changes {
            let one = match self.row(database, &change.table, &change.id) {
                Err(error) => return RowsState::Unknown(error.to_string()),
                Ok(Some(columns)) if columns == change.before => RowsState::Before,
                Ok(Some(columns)) if columns == change.after => RowsState::After,
                Ok(_) => return RowsState::Other(format!("{} {}", change.table, change.id)),
            };
            if state.get_or_insert_with(|| one.clone()) != &one {
                return RowsState::Other(format!("{} {}", change.table, change.id));
            }
        }
        state.unwrap_or(RowsState::Before)
    }
}

/// The state of a change's rows.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RowsState {
    Before,
    /// All have their new values.
    After,
    /// This one is neither, or differs from the others: another program has changed it.
    Other(String),
    /// They cannot be read now.
    Unknown(String),
}
