//! Other machines, each reached by a program that runs claimtop there: their reports, for as long as they are
//! connected.
//!
//! One thread keeps all of them. Each machine has a task of its own: one that refuses, floods or falls silent delays
//! no other, and no caller here waits for any.
//!

mod asked;
pub(crate) mod child;
mod complaints;
pub(crate) mod dispatch;
mod lines;
mod link;
mod question;
mod shared;

use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::{Semaphore, watch};
use tokio::task::JoinSet;
use tokio::time::Instant;

use self::dispatch::Dispatcher;
use self::link::Link;
#[cfg(feature = "postgres")]
pub(crate) use self::question::PostedQuestion;
pub(crate) use self::question::Question;
pub(crate) use self::shared::Pin;
pub(crate) use self::shared::SharedState;
use crate::core::fleet::merge::clones::doubt_own;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::merge::{apply_testimony, merged_beside};
use crate::core::fleet::transport::Machine;
use crate::core::fleet::wire::line::Identity;
use crate::core::model::text::fixed::ALLOWANCE;
use crate::core::model::{MachineState, MachineView, NotAsked, Report};
use crate::observe::ReportSource;
use crate::source::os::clock;

/// How many machines are connected to at once.
const AT_ONCE: usize = 16;

/// The hosts of a database that are read, and how questions to them are signed.
#[derive(Clone, Debug, Default)]
#[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "no database is read"))]
pub(crate) struct Hosts {
    /// The only hosts that are shown; all if none is named.
    pub(crate) only: Vec<String>,
    /// The names of machines that are reached in another way: no host gets one.
    pub(crate) taken: Vec<String>,
    /// The SSH key that signs questions to them.
    pub(crate) key: Option<PathBuf>,
}

/// Keeps the known state of the machines of a report.
pub(crate) type Keep = Box<dyn Fn(&Report) + Send + Sync>;

/// All machines that are watched.
pub(crate) struct Fleet {
    /// The identity that distinguishes this machine from others.
    own: Option<Identity>,
    machines: Vec<Machine>,
    seen: SharedState,
    changes: Receiver<()>,
    /// Keeps the known state for readers that must not wait.
    keep: Option<Keep>,
    ending: Ending,
}

/// The longest wait until every machine's program has ended.
const ENDED_BY: Duration = Duration::from_secs(15);

/// Releases all machines when it is dropped, and waits until the programs that reach them have ended.
pub(crate) struct Ending {
    over: watch::Sender<bool>,
    ended: Option<Receiver<()>>,
}

impl Drop for Ending {
    fn drop(&mut self) {
        self.over.send_replace(true);
        if let Some(ended) = self.ended.take() {
            // The thread signals this by ending.
            let _ = ended.recv_timeout(ENDED_BY);
        }
    }
}

impl Fleet {
    /// Connects to these machines. They are released when this is dropped.
    ///
    /// # Errors
    /// The system cannot start another thread, or has no clock to wait by.
    pub(crate) fn start(machines: Vec<Machine>, pin: Pin) -> io::Result<Self> {
        let view = |machine: &Machine| FarMachine {
            view: MachineView::new(&machine.name, machine.transport.to_string()),
            hello: None,
            report: None,
            tombstones: Arc::default(),
        };
        let (changed, changes) = sync_channel(1);
        let all = Arc::new(Mutex::new(machines.iter().map(view).collect()));
        let (doors, closely, apart) = (Arc::default(), Arc::default(), Arc::default());
        let (over, is_over) = watch::channel(false);
        let seen = SharedState { seen: all, changed, doors, closely, apart, over: is_over };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = seen.clone();
        let watched = machines.clone();
        let (end, ended) = sync_channel::<()>(1);
        std::thread::Builder::new().name("fleet".to_owned()).spawn(move || {
            runtime.block_on(async {
                let (connecting, began) = (Arc::new(Semaphore::new(AT_ONCE)), Instant::now());
                let mut links = JoinSet::new();
                for (at, machine) in machines.into_iter().enumerate() {
                    let (shared, pin, connecting) =
                        (shared.clone(), Arc::clone(&pin), Arc::clone(&connecting));
                    let words_left = AtomicUsize::new(ALLOWANCE);
                    links.spawn(Link { machine, at, shared, pin, connecting, began, words_left }.keep());
                }
                while links.join_next().await.is_some() {}
                drop(end);
            });
        })?;
        let ending = Ending { over, ended: Some(ended) };
        Ok(Self { own: None, machines: watched, seen, changes, keep: None, ending })
    }

