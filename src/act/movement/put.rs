//! Putting a parked file where nothing lies, and taking it back when that fails.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{At, Hands, aside, print_of, shown};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::trouble::Trouble;
use crate::core::file::FileImage;
use crate::core::journal::Print;

impl<D: Disk> Hands<'_, D> {
    /// Puts a parked file where nothing lies.
    pub(in crate::act) fn put(
        &self,
        parked: &str,
        to: &Path,
        print: &Print,
        touched_at: Option<Timestamp>,
    ) -> Result<(), Trouble> {
        let own = self.park_path(parked);
        let image = self.expect(self.in_park(parked), &own, print)?;
        let parent = to.parent().unwrap_or(Path::new("/"));
        self.disk.make_folder(parent).map_err(Trouble::at("make", parent))?;
        let at = self.at(to)?;
        match self.disk.rename_new(self.in_park(parked), at.spot(), Side::Public) {
            Ok(()) => {}
            Err(Errno::XDEV) => {
                return self.put_far(&image, parked, &at, touched_at.unwrap_or(print.modified_at));
            }
            Err(errno) => return Err(self.refused(&at, errno)),
        }
        let touched = touched_at.map_or(Ok(()), |touched_at| self.disk.touch(at.spot(), touched_at));
        touched.map_err(|errno| {
            let trouble = Trouble::at("date", to)(errno);
            self.take_back(&at, self.in_park(parked), &print.sha256, trouble).unwrap_or_else(|stuck| stuck)
        })
    }

    fn put_far(
        &self,
        image: &FileImage,
        parked: &str,
        at: &At<D::Folder>,
        modified_at: Timestamp,
    ) -> Result<(), Trouble> {
        let own = aside(parked);
        let beside = (&at.folder, OsStr::new(&own));
        let placed = self.copy(image, beside, modified_at).and_then(|()| {
            let renamed = self.disk.rename_new(beside, at.spot(), Side::Public);
            renamed.map_err(|errno| self.refused(at, errno))
        });
        if let Err(trouble) = placed {
            // The parked file is untouched, so a copy of it is worth nothing.
            return Err(self.without(beside, &at.path.with_file_name(&own), trouble));
        }
        let folder = self.disk.sync_folder(&at.folder);
        let left = folder.and_then(|()| self.disk.remove(self.in_park(parked)));
        left.map_err(|errno| self.retreat(image, at, beside, Trouble::at("move", &at.path)(errno)))
    }

    /// Takes back a copy that was just put somewhere, while the parked file is still there.
    fn retreat(
        &self,
        image: &FileImage,
        at: &At<D::Folder>,
        beside: Spot<'_, D::Folder>,
        trouble: Trouble,
    ) -> Trouble {
        let content = print_of(image).map(|print| print.sha256).unwrap_or_default();
        match self.take_back(at, beside, &content, trouble) {
            Ok(trouble) => self.without(beside, &at.path.with_file_name(beside.1), trouble),
            Err(stuck) => Trouble::Stuck(format!("{stuck}; it is parked as well")),
        }
    }

    /// Takes back what was just put somewhere, and returns the trouble that made it necessary.
    /// What somebody else has written there meanwhile stays theirs and in its place.
    ///
    /// # Errors
    /// It is not taken back, which is a worse trouble.
    fn take_back(
        &self,
        at: &At<D::Folder>,
        to: Spot<'_, D::Folder>,
        sha256: &str,
        trouble: Trouble,
    ) -> Result<Trouble, Trouble> {
        if self.disk.rename_new(at.spot(), to, Side::Private).is_err() {
            return Err(Trouble::Stuck(format!("{trouble}; it lies at {}", shown(&at.path))));
        }
        if self.has_content(to, sha256) {
            return Ok(trouble);
        }
        let trouble = self.give_back(to, at, trouble);
        Err(Trouble::Stuck(format!("{trouble}; somebody wrote {} meanwhile", shown(&at.path))))
    }

    /// Says what lies where something was to go.
    fn refused(&self, at: &At<D::Folder>, errno: Errno) -> Trouble {
        if errno != Errno::EXIST {
            return Trouble::at("put", &at.path)(errno);
        }
        let there = self.disk.image(at.spot()).ok().flatten().and_then(|image| image.meta);
        let what = there.map_or_else(String::new, |meta| {
            format!(", {} bytes of {}", meta.size, meta.modified_at.strftime("%Y-%m-%d %H:%M:%SZ"))
        });
        Trouble::Taken(format!("there is a file at {}{what}", shown(&at.path)))
    }
}
