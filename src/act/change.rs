//! The movement of rows: copy the database, change all rows or none, read back.

use rustix::io::Errno;

use super::disk::Disk;
use super::movement::Hands;
use super::rows::Standing;
use super::trouble::Trouble;
use crate::core::history::journal::{Movement, Outcome, Parked};
use crate::core::model::action::Ended;
use crate::core::model::record::format::Format;
use crate::core::model::row::RowChange;

/// Rows that change together.
pub(super) struct Change<'a> {
    pub(super) format: Format,
    pub(super) database: &'a str,
    pub(super) changes: &'a [RowChange],
    pub(super) backup: Option<&'a str>,
}

impl<'a> Change<'a> {
    /// Returns the change that a movement is.
    pub(super) fn of(movement: &'a Movement) -> Option<Self> {
        match movement {
            Movement::Rows { format, database, changes, backup } => {
                Some(Self { format: *format, database, changes, backup: backup.as_deref() })
            }
            Movement::Take { .. } | Movement::Put { .. } | Movement::Exchange { .. } => None,
        }
    }

    /// Does it if `agrees` says so while nobody else can write.
    ///
    /// # Errors
    /// Nothing was changed, and no copy is left; or nobody knows ([`Trouble::Unsure`]).
    pub(super) fn carry_out<D: Disk>(
        &self,
        hands: &Hands<'_, D>,
        agrees: &mut dyn FnMut() -> Result<(), Trouble>,
    ) -> Result<(), Trouble> {
        let rows = hands.stores.of(self.format)?;
        let done = self.back_up(hands).and_then(|()| rows.apply(self.database, self.changes, agrees));
        let done = match done {
            Err(Trouble::Unsure(why)) => match rows.standing(self.database, self.changes) {
                Standing::After => Ok(()),
                Standing::Before => Err(Trouble::Refused(why)),
                Standing::Other(row) => Err(Trouble::Stuck(format!("{why}; {}", moved_on(&row)))),
                Standing::Unknown(then) => return Err(Trouble::Unsure(format!("{why}; then {then}"))),
            },
            done => done,
        };
        done.inspect_err(|_| self.forget_backup(hands))
    }

    fn back_up<D: Disk>(&self, hands: &Hands<'_, D>) -> Result<(), Trouble> {
        let Some(parked) = self.backup else { return Ok(()) };
        let park = hands.park(&Parked::in_state(parked))?;
        // The empty file is for the owner only, and SQLite fills it.
        let mut file = hands.disk.create(park.spot()).map_err(Trouble::at("make", &park.path))?;
        hands.stores.of(self.format)?.back_up(self.database, &park.path)?;
        hands.disk.sync_file(&mut file).map_err(Trouble::at("bring to the disk", &park.path))?;
        hands.settle(&park)
    }

    /// Removes the copy of a database that was not changed; it is worth nothing.
    fn forget_backup<D: Disk>(&self, hands: &Hands<'_, D>) {
        let _ = self.remove_backup(hands);
    }

    /// Says what is read back once it was done.
    pub(super) fn read_back<D: Disk>(&self, hands: &Hands<'_, D>) -> String {
        let rows = hands.stores.of(self.format);
        rows.map_or_else(|_| String::new(), |rows| rows.told(self.database, self.changes))
    }

    /// Reads back how it ended that was cut off; `None` while that cannot be told.
    ///
    /// # Errors
    /// The copy of a database that was not changed cannot be removed.
    pub(super) fn found<D: Disk>(&self, hands: &Hands<'_, D>) -> Result<Option<Outcome>, Trouble> {
        let standing = match hands.stores.of(self.format) {
            Ok(rows) => rows.standing(self.database, self.changes),
            Err(trouble) => Standing::Unknown(trouble.to_string()),
        };
        let (ended, detail) = match standing {
            Standing::After => (Ended::Done, "it was cut off, and is done".to_owned()),
            Standing::Before => {
                self.remove_backup(hands)?;
                (Ended::Failed, "it was cut off; every row is as it was".to_owned())
            }
            Standing::Other(row) => (Ended::Stuck, format!("it was cut off; {}", moved_on(&row))),
            Standing::Unknown(_) => return Ok(None),
        };
        Ok(Some(Outcome { ended, detail }))
    }

    fn remove_backup<D: Disk>(&self, hands: &Hands<'_, D>) -> Result<(), Trouble> {
        let parked = self.backup.map(Parked::in_state);
        let park = parked.map(|parked| hands.park_if_any(&parked)).transpose()?.flatten();
        match park.as_ref().map_or(Ok(()), |park| hands.disk.remove(park.spot())) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(Trouble::at("remove", &park.map(|park| park.path).unwrap_or_default())(errno)),
        }
    }
}

fn moved_on(row: &str) -> String {
    format!("{row} is neither as it was nor as it was to become: somebody else has changed it")
}