    /// Recognizes this machine if another one answers as it.
    pub(crate) fn beside(mut self, own: Identity) -> Self {
        self.own = Some(own);
        self
    }

    /// Keeps the known state whenever it is merged.
    pub(crate) fn kept_by(self, keep: Option<Keep>) -> Self {
        Self { keep, ..self }
    }

    /// Returns a guard that releases the machines when it is dropped, for a caller that hands this to a thread that
    /// ends with the process.
    pub(crate) fn ending(&mut self) -> Ending {
        let over = self.ending.over.clone();
        Ending { over, ended: self.ending.ended.take() }
    }

    /// Returns how each machine is reached.
    pub(crate) fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Returns the known state of every machine.
    pub(crate) fn seen(&self) -> Vec<FarMachine> {
        self.seen.seen().clone()
    }

    /// Returns where others add machines that they keep, and how many this one keeps itself.
    pub(crate) fn shared(&self) -> (SharedState, usize) {
        (self.seen.clone(), self.seen().len())
    }

    /// Waits until something has changed; returns whether anything can change.
    pub(crate) fn wait(&self) -> bool {
        self.changes.recv().is_ok()
    }

    /// Sets the interval at which the known state is shown.
    pub(crate) fn shown_each(&self, apart: Duration) {
        let milliseconds = u64::try_from(apart.as_millis()).unwrap_or(u64::MAX);
        self.seen.apart.store(milliseconds, Ordering::Relaxed);
    }

    /// Returns the sender that wakes waiting callers.
    pub(crate) fn nudge(&self) -> SyncSender<()> {
        self.seen.changed.clone()
    }

    /// Returns a function that adds every machine's knowledge of the records here at the moment when it is called.
    pub(crate) fn testimony(&self) -> Box<dyn Fn(&mut Report) + Send> {
        let (own, shared) = (self.own.clone(), self.seen.clone());
        Box::new(move |report| {
            let machines = shared.seen().clone();
            doubt_own(own.as_ref(), report, &machines);
            apply_testimony(report, &machines);
        })
    }

    /// Returns a dispatcher of questions to machines.
    pub(crate) fn dispatcher(&self) -> Dispatcher {
        Dispatcher { shared: self.seen.clone() }
    }

    /// Waits until each machine has sent a whole look, or could not be reached.
    pub(crate) fn wait_for_all(&self) {
        let is_told = |seen: &FarMachine| seen.report.is_some() || seen.view.state == MachineState::Unreached;
        while !self.seen().iter().all(is_told) && self.wait() {}
    }
}

impl Fleet {
    /// Merges the known state of every machine with this machine's report.
    pub(crate) fn merged_with(&self, local: &Report) -> Report {
        let joined_at = Some(clock::now());
        let report = Report { joined_at, ..merged_beside(self.own.as_ref(), local, &self.seen()) };
        self.keep.iter().for_each(|keep| keep(&report));
        report
    }
}

/// The other machines that a look queries, and the sources of the configuration that it does not.
#[derive(Default)]
pub(crate) struct Others {
    pub(crate) fleet: Option<Fleet>,
    pub(crate) not_asked: Vec<NotAsked>,
}

impl Others {
    /// Merges their reports with this machine's, once each has sent a whole look or could not be reached in time.
    pub(crate) fn join(&self, local: Arc<Report>) -> Arc<Report> {
        let mut report = match &self.fleet {
            Some(fleet) => {
                fleet.wait_for_all();
                Arc::new(fleet.merged_with(&local))
            }
            None => local,
        };
        if !self.not_asked.is_empty() {
            Arc::make_mut(&mut report).not_asked.clone_from(&self.not_asked);
        }
        report
    }
}

/// Reports of this machine and of all others, for callers that look once.
pub(crate) struct Everywhere<S> {
    pub(crate) local: S,
    pub(crate) others: Others,
}

impl<S: ReportSource> ReportSource for Everywhere<S> {
    fn next_report(&mut self) -> Arc<Report> {
        let local = self.local.next_report();
        self.others.join(local)
    }
}
