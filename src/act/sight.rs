//! Looks at the files of a plan, and refuses those that are never touched.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

use super::disk::Disk;
use super::entire;
use super::movement::{At, Hands, ParkPlace, far, print_of, shown};
use super::planned::{Modified, Planned, Target};
use super::road::Rules;
use super::trouble::Trouble;
use crate::core::history::journal::Print;
use crate::core::model::action::Step;
use crate::core::model::file::{Content, FileImage, Refusal};
use crate::core::model::record::format::Format;
use crate::core::model::text::shown as shown_text;
use crate::format::{Release, released};

/// How the files of a plan are looked at.
pub(super) struct Sight<'a, D: Disk> {
    pub(super) hands: Hands<'a, D>,
    pub(super) rules: &'a Rules,
    pub(super) now: Timestamp,
    /// Why what was seen is not done yet: a file was written just now.
    pub(super) wait: RefCell<Option<String>>,
}

/// A file that may be touched.
struct File<F> {
    at: At<F>,
    print: Print,
    /// Where it can be parked.
    place: ParkPlace,
    bytes: Vec<u8>,
}

/// Says that a file may still be under way.
fn young(path: &Path, age: SignedDuration) -> String {
    let path = shown(path);
    match age.is_negative() {
        true => format!("{path} was written {:.1} s ahead of the clock: wait", -age.as_secs_f64()),
        false => format!("{path} was written {:.1} s ago: wait", age.as_secs_f64()),
    }
}

impl<D: Disk> Sight<'_, D> {
    /// Looks at the files of a step.
    pub(super) fn planned(&self, step: &Step) -> Result<Planned, Trouble> {
        Ok(match step {
            Step::Park { path } => {
                let File { at, print, place, .. } = self.file(path)?;
                Planned::Park { path: at.path, print, place }
            }
            Step::Move { path, to } => {
                let File { at, print, place, .. } = self.file(path)?;
                let to = self.free(to)?;
                if !self.hands.reaches(&at.folder, to.parent().unwrap_or(&to))? {
                    return Err(far(&at.path, &to));
                }
                Planned::Move { path: at.path, print, place, to, modified_at: Modified::Now }
            }
            Step::EndEntireSession { path, .. } => {
                let File { at, print, place, bytes } = self.file(path)?;
                let new = entire::ended(&bytes, self.now).ok_or_else(|| {
                    Trouble::Never(format!("{} is not as the entire CLI writes it", shown(&at.path)))
                })?;
                Planned::End { path: at.path, print, place, new }
            }
            Step::Row { format, database, table, id, .. } => {
                self.row(*format, database.raw(), table, id.raw())?
            }
            Step::Restore { .. } => {
                return Err(Trouble::Never("only an undo puts something back".to_owned()));
            }
        })
    }

    /// Looks at the row of a step.
    fn row(&self, format: Format, database: &str, table: &str, id: &str) -> Result<Planned, Trouble> {
        let name = || format!("{table} {}", shown_text(id));
        let before = self.hands.stores.of(format)?.row(database, table, id)?;
        let before = before.ok_or_else(|| Trouble::Changed(format!("{} has gone", name())))?;
        if released(format, table, &before, Release { at: self.now, why: "" }).is_none() {
            return Err(Trouble::Changed(format!("{} holds nothing any more", name())));
        }
        Ok(Planned::Row {
            format,
            database: database.to_owned(),
            table: table.to_owned(),
            id: id.to_owned(),
            before,
            to: Target::Released,
        })
    }

    /// Returns where a path leads that may begin with the home.
    fn place(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(below) => self.rules.home.join(below),
            Err(_) => path.to_path_buf(),
        }
    }

    /// Returns a place where nothing lies.
    fn free(&self, path: &Path) -> Result<PathBuf, Trouble> {
        let path = self.place(path);
        let there = match self.hands.at(&path) {
            Ok(at) => self.hands.look(at.spot(), &path)?,
            Err(Trouble::Failed { errno: Errno::NOENT, .. }) => None,
            Err(trouble) => return Err(trouble),
        };
        match there {
            Some(_) => Err(Trouble::Taken(format!("there is a file at {} already", shown(&path)))),
            None => Ok(path),
        }
    }

    /// Returns what a file is, if it may be touched at all.
    fn file(&self, path: &Path) -> Result<File<D::Folder>, Trouble> {
        let path = self.place(path);
        let at = self.hands.at(&path)?;
        let gone = || Trouble::Changed(format!("{} has gone", shown(&path)));
        let image = self.hands.look(at.spot(), &path)?.ok_or_else(gone)?;
        self.may_be_touched(&image, &at)?;
        let print = print_of(&image).ok_or_else(gone)?;
        let Content::Bytes(bytes) = image.content else { return Err(gone()) };
        let place = self.hands.place_for(&at)?;
        Ok(File { at, print, place, bytes })
    }

    fn may_be_touched(&self, image: &FileImage, at: &At<D::Folder>) -> Result<(), Trouble> {
        let path = &at.path;
        let never = |why: String| Err(Trouble::Never(format!("{}: {why}; it is left alone", shown(path))));
        match &image.content {
            Content::Refused(Refusal::Special(sort)) => return never(format!("a {sort}, no plain file")),
            Content::Refused(Refusal::Linked(links)) => return never(format!("it has {links} names")),
            Content::Refused(Refusal::ForeignOwner(uid)) => {
                return never(format!("it belongs to user {uid}"));
            }
            Content::Refused(Refusal::TooBig(size)) => return never(format!("it has {size} bytes")),
            Content::Failed(why) => return never(why.clone()),
            Content::Bytes(_) => {}
        }
        let Some(meta) = image.meta else { return never("nothing is known of it".to_owned()) };
        if meta.ownership.uid != self.rules.uid {
            return never(format!("it belongs to user {}", meta.ownership.uid));
        }
        if self.hands.is_locked(at)? {
            return never("a process holds a lock on it".to_owned());
        }
        // Every write changes this time, and nobody can set it; the other one anybody can.
        let age = self.now.duration_since(meta.changed_at);
        if age < self.rules.settled_for {
            self.wait.replace(Some(young(path, age)));
        }
        Ok(())
    }
}
