//! Where agents keep the file of a session.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::ToSpan;
use jiff::tz::TimeZone;

use crate::core::model::Untrusted;
use crate::format::spec;
use crate::format::transcripts::Layout;
use crate::source::interface::Scope;
use crate::source::os::open::folder::Folder;
use crate::source::sessions::codex::made_at;
use crate::source::sessions::per_folder::slug;
use crate::source::work::wanted::Session;

/// The most folders that are searched for a session whose folder is not known.
const MOST: usize = 2_000;

/// Returns the file of a session that works in a folder: at its usual place, else `everywhere`; if there is none,
/// something else with its name that is not a plain file.
pub(crate) fn file_of(
    session: &Session,
    cwd: Option<&Untrusted>,
    scope: &Scope,
    everywhere: bool,
) -> Option<PathBuf> {
    let of = |fits| named(session, cwd, scope, (everywhere, fits));
    of(is_plain).or_else(|| of(is_odd))
}

/// Returns the file of a session that has moved to another folder, to which its agent copied the whole file and where
/// it continues it (EnterWorktree, seen with 2.1.332), if that is newer than the previous one.
pub(crate) fn moved_file(
    session: &Session,
    folder: Option<&Untrusted>,
    scope: &Scope,
    before: Option<&Path>,
) -> Option<PathBuf> {
    let moved = named(session, Some(folder?), scope, (false, is_plain))
        .filter(|path| Some(path.as_path()) != before)?;
    let written = |path: &Path| path.symlink_metadata().and_then(|meta| meta.modified()).ok();
    let is_newer = before.is_none_or(|before| written(&moved) > written(before));
    is_newer.then_some(moved)
}

/// Whether a path is suitable.
type Fits = fn(&Path) -> bool;

fn named(
    session: &Session,
    cwd: Option<&Untrusted>,
    scope: &Scope,
    (everywhere, fits): (bool, Fits),
) -> Option<PathBuf> {
    let transcripts = spec(session.format)?.transcripts?;
    let session = session.id.raw();
    let name = format!("{session}.jsonl");
    let in_home = |home: &Path| {
        let all = home.join(transcripts.folder);
        match transcripts.layout {
            Layout::Folders { inner } => below(&all, cwd, inner, &name, (everywhere, fits)),
            Layout::Projects { .. } | Layout::Days if !everywhere => None,
            Layout::Projects { inner } => {
                let end = format!("-{}.jsonl", session.get(..8)?);
                folders(&all).into_iter().find_map(|project| ending(&project.join(inner), &end))
            }
            Layout::Days => rollout(&all, session, &format!("-{name}")),
            Layout::Sessions { name } => Some(all.join(session).join(name)).filter(|path| fits(path)),
            Layout::Stamped | Layout::Nested { .. } if !everywhere => None,
            Layout::Stamped => {
                let end = format!("_{name}");
                folders(&all).into_iter().find_map(|project| ending(&project, &end))
            }
            Layout::Nested { inner } => {
                let at = |project: PathBuf| project.join(session).join(inner);
                folders(&all).into_iter().map(at).find(|path| fits(path))
            }
        }
    };
    let found = scope.homes.folders_of(transcripts.base).find_map(|home| in_home(&home.path));
    found.filter(|path| scope.fence.reaches(path))
}

/// Finds a file in the folder that is named after a session's working folder, or else in any.
fn below(
    projects: &Path,
    cwd: Option<&Untrusted>,
    inner: &str,
    name: &str,
    (everywhere, fits): (bool, Fits),
) -> Option<PathBuf> {
    let at = |project: PathBuf| project.join(inner).join(name);
    let own = cwd.map(|cwd| at(projects.join(slug(cwd.raw())))).filter(|path| fits(path));
    let all = || if everywhere { folders(projects) } else { Vec::new() };
    own.or_else(|| all().into_iter().map(at).find(|path| fits(path)))
}

fn is_plain(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| meta.is_file())
}

fn is_odd(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|meta| !meta.is_file())
}

/// Returns the folders of a folder.
pub(crate) fn folders(at: &Path) -> Vec<PathBuf> {
    let names = Folder::open(at).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    names.into_iter().take(MOST).map(|entry| at.join(entry.name)).collect()
}

/// Returns the newest file of a folder whose name ends so.
fn ending(at: &Path, end: &str) -> Option<PathBuf> {
    let fits = |name: &OsStr| name.to_str().is_some_and(|name| name.ends_with(end));
    let names = Folder::open(at).ok()?.entries(fits).ok()?;
    names.last().map(|entry| at.join(&entry.name))
}

/// Finds a rollout: its folder is the day, in any zone, on which its thread was made, and that
/// stands in the thread's ID (RFC 9562, version 7).
pub(crate) fn rollout(sessions: &Path, thread: &str, end: &str) -> Option<PathBuf> {
    let day = made_at(thread)?.to_zoned(TimeZone::UTC).date();
    [0, -1, 1].into_iter().find_map(|days| {
        let day = day.checked_add(days.days()).ok()?;
        let folder = format!("{:04}/{:02}/{:02}", day.year(), day.month(), day.day());
        ending(&sessions.join(folder), end)
    })
}
