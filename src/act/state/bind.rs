//! Keeps the hook notes: which process runs which session, and which sessions wait.

use std::cmp::Reverse;
use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::io::Errno;
use serde::Serialize;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side, Spot};
use crate::act::fs::park::{check_parent, own_folder};
use crate::core::model::snapshot::note::{ContextSize, WAIT_END, wait_file_name, wait_file_start};
use crate::core::model::text::json;
use crate::core::model::{BoundSession, Call, NotedWait, Untrusted};
use crate::source::os::open::folder::Folder;
use crate::source::own::bindings::is_context;

/// How many sessions' context sizes are kept.
const MOST_CONTEXTS: usize = 256;

/// How many waits of one session are kept.
const MOST_WAITS: usize = 16;

/// Writes a note, whole or not at all, for its owner only. It replaces only the same window's earlier note about the
/// same session, so notes of ended processes stay: they are evidence, and some 400 bytes each.
///
/// Nothing is synced to the disk: after a power loss there is another boot, where a note of this one is worth nothing.
///
/// # Errors
/// The folder or the file cannot be made.
pub(crate) fn keep<D: Disk>(disk: &D, folder: &Path, note: &BoundSession) -> Result<(), ActionError> {
    put(disk, (folder, note.file_name()), note)
}

/// Records that a session waits for one call; the oldest notes beyond the limit are removed.
///
/// # Errors
/// The folder or the file cannot be made, or an older note not removed.
pub(crate) fn keep_wait<D: Disk>(disk: &D, folder: &Path, wait: &NotedWait) -> Result<(), ActionError> {
    put(disk, (folder, wait.file_name()), wait)?;
    let opened = open(disk, folder)?;
    too_many(folder, |name| is_wait_of(name, &wait.by), MOST_WAITS)
        .iter()
        .try_for_each(|name| remove(disk, (&opened, name), folder))
}

/// Removes the note that a session waits for a call, if there is one.
///
/// # Errors
/// The note cannot be removed.
pub(crate) fn end_wait<D: Disk>(
    disk: &D,
    folder: &Path,
    by: &BoundSession,
    (call, agent): (&Call, Option<&Untrusted>),
) -> Result<(), ActionError> {
    let name = OsString::from(wait_file_name(by, Some(call), agent));
    match disk.folder(folder) {
        Ok(opened) => remove(disk, (&opened, &name), folder),
        Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(ActionError::failed_at("open", folder)(errno)),
    }
}

/// Removes every wait of a session that is over by `is_over`.
///
/// # Errors
/// A note cannot be removed.
pub(crate) fn end_waits<D: Disk>(
    disk: &D,
    folder: &Path,
    by: &BoundSession,
    is_over: impl Fn(&NotedWait) -> bool,
) -> Result<(), ActionError> {
    let entries = Folder::open(folder).and_then(|opened| opened.entries(|name| is_wait_of(name, by)));
    let Ok(entries) = entries else { return Ok(()) };
    let opened = open(disk, folder)?;
    for entry in entries {
        let bytes = disk.read_own((&opened, &entry.name)).unwrap_or_default();
        // A note that cannot be read does not show that a session waits.
        if NotedWait::parse(&bytes).is_none_or(|wait| is_over(&wait)) {
            remove(disk, (&opened, &entry.name), folder)?;
        }
    }
    Ok(())
}

/// Returns whether this is the name of a wait of a process for a session.
pub(crate) fn is_wait_of(name: &OsStr, by: &BoundSession) -> bool {
    let rest = name.to_str().and_then(|name| name.strip_prefix(&wait_file_start(by)));
    rest.is_some_and(|rest| {
        rest == WAIT_END || rest.strip_suffix(WAIT_END).is_some_and(|mark| mark.ends_with('.'))
    })
}

/// Removes a note; one that is gone already is fine.
fn remove<D: Disk>(disk: &D, at: Spot<'_, D::Folder>, folder: &Path) -> Result<(), ActionError> {
    match disk.remove(at) {
        Ok(()) | Err(Errno::NOENT) => Ok(()),
        Err(errno) => Err(ActionError::failed_at("remove", &folder.join(at.1))(errno)),
    }
}

/// Records the size of a session's context, if it is not known yet; the oldest notes beyond the limit are removed.
///
/// # Errors
/// The folder cannot be listed, or a file not made or removed.
pub(crate) fn keep_context<D: Disk>(disk: &D, folder: &Path, note: &ContextSize) -> Result<(), ActionError> {
    let name = OsString::from(note.file_name());
    let opened = open(disk, folder)?;
    let known = disk.read_own((&opened, &name)).ok().and_then(|bytes| ContextSize::parse(&bytes));
    if known.as_ref() == Some(note) {
        return Ok(());
    }
    put(disk, (folder, note.file_name()), note)?;
    for old in too_many(folder, is_context, MOST_CONTEXTS) {
        disk.remove((&opened, &old)).map_err(ActionError::failed_at("remove", &folder.join(&old)))?;
    }
    Ok(())
}

