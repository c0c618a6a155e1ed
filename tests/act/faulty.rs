//! The real disk, with one faulty call.

use std::cell::Cell;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::rc::Rc;

use claimtop::core::model::FileImage;
use claimtop::testing::act::{Disk, Durability, FolderAccess, LockHolder, Patience, Side, Spot, System};
use jiff::Timestamp;
use rustix::io::Errno;

/// The fault at the chosen call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    /// The system refuses, and nothing was done.
    Refuse(Errno),
    /// The system refuses after half of the bytes.
    Half(Errno),
    /// The process is killed before the call.
    Kill,
}

/// Runs a test of this program in a process of its own, which a variable gives its order, and returns how that ended.
pub(crate) fn child_with(test: &str, (variable, order): (&str, &str)) -> ExitStatus {
    Command::new(std::env::current_exe().unwrap())
        .args(["--exact", test])
        .env(variable, order)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .unwrap()
}

/// A disk whose n-th call fails; calls are counted from 1.
pub(crate) struct FaultyDisk {
    at: usize,
    /// The fault; `None` if only `meanwhile` is called.
    pub(crate) fault: Option<Fault>,
    calls: Cell<usize>,
    /// The parked folder, if it is to look like one of another file system.
    far: Option<PathBuf>,
    /// How many bytes were last appended without a sync: a power cut loses them.
    pub(crate) unsynced: Rc<Cell<u64>>,
    /// The action of others right before the chosen call.
    pub(crate) meanwhile: Box<dyn Fn()>,
}

impl FaultyDisk {
    pub(crate) fn new(at: usize, fault: Fault, far: Option<PathBuf>) -> Self {
        Self {
            at,
            fault: Some(fault),
            calls: Cell::new(0),
            far,
            unsynced: Rc::default(),
            meanwhile: Box::new(|| ()),
        }
    }

    /// Returns the number of calls.
    pub(crate) fn calls(&self) -> usize {
        self.calls.get()
    }

    fn is_far(&self, folder: &Folder) -> bool {
        self.far.as_deref() == Some(folder.path())
    }

    /// Counts a call; the chosen one fails.
    fn call(&self) -> Result<(), Errno> {
        self.calls.set(self.calls.get() + 1);
        if self.calls.get() != self.at {
            return Ok(());
        }
        (self.meanwhile)();
        match self.fault {
            None => Ok(()),
            Some(Fault::Refuse(errno) | Fault::Half(errno)) => Err(errno),
            Some(Fault::Kill) => {
                let own = rustix::process::getpid();
                rustix::process::kill_process(own, rustix::process::Signal::KILL).unwrap();
                unreachable!()
            }
        }
    }

    /// Returns the half of the bytes that is still written if the chosen call fails that way.
    fn half<'b>(&self, bytes: &'b [u8]) -> Option<&'b [u8]> {
        let is_now = self.calls.get() + 1 == self.at && matches!(self.fault, Some(Fault::Half(_)));
        is_now.then(|| bytes.get(..bytes.len() / 2).unwrap_or_default())
    }
}

type Folder = <System as Disk>::Folder;

impl Disk for FaultyDisk {
    type Folder = Folder;
    type File = <System as Disk>::File;
    type Lock = <System as Disk>::Lock;

    fn folder(&self, path: &Path) -> Result<Folder, Errno> {
        self.call()?;
        System.folder(path)
    }

    fn make_folder(&self, path: &Path) -> Result<(), Errno> {
        self.call()?;
        System.make_folder(path)
    }

    fn folder_without_links(&self, path: &Path) -> Result<Folder, Errno> {
        self.call()?;
        System.folder_without_links(path)
    }

    fn make_folder_without_links(&self, path: &Path) -> Result<(), Errno> {
        self.call()?;
        System.make_folder_without_links(path)
    }

    fn resolved(&self, path: &Path) -> PathBuf {
        System.resolved(path)
    }

