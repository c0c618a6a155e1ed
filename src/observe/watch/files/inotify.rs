//! Linux: inotify itself, subscribed to changes only. notify subscribes to opens too, which every
//! look of ours would raise, and costs a hundred times more in a storm of writes.

use std::collections::{HashMap, HashSet};
use std::ffi::OsStr;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::event::{EventfdFlags, PollFd, PollFlags, eventfd, poll};
use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
use rustix::io::{Errno, write};

use crate::observe::watch::files::scope::{Interests, Scope, WatchRefusal, lock};
use crate::observe::watch::interest::{Change, matters};
use crate::observe::watch::notice::Hint;
use crate::observe::watch::notice::Notice;
use crate::source::os::open::error::errno_text;
pub(crate) use crate::source::os::open::medium::remote;

/// How long events gather before they are read: one write raises several, and the kernel merges equal ones that wait
/// (inotify(7)).
const GATHER: Duration = Duration::from_millis(20);
/// Room for some hundred events.
const BUFFER: usize = 16 << 10;

/// The watches, shared with the thread that reads.
type Paths = Arc<Mutex<Watches>>;

#[derive(Default)]
struct Watches {
    /// The folder of each.
    by_number: HashMap<i32, PathBuf>,
    /// Folders whose watch the kernel has ended, not reported yet.
    ended: HashSet<PathBuf>,
}

/// One inotify instance and the thread that reads it.
pub(crate) struct Watcher {
    fd: Arc<OwnedFd>,
    paths: Paths,
    stop: Arc<OwnedFd>,
}

impl Watcher {
    /// Prepares to watch; the failure is text.
    pub(crate) fn new(interests: Interests, notice: Notice) -> Result<Self, String> {
        let fd =
            inotify::init(CreateFlags::CLOEXEC | CreateFlags::NONBLOCK).map_err(|errno| match errno {
                Errno::MFILE => "the limit of watchers is reached (fs.inotify.max_user_instances)".to_owned(),
                errno => errno_text(errno),
            })?;
        let stop = eventfd(0, EventfdFlags::CLOEXEC).map_err(errno_text)?;
        let watcher = Self { fd: Arc::new(fd), paths: Paths::default(), stop: Arc::new(stop) };
        let (fd, paths, stop) = (watcher.fd.clone(), watcher.paths.clone(), watcher.stop.clone());
        std::thread::Builder::new()
            .name("files".to_owned())
            .spawn(move || follow(&fd, &stop, &paths, &interests, &notice))
            .map_err(|error| error.to_string())?;
        Ok(watcher)
    }

    pub(crate) fn watch(&mut self, folder: &Path, scope: Scope) -> Result<(), WatchRefusal> {
        let fate = WatchFlags::DELETE_SELF | WatchFlags::MOVE_SELF | WatchFlags::ONLYDIR;
        let changes = match scope {
            Scope::Fate => fate,
            Scope::Openings => WatchFlags::OPEN,
            Scope::Contents => {
                fate | WatchFlags::CLOSE_WRITE
                    | WatchFlags::CREATE
                    | WatchFlags::DELETE
                    | WatchFlags::MOVE
                    | WatchFlags::ATTRIB
            }
        };
        // Held until the watch has its path, or its first events would have none.
        let mut paths = held(&self.paths);
        match inotify::add_watch(&self.fd, folder, changes) {
            Ok(watch) => {
                paths.by_number.insert(watch, folder.to_path_buf());
                Ok(())
            }
            Err(Errno::NOENT | Errno::NOTDIR) => Err(WatchRefusal::Gone),
            Err(Errno::NOSPC) => Err(WatchRefusal::Refused(
                "the limit of watches is reached (fs.inotify.max_user_watches)".to_owned(),
            )),
            Err(errno) => Err(WatchRefusal::Refused(errno_text(errno))),
        }
    }

    /// Returns the folders whose watch the kernel has ended since: they were removed or unmounted.
    pub(crate) fn ended(&mut self) -> HashSet<PathBuf> {
        std::mem::take(&mut held(&self.paths).ended)
    }

    /// Stops watching a folder.
    pub(crate) fn unwatch(&mut self, folder: &Path) {
        let mut paths = held(&self.paths);
        let found = paths.by_number.iter().find(|(_, path)| *path == folder).map(|(watch, _)| *watch);
        let Some(watch) = found else { return };
        paths.by_number.remove(&watch);
        // It fails when the folder has gone, and the watch with it.
        let _ = inotify::remove_watch(&self.fd, watch);
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        // It cannot fail: the counter is 0 and its reader is there.
        let _ = write(&self.stop, &1_u64.to_ne_bytes());
    }
}

fn held(paths: &Paths) -> MutexGuard<'_, Watches> {
    paths.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs on the watching thread until the stop event.
fn follow(fd: &OwnedFd, stop: &OwnedFd, paths: &Paths, interests: &Interests, notice: &Notice) {
    loop {
        let mut waiting = [PollFd::new(fd, PollFlags::IN), PollFd::new(stop, PollFlags::IN)];
        match poll(&mut waiting, None) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return notice.lost(format!("failed to watch files: {}", errno_text(errno))),
        }
        let [events, stop] = &waiting;
        if !stop.revents().is_empty() {
            return;
        }
        if events.revents().is_empty() {
            continue;
        }
        std::thread::sleep(GATHER);
        match read(fd, paths, interests) {
            Ok(heard) => heard.iter().for_each(|hint| notice.send(hint.clone())),
            Err(errno) => return notice.lost(format!("failed to watch files: {}", errno_text(errno))),
        }
    }
}

/// Reads all waiting events, and returns the hints of those that matter.
fn read(fd: &OwnedFd, paths: &Paths, interests: &Interests) -> Result<Vec<Hint>, Errno> {
    let mut buffer = [const { MaybeUninit::uninit() }; BUFFER];
    let mut reader = Reader::new(fd, &mut buffer);
    let (mut paths, interests) = (held(paths), lock(interests));
    let (mut is_any, mut is_opened) = (false, false);
    loop {
        let event = match reader.next() {
            Ok(event) => event,
            Err(Errno::AGAIN) => {
                let hints = [is_any.then_some(Hint::Files), is_opened.then_some(Hint::Program)];
                return Ok(hints.into_iter().flatten().collect());
            }
            Err(Errno::INTR) => continue,
            Err(errno) => return Err(errno),
        };
        // If events were dropped, or a folder was unmounted, anything may have changed; every look reads everything,
        // so nothing is lost.
        is_any |= event.events().intersects(ReadFlags::QUEUE_OVERFLOW | ReadFlags::UNMOUNT);
        // Only programs are watched for that: in folders our own looks would raise it.
        if event.events().contains(ReadFlags::OPEN) {
            is_opened = true;
            continue;
        }
        if event.events().contains(ReadFlags::IGNORED) {
            if let Some(folder) = paths.by_number.remove(&event.wd()) {
                is_any |= matters(&Change::Folder(&folder), &interests);
                paths.ended.insert(folder);
            }
            continue;
        }
        let Some(folder) = paths.by_number.get(&event.wd()) else { continue };
        let change = match event.file_name() {
            Some(name) => Change::Entry {
                folder,
                name: OsStr::from_bytes(name.to_bytes()),
                is_write: event.events().contains(ReadFlags::CLOSE_WRITE),
            },
            None => Change::Folder(folder),
        };
        is_any = is_any || matters(&change, &interests);
    }
}
