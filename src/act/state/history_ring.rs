//! The observed changes on disk: a file of a fixed size in which the newest replaces the oldest.
//!
//! It consists of slots of equal length, each a line of JSON or empty, so that no write changes its size and a torn
//! one loses a single change. Its text is already safe to show.

use std::fs::{DirBuilder, File};
use std::io;
use std::os::unix::fs::{DirBuilderExt, FileExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FileType, FlockOperation, Mode, OFlags, fchmod, flock, fstat, open};
use serde::{Deserialize, Serialize};

use crate::core::history::timeline::Past;
use crate::core::model::text::json;
use crate::source::os::open::meta::is_deleted;

/// The bytes of a slot, its newline included.
const SLOT: usize = 512;

/// How many slots there are: a megabyte in all.
const SLOTS: u64 = 2_048;

/// The most characters that are kept of a change's text.
const TOLD: usize = 240;

/// The most keys that are kept of a change.
const KEYS: usize = 6;

#[derive(Serialize, Deserialize)]
struct Slot {
    /// The number of the change, counted from the first that was ever kept.
    number: u64,
    #[serde(flatten)]
    past: Past,
}

/// The open file.
#[derive(Debug)]
pub(crate) struct HistoryRing {
    path: PathBuf,
    file: File,
    next: u64,
}

impl HistoryRing {
    /// Opens the file, makes it if there is none, and reads it, oldest first. The process that holds it keeps the
    /// history for all: a second claimtop is refused.
    ///
    /// # Errors
    /// It cannot be made, is not a plain file, or another claimtop keeps it.
    pub(crate) fn open(path: &Path) -> io::Result<(Self, Vec<Past>)> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let fd = open(path, flags, Mode::RUSR | Mode::WUSR)?;
        if FileType::from_raw_mode(fstat(&fd)?.st_mode) != FileType::RegularFile {
            return Err(io::Error::other("it is not a plain file"));
        }
        flock(&fd, FlockOperation::NonBlockingLockExclusive)?;
        fchmod(&fd, Mode::RUSR | Mode::WUSR)?;
        let file = File::from(fd);
        file.set_len(SLOTS * SLOT as u64)?;
        let mut slots = read(&file)?;
        slots.sort_by_key(|slot| slot.number);
        let next = slots.last().map_or(0, |slot| slot.number + 1);
        Ok((Self { path: path.to_path_buf(), file, next }, slots.into_iter().map(|slot| slot.past).collect()))
    }

    /// Reads a file, oldest first, and changes nothing; empty if there is none.
    ///
    /// # Errors
    /// It cannot be read, or is not what it should be.
    pub(crate) fn read(path: &Path) -> io::Result<Vec<Past>> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = match open(path, flags, Mode::empty()) {
            Err(rustix::io::Errno::NOENT) => return Ok(Vec::new()),
            opened => File::from(opened?),
        };
        let mut slots = read(&file)?;
        slots.sort_by_key(|slot| slot.number);
        Ok(slots.into_iter().map(|slot| slot.past).collect())
    }

    /// Keeps one more in place of the oldest; in a new file if the other was deleted.
    ///
    /// # Errors
    /// The disk fails, or there can be no new file.
    pub(crate) fn keep(&mut self, past: &Past) -> io::Result<()> {
        if is_deleted(&self.file) {
            (*self, _) = Self::open(&self.path)?;
        }
        let mut keys = past.keys.clone();
        keys.truncate(KEYS);
        let mut room = TOLD;
        // Escapes lengthen the text: it is cut until it fits.
        let line = loop {
            let told = past.told.chars().take(room).collect();
            let past = Past { told, keys: keys.clone(), ..past.clone() };
            let line = json::to_line(&Slot { number: self.next, past })?;
            if line.len() < SLOT || room == 0 {
                break line;
            }
            room /= 2;
        };
        let mut slot = line.into_bytes();
        slot.resize(SLOT - 1, b' ');
        slot.push(b'\n');
        self.file.write_all_at(&slot, self.next % SLOTS * SLOT as u64)?;
        self.next += 1;
        Ok(())
    }
}

