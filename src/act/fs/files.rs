//! The files of an action: opens, reads and moves them.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Spot};
use crate::act::rows::Stores;
use crate::act::stop::processes::Processes;
use crate::core::history::journal::Entry;
use crate::core::history::movement::{Lead, Movement, ParkLocation};
use crate::core::model::Untrusted;

/// A disk with the folder for parked files.
pub(crate) struct Files<'a, D: Disk> {
    pub(crate) disk: &'a D,
    /// The path of the state folder's own parked files.
    pub(crate) parked_path: &'a Path,
    pub(crate) stores: &'a Stores,
    pub(crate) processes: &'a dyn Processes,
    /// The allowed ways to the files of an action that has begun; `None` before, when links above a folder are
    /// followed.
    pub(crate) ways: Option<Ways<'a>>,
}

/// The allowed ways to the files of an action: through no links except those that lead to a folder which a person
/// named, and those that existed when the action began.
#[derive(Clone)]
pub(crate) struct Ways<'a> {
    /// The folders that a person named: the home, the temporary folder and the like.
    pub(crate) named: &'a [PathBuf],
    pub(crate) leads: Vec<Lead>,
}

impl Ways<'_> {
    /// Returns a folder's path, in which no link is expected.
    fn to<D: Disk>(&self, disk: &D, folder: &Path) -> PathBuf {
        let lead = self.leads.iter().find(|lead| lead.named == folder);
        let folder = lead.map_or(folder, |lead| &lead.leads_to);
        let below = self.named.iter().filter_map(|named| Some((named, folder.strip_prefix(named).ok()?)));
        let nearest = below.min_by_key(|(_, below)| below.components().count());
        nearest.map_or_else(|| folder.to_path_buf(), |(named, below)| disk.resolved(named).join(below))
    }
}

/// A name in an open folder.
pub(crate) struct FileRef<F> {
    pub(crate) folder: F,
    pub(crate) path: PathBuf,
}

impl<F> FileRef<F> {
    pub(crate) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    pub(crate) fn spot(&self) -> Spot<'_, F> {
        (&self.folder, self.name())
    }
}

/// The most bytes of a name on nearly all file systems (`NAME_MAX` of limits.h(0p)).
pub(crate) const NAME_MAX: usize = 255;

/// Returns the longest prefix of a name that leaves this much room in bytes; no character is cut in two.
pub(crate) fn cut(name: &OsStr, room: usize) -> &OsStr {
    let (bytes, most) = (name.as_bytes(), NAME_MAX.saturating_sub(room));
    let is_start = |at: &usize| bytes.get(*at).is_none_or(|byte| !(0x80..0xC0).contains(byte));
    let end = (0..=most).rev().take(4).find(is_start).unwrap_or(most);
    OsStr::from_bytes(bytes.get(..end).unwrap_or(bytes))
}

/// Returns the name under which claimtop keeps a file of a movement in that file's own folder.
pub(crate) fn aside(parked: &str) -> String {
    let number: String = parked.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    format!(".claimtop-{number}")
}

/// Returns the name under which old content waits to be exchanged back.
pub(crate) fn back_name(parked: &str) -> String {
    format!("{}-back", aside(parked))
}

