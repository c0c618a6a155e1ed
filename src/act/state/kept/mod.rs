//! Keeps versions of files that guarded windows write: contents as git's loose objects, and for each day a list.
//!
//! Several hooks write at once: an object gets its name only when it is whole, and never replaces one; a list grows as
//! a ledger does. Nothing is synced to the disk.

pub(crate) mod prune;
pub(crate) mod saving;

use std::ffi::{OsStr, OsString};
use std::path::Path;

use jiff::Timestamp;
use miniz_oxide::deflate::compress_to_vec_zlib;
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Side};
use crate::act::fs::system::System;
use crate::act::state::append::{open_end, write_once};
use crate::act::state::bind::open;
use crate::core::model::snapshot::ledger::kept::{KeptVersion, header, list_name};
use crate::core::model::text::{hex, json};
use crate::source::own::kept::KeptFiles;
use crate::source::repos::objects::{Kind, Name, with_head};

/// From which size on contents are stored as they are, in bytes: a hook has no time to compress them.
const LARGE: usize = 512 << 10;

/// Keeps a content under its name; one that is there already only gets the moment as its time, so that no pruning
/// takes it for an old one.
///
/// # Errors
/// A folder or the file cannot be made or written, or is not this user's own.
pub(crate) fn keep_content(
    files: &KeptFiles,
    name: &Name,
    content: &[u8],
    now: Timestamp,
) -> Result<(), ActionError> {
    let digits = hex(name);
    let (first, rest) = digits.split_at(2);
    let folder = files.objects().join(first);
    for above in [&files.folder, &files.objects()] {
        open(&System, above)?;
    }
    let opened = open(&System, &folder)?;
    let (path, rest) = (folder.join(rest), OsStr::new(rest));
    if opened.look_at(rest).is_some_and(|(sort, _)| sort == rustix::fs::FileType::RegularFile) {
        return System.touch((&opened, rest), now).map_err(ActionError::failed_at("touch", &path));
    }
    // Another hook may be about to keep the same.
    let draft = OsString::from(format!(".{:016x}.new", System.random()));
    let draft = (&opened, draft.as_os_str());
    let level = if content.len() < LARGE { 1 } else { 0 };
    let packed = compress_to_vec_zlib(&with_head(Kind::Blob, content), level);
    let made = System.create(draft);
    let mut file = made.map_err(ActionError::failed_at("make", &path))?;
    let written = System.write(&mut file, &packed);
    match written.and_then(|()| System.rename_new(draft, (&opened, rest), Side::Private)) {
        Ok(()) => Ok(()),
        Err(errno) => {
            // A leftover draft of ours is useless.
            let _ = System.remove(draft);
            let is_there =
                opened.look_at(rest).is_some_and(|(sort, _)| sort == rustix::fs::FileType::RegularFile);
            // Another hook has kept the same.
            let is_kept = errno == Errno::EXIST && is_there;
            if is_kept { Ok(()) } else { Err(ActionError::failed_at("write", &path)(errno)) }
        }
    }
}

/// Adds versions of one working tree's files to the list of a day; returns whether they are its first.
///
/// # Errors
/// The folder or the list cannot be made or written, or is not this user's own.
pub(crate) fn add(
    files: &KeptFiles,
    (tree, now): (&str, Timestamp),
    versions: &[KeptVersion],
) -> Result<bool, ActionError> {
    let path = files.folder.join(list_name(now));
    if let Some(above) = files.folder.parent() {
        open(&System, above)?;
    }
    open(&System, &files.folder)?;
    append(&path, tree, versions)
}

/// Adds versions to a list, which is made if needed; returns whether they are its first.
///
/// # Errors
/// The list cannot be made or written, or is not this user's own.
fn append(path: &Path, tree: &str, versions: &[KeptVersion]) -> Result<bool, ActionError> {
    let text = lines(versions)?;
    let append = || {
        let (file, size) = open_end(path)?;
        let text = if size == 0 { [first_line(tree)?, text].concat() } else { text };
        write_once(&file, text.as_bytes()).map(|()| size == 0)
    };
    append().map_err(ActionError::failed_at("write", path))
}

/// Returns the first line of a list of this tree.
///
/// # Errors
/// Never: it has nothing that cannot be written as JSON.
fn first_line(tree: &str) -> Result<String, Errno> {
    json::to_line(&header(tree)).map_err(|_| Errno::INVAL)
}

/// Returns versions as lines. A line begins on a new one, so one torn by a crash or a full disk stays alone.
///
/// # Errors
/// One cannot be written as JSON.
fn lines(versions: &[KeptVersion]) -> Result<String, ActionError> {
    let line = |version| json::to_line(version).map_err(|error| ActionError::Never(error.to_string()));
    let lines: Vec<String> = versions.iter().map(line).collect::<Result<_, _>>()?;
    Ok(format!("\n{}\n", lines.join("\n")))
}

/// Returns whether a name is that of a draft, which only a process that was ended leaves.
fn is_draft(name: &OsStr) -> bool {
    name.to_str().is_some_and(|name| name.starts_with('.') && name.ends_with(".new"))
}

/// Opens the folder of a working tree's kept files, if it is this user's own.
///
/// # Errors
/// It is not, or cannot be opened.
fn opened(path: &Path) -> Result<<System as Disk>::Folder, ActionError> {
    let opened = System.folder(path).map_err(ActionError::failed_at("open", path))?;
    crate::act::fs::park::own_folder(&System, opened, path)
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test makes and removes its own files, and runs git")]
mod tests;
