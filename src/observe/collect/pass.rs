//! One pass over the files of all formats.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::sync::Arc;

use rustix::fs::FileType;

use crate::core::model::{
    BrokenFile, Code, FileMeta, FolderId, Format, HomeFolder, HomePart, Medium, Record, Untrusted,
};
use crate::format;
use crate::format::{Base, FileContents, FileKind, Reading, git};
use crate::observe::collect::health::Tallies;
use crate::observe::collect::here::{Here, Layout, fixed};
use crate::observe::collect::kept::{FileCache, KeptFile};
use crate::observe::collect::listing::{self, Links};
use crate::source::interface::Hints;
use crate::source::os::fence::Fence;
use crate::source::os::locks::Locks;
use crate::source::os::open::error::OpenError;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::image::image;
use crate::source::os::open::listing::Entry;
use crate::source::os::open::medium::Media;
use crate::source::os::opener::Openers;

/// The results of one pass.
pub(crate) struct Pass<'a> {
    reading: Reading<'a>,
    layout: &'a Layout,
    /// The cache of the previous look, and that of this one.
    before: FileCache,
    kept: FileCache,
    media: Media,
    /// Read on first use.
    locks: Option<Locks>,
    openers: Openers,
    /// The files that were seen and not cached: each is read once, however many places and links lead to it.
    passed: HashSet<(FolderId, OsString)>,
    hints: Hints,
    homes: Vec<HomeFolder>,
    pub(crate) records: Vec<Arc<Record>>,
    /// How many records have returned their working folder.
    asked: usize,
    broken: Vec<BrokenFile>,
    pub(crate) tallies: Tallies,
    /// Whether a record is new or differs from the previous look.
    pub(crate) has_news: bool,
}

/// State that one look leaves for the next.
pub(crate) type PassState = (FileCache, Media, Openers);

impl<'a> Pass<'a> {
    pub(crate) fn new(reading: Reading<'a>, layout: &'a Layout, (before, media, openers): PassState) -> Self {
        Self {
            reading,
            layout,
            kept: FileCache::default(),
            before,
            media,
            locks: None,
            openers,
            passed: HashSet::new(),
            hints: Hints::default(),
            homes: Vec::new(),
            records: Vec::new(),
            asked: 0,
            broken: Vec::new(),
            tallies: Tallies::default(),
            has_news: false,
        }
    }

    /// Ends the pass: returns the results, and adds the hints.
    pub(crate) fn finish(self, hints: &mut Hints) -> (Vec<Arc<Record>>, Vec<BrokenFile>, PassState) {
        *hints = self.hints;
        (self.records, self.broken, (self.kept, self.media, self.openers))
    }

    /// Returns the folders named by records that were read since the last call.
    pub(crate) fn new_cwds(&mut self) -> impl Iterator<Item = &Path> {
        let asked = std::mem::replace(&mut self.asked, self.records.len());
        self.records.iter().skip(asked).filter_map(|record| record.cwd.as_deref())
    }

    /// Reads the files of every format below one folder.
    pub(crate) fn read_base(&mut self, base: Base, at: &Path, fence: &Fence) {
        if !fence.reaches(at) {
            return self.refuse(base, at);
        }
        // Opened once for everything below it.
        let opened = listing::base(at);
        if base == Base::Home {
            self.homes.extend(opened.iter().filter_map(|folder| home_folder(folder, HomePart::Whole)));
        }
        for (dir, places) in self.layout.folders_of(base) {
            self.note_homes(base, &opened, dir);
            self.hints.folders.extend(listing::watched(at, dir));
            for folder in listing::fitting(&opened, dir, links(base)) {
                if let Err(error) = folder.and_then(|folder| self.read_folder(&folder, places)) {
                    places.formats().iter().for_each(|format| self.tallies.failure(*format, &error));
                }
            }
        }
    }

    /// Notes which folder of a home records are read below.
    fn note_homes(&mut self, base: Base, opened: &listing::Fitting, dir: &str) {
        if !matches!(base, Base::Home | Base::ClaudeConfig | Base::Cache) {
            return;
        }
        let folders = listing::fitting(opened, fixed(dir), links(base));
        let stores = folders.iter().flatten().filter_map(|folder| home_folder(folder, HomePart::Store));
        self.homes.extend(stores);
    }

    /// Returns the folders of homes that were read below.
    pub(crate) fn homes(&mut self) -> Vec<HomeFolder> {
        std::mem::take(&mut self.homes)
    }

    fn refuse(&mut self, base: Base, at: &Path) {
        let why = format!("{} is outside the folders that may be read", Untrusted::from_path(at));
        for format in self.layout.folders_of(base).flat_map(|(_, here)| here.formats()) {
            self.tallies.note(*format, why.clone());
        }
    }

