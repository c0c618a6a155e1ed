//! Removes kept versions that are too old or too many, the oldest superseded first. The last version of a file by a
//! session stays as long as neither the file nor the checked out commit has the same, and so does the last that was
//! kept because of others' shell lines.

use std::collections::HashMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Patience};
use crate::act::fs::system::System;
use crate::act::state::bind::put_text;
use crate::act::state::kept::{append, first_line, is_draft, lines, opened};
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::kept::{KeptReason, KeptVersion, LOST, list_name};
use crate::source::os::open::folder::Folder;
use crate::source::own::kept::KeptFiles;

/// How long a content stays at least, as a hook may be about to write down whose it is: 10 min.
const YOUNG: SignedDuration = SignedDuration::from_mins(10);
/// How long a draft stays: 1 h.
const DRAFT: SignedDuration = SignedDuration::from_hours(1);
/// The file whose lock only one process holds that prunes.
const LOCK: &str = "prune.lock";

/// How much is kept of one working tree.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptLimits {
    /// In bytes, as they lie on the disk.
    pub(crate) bytes: u64,
    /// From the day of a version to the last day on which it is in a list.
    pub(crate) age: SignedDuration,
}

/// Removes what exceeds the limits. `is_elsewhere` says whether the file itself or the checked out commit has a
/// version's content, `is_in_time` whether to go on: what is left then is for the next time.
///
/// # Errors
/// A folder or a file cannot be read, written or removed, or is not this user's own. What could not be moved to another
/// list first is not removed.
pub(crate) fn prune(
    files: &KeptFiles,
    (tree, limits, now): (&str, KeptLimits, Timestamp),
    is_elsewhere: impl FnMut(&KeptVersion) -> bool,
    is_in_time: impl Fn() -> bool,
) -> Result<(), ActionError> {
    let folder = opened(&files.folder)?;
    // Another process prunes already.
    let Ok(_lock) = System.lock((&folder, OsStr::new(LOCK)), Patience::None) else { return Ok(()) };
    let Some(lists) = read_lists(files, &is_in_time) else { return Ok(()) };
    let mut pruning = Pruning { files, folder, tree, is_elsewhere, known: HashMap::new(), lists };
    pruning.drop_old(limits, now)?;
    if is_in_time() { pruning.drop_contents((limits, now), &is_in_time) } else { Ok(()) }
}

/// Reads all lists, each with its name; `None` if one cannot be read or time is up: nothing is removed then.
fn read_lists(files: &KeptFiles, is_in_time: impl Fn() -> bool) -> Option<Vec<(String, Vec<KeptVersion>)>> {
    let names = [LOST.to_owned()].into_iter().chain(files.lists());
    let read = |name: String| {
        let versions = files.list(&name).filter(|_| is_in_time())?;
        Some((name, versions))
    };
    names.map(read).collect()
}

/// What a version is one of: its file, its session, and whether it was kept because of others.
type Series = (Untrusted, Untrusted, bool);

fn series_of(version: &KeptVersion) -> Series {
    (version.path.clone(), version.session.clone(), version.why == KeptReason::Other)
}

struct Pruning<'a, F> {
    files: &'a KeptFiles,
    folder: <System as Disk>::Folder,
    tree: &'a str,
    is_elsewhere: F,
    /// What `is_elsewhere` said.
    known: HashMap<(Series, Timestamp), bool>,
    lists: Vec<(String, Vec<KeptVersion>)>,
}

