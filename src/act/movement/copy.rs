//! A copy on the way to another file system, made durable and compared, and removed when it is needless.

use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{Hands, print_of, shown};
use crate::act::disk::{Disk, Spot};
use crate::act::trouble::Trouble;
use crate::core::file::{Content, FileImage};
use crate::core::journal::Print;

impl<D: Disk> Hands<'_, D> {
    /// Copies a file to a free spot, brings it to the disk and compares the two.
    pub(super) fn copy(
        &self,
        image: &FileImage,
        to: Spot<'_, D::Folder>,
        modified_at: Timestamp,
    ) -> Result<(), Trouble> {
        let failed = |errno| Trouble::at("copy", &image.path)(errno);
        let changed = || Trouble::Changed(format!("{} cannot be read any more", shown(&image.path)));
        let (Content::Bytes(bytes), Some(print)) = (&image.content, print_of(image)) else {
            return Err(changed());
        };
        self.write_new(to, bytes, print.mode, modified_at).map_err(failed)?;
        let copy = self.disk.image(to).map_err(failed)?.and_then(|copy| print_of(&copy));
        let wanted = Print { modified_at, ..print };
        if copy.is_some_and(|copy| copy.is_copied_by(&wanted)) { Ok(()) } else { Err(failed(Errno::IO)) }
    }

    pub(super) fn write_new(
        &self,
        to: Spot<'_, D::Folder>,
        bytes: &[u8],
        mode: u32,
        modified_at: Timestamp,
    ) -> Result<(), Errno> {
        let mut file = self.disk.create(to)?;
        self.disk.write(&mut file, bytes)?;
        self.disk.finish(&mut file, mode, modified_at)?;
        self.disk.sync_file(&mut file)
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
