//! Files in memory: folders, names, inodes, times, and several file systems.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use claimtop::core::model::{Content, FileImage, FileMeta, Medium, Ownership, Refusal};
use jiff::{SignedDuration, Timestamp};
use rustix::io::Errno;

/// The user that runs claimtop.
pub(crate) const USER: u32 = 1000;

/// A user of another person, or of a container.
pub(crate) const OTHER_USER: u32 = 1001;

/// The properties of a file system.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mount {
    pub(crate) medium: Medium,
    /// How far the clock that dates its files is ahead.
    pub(crate) ahead: SignedDuration,
}

impl Mount {
    pub(crate) const LOCAL: Self = Self { medium: Medium::Local, ahead: SignedDuration::ZERO };

    /// Returns the owner reported for a file that a user has made: always ours if owners are mapped.
    fn owner(self, uid: u32) -> u32 {
        if self.medium.has_true_owners() { uid } else { USER }
    }
}

/// What a claimtop believes about file systems.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Belief {
    /// The truth.
    #[default]
    True,
    /// None maps owners: a control.
    Owners,
    /// All are dated by this machine's clock: a control.
    Clocks,
}

impl Belief {
    fn of(self, medium: Medium) -> Medium {
        match (self, medium) {
            (Self::Owners, Medium::Mapped) => Medium::Local,
            (Self::Clocks, Medium::Shared) => Medium::Mapped,
            _ => medium,
        }
    }
}

/// A content that a system wrote whole.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(pub(crate) usize);

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Inode {
    pub(crate) device: u64,
    pub(crate) bytes: Vec<u8>,
    pub(crate) mode: u32,
    pub(crate) uid: u32,
    pub(crate) modified_at: Timestamp,
    pub(crate) changed_at: Timestamp,
    /// By the clock at that time.
    pub(crate) made_at: Timestamp,
    /// The version of the bytes, if they are one whole version.
    pub(crate) version: Option<Version>,
}

/// Every file that has a name or is open.
#[derive(Default)]
pub(crate) struct Files {
    pub(crate) inodes: BTreeMap<u64, Inode>,
    folders: BTreeMap<PathBuf, u64>,
    names: BTreeMap<PathBuf, u64>,
    /// By device; the others are local.
    pub(crate) mounts: BTreeMap<u64, Mount>,
    pub(crate) belief: Belief,
    last: u64,
}

impl Files {
    pub(crate) fn add_folder(&mut self, path: &str, device: u64) {
        self.folders.insert(path.into(), device);
    }

    /// Returns the device of a folder, if there is such a folder.
    pub(crate) fn device(&self, folder: &Path) -> Result<u64, Errno> {
        self.folders.get(folder).copied().ok_or(Errno::NOENT)
    }

    fn mount(&self, device: u64) -> Mount {
        self.mounts.get(&device).copied().unwrap_or(Mount::LOCAL)
    }

    /// Returns the mount of a file.
    pub(crate) fn mount_of(&self, inode: &Inode) -> Mount {
        self.mount(inode.device)
    }

    /// Returns the time by the clock that dates a file.
    pub(crate) fn time_of(&self, inode: u64, now: Timestamp) -> Timestamp {
        self.inodes.get(&inode).map_or(now, |inode| now + self.mount_of(inode).ahead)
    }

    /// Returns whether a user may write into a file, or replace it.
    pub(crate) fn may_write(&self, inode: &Inode, uid: u32, is_in_place: bool) -> bool {
        let is_open = is_in_place && inode.mode & 0o002 != 0;
        !self.mount_of(inode).medium.has_true_owners() || inode.uid == uid || is_open
    }

    /// Makes a folder on the device of the one above.
    pub(crate) fn make_folder(&mut self, path: &Path) -> Result<(), Errno> {
        let missing: Vec<&Path> = path.ancestors().take_while(|at| !self.folders.contains_key(*at)).collect();
        let above = missing.last().map_or(Some(path), |top| top.parent()).ok_or(Errno::NOENT)?;
        let device = self.device(above)?;
        self.folders.extend(missing.into_iter().map(|at| (at.to_path_buf(), device)));
        Ok(())
    }

    pub(crate) fn at(&self, path: &Path) -> Option<u64> {
        self.names.get(path).copied()
    }

    pub(crate) fn inode(&self, path: &Path) -> Option<&Inode> {
        self.inodes.get(&self.at(path)?)
    }

    pub(crate) fn inode_mut(&mut self, path: &Path) -> Option<&mut Inode> {
        let number = self.at(path)?;
        self.inodes.get_mut(&number)
    }

    /// Returns all names with their inodes.
    pub(crate) fn all(&self) -> impl Iterator<Item = (&Path, u64, &Inode)> {
        self.names
            .iter()
            .filter_map(|(path, number)| Some((path.as_path(), *number, self.inodes.get(number)?)))
    }

