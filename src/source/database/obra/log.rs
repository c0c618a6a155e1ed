//! Reads the ends of Obra's logs, each again when it has changed.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use crate::core::model::FileMeta;
use crate::format::obra::{LOGS, abandoned};
use crate::source::os::fence::Fence;
use crate::source::os::open::plain::open_plain;

/// How much of a log's end is read: 1 MiB.
const TAIL: u64 = 1 << 20;

/// The most logs that are read.
const MAX_LOGS: usize = 64;

/// The logs as they were read last.
#[derive(Default)]
pub(crate) struct Logs {
    known: BTreeMap<PathBuf, (FileMeta, Vec<String>)>,
}

impl Logs {
    /// Returns the ID prefixes of all sessions that a log below these folders calls abandoned.
    pub(crate) fn abandoned<'a>(
        &mut self,
        folders: impl Iterator<Item = &'a Path>,
        fence: &Fence,
    ) -> Vec<String> {
        let paths = folders.flat_map(|folder| LOGS.iter().map(|below| folder.join(below)));
        let is_log = |path: &PathBuf| {
            let is_file = path.symlink_metadata().is_ok_and(|meta| meta.is_file());
            is_file && fence.reaches(path)
        };
        let mut before = std::mem::take(&mut self.known);
        for path in paths.filter(is_log).take(MAX_LOGS) {
            let known = before.remove(&path);
            if let Some(read) = read(&path, known) {
                self.known.insert(path, read);
            }
        }
        self.known.values().flat_map(|(_, ids)| ids).cloned().collect()
    }
}

/// Reads the end of a log, unless it is unchanged.
fn read(path: &Path, known: Option<(FileMeta, Vec<String>)>) -> Option<(FileMeta, Vec<String>)> {
    let (fd, meta) = open_plain(path).ok()?;
    if let Some(known) = known.filter(|(before, _)| *before == meta) {
        return Some(known);
    }
    let mut file = File::from(fd);
    file.seek(SeekFrom::Start(meta.size.saturating_sub(TAIL))).ok()?;
    let mut bytes = Vec::new();
    file.take(TAIL).read_to_end(&mut bytes).ok()?;
    Some((meta, abandoned(&String::from_utf8_lossy(&bytes))))
}
