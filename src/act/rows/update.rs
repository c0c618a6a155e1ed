//! The movement of rows: copy the database, change all rows or none, read back.

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::Files;
use crate::act::rows::store::RowsState;
use crate::core::history::journal::Outcome;
use crate::core::history::movement::{Movement, ParkLocation};
use crate::core::model::{EndResult, Format, RowChange};

/// Rows that change together.
pub(crate) struct RowUpdate<'a> {
    pub(crate) format: Format,
    pub(crate) database: &'a str,
    pub(crate) changes: &'a [RowChange],
    pub(crate) backup: Option<&'a str>,
}

impl<'a> RowUpdate<'a> {
    pub(crate) fn from_movement(movement: &'a Movement) -> Option<Self> {
        match movement {
            Movement::Rows { format, database, changes, backup } => {
                Some(Self { format: *format, database, changes, backup: backup.as_deref() })
            }
            Movement::Take { .. }
            | Movement::Put { .. }
            | Movement::Exchange { .. }
            | Movement::Stop { .. } => None,
        }
    }

    /// Changes the rows if `agrees` succeeds while no other process can write.
    ///
    /// # Errors
    /// Nothing was changed, and no copy is left; or the outcome is unknown ([`ActionError::Unsure`]).
    pub(crate) fn carry_out<D: Disk>(
        &self,
        files: &Files<'_, D>,
        agrees: &mut dyn FnMut() -> Result<(), ActionError>,
    ) -> Result<(), ActionError> {
        let rows = files.stores.for_format(self.format)?;
        let done = self.back_up(files).and_then(|()| rows.apply(self.database, self.changes, agrees));
        let done = match done {
            Err(ActionError::Unsure(why)) => match rows.state(self.database, self.changes) {
                RowsState::After => Ok(()),
                RowsState::Before => Err(ActionError::Refused(why)),
                RowsState::Other(row) => Err(ActionError::Stuck(format!("{why}; {}", moved_on(&row)))),
                RowsState::Unknown(then) => return Err(ActionError::Unsure(format!("{why}; then {then}"))),
            },
            done => done,
        };
        done.inspect_err(|_| self.forget_backup(files))
    }

    fn back_up<D: Disk>(&self, files: &Files<'_, D>) -> Result<(), ActionError> {
        let Some(parked) = self.backup else { return Ok(()) };
        let park = files.park(&ParkLocation::in_state(parked))?;
        // The empty file is for the owner only, and SQLite fills it.
        let mut file = files.disk.create(park.spot()).map_err(ActionError::failed_at("make", &park.path))?;
        files.stores.for_format(self.format)?.back_up(self.database, &park.path)?;
        files.disk.sync_file(&mut file).map_err(ActionError::failed_at("sync", &park.path))?;
        files.settle(&park)
    }

    /// Removes the copy of a database that was not changed; it is worthless.
    fn forget_backup<D: Disk>(&self, files: &Files<'_, D>) {
        let _ = self.remove_backup(files);
    }

    /// Describes the rows that are read back after the change.
    pub(crate) fn read_back<D: Disk>(&self, files: &Files<'_, D>) -> String {
        let rows = files.stores.for_format(self.format);
        rows.map_or_else(|_| String::new(), |rows| rows.after_text(self.database, self.changes))
    }

    /// Reads back how an interrupted update ended; `None` while that is unknown.
    ///
    /// # Errors
    /// The copy of a database that was not changed cannot be removed.
    pub(crate) fn found<D: Disk>(&self, files: &Files<'_, D>) -> Result<Option<Outcome>, ActionError> {
        let state = match files.stores.for_format(self.format) {
            Ok(rows) => rows.state(self.database, self.changes),
            Err(error) => RowsState::Unknown(error.to_string()),
        };
        let (ended, detail) = match state {
            RowsState::After => (EndResult::Done, "it was interrupted, and is done".to_owned()),
            RowsState::Before => {
                self.remove_backup(files)?;
                (EndResult::Failed, "it was interrupted; every row is as it was".to_owned())
            }
            RowsState::Other(row) => (EndResult::Stuck, format!("it was interrupted; {}", moved_on(&row))),
            RowsState::Unknown(_) => return Ok(None),
        };
        Ok(Some(Outcome::new(ended, detail)))
    }

    fn remove_backup<D: Disk>(&self, files: &Files<'_, D>) -> Result<(), ActionError> {
        let parked = self.backup.map(ParkLocation::in_state);
        let park = parked.map(|parked| files.park_if_any(&parked)).transpose()?.flatten();
        match park.as_ref().map_or(Ok(()), |park| files.disk.remove(park.spot())) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => {
                Err(ActionError::failed_at("remove", &park.map(|park| park.path).unwrap_or_default())(errno))
            }
        }
    }
}

fn moved_on(row: &str) -> String {
    format!("{row} has neither its old nor its new values: something else has changed it")
}
