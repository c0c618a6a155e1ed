//! Writes a guarded window's ledger: whole lines at the end of its own file, which nobody waits for.
//!
//! Several hooks of one window may write at once: a line is written by one call at the end of the file, where
//! the system puts them one behind the other (write(2), `O_APPEND`). A line begins on a new one, so what a
//! crash or a full disk tore stays alone. Nothing is brought to the disk: what is lost is a warning.

use std::path::Path;

use rustix::fs::{CWD, Mode, OFlags, RenameFlags, fstat, openat, renameat_with};
use rustix::io::{Errno, write};
use rustix::process::geteuid;

use crate::act::bind::open;
use crate::act::error::ActionError;
use crate::act::fs::system::System;
use crate::core::model::json;
use crate::core::model::ledger::{LedgerHolder, LedgerLine, folder_name};

/// The size from which a ledger is put aside for a new one, in bytes; one older part is kept.
const MOST: i64 = 512 << 10;

/// Adds lines to the ledger of a window for some tree.
///
/// # Errors
/// The folder or the file cannot be made or written, or is not one's own.
pub(crate) fn add(ledgers: &Path, holder: &LedgerHolder, lines: &[LedgerLine]) -> Result<(), ActionError> {
    let folder = ledgers.join(folder_name(holder.tree.raw()));
    let path = folder.join(holder.file_name());
    let text = |lines: &[LedgerLine]| -> Result<String, ActionError> {
        let mut text = String::from("\n");
        for line in lines {
            text.push_str(&json::to_line(line).map_err(|error| ActionError::Never(error.to_string()))?);
            text.push('\n');
        }
        Ok(text)
    };
    let first = LedgerLine::Holder(Box::new(holder.clone()));
    open(&System, &folder)?;
    append(&path, text(lines)?.as_bytes(), text(&[first])?.as_bytes())
        .map_err(ActionError::at("write", &path))
}

/// Adds a line to a file of claimtop's own that is kept below some size.
///
/// # Errors
/// The folder or the file cannot be made or written, or is not one's own.
pub(crate) fn count(path: &Path, line: &str) -> Result<(), ActionError> {
    if let Some(folder) = path.parent() {
        open(&System, folder)?;
    }
    append(path, format!("{line}\n").as_bytes(), &[]).map_err(ActionError::at("write", path))
}

fn append(path: &Path, bytes: &[u8], first: &[u8]) -> Result<(), Errno> {
    let flags = OFlags::WRONLY
        | OFlags::APPEND
        | OFlags::CREATE
        | OFlags::NOFOLLOW
        | OFlags::NONBLOCK
        | OFlags::CLOEXEC;
    let open = || openat(CWD, path, flags, Mode::RUSR | Mode::WUSR);
    let mut file = open()?;
    let mut stat = fstat(&file)?;
    if stat.st_size >= MOST {
        let mut older = path.as_os_str().to_owned();
        older.push(".1");
        // Whoever has it open still writes into the part that is put aside.
        match renameat_with(CWD, path, CWD, Path::new(&older), RenameFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        file = open()?;
        stat = fstat(&file)?;
    }
    let is_plain = rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::RegularFile;
    if !is_plain || stat.st_uid != geteuid().as_raw() {
        return Err(Errno::INVAL);
    }
    let text = if stat.st_size == 0 { [first, bytes].concat() } else { bytes.to_vec() };
    let written = write(&file, &text)?;
    if written == text.len() { Ok(()) } else { Err(Errno::NOSPC) }
}
