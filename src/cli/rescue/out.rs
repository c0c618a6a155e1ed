//! Gives versions out: to the standard output, as differences, or into a folder.

use std::ffi::OsStr;
use std::fmt::Write as _;
use std::io::{Write as _, stdout};
use std::os::fd::OwnedFd;
use std::path::{Component, Path, PathBuf};

use anyhow::anyhow;
use rustix::fs::{CWD, Mode, OFlags, mkdirat, openat};
use rustix::io::{Errno, write};

use super::select::{Candidate, Selection};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::core::model::Untrusted;
use crate::core::model::text::shown;
use crate::present::text::count;
use crate::source::versions::found::{Comparison, FoundVersion};

/// Writes a version's bytes, and nothing else, to the standard output.
pub(super) fn print_bytes(version: &FoundVersion) -> Outcome {
    let Some(bytes) = version.bytes() else { return Err(missing(version)) };
    let mut out = stdout().lock();
    out.write_all(&bytes)?;
    out.flush()?;
    Ok(Exit::Fine)
}

fn missing(version: &FoundVersion) -> Failure {
    let path = Untrusted::from_path(&version.path);
    Failure::new(Exit::Failed, anyhow!("{path}: what was kept of it is not there any more"))
}

/// Writes the newest version of each file below a folder; no file is overwritten, and no link followed.
///
/// # Errors
/// The folder cannot be made. Of a file that cannot be written the others are written all the same.
pub(super) fn write_below(folder: &Path, selected: &Selection) -> Outcome {
    match mkdirat(CWD, folder, Mode::RWXU) {
        Ok(()) | Err(Errno::EXIST) => {}
        Err(errno) => return Err(failed(folder, errno)),
    }
    let flags = OFlags::DIRECTORY | OFlags::RDONLY | OFlags::CLOEXEC;
    let opened = openat(CWD, folder, flags, Mode::empty()).map_err(|errno| failed(folder, errno))?;
    let (mut lines, mut failures) = (String::new(), Vec::new());
    for one in selected.newest() {
        match write_version(folder, &opened, &one.version) {
            Ok(to) => {
                let _ = writeln!(lines, "{}", Untrusted::from_path(&to));
            }
            Err(failure) => failures.push(failure),
        }
    }
    print(&lines)?;
    let more = failures.len().saturating_sub(1);
    match failures.into_iter().next() {
        Some(first) if more > 0 => {
            Err(first.hint(format!("{} not written either", count(more, "more file"))))
        }
        Some(first) => Err(first),
        None => Ok(Exit::Fine),
    }
}

/// Writes one version below an open folder; returns where.
fn write_version(folder: &Path, opened: &OwnedFd, version: &FoundVersion) -> Result<PathBuf, Failure> {
    let bytes = version.bytes().ok_or_else(|| missing(version))?;
    let inside: PathBuf =
        version.path.components().filter(|part| matches!(part, Component::Normal(_))).collect();
    let to = folder.join(&inside);
    write_new(opened, &inside, version.mode, &bytes).map_err(|errno| failed(&to, errno))?;
    Ok(to)
}

/// Writes a new file below an open folder, with the permission bits of its owner at most.
fn write_new(folder: &OwnedFd, inside: &Path, mode: Option<u32>, bytes: &[u8]) -> Result<(), Errno> {
    let names: Vec<&OsStr> = inside.iter().collect();
    let Some((name, above)) = names.split_last() else { return Err(Errno::INVAL) };
    let mut at = folder.try_clone().map_err(|_| Errno::MFILE)?;
    for folder in above {
        match mkdirat(&at, *folder, Mode::RWXU) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno),
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        at = openat(&at, *folder, flags, Mode::empty())?;
    }
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let is_program = mode.is_some_and(|mode| mode & 0o100 != 0);
    let mode = Mode::RUSR | Mode::WUSR | if is_program { Mode::XUSR } else { Mode::empty() };
    let file = openat(&at, *name, flags, mode)?;
    let mut rest = bytes;
    while !rest.is_empty() {
        let written = write(&file, rest)?;
        rest = rest.get(written..).unwrap_or_default();
    }
    rustix::fs::fsync(&file)
}

fn failed(path: &Path, errno: Errno) -> Failure {
    let path = Untrusted::from_path(path);
    let error = anyhow!("{path} cannot be written: {errno}");
    match errno {
        Errno::EXIST => Failure::new(Exit::Refused, anyhow!("{path} exists already, nothing is overwritten"))
            .hint("give --to a new folder"),
        _ => Failure::new(Exit::Failed, error),
    }
}

/// Shows how each version differs from its file as it is now.
pub(super) fn diffs(selected: &Selection) -> String {
    let (mut text, mut comparison) = (String::new(), Comparison::default());
    for Candidate { version, .. } in &selected.versions {
        let path = Untrusted::from_path(&version.path).to_string();
        let names = [format!("{path} now"), format!("{path} of {}", version.at)];
        match comparison.diff(version, names.each_ref().map(String::as_str)) {
            Some(lines) => lines.iter().for_each(|line| text.push_str(&format!("{}\n", shown(line)))),
            None if version.bytes().is_none() => {
                let _ = writeln!(text, "{path}: what was kept of it is not there any more");
            }
            None => {
                let _ = writeln!(text, "{path}: {} bytes, not compared as text", version.size);
            }
        }
    }
    text
}
