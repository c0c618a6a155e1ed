//! The worker on the thread: it connects, reads and follows.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::Sender as Answer;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::Stream as _;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_postgres::{AsyncMessage, Client};

use crate::source::database::leo::link::query::{messages, with_deadline};
use crate::source::database::leo::link::request::{LinkState, Request};
use crate::source::database::leo::read;
use crate::source::database::leo::read::DatabaseReading;
use crate::source::database::leo::schema::Schema;
use crate::source::database::leo::{changes, stamp};
use crate::source::database::postgres;
use crate::source::database::postgres::{Allowance, OpenConnection, Target};
use crate::source::os::clock;

/// How long to wait before another attempt to connect: at first, and at most.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// How often to ask for news: while there is some, and the longest interval while there is none.
const POLLS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// How many times the duration of a read to rest after it, so that reading costs little.
const REST: u32 = 20;

/// How often everything is read, whatever the changes say: 5 min.
const WHOLE_EVERY: Duration = Duration::from_secs(5 * 60);

/// Whether changes are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    No,
    Yes,
}

/// Connects, reads and follows.
pub(crate) struct Worker {
    target: Target,
    known: Arc<Mutex<LinkState>>,
    requests: UnboundedReceiver<Request>,
    /// The requests that wait for the next read.
    waiting: Vec<Answer<()>>,
    follows: Follows,
    /// The last read on this connection, and when it was last read whole.
    basis: Option<(Arc<DatabaseReading>, Instant)>,
}

/// Why the thread stops waiting.
enum Wake {
    /// A read was requested.
    Requested,
    /// It is time to ask for news, or a channel has notified of some.
    Due,
    /// The requesting end was dropped.
    Gone,
    /// The connection has ended.
    Lost(String),
}

impl Worker {
    pub(crate) fn new(
        target: Target,
        known: Arc<Mutex<LinkState>>,
        requests: UnboundedReceiver<Request>,
    ) -> Self {
        Self { target, known, requests, waiting: Vec::new(), follows: Follows::No, basis: None }
    }

