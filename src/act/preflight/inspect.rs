//! Looks at the files of a plan, and refuses those that must never be touched.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::files::{FileRef, Files, shown};
use crate::act::fs::park::ParkPlace;
use crate::act::fs::print::print_to_move;
use crate::act::fs::put::far;
use crate::act::preflight::prepared::{NewTime, PreparedStep, RowTarget};
use crate::act::rules::Rules;
use crate::act::undo::free_beside;
use crate::core::history::movement::Print;
use crate::core::model::snapshot::ledger::kept::is_secret_name;
use crate::core::model::text::shown as shown_text;
use crate::core::model::{Content, Edit, FileImage, Format, Refusal, Step, Untrusted};
use crate::format::entire::end;
use crate::format::{Release, released};
use crate::source::git::merge::MergeResult;
use crate::source::own::ledger::Tree;
use crate::source::work::committed::EditFacts;

/// Inspects the files of a plan.
pub(crate) struct Inspector<'a, D: Disk> {
    pub(crate) files: Files<'a, D>,
    pub(crate) rules: &'a Rules,
    pub(crate) now: Timestamp,
    /// Why the plan is not carried out yet: a file was written just now.
    pub(crate) wait: RefCell<Option<ActionError>>,
}

/// A file that may be touched.
pub(super) struct InspectedFile<F> {
    at: FileRef<F>,
    pub(super) print: Print,
    /// Where it can be parked.
    pub(super) place: ParkPlace,
    /// Its content; `None` if it is too large to be read.
    pub(super) bytes: Option<Vec<u8>>,
}

/// What a new file holds.
pub(crate) struct NewFile {
    pub(crate) bytes: Vec<u8>,
    /// Its permission bits, if they are known.
    pub(crate) mode: Option<u32>,
}

/// Returns whether a file is certainly as the last commit has it.
pub(crate) fn is_as_committed(path: &Path, now: Timestamp, home: &Path) -> bool {
    let mut edit = Edit::new(Untrusted::from_path(path), Some(now));
    if let Some(tree) = path.parent().and_then(Tree::find) {
        tree.marker(now, home).mark([(&mut edit, EditFacts::default())]);
    }
    edit.fate.is_clean
}

/// Returns the error that a write to a file may still be under way.
fn young(path: &Path, age: SignedDuration) -> ActionError {
    let path = shown(path);
    ActionError::TooYoung(match age.is_negative() {
        true => format!("{path} was written {:.1} s ahead of the clock: wait", -age.as_secs_f64()),
        false => format!("{path} was written {:.1} s ago: wait", age.as_secs_f64()),
    })
}

