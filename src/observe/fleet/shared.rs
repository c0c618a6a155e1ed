//! What is known of the machines, between the thread that keeps them and those who ask.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::UnboundedSender;
use tokio::sync::watch;

use super::question::PostedQuestion;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::wire::line::Identity;

/// Says whether a machine of this name is the one that it was, and remembers one that is new; the reason where it
/// is another.
pub(crate) type Pin = Arc<dyn Fn(&str, &Identity) -> Result<(), String> + Send + Sync>;

/// Where what is asked goes.
#[derive(Default)]
pub(crate) struct Doors {
    /// To each machine, by its name, for as long as it is connected.
    pub(super) machines: BTreeMap<String, UnboundedSender<PostedQuestion>>,
    /// To all others, which meet in a database.
    pub(crate) database: Option<UnboundedSender<PostedQuestion>>,
}

/// What the thread of the machines writes and others read.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(super) seen: Arc<Mutex<Vec<FarMachine>>>,
    pub(super) changed: SyncSender<()>,
    pub(super) doors: Arc<Mutex<Doors>>,
    /// The machine that somebody looks at closely.
    pub(super) closely: Arc<Mutex<Option<String>>>,
    /// How far apart what is known is shown, in milliseconds.
    pub(super) apart: Arc<AtomicU64>,
    /// Whether all machines are let go of.
    pub(super) over: watch::Receiver<bool>,
}

impl SharedState {
    pub(super) fn seen(&self) -> MutexGuard<'_, Vec<FarMachine>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn doors(&self) -> MutexGuard<'_, Doors> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of the machine that somebody looks at closely.
    pub(crate) fn closely(&self) -> MutexGuard<'_, Option<String>> {
        self.closely.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns how far apart what is known is shown: more often nothing need be put together.
    pub(super) fn apart(&self) -> Duration {
        Duration::from_millis(self.apart.load(Ordering::Relaxed))
    }

    /// Puts these in the place of all machines after the first so many, and says so where that makes a difference.
    pub(crate) fn replace_after(&self, first: usize, machines: Vec<FarMachine>) {
        let mut seen = self.seen();
        let is_same = |one: &FarMachine, other: &FarMachine| {
            let report = |machine: &FarMachine| machine.report.as_ref().map(Arc::as_ptr);
            one.view.state == other.view.state
                && one.view.detail == other.view.detail
                && report(one) == report(other)
                && one.view.no_orders == other.view.no_orders
                && one.tombstones.len() == other.tombstones.len()
                && one.hello.is_some() == other.hello.is_some()
        };
        let before = seen.get(first..).unwrap_or_default();
        let is_news = before.len() != machines.len()
            || before.iter().zip(&machines).any(|(one, other)| !is_same(one, other));
        seen.truncate(first);
        seen.extend(machines);
        drop(seen);
        if is_news {
            self.changed();
        }
    }

    /// Waits until all machines are let go of.
    pub(super) async fn wait_until_closed(&self) {
        let mut over = self.over.clone();
        if over.wait_for(|is_over| *is_over).await.is_err() {
            // Whoever could have said so has gone with the process.
            std::future::pending().await
        }
    }

    /// Says that something is other than it was. Who has been told so already needs no encoder.
    pub(super) fn changed(&self) {
        let _ = self.changed.try_send(());
    }
}
