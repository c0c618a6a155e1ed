//! What is known of the machines, between the thread that keeps them and those who ask.

use std::collections::BTreeMap;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::mpsc::UnboundedSender;

use super::question::Posted;
use crate::core::fleet::far::FarMachine;
use crate::core::fleet::line::Identity;

/// Says whether a machine of this name is the one that it was, and remembers one that is new; the reason where it
/// is another.
pub(crate) type Pin = Arc<dyn Fn(&str, &Identity) -> Result<(), String> + Send + Sync>;

/// What the thread of the machines writes and others read.
#[derive(Clone)]
pub(super) struct Shared {
    pub(super) seen: Arc<Mutex<Vec<FarMachine>>>,
    pub(super) changed: SyncSender<()>,
    /// Where what is asked of a machine goes, for as long as it is connected.
    pub(super) doors: Arc<Mutex<BTreeMap<usize, UnboundedSender<Posted>>>>,
}

impl Shared {
    pub(super) fn seen(&self) -> MutexGuard<'_, Vec<FarMachine>> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn doors(&self) -> MutexGuard<'_, BTreeMap<usize, UnboundedSender<Posted>>> {
        self.doors.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Says that something is other than it was. Who has been told so already needs no encoder.
    pub(super) fn changed(&self) {
        let _ = self.changed.try_send(());
    }
}
