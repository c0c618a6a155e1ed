//! The log: a file of limited size for its owner only, and never the terminal.
//!
//! It has looks, losses and actions: numbers, outcomes and the system's own words. What a
//! session file says is not in it.

use std::fs::{DirBuilder, File, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags, open};
use rustix::process::geteuid;
use tracing::Level;

/// The most bytes of the log; then it begins anew.
pub(super) const LIMIT: u64 = 1 << 20;
const NAME: &str = "claimtop.log";
/// For its owner only, also where it was there before.
const MODE: u32 = 0o600;

/// How many lines the disk has refused.
static LOST: AtomicU64 = AtomicU64::new(0);

/// Returns how many lines of the log the disk has refused so far.
pub(super) fn lost() -> u64 {
    LOST.load(Ordering::Relaxed)
}

/// Starts to log into a folder what is at least as severe as `level`.
///
/// # Errors
/// The folder or the file cannot be made, or something else logs already.
pub(crate) fn start(folder: &Path, level: Level) -> io::Result<()> {
    let file = CappedFile::open(&folder.join(NAME))?;
    tracing_subscriber::fmt()
        .with_max_level(level)
        .with_ansi(false)
        .with_target(false)
        .with_writer(Mutex::new(file))
        .try_init()
        .map_err(io::Error::other)
}

/// A file that begins anew when it is full. A disk that refuses a line loses it, which is counted,
/// and nothing else.
struct CappedFile {
    path: PathBuf,
    file: File,
}

impl CappedFile {
    fn open(path: &Path) -> io::Result<Self> {
        if let Some(folder) = path.parent() {
            DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
        }
        let flags = OFlags::WRONLY | OFlags::APPEND | OFlags::CREATE | OFlags::CLOEXEC;
        // Neither a link is followed nor the reader of a FIFO waited for.
        let safe = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = File::from(open(path, flags | safe, Mode::RUSR | Mode::WUSR)?);
        let meta = file.metadata()?;
        if !meta.is_file() || meta.nlink() > 1 || meta.uid() != geteuid().as_raw() {
            return Err(io::Error::other("it is not a plain file of ours with one name"));
        }
        file.set_permissions(Permissions::from_mode(MODE))?;
        Ok(Self { path: path.to_path_buf(), file })
    }

    fn append(&mut self, line: &[u8]) -> io::Result<()> {
        // Other processes may write into it too, or delete it.
        let meta = self.file.metadata()?;
        if meta.nlink() == 0 {
            *self = Self::open(&self.path)?;
        } else if meta.len() + line.len() as u64 > LIMIT {
            self.file.set_len(0)?;
        }
        self.file.write_all(line)
    }
}

impl Write for CappedFile {
    /// Never fails: the error would be printed on the terminal, over the screen.
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        if self.append(line).is_err() {
            LOST.fetch_add(1, Ordering::Relaxed);
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test reads back what was written")]
mod tests {
    use super::*;
    use crate::source::os::pipe::make_pipe;

    #[test]
    fn the_file_is_its_owners_and_stays_small() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        let mut log = CappedFile::open(&path).unwrap();
        let line = [b'x'; 1_000];
        for _ in 0..3_000 {
            log.write_all(&line).unwrap();
        }
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!(meta.mode() & 0o777, 0o600);
        assert!(meta.len() <= LIMIT && meta.len() > 0);
        drop(log);
        let mut again = CappedFile::open(&path).unwrap();
        again.write_all(b"end").unwrap();
        assert!(std::fs::read(&path).unwrap().ends_with(b"xend"));
    }

    #[test]
    fn a_link_a_second_name_and_a_fifo_are_no_log_and_nobody_waits() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        std::fs::write(at("theirs"), "theirs").unwrap();
        std::os::unix::fs::symlink(at("theirs"), at("link")).unwrap();
        std::fs::hard_link(at("theirs"), at("second")).unwrap();
        make_pipe(&at("fifo")).unwrap();
        for name in ["link", "second", "fifo"] {
            assert!(CappedFile::open(&at(name)).is_err(), "{name}");
        }
        assert_eq!(std::fs::read(at("theirs")).unwrap(), b"theirs");
    }

    #[test]
    fn one_that_others_write_and_anybody_could_read_is_no_exception() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(NAME);
        std::fs::write(&path, "before").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let mut logs = [CappedFile::open(&path).unwrap(), CappedFile::open(&path).unwrap()];
        for _ in 0..LIMIT / 1_000 {
            logs.iter_mut().for_each(|log| log.write_all(&[b'x'; 1_000]).unwrap());
        }
        let meta = std::fs::metadata(&path).unwrap();
        assert_eq!(meta.mode() & 0o777, MODE);
        assert!(meta.len() <= LIMIT, "{}", meta.len());
    }
}
