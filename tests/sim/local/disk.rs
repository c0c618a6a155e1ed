//! A disk in memory: every call is a step of the world, and may fail or be the last one.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use claimtop::core::model::{Content, FileImage};
use claimtop::testing::act::{Disk, Durability, FolderAccess, LockHolder, Patience, Side, Spot};
use jiff::Timestamp;
use rustix::io::Errno;

use crate::local::files::USER;
use crate::local::scheduler::{Scheduler, Tried};
use crate::local::world::{REPO, World};
use crate::local::writers;

/// How a disk deviates from its contract; all but the first are controls that must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DiskFault {
    /// Not at all.
    None,
    /// A rename to a free name overwrites what lies there, as the plain rename does.
    RenamesOver,
    /// A rename copies the file and removes the first one.
    CopiesInstead,
    /// It keeps only the first half of a line that need not be synced.
    TearsOutcomes,
}

/// One claimtop's access to the disk.
#[derive(Clone)]
pub(crate) struct SimDisk {
    pub(crate) scheduler: Arc<Scheduler>,
    pub(crate) me: usize,
    pub(crate) disk_fault: DiskFault,
}

/// A held lock.
pub(crate) struct SimLock {
    scheduler: Arc<Scheduler>,
    inode: u64,
    hold: u64,
}

impl Drop for SimLock {
    fn drop(&mut self) {
        self.scheduler.unlock(self.inode, self.hold);
    }
}

const ERRORS: [Errno; 6] = [Errno::NOSPC, Errno::IO, Errno::ACCESS, Errno::ROFS, Errno::MFILE, Errno::PERM];

/// Returns the error that a call runs into.
fn fault(world: &mut World) -> Option<Errno> {
    let is_hit = world.steps_left > 0 && world.rng.happens(world.fault_model.faults);
    let errno = is_hit.then(|| world.rng.pick(&ERRORS).copied()).flatten()?;
    world.tally.count("faults");
    Some(errno)
}

impl SimDisk {
    fn call<T>(
        &self,
        what: impl Fn() -> String,
        act: impl FnOnce(&mut World) -> Result<T, Errno>,
    ) -> Result<T, Errno> {
        let me = self.me;
        self.scheduler.step(me, |world| {
            let done = match fault(world) {
                Some(errno) => Err(errno),
                None => act(world),
            };
            let ended = done.as_ref().err().map_or_else(String::new, |errno| format!(" -> {errno:?}"));
            world.note(|| format!("claimtop {me}: {}{ended}", what()));
            done
        })
    }

    /// Appends bytes; a full disk or a sudden end leaves a part of them.
    fn extend(
        &self,
        path: &Path,
        bytes: &[u8],
        errno: Option<Errno>,
        world: &mut World,
    ) -> Result<(), Errno> {
        let part = errno.map(|_| world.rng.roll(bytes.len()));
        let written = bytes.get(..part.unwrap_or(bytes.len())).unwrap_or_default();
        let mut all = world.files.inode(path).ok_or(Errno::NOENT)?.bytes.clone();
        all.extend_from_slice(written);
        let inode = world.files.at(path).ok_or(Errno::NOENT)?;
        world.fill(inode, &all);
        errno.map_or(Ok(()), Err)
    }
}

fn path((folder, name): Spot<'_, PathBuf>) -> PathBuf {
    folder.join(name)
}

/// Returns whether a call does only a part of its work.
fn cut_off(world: &mut World) -> Option<Errno> {
    let is_cut = world.steps_left > 0 && world.rng.happens(world.fault_model.faults);
    is_cut.then_some(Errno::NOSPC)
}

impl Disk for SimDisk {
    type Folder = PathBuf;
    type File = PathBuf;
    type Lock = SimLock;

    fn folder(&self, path: &Path) -> Result<PathBuf, Errno> {
        self.call(
            || format!("folder {}", path.display()),
            |world| world.files.device(path).map(|_| path.to_path_buf()),
        )
    }

    fn make_folder(&self, path: &Path) -> Result<(), Errno> {
        self.call(|| format!("make {}", path.display()), |world| world.files.make_folder(path))
    }

