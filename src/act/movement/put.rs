//! Putting a parked file where nothing lies, and taking it back when that fails.

use std::ffi::OsStr;
use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use super::{At, Hands, aside, shown};
use crate::act::disk::{Disk, Side, Spot};
use crate::act::trouble::Trouble;
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
        self.expect(self.in_park(parked), &self.park_path(parked), print)?;
        let parent = to.parent().unwrap_or(Path::new("/"));
        self.disk.make_folder(parent).map_err(Trouble::at("make", parent))?;
        let at = self.at(to)?;
        match self.disk.rename_new(self.in_park(parked), at.spot(), Side::Public) {
            Ok(()) => {}
            Err(Errno::XDEV) => {
                return self.put_far(parked, &at, print, touched_at.unwrap_or(print.modified_at));
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
        parked: &str,
        at: &At<D::Folder>,
        print: &Print,
        modified_at: Timestamp,
    ) -> Result<(), Trouble> {
        let (first, own) = (self.in_park(parked), aside(parked));
        let (beside, beside_path) = ((&at.folder, OsStr::new(&own)), at.path.with_file_name(&own));
        let image = self.settled(first, &self.park_path(parked), print)?;
        self.copy(first, &image, beside, &beside_path, modified_at)?;
        if let Err(errno) = self.disk.rename_new(beside, at.spot(), Side::Public) {
            // The parked file is untouched, so a copy of it is worth nothing.
            return Err(self.without(beside, &beside_path, self.refused(at, errno)));
        }
        let folder = self.disk.sync_folder(&at.folder);
        let left = folder.and_then(|()| self.remove_first(first));
        left.map_err(|errno| {
            let trouble = Trouble::at("move", &at.path)(errno);
            match self.take_back(at, beside, &print.sha256, trouble) {
                Ok(trouble) => self.without_second(first, beside, &beside_path, trouble),
                Err(stuck) => Trouble::Stuck(format!("{stuck}; it is parked as well")),
            }
        })
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
