//! The loop of a witness: what looks find is published in beats, and what is asked of this host is done, none delaying
//! another.

use std::collections::VecDeque;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::time::{Instant, sleep_until};

use super::ordered::OrderDesk;
use crate::act::error::ActionError;
use crate::act::fleet::mark;
use crate::act::fleet::post::{BeatOutcome, Post};
use crate::act::fleet::taking::Intake;
use crate::cli::live::following::{Following, Next};
use crate::cli::output::complain;
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::settings::Settings;
use crate::config::fleet::Paths;
use crate::core::fleet::database::outbox_feed::OutboxFeed;
use crate::core::fleet::database::pace::{News, after_last};
use crate::core::fleet::wire::path_redaction::PathRedactor;
use crate::core::model::{Report, Tombstone};
use crate::source::os::{clock, host};

/// How long after it failed an answer is sent again.
const AGAIN: Duration = Duration::from_secs(1);

/// The tombstones of the last look.
pub(crate) type Stones = Arc<Mutex<Arc<[Tombstone]>>>;

/// How a call of the database has ended.
enum CallOutcome {
    Beat(Result<BeatOutcome, ActionError>),
    Answer(Result<(), String>),
}

type Call<'a> = Pin<Box<dyn Future<Output = CallOutcome> + 'a>>;

/// A witness at work.
pub(crate) struct Publishing<'a> {
    post: &'a Post,
    settings: &'a Settings,
    stones: &'a Stones,
    feed: OutboxFeed,
    /// What keeps paths to this machine, as of the last look.
    discreet: PathRedactor,
    /// What is to be published since the last beat began, and what that beat has.
    news: News,
    telling: News,
    /// When the next beat is due, and when the last one began. Nothing is published before all is seen once.
    due: Option<Instant>,
    last: Instant,
    is_hot: bool,
    is_refused: bool,
    /// What has become of orders, until the database has it; and when it is sent again.
    answers: VecDeque<(i64, String)>,
    again: Instant,
    /// What was last said of the database, so that it is said once.
    last_state: String,
}

impl<'a> Publishing<'a> {
    pub(crate) fn new(post: &'a Post, settings: &'a Settings, stones: &'a Stones) -> Self {
        let now = Instant::now();
        Self {
            post,
            settings,
            stones,
            feed: OutboxFeed::default(),
            discreet: PathRedactor::default(),
            news: News::Change,
            telling: News::None,
            due: None,
            last: now,
            is_hot: false,
            is_refused: true,
            answers: VecDeque::new(),
            again: now,
            last_state: String::new(),
        }
    }

    /// Publishes until it is asked to stop.
    ///
    /// # Errors
    /// The scanner thread fails, or this machine cannot go on.
    pub(crate) async fn publish(mut self, mut following: Following, ordered: &mut OrderDesk) -> Outcome {
        let mut call: Option<Call<'a>> = None;
        loop {
            let wakes = self.wakes().filter(|_| call.is_none());
            tokio::select! {
                biased;
                next = following.next() => match next? {
                    Next::Looked(report) => self.looked(&report)?,
                    Next::HintsLost => {}
                    Next::Interrupted => return Ok(Exit::Fine),
                },
                done = ended(&mut call), if call.is_some() => {
                    call = None;
                    self.ended(done, ordered)?;
                }
                (number, line) = ordered.answer() => {
                    self.answers.push_back((number, self.discreet.answer(&line)));
                }
                () = until(wakes), if wakes.is_some() => call = Some(self.call()),
            }
        }
    }

    /// Returns when the database is to be called next.
    fn wakes(&self) -> Option<Instant> {
        let answer = self.answers.front().map(|_| self.again);
        [answer, self.due].into_iter().flatten().min()
    }

