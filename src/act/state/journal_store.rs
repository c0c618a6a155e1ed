//! The state folder, its lock and its journal.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::fs::disk::{Disk, Durability, LockHolder, Patience, RunState};
use crate::act::fs::files::{Files, Ways};
use crate::act::fs::park::{ParkPlace, own_folder};
use crate::act::fs::system::System;
use crate::act::preflight::prepared::{PreparedStep, lowered};
use crate::act::recover::recover;
use crate::act::rows::Stores;
use crate::act::stop::processes::Processes;
use crate::act::stop::system::Machine;
use crate::core::history::journal::{Entry, History, Intent, Line, Outcome, Says};
use crate::core::history::movement::{Lead, Movement};
use crate::core::judge::window::agent::Signatures;
use crate::format::Release;
use crate::source::places::{JOURNAL, PARKED, Places};

const LOCK: &str = "lock";

/// Opens the folder, and makes what is missing. Only this user may have access: a user who can write the journal could
/// steer what is put where.
fn made<D: Disk>(disk: &D, path: &Path, parked_path: &Path) -> Result<D::Folder, ActionError> {
    disk.make_folder(parked_path).map_err(ActionError::failed_at("make", parked_path))?;
    let folder = disk.folder(path).map_err(ActionError::failed_at("open", path))?;
    own_folder(disk, folder, path)
}

/// Returns this machine's processes, with the agent signatures that claimtop ships.
fn machine() -> Box<dyn Processes> {
    Box::new(Machine::new(Signatures::built_in().ok(), None))
}

/// claimtop's own folder: the journal, the lock and everything that is parked.
pub struct StateFolder<D: Disk> {
    /// The disk that it is on.
    pub disk: D,
    path: PathBuf,
    parked_path: PathBuf,
    folder: D::Folder,
    /// The databases of the systems that have any.
    pub stores: Stores,
    /// The processes that may be ended.
    pub processes: Box<dyn Processes>,
    /// How long an action waits while another claimtop is at work.
    pub patience: Patience,
    /// Called at once while another claimtop is at work.
    pub(crate) on_wait: Option<OnWait>,
    /// The outcomes of interrupted entries that were put right whenever the lock was taken.
    pub(crate) put_right: RefCell<Vec<Entry>>,
    /// The home that is looked at: nothing is put right in another one.
    pub(crate) home: Option<PathBuf>,
    /// The folders that a person named: links to them are followed.
    pub(crate) named: Vec<PathBuf>,
}

/// Receives the message that an action waits.
pub(crate) type OnWait = Box<dyn Fn(&str) + Send>;

impl<D: Disk> StateFolder<D> {
    /// Opens the folder and makes what is missing, for the owner only.
    ///
    /// # Errors
    /// A folder cannot be made or opened.
    pub fn open(disk: D, path: &Path) -> Result<Self, ActionError> {
        let parked_path = path.join(PARKED);
        let folder = made(&disk, path, &parked_path)?;
        Ok(Self {
            disk,
            path: path.to_path_buf(),
            parked_path,
            folder,
            stores: Stores::new(path),
            processes: machine(),
            patience: Patience::Wait,
            on_wait: None,
            put_right: RefCell::default(),
            home: None,
            named: Vec::new(),
        })
    }

    /// Sets the places of the person who acts.
    pub(crate) fn act_in(&mut self, places: &Places) {
        let Places { home, tmp, claude_config, cache, roots, .. } = places;
        // Folders in the home were not named.
        let elsewhere = [claude_config, cache].into_iter().filter(|folder| !folder.starts_with(home));
        let named = [home, tmp].into_iter().chain(elsewhere).chain(roots);
        self.named = named.filter(|folder| folder.is_absolute()).cloned().collect();
        self.home = Some(home.clone());
    }