impl<F: FnMut(&KeptVersion) -> bool> Pruning<'_, F> {
    /// Returns the moment of the last version with a content of each file by each session.
    fn last(&self) -> HashMap<Series, Timestamp> {
        let mut last = HashMap::new();
        for version in self.lists.iter().flat_map(|(_, versions)| versions).filter(|one| one.blob.is_some()) {
            let at = last.entry(series_of(version)).or_insert(version.at);
            *at = version.at.max(*at);
        }
        last
    }

    fn is_needed(&mut self, version: &KeptVersion, last: &HashMap<Series, Timestamp>) -> bool {
        let series = series_of(version);
        if version.blob.is_none() || last.get(&series) != Some(&version.at) {
            return false;
        }
        let is_elsewhere = &mut self.is_elsewhere;
        !*self.known.entry((series, version.at)).or_insert_with(|| is_elsewhere(version))
    }

    /// Removes the lists of days that are past the limit; what nothing else has of them goes to a list of its own.
    fn drop_old(&mut self, limits: KeptLimits, now: Timestamp) -> Result<(), ActionError> {
        let Ok(until) = now.checked_sub(limits.age) else { return Ok(()) };
        let until = list_name(until);
        let last = self.last();
        let lists = std::mem::take(&mut self.lists);
        for (name, versions) in lists {
            let is_lost = name == LOST;
            if !is_lost && name >= until {
                self.lists.push((name, versions));
                continue;
            }
            let count = versions.len();
            let needed: Vec<KeptVersion> =
                versions.into_iter().filter(|version| self.is_needed(version, &last)).collect();
            match is_lost {
                true if needed.len() < count => {
                    let first =
                        first_line(self.tree).map_err(ActionError::failed_at("write", &self.files.folder))?;
                    let text = [first, lines(&needed)?].concat();
                    put_text(&System, (&self.files.folder, LOST.to_owned()), &text)?;
                }
                true => {}
                false => {
                    if !needed.is_empty() {
                        append(&self.files.folder.join(LOST), self.tree, &needed)?;
                    }
                    self.remove(&self.folder, OsStr::new(&name), &self.files.folder)?;
                }
            }
            self.lists.push((LOST.to_owned(), needed));
        }
        Ok(())
    }

    /// Removes the contents that no list names, and as many others as exceed the limit.
    fn drop_contents(
        &mut self,
        (limits, now): (KeptLimits, Timestamp),
        is_in_time: impl Fn() -> bool,
    ) -> Result<(), ActionError> {
        let Some(contents) = self.contents(now, &is_in_time)? else { return Ok(()) };
        let mut total: u64 = contents.iter().map(|content| content.size).sum();
        let last = self.last();
        let versions: Vec<KeptVersion> = self
            .lists
            .iter()
            .flat_map(|(_, versions)| versions)
            .filter(|one| one.blob.is_some())
            .cloned()
            .collect();
        // How much each is needed: whether it is the last of some session, and when it was kept last.
        let mut ranks: HashMap<String, (bool, Timestamp)> = HashMap::new();
        for version in &versions {
            let Some(blob) = &version.blob else { continue };
            let is_last = last.get(&series_of(version)) == Some(&version.at);
            let rank = ranks.entry(blob.raw().to_owned()).or_insert((is_last, version.at));
            *rank = (is_last, version.at).max(*rank);
        }
        let mut by_rank: Vec<_> =
            contents.iter().map(|content| (ranks.get(&content.blob).copied(), content)).collect();
        by_rank.sort_by_key(|(rank, _)| *rank);
        for (rank, content) in by_rank {
            let is_over = total > limits.bytes;
            if content.is_young || rank.is_some() && !is_over {
                continue;
            }
            let of_it =
                |version: &&KeptVersion| version.blob.as_ref().is_some_and(|blob| blob.raw() == content.blob);
            let is_last = rank.is_some_and(|(is_last, _)| is_last);
            if is_last && versions.iter().filter(of_it).any(|version| self.is_needed(version, &last)) {
                continue;
            }
            if !is_in_time() {
                return Ok(());
            }
            let folder = opened(&content.folder)?;
            self.remove(&folder, &content.name, &content.folder)?;
            total = total.saturating_sub(content.size);
        }
        Ok(())
    }

    /// Returns all contents, and removes drafts that no process has finished; `None` if time is up.
    fn contents(
        &self,
        now: Timestamp,
        is_in_time: impl Fn() -> bool,
    ) -> Result<Option<Vec<Content>>, ActionError> {
        let objects = self.files.objects();
        let mut contents = Vec::new();
        for first in names(&objects, |name| name.len() == 2) {
            if !is_in_time() {
                return Ok(None);
            }
            let folder = objects.join(&first);
            let opened = opened(&folder)?;
            for name in names(&folder, |_| true) {
                let Some((_, meta)) = opened.look_at(&name) else { continue };
                let age = now.duration_since(meta.modified_at);
                if is_draft(&name) {
                    if age > DRAFT {
                        self.remove(&opened, &name, &folder)?;
                    }
                    continue;
                }
                let blob = format!("{}{}", first.display(), name.display());
                let (size, is_young) = (meta.size, age <= YOUNG);
                contents.push(Content { blob, size, is_young, folder: folder.clone(), name });
            }
        }
        Ok(Some(contents))
    }

    /// Removes a file of claimtop's own; one that has gone is fine.
    fn remove(&self, folder: &Folder, name: &OsStr, path: &Path) -> Result<(), ActionError> {
        match System.remove((folder, name)) {
            Ok(()) | Err(Errno::NOENT) => Ok(()),
            Err(errno) => Err(ActionError::failed_at("remove", &path.join(name))(errno)),
        }
    }
}

/// A kept content on the disk.
struct Content {
    /// Its name in git.
    blob: String,
    /// In bytes.
    size: u64,
    is_young: bool,
    folder: PathBuf,
    name: OsString,
}

fn names(folder: &Path, matters: impl Fn(&OsStr) -> bool) -> Vec<OsString> {
    let entries = Folder::open(folder).and_then(|folder| folder.entries(matters));
    entries.unwrap_or_default().into_iter().map(|entry| entry.name).collect()
}