impl<D: Disk> Inspector<'_, D> {
    /// Looks at the files of a step.
    pub(crate) fn prepare(&self, step: &Step) -> Result<PreparedStep, ActionError> {
        Ok(match step {
            Step::Park { path } => {
                let InspectedFile { at, print, place, .. } = self.file(path)?;
                PreparedStep::Park { path: at.path, print, place }
            }
            Step::Move { path, to } => {
                let InspectedFile { at, print, place, bytes } = self.file(path)?;
                if bytes.is_none() {
                    let why = format!("{}: it has {} bytes, too many to move", shown(&at.path), print.size);
                    return Err(ActionError::Never(why));
                }
                let to = self.free(to)?;
                if !self.files.reaches(&at.folder, to.parent().unwrap_or(&to))? {
                    return Err(far(&at.path, &to));
                }
                PreparedStep::Move { path: at.path, print, place, to, modified_at: NewTime::Now }
            }
            Step::EndEntireSession { path, .. } => {
                let InspectedFile { at, print, place, bytes } = self.file(path)?;
                let new = bytes.and_then(|bytes| end::ended(&bytes, self.now)).ok_or_else(|| {
                    ActionError::Never(format!("{} is not as the entire CLI writes it", shown(&at.path)))
                })?;
                PreparedStep::End { path: at.path, print, place, new }
            }
            Step::Row { format, database, table, id, .. } => {
                self.row(*format, database.raw(), table, id.raw())?
            }
            Step::Settings { .. } => {
                return Err(ActionError::Never("only a set-up changes settings".to_owned()));
            }
            Step::BringBack { .. } | Step::Merge { .. } => {
                return Err(ActionError::Never("only a rescue brings something back".to_owned()));
            }
            Step::Restore { .. } => {
                return Err(ActionError::Never("only an undo puts something back".to_owned()));
            }
            Step::Stop { .. } => {
                return Err(ActionError::Never("a process is ended with all that is below it".to_owned()));
            }
        })
    }

    /// Prepares to put a kept version in its file's place: nothing may be there, or a file that is as the last commit has
    /// it.
    pub(crate) fn bring_back(&self, path: &Path, new: NewFile) -> Result<PreparedStep, ActionError> {
        if !self.is_there(path)? {
            return self.create(path, new);
        }
        let found = self.other_than(path, &new.bytes)?;
        if !is_as_committed(path, self.now, &self.rules.home) {
            let why = "it has other uncommitted work, or no commit to compare it with: \
                       --beside writes the version beside it, --merge merges it";
            return Err(ActionError::Taken(format!("{}: {why}", shown(path))));
        }
        let InspectedFile { at, print, place, .. } = found;
        Ok(PreparedStep::End { path: at.path, print, place, new: new.bytes })
    }

    /// Prepares to write a version beside its file.
    pub(crate) fn beside(&self, path: &Path, new: NewFile) -> Result<PreparedStep, ActionError> {
        self.create(&free_beside(&self.files, path, ("", "rescued"))?, new)
    }

    /// Prepares to give a file what `merge` makes of its content and a version; returns that content, and the result with
    /// its conflicts. Nothing if there is no file.
    pub(crate) fn merge(
        &self,
        path: &Path,
        new: &[u8],
        merge: impl FnOnce(&[u8]) -> Result<MergeResult, ActionError>,
    ) -> Result<Option<(PreparedStep, Vec<u8>, MergeResult)>, ActionError> {
        if !self.is_there(path)? {
            return Ok(None);
        }
        let InspectedFile { at, print, place, bytes } = self.other_than(path, new)?;
        let own = bytes.unwrap_or_default();
        let merged = merge(&own)?;
        if merged.text == own {
            return Err(ActionError::Never(format!("{} has all of this already", shown(path))));
        }
        let step = PreparedStep::End { path: at.path, print, place, new: merged.text.clone() };
        Ok(Some((step, own, merged)))
    }

    pub(super) fn is_there(&self, path: &Path) -> Result<bool, ActionError> {
        let at = self.files.at_if_any(path)?;
        Ok(at.map_or(Ok(None), |at| self.files.look(at.spot(), path))?.is_some())
    }

    /// Prepares to write a new file.
    pub(super) fn create(
        &self,
        path: &Path,
        NewFile { bytes: new, mode }: NewFile,
    ) -> Result<PreparedStep, ActionError> {
        let above = path.ancestors().skip(1).find(|above| above.is_dir());
        let name = path.file_name().unwrap_or_default();
        let near = self.files.entry(&above.unwrap_or(Path::new("/")).join(name))?;
        let place = self.files.place_for(&near)?;
        // A transcript has no permission bits.
        let usual = if path.to_str().is_none_or(is_secret_name) { 0o600 } else { 0o644 };
        Ok(PreparedStep::Create { path: path.to_path_buf(), place, new, mode: mode.unwrap_or(usual) & 0o777 })
    }

    /// Looks at a file that may get new content, if it can be read and has other bytes.
    fn other_than(&self, path: &Path, new: &[u8]) -> Result<InspectedFile<D::Folder>, ActionError> {
        let found = self.file(path)?;
        match &found.bytes {
            None => Err(ActionError::Taken(format!(
                "{} has {} bytes, too many to be replaced: --beside writes the version beside it",
                shown(path),
                found.print.size
            ))),
            Some(bytes) if bytes == new => {
                Err(ActionError::Never(format!("{} has these bytes already", shown(path))))
            }
            Some(_) => Ok(found),
        }
    }

    fn row(
        &self,
        format: Format,
        database: &str,
        table: &str,
        id: &str,
    ) -> Result<PreparedStep, ActionError> {
        let name = || format!("{table} {}", shown_text(id));
        let before = self.files.stores.for_format(format)?.row(database, table, id)?;
        let before = before.ok_or_else(|| ActionError::Changed(format!("{} is gone", name())))?;
        if released(format, table, &before, Release { at: self.now, why: "" }).is_none() {
            return Err(ActionError::Changed(format!("{} no longer holds anything", name())));
        }
        Ok(PreparedStep::Row {
            format,
            database: database.to_owned(),
            table: table.to_owned(),
            id: id.to_owned(),
            before,
            to: RowTarget::Released,
        })
    }

    /// Resolves a path that may begin with the home.
    fn place(&self, path: &Path) -> PathBuf {
        match path.strip_prefix("~") {
            Ok(below) => self.rules.home.join(below),
            Err(_) => path.to_path_buf(),
        }
    }

    /// Returns a path where nothing lies.
    fn free(&self, path: &Path) -> Result<PathBuf, ActionError> {
        let path = self.place(path);
        let there = match self.files.entry(&path) {
            Ok(at) => self.files.look(at.spot(), &path)?,
            Err(ActionError::Failed { errno: Errno::NOENT, .. }) => None,
            Err(error) => return Err(error),
        };
        match there {
            Some(_) => Err(ActionError::Taken(format!("there is a file at {} already", shown(&path)))),
            None => Ok(path),
        }
    }

    /// Returns a file's print and content, if it may be touched at all.
    pub(super) fn file(&self, path: &Path) -> Result<InspectedFile<D::Folder>, ActionError> {
        let path = self.place(path);
        let at = self.files.entry(&path)?;
        let gone = || ActionError::Changed(format!("{} is gone", shown(&path)));
        let image = self.files.look(at.spot(), &path)?.ok_or_else(gone)?;
        self.may_be_touched(&image, &at)?;
        let print = print_to_move(&image).ok_or_else(gone)?;
        let bytes = match image.content {
            Content::Bytes(bytes) => Some(bytes),
            Content::Refused(_) | Content::Failed(_) => None,
        };
        let place = self.files.place_for(&at)?;
        Ok(InspectedFile { at, print, place, bytes })
    }

    fn may_be_touched(&self, image: &FileImage, at: &FileRef<D::Folder>) -> Result<(), ActionError> {
        let path = &at.path;
        let never =
            |why: String| Err(ActionError::Never(format!("{}: {why}; it is left alone", shown(path))));
        match &image.content {
            Content::Refused(Refusal::Special(sort)) => return never(format!("a {sort}, not a plain file")),
            Content::Refused(Refusal::Linked(links)) => return never(format!("it has {links} names")),
            Content::Refused(Refusal::ForeignOwner(uid)) => {
                return never(format!("it belongs to user {uid}"));
            }
            Content::Failed(why) => return never(why.clone()),
            // Moving it does not require reading it.
            Content::Refused(Refusal::TooBig(_)) | Content::Bytes(_) => {}
        }
        let Some(meta) = image.meta else { return never("nothing is known about it".to_owned()) };
        if meta.ownership.uid != self.rules.uid {
            return never(format!("it belongs to user {}", meta.ownership.uid));
        }
        if self.files.is_locked(at)? {
            return never("a process holds a lock on it".to_owned());
        }
        // Every write changes this time, and no program can set it; the other one any program can set.
        let age = self.now.duration_since(meta.changed_at);
        if age < self.rules.settled_for {
            self.wait.replace(Some(young(path, age)));
        }
        Ok(())
    }
}