    /// Reads the journal without the lock.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn history(&self) -> Result<History, ActionError> {
        Ok(History::read(&self.journal()?))
    }

    fn journal(&self) -> Result<Vec<u8>, ActionError> {
        let path = self.path.join(JOURNAL);
        self.disk.read_own((&self.folder, OsStr::new(JOURNAL))).map_err(ActionError::failed_at("read", &path))
    }

    /// Takes the lock, waiting for another claimtop to finish if `patience` allows, and first puts right what an
    /// earlier one left half done.
    ///
    /// # Errors
    /// Another claimtop holds it, or the journal cannot be read or written. Entries that cannot be put right now are
    /// kept for the next lock.
    pub fn lock(&self, patience: Patience, now: Timestamp) -> Result<Lock<'_, D>, ActionError> {
        let guard = self.guard(patience)?;
        let journal = self.journal()?;
        let history = History::read(&journal);
        let mut lock = Lock::new(self, Some(guard), history);
        if journal.last().is_some_and(|byte| *byte != b'\n') {
            lock.append(b"\n", Durability::Lazy)?;
        }
        // An older claimtop that cannot read an entry may have given its number to another one.
        let is_newest = |entry: &&Entry| lock.history.entry(entry.number) == Some(*entry);
        let open = lock.history.entries.iter().filter(|entry| entry.is_open()).filter(is_newest);
        let open: Vec<_> = open.cloned().collect();
        for entry in open {
            let put_right = lock.files().expect_home(&entry, self.home.as_deref());
            match put_right.and_then(|()| recover(&lock.files_of(entry.intent.leads.clone()), &entry)) {
                Ok(Some(outcome)) => {
                    lock.finish(entry.number, outcome, now)?;
                    lock.recovered.push(entry.number);
                    self.put_right.borrow_mut().extend(lock.history.entry(entry.number).cloned());
                }
                Ok(None) => {}
                // It stays open, and does not prevent other actions.
                Err(error) => {
                    tracing::warn!(entry = entry.number, %error, "cannot put right what was interrupted");
                    lock.unsettled.push((entry.number, error));
                }
            }
        }
        Ok(lock)
    }

    /// Takes the lock with the patience of actions.
    ///
    /// # Errors
    /// As [`StateFolder::lock`].
    pub(crate) fn locked(&self, now: Timestamp) -> Result<Lock<'_, D>, ActionError> {
        self.lock(self.patience, now)
    }

    /// Takes the lock. If it has to wait, it reports that at once.
    fn guard(&self, patience: Patience) -> Result<D::Lock, ActionError> {
        let (path, spot) = (self.path.join(LOCK), (&self.folder, OsStr::new(LOCK)));
        let held = match (patience, &self.on_wait) {
            (Patience::For(limit), Some(tell)) => match self.disk.lock(spot, Patience::None) {
                Err(Errno::WOULDBLOCK) => {
                    let most = limit.as_secs_f32();
                    tell(&format!("{}; waiting for {most:.0} s at most", self.is_at_work()));
                    self.disk.lock(spot, patience)
                }
                done => done,
            },
            (Patience::Wait | Patience::For(_) | Patience::None, _) => self.disk.lock(spot, patience),
        };
        held.map_err(|errno| match errno {
            Errno::WOULDBLOCK => ActionError::Busy(format!("{}; nothing was done", self.is_at_work())),
            errno => ActionError::failed_at("lock", &path)(errno),
        })
    }

    /// Describes the process that holds the lock.
    fn is_at_work(&self) -> String {
        match self.disk.locker_of((&self.folder, OsStr::new(LOCK))) {
            None => "another claimtop is at work".to_owned(),
            Some(LockHolder { pid, pace: RunState::Running }) => {
                format!("another claimtop, PID {pid}, is at work")
            }
            Some(LockHolder { pid, pace: RunState::Stopped }) => {
                format!(
                    "another claimtop, PID {pid}, is stopped in the middle of its work: kill -CONT {pid} resumes it"
                )
            }
        }
    }
}

impl StateFolder<System> {
    /// Reopens the folder if another one, or none, lies at its path now: it was deleted, and with it the journal and
    /// all parked files.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub(crate) fn renew(&mut self) -> Result<(), ActionError> {
        let id = |folder: &<System as Disk>::Folder| folder.id().ok();
        let there = System.folder(&self.path).ok().as_ref().and_then(id);
        if there.is_none() || there != id(&self.folder) {
            self.folder = made(&self.disk, &self.path, &self.parked_path)?;
        }
        Ok(())
    }
}

/// The state folder for looking only: nothing of it is made, locked or recovered.
pub(crate) struct ReadOnlyState {
    /// Never handed out: if there is no folder, another one stands in for it.
    state: StateFolder<System>,
    history: History,
}

impl ReadOnlyState {
    /// Opens the folder, which need not exist.
    pub(crate) fn open(path: &Path) -> Result<Self, ActionError> {
        let parked_path = path.join(PARKED);
        let folder = match System.folder(path) {
            Ok(folder) => Some(own_folder(&System, folder, path)?),
            Err(Errno::NOENT) => None,
            Err(errno) => return Err(ActionError::failed_at("open", path)(errno)),
        };
        let any = || System.folder(Path::new("/")).map_err(ActionError::failed_at("open", Path::new("/")));
        let is_there = folder.is_some();
        let state = StateFolder {
            disk: System,
            path: path.to_path_buf(),
            parked_path,
            folder: folder.map_or_else(any, Ok)?,
            stores: Stores::new(path),
            processes: machine(),
            patience: Patience::None,
            on_wait: None,
            put_right: RefCell::default(),
            home: None,
            named: Vec::new(),
        };
        let history = if is_there { state.history()? } else { History::default() };
        Ok(Self { state, history })
    }

