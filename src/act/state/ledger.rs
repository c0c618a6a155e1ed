//! Writes a guarded window's ledger: appends whole lines to its own file, without waiting for any other process.
//!
//! Several hooks of one window may write at once: a line is written by one call at the end of the file, where the
//! system puts them one behind the other (write(2), `O_APPEND`). A line begins on a new one, so a line torn by a crash
//! or a full disk stays alone. Nothing is synced to the disk: only a warning can be lost.

use std::ffi::{OsStr, OsString};
use std::path::Path;

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::fs::system::System;
use crate::act::state::append::{open_end, write_once};
use crate::act::state::bind::{open, put_text, too_many};
use crate::core::model::snapshot::ledger::{LedgerHolder, LedgerLine, folder_name, process_of};
use crate::core::model::text::json;
use crate::source::os::processes;
use crate::source::own::ledger::{end_of, holds_of, is_ledger};

/// The size from which a ledger is set aside for a new one, in bytes; one older part is kept.
const MOST: u64 = 512 << 10;
/// How much of a ledger that was set aside is read, in bytes: more than is kept.
const MOST_READ: usize = 1 << 20;

/// How many ledgers of one working tree are kept.
const MOST_LEDGERS: usize = 256;

/// Adds lines to the ledger of a window for some tree.
///
/// # Errors
/// The folder or the file cannot be made or written, or is not this user's own.
pub(crate) fn add(ledgers: &Path, holder: &LedgerHolder, lines: &[LedgerLine]) -> Result<(), ActionError> {
    let folder = ledgers.join(folder_name(holder.tree.raw()));
    let path = folder.join(holder.file_name());
    let first = LedgerLine::Holder(Box::new(holder.clone()));
    let opened = open(&System, &folder)?;
    let is_new = path.symlink_metadata().is_err();
    let (lines, first) = (text(lines)?, text([&first])?);
    // The window's own holds stay in force when the part that contains them is set aside.
    let begin = |older: &Path| {
        let holds = holds_of(end_of(older, MOST_READ).unwrap_or_default().as_bytes(), Vec::new());
        let holds: Vec<LedgerLine> = holds.into_iter().map(LedgerLine::Holds).collect();
        [first.clone(), text(&holds).unwrap_or_default()].concat()
    };
    append(&path, lines.as_bytes(), begin).map_err(ActionError::failed_at("write", &path))?;
    if is_new {
        sweep(&folder, &opened);
    }
    Ok(())
}

/// Writes for a window what it has written down elsewhere, replacing the earlier lines; without lines the file is
/// removed. In a tree where no guard has ever run, no window would read them.
///
/// Returns whether the file is up to date now.
///
/// # Errors
/// The file cannot be made, written or removed.
pub(crate) fn replace(
    ledgers: &Path,
    holder: &LedgerHolder,
    lines: &[LedgerLine],
) -> Result<bool, ActionError> {
    let folder = ledgers.join(folder_name(holder.tree.raw()));
    let opened = match System.folder(&folder) {
        Err(Errno::NOENT) => return Ok(false),
        opened => opened.map_err(ActionError::failed_at("open", &folder))?,
    };
    let name = holder.seen_name();
    if lines.is_empty() {
        return match System.remove((&opened, OsStr::new(&name))) {
            Ok(()) | Err(Errno::NOENT) => Ok(true),
            Err(errno) => Err(ActionError::failed_at("remove", &folder.join(name))(errno)),
        };
    }
    let first = LedgerLine::Holder(Box::new(holder.clone()));
    put_text(&System, (&folder, name), &text(std::iter::once(&first).chain(lines))?)?;
    sweep(&folder, &opened);
    Ok(true)
}

fn text<'a>(lines: impl IntoIterator<Item = &'a LedgerLine>) -> Result<String, ActionError> {
    let mut text = String::from("\n");
    for line in lines {
        text.push_str(&json::to_line(line).map_err(|error| ActionError::Never(error.to_string()))?);
        text.push('\n');
    }
    Ok(text)
}

/// Removes the ledgers beyond the limit, except those of processes found alive.
fn sweep(folder: &Path, opened: &<System as Disk>::Folder) {
    let is_alive = |name: &OsString| process_of(name).is_some_and(|id| processes::lives(id) == Some(true));
    for name in too_many(folder, is_ledger, MOST_LEDGERS).iter().filter(|name| !is_alive(name)) {
        // Another guard may be faster; and only a warning is lost with it.
        let _ = System.remove((opened, name));
    }
}

/// Appends a line to one of claimtop's own files that is kept below some size.
///
/// # Errors
/// The folder or the file cannot be made or written, or is not this user's own.
pub(crate) fn count(path: &Path, line: &str) -> Result<(), ActionError> {
    if let Some(folder) = path.parent() {
        open(&System, folder)?;
    }
    append(path, format!("{line}\n").as_bytes(), |_| String::new())
        .map_err(ActionError::failed_at("write", path))
}

