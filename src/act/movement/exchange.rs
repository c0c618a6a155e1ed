//! Giving a file new content at once, and parking the old.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{At, Hands, aside, sha256, shown};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::trouble::Trouble;
use crate::core::history::journal::{Parked, Print};
use crate::core::model::file::FileImage;

impl<D: Disk> Hands<'_, D> {
    /// Gives a file new content at once, and parks the old one if it is what `print` says.
    /// Otherwise everything is as it was.
    pub(in crate::act) fn exchange(
        &self,
        path: &Path,
        parked: &Parked,
        print: &Print,
        new: &[u8],
        now: Timestamp,
    ) -> Result<FileImage, Trouble> {
        let (at, park) = (self.at(path)?, self.park(parked)?);
        self.expect_unlocked(&at)?;
        let own = aside(&parked.name);
        let beside = (&at.folder, OsStr::new(&own));
        self.write_beside(&at, beside, new, &Print { modified_at: now, ..print.clone() })?;
        if let Err(errno) = self.disk.exchange(&at.folder, at.name(), beside.1) {
            // What was written was never in use.
            return Err(self.without(beside, &path.with_file_name(&own), failed(path, errno)));
        }
        let taken = self.expect(beside, path, print).and_then(|image| {
            let parked = self.disk.rename_new(beside, park.spot(), Side::Private);
            parked.map(|()| image).map_err(Trouble::at("park", path))
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

    /// Writes new content beside a file, with the mode and time of `print`, and with the group, the
    /// access list and the attributes of the file. When that fails, nothing is left of it; what lay
    /// there before is not touched.
    fn write_beside(
        &self,
        at: &At<D::Folder>,
        beside: Spot<'_, D::Folder>,
        new: &[u8],
        print: &Print,
    ) -> Result<(), Trouble> {
        let failed = |errno| failed(&at.path, errno);
        let mut file = self.disk.create(beside).map_err(failed)?;
        let mut fill = || {
            self.disk.write(&mut file, new).map_err(failed)?;
            let kept = self.disk.keep(at.spot(), &mut file);
            kept.map_err(|(what, errno)| match errno {
                Errno::NOENT => failed(errno),
                errno => Trouble::at(&format!("keep {what} of"), &at.path)(errno),
            })?;
            self.disk.finish(&mut file, print.mode, print.modified_at).map_err(failed)?;
            self.disk.sync_file(&mut file).map_err(failed)
        };
        fill().map_err(|trouble| self.without(beside, &at.path.with_file_name(beside.1), trouble))
    }

    /// Removes new content that is not in use, after a trouble, and tells where it is when even
    /// that fails.
    fn without(&self, new: Spot<'_, D::Folder>, path: &Path, trouble: Trouble) -> Trouble {
        match self.disk.remove(new) {
            Ok(()) | Err(Errno::NOENT) => trouble,
            Err(errno) => {
                let left = Trouble::at("remove the needless copy", path)(errno);
                Trouble::Stuck(format!("{trouble}; then {left}"))
            }
        }
    }
}

/// Says why a file has not got its new content.
fn failed(path: &Path, errno: Errno) -> Trouble {
    match errno {
        Errno::NOENT => Trouble::Changed(format!("{} has gone", shown(path))),
        errno => Trouble::at("exchange", path)(errno),
    }
}