    /// Returns the databases of the systems that have any.
    pub(crate) fn stores(&mut self) -> &mut Stores {
        &mut self.state.stores
    }

    /// Sets the places of the person who looks.
    pub(crate) fn act_in(&mut self, places: &Places) {
        self.state.act_in(places);
    }

    /// Sets the processes that may be ended.
    pub(crate) fn set_processes(&mut self, processes: Box<dyn Processes>) {
        self.state.processes = processes;
    }

    /// Returns the journal as it was.
    pub(crate) fn history(&self) -> &History {
        &self.history
    }

    /// Runs `look` with the journal and the folder as it would see them under the lock.
    pub(crate) fn shown<T>(&self, look: impl FnOnce(&Lock<'_, System>) -> T) -> T {
        look(&Lock::new(&self.state, None, self.history.clone()))
    }
}

/// The held lock: every action requires it.
pub struct Lock<'s, D: Disk> {
    state: &'s StateFolder<D>,
    /// `None` only within a [`ReadOnlyState`], which does nothing.
    _guard: Option<D::Lock>,
    /// The journal up to now.
    pub history: History,
    /// The interrupted entries that were put right when the lock was taken.
    pub(crate) recovered: Vec<u64>,
    /// Those that could not be put right now, and why.
    pub(crate) unsettled: Vec<(u64, ActionError)>,
    /// Whether the last line may be cut off: the next one then begins with the end of that.
    is_cut: Cell<bool>,
}

impl<'s, D: Disk> Lock<'s, D> {
    fn new(state: &'s StateFolder<D>, guard: Option<D::Lock>, history: History) -> Self {
        let (recovered, unsettled) = (Vec::new(), Vec::new());
        Self { state, _guard: guard, history, recovered, unsettled, is_cut: Cell::new(false) }
    }

    pub(crate) fn files(&self) -> Files<'s, D> {
        let state = self.state;
        let (stores, processes) = (&state.stores, &*state.processes);
        Files { disk: &state.disk, parked_path: &state.parked_path, stores, processes, ways: None }
    }

    /// Returns the files of an action that has begun, which are reached only as they were then.
    pub(crate) fn files_of(&self, leads: Vec<Lead>) -> Files<'s, D> {
        Files { ways: Some(Ways { named: &self.state.named, leads }), ..self.files() }
    }

    /// Returns where the folders of some movements lead, as far as that must be kept.
    pub(crate) fn leads(&self, movements: &[Movement]) -> Vec<Lead> {
        self.files().leads(movements, &Ways { named: &self.state.named, leads: Vec::new() })
    }

    /// Assigns every movement its place in the park, and every row its new values.
    pub(crate) fn lowered(
        &self,
        planned: &[PreparedStep],
        entry: u64,
        release: Release<'_>,
    ) -> Vec<Movement> {
        let files = self.files();
        let mut known: HashMap<ParkPlace, Option<PathBuf>> = HashMap::new();
        let mut folder_of = |place: &ParkPlace| {
            let known = known.entry(place.clone());
            known.or_insert_with(|| files.folder_of(place, &self.history)).clone()
        };
        lowered(planned, entry, release, &mut folder_of)
    }

    /// Journals an intent under a number and syncs it to the disk.
    pub(crate) fn begin(&mut self, entry: u64, intent: &Intent, now: Timestamp) -> Result<(), ActionError> {
        self.add_line(
            Line { entry, at: now, says: Says::Intent(Box::new(intent.clone())) },
            Durability::Reserved,
        )
    }

    /// Journals an outcome and syncs it to the disk: after a power cut the next lock would otherwise undo a confirmed
    /// action.
    pub(crate) fn finish(&mut self, entry: u64, outcome: Outcome, now: Timestamp) -> Result<(), ActionError> {
        self.add_line(Line { entry, at: now, says: Says::Outcome(outcome) }, Durability::Synced)
    }

    pub(crate) fn add_line(&mut self, line: Line, keeping: Durability) -> Result<(), ActionError> {
        let mut bytes = serde_json::to_vec(&line).map_err(|_| {
            ActionError::Never("a name in it is not text, which the journal cannot store".to_owned())
        })?;
        bytes.push(b'\n');
        self.append(&bytes, keeping)?;
        self.history.add(line);
        Ok(())
    }

    fn append(&self, bytes: &[u8], keeping: Durability) -> Result<(), ActionError> {
        let state = self.state;
        let path = state.path.join(JOURNAL);
        let spot = (&state.folder, OsStr::new(JOURNAL));
        let line = if self.is_cut.get() { [b"\n", bytes].concat() } else { bytes.to_vec() };
        let appended = state.disk.append(spot, &line, keeping);
        self.is_cut.set(appended.is_err());
        appended.map_err(ActionError::failed_at("write", &path))
    }
}
