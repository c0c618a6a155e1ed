//! The results of `stat`, in the types of the core.

use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::AsFd;
use std::os::unix::fs::MetadataExt;

use jiff::{SignedDuration, Timestamp};
#[cfg(target_os = "linux")]
use rustix::fs::{AtFlags, StatxFlags, statx};
use rustix::fs::{FileType, Stat};

use crate::core::model::{FileMeta, Ownership};

/// How much older than its reading a file's last change must be for its times to show a later change: 1 s. The clock
/// of a file system may stand still for several milliseconds.
const SURE_AFTER: SignedDuration = SignedDuration::from_secs(1);

/// Returns whether a file with these times of change and reading must get other times when it changes again.
pub(crate) fn is_sure(read_at: Timestamp, touched_at: Timestamp) -> bool {
    read_at.duration_since(touched_at) >= SURE_AFTER
}

/// Returns whether an open file has no name any more: data written into it is lost when it is closed.
pub(crate) fn is_deleted(file: &File) -> bool {
    file.metadata().is_ok_and(|meta| meta.nlink() == 0)
}

/// Converts a `stat` result, which does not include the kind of file system.
pub(crate) fn meta_of(stat: &Stat) -> FileMeta {
    let mode = u16::try_from(wide(stat.st_mode) & 0o7777).unwrap_or_default();
    FileMeta {
        dev: wide(stat.st_dev),
        ino: wide(stat.st_ino),
        ownership: Ownership::new(stat.st_uid, mode),
        links: wide(stat.st_nlink),
        size: wide(stat.st_size),
        modified_at: moment(stat.st_mtime, stat.st_mtime_nsec),
        changed_at: moment(stat.st_ctime, stat.st_ctime_nsec),
    }
}

/// Returns when the file with this name was made, if the file system records it (statx(2)).
#[cfg(target_os = "linux")]
pub(crate) fn made_at(folder: impl AsFd, name: &OsStr, meta: &FileMeta) -> Option<Timestamp> {
    let wanted = StatxFlags::BTIME | StatxFlags::INO;
    let found = statx(folder, name, AtFlags::SYMLINK_NOFOLLOW, wanted).ok()?;
    let is_it = StatxFlags::from_bits_retain(found.stx_mask).contains(wanted) && found.stx_ino == meta.ino;
    is_it.then(|| moment(found.stx_btime.tv_sec, found.stx_btime.tv_nsec))
}

/// Returns `None`: not determined on this system.
#[cfg(not(target_os = "linux"))]
pub(crate) fn made_at(_: impl AsFd, _: &OsStr, _: &FileMeta) -> Option<Timestamp> {
    None
}

/// Returns the word for a file type.
pub(crate) fn sort_name(sort: FileType) -> &'static str {
    match sort {
        FileType::RegularFile => "file",
        FileType::Directory => "directory",
        FileType::Symlink => "symlink",
        FileType::Fifo => "fifo",
        FileType::Socket => "socket",
        FileType::CharacterDevice | FileType::BlockDevice => "device",
        FileType::Unknown => "unknown thing",
    }
}

/// Widens a field of `stat`, whose types differ between systems; a negative one becomes 0.
pub(crate) fn wide<T: TryInto<u64>>(number: T) -> u64 {
    number.try_into().unwrap_or_default()
}

/// Returns the moment of a file time. Any user can set a time outside every calendar; such a time becomes the nearest
/// valid one.
fn moment<S: TryInto<i64>, N: TryInto<i32>>(seconds: S, nanos: N) -> Timestamp {
    let seconds = seconds.try_into().unwrap_or(i64::MAX);
    let nanos = nanos.try_into().unwrap_or_default();
    let nearest = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::new(seconds, nanos).unwrap_or(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_outside_every_calendar_becomes_the_nearest() {
        assert_eq!(moment(1_700_000_000_i64, 5_u64).to_string(), "2023-11-14T22:13:20.000000005Z");
        assert_eq!(moment(i64::MAX, 0_u64), Timestamp::MAX);
        assert_eq!(moment(i64::MIN, 0_u64), Timestamp::MIN);
    }
}
