//! Puts a parked file at a free place, and takes it back if that fails.

use std::path::Path;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side, Spot};
use crate::act::fs::files::{FileRef, Files, shown};
use crate::core::history::movement::{ParkLocation, Print};

impl<D: Disk> Files<'_, D> {
    /// Puts a parked file at a free place.
    pub(crate) fn put(
        &self,
        parked: &ParkLocation,
        to: &Path,
        print: &Print,
        touched_at: Option<Timestamp>,
    ) -> Result<(), ActionError> {
        let park = self.park(parked)?;
        self.expect(park.spot(), &park.path, print)?;
        let parent = to.parent().unwrap_or(Path::new("/"));
        self.make_folder(parent)?;
        let at = self.entry(to)?;
        let put = self.disk.rename_new(park.spot(), at.spot(), Side::Public);
        put.map_err(|errno| self.refused(&park, &at, errno))?;
        let touched = touched_at.map_or(Ok(()), |touched_at| self.disk.touch(at.spot(), touched_at));
        touched.map_err(|errno| {
            let error = ActionError::failed_at("date", to)(errno);
            self.take_back(&at, park.spot(), &print.sha256, error).unwrap_or_else(|stuck| stuck)
        })
    }

    /// Takes back a file that was just put somewhere, and returns the error that made it necessary. A file that
    /// another program has written there meanwhile stays in its place.
    ///
    /// # Errors
    /// The file is not taken back, which is a worse error.
    fn take_back(
        &self,
        at: &FileRef<D::Folder>,
        to: Spot<'_, D::Folder>,
        sha256: &str,
        error: ActionError,
    ) -> Result<ActionError, ActionError> {
        if self.disk.rename_new(at.spot(), to, Side::Private).is_err() {
            return Err(ActionError::Stuck(format!("{error}; it is at {}", shown(&at.path))));
        }
        if self.has_content(to, sha256) {
            return Ok(error);
        }
        let error = self.give_back(to, at, error);
        Err(ActionError::Stuck(format!("{error}; {} was written meanwhile", shown(&at.path))))
    }

    /// Describes what lies at the destination, or why the file cannot go there.
    fn refused(&self, park: &FileRef<D::Folder>, at: &FileRef<D::Folder>, errno: Errno) -> ActionError {
        match errno {
            Errno::EXIST => {}
            Errno::XDEV => return far(&park.path, &at.path),
            errno => return ActionError::failed_at("put", &at.path)(errno),
        }
        let there = self.disk.image(at.spot()).ok().flatten().and_then(|image| image.meta);
        let what = there.map_or_else(String::new, |meta| {
            format!(", {} bytes of {}", meta.size, meta.modified_at.strftime("%Y-%m-%d %H:%M:%SZ"))
        });
        ActionError::Taken(format!("there is a file at {}{what}", shown(&at.path)))
    }
}

/// Returns the error that a file would have to be copied, and how a person can do that.
pub(crate) fn far(from: &Path, to: &Path) -> ActionError {
    let (from, to) = (shown(from), shown(to));
    ActionError::Never(format!(
        "{to} is on another file system than {from}, and claimtop does not copy: anything still written to the old file would be lost; when nothing writes to it, mv -n {from} {to} moves it"
    ))
}
