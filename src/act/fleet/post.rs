//! Publishes the outbox of a witness: runs its publisher's calls one after the other over one connection.

use std::cell::{Cell, RefCell};
use std::path::{Path, PathBuf};
use std::time::Duration;

use tokio::sync::Mutex;

use crate::act::error::ActionError;
use crate::act::fleet::identity::{self, Lock};
use crate::act::fleet::taking::{Intake, work_of};
use crate::core::fleet::database::outbox::Outbox;
use crate::core::fleet::database::pace::after_failure;
use crate::core::fleet::database::publisher::{Call, Next, Publisher, Waiting};
use crate::source::database::postgres::Target;
use crate::source::database::postgres::session::Session;

/// How many calls one beat may need: to enrol, to claim and to contest, and a few retries when other hosts interfere.
const MOST_CALLS: usize = 16;

/// The most bytes of an answer, as the schema defines it.
const MOST_OF_ANSWER: usize = 1 << 20;

/// The result of a beat.
#[derive(Debug)]
pub(crate) enum BeatOutcome {
    /// It was accepted.
    Accepted {
        /// Whether a viewer is looking closely.
        is_hot: bool,
        /// The orders that this host was sent and that the beat took.
        taken: Vec<Intake>,
    },
    /// Whether this machine was restarted or cloned is not known yet: ask again after this time.
    Waits(Duration),
    /// It was not accepted, for this reason; try again after this time.
    Failed(String, Duration),
}

/// This machine's connection to the database. One call at a time is under way; meanwhile the outbox may grow.
pub(crate) struct Post {
    session: Mutex<Session>,
    publisher: RefCell<Publisher>,
    failures: Cell<u32>,
    database: String,
    state: PathBuf,
    allowed_signers: Option<PathBuf>,
    _lock: Lock,
}

impl Post {
    /// Becomes the witness of a state folder. With a file of allowed signers it takes only orders signed by them.
    ///
    /// # Errors
    /// Another process is the witness already, or its host ID cannot be read or written.
    pub(crate) fn open(
        target: Target,
        state: &Path,
        team: Option<String>,
        facts: String,
        allowed_signers: Option<PathBuf>,
    ) -> Result<Self, ActionError> {
        let lock = identity::lock(state)?;
        let database = target.name.raw().to_owned();
        let (id, orders) = identity::own(state, &database)?;
        let publisher = RefCell::new(Publisher::new(id, team, facts, orders));
        let (session, state) = (Mutex::new(Session::new(target)), state.to_path_buf());
        Ok(Self {
            session,
            publisher,
            failures: Cell::default(),
            database,
            state,
            allowed_signers,
            _lock: lock,
        })
    }

    /// Calls `with` on the outbox.
    pub(crate) fn outbox<T>(&self, with: impl FnOnce(&mut Outbox) -> T) -> T {
        with(&mut self.publisher.borrow_mut().outbox)
    }

    /// Returns the host ID that it publishes under.
    pub(crate) fn host(&self) -> String {
        self.publisher.borrow().id().host.clone()
    }

    /// Returns whether the next beat repeats one that was not answered.
    pub(crate) fn is_telling(&self) -> bool {
        self.publisher.borrow().is_telling()
    }

    /// Beats, with all calls that it takes until a beat is accepted, and takes the orders for this host.
    ///
    /// # Errors
    /// This machine cannot continue: it has no random numbers, or a new host ID cannot be written.
    pub(crate) async fn beat(&self) -> Result<BeatOutcome, ActionError> {
        for _ in 0..MOST_CALLS {
            let broken = |error: serde_json::Error| ActionError::Never(error.to_string());
            let call = self.publisher.borrow_mut().next(identity::mark()?).map_err(broken)?;
            let answer = match self.call(call).await {
                Ok(answer) => answer,
                Err(why) => return self.failed(why),
            };
            let next = self.publisher.borrow_mut().answered(&answer);
            match next {
                Ok(Next::Again) => {}
                Ok(Next::Accepted { is_hot, orders }) => {
                    self.failures.set(0);
                    let mut taken = Vec::new();
                    for order in orders {
                        taken.extend(self.take(order).await);
                    }
                    return Ok(BeatOutcome::Accepted { is_hot, taken });
                }
                Ok(Next::Wait(wait)) => return Ok(BeatOutcome::Waits(wait)),
                Ok(Next::NewId) => {
                    let before = self.host();
                    let id = identity::mint(&self.state, &self.database, Some(before))?;
                    self.publisher.borrow_mut().renamed(id);
                }
                Ok(Next::Refused(why)) => return self.failed(why),
                Err(_) => return self.failed("its functions do not answer as claimtop's do".to_owned()),
            }
        }
        self.failed("other machines keep claiming this host".to_owned())
    }

    /// Takes one order; returns `None` if another process has taken it or if that is unknown. Its number is stored
    /// before anything is begun, so an order that reappears in a restored database begins nothing.
    async fn take(&self, order: Waiting) -> Option<Intake> {
        let (id, epoch, before) = {
            let publisher = self.publisher.borrow();
            (publisher.id().clone(), publisher.epoch(), publisher.orders())
        };
        let number = order.number;
        let parameters =
            vec![Some(id.host.clone()), Some(id.secret), Some(epoch.to_string()), Some(number.to_string())];
        let call = Call { function: "take($1::uuid,$2,$3::bigint,$4::bigint)", parameters };
        let answer = self.call(call).await.ok()?;
        if !is_ok(&answer) {
            return None;
        }
        let remembered = identity::took(&self.state, &self.database, number);
        self.publisher.borrow_mut().journalled(number);
        let work = work_of(&order, (&id.host, epoch), self.allowed_signers.as_deref()).await?;
        Some(match (work, remembered) {
            (Ok(work), Ok(())) if number > before => Intake::Work(number, work),
            (Ok(work), _) => Intake::Work(number, work.without_beginning()),
            (Err(line), _) => Intake::Refused(number, line),
        })
    }

    /// Sends the receipt of an order that was taken.
    ///
    /// # Errors
    /// The receipt may not have arrived, in words; it may be sent again.
    pub(crate) async fn receipt(&self, number: i64, line: &str) -> Result<(), String> {
        let id = self.publisher.borrow().id().clone();
        let is_small = line.len() <= MOST_OF_ANSWER;
        let ended = if is_small { "done" } else { "failed" };
        let parameters = vec![
            Some(id.host),
            Some(id.secret),
            Some(number.to_string()),
            Some(ended.to_owned()),
            is_small.then(|| line.trim().to_owned()),
        ];
        let call = Call { function: "receipt($1::uuid,$2,$3::bigint,$4,$5::json)", parameters };
        self.call(call).await.map(drop)
    }

    async fn call(&self, Call { function, parameters }: Call) -> Result<String, String> {
        let expression = format!("claimtop.{function}");
        let answer = self.session.lock().await.text(&expression, &parameters).await?;
        answer.ok_or_else(|| "it does not answer".to_owned())
    }

    fn failed(&self, why: String) -> Result<BeatOutcome, ActionError> {
        let failures = self.failures.get().saturating_add(1);
        self.failures.set(failures);
        Ok(BeatOutcome::Failed(why, after_failure(failures, identity::mark()?.unsigned_abs())))
    }
}

/// Returns whether a function of the schema has reported success.
fn is_ok(answer: &str) -> bool {
    #[derive(serde::Deserialize)]
    struct Answer<'a> {
        outcome: &'a str,
    }
    serde_json::from_str::<Answer<'_>>(answer).is_ok_and(|answer| answer.outcome == "ok")
}
