//! Taking a file out of the world, to look at it where nobody else has it.

use std::path::Path;

use rustix::io::Errno;

use super::{At, Hands, shown};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::trouble::Trouble;
use crate::core::history::journal::{Parked, Print};
use crate::core::model::file::FileImage;

impl<D: Disk> Hands<'_, D> {
    /// Takes a file out of the world, and looks at it where nobody else has it: returns what was
    /// taken, if that is what `print` says. Otherwise it is back in its place.
    pub(in crate::act) fn take(
        &self,
        from: &Path,
        parked: &Parked,
        print: &Print,
    ) -> Result<FileImage, Trouble> {
        let (at, park) = (self.at(from)?, self.park(parked)?);
        self.expect_unlocked(&at)?;
        match self.disk.rename_new(at.spot(), park.spot(), Side::Private) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(Trouble::Changed(format!("{} has gone", shown(from)))),
            Err(errno) => return Err(Trouble::at("take", from)(errno)),
        }
        self.expect(park.spot(), from, print).map_err(|trouble| self.give_back(park.spot(), &at, trouble))
    }

    /// Puts a taken file back and returns the trouble that made it necessary, or a worse one.
    pub(super) fn give_back(
        &self,
        taken: Spot<'_, D::Folder>,
        at: &At<D::Folder>,
        trouble: Trouble,
    ) -> Trouble {
        match self.disk.rename_new(taken, at.spot(), Side::Public) {
            Ok(()) => trouble,
            Err(Errno::EXIST) => Trouble::Stuck(format!(
                "{trouble}; a newer file has come to {}, and the taken one stays parked",
                shown(&at.path)
            )),
            Err(errno) => {
                Trouble::Stuck(format!("{trouble}; then {}", Trouble::at("put back", &at.path)(errno)))
            }
        }
    }
}
