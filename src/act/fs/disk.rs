//! The calls that an action makes on a disk. Tests inject failures and crashes between them.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::Timestamp;
use rustix::io::Errno;

use crate::core::model::FileImage;
use crate::source::os::opener::HiddenOpener;

/// On which side of the parked folder's door a file ends up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    /// In claimtop's own folder or under a name of its own making, which no other program writes.
    Private,
    /// Under a name that other programs write.
    Public,
}

/// Who may make and remove names in a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FolderAccess {
    /// Only this user.
    Ours,
    /// Every user may make names, and may remove only their own (the sticky bit, inode(7)).
    Sticky,
    /// Other users too.
    Others,
}

/// A boot of the machine, as far as it is known.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Boot {
    /// The kernel's name for it.
    pub(crate) id: Option<String>,
    /// A time at which it was running for certain.
    pub(crate) at: Option<Timestamp>,
}

/// A name in an open folder.
pub type Spot<'a, F> = (&'a F, &'a OsStr);

/// A disk.
pub trait Disk {
    /// An open folder.
    type Folder;
    /// An open new file.
    type File;
    /// A held lock; dropping it releases it.
    type Lock;

    /// Opens a folder itself, never what a link of that name points to.
    ///
    /// # Errors
    /// It is not a folder, or the system refuses.
    fn folder(&self, path: &Path) -> Result<Self::Folder, Errno>;

    /// Opens a folder if no part of its path is a link.
    ///
    /// # Errors
    /// `ELOOP` if a part of the path is a link, it is not a folder, or the system refuses.
    fn folder_without_links(&self, path: &Path) -> Result<Self::Folder, Errno> {
        self.folder(path)
    }

    /// Makes a folder and those above it, for the owner only, through no link.
    ///
    /// # Errors
    /// `ELOOP` if a part of the path is a link, or the system refuses.
    fn make_folder_without_links(&self, path: &Path) -> Result<(), Errno> {
        self.make_folder(path)
    }

    /// Returns where a path leads, with every link resolved; parts that do not exist stay as they are.
    fn resolved(&self, path: &Path) -> PathBuf {
        path.to_path_buf()
    }

    /// Makes a folder and those above it, for the owner only; one that is there is fine.
    ///
    /// # Errors
    /// The system refuses.
    fn make_folder(&self, path: &Path) -> Result<(), Errno>;

