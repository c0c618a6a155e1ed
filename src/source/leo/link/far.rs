//! The thread's own end: it connects, reads and follows.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::mpsc::Sender as Answer;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_util::Stream;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedReceiver;
use tokio_postgres::{AsyncMessage, Client, Error};

use crate::source::leo::link::ask::{Ask, Known};
use crate::source::leo::read::{self, Read};
use crate::source::leo::schema::Schema;
use crate::source::leo::{changes, stamp};
use crate::source::os::clock;
use crate::source::postgres::{self, Allowance, Connected, Target};

/// How long to wait before another attempt to connect: at first, and at most.
const RETRIES: [Duration; 2] = [Duration::from_secs(1), Duration::from_secs(30)];

/// How often to ask for news: while there is some, and at most how seldom while there is none.
const POLLS: [Duration; 2] = [Duration::from_secs(2), Duration::from_secs(10)];

/// How much longer than a read took to rest after it, so that reading costs little.
const REST: u32 = 20;

/// How long one whole read may take: 20 s.
const READ_WITHIN: Duration = Duration::from_secs(20);

/// How often everything is read, whatever the changes say: 5 min.
const WHOLE_EVERY: Duration = Duration::from_secs(5 * 60);

/// Whether changes are looked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Follows {
    No,
    Yes,
}

/// The thread's own end.
pub(crate) struct Far {
    target: Target,
    known: Arc<Mutex<Known>>,
    asked: UnboundedReceiver<Ask>,
    /// Who waits for the next read.
    waiting: Vec<Answer<()>>,
    follows: Follows,
    /// What was read last on this connection, and when it was last read whole.
    basis: Option<(Arc<Read>, Instant)>,
}

/// Why the thread goes on from where it waits.
enum Woken {
    /// Somebody wants a read.
    Asked,
    /// It is time to ask for news, or a channel tells of some.
    Due,
    /// Nobody listens any more.
    Gone,
    /// The connection has ended.
    Lost(String),
}

impl Far {
    pub(crate) fn new(target: Target, known: Arc<Mutex<Known>>, asked: UnboundedReceiver<Ask>) -> Self {
        Self { target, known, asked, waiting: Vec::new(), follows: Follows::No, basis: None }
    }

    /// Works until nobody listens any more.
    pub(crate) fn run(mut self) {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        match runtime {
            Ok(runtime) => runtime.block_on(self.keep()),
            Err(error) => self.lost(format!("no runtime: {error}")),
        }
    }

    async fn keep(&mut self) {
        let [mut pause, longest] = RETRIES;
        if !self.hear().await {
            return;
        }
        loop {
            match postgres::connect(&self.target).await {
                Err(why) => self.lost(why),
                Ok(connected) => {
                    pause = RETRIES[0];
                    match self.serve(connected).await {
                        Woken::Gone => return,
                        Woken::Lost(why) => self.lost(why),
                        Woken::Asked | Woken::Due => {}
                    }
                }
            }
            if !self.rest(pause).await {
                return;
            }
            pause = (pause * 2).min(longest);
        }
    }

    /// Waits before the next attempt; an ask ends the waiting. Returns whether anybody listens.
    async fn rest(&mut self, pause: Duration) -> bool {
        let heard = tokio::time::timeout(pause, self.asked.recv()).await;
        match heard {
            Ok(None) => false,
            Ok(Some(ask)) => {
                self.note(ask);
                true
            }
            Err(_) if self.follows == Follows::Yes => true,
            Err(_) => self.hear().await,
        }
    }

    /// Waits for an ask; returns whether anybody listens.
    async fn hear(&mut self) -> bool {
        let ask = self.asked.recv().await;
        ask.map(|ask| self.note(ask)).is_some()
    }

    fn note(&mut self, ask: Ask) {
        match ask {
            Ask::Read(answer) => self.waiting.push(answer),
            Ask::Follow => self.follows = Follows::Yes,
        }
    }

    fn lost(&mut self, why: String) {
        tracing::warn!(why, "no connection to PostgreSQL");
        self.tell(|known| {
            known.since = None;
            known.trouble = Some(why);
            known.version += 1;
        });
        self.answer();
    }

    fn tell(&self, change: impl FnOnce(&mut Known)) {
        change(&mut self.known.lock().unwrap_or_else(PoisonError::into_inner));
    }

    fn answer(&mut self) {
        for waiting in self.waiting.drain(..) {
            // Whoever has given up needs no answer.
            let _ = waiting.send(());
        }
    }

