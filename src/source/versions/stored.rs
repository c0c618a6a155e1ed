//! The sessions in the agents' own folders, whether a window runs them or not.

use std::cmp::Reverse;
use std::collections::{BTreeSet, HashMap};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use bstr::Finder;
use rustix::fs::FileType;

use crate::core::model::report::context::is_valid_id;
use crate::core::model::{Doing, FileMeta, Format, Turn, TurnState, Work};
use crate::format::agent::bytes::codex::THREAD;
use crate::format::agent::bytes::lines::plain_name;
use crate::format::transcripts::{Layout, Transcripts};
use crate::format::{Base, spec};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::fence::Fence;
use crate::source::os::open::folder::Folder;
use crate::source::os::open::medium::medium_at;
use crate::source::places::homes::Homes;
use crate::source::sessions::codex::thread_of;
use crate::source::sessions::gemini::{start_of, working_folders};
use crate::source::sessions::head::beginning;
use crate::source::sessions::per_folder::slug;
use crate::source::versions::files::{MOST, in_folders};
use crate::source::versions::session::SessionFiles;
pub(crate) use crate::source::versions::session::StoredSession;
use crate::source::versions::sieve::has_any;
use crate::source::versions::stored_rows;
use crate::source::work::find::folders;

/// The most sessions that are looked at, the newest.
const MOST_SESSIONS: usize = 2_000;
/// How much of their files is searched for names of files, the newest first, in bytes.
const MOST_SEARCHED: u64 = 8 << 30;

/// What was found.
#[derive(Debug, Default)]
pub(crate) struct SessionStore {
    /// The newest first.
    pub(crate) sessions: Vec<StoredSession>,
    /// How many are beyond the bounds.
    pub(crate) left_out: usize,
}

impl StoredSession {
    /// Returns what is known of its work without reading its file: nothing but where it is.
    pub(crate) fn work(&self) -> Work {
        Work {
            format: self.files.format,
            session: self.files.session.clone(),
            path: self.files.file.clone().into(),
            medium: medium_at(&self.files.file),
            written_at: self.written_at,
            doing: Doing {
                title: self.title.clone(),
                turn: Turn { state: TurnState::Finished, since: None },
                ..Doing::default()
            },
            agents: Vec::new(),
            warnings: Vec::new(),
            skipped: 0,
        }
    }

    /// Returns whether it began in one of these folders or below it, as far as known.
    pub(crate) fn is_in(&self, trees: &[PathBuf]) -> bool {
        let is_slug = |tree: &PathBuf| {
            let project = self.files.file.strip_prefix(self.base_of_projects()?).ok()?;
            let project = project.iter().next()?.to_str()?;
            Some(project.starts_with(&slug(tree.to_str()?)))
        };
        match &self.folder {
            Some(folder) => trees.iter().any(|tree| folder.starts_with(tree)),
            None => trees.iter().any(|tree| is_slug(tree).unwrap_or_default()),
        }
    }

    /// Returns the folder whose folders are named after the sessions' folders.
    fn base_of_projects(&self) -> Option<&Path> {
        let levels = [(Format::ClaudeCode, 2), (Format::Qwen, 3)];
        let (_, levels) = levels.into_iter().find(|(format, _)| *format == self.files.format)?;
        self.files.file.ancestors().nth(levels)
    }

    /// Returns whether one of its files has any of these names.
    fn has_any(&self, names: &[Finder<'_>], fence: &Fence) -> bool {
        let mut texts = names.to_vec();
        if self.files.format == Format::Codex {
            // What its sub-agents have edited stands in files of their own.
            texts.push(Finder::new(THREAD));
        }
        let has = |path: &Path| has_any(path, &texts, MOST, fence).unwrap_or_default();
        has(&self.files.file) || in_folders(&self.files).iter().any(|(_, path)| has(path))
    }
}

impl SessionStore {
    /// Finds the sessions of all agents.
    pub(crate) fn find(homes: &Homes, (fence, copies): (&Fence, &Copies)) -> Self {
        let mut found = Self::default();
        let mut files: Vec<(Format, PathBuf, FileMeta)> = Vec::new();
        for format in Format::ALL {
            let Some(transcripts) = spec(format).and_then(|spec| spec.transcripts) else { continue };
            for home in homes.folders_of(transcripts.base) {
                let all = files_of(&transcripts, &home.path.join(transcripts.folder), fence);
                files.extend(all.into_iter().map(|(path, meta)| (format, path, meta)));
            }
        }
        files.sort_by_key(|(_, _, meta)| Reverse(meta.modified_at));
        let mut projects = HashMap::new();
        let read = files.iter().take(MOST_SESSIONS);
        found.sessions = read.filter_map(|file| session_at(file, &mut projects)).collect();
        found.left_out += files.len().saturating_sub(MOST_SESSIONS);
        for home in homes.folders_of(Base::Home) {
            let path = home.path.join(".local/share/opencode/opencode.db");
            // One that cannot be read now has no sessions; the look says so.
            let all = stored_rows::sessions(&path, (fence, copies), MOST_SESSIONS);
            found.sessions.extend(all.unwrap_or_default());
        }
        found.sessions.sort_by_key(|one| Reverse(one.written_at));
        found
    }

