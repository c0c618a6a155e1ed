//! The movements: take, put, exchange. None overwrites; each leaves exactly one copy of every
//! byte, whatever fails in it and wherever it is cut off.
//!
//! Within one file system a movement is one rename that cannot clobber. To another one, the
//! file is first renamed to a name of claimtop's own in its folder, so that nobody else has it;
//! then copied, brought to the disk, read back and compared, with mode and times; and only then
//! is the first copy removed. What is cut off in between, [`super::recover`] puts back.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::io::Errno;
use sha2::{Digest, Sha256};

use super::disk::{Disk, Side, Spot};
use super::rows::Stores;
use super::trouble::Trouble;
use crate::core::file::{Content, FileImage};
use crate::core::journal::{Movement, Print};
use crate::core::row::RowChange;
use crate::core::text::Untrusted;

/// A disk with the folder where things are parked.
pub(super) struct Hands<'a, D: Disk> {
    /// The disk.
    pub(super) disk: &'a D,
    /// The open parked folder.
    pub(super) parked: &'a D::Folder,
    /// Where that is, for people.
    pub(super) parked_path: &'a Path,
    /// The databases.
    pub(super) stores: &'a Stores,
}

/// A name in a folder that was opened.
pub(super) struct At<F> {
    pub(super) folder: F,
    pub(super) path: PathBuf,
}

impl<F> At<F> {
    pub(super) fn name(&self) -> &OsStr {
        self.path.file_name().unwrap_or_default()
    }

    pub(super) fn spot(&self) -> Spot<'_, F> {
        (&self.folder, self.name())
    }
}

