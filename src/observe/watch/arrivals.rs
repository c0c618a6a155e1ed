//! The files that come into one folder, one by one and at once: whoever writes them may have gone a moment later.

use std::path::Path;

/// What has happened.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Arrival {
    /// A file of this name was made.
    Began(String),
    /// Its writer has closed it.
    Ended(String),
    /// Anything may have happened.
    Anything,
}

#[cfg(target_os = "linux")]
mod system {
    use std::mem::MaybeUninit;
    use std::os::fd::OwnedFd;

    use rustix::fs::inotify::{self, CreateFlags, ReadFlags, Reader, WatchFlags};
    use rustix::io::Errno;

    use super::{Arrival, Path};

    /// Room for some hundred events.
    const BUFFER: usize = 16 << 10;

    /// Follows one folder.
    pub(crate) struct Arrivals(OwnedFd);

    impl Arrivals {
        /// Begins to follow a folder.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn watch(folder: &Path) -> Result<Self, Errno> {
            let fd = inotify::init(CreateFlags::CLOEXEC)?;
            let flags = WatchFlags::CREATE | WatchFlags::CLOSE_WRITE | WatchFlags::ONLYDIR;
            inotify::add_watch(&fd, folder, flags)?;
            Ok(Self(fd))
        }

        /// Waits for what comes, and hands it on in its order until the folder has gone.
        ///
        /// # Errors
        /// The system refuses.
        pub(crate) fn each(&self, mut take: impl FnMut(Arrival)) -> Result<(), Errno> {
            let mut buffer = [const { MaybeUninit::uninit() }; BUFFER];
            let mut reader = Reader::new(&self.0, &mut buffer);
            loop {
                let event = match reader.next() {
                    Err(Errno::INTR) => continue,
                    event => event?,
                };
                let flags = event.events();
                if flags.contains(ReadFlags::IGNORED) {
                    return Ok(());
                }
                let name = event.file_name().and_then(|name| name.to_str().ok()).map(str::to_owned);
                match name {
                    _ if flags.contains(ReadFlags::QUEUE_OVERFLOW) => take(Arrival::Anything),
                    Some(name) if flags.contains(ReadFlags::CREATE) => take(Arrival::Began(name)),
                    Some(name) => take(Arrival::Ended(name)),
                    None => {}
                }
            }
        }
    }
}

#[cfg(not(target_os = "linux"))]
mod system {
    use std::time::Duration;

    use rustix::io::Errno;

    use super::{Arrival, Path};

    /// How often the folder is looked at.
    const OFTEN: Duration = Duration::from_secs(1);

    /// Looks at one folder again and again.
    pub(crate) struct Arrivals(std::path::PathBuf);

    impl Arrivals {
        /// Begins to follow a folder.
        ///
        /// # Errors
        /// Never here.
        pub(crate) fn watch(folder: &Path) -> Result<Self, Errno> {
            Ok(Self(folder.to_path_buf()))
        }

        /// Says again and again that there may be something, until the folder has gone.
        ///
        /// # Errors
        /// Never here.
        pub(crate) fn each(&self, mut take: impl FnMut(Arrival)) -> Result<(), Errno> {
            while self.0.is_dir() {
                take(Arrival::Anything);
                std::thread::sleep(OFTEN);
            }
            Ok(())
        }
    }
}

pub(crate) use self::system::Arrivals;