    /// Reads one file safely and whole; `None` when there is none.
    ///
    /// # Errors
    /// The system refuses. A file that is not a plain file is not an error: the image says so.
    fn image(&self, spot: Spot<'_, Self::Folder>) -> Result<Option<FileImage>, Errno>;

    /// Returns whether a rename from one folder reaches another one: not across file systems, and not across mounts of
    /// one. Nothing is moved.
    ///
    /// # Errors
    /// The system refuses.
    fn reaches(&self, from: &Self::Folder, to: &Self::Folder) -> Result<bool, Errno>;

    /// Returns who may make and remove names in a folder.
    ///
    /// # Errors
    /// The system refuses.
    fn access_of(&self, folder: &Self::Folder) -> Result<FolderAccess, Errno>;

    /// Returns the common directory of the repository that a folder lies in, if it lies in one.
    fn common_dir(&self, folder: &Path) -> Option<PathBuf>;

    /// Returns an unpredictable number.
    fn random(&self) -> u64;

    /// Returns a process that has a file open, as far as that is visible.
    ///
    /// # Errors
    /// The system refuses; a missing file is not an error.
    fn opener_of(&self, spot: Spot<'_, Self::Folder>) -> Result<Option<u32>, Errno>;

    /// Returns a process whose open files are not visible.
    fn hidden_opener(&self) -> Option<HiddenOpener> {
        None
    }

    /// Returns the machine's boot at a given time.
    fn boot(&self, _now: Timestamp) -> Boot {
        Boot::default()
    }

    /// Returns when a file was made, if its file system records that.
    fn born_at(&self, _spot: Spot<'_, Self::Folder>) -> Option<Timestamp> {
        None
    }

    /// Returns whether a process holds a lock on a file, as far as that is visible.
    ///
    /// # Errors
    /// The system refuses; a missing file is not an error.
    fn is_locked(&self, spot: Spot<'_, Self::Folder>) -> Result<bool, Errno>;

    /// Makes a new file, for the owner only.
    ///
    /// # Errors
    /// `EEXIST` when the name is taken, or the system refuses.
    fn create(&self, spot: Spot<'_, Self::Folder>) -> Result<Self::File, Errno>;

    /// Writes all bytes.
    ///
    /// # Errors
    /// The system refuses; part of them may have been written.
    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> Result<(), Errno>;

    /// Gives a new file the group, the access list and the extended attributes of another one.
    ///
    /// # Errors
    /// What could not be kept, and the system's error.
    fn keep(&self, from: Spot<'_, Self::Folder>, file: &mut Self::File) -> Result<(), (String, Errno)>;

    /// Sets permission bits and the time of the last change.
    ///
    /// # Errors
    /// The system refuses.
    fn finish(&self, file: &mut Self::File, mode: u32, modified_at: Timestamp) -> Result<(), Errno>;

    /// Syncs content and size to the disk.
    ///
    /// # Errors
    /// The system refuses, or the disk is broken.
    fn sync_file(&self, file: &mut Self::File) -> Result<(), Errno>;

    /// Syncs the names of a folder to the disk.
    ///
    /// # Errors
    /// The system refuses, or the disk is broken.
    fn sync_folder(&self, folder: &Self::Folder) -> Result<(), Errno>;

    /// Moves a file to a name that is free.
    ///
    /// # Errors
    /// `EEXIST` when the name is taken, `ENOENT` when the file has gone, `EXDEV` when the two
    /// are on different file systems, or the system refuses.
    fn rename_new(
        &self,
        from: Spot<'_, Self::Folder>,
        to: Spot<'_, Self::Folder>,
        side: Side,
    ) -> Result<(), Errno>;

    /// Exchanges two files of one folder.
    ///
    /// # Errors
    /// `ENOENT` when one of them has gone, or the system refuses.
    fn exchange(&self, folder: &Self::Folder, one: &OsStr, other: &OsStr) -> Result<(), Errno>;

    /// Sets the time of a file's last change.
    ///
    /// # Errors
    /// The system refuses.
    fn touch(&self, spot: Spot<'_, Self::Folder>, modified_at: Timestamp) -> Result<(), Errno>;

    /// Removes a file for good. Only for what claimtop itself wrote, for the second name of a file,
    /// and for parked things past their retention.
    ///
    /// # Errors
    /// The system refuses.
    fn remove(&self, spot: Spot<'_, Self::Folder>) -> Result<(), Errno>;

    /// Appends to a file, for the owner only, and makes it if needed. A synced append first reserves extra room, so
    /// that a full disk is noticed before anything is touched.
    ///
    /// # Errors
    /// The system refuses, or the disk is full.
    fn append(&self, spot: Spot<'_, Self::Folder>, bytes: &[u8], keeping: Durability) -> Result<(), Errno>;

    /// Reads a file of claimtop's own; empty when there is none.
    ///
    /// # Errors
    /// The system refuses, it is not a plain file, other users can write it (`EPERM`), or it is far too large
    /// (`EFBIG`).
    fn read_own(&self, spot: Spot<'_, Self::Folder>) -> Result<Vec<u8>, Errno>;

    /// Takes an exclusive lock (`flock`) on a file, which is made if needed.
    ///
    /// # Errors
    /// `EWOULDBLOCK` if another process holds it for longer than `patience`, or the system refuses.
    fn lock(&self, spot: Spot<'_, Self::Folder>, patience: Patience) -> Result<Self::Lock, Errno>;

    /// Returns the process that holds a lock on a file, as far as that is visible.
    fn locker_of(&self, spot: Spot<'_, Self::Folder>) -> Option<LockHolder>;
}

/// Whether an append has reached the disk when it returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Durability {
    /// It has, and there is room for what has to follow it: an intent.
    Reserved,
    /// It has, in the room that was reserved: an outcome.
    Synced,
    /// It will; losing it loses nothing.
    Lazy,
}

/// A process that holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LockHolder {
    pub(crate) pid: u32,
    /// Whether it is running or stopped.
    pub(crate) pace: RunState,
}

/// Whether a process is running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunState {
    /// It is running.
    Running,
    /// It was stopped, as by `Ctrl-Z`, and continues only when it is resumed.
    Stopped,
}

/// What to do while another process holds a lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Patience {
    /// Wait.
    Wait,
    /// Wait for this long.
    For(Duration),
    /// Give up at once.
    None,
}
