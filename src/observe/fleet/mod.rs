//! Other machines, each reached by a program that runs claimtop there: what they tell, for as long as they do.
//!
//! One thread keeps all of them. Each has a life of its own: one that refuses, floods or falls silent delays
//! no other, and nobody here waits for any.

mod asked;
pub(crate) mod child;
mod complaints;
pub(crate) mod dispatch;
mod lines;
mod link;
mod question;
mod shared;

use std::io;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::time::Instant;

use self::dispatch::Dispatcher;
use self::link::Link;
#[cfg(feature = "postgres")]
pub(crate) use self::question::Posted;
pub(crate) use self::question::Question;
pub(crate) use self::shared::Pin;
pub(crate) use self::shared::Shared;
use crate::core::fleet::clones::doubt_own;
use crate::core::fleet::far::FarMachine;
use crate::core::fleet::line::Identity;
use crate::core::fleet::merge::{hear, merged_beside};
use crate::core::fleet::transport::Machine;
use crate::core::model::fixed::ALLOWANCE;
use crate::core::model::{MachineState, MachineView, Report};
use crate::observe::ReportSource;
use crate::source::os::clock;

/// How many machines are being reached at once.
const AT_ONCE: usize = 16;

/// All machines that are watched.
pub(crate) struct Fleet {
    /// What tells this machine from others.
    own: Option<Identity>,
    machines: Vec<Machine>,
    seen: Shared,
    changes: Receiver<()>,
}

impl Fleet {
    /// Starts to reach these machines. They are let go when the process ends.
    ///
    /// # Errors
    /// The system has no more threads for us, or no clock to wait by.
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
        let seen = Shared { seen: all, changed, doors, closely, apart };
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let shared = seen.clone();
        let watched = machines.clone();
        std::thread::Builder::new().name("fleet".to_owned()).spawn(move || {
            runtime.block_on(async {
                let (connecting, began) = (Arc::new(Semaphore::new(AT_ONCE)), Instant::now());
                for (at, machine) in machines.into_iter().enumerate() {
                    let (shared, pin, connecting) =
                        (shared.clone(), Arc::clone(&pin), Arc::clone(&connecting));
                    let words_left = AtomicUsize::new(ALLOWANCE);
                    tokio::spawn(Link { machine, at, shared, pin, connecting, began, words_left }.keep());
                }
                std::future::pending::<()>().await;
            });
        })?;
        Ok(Self { own: None, machines: watched, seen, changes })
    }

    /// Knows this machine where another one answers as it.
    pub(crate) fn beside(mut self, own: Identity) -> Self {
        self.own = Some(own);
        self
    }

    /// Returns how each machine is reached.
    pub(crate) fn machines(&self) -> &[Machine] {
        &self.machines
    }

    /// Returns what is known of every machine by now.
    pub(crate) fn seen(&self) -> Vec<FarMachine> {
        self.seen.seen().clone()
    }

    /// Returns where others put machines that they keep, and how many this one keeps itself.
    pub(crate) fn shared(&self) -> (Shared, usize) {
        (self.seen.clone(), self.seen().len())
    }

    /// Waits until something is other than it was; returns whether anything can be.
    pub(crate) fn wait(&self) -> bool {
        self.changes.recv().is_ok()
    }

    /// Notes how far apart what is known is shown.
    pub(crate) fn shown_each(&self, apart: Duration) {
        let milliseconds = u64::try_from(apart.as_millis()).unwrap_or(u64::MAX);
        self.seen.apart.store(milliseconds, Ordering::Relaxed);
    }

    /// Returns what wakes whoever waits.
    pub(crate) fn nudge(&self) -> SyncSender<()> {
        self.seen.changed.clone()
    }

    /// Returns what lets every machine say what it knows of the records here at the moment when it is called.
    pub(crate) fn testimony(&self) -> Box<dyn Fn(&mut Report) + Send> {
        let (own, shared) = (self.own.clone(), self.seen.clone());
        Box::new(move |report| {
            let machines = shared.seen().clone();
            doubt_own(own.as_ref(), report, &machines);
            hear(report, &machines);
        })
    }

    /// Returns what asks machines to do something.
    pub(crate) fn dispatcher(&self) -> Dispatcher {
        Dispatcher { shared: self.seen.clone() }
    }

    /// Waits until each machine has told all of a look, or could not be reached.
    pub(crate) fn wait_for_all(&self) {
        let is_told = |seen: &FarMachine| seen.report.is_some() || seen.view.state == MachineState::Unreached;
        while !self.seen().iter().all(is_told) && self.wait() {}
    }
}

impl Fleet {
    /// Joins what is known of every machine with what is seen here.
    pub(crate) fn with(&self, local: &Report) -> Report {
        let joined_at = Some(clock::now());
        Report { joined_at, ..merged_beside(self.own.as_ref(), local, &self.seen()) }
    }
}

/// Reports of this machine and of all others, for who asks once.
pub(crate) struct Everywhere<S> {
    pub(crate) local: S,
    pub(crate) fleet: Option<Fleet>,
}

impl<S: ReportSource> ReportSource for Everywhere<S> {
    fn next_report(&mut self) -> Arc<Report> {
        let local = self.local.next_report();
        let Some(fleet) = &self.fleet else { return local };
        fleet.wait_for_all();
        Arc::new(fleet.with(&local))
    }
}
