//! Reads files and compares them with their expected prints.

use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use sha2::{Digest, Sha256};

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Spot};
use crate::act::fs::files::{FileRef, Files, shown};
use crate::core::history::movement::{ParkLocation, Print};
use crate::core::model::text::hex;
use crate::core::model::{Content, FileImage, Refusal};

/// The largest difference between two readings of a clock: 2 s.
const CLOCK_SLACK: SignedDuration = SignedDuration::from_secs(2);

/// Returns the SHA-256 of some bytes in hex digits.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns a file's print; `None` if its bytes must not or could not be read.
pub(crate) fn print_of(image: &FileImage) -> Option<Print> {
    let (meta, Content::Bytes(bytes)) = (image.meta?, &image.content) else { return None };
    Some(Print {
        dev: meta.dev,
        ino: meta.ino,
        size: meta.size,
        mode: meta.ownership.mode.into(),
        modified_at: meta.modified_at,
        sha256: sha256(bytes),
    })
}

/// Returns the print of a file that is only moved: one that is too large to be read has all but its content.
pub(crate) fn print_to_move(image: &FileImage) -> Option<Print> {
    match (&image.content, image.meta) {
        (Content::Refused(Refusal::TooBig(_)), Some(meta)) => Some(Print::of_large(&meta)),
        _ => print_of(image),
    }
}

/// Returns a file's identity, also of one that is too large to be read or has a second name: moving does not require
/// reading.
pub(crate) fn identity_of(image: &FileImage) -> Option<Print> {
    let meta = image.meta?;
    match &image.content {
        Content::Refused(Refusal::TooBig(_) | Refusal::Linked(_)) => Some(Print::unread(meta.dev, meta.ino)),
        Content::Bytes(_) | Content::Failed(_) | Content::Refused(_) => print_of(image),
    }
}

impl<D: Disk> Files<'_, D> {
    /// Reads the file in a spot.
    pub(crate) fn look(
        &self,
        spot: Spot<'_, D::Folder>,
        path: &Path,
    ) -> Result<Option<FileImage>, ActionError> {
        self.disk.image(spot).map_err(ActionError::failed_at("read", path))
    }

    /// Returns whether a process holds a lock on a file.
    pub(crate) fn is_locked(&self, at: &FileRef<D::Folder>) -> Result<bool, ActionError> {
        self.disk.is_locked(at.spot()).map_err(ActionError::failed_at("read the locks on", &at.path))
    }

    /// Makes sure, right before a file is touched, that no process holds a lock on it.
    pub(crate) fn expect_unlocked(&self, at: &FileRef<D::Folder>) -> Result<(), ActionError> {
        match self.is_locked(at)? {
            true => Err(ActionError::Changed(format!("a process holds a lock on {}", shown(&at.path)))),
            false => Ok(()),
        }
    }

    /// Reads a file and compares it with its expected print.
    pub(crate) fn expect(
        &self,
        spot: Spot<'_, D::Folder>,
        path: &Path,
        print: &Print,
    ) -> Result<FileImage, ActionError> {
        let gone = || ActionError::Changed(format!("{} is gone", shown(path)));
        let mut image = self.look(spot, path)?.ok_or_else(gone)?;
        let is_it = match print.is_unread() {
            true => image.meta.is_some_and(|meta| print.is_of(&meta)),
            false => print_of(&image).as_ref() == Some(print),
        };
        if !is_it {
            return Err(ActionError::Changed(format!(
                "{} is another file or was written since",
                shown(path)
            )));
        }
        image.path = path.to_path_buf().into();
        Ok(image)
    }

    /// Returns whether a file with this content lies in a spot.
    pub(crate) fn has_content(&self, spot: Spot<'_, D::Folder>, sha256: &str) -> bool {
        let image = self.disk.image(spot).ok().flatten();
        image.and_then(|image| print_of(&image)).is_some_and(|print| print.sha256 == sha256)
    }

    /// Returns a parked file's current print, even if it was written to since.
    pub(crate) fn lies(&self, parked: &ParkLocation) -> Result<Print, ActionError> {
        let park = self.park(parked)?;
        let path = shown(&park.path);
        let gone = || ActionError::Changed(format!("{path} is gone"));
        let image = self.look(park.spot(), &park.path)?.ok_or_else(gone)?;
        // It cannot become a plain file again by itself, so it must not prevent other entries from being put right.
        let unread = || ActionError::Never(format!("{path} is no longer a plain file; it stays there"));
        identity_of(&image).ok_or_else(unread)
    }

    /// Returns a parked file's current print, if it is the file that was parked.
    ///
    /// # Errors
    /// Another file lies under its name: one with another inode, or one made after the parking.
    pub(crate) fn expect_parked(
        &self,
        parked: &ParkLocation,
        print: &Print,
        parked_at: Timestamp,
    ) -> Result<Print, ActionError> {
        let (lies, park) = (self.lies(parked)?, self.park(parked)?);
        let born_at = self.disk.born_at(park.spot());
        let is_younger = born_at.is_some_and(|at| at.duration_since(parked_at) > CLOCK_SLACK);
        if lies.is_copy(print) || lies.is_file(print) && !is_younger {
            return Ok(lies);
        }
        Err(ActionError::Never(format!("{} is another file, not the one that was parked", shown(&park.path))))
    }
}
