//! Replaces a file's content atomically, and parks the old content.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side, Spot};
use crate::act::fs::files::{FileRef, Files, aside, shown};
use crate::act::fs::print::sha256;
use crate::core::history::movement::{ParkLocation, Print};
use crate::core::model::FileImage;

impl<D: Disk> Files<'_, D> {
    /// Replaces a file's content atomically, and parks the old content if it matches `print`. Otherwise everything is
    /// as it was.
    pub(crate) fn exchange(
        &self,
        path: &Path,
        parked: &ParkLocation,
        print: &Print,
        new: &[u8],
        now: Timestamp,
    ) -> Result<FileImage, ActionError> {
        let (at, park) = (self.entry(path)?, self.park(parked)?);
        self.expect_unlocked(&at)?;
        let own = aside(&parked.name);
        let beside = (&at.folder, OsStr::new(&own));
        self.write_beside(&at, beside, new, &Print { modified_at: now, ..print.clone() })?;
        if let Err(errno) = self.disk.exchange(&at.folder, at.name(), beside.1) {
            // The new content was never in use.
            return Err(self.without(beside, &path.with_file_name(&own), failed(path, errno)));
        }
        let taken = self.expect(beside, path, print).and_then(|image| {
            let parked = self.disk.rename_new(beside, park.spot(), Side::Private);
            parked.map(|()| image).map_err(ActionError::failed_at("park", path))
        });
        taken.map_err(|error| self.exchange_back(&at, beside, (new, parked), error))
    }

    /// Parks old content that cannot go back to its place; returns whether it is parked now.
    pub(crate) fn park_left(&self, beside: Spot<'_, D::Folder>, parked: &ParkLocation) -> bool {
        let park = self.park(parked).ok();
        park.is_some_and(|park| self.disk.rename_new(beside, park.spot(), Side::Private).is_ok())
    }

    fn exchange_back(
        &self,
        at: &FileRef<D::Folder>,
        beside: Spot<'_, D::Folder>,
        (new, parked): (&[u8], &ParkLocation),
        error: ActionError,
    ) -> ActionError {
        let own = at.path.with_file_name(beside.1);
        match self.swap(at, beside, &sha256(new)) {
            Ok(()) => self.without(beside, &own, error),
            Err(_) if self.park_left(beside, parked) => ActionError::Stuck(format!(
                "{error}; {} was written meanwhile, and its previous content is parked",
                shown(&at.path)
            )),
            Err(_) => ActionError::Stuck(format!(
                "{error}; {} was written meanwhile, and its previous content is beside it as {}",
                shown(&at.path),
                beside.1.display()
            )),
        }
    }

    /// Exchanges the file at a place, if it has this content, with the one beside it. A file that another program puts
    /// there at the last moment goes back to its place.
    pub(crate) fn swap(
        &self,
        at: &FileRef<D::Folder>,
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

    /// Writes new content beside a file, with the mode and time of `print`, and with the group, access list and
    /// attributes of the file. On failure nothing of it remains; a file that lay there before is not touched.
    fn write_beside(
        &self,
        at: &FileRef<D::Folder>,
        beside: Spot<'_, D::Folder>,
        new: &[u8],
        print: &Print,
    ) -> Result<(), ActionError> {
        let failed = |errno| failed(&at.path, errno);
        let mut file = self.disk.create(beside).map_err(failed)?;
        let mut fill = || {
            self.disk.write(&mut file, new).map_err(failed)?;
            let kept = self.disk.keep(at.spot(), &mut file);
            kept.map_err(|(what, errno)| match errno {
                Errno::NOENT => failed(errno),
                errno => ActionError::failed_at(&format!("keep {what} of"), &at.path)(errno),
            })?;
            self.disk.finish(&mut file, print.mode, print.modified_at).map_err(failed)?;
            self.disk.sync_file(&mut file).map_err(failed)
        };
        fill().map_err(|error| self.without(beside, &at.path.with_file_name(beside.1), error))
    }

    /// Removes new content that is not in use, after an error; if even that fails, the error names its path.
    fn without(&self, new: Spot<'_, D::Folder>, path: &Path, error: ActionError) -> ActionError {
        match self.disk.remove(new) {
            Ok(()) | Err(Errno::NOENT) => error,
            Err(errno) => {
                let left = ActionError::failed_at("remove the needless copy", path)(errno);
                ActionError::Stuck(format!("{error}; then {left}"))
            }
        }
    }
}

/// Describes why a file did not get its new content.
fn failed(path: &Path, errno: Errno) -> ActionError {
    match errno {
        Errno::NOENT => ActionError::Changed(format!("{} is gone", shown(path))),
        errno => ActionError::failed_at("exchange", path)(errno),
    }
}
