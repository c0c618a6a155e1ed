//! Hints that something has changed: they only mean "look again", and truth is a re-read.

pub(crate) mod arrivals;
#[cfg(target_os = "linux")]
pub(crate) mod deaths;
#[cfg(target_os = "macos")]
#[path = "deaths_darwin.rs"]
pub(crate) mod deaths;
#[cfg(not(any(target_os = "linux", target_os = "macos")))]
#[path = "deaths_elsewhere.rs"]
pub(crate) mod deaths;
pub(crate) mod files;
pub(crate) mod interest;
pub(crate) mod limits;
pub(crate) mod notice;

use std::path::PathBuf;
use std::sync::mpsc::{Receiver, sync_channel};

pub(crate) use self::deaths::MAX_PROCESSES;
pub(crate) use self::files::MAX_FOLDERS;
pub(crate) use self::limits::limits;
use crate::core::model::{ProcessId, WatchCounts};
use crate::observe::watch::deaths::Deaths;
use crate::observe::watch::files::Files;
use crate::observe::watch::notice::Hint;
use crate::observe::watch::notice::Notice;
use crate::source::places::names::Names;

/// How many hints may wait; every one of them means the same look.
const WAITING: usize = 16;

/// Waits for changes of files and for deaths of processes, at no cost while there are none.
pub struct Watch {
    notice: Notice,
    files: Files,
    deaths: Deaths,
}

impl Watch {
    /// Prepares to watch; follows nothing yet. A refusal of the system comes as a [`Hint::Lost`].
    pub fn new() -> (Self, Receiver<Hint>) {
        let (sender, receiver) = sync_channel(WAITING);
        let notice = Notice::new(sender);
        let files = Files::new(notice.clone());
        let deaths = Deaths::new(notice.clone());
        (Self { notice, files, deaths }, receiver)
    }

    /// Returns a function that requests a look, from any thread, as a change of files does.
    pub(crate) fn nudge(&self) -> impl Fn() + Send + 'static {
        let notice = self.notice.clone();
        move || notice.send(Hint::Files)
    }

    /// Returns how much is followed.
    pub fn watched(&self) -> WatchCounts {
        WatchCounts {
            folders: self.files.count(),
            refused: self.files.refused(),
            processes: self.deaths.count(),
        }
    }

    /// Returns why changes were or will be missed, each reason once.
    pub fn losses(&self) -> Vec<String> {
        self.notice.losses()
    }

    /// Also takes these names as hints, from the next [`Watch::follow`] on, in the folders that are followed.
    pub fn expect(&mut self, names: &Names) {
        self.files.expect(names);
    }

    /// Also takes the opening of these programs as a hint, from the next [`Watch::follow`] on.
    pub fn expect_programs(&mut self, programs: Vec<PathBuf>) {
        self.files.expect_programs(programs);
    }

    /// Follows these folders and processes only. Call it after each look, from any thread: watches are added for
    /// folders that were replaced or that appeared, and then one more look is requested.
    pub fn follow(&mut self, folders: &[PathBuf], processes: &[ProcessId]) {
        if self.files.follow(folders) {
            self.notice.send(Hint::Files);
        }
        self.deaths.follow(processes);
    }
}