/// Returns the SHA-256 of some bytes in hex digits.
pub(super) fn sha256(bytes: &[u8]) -> String {
    Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns what a file is; `None` when its bytes may not or could not be read.
pub(super) fn print_of(image: &FileImage) -> Option<Print> {
    let (meta, Content::Bytes(bytes)) = (image.meta?, &image.content) else { return None };
    Some(Print {
        dev: meta.dev,
        ino: meta.ino,
        size: meta.size,
        mode: meta.ownership.mode,
        modified_at: meta.modified_at,
        sha256: sha256(bytes),
    })
}

/// Returns the name under which claimtop keeps a file of a movement in that file's own folder.
pub(super) fn aside(parked: &str) -> String {
    let number: String = parked.splitn(3, '-').take(2).collect::<Vec<_>>().join("-");
    format!(".claimtop-{number}")
}

/// Returns the name under which old content waits to be exchanged back. It is not the name that
/// a put to another file system copies to.
pub(super) fn back_name(parked: &str) -> String {
    format!("{}-back", aside(parked))
}

impl<D: Disk> Hands<'_, D> {
    /// Opens the folder of a file.
    pub(super) fn at(&self, path: &Path) -> Result<At<D::Folder>, Trouble> {
        let parent = path.parent().unwrap_or(Path::new("/"));
        let folder = self.disk.folder(parent).map_err(Trouble::at("open the folder", parent))?;
        Ok(At { folder, path: path.to_path_buf() })
    }

    pub(super) fn in_park<'b>(&'b self, parked: &'b str) -> Spot<'b, D::Folder> {
        (self.parked, OsStr::new(parked))
    }

    pub(super) fn park_path(&self, parked: &str) -> PathBuf {
        self.parked_path.join(parked)
    }

    /// Reads what lies in a spot.
    pub(super) fn look(&self, spot: Spot<'_, D::Folder>, path: &Path) -> Result<Option<FileImage>, Trouble> {
        self.disk.image(spot).map_err(Trouble::at("read", path))
    }

    /// Takes a file out of the world, and looks at it where nobody else has it: returns what was
    /// taken, if that is what `print` says. Otherwise it is back in its place.
    pub(super) fn take(&self, from: &Path, parked: &str, print: &Print) -> Result<FileImage, Trouble> {
        let at = self.at(from)?;
        match self.disk.rename_new(at.spot(), self.in_park(parked), Side::Private) {
            Ok(()) => {}
            Err(Errno::XDEV) => return self.take_far(&at, parked, print),
            Err(Errno::NOENT) => return Err(Trouble::Changed(format!("{} has gone", shown(from)))),
            Err(errno) => return Err(Trouble::at("take", from)(errno)),
        }
        match self.expect(self.in_park(parked), from, print) {
            Ok(image) => Ok(image),
            Err(trouble) => Err(self.give_back(self.in_park(parked), &at, trouble)),
        }
    }

    /// Brings to the disk what a movement did to a folder of the world and to the parked one.
    pub(super) fn settle(&self, path: &Path) -> Result<(), Trouble> {
        let at = self.at(path)?;
        self.disk.sync_folder(&at.folder).map_err(Trouble::at("bring to the disk the folder of", path))
    }

    /// Reads a file and compares it with what it must be.
    pub(super) fn expect(
        &self,
        spot: Spot<'_, D::Folder>,
        path: &Path,
        print: &Print,
    ) -> Result<FileImage, Trouble> {
        let gone = || Trouble::Changed(format!("{} has gone", shown(path)));
        let mut image = self.look(spot, path)?.ok_or_else(gone)?;
        if print_of(&image).as_ref() != Some(print) {
            return Err(Trouble::Changed(format!("{} is another file or was written since", shown(path))));
        }
        image.path = path.to_path_buf().into();
        Ok(image)
    }

    /// Puts a taken file back and returns the trouble that made it necessary, or a worse one.
    fn give_back(&self, taken: Spot<'_, D::Folder>, at: &At<D::Folder>, trouble: Trouble) -> Trouble {
        match self.disk.rename_new(taken, at.spot(), Side::Public) {
            Ok(()) => trouble,
            Err(Errno::EXIST) => Trouble::Stuck(format!(
                "{trouble}; a newer file has come to {}, and the taken one stays parked",
                shown(&at.path)
            )),
            Err(errno) => {
                Trouble::Stuck(format!("{trouble}; then {}", Trouble::at("put back", &at.path)(errno)))
            }
        }
    }

    fn take_far(&self, at: &At<D::Folder>, parked: &str, print: &Print) -> Result<FileImage, Trouble> {
        let own = aside(parked);
        let beside = (&at.folder, OsStr::new(&own));
        match self.disk.rename_new(at.spot(), beside, Side::Private) {
            Ok(()) => {}
            Err(Errno::NOENT) => return Err(Trouble::Changed(format!("{} has gone", shown(&at.path)))),
            Err(errno) => return Err(Trouble::at("take", &at.path)(errno)),
        }
        let moved = self.expect(beside, &at.path, print).and_then(|image| {
            self.copy(&image, self.in_park(parked), print.modified_at)?;
            self.disk.sync_folder(self.parked).map_err(Trouble::at("bring to the disk", self.parked_path))?;
            // Whoever had it open may have written meanwhile.
            let image = self.expect(beside, &at.path, print)?;
            self.disk.remove(beside).map_err(Trouble::at("remove the first copy of", &at.path))?;
            Ok(image)
        });
        moved.map_err(|trouble| {
            let trouble = self.give_back(beside, at, trouble);
            // A copy of what is back in its place is worth nothing.
            self.without(self.in_park(parked), &self.park_path(parked), trouble)
        })
    }

    /// Removes a needless copy after a trouble, and tells where it is when even that fails.
    fn without(&self, copy: Spot<'_, D::Folder>, path: &Path, trouble: Trouble) -> Trouble {
        match self.disk.remove(copy) {
            Ok(()) | Err(Errno::NOENT) => trouble,
            Err(errno) => {
                let left = Trouble::at("remove the needless copy", path)(errno);
                Trouble::Stuck(format!("{trouble}; then {left}"))
            }
        }
    }

    /// Copies a file to a free spot, brings it to the disk and compares the two.
    fn copy(
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

    /// Puts a parked file where nothing lies.
    pub(super) fn put(
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

    /// Gives a file new content at once, and parks the old one if it is what `print` says.
    /// Otherwise everything is as it was.
    pub(super) fn exchange(
        &self,
        path: &Path,
        parked: &str,
        print: &Print,
        new: &[u8],
        now: Timestamp,
    ) -> Result<FileImage, Trouble> {
        let at = self.at(path)?;
        let own = aside(parked);
        let beside = (&at.folder, OsStr::new(&own));
        let written = self.write_new(beside, new, print.mode, now);
        let swapped = written.and_then(|()| self.disk.exchange(&at.folder, at.name(), beside.1));
        if let Err(errno) = swapped {
            let trouble = match errno {
                Errno::NOENT => Trouble::Changed(format!("{} has gone", shown(path))),
                errno => Trouble::at("exchange", path)(errno),
            };
            // What was written was never in use.
            return Err(self.without(beside, &path.with_file_name(&own), trouble));
        }
        let parked = self.expect(beside, path, print).and_then(|image| {
            self.park_old(beside, &image, parked)?;
            Ok(image)
        });
        parked.map_err(|trouble| self.exchange_back(&at, beside, new, trouble))
    }

    /// Parks the old content after an exchange.
    fn park_old(&self, beside: Spot<'_, D::Folder>, image: &FileImage, parked: &str) -> Result<(), Trouble> {
        match self.disk.rename_new(beside, self.in_park(parked), Side::Private) {
            Ok(()) => Ok(()),
            Err(Errno::XDEV) => {
                let modified_at = image.meta.map_or(Timestamp::UNIX_EPOCH, |meta| meta.modified_at);
                let copied = self.copy(image, self.in_park(parked), modified_at);
                let moved = copied.and_then(|()| {
                    self.disk.remove(beside).map_err(Trouble::at("remove the first copy of", &image.path))
                });
                // The old content goes back to its place, so a copy of it is worth nothing.
                moved.map_err(|trouble| self.without(self.in_park(parked), &self.park_path(parked), trouble))
            }
            Err(errno) => Err(Trouble::at("park", &image.path)(errno)),
        }
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
    pub(super) fn swap(
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

    /// Returns whether a file with this content lies in a spot.
    pub(super) fn has_content(&self, spot: Spot<'_, D::Folder>, sha256: &str) -> bool {
        let image = self.disk.image(spot).ok().flatten();
        image.and_then(|image| print_of(&image)).is_some_and(|print| print.sha256 == sha256)
    }

    /// Reverses a movement that was done just now, as part of an action that failed later on.
    pub(super) fn reverse(&self, movement: &Movement) -> Result<(), Trouble> {
        match movement {
            Movement::Take { from, parked, print } => {
                let print = self.current(parked, print)?;
                self.put(parked, from, &print, None)
            }
            Movement::Put { parked, to, print, touched_at } => {
                let touched = Print { modified_at: touched_at.unwrap_or(print.modified_at), ..print.clone() };
                let at = self.at(to)?;
                let there = self.look(at.spot(), to)?.and_then(|image| print_of(&image));
                match there.filter(|there| there.is_copied_by(&touched)) {
                    Some(there) => {
                        self.take(to, parked, &there)?;
                        let parked = self.in_park(parked);
                        self.disk.touch(parked, print.modified_at).map_err(Trouble::at("touch", to))
                    }
                    None => Err(Trouble::Changed(format!("{} was written since", shown(to)))),
                }
            }
            Movement::Exchange { path, parked, print, new_sha256 } => {
                let at = self.at(path)?;
                if !self.has_content(at.spot(), new_sha256) {
                    return Err(Trouble::Changed(format!("{} was written since", shown(path))));
                }
                let print = self.current(parked, print)?;
                self.swap_back(&at, parked, &print, new_sha256)
            }
            Movement::Rows { format, database, changes, .. } => {
                let reversed: Vec<_> = changes.iter().map(RowChange::reversed).collect();
                self.stores.of(*format)?.apply(database, &reversed, &mut || Ok(()))
            }
        }
    }

    /// Returns what a parked file is now: a copy on another file system has its own inode.
    pub(super) fn current(&self, parked: &str, print: &Print) -> Result<Print, Trouble> {
        let path = self.park_path(parked);
        let there = self.look(self.in_park(parked), &path)?.and_then(|image| print_of(&image));
        let same = there.filter(|there| there.is_copied_by(print));
        same.ok_or_else(|| Trouble::Changed(format!("{} is not what was parked", shown(&path))))
    }

    /// Puts parked content back in the place of the content that replaced it.
    fn swap_back(
        &self,
        at: &At<D::Folder>,
        parked: &str,
        print: &Print,
        new_sha256: &str,
    ) -> Result<(), Trouble> {
        let own = at.path.with_file_name(back_name(parked));
        self.put(parked, &own, print, None)?;
        let beside = (&at.folder, own.file_name().unwrap_or_default());
        self.swap(at, beside, new_sha256).map_err(|errno| {
            let why = Trouble::at("exchange", &at.path)(errno);
            Trouble::Stuck(format!("{why}; what was there before lies beside it as {}", shown(&own)))
        })?;
        self.disk.remove(beside).map_err(Trouble::at("remove the new content of", &at.path))
    }
}

pub(super) fn shown(path: &Path) -> Untrusted {
    Untrusted::from_path(path)
}
