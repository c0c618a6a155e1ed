//! Agents whose session files name their working folder, and at most the process that began the session.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use rustix::fs::FileType;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{Beginning, FileMeta, SessionFile, Tie};
use crate::format::transcripts::sessions::{SessionFiles, StatedSession};
use crate::source::os::open::folder::look_at;
use crate::source::os::open::plain::{open_plain, read_at};
use crate::source::sessions::look::{Look, SessionTarget, folders};

/// How many of a folder's sessions are taken, the newest first.
const NEWEST: usize = 8;
/// How many files that state a session are read of one agent, the newest first.
const MOST: usize = 128;
/// How many folders of sessions are looked into, the newest first: a session's own changes with its files.
const MOST_FOLDERS: usize = 512;
/// How much of such a file is read, in bytes.
const HEAD: usize = 16 << 10;

/// What files stated when they were last read.
#[derive(Default)]
pub(crate) struct Statements {
    read: HashMap<PathBuf, (FileMeta, Option<StatedSession>)>,
}

impl Statements {
    /// Finds the sessions of the folders in which these windows work.
    pub(crate) fn read(
        &mut self,
        look: &mut Look<'_>,
        (home, kept): (&Path, &SessionFiles),
        wanted: &[&SessionTarget],
    ) {
        let mut all: Vec<(PathBuf, FileMeta, StatedSession)> = Vec::new();
        let mut seen: Vec<String> = Vec::new();
        for cwd in folders(wanted) {
            let folder = (kept.folder)(cwd.raw());
            if !seen.contains(&folder) {
                all.extend(self.stated(look, &matching(look, home, &folder), kept));
                seen.push(folder);
            }
        }
        for cwd in folders(wanted) {
            let own = all.iter().filter(|(.., stated)| stated.cwd == cwd);
            for (path, meta, stated) in own.take(NEWEST) {
                look.found.extend(session_file((path, meta), stated, (kept, wanted)));
            }
        }
    }

    /// Returns what the newest files in some folders state, the newest first.
    fn stated(
        &mut self,
        look: &Look<'_>,
        folders: &[PathBuf],
        kept: &SessionFiles,
    ) -> Vec<(PathBuf, FileMeta, StatedSession)> {
        let mut files: Vec<(PathBuf, FileMeta)> =
            folders.iter().flat_map(|folder| look.files(folder, kept.is_one)).collect();
        files.sort_by_key(|(_, meta)| std::cmp::Reverse(meta.modified_at));
        files.truncate(MOST);
        let mut read = |(path, meta): (PathBuf, FileMeta)| {
            let stated = self.of(&path, meta, kept)?;
            Some((path, meta, stated))
        };
        files.into_iter().filter_map(&mut read).collect()
    }

    fn of(&mut self, path: &Path, meta: FileMeta, kept: &SessionFiles) -> Option<StatedSession> {
        if let Some((_, stated)) = self.read.get(path).filter(|(known, _)| *known == meta) {
            return stated.clone();
        }
        let stated = open_plain(path).ok().filter(|(_, meta)| meta.links == 1).and_then(|(fd, _)| {
            let bytes = read_at(&fd, 0, HEAD, 0).ok()?;
            (kept.state)(&bytes).filter(|stated| is_valid_id(stated.id.raw()))
        });
        if self.read.len() > 4 * MOST {
            self.read.clear();
        }
        self.read.insert(path.to_path_buf(), (meta, stated.clone()));
        stated
    }
}

/// Returns the folders below a home that fit a pattern of parts, of which `*` stands for any.
fn matching(look: &Look<'_>, home: &Path, pattern: &str) -> Vec<PathBuf> {
    let mut found = vec![home.to_path_buf()];
    for part in pattern.split('/') {
        found = match part {
            "*" => {
                let below = |at: PathBuf| look.entries(&at, FileType::Directory, |_| true);
                let mut below: Vec<(PathBuf, FileMeta)> = found.into_iter().flat_map(below).collect();
                below.sort_by_key(|(_, meta)| std::cmp::Reverse(meta.modified_at));
                below.into_iter().take(MOST_FOLDERS).map(|(path, _)| path).collect()
            }
            part => found.into_iter().map(|at| at.join(part)).collect(),
        };
    }
    found
}

/// Returns a session file, tied to the window that it names, or else to its folder.
fn session_file(
    (path, meta): (&Path, &FileMeta),
    stated: &StatedSession,
    (kept, wanted): (&SessionFiles, &[&SessionTarget]),
) -> Option<SessionFile> {
    let transcript = (kept.transcript)(path, stated.id.raw())?;
    let is_own = |window: &&&SessionTarget| window.uid == Some(meta.ownership.uid);
    let named = wanted.iter().filter(is_own).map(|window| window.id.pid).find(|pid| stated.pid == Some(*pid));
    let tie = named.map_or_else(|| Tie::Folder(stated.cwd.clone()), Tie::Named);
    // The work may have been written since.
    let written_at =
        look_at(&transcript).map_or(meta.modified_at, |own| own.modified_at.max(meta.modified_at));
    let file = SessionFile::new(kept.agent, stated.id.clone(), tie, (transcript.into(), written_at));
    let beginning = Beginning { at: stated.began_at, is_fork: stated.is_fork, cleared: None };
    Some(SessionFile { beginning, ..file })
}