    /// Keeps only those that may have edited a file with one of these paths.
    pub(crate) fn keep_naming(&mut self, paths: &[PathBuf], (fence, copies): (&Fence, &Copies)) {
        let names: Option<Vec<&str>> = paths.iter().map(|path| plain_name(path)).collect();
        // What looks different in each agent's files is looked for by reading them.
        let Some(names) = names else { return };
        let finders: Vec<Finder<'_>> = names.iter().map(|name| Finder::new(*name)).collect();
        let mut databases: HashMap<PathBuf, Option<BTreeSet<String>>> = HashMap::new();
        let mut left = MOST_SEARCHED;
        let mut left_out = 0;
        self.sessions.retain(|one| {
            if one.files.format == Format::OpenCode {
                let naming = databases
                    .entry(one.files.file.clone())
                    .or_insert_with(|| stored_rows::naming(&one.files.file, &names, (fence, copies)).ok());
                return naming.as_ref().is_none_or(|naming| naming.contains(one.files.session.raw()));
            }
            let Some(rest) = left.checked_sub(one.size) else {
                left_out += 1;
                return false;
            };
            left = rest;
            one.has_any(&finders, fence)
        });
        self.left_out += left_out;
    }
}

/// Returns whether the files of a session may have the name of one of these files.
pub(crate) fn may_name(work: &Work, paths: &[PathBuf], fence: &Fence) -> bool {
    let names: Option<Vec<Finder<'_>>> = paths.iter().map(|path| plain_name(path).map(Finder::new)).collect();
    let files =
        SessionFiles { format: work.format, session: work.session.clone(), file: work.path.to_path_buf() };
    let session = StoredSession::new(files, work.written_at);
    work.format == Format::OpenCode || names.is_none_or(|names| session.has_any(&names, fence))
}

/// Lists the transcripts in the folder of all that an agent keeps.
fn files_of(transcripts: &Transcripts, all: &Path, fence: &Fence) -> Vec<(PathBuf, FileMeta)> {
    let jsonl = |name: &str| name.ends_with(".jsonl");
    let below = |inner: &str| -> Vec<(PathBuf, FileMeta)> {
        folders(all).iter().flat_map(|project| plain_files(&project.join(inner), jsonl)).collect()
    };
    if !fence.reaches(all) {
        return Vec::new();
    }
    match transcripts.layout {
        Layout::Folders { inner } | Layout::Projects { inner } => below(inner),
        Layout::Days => {
            let months = folders(all).into_iter().flat_map(|year| folders(&year));
            let days = months.flat_map(|month| folders(&month));
            days.flat_map(|day| plain_files(&day, jsonl)).collect()
        }
        Layout::Sessions { name } => {
            let file = |folder: PathBuf| plain_files(&folder, move |own: &str| own == name);
            folders(all).into_iter().flat_map(file).collect()
        }
        // Their versions are not rebuilt.
        Layout::Stamped | Layout::Nested { .. } => Vec::new(),
    }
}

fn plain_files(at: &Path, fits: impl Fn(&str) -> bool) -> Vec<(PathBuf, FileMeta)> {
    let Ok(folder) = Folder::open(at) else { return Vec::new() };
    let names = folder.entries(|name: &OsStr| name.to_str().is_some_and(&fits)).unwrap_or_default();
    let plain = |name: &OsStr| {
        let (sort, meta) = folder.look_at(name)?;
        (sort == FileType::RegularFile).then(|| (at.join(name), meta))
    };
    names.iter().filter_map(|entry| plain(&entry.name)).collect()
}

/// Returns the session of a transcript; `None` for one of a sub-agent, or one that is not named after a session.
fn session_at(
    (format, path, meta): &(Format, PathBuf, FileMeta),
    projects: &mut HashMap<PathBuf, HashMap<String, String>>,
) -> Option<StoredSession> {
    let begun = beginning(path);
    let mut folder = begun.cwd.filter(|folder| folder.starts_with('/'));
    let session = if *format == Format::Codex {
        thread_of(path).filter(|_| !begun.is_sub_agents)?.raw().to_owned()
    } else if *format == Format::Copilot {
        path.parent()?.file_name()?.to_str()?.to_owned()
    } else if *format == Format::Gemini {
        // `tmp/<project>/chats/<chat>.jsonl`
        let (project, home) = (path.ancestors().nth(2)?, path.ancestors().nth(5)?);
        let known = projects.entry(home.to_path_buf()).or_insert_with(|| working_folders(home));
        folder = known.get(project.file_name()?.to_str()?).cloned();
        let start = start_of(path)?;
        begun.session.filter(|session| session.starts_with(&start)).unwrap_or(start)
    } else {
        path.file_stem()?.to_str()?.to_owned()
    };
    let files = SessionFiles { format: *format, session: session.as_str().into(), file: path.clone() };
    is_valid_id(&session).then(|| StoredSession {
        files,
        written_at: meta.modified_at,
        size: meta.size,
        folder: folder.map(PathBuf::from),
        title: None,
    })
}