    /// Begins the call that is due.
    fn call(&mut self) -> Call<'a> {
        let post = self.post;
        let now = Instant::now();
        if let Some((number, line)) = self.answers.front().filter(|_| self.again <= now).cloned() {
            return Box::pin(async move { CallOutcome::Answer(post.receipt(number, &line).await) });
        }
        self.last = now;
        // A repeated beat has nothing that happened since the first began.
        if !post.is_telling() {
            self.feed.telling();
            self.telling = self.telling.max(std::mem::replace(&mut self.news, News::None));
        }
        Box::pin(async move { CallOutcome::Beat(post.beat().await) })
    }

    fn ended(&mut self, done: CallOutcome, ordered: &OrderDesk) -> Result<(), Failure> {
        match done {
            CallOutcome::Answer(Ok(())) => drop(self.answers.pop_front()),
            CallOutcome::Answer(Err(why)) => {
                self.report_state(&format!("an answer was not delivered; trying again: {why}"));
                self.again = Instant::now() + AGAIN;
            }
            CallOutcome::Beat(posted) => {
                let wait = self.posted(posted.map_err(of_action)?, ordered)?;
                self.due = Some(self.last + wait);
            }
        }
        Ok(())
    }

    /// Says what became of a beat, and returns how long after it began the next one is due.
    fn posted(&mut self, posted: BeatOutcome, ordered: &OrderDesk) -> Result<Duration, Failure> {
        self.is_refused = !matches!(posted, BeatOutcome::Accepted { .. });
        match posted {
            BeatOutcome::Accepted { is_hot, taken } => {
                self.is_hot = is_hot;
                self.telling = News::None;
                self.feed.accepted();
                for taken in taken {
                    match taken {
                        Intake::Work(number, work) => ordered.ask(number, work),
                        Intake::Refused(number, line) => self.answers.push_back((number, line)),
                    }
                }
                self.report_state("published");
                self.wait()
            }
            BeatOutcome::Waits(wait) => {
                self.report_state(
                    "the database has this host in another boot; waiting until it is certain that it was restarted \
                     and not cloned",
                );
                Ok(wait)
            }
            BeatOutcome::Failed(why, wait) => {
                self.report_state(&format!("not published; trying again: {why}"));
                Ok(wait)
            }
        }
    }

    fn looked(&mut self, report: &Report) -> Result<(), Failure> {
        let stones = Arc::clone(&self.stones.lock().unwrap_or_else(PoisonError::into_inner));
        self.discreet = discreet(self.settings, report);
        let (is_urgent, is_empty) = self.post.outbox(|outbox| {
            let is_urgent = self.feed.look(report, &stones, &self.discreet, outbox)?;
            Ok::<_, Failure>((is_urgent, outbox.is_empty()))
        })?;
        let news = match (is_urgent, is_empty) {
            (true, _) => News::Urgent,
            (false, false) => News::Change,
            (false, true) => News::None,
        };
        self.news = self.news.max(news);
        if !self.is_refused {
            self.due = self.due.min(Some(self.last + self.wait()?));
        }
        self.due = self.due.or(Some(self.last));
        Ok(())
    }

    fn wait(&self) -> Result<Duration, Failure> {
        let news = self.news.max(self.telling);
        Ok(after_last(news, self.is_hot, mark().map_err(of_action)?.unsigned_abs()))
    }

    /// Says how it stands, where that is not as it was.
    fn report_state(&mut self, how: &str) {
        if self.last_state != how {
            how.clone_into(&mut self.last_state);
            complain(how);
        }
    }
}

/// Returns what keeps paths of this machine to itself, as it is set.
pub(crate) fn discreet(settings: &Settings, report: &Report) -> PathRedactor {
    match settings.effective.config.publishing.paths {
        Paths::Relative => {
            let (places, config) = (&settings.places, &settings.effective.config);
            let databases = config.obra_databases.iter().filter_map(|database| database.parent());
            let named = places.roots.iter().chain(&places.here).map(PathBuf::as_path);
            let folders = named.chain([places.tmp.as_path()]).chain(databases);
            // Where everybody's temporary files lie is no secret.
            let folders = folders.filter(|folder| *folder != Path::new("/tmp"));
            let folders: Vec<_> = folders.map(Path::to_string_lossy).collect();
            let home = places.home.to_string_lossy();
            // The machine's ID is never published.
            let salt = host::host(clock::now()).machine_id.unwrap_or_default();
            PathRedactor::new(&home, folders.iter().map(|folder| &**folder), report, salt)
        }
        Paths::Whole => PathRedactor::default(),
    }
}

async fn ended(call: &mut Option<Call<'_>>) -> CallOutcome {
    match call {
        Some(call) => call.await,
        None => std::future::pending().await,
    }
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        sleep_until(at).await;
    }
}
