//! LEO's database in a build without PostgreSQL: the state of its rows is unknown, and none is changed.

use std::path::Path;

use crate::act::error::ActionError;
use crate::act::rows::store::Rows;
use crate::core::model::{Columns, RowChange};
use crate::source::database::postgres::{Target, UNREAD};

/// LEO's database.
pub struct Postgres {
    target: Target,
}

impl Postgres {
    /// Keeps nothing of it.
    ///
    /// # Errors
    /// Never.
    pub fn new(target: Target) -> std::io::Result<Self> {
        Ok(Self { target })
    }

    fn refused<T>(&self) -> Result<T, ActionError> {
        Err(ActionError::Refused(format!("{} was {UNREAD}", self.target.name)))
    }
}

impl Rows for Postgres {
    fn row(&self, _database: &str, _table: &str, _id: &str) -> Result<Option<Columns>, ActionError> {
        self.refused()
    }

    fn back_up(&self, _database: &str, _to: &Path) -> Result<(), ActionError> {
        self.refused()
    }

    fn apply(
        &self,
        _database: &str,
        _changes: &[RowChange],
        _agrees: &mut dyn FnMut() -> Result<(), ActionError>,
    ) -> Result<(), ActionError> {
        self.refused()
    }
}
