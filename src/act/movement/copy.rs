//! A copy on the way to another file system, made durable and compared, and removed when it is needless.

use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{Hands, print_of, shown};
use crate::act::disk::{Disk, Spot};
use crate::act::trouble::Trouble;
use crate::core::file::{Content, FileImage};
use crate::core::journal::Print;

/// A spot, and where that is, for people.
type Named<'a, F> = (Spot<'a, F>, &'a Path);

impl<D: Disk> Hands<'_, D> {
    /// Parks a file that lies beside its place, under a name that nobody else knows, on another
    /// file system; returns what was parked, if that is what `print` says. Otherwise it lies there
    /// still, and nothing is parked.
    pub(super) fn park_far(
        &self,
        beside: Spot<'_, D::Folder>,
        path: &Path,
        parked: &str,
        print: &Print,
    ) -> Result<FileImage, Trouble> {
        let image = self.settled(beside, path, print)?;
        let (copy, copy_path) = (self.in_park(parked), self.park_path(parked));
        self.copy(beside, &image, copy, &copy_path, print.modified_at)?;
        let synced = self.disk.sync_folder(self.parked);
        let left = synced.map_err(Trouble::at("bring to the disk", self.parked_path)).and_then(|()| {
            // Somebody who was not seen may have written meanwhile.
            self.expect(beside, path, print)?;
            self.remove_first(beside).map_err(Trouble::at("remove the first copy of", path))
        });
        left.map_err(|trouble| self.without_second(beside, copy, &copy_path, trouble))?;
        Ok(image)
    }

    /// Removes the first copy of what was moved to another file system. Nobody else removes it, so
    /// when it has gone this call did it, which a network file system may tell as its absence.
    pub(super) fn remove_first(&self, first: Spot<'_, D::Folder>) -> Result<(), Errno> {
        match self.disk.remove(first) {
            Err(Errno::NOENT) => Ok(()),
            done => done,
        }
    }

    /// Removes the second copy after a trouble, as long as the first one is seen to be there.
    pub(super) fn without_second(
        &self,
        first: Spot<'_, D::Folder>,
        second: Spot<'_, D::Folder>,
        second_path: &Path,
        trouble: Trouble,
    ) -> Trouble {
        match self.disk.image(first) {
            Ok(Some(_)) => self.without(second, second_path, trouble),
            Ok(None) | Err(_) => Trouble::Stuck(format!("{trouble}; a copy is {}", shown(second_path))),
        }
    }

    /// Reads a file that nobody can open any more, once nobody has it open: what it says then, it
    /// says for good. What is written into a removed file is lost.
    pub(super) fn settled(
        &self,
        spot: Spot<'_, D::Folder>,
        path: &Path,
        print: &Print,
    ) -> Result<FileImage, Trouble> {
        match self.disk.writer_of(spot).map_err(Trouble::at("ask who writes", path))? {
            None => self.expect(spot, path, print),
            Some(pid) => {
                let why = format!("PID {pid} has {} open and may go on writing into it", shown(path));
                Err(Trouble::Changed(why))
            }
        }
    }

    /// Copies a file with all that people gave it to a free spot, brings it to the disk and compares
    /// the two. When that fails, nothing is left there.
    pub(super) fn copy(
        &self,
        from: Spot<'_, D::Folder>,
        image: &FileImage,
        to: Spot<'_, D::Folder>,
        to_path: &Path,
        modified_at: Timestamp,
    ) -> Result<(), Trouble> {
        let failed = |errno| Trouble::at("copy", &image.path)(errno);
        let (Content::Bytes(bytes), Some(print)) = (&image.content, print_of(image)) else {
            return Err(Trouble::Changed(format!("{} cannot be read any more", shown(&image.path))));
        };
        let wanted = Print { modified_at, ..print };
        self.write_new((to, to_path), bytes, &wanted, Some((from, &*image.path)), failed)?;
        let copy = self.disk.image(to).ok().flatten().and_then(|copy| print_of(&copy));
        match copy.is_some_and(|copy| copy.is_copied_by(&wanted)) {
            true => Ok(()),
            false => Err(self.without(to, to_path, failed(Errno::IO))),
        }
    }

    /// Writes a file of claimtop's own, with the mode and time of `print`, and with the group and the
    /// attributes of the file that it is a copy of. When that fails, nothing is left of it; what lay
    /// there before is not touched.
    pub(super) fn write_new(
        &self,
        (to, to_path): Named<'_, D::Folder>,
        bytes: &[u8],
        print: &Print,
        copy_of: Option<Named<'_, D::Folder>>,
        failed: impl Fn(Errno) -> Trouble,
    ) -> Result<(), Trouble> {
        let mut file = self.disk.create(to).map_err(&failed)?;
        let mut fill = || {
            self.disk.write(&mut file, bytes).map_err(&failed)?;
            if let Some((from, path)) = copy_of {
                let kept = self.disk.keep(from, &mut file);
                kept.map_err(|(what, errno)| Trouble::at(&format!("keep {what} of"), path)(errno))?;
            }
            self.disk.finish(&mut file, print.mode, print.modified_at).map_err(&failed)?;
            self.disk.sync_file(&mut file).map_err(&failed)
        };
        fill().map_err(|trouble| self.without(to, to_path, trouble))
    }

    /// Removes a needless copy after a trouble, and tells where it is when even that fails.
    pub(super) fn without(&self, copy: Spot<'_, D::Folder>, path: &Path, trouble: Trouble) -> Trouble {
        match self.disk.remove(copy) {
            Ok(()) | Err(Errno::NOENT) => trouble,
            Err(errno) => {
                let left = Trouble::at("remove the needless copy", path)(errno);
                Trouble::Stuck(format!("{trouble}; then {left}"))
            }
        }
    }
}