    fn image(&self, spot: Spot<'_, Folder>) -> Result<Option<FileImage>, Errno> {
        self.call()?;
        System.image(spot)
    }

    fn reaches(&self, from: &Folder, to: &Folder) -> Result<bool, Errno> {
        self.call()?;
        if self.is_far(from) == self.is_far(to) { System.reaches(from, to) } else { Ok(false) }
    }

    fn access_of(&self, folder: &Folder) -> Result<FolderAccess, Errno> {
        self.call()?;
        System.access_of(folder)
    }

    fn common_dir(&self, folder: &Path) -> Option<PathBuf> {
        System.common_dir(folder)
    }

    fn random(&self) -> u64 {
        System.random()
    }

    fn opener_of(&self, spot: Spot<'_, Folder>) -> Result<Option<u32>, Errno> {
        self.call()?;
        System.opener_of(spot)
    }

    fn is_locked(&self, spot: Spot<'_, Folder>) -> Result<bool, Errno> {
        self.call()?;
        System.is_locked(spot)
    }

    fn create(&self, spot: Spot<'_, Folder>) -> Result<Self::File, Errno> {
        self.call()?;
        System.create(spot)
    }

    fn write(&self, file: &mut Self::File, bytes: &[u8]) -> Result<(), Errno> {
        if let Some(half) = self.half(bytes) {
            System.write(file, half)?;
        }
        self.call()?;
        System.write(file, bytes)
    }

    fn keep(&self, from: Spot<'_, Folder>, file: &mut Self::File) -> Result<(), (String, Errno)> {
        self.call().map_err(|errno| ("the attributes".to_owned(), errno))?;
        System.keep(from, file)
    }

    fn finish(&self, file: &mut Self::File, mode: u32, modified_at: Timestamp) -> Result<(), Errno> {
        self.call()?;
        System.finish(file, mode, modified_at)
    }

    fn sync_file(&self, file: &mut Self::File) -> Result<(), Errno> {
        self.call()?;
        System.sync_file(file)
    }

    fn sync_folder(&self, folder: &Folder) -> Result<(), Errno> {
        self.call()?;
        System.sync_folder(folder)
    }

    fn rename_new(&self, from: Spot<'_, Folder>, to: Spot<'_, Folder>, side: Side) -> Result<(), Errno> {
        self.call()?;
        if self.is_far(from.0) != self.is_far(to.0) {
            return Err(Errno::XDEV);
        }
        System.rename_new(from, to, side)
    }

    fn exchange(&self, folder: &Folder, one: &OsStr, other: &OsStr) -> Result<(), Errno> {
        self.call()?;
        System.exchange(folder, one, other)
    }

    fn touch(&self, spot: Spot<'_, Folder>, modified_at: Timestamp) -> Result<(), Errno> {
        self.call()?;
        System.touch(spot, modified_at)
    }

    fn remove(&self, spot: Spot<'_, Folder>) -> Result<(), Errno> {
        self.call()?;
        System.remove(spot)
    }

    fn append(&self, spot: Spot<'_, Folder>, bytes: &[u8], keeping: Durability) -> Result<(), Errno> {
        if let Some(half) = self.half(bytes) {
            System.append(spot, half, keeping)?;
        }
        self.call()?;
        System.append(spot, bytes, keeping)?;
        let length = u64::try_from(bytes.len()).unwrap();
        self.unsynced.set(if keeping == Durability::Lazy { self.unsynced.get() + length } else { 0 });
        Ok(())
    }

    fn read_own(&self, spot: Spot<'_, Folder>) -> Result<Vec<u8>, Errno> {
        self.call()?;
        System.read_own(spot)
    }

    fn lock(&self, spot: Spot<'_, Folder>, patience: Patience) -> Result<Self::Lock, Errno> {
        self.call()?;
        System.lock(spot, patience)
    }

    fn locker_of(&self, spot: Spot<'_, Folder>) -> Option<LockHolder> {
        System.locker_of(spot)
    }
}
