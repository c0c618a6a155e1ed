//! The known state of the machines, shared between the thread that keeps them and its readers.

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

/// Checks whether a machine of this name is the same as before, and remembers a new one; the reason if it is another.
pub(crate) type Pin = Arc<dyn Fn(&str, &Identity) -> Result<(), String> + Send + Sync>;

/// Where questions go.
#[derive(Default)]
pub(crate) struct Doors {
    /// To each machine, by its name, for as long as it is connected.
    pub(super) machines: BTreeMap<String, UnboundedSender<PostedQuestion>>,
    /// To all other machines, which meet in a database.
    pub(crate) database: Option<UnboundedSender<PostedQuestion>>,
}

/// State that the thread of the machines writes and others read.
#[derive(Clone)]
pub(crate) struct SharedState {
    pub(super) seen: Arc<Mutex<Vec<FarMachine>>>,
    pub(super) changed: SyncSender<()>,
    pub(super) doors: Arc<Mutex<Doors>>,
    /// The machine that a person looks at closely.
    pub(super) closely: Arc<Mutex<Option<String>>>,
    /// The interval at which the known state is shown, in milliseconds.
    pub(super) apart: Arc<AtomicU64>,
    /// Whether all machines are released.
    pub(super) over: watch::Receiver<bool>,
}

impl SharedState {
    pub(super) fn seen(&self) -> MutexGuard<'_, Vec<FarMachine>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn doors(&self) -> MutexGuard<'_, Doors> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the name of the machine that a person looks at closely.
    pub(crate) fn closely(&self) -> MutexGuard<'_, Option<String>> {
        self.closely.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the interval at which the known state is shown: it need not be merged more often.
    pub(super) fn apart(&self) -> Duration {
        Duration::from_millis(self.apart.load(Ordering::Relaxed))
    }

    /// Replaces all machines after the first so many, and notifies if that makes a difference.
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

    /// Waits until all machines are released.
    pub(super) async fn wait_until_closed(&self) {
        let mut over = self.over.clone();
        if over.wait_for(|is_over| *is_over).await.is_err() {
            // The sender has gone with the process.
            std::future::pending().await
        }
    }

    /// Notifies of a change. A reader that was notified already needs no second notice.
    pub(super) fn changed(&self) {
        let _ = self.changed.try_send(());
    }
}
