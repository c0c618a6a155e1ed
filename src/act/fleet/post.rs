//! Publishes what a witness has to tell: the calls of its publisher, one after the other, over one connection.

use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::act::error::ActionError;
use crate::act::fleet::identity::{self, Lock};
use crate::core::fleet::outbox::Outbox;
use crate::core::fleet::pace::after_failure;
use crate::core::fleet::publisher::{Call, Next, Publisher};
use crate::source::postgres::Target;
use crate::source::postgres::session::Session;

/// How many calls one beat may need: to enrol, to claim and to contest, and some that others come in between of.
const MOST_CALLS: usize = 16;

/// What became of a beat.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Posted {
    /// It was accepted.
    Accepted {
        /// Whether somebody looks closely.
        is_hot: bool,
    },
    /// It is not known yet whether this machine was restarted or cloned: ask again after this time.
    Waits(Duration),
    /// It was not accepted, for this reason: try again after this time.
    Failed(String, Duration),
}

/// The way of this machine to the database.
pub(crate) struct Post {
    session: Session,
    publisher: Publisher,
    database: String,
    state: PathBuf,
    failures: u32,
    _lock: Lock,
}

impl Post {
    /// Becomes the witness of a state folder.
    ///
    /// # Errors
    /// There is one already, or its host ID cannot be read or written.
    pub(crate) fn open(
        target: Target,
        state: &Path,
        team: Option<String>,
        facts: String,
    ) -> Result<Self, ActionError> {
        let lock = identity::lock(state)?;
        let database = target.name.raw().to_owned();
        let publisher = Publisher::new(identity::own(state, &database)?, team, facts, 0);
        let (session, state) = (Session::new(target), state.to_path_buf());
        Ok(Self { session, publisher, database, state, failures: 0, _lock: lock })
    }

    /// Returns what is to be told.
    pub(crate) fn outbox(&mut self) -> &mut Outbox {
        &mut self.publisher.outbox
    }

    /// Returns under which ID it publishes.
    pub(crate) fn host(&self) -> &str {
        &self.publisher.id().host
    }

    /// Beats, with all that it takes until a beat is accepted.
    ///
    /// # Errors
    /// This machine cannot go on: it has no random numbers, or a new host ID cannot be written.
    pub(crate) async fn beat(&mut self) -> Result<Posted, ActionError> {
        for _ in 0..MOST_CALLS {
            let broken = |error: serde_json::Error| ActionError::Never(error.to_string());
            let call = self.publisher.next(identity::mark()?).map_err(broken)?;
            let answer = match self.call(call).await {
                Ok(answer) => answer,
                Err(why) => return self.failed(why),
            };
            match self.publisher.answered(&answer) {
                Ok(Next::Again) => {}
                Ok(Next::Accepted { is_hot, orders: _ }) => {
                    self.failures = 0;
                    return Ok(Posted::Accepted { is_hot });
                }
                Ok(Next::Wait(wait)) => return Ok(Posted::Waits(wait)),
                Ok(Next::NewId) => {
                    let before = self.publisher.id().host.clone();
                    let id = identity::mint(&self.state, &self.database, Some(before))?;
                    self.publisher.renamed(id);
                }
                Ok(Next::Refused(why)) => return self.failed(why),
                Err(_) => return self.failed("it does not answer as claimtop's own functions".to_owned()),
            }
        }
        self.failed("others claim this host all the time".to_owned())
    }

    async fn call(&mut self, Call { function, parameters }: Call) -> Result<String, String> {
        let sql = format!("SELECT claimtop.{function}");
        let rows = self.session.query(&sql, &parameters).await?;
        let answer = rows.first().and_then(|row| row.try_get::<_, Option<String>>(0).ok().flatten());
        answer.ok_or_else(|| "it gives no answer".to_owned())
    }

    fn failed(&mut self, why: String) -> Result<Posted, ActionError> {
        self.failures += 1;
        Ok(Posted::Failed(why, after_failure(self.failures, identity::mark()?.unsigned_abs())))
    }
}