/// Reads every slot that is whole.
fn read(file: &File) -> io::Result<Vec<Slot>> {
    let mut bytes = vec![0; usize::try_from(SLOTS).unwrap_or_default() * SLOT];
    file.read_exact_at(&mut bytes, 0)?;
    let slots = bytes.chunks(SLOT).filter_map(|slot| serde_json::from_slice(slot.trim_ascii_end()).ok());
    Ok(slots.collect())
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::MetadataExt;

    use jiff::Timestamp;

    use super::*;
    use crate::core::history::change::Kind;
    use crate::core::model::Key;
    use crate::source::os::pipe::make_pipe;

    fn past(second: i64, told: &str) -> Past {
        let at = Timestamp::from_second(second).unwrap();
        let (keys, told) = (vec![Key::typed("r-1")], told.to_owned());
        Past { at, event: Kind::RecordChanged, keys, severity: None, told }
    }

    /// Opens a ring that this test has closed. A program that another test starts has the file open between its fork
    /// and its exec, and with it the lock: that passes.
    fn reopen(path: &Path) -> (HistoryRing, Vec<Past>) {
        loop {
            match HistoryRing::open(path) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => std::thread::yield_now(),
                opened => return opened.unwrap(),
            }
        }
    }

    #[test]
    fn the_newest_take_the_place_of_the_oldest_and_the_size_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state/history.ring");
        let (mut ring, before) = HistoryRing::open(&path).unwrap();
        assert!(before.is_empty());
        for second in 0..3_000 {
            ring.keep(&past(second, &format!("change {second}"))).unwrap();
        }
        drop(ring);
        let (_ring, kept) = reopen(&path);
        assert_eq!(kept.len(), 2_048);
        assert_eq!(kept.first().map(|past| past.at.as_second()), Some(952));
        assert_eq!(kept.last().map(|past| past.told.as_str()), Some("change 2999"));
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!((meta.len(), meta.mode() & 0o777), (1 << 20, 0o600));
    }

    #[test]
    fn text_of_any_length_fits_and_nothing_raw_is_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.ring");
        let (mut ring, _) = HistoryRing::open(&path).unwrap();
        for told in ["\u{202e}\u{9b}\u{1b}".repeat(1_000), "é".repeat(10_000), "\"\\".repeat(5_000)] {
            ring.keep(&past(1, &told)).unwrap();
        }
        drop(ring);
        let (_ring, kept) = reopen(&path);
        assert_eq!(kept.len(), 3);
        let mut bytes = Vec::new();
        io::Read::read_to_end(&mut File::open(&path).unwrap(), &mut bytes).unwrap();
        let text = String::from_utf8(bytes).unwrap();
        assert!(text.chars().all(|c| c == '\n' || c == '\0' || !crate::core::model::text::is_forbidden(c)));
    }

    #[test]
    fn a_second_keeper_and_a_link_are_refused_and_a_torn_slot_is_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.ring");
        let (mut ring, _) = HistoryRing::open(&path).unwrap();
        assert!(HistoryRing::open(&path).is_err());
        ring.keep(&past(1, "one")).unwrap();
        ring.keep(&past(2, "two")).unwrap();
        ring.file.write_all_at(b"{\"number\":7,\"at\":}", 0).unwrap();
        drop(ring);
        let told = |kept: Vec<Past>| kept.into_iter().map(|past| past.told).collect::<Vec<_>>();
        assert_eq!(told(HistoryRing::read(&path).unwrap()), ["two"]);
        assert_eq!(told(reopen(&path).1), ["two"]);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&path, &link).unwrap();
        assert!(HistoryRing::open(&link).is_err());
        assert!(HistoryRing::read(&link).is_err());
    }

    #[test]
    fn no_program_that_is_started_meanwhile_keeps_the_file_open() {
        let folder = tempfile::tempdir().unwrap();
        let (ring, _) = HistoryRing::open(&folder.path().join("history.ring")).unwrap();
        assert!(rustix::io::fcntl_getfd(&ring.file).unwrap().contains(rustix::io::FdFlags::CLOEXEC));
    }

    #[test]
    fn reading_makes_no_file_and_waits_for_no_writer() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.ring");
        assert!(HistoryRing::read(&path).unwrap().is_empty());
        assert!(!path.exists());
        make_pipe(&path).unwrap();
        assert!(HistoryRing::read(&path).is_err());
    }

    #[test]
    fn whoever_opens_it_again_goes_on_after_the_newest() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("history.ring");
        for second in 0..4 {
            let (mut ring, before) = HistoryRing::open(&path).unwrap();
            let seconds: Vec<i64> = before.iter().map(|past| past.at.as_second()).collect();
            assert_eq!(seconds, (0..second).collect::<Vec<_>>());
            ring.keep(&past(second, "it")).unwrap();
        }
    }

    #[test]
    fn what_is_too_long_is_halved_and_the_first_keys_stay() {
        let folder = tempfile::tempdir().unwrap();
        let (mut ring, _) = HistoryRing::open(&folder.path().join("history.ring")).unwrap();
        // Each has one escape more than the one before, so that one of them fills a slot to the byte.
        for escapes in 0..=TOLD {
            let told = "\"".repeat(escapes) + &"x".repeat(TOLD - escapes);
            let keys = (0..KEYS + 2).map(|n| Key::typed(&format!("r-{n}"))).collect();
            ring.keep(&Past { keys, ..past(1, &told) }).unwrap();
        }
        let kept: Vec<Past> = read(&ring.file).unwrap().into_iter().map(|slot| slot.past).collect();
        assert_eq!(kept.len(), TOLD + 1);
        assert!(kept.iter().all(|past| past.keys.len() == KEYS));
        assert!(kept.iter().all(|past| [TOLD, TOLD / 2].contains(&past.told.chars().count())));
    }
}
