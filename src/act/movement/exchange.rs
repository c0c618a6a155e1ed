//! Giving a file new content at once, and parking the old.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{At, Hands, aside, sha256, shown};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::trouble::Trouble;
use crate::core::file::FileImage;
use crate::core::journal::Print;

impl<D: Disk> Hands<'_, D> {
    /// Gives a file new content at once, and parks the old one if it is what `print` says.
    /// Otherwise everything is as it was.
    pub(in crate::act) fn exchange(
        &self,
        path: &Path,
        parked: &str,
        print: &Print,
        new: &[u8],
        now: Timestamp,
    ) -> Result<FileImage, Trouble> {
        let at = self.at(path)?;
        self.expect_unlocked(&at)?;
        let own = aside(parked);
        let beside = (&at.folder, OsStr::new(&own));
        let failed = |errno| match errno {
            Errno::NOENT => Trouble::Changed(format!("{} has gone", shown(path))),
            errno => Trouble::at("exchange", path)(errno),
        };
        let own_path = path.with_file_name(&own);
        let print_of_new = Print { modified_at: now, ..print.clone() };
        self.write_new((beside, &own_path), new, &print_of_new, Some((at.spot(), path)), failed)?;
        if let Err(errno) = self.disk.exchange(&at.folder, at.name(), beside.1) {
            // What was written was never in use.
            return Err(self.without(beside, &own_path, failed(errno)));
        }
        let taken = self.expect(beside, path, print).and_then(|image| {
            match self.disk.rename_new(beside, self.in_park(parked), Side::Private) {
                Ok(()) => Ok(image),
                Err(Errno::XDEV) => self.park_far(beside, path, parked, print),
                Err(errno) => Err(Trouble::at("park", path)(errno)),
            }
        });
        taken.map_err(|trouble| self.exchange_back(&at, beside, new, trouble))
    }

    fn exchange_back(
        &self,
        at: &At<D::Folder>,
        beside: Spot<'_, D::Folder>,
        new: &[u8],
        trouble: Trouble,
    ) -> Trouble {
        let own = at.path.with_file_name(beside.1);
        match self.swap(at, beside, &sha256(new)) {
            Ok(()) => self.without(beside, &own, trouble),
            Err(_) => Trouble::Stuck(format!(
                "{trouble}; somebody wrote {} meanwhile, and what was there before lies beside it as {}",
                shown(&at.path),
                beside.1.display()
            )),
        }
    }

    /// Exchanges what lies at a place with what lies beside it, if it has this content. When
    /// somebody has put something else there at the last moment, theirs goes back to its place.
    pub(in crate::act) fn swap(
        &self,
        at: &At<D::Folder>,
        beside: Spot<'_, D::Folder>,
        sha256: &str,
    ) -> Result<(), Errno> {
        if !self.has_content(at.spot(), sha256) {
            return Err(Errno::EXIST);
        }
        self.disk.exchange(&at.folder, at.name(), beside.1)?;
        if self.has_content(beside, sha256) {
            return Ok(());
        }
        self.disk.exchange(&at.folder, at.name(), beside.1)?;
        Err(Errno::EXIST)
    }
}