    fn read_folder(&mut self, folder: &Folder, places: &Here) -> Result<(), OpenError> {
        let id = folder.id()?;
        let medium = self.media.medium(folder, id);
        let entries = folder.listing(|name| places.recognise(name).is_some())?;
        self.hints.folders.insert(folder.path().to_path_buf());
        for name in places.own_names() {
            self.hints.names.entry(folder.path().to_path_buf()).or_default().insert(name.to_owned());
        }
        places.formats().iter().for_each(|format| self.tallies.folder(*format));
        self.kept.reserve(id, entries.len());
        for entry in entries.iter() {
            let Some((format, kind)) = places.recognise(&entry.name) else { continue };
            if !self.has_seen(id, &entry.name) {
                self.read_file((folder, id, medium), entry, format, kind);
            }
        }
        Ok(())
    }

    fn has_seen(&self, id: FolderId, name: &OsString) -> bool {
        let is_passed = || !self.passed.is_empty() && self.passed.contains(&(id, name.clone()));
        self.kept.has(id, name) || is_passed()
    }

    fn read_file(
        &mut self,
        (folder, id, medium): (&Folder, FolderId, Medium),
        entry: Entry,
        format: Format,
        kind: FileKind,
    ) {
        let before = self.before.file(id, &entry.name).filter(|before| before.kind == kind).cloned();
        let before = match before {
            Some(before) if self.is_unchanged((format, &before), folder, &entry) => {
                return self.accept((id, entry.name), format, before);
            }
            before => before,
        };
        let Some(mut file) = image(folder, &entry) else {
            self.passed.insert((id, entry.name));
            return;
        };
        file.locked_by = file.meta.and_then(|meta| self.locked_by(format, &entry.name, &meta));
        file.medium = match &file.meta {
            Some(meta) => self.media.of_file((folder, id), (&entry.name, meta), medium),
            None => Medium::Unknown,
        };
        let (meta, locked_by) = (file.meta, file.locked_by);
        let record = match format::read(kind, &file, &self.reading) {
            FileContents::Record(mut record) => {
                if let Some(neighbour) = self.records.last() {
                    Arc::make_mut(&mut record).share_with(neighbour);
                }
                let known = before.as_ref().and_then(KeptFile::record).filter(|known| **known == record);
                self.has_news |= known.is_none();
                Some(known.cloned().unwrap_or(record))
            }
            FileContents::Ignored => None,
            FileContents::Broken(broken) => return self.reject(id, entry.name, broken, before),
        };
        // Only an open file has facts, and only an open file has been parsed.
        let Some(meta) = meta else { return };
        let read = KeptFile::new((kind, &entry.name), (&meta, locked_by), record, self.reading.now);
        self.accept((id, entry.name), format, read);
    }

    /// Returns whether a file certainly has the content that was read before.
    fn is_unchanged(
        &mut self,
        (format, before): (Format, &KeptFile),
        folder: &Folder,
        entry: &Entry,
    ) -> bool {
        folder.look_at(&entry.name).is_some_and(|(sort, meta)| {
            sort == FileType::RegularFile && before.is_of(&meta, self.locked_by(format, &entry.name, &meta))
        })
    }

    fn accept(&mut self, (id, name): (FolderId, OsString), format: Format, read: KeptFile) {
        if let Some(record) = read.record() {
            self.tallies.record(format);
            self.records.push(Arc::clone(record));
        }
        if self.kept.has_room() {
            self.kept.keep(id, read);
        } else {
            self.passed.insert((id, name));
        }
    }

    /// Notes a broken file. A file that is being written keeps its earlier result.
    fn reject(&mut self, id: FolderId, name: OsString, broken: BrokenFile, before: Option<KeptFile>) {
        let format = broken.format;
        let is_torn = broken.problem.code == Code::TornRecord;
        self.tallies.broken(format);
        self.broken.push(broken);
        match before.filter(|before| is_torn && before.record().is_some()) {
            Some(before) => self.accept((id, name), format, before),
            None => drop(self.passed.insert((id, name))),
        }
    }

    /// Returns the process that holds a kernel lock on a file, or has git's lock open, which has no other holder; only
    /// for lock files.
    fn locked_by(&mut self, format: Format, name: &OsStr, meta: &FileMeta) -> Option<u32> {
        if format == Format::Git && name.to_str().is_some_and(git::is_of_command) {
            return self.openers.find_cached(name, meta, self.reading.now);
        }
        let is_lock = name.as_bytes().ends_with(b".lock");
        is_lock.then(|| self.locks.get_or_insert_with(Locks::read).held_by(name, meta)).flatten()
    }
}

/// Returns which links below a base are followed: in a home its owner has made them.
fn links(base: Base) -> Links {
    match base {
        Base::Home | Base::ClaudeConfig | Base::Cache => Links::Own,
        Base::Tmp | Base::GitCommon | Base::Worktree => Links::None,
    }
}

/// Returns which folder of a home it is, if that ID lasts.
fn home_folder(folder: &Folder, part: HomePart) -> Option<HomeFolder> {
    let id = folder.id().ok().filter(|_| folder.has_lasting_id())?;
    Some(HomeFolder { path: folder.path().to_owned(), id, part })
}