impl<D: Disk> Files<'_, D> {
    pub(crate) fn entry(&self, path: &Path) -> Result<FileRef<D::Folder>, ActionError> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let folder = self.folder(parent).map_err(|errno| unopened("open the folder", parent, errno))?;
        Ok(FileRef { folder, path: path.to_path_buf() })
    }

    /// Opens a folder, by the action's ways if it has any.
    pub(crate) fn folder(&self, path: &Path) -> Result<D::Folder, Errno> {
        match &self.ways {
            None => self.disk.folder(path),
            Some(ways) => self.disk.folder_without_links(&ways.to(self.disk, path)),
        }
    }

    /// Makes a folder and those above it, by the ways of the action.
    pub(crate) fn make_folder(&self, path: &Path) -> Result<(), ActionError> {
        let made = match &self.ways {
            None => self.disk.make_folder(path),
            Some(ways) => self.disk.make_folder_without_links(&ways.to(self.disk, path)),
        };
        made.map_err(|errno| unopened("make", path, errno))
    }

    /// Returns where the folders of some movements lead that are named through a link, except through one to a folder
    /// that a person named.
    pub(crate) fn leads(&self, movements: &[Movement], ways: &Ways<'_>) -> Vec<Lead> {
        let mut leads: Vec<Lead> = Vec::new();
        for named in movements.iter().filter_map(|movement| movement.path()?.parent()) {
            let leads_to = self.disk.resolved(named);
            if leads_to != ways.to(self.disk, named) && leads.iter().all(|lead| lead.named != named) {
                leads.push(Lead { named: named.to_path_buf(), leads_to });
            }
        }
        leads
    }

    /// Opens the folder of a file; `None` if it has gone.
    pub(crate) fn at_if_any(&self, path: &Path) -> Result<Option<FileRef<D::Folder>>, ActionError> {
        if_any(self.entry(path))
    }

    /// Returns whether anything of a file is parked under a name.
    pub(crate) fn is_parked(&self, parked: &ParkLocation, path: &Path) -> Result<bool, ActionError> {
        let park = self.park_if_any(parked)?;
        Ok(park.map_or(Ok(None), |park| self.look(park.spot(), path))?.is_some())
    }

    /// Makes sure that an entry was done in the home that is looked at; earlier claimtops did not record the home.
    ///
    /// # Errors
    /// It was done in another home.
    pub(crate) fn expect_home(&self, entry: &Entry, own: Option<&Path>) -> Result<(), ActionError> {
        let (Some(of_entry), Some(own)) = (entry.intent.home.as_deref(), own) else { return Ok(()) };
        let id = |home: &Path| {
            let folder = self.disk.folder(&self.disk.resolved(home)).ok()?;
            let meta = self.disk.image((&folder, OsStr::new("."))).ok()??.meta?;
            Some((meta.dev, meta.ino))
        };
        if of_entry == own || id(of_entry).is_some_and(|of_entry| Some(of_entry) == id(own)) {
            return Ok(());
        }
        let (number, home) = (entry.number, shown(of_entry));
        Err(ActionError::Never(format!(
            "entry {number} was done in the home {home}, not in {}: use --home {home}",
            shown(own)
        )))
    }

    /// Returns whether nothing lies under the names that a movement makes for itself.
    pub(crate) fn is_free(&self, movement: &Movement) -> Result<bool, ActionError> {
        let (parked, from) = match movement {
            Movement::Take { from: path, parked, .. } | Movement::Exchange { path, parked, .. } => {
                (parked.clone(), Some(path))
            }
            Movement::Rows { backup: Some(name), .. } => (ParkLocation::in_state(name), None),
            // Of a new file nothing is known yet; a killed claimtop may have left one of this name.
            Movement::Put { parked, print, .. } if print.ino == 0 => (parked.clone(), None),
            // A file that is put was taken before, and was parked under its name then.
            Movement::Rows { backup: None, .. } | Movement::Put { .. } | Movement::Stop { .. } => {
                return Ok(true);
            }
        };
        if let Some(park) = self.park_if_any(&parked)?
            && self.look(park.spot(), &park.path)?.is_some()
        {
            return Ok(false);
        }
        let Some(at) = from.map(|from| self.at_if_any(from)).transpose()?.flatten() else {
            return Ok(true);
        };
        let [own, back] = [aside(&parked.name), back_name(&parked.name)];
        let is_free = |name: &str| Ok(self.look((&at.folder, OsStr::new(name)), &at.path)?.is_none());
        Ok(is_free(&own)? && is_free(&back)?)
    }

    /// Syncs a movement's effect on a file's folder to the disk.
    pub(crate) fn settle(&self, at: &FileRef<D::Folder>) -> Result<(), ActionError> {
        self.disk.sync_folder(&at.folder).map_err(ActionError::failed_at("sync the folder of", &at.path))
    }
}

/// Describes why a folder was not opened or made.
fn unopened(verb: &str, path: &Path, errno: Errno) -> ActionError {
    match errno {
        Errno::LOOP => ActionError::Never(format!(
            "the path of {} now contains a link, and nothing is written through it",
            shown(path)
        )),
        errno => ActionError::failed_at(verb, path)(errno),
    }
}

/// Returns `None` if there is no folder.
pub(crate) fn if_any<T>(opened: Result<T, ActionError>) -> Result<Option<T>, ActionError> {
    match opened {
        Err(ActionError::Failed { errno: Errno::NOENT, .. }) => Ok(None),
        opened => opened.map(Some),
    }
}

pub(crate) fn shown(path: &Path) -> Untrusted {
    Untrusted::from_path(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(name: &str, room: usize, expected: &str) {
        assert_eq!(cut(OsStr::new(name), room), OsStr::new(expected));
    }

    #[test]
    fn of_a_name_as_much_is_kept_as_there_is_room_for() {
        let long = "x".repeat(NAME_MAX);
        check("a", 4, "a");
        check(&long, 0, &long);
        check(&long, 4, &long[4..]);
        check(&long, 300, "");
        let wide = "ä".repeat(120);
        check(&wide, 15, &wide);
        check(&wide, 16, &wide[2..]);
        check(&wide, 17, &wide[2..]);
        assert_eq!(cut(OsStr::from_bytes(&[0xFF; 300]), 5), OsStr::from_bytes(&[0xFF; 250]));
    }
}