    pub(crate) fn create(&mut self, path: &Path, uid: u32, now: Timestamp) -> Result<u64, Errno> {
        let device = self.device(path.parent().ok_or(Errno::INVAL)?)?;
        if self.names.contains_key(path) {
            return Err(Errno::EXIST);
        }
        self.last += 1;
        let (bytes, mount) = (Vec::new(), self.mount(device));
        let (uid, now) = (mount.owner(uid), now + mount.ahead);
        let inode = Inode {
            device,
            bytes,
            mode: 0o600,
            uid,
            modified_at: now,
            changed_at: now,
            made_at: now,
            version: None,
        };
        self.inodes.insert(self.last, inode);
        self.names.insert(path.to_path_buf(), self.last);
        Ok(self.last)
    }

    /// Returns whether two names are on different file systems.
    pub(crate) fn crosses(&self, from: &Path, to: &Path) -> bool {
        let device = |path: &Path| path.parent().and_then(|folder| self.folders.get(folder));
        device(from) != device(to)
    }

    /// Moves a name; the file that had the new one loses it.
    pub(crate) fn rename(&mut self, from: &Path, to: &Path, now: Timestamp) -> Result<(), Errno> {
        let device = self.device(to.parent().ok_or(Errno::INVAL)?)?;
        let number = self.at(from).ok_or(Errno::NOENT)?;
        if self.inodes.get(&number).is_some_and(|inode| inode.device != device) {
            return Err(Errno::XDEV);
        }
        self.names.remove(from);
        self.names.insert(to.to_path_buf(), number);
        self.touch_inode(number, now);
        Ok(())
    }

    /// Makes a new file with the content of another one, which loses its name.
    pub(crate) fn copy_over(&mut self, from: &Path, to: &Path, now: Timestamp) -> Result<(), Errno> {
        let old = self.inode(from).ok_or(Errno::NOENT)?.clone();
        let new = self.create(to, old.uid, now)?;
        let device = self.inodes.get(&new).map_or(old.device, |inode| inode.device);
        self.inodes.insert(new, Inode { device, changed_at: now, made_at: now, ..old });
        self.unlink(from)
    }

    pub(crate) fn exchange(&mut self, one: &Path, other: &Path, now: Timestamp) -> Result<(), Errno> {
        let (first, second) = (self.at(one).ok_or(Errno::NOENT)?, self.at(other).ok_or(Errno::NOENT)?);
        self.names.insert(one.to_path_buf(), second);
        self.names.insert(other.to_path_buf(), first);
        self.touch_inode(first, now);
        self.touch_inode(second, now);
        Ok(())
    }

    pub(crate) fn unlink(&mut self, path: &Path) -> Result<(), Errno> {
        self.names.remove(path).map(|_| ()).ok_or(Errno::NOENT)
    }

    /// Puts a copy in the place of a file, under its name and with the time of its last write.
    pub(crate) fn restore(&mut self, number: u64, now: Timestamp) {
        let names: Vec<_> =
            self.names.iter().filter(|(_, at)| **at == number).map(|(path, _)| path.clone()).collect();
        let Some(old) = self.inodes.get(&number).cloned() else { return };
        self.last += 1;
        self.inodes.insert(self.last, Inode { changed_at: now, made_at: now, ..old });
        for name in names {
            self.names.insert(name, self.last);
        }
    }

    fn touch_inode(&mut self, number: u64, now: Timestamp) {
        let now = self.time_of(number, now);
        if let Some(inode) = self.inodes.get_mut(&number) {
            inode.changed_at = now;
        }
    }

    /// Reads a file as the real disk does.
    pub(crate) fn image(&self, path: &Path) -> Option<FileImage> {
        if let Some(device) = self.folders.get(path) {
            return Some(self.image_of_folder(path, *device));
        }
        let number = self.at(path)?;
        let inode = self.inodes.get(&number)?;
        let content = match inode.uid {
            USER => Content::Bytes(inode.bytes.clone()),
            uid => Content::Refused(Refusal::ForeignOwner(uid)),
        };
        Some(FileImage {
            path: path.to_path_buf().into(),
            meta: Some(FileMeta {
                dev: inode.device,
                ino: number,
                ownership: Ownership::new(inode.uid, u16::try_from(inode.mode).unwrap_or(u16::MAX)),
                links: 1,
                size: inode.bytes.len() as u64,
                modified_at: inode.modified_at,
                changed_at: inode.changed_at,
            }),
            content,
            made_at: Some(inode.made_at),
            locked_by: None,
            medium: self.belief.of(self.mount_of(inode).medium),
        })
    }

    /// Returns the image of a folder with its device; its owner is read elsewhere.
    fn image_of_folder(&self, path: &Path, device: u64) -> FileImage {
        FileImage {
            path: path.to_path_buf().into(),
            meta: Some(FileMeta {
                dev: device,
                ino: 0,
                ownership: Ownership::new(USER, 0o700),
                links: 2,
                size: 0,
                modified_at: Timestamp::UNIX_EPOCH,
                changed_at: Timestamp::UNIX_EPOCH,
            }),
            content: Content::Refused(Refusal::Special("directory")),
            made_at: None,
            locked_by: None,
            medium: self.belief.of(self.mount(device).medium),
        }
    }
}
