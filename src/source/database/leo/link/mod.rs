//! The thread that keeps the connection to LEO's database: it reads when asked, follows changes
//! when wanted, and connects again by itself.

pub(crate) mod query;
pub(crate) mod request;
pub(crate) mod worker;

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};

use self::worker::Worker;
use crate::source::database::leo::link::request::{LinkState, Request};
use crate::source::database::postgres::Target;

/// The near end of the thread.
pub(crate) struct Link {
    requests: UnboundedSender<Request>,
    known: Arc<Mutex<LinkState>>,
}

impl Link {
    /// Starts the thread, which connects at the first request; it ends when this is dropped.
    ///
    /// # Errors
    /// The system cannot start another thread.
    pub(crate) fn start(target: Target) -> std::io::Result<Self> {
        let (requests, received) = unbounded_channel();
        let known = Arc::new(Mutex::new(LinkState::default()));
        let worker = Worker::new(target, Arc::clone(&known), received);
        std::thread::Builder::new().name("postgres".to_owned()).spawn(move || worker.run())?;
        Ok(Self { requests, known })
    }

    /// Returns the current state without waiting.
    pub(crate) fn known(&self) -> LinkState {
        self.known.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Looks for changes from now on.
    pub(crate) fn follow(&self) {
        // Without the thread the state stays unknown, and is reported as such.
        let _ = self.requests.send(Request::Follow);
    }

    /// Reads now; waits at most `within`.
    pub(crate) fn read(&self, within: Duration) -> LinkState {
        let (answer, answered) = channel();
        let sent = self.requests.send(Request::Read(answer));
        let is_read = sent.is_ok() && answered.recv_timeout(within).is_ok();
        let mut known = self.known();
        if !is_read && known.trouble.is_none() {
            known.trouble = Some(format!("it was not read within {} s", within.as_secs()));
        }
        known
    }
}