    fn image(&self, spot: Spot<'_, PathBuf>) -> Result<Option<FileImage>, Errno> {
        let path = path(spot);
        self.call(
            || format!("image {}", path.display()),
            |world| {
                let failed = fault(world);
                Ok(world.files.image(&path).map(|image| match failed {
                    Some(errno) => FileImage { content: Content::Failed(errno.to_string()), ..image },
                    None => image,
                }))
            },
        )
    }

    fn reaches(&self, from: &PathBuf, to: &PathBuf) -> Result<bool, Errno> {
        self.call(
            || format!("does a rename reach {} from {}", to.display(), from.display()),
            |world| Ok(world.files.device(from)? == world.files.device(to)?),
        )
    }

    fn access_of(&self, folder: &PathBuf) -> Result<FolderAccess, Errno> {
        let access_of = match folder.to_str() {
            Some("/tmp") => FolderAccess::Sticky,
            Some("/" | "/home") => FolderAccess::Others,
            Some(_) | None => FolderAccess::Ours,
        };
        self.call(|| format!("whose is {}", folder.display()), |_| Ok(access_of))
    }

    fn common_dir(&self, folder: &Path) -> Option<PathBuf> {
        folder.starts_with(REPO).then(|| Path::new(REPO).join(".git"))
    }

    fn random(&self) -> u64 {
        self.scheduler.with(World::new_hold)
    }

    fn opener_of(&self, spot: Spot<'_, PathBuf>) -> Result<Option<u32>, Errno> {
        let path = path(spot);
        self.call(
            || format!("who has {} open", path.display()),
            |world| Ok(world.files.at(&path).and_then(|inode| writers::writer_of(world, inode))),
        )
    }

    fn is_locked(&self, spot: Spot<'_, PathBuf>) -> Result<bool, Errno> {
        let path = path(spot);
        self.call(
            || format!("is {} locked", path.display()),
            |world| Ok(world.files.at(&path).is_some_and(|inode| world.locks.contains_key(&inode))),
        )
    }

    fn create(&self, spot: Spot<'_, PathBuf>) -> Result<PathBuf, Errno> {
        let path = path(spot);
        self.call(
            || format!("create {}", path.display()),
            |world| world.files.create(&path, USER, world.now()).map(|_| path.clone()),
        )
    }

    fn write(&self, file: &mut PathBuf, bytes: &[u8]) -> Result<(), Errno> {
        self.call(
            || format!("write {}", file.display()),
            |world| {
                let errno = cut_off(world);
                self.extend(file, bytes, errno, world)
            },
        )
    }

    fn keep(&self, from: Spot<'_, PathBuf>, file: &mut PathBuf) -> Result<(), (String, Errno)> {
        let from = path(from);
        let kept =
            self.call(|| format!("keep for {} what {} has", file.display(), from.display()), |_| Ok(()));
        kept.map_err(|errno| ("the attributes".to_owned(), errno))
    }

    fn finish(&self, file: &mut PathBuf, mode: u32, modified_at: Timestamp) -> Result<(), Errno> {
        self.call(
            || format!("finish {}", file.display()),
            |world| {
                let now = world.files.time_of(world.files.at(file).ok_or(Errno::NOENT)?, world.now());
                let inode = world.files.inode_mut(file).ok_or(Errno::NOENT)?;
                (inode.mode, inode.modified_at, inode.changed_at) = (mode, modified_at, now);
                Ok(())
            },
        )
    }

    fn sync_file(&self, file: &mut PathBuf) -> Result<(), Errno> {
        self.call(|| format!("sync {}", file.display()), |_| Ok(()))
    }

    fn sync_folder(&self, folder: &PathBuf) -> Result<(), Errno> {
        self.call(|| format!("sync {}", folder.display()), |_| Ok(()))
    }

    fn rename_new(&self, from: Spot<'_, PathBuf>, to: Spot<'_, PathBuf>, _side: Side) -> Result<(), Errno> {
        let (from, to) = (path(from), path(to));
        self.call(
            || format!("rename {} to {}", from.display(), to.display()),
            |world| {
                let is_taken = world.files.at(&from).is_some() && world.files.at(&to).is_some();
                let is_told = world.fault_model.tells_taken_first || !world.files.crosses(&from, &to);
                if is_taken && is_told && self.disk_fault != DiskFault::RenamesOver {
                    return Err(Errno::EXIST);
                }
                let now = world.now();
                if self.disk_fault == DiskFault::CopiesInstead {
                    world.removed.extend(world.files.at(&from));
                    return world.files.copy_over(&from, &to, now);
                }
                world.files.rename(&from, &to, now)
            },
        )
    }