/// Returns the matching names in a folder that exceed the limit, least recently written first.
pub(crate) fn too_many(folder: &Path, matters: impl Fn(&OsStr) -> bool, most: usize) -> Vec<OsString> {
    let entries = Folder::open(folder).and_then(|opened| Ok((opened.entries(matters)?, opened)));
    let Ok((entries, opened)) = entries else { return Vec::new() };
    let written = |name: &OsString| opened.look_at(name).map(|(_, meta)| Reverse(meta.modified_at));
    let mut names: Vec<OsString> = entries.into_iter().map(|entry| entry.name).collect();
    if names.len() <= most {
        return Vec::new();
    }
    names.sort_by_cached_key(written);
    names.split_off(most)
}

/// Writes a note under its name, whole or not at all, for its owner only.
///
/// # Errors
/// The folder or the file cannot be made.
pub(crate) fn put<D: Disk, T: Serialize>(disk: &D, to: (&Path, String), note: &T) -> Result<(), ActionError> {
    let line = json::to_line(note).map_err(|error| ActionError::Never(error.to_string()))?;
    put_text(disk, to, &line)
}

/// Writes a text under its name, whole or not at all, for its owner only.
///
/// # Errors
/// The folder or the file cannot be made.
pub(crate) fn put_text<D: Disk>(
    disk: &D,
    (folder, name): (&Path, String),
    text: &str,
) -> Result<(), ActionError> {
    // A hook that runs twice at once writes two drafts; the name is this process's own.
    let draft = OsString::from(format!(".{name}.{}.new", std::process::id()));
    let name = OsString::from(name);
    let path = folder.join(&name);
    let opened = open(disk, folder)?;
    let (from, to) = ((&opened, draft.as_os_str()), (&opened, name.as_os_str()));
    let mut file = disk.create(from).map_err(ActionError::failed_at("make", &path))?;
    let written = disk.write(&mut file, text.as_bytes());
    written.and_then(|()| replace(disk, from, to)).map_err(|errno| {
        // A leftover draft of ours is useless.
        let _ = disk.remove(from);
        ActionError::failed_at("write", &path)(errno)
    })
}

pub(crate) fn open<D: Disk>(disk: &D, folder: &Path) -> Result<D::Folder, ActionError> {
    let opened = match disk.folder(folder) {
        Err(Errno::NOENT) => {
            disk.make_folder(folder).map_err(ActionError::failed_at("make", folder))?;
            disk.folder(folder)
        }
        opened => opened,
    };
    // Other users could put their notes in the place of these, or another folder in the place of this one.
    check_parent(disk, folder.parent().unwrap_or(folder))?;
    own_folder(disk, opened.map_err(ActionError::failed_at("open", folder))?, folder)
}

/// Moves a draft to its name; if the window's earlier note has that name, the two are exchanged and the earlier note
/// is removed.
pub(crate) fn replace<D: Disk>(
    disk: &D,
    (folder, draft): Spot<'_, D::Folder>,
    to: Spot<'_, D::Folder>,
) -> Result<(), Errno> {
    match disk.rename_new((folder, draft), to, Side::Private) {
        Err(Errno::EXIST) => {
            disk.exchange(folder, draft, to.1)?;
            disk.remove((folder, draft))
        }
        done => done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::act::fs::system::System;

    #[test]
    fn the_sizes_of_old_sessions_leave() {
        let folder = tempfile::tempdir().unwrap();
        let keep = |number: usize, tokens| {
            let note = ContextSize::new(format!("s-{number}").into(), tokens).unwrap();
            keep_context(&System, folder.path(), &note).unwrap();
        };
        (0..MOST_CONTEXTS).for_each(|number| keep(number, 200_000));
        let written = |name: &str| folder.path().join(name).metadata().and_then(|meta| meta.modified()).ok();
        let before = written("s-0.context");
        keep(0, 200_000);
        assert!(before.is_some() && written("s-0.context") == before, "what is known is not written again");
        let old = std::fs::File::options().write(true).open(folder.path().join("s-7.context")).unwrap();
        old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        keep(MOST_CONTEXTS, 200_000);
        assert!(written("s-0.context").is_some() && written("s-7.context").is_none());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), MOST_CONTEXTS);
    }
}