    /// Reads while the connection stands.
    async fn serve(&mut self, connected: Connected) -> Woken {
        let Connected { client, mut connection, allowance } = connected;
        self.tell(|known| {
            known.since = Some(clock::now());
            known.trouble = None;
        });
        let news = Arc::new(Notify::new());
        let told = Arc::clone(&news);
        let driver = async move {
            let mut messages = pin!(messages(&mut connection));
            loop {
                match poll_fn(|cx| messages.as_mut().poll_next(cx)).await {
                    Some(Ok(AsyncMessage::Notification(_))) => told.notify_one(),
                    Some(Ok(_)) => {}
                    Some(Err(error)) => return crate::source::postgres::words::words(&error),
                    None => return "the server has closed the connection".to_owned(),
                }
            }
        };
        let mut driver = pin!(driver);
        tokio::select! {
            biased;
            why = &mut driver => Woken::Lost(why),
            woken = self.talk(&client, &allowance, &news) => match woken {
                // Its own words say more than those of the query that failed by it.
                Woken::Lost(why) => match tokio::time::timeout(Duration::from_millis(100), driver).await {
                    Ok(said) => Woken::Lost(said),
                    Err(_) => Woken::Lost(why),
                },
                woken @ (Woken::Asked | Woken::Due | Woken::Gone) => woken,
            },
        }
    }

    async fn talk(&mut self, client: &Client, allowance: &Allowance, news: &Notify) -> Woken {
        match self.try_talk(client, allowance, news).await {
            Ok(woken) => woken,
            Err(why) => Woken::Lost(why),
        }
    }

    async fn try_talk(
        &mut self,
        client: &Client,
        allowance: &Allowance,
        news: &Notify,
    ) -> Result<Woken, String> {
        let schema = within(Schema::probe(client)).await?;
        // Another connection may be one to another server.
        self.basis = None;
        for channel in &schema.channels {
            // A pooler may not pass it on; then there are polls.
            let _ = within(client.batch_execute(&format!("LISTEN {channel}"))).await;
        }
        let mut stamp = None;
        let mut poll = POLLS[0];
        loop {
            allowance.renew();
            while let Ok(ask) = self.asked.try_recv() {
                self.note(ask);
            }
            let now = match self.follows {
                Follows::Yes => Some(within(stamp::stamp(client, &schema)).await?),
                Follows::No => None,
            };
            let is_news = now.is_none() || now != stamp;
            if is_news || !self.waiting.is_empty() {
                self.read(client, &schema).await?;
            }
            self.tell(|known| known.confirmed_at = Some(clock::now()));
            poll = if is_news { POLLS[0] } else { (poll * 2).min(POLLS[1]) };
            stamp = now;
            let took =
                self.known.lock().unwrap_or_else(PoisonError::into_inner).last.as_ref().map(|read| read.took);
            let rest = poll.max(took.unwrap_or_default() * REST);
            match self.wait(rest, news).await {
                Woken::Asked | Woken::Due => {}
                woken @ (Woken::Gone | Woken::Lost(_)) => return Ok(woken),
            }
        }
    }

    async fn read(&mut self, client: &Client, schema: &Schema) -> Result<(), String> {
        let changed = match self.basis.as_ref().filter(|(_, whole_at)| self.may_be_part(*whole_at)) {
            Some((last, whole_at)) => {
                within(changes::read(client, schema, last)).await?.map(|read| (read, *whole_at))
            }
            None => None,
        };
        let is_whole = changed.is_none();
        let (read, whole_at) = match changed {
            Some(changed) => changed,
            None => (within(read::read(client, schema)).await?, clock::steady()),
        };
        let read = Arc::new(read);
        self.basis = Some((Arc::clone(&read), whole_at));
        tracing::debug!(
            is_whole,
            took_us = read.took.as_micros(),
            sessions = read.tables.sessions.len(),
            "read PostgreSQL"
        );
        self.tell(|known| {
            known.last = Some(read);
            known.version += 1;
        });
        self.answer();
        Ok(())
    }

    /// Returns whether it may be enough to read what was written since: nobody waits for everything,
    /// and the last whole read is not long ago.
    fn may_be_part(&self, whole_at: Instant) -> bool {
        self.waiting.is_empty() && clock::steady().duration_since(whole_at) < WHOLE_EVERY
    }

    async fn wait(&mut self, rest: Duration, news: &Notify) -> Woken {
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
            ask = self.asked.recv() => match ask {
                None => Woken::Gone,
                Some(ask) => {
                    self.note(ask);
                    Woken::Asked
                }
            },
            () = due => Woken::Due,
        }
    }
}

/// Returns the messages that come without being asked for, which also drives the connection.
fn messages(
    connection: &mut tokio_postgres::Connection<
        impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
        impl tokio::io::AsyncRead + tokio::io::AsyncWrite + Unpin,
    >,
) -> impl Stream<Item = Result<AsyncMessage, Error>> {
    futures_util::stream::poll_fn(move |cx| connection.poll_message(cx))
}

/// Waits for a query, but not for ever.
async fn within<T>(query: impl Future<Output = Result<T, Error>>) -> Result<T, String> {
    match tokio::time::timeout(READ_WITHIN, query).await {
        Ok(done) => done.map_err(|error| crate::source::postgres::words::words(&error)),
        Err(_) => Err(format!("no answer within {} s", READ_WITHIN.as_secs())),
    }
}
