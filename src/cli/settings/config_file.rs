//! Files that configure something: where they are, and how they are read.

use std::io::Read;
use std::path::{Path, PathBuf};

use anyhow::Context;
use rustix::fs::{FileType, Mode, OFlags, fstat, open};

/// The most bytes that a configuration file may have: 256 KiB.
const MAX_BYTES: u64 = 256 << 10;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ConfigFile {
    Read(PathBuf),
    /// There is none at this path, which is fine.
    Absent(PathBuf),
    /// There is no place for one.
    Nowhere,
}

impl ConfigFile {
    fn folder(&self) -> Option<&Path> {
        match self {
            Self::Read(path) | Self::Absent(path) => path.parent(),
            Self::Nowhere => None,
        }
    }

    /// Returns where it is, or would be.
    pub(crate) fn path(&self) -> Option<PathBuf> {
        match self {
            Self::Read(path) | Self::Absent(path) => Some(path.clone()),
            Self::Nowhere => None,
        }
    }

    /// Returns the folder of the formats that a person has described; it need not be there.
    pub(crate) fn formats(&self) -> Option<PathBuf> {
        Some(self.folder()?.join("formats"))
    }
}

/// Reads a whole file that configures something; `None` when there is none.
pub(crate) fn read(path: &Path) -> anyhow::Result<Option<String>> {
    text(path, MAX_BYTES)
}

/// Reads a whole plain file of at most so many bytes; `None` when there is none. Links are followed,
/// for people keep their files in another folder and link to them; a FIFO cannot block.
pub(crate) fn text(path: &Path, most: u64) -> anyhow::Result<Option<String>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = match open(path, flags, Mode::empty()) {
        Ok(fd) => fd,
        Err(rustix::io::Errno::NOENT | rustix::io::Errno::NOTDIR) => return Ok(None),
        Err(error) => return Err(std::io::Error::from(error).into()),
    };
    let stat = fstat(&fd).map_err(std::io::Error::from)?;
    anyhow::ensure!(FileType::from_raw_mode(stat.st_mode) == FileType::RegularFile, "it is not a plain file");
    let is_small = |size: u64| -> anyhow::Result<()> {
        anyhow::ensure!(size <= most, "it has more than {most} bytes, the most that is read");
        Ok(())
    };
    is_small(u64::try_from(stat.st_size)?)?;
    let mut bytes = Vec::new();
    // It can grow meanwhile.
    std::fs::File::from(fd).take(most + 1).read_to_end(&mut bytes)?;
    is_small(bytes.len() as u64)?;
    Ok(Some(String::from_utf8(bytes).context("it is not UTF-8")?))
}