/// Appends bytes to a file; a new one starts with what `begin` makes of the part that was set aside.
fn append(path: &Path, bytes: &[u8], begin: impl Fn(&Path) -> String) -> Result<(), Errno> {
    let (mut file, mut size) = open_end(path)?;
    let mut older = path.as_os_str().to_owned();
    older.push(".1");
    let older = Path::new(&older);
    if size >= MOST {
        // A process that has it open still writes into the part that is set aside.
        match renameat_with(CWD, path, CWD, older, RenameFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(errno) => return Err(errno),
        }
        (file, size) = open_end(path)?;
    }
    let text = if size == 0 { [begin(older).as_bytes(), bytes].concat() } else { bytes.to_vec() };
    write_once(&file, &text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Untrusted;
    use crate::core::model::snapshot::ledger::{FileMoment, parse};
    use crate::source::os::pipe::make_pipe;

    fn holder(session: &str) -> LedgerHolder {
        let folder = || Untrusted::fixed("/w");
        let here = (Untrusted::fixed("host"), None, None);
        LedgerHolder::new((session.into(), Untrusted::fixed("codex")), (folder(), folder()), None, here)
    }

    fn touched(path: &str) -> FileMoment {
        FileMoment::new(path.into(), jiff::Timestamp::UNIX_EPOCH)
    }

    fn edited(path: &str) -> LedgerLine {
        LedgerLine::Edited(touched(path))
    }

    fn holds(path: &str) -> LedgerLine {
        LedgerLine::Holds(touched(path))
    }

    #[test]
    fn what_was_torn_costs_one_line_and_a_large_ledger_is_put_aside() {
        let ledgers = tempfile::tempdir().unwrap();
        let one = holder("one");
        add(ledgers.path(), &one, &[edited("/w/a")]).unwrap();
        let path = ledgers.path().join(folder_name("/w")).join("one.0.jsonl");
        let torn = std::fs::File::options().append(true).open(&path).unwrap();
        rustix::io::write(&torn, br#"{"edited":{"path":"/w/b"#).unwrap();
        add(ledgers.path(), &one, &[edited("/w/c")]).unwrap();
        let text = crate::source::own::ledger::end_of(&path, 1 << 20).unwrap();
        let lines: Vec<LedgerLine> = text.lines().filter_map(parse).collect();
        assert_eq!(lines, [LedgerLine::Holder(Box::new(one.clone())), edited("/w/a"), edited("/w/c")]);
        add(ledgers.path(), &one, &[holds("/w/x"), holds("/w/y"), LedgerLine::Frees(touched("/w/x"))])
            .unwrap();
        torn.set_len(MOST).unwrap();
        add(ledgers.path(), &one, &[edited("/w/d")]).unwrap();
        let text = crate::source::own::ledger::end_of(&path, 1 << 20).unwrap();
        let lines: Vec<LedgerLine> = text.lines().filter_map(parse).collect();
        assert_eq!(lines, [LedgerLine::Holder(Box::new(one)), holds("/w/y"), edited("/w/d")]);
        assert_eq!(path.with_extension("jsonl.1").metadata().unwrap().len(), MOST);
    }

    #[test]
    fn the_oldest_ledgers_of_a_tree_leave() {
        let ledgers = tempfile::tempdir().unwrap();
        let folder = ledgers.path().join(folder_name("/w"));
        for number in 0..MOST_LEDGERS {
            add(ledgers.path(), &holder(&format!("s-{number}")), &[edited("/w/a")]).unwrap();
        }
        let old = std::fs::File::options().write(true).open(folder.join("s-7.0.jsonl")).unwrap();
        old.set_modified(std::time::SystemTime::UNIX_EPOCH).unwrap();
        add(ledgers.path(), &holder("new"), &[edited("/w/a")]).unwrap();
        assert!(!folder.join("s-7.0.jsonl").exists() && folder.join("new.0.jsonl").exists());
        assert_eq!(std::fs::read_dir(folder).unwrap().count(), MOST_LEDGERS);
    }

    #[test]
    fn a_link_and_a_pipe_are_not_written() {
        let ledgers = tempfile::tempdir().unwrap();
        let folder = ledgers.path().join(folder_name("/w"));
        std::fs::create_dir_all(&folder).unwrap();
        let other = ledgers.path().join("other");
        std::fs::File::options().create_new(true).write(true).open(&other).unwrap();
        std::os::unix::fs::symlink(&other, folder.join("link.0.jsonl")).unwrap();
        make_pipe(&folder.join("pipe.0.jsonl")).unwrap();
        for session in ["link", "pipe"] {
            assert!(add(ledgers.path(), &holder(session), &[edited("/w/a")]).is_err(), "{session}");
        }
        assert_eq!(other.metadata().unwrap().len(), 0);
    }
}
