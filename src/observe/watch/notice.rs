//! From the watching threads to the channel, without ever waiting for the receiver.

use std::collections::BTreeSet;
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use crate::core::model::ProcessId;

/// The sending side.
#[derive(Clone)]
pub(crate) struct Notice {
    sender: SyncSender<Hint>,
    losses: Arc<Mutex<Losses>>,
}

#[derive(Default)]
struct Losses {
    unreported: Vec<String>,
    reported: BTreeSet<String>,
}

impl Notice {
    pub(crate) fn new(sender: SyncSender<Hint>) -> Self {
        Self { sender, losses: Arc::default() }
    }

    /// Sends a hint. While the channel is full of hints, one more is needless; only losses are kept until there is
    /// room, since they are shown.
    pub(crate) fn send(&self, hint: Hint) {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        losses.unreported.retain(|why| self.sender.try_send(Hint::Lost(why.clone())).is_err());
        drop(losses);
        let _ = self.sender.try_send(hint);
    }

    /// Returns the reported losses.
    pub(crate) fn losses(&self) -> Vec<String> {
        let losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        losses.reported.iter().cloned().collect()
    }

    /// Reports that changes are missed; each reason only once.
    pub(crate) fn lost(&self, why: String) {
        let mut losses = self.losses.lock().unwrap_or_else(PoisonError::into_inner);
        if losses.reported.insert(why.clone()) {
            losses.unreported.push(why);
        }
        drop(losses);
        self.send(Hint::Files);
    }
}

/// The reason to look again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Hint {
    /// Some file or folder that matters has changed.
    Files,
    /// This process has exited.
    Process(ProcessId),
    /// A program of an agent's was opened: a process may become an agent now, without a fork.
    Program,
    /// A look was requested.
    Asked,
    /// Changes were or will be missed; the reason, as text. Looking now and then helps.
    Lost(String),
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::sync_channel;

    use super::*;
    use crate::core::model::ProcessId;

    #[test]
    fn a_loss_waits_for_room_and_is_told_once() {
        let (sender, receiver) = sync_channel(1);
        let notice = Notice::new(sender);
        notice.send(Hint::Files);
        notice.lost("too many".to_owned());
        assert_eq!(receiver.try_recv(), Ok(Hint::Files));
        notice.send(Hint::Process(ProcessId { pid: 7, start_ticks: 1 }));
        assert_eq!(receiver.try_recv(), Ok(Hint::Lost("too many".to_owned())));
        notice.lost("too many".to_owned());
        assert_eq!(receiver.try_recv(), Ok(Hint::Files));
        assert!(receiver.try_recv().is_err());
    }
}
