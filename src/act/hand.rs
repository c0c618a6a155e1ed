//! Everything that acting needs, in one hand: the state folder, the eyes and the rules. The
//! commands and the screen both act with it.

use std::path::{Path, PathBuf};

use jiff::{SignedDuration, Timestamp};

use super::disk::Patience;
use super::follow::{self, Carried};
use super::lock::StateFolder;
use super::prune::{self, Parked};
use super::road::{Answer, Request, Rules, Seen};
use super::rows::Rows;
use super::system::System;
use super::trouble::Trouble;
use super::witness::{self, Eyes, Witness};
use crate::core::journal::History;
use crate::core::record::Format;
use crate::core::report::Report;

/// What acts.
pub struct Hand {
    state: StateFolder<System>,
    eyes: Eyes,
    rules: Rules,
}

impl Hand {
    /// Opens the state folder.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub fn new(state: &Path, eyes: Eyes, rules: Rules) -> Result<Self, Trouble> {
        Ok(Self { state: StateFolder::open(System, state)?, eyes, rules })
    }

    /// Lets only programs below this folder count, where there is one.
    pub fn only_below(mut self, stage: Option<PathBuf>) -> Self {
        self.eyes.stage = stage;
        self
    }

    /// Adds the databases of a system.
    pub fn with(mut self, format: Format, rows: Box<dyn Rows>) -> Self {
        self.state.stores.insert(format, rows);
        self
    }

    /// Takes a look and judges it.
    pub fn report(&mut self) -> Report {
        witness::report(&mut self.eyes)
    }

    /// Looks at the files of each request; what was read before one is good for all.
    ///
    /// # Errors
    /// The lock cannot be had. What is wrong with one request is told in its place.
    pub fn see(
        &mut self,
        report: &Report,
        requests: &[Request],
    ) -> Result<Vec<Result<Seen, Trouble>>, Trouble> {
        self.state.renew()?;
        let now = self.eyes.now();
        let lock = self.state.lock(Patience::Wait, now)?;
        let see = |request: &Request| Seen::see(&lock, report, request.clone(), &self.rules, now);
        Ok(requests.iter().map(see).collect())
    }

    /// Does what was seen, if the answer is what it asks for, and then what follows.
    ///
    /// # Errors
    /// It is not confirmed, or something is not as it was seen; nothing was touched.
    pub fn carry_out(&mut self, seen: Seen, answer: &Answer) -> Result<Carried, Trouble> {
        self.state.renew()?;
        follow::carry_out(&self.state, seen, answer, &mut self.eyes)
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn history(&self) -> Result<History, Trouble> {
        self.state.history()
    }

    /// Returns the moment.
    pub fn now(&self) -> Timestamp {
        self.eyes.now()
    }

    /// Returns what is parked for longer than this.
    ///
    /// # Errors
    /// The journal or the parked folder cannot be read.
    pub fn outdated(&self, kept_for: SignedDuration) -> Result<Vec<Parked>, Trouble> {
        let lock = self.state.lock(Patience::Wait, self.eyes.now())?;
        prune::outdated(&lock, self.eyes.now(), kept_for)
    }

    /// Removes for good what is parked for longer than this, and was shown before.
    ///
    /// # Errors
    /// Something cannot be removed; what was removed until then is journalled.
    pub fn prune(&self, shown: &[Parked], kept_for: SignedDuration) -> Result<(), Trouble> {
        let now = self.eyes.now();
        let mut lock = self.state.lock(Patience::Wait, now)?;
        prune::prune(&mut lock, shown, now, kept_for)
    }
}