    fn exchange(&self, folder: &PathBuf, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
        let (one, other) = (folder.join(one), folder.join(other));
        self.call(
            || format!("exchange {} and {}", one.display(), other.display()),
            |world| {
                let now = world.now();
                world.files.exchange(&one, &other, now)
            },
        )
    }

    fn touch(&self, spot: Spot<'_, PathBuf>, modified_at: Timestamp) -> Result<(), Errno> {
        let path = path(spot);
        self.call(
            || format!("touch {}", path.display()),
            |world| {
                let now = world.files.time_of(world.files.at(&path).ok_or(Errno::NOENT)?, world.now());
                let inode = world.files.inode_mut(&path).ok_or(Errno::NOENT)?;
                (inode.modified_at, inode.changed_at) = (modified_at, now);
                Ok(())
            },
        )
    }

    fn remove(&self, spot: Spot<'_, PathBuf>) -> Result<(), Errno> {
        let path = path(spot);
        self.call(
            || format!("remove {}", path.display()),
            |world| {
                world.removed.extend(world.files.at(&path));
                world.files.unlink(&path)
            },
        )
    }

    fn append(&self, spot: Spot<'_, PathBuf>, bytes: &[u8], keeping: Durability) -> Result<(), Errno> {
        let path = path(spot);
        let is_torn = self.disk_fault == DiskFault::TearsOutcomes && keeping == Durability::Synced;
        let bytes = if is_torn { &bytes[..bytes.len() / 2] } else { bytes };
        let is_cut = self.scheduler.with(|world| {
            let crashes = world.fault_model.crashes;
            world.steps_left > 0 && world.rng.happens(crashes)
        });
        let done = self.call(
            || format!("append {}", String::from_utf8_lossy(bytes).trim_end()),
            |world| {
                if world.files.at(&path).is_none() {
                    world.files.create(&path, USER, world.now())?;
                }
                let errno = if is_cut { Some(Errno::IO) } else { cut_off(world) };
                self.extend(&path, bytes, errno, world)
            },
        );
        if is_cut {
            // Killed in the middle of the call: the part stays, and no error is reported.
            self.scheduler.doom(self.me);
            self.scheduler.step(self.me, |_| ());
        }
        done
    }

    fn read_own(&self, spot: Spot<'_, PathBuf>) -> Result<Vec<u8>, Errno> {
        let path = path(spot);
        self.call(
            || format!("read {}", path.display()),
            |world| Ok(world.files.inode(&path).map_or_else(Vec::new, |inode| inode.bytes.clone())),
        )
    }

    fn lock(&self, spot: Spot<'_, PathBuf>, patience: Patience) -> Result<SimLock, Errno> {
        let path = path(spot);
        let (inode, hold) = self.scheduler.try_step(self.me, |world| {
            if let Some(errno) = fault(world) {
                return Tried::Done(Err(errno));
            }
            let now = world.now();
            let found = world.files.at(&path).map_or_else(|| world.files.create(&path, USER, now), Ok);
            let Ok(inode) = found else { return Tried::Done(found.map(|inode| (inode, 0))) };
            let is_held = world.locks.contains_key(&inode);
            world.note(|| format!("claimtop {}: lock {} (held: {is_held})", self.me, path.display()));
            match patience {
                Patience::Wait | Patience::For(_) if is_held => return Tried::Held(inode),
                Patience::None if is_held => return Tried::Done(Err(Errno::WOULDBLOCK)),
                Patience::Wait | Patience::For(_) | Patience::None => {}
            }
            let hold = world.new_hold();
            world.locks.insert(inode, hold);
            Tried::Done(Ok((inode, hold)))
        })?;
        Ok(SimLock { scheduler: Arc::clone(&self.scheduler), inode, hold })
    }

    fn locker_of(&self, _spot: Spot<'_, PathBuf>) -> Option<LockHolder> {
        None
    }
}