    /// Works until the requesting end is dropped.
    pub(crate) fn run(mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.keep()),
            Err(error) => self.lost(format!("no runtime: {error}")),
        }
    }

    async fn keep(&mut self) {
        let [mut pause, longest] = RETRIES;
        if !self.receive().await {
            return;
        }
        loop {
            match postgres::connect(&self.target).await {
                Err(why) => self.lost(why),
                Ok(connected) => {
                    pause = RETRIES[0];
                    match self.serve(connected).await {
                        Wake::Gone => return,
                        Wake::Lost(why) => self.lost(why),
                        Wake::Requested | Wake::Due => {}
                    }
                }
            }
            if !self.rest(pause).await {
                return;
            }
            pause = (pause * 2).min(longest);
        }
    }

    /// Waits before the next attempt; a request ends the wait. Returns whether the requesting end still exists.
    async fn rest(&mut self, pause: Duration) -> bool {
        let heard = tokio::time::timeout(pause, self.requests.recv()).await;
        match heard {
            Ok(None) => false,
            Ok(Some(request)) => {
                self.note(request);
                true
            }
            Err(_) if self.follows == Follows::Yes => true,
            Err(_) => self.receive().await,
        }
    }

    /// Waits for a request; returns whether the requesting end still exists.
    async fn receive(&mut self) -> bool {
        let request = self.requests.recv().await;
        request.map(|request| self.note(request)).is_some()
    }

    fn note(&mut self, request: Request) {
        match request {
            Request::Read(answer) => self.waiting.push(answer),
            Request::Follow => self.follows = Follows::Yes,
        }
    }

    fn lost(&mut self, why: String) {
        tracing::warn!(why, "no connection to PostgreSQL");
        self.publish(|known| {
            known.since = None;
            known.trouble = Some(why);
            known.version += 1;
        });
        self.answer();
    }

    fn publish(&self, change: impl FnOnce(&mut LinkState)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn answer(&mut self) {
        for waiting in self.waiting.drain(..) {
            // A caller that gave up needs no answer.
            let _ = waiting.send(());
        }
    }

    /// Reads while the connection stands.
    async fn serve(&mut self, connected: OpenConnection) -> Wake {
        let OpenConnection { client, mut connection, allowance } = connected;
        self.publish(|known| {
            known.since = Some(clock::now());
            known.trouble = None;
        });
        let news = Arc::new(Notify::new());
        let notified = Arc::clone(&news);
        let driver = async move {
            let mut messages = pin!(messages(&mut connection));
            loop {
                match poll_fn(|cx| messages.as_mut().poll_next(cx)).await {
                    Some(Ok(AsyncMessage::Notification(_))) => notified.notify_one(),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return crate::source::database::postgres::words::error_text(&error),
                    None => return "the server has closed the connection".to_owned(),
                }
            }
        };
        let mut driver = pin!(driver);
        tokio::select! {
            biased;
            why = &mut driver => Wake::Lost(why),
            woken = self.talk(&client, &allowance, &news) => match woken {
                // The connection's own error says more than that of the query that it made fail.
                Wake::Lost(why) => match tokio::time::timeout(Duration::from_millis(100), driver).await {
                    Ok(reason) => Wake::Lost(reason),
                    Err(_) => Wake::Lost(why),
                },
                woken @ (Wake::Requested | Wake::Due | Wake::Gone) => woken,
            },
        }
    }

    async fn talk(&mut self, client: &Client, allowance: &Allowance, news: &Notify) -> Wake {
        match self.try_talk(client, allowance, news).await {
            Ok(woken) => woken,
            Err(why) => Wake::Lost(why),
        }
    }

    async fn try_talk(
        &mut self,
        client: &Client,
        allowance: &Allowance,
        news: &Notify,
    ) -> Result<Wake, String> {
        let schema = with_deadline(Schema::probe(client)).await?;
        // Another connection may be to another server.
        self.basis = None;
        for channel in &schema.channels {
            // A pooler may not pass it on; polling covers that.
            let _ = with_deadline(client.batch_execute(&format!("LISTEN {channel}"))).await;
        }
        let mut stamp = None;
        let mut poll = POLLS[0];
        loop {
            allowance.renew();
            while let Ok(request) = self.requests.try_recv() {
                self.note(request);
            }
            let now = match self.follows {
                Follows::Yes => Some(with_deadline(stamp::stamp(client, &schema)).await?),
                Follows::No => None,
            };
            let is_news = now.is_none() || now != stamp;
            if is_news || !self.waiting.is_empty() {
                self.read(client, &schema).await?;
            }
            self.publish(|known| known.confirmed_at = Some(clock::now()));
            poll = if is_news { POLLS[0] } else { (poll * 2).min(POLLS[1]) };
            stamp = now;
            let took =
                self.known.lock().unwrap_or_else(PoisonError::into_inner).last.as_ref().map(|read| read.took);
            let rest = poll.max(took.unwrap_or_default() * REST);
            match self.wait(rest, news).await {
                Wake::Requested | Wake::Due => {}
                woken @ (Wake::Gone | Wake::Lost(_)) => return Ok(woken),
            }
        }
    }

    async fn read(&mut self, client: &Client, schema: &Schema) -> Result<(), String> {
        let changed = match self.basis.as_ref().filter(|(_, whole_at)| self.may_be_part(*whole_at)) {
            Some((last, whole_at)) => {
                with_deadline(changes::read(client, schema, last)).await?.map(|read| (read, *whole_at))
            }
            None => None,
        };
        let is_whole = changed.is_none();
        let (read, whole_at) = match changed {
            Some(changed) => changed,
            None => (with_deadline(read::read(client, schema)).await?, clock::steady()),
        };
        let read = Arc::new(read);
        self.basis = Some((Arc::clone(&read), whole_at));
        tracing::debug!(
            is_whole,
            took_us = read.took.as_micros(),
            sessions = read.tables.sessions.len(),
            "read PostgreSQL"
        );
        self.publish(|known| {
            known.last = Some(read);
            known.version += 1;
        });
        self.answer();
        Ok(())
    }

    /// Returns whether reading only new rows may be enough: no caller waits for a whole read, and the last whole read
    /// is recent.
    fn may_be_part(&self, whole_at: Instant) -> bool {
        self.waiting.is_empty() && clock::steady().duration_since(whole_at) < WHOLE_EVERY
    }

    async fn wait(&mut self, rest: Duration, news: &Notify) -> Wake {
        let due = async {
            match self.follows {
                Follows::Yes => {
                    tokio::select! {
                        () = tokio::time::sleep(rest) => {}
                        () = news.notified() => {}
                    }
                }
                Follows::No => std::future::pending().await,
            }
        };
        tokio::select! {
            request = self.requests.recv() => match request {
                None => Wake::Gone,
                Some(request) => {
                    self.note(request);
                    Wake::Requested
                }
            },
            () = due => Wake::Due,
        }
    }
}
