//! The size of a folder, counted when a person wants it: no link is followed, no other file system is entered, and
//! other users' files are not counted.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{AtFlags, FileType, Stat, statat};

use crate::core::model::{FolderSize, SortSize};
use crate::source::os::open::folder::Folder;
use crate::source::os::open::meta::meta_of;

/// The most names that are read in a folder and below it.
const MOST: usize = 200_000;
/// How deep folders are followed.
const DEPTH: usize = 64;

/// Counts the content of a folder, and how many of its session files were last written before a moment. `None` if
/// there is no such folder.
pub(crate) fn measure(
    folder: &Path,
    is_session: &dyn Fn(&Path) -> bool,
    old: Timestamp,
) -> Option<FolderSize> {
    let top = Folder::open(folder).ok()?;
    let stat = rustix::fs::fstat(&top).ok()?;
    let uid = rustix::process::geteuid().as_raw();
    let mut walk = Walk { top: stat, uid, is_session, old, left: MOST, size: FolderSize::default() };
    walk.folder(&top, &PathBuf::new(), DEPTH);
    Some(walk.size)
}

struct Walk<'a> {
    top: Stat,
    uid: u32,
    is_session: &'a dyn Fn(&Path) -> bool,
    old: Timestamp,
    left: usize,
    size: FolderSize,
}

impl Walk<'_> {
    /// Counts one folder; `below` is its path from the top.
    fn folder(&mut self, folder: &Folder, below: &Path, depth: usize) {
        let Ok(listing) = folder.listing(|_| true) else {
            self.size.is_more = true;
            return;
        };
        for entry in listing.iter() {
            if self.left == 0 {
                self.size.is_more = true;
                return;
            }
            self.left -= 1;
            let Ok(stat) = statat(folder, &entry.name, AtFlags::SYMLINK_NOFOLLOW) else { continue };
            if stat.st_dev != self.top.st_dev || stat.st_uid != self.uid {
                continue;
            }
            let path = below.join(&entry.name);
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory if depth == 0 => self.size.is_more = true,
                FileType::Directory => match folder.enter(&entry.name) {
                    Ok(inner) => self.folder(&inner, &path, depth - 1),
                    Err(_) => self.size.is_more = true,
                },
                FileType::RegularFile => self.file(&stat, &path),
                FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => {}
            }
        }
    }

    fn file(&mut self, stat: &Stat, path: &Path) {
        // The space that a file takes on the disk, in blocks of 512 bytes (stat(2)).
        let bytes = u64::try_from(stat.st_blocks).unwrap_or_default() * 512;
        let written_at = meta_of(stat).modified_at;
        let add = |to: &mut SortSize| (to.count, to.bytes) = (to.count + 1, to.bytes + bytes);
        add(&mut self.size.files);
        self.size.oldest = self.size.oldest.into_iter().chain([written_at]).min();
        if (self.is_session)(path) {
            add(&mut self.size.sessions);
            if written_at < self.old {
                add(&mut self.size.old_sessions);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "a test makes what is counted")]

    use super::*;

    #[test]
    fn only_plain_files_of_this_folder_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        let (inside, outside) = (folder.path().join("projects"), folder.path().join("outside"));
        std::fs::create_dir_all(inside.join("-shop/subagents")).unwrap();
        std::fs::create_dir_all(&outside).unwrap();
        for file in ["projects/-shop/a.jsonl", "projects/-shop/b.jsonl", "projects/-shop/subagents/c.jsonl"] {
            std::fs::write(folder.path().join(file), [b'x'; 5_000]).unwrap();
        }
        std::fs::write(outside.join("big"), [b'x'; 500_000]).unwrap();
        std::os::unix::fs::symlink(&outside, inside.join("link")).unwrap();
        std::os::unix::fs::symlink(outside.join("big"), inside.join("file")).unwrap();
        let long_ago: Timestamp = "2020-01-01T00:00:00Z".parse().unwrap();
        let old = std::fs::File::options().write(true).open(inside.join("-shop/a.jsonl")).unwrap();
        old.set_modified(long_ago.into()).unwrap();
        let is_session = |path: &Path| path.components().count() == 2;
        let limit: Timestamp = "2021-01-01T00:00:00Z".parse().unwrap();
        let size = measure(&inside, &is_session, limit).unwrap();
        assert_eq!((size.files.count, size.sessions.count, size.old_sessions.count), (3, 2, 1));
        assert_eq!((size.oldest, size.is_more), (Some(long_ago), false));
        assert!((15_000..100_000).contains(&size.files.bytes), "{size:?}");
        assert_eq!(measure(&inside.join("link"), &is_session, limit), None, "a link is not followed");
    }
}
