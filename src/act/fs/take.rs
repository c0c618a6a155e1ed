//! Takes a file out of its place, to look at it where no other process has it.

use std::path::Path;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side, Spot};
use crate::act::fs::files::{FileRef, Files, shown};
use crate::core::history::movement::{ParkLocation, Print};
use crate::core::model::FileImage;

impl<D: Disk> Files<'_, D> {
    /// Takes a file out of its place and looks at it where no other process has it; returns it if it matches `print`.
    /// Otherwise it is back in its place.
    pub(crate) fn take(
        &self,
        from: &Path,
        parked: &ParkLocation,
        print: &Print,
    ) -> Result<FileImage, ActionError> {
        let (at, park) = (self.entry(from)?, self.park(parked)?);
        self.expect_unlocked(&at)?;
        match self.disk.rename_new(at.spot(), park.spot(), Side::Private) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(ActionError::Changed(format!("{} is gone", shown(from)))),
            Err(errno) => return Err(ActionError::failed_at("take", from)(errno)),
        }
        self.expect(park.spot(), from, print).map_err(|error| self.give_back(park.spot(), &at, error))
    }

    /// Puts a taken file back and returns the error that made it necessary, or a worse one.
    pub(crate) fn give_back(
        &self,
        taken: Spot<'_, D::Folder>,
        at: &FileRef<D::Folder>,
        error: ActionError,
    ) -> ActionError {
        match self.disk.rename_new(taken, at.spot(), Side::Public) {
            Ok(()) => error,
            Err(Errno::EXIST) => ActionError::Stuck(format!(
                "{error}; there is a newer file at {}, and the taken one stays parked",
                shown(&at.path)
            )),
            Err(errno) => ActionError::Stuck(format!(
                "{error}; then {}",
                ActionError::failed_at("put back", &at.path)(errno)
            )),
        }
    }
}
