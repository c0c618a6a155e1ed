//! The executor: the state folder, the observer and the rules, for the commands and the screen.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use jiff::{SignedDuration, Timestamp};

use crate::act::error::ActionError;
use crate::act::execute::follow_up;
use crate::act::execute::follow_up::{CompletedAction, Part};
use crate::act::fs::disk::Patience;
use crate::act::fs::system::System;
use crate::act::look::{Hearing, Look, Testimony};
use crate::act::orders::PendingOrder;
use crate::act::preflight::preview::Preview;
use crate::act::preflight::undo::obstacles;
use crate::act::prune::ParkedFile;
use crate::act::rows::store::Rows;
use crate::act::rules::{Answer, Rules};
use crate::act::state::journal_store::{Lock, OnWait, ReadOnlyState, StateFolder};
use crate::act::stop::system::Machine;
use crate::act::{look, prune};
use crate::core::fleet::order::{OrderReceipt, Settle};
use crate::core::history::journal::{Entry, History, Intent, Outcome};
use crate::core::model::{Action, EndResult, Format, Report, Request, Untrusted};
use crate::core::plan::bring_back::{ClosedWindow, closed_windows, may_run_it};
use crate::observe::Observer;
use crate::source::provenance::descents::Descents;

/// How many looks may pass before the session of a window that was opened is seen to run.
const SEEN_AFTER: u32 = 20;
/// The time between two of them.
const BETWEEN_LOOKS: Duration = Duration::from_millis(250);

/// Whether a window was opened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Opening {
    Done,
    Refused,
}

/// Journals that a dead window was opened again.
fn note_opened(lock: &mut Lock<'_, System>, one: &ClosedWindow, now: Timestamp) -> Result<(), ActionError> {
    let entry = lock.history.next();
    let why = format!("its window died without being closed; session {}", one.session);
    let intent = Intent::new(Action::BringBack, one.name.shown(), why);
    lock.begin(entry, &intent, now)?;
    lock.finish(entry, Outcome::new(EndResult::Done, String::new()), now)
}

/// Takes a look, and returns the windows that have died without being closed, and why some are not opened from here.
fn closed_now(observer: &mut Observer, testimony: Option<&Testimony>) -> Vec<ClosedWindow> {
    let is_demo = observer.stage().is_some();
    let mut hearing = Hearing { observer, testimony };
    let snapshot = hearing.look();
    let report = hearing.judge(&snapshot);
    let mut closed = closed_windows(&report, &snapshot, &hearing.policy().signatures);
    for one in closed.iter_mut().filter(|one| is_demo || one.refusal.is_none()) {
        let folder = one.folder.as_ref().map(|folder| Path::new(folder.raw()));
        if is_demo {
            // Behind the windows of a demo there are no sessions.
            one.refusal = Some("this is a demo: it has no session".to_owned());
        } else if folder.is_some_and(|folder| !folder.is_dir()) {
            one.refusal = Some(format!("its folder {} is gone", one.folder_words()));
        }
    }
    closed
}

/// Previews actions and carries them out.
pub struct Executor {
    state: State,
    observer: Observer,
    /// The testimony of other machines, if any are watched.
    testimony: Option<Testimony>,
    rules: Rules,
    /// Called after something was done.
    when_done: Option<Box<dyn Fn() + Send>>,
}

/// The state folder, for acting or for looking only.
enum State {
    Acting(StateFolder<System>),
    Looking(ReadOnlyState),
}

impl State {
    fn acting(&self) -> Result<&StateFolder<System>, ActionError> {
        match self {
            Self::Acting(state) => Ok(state),
            Self::Looking(_) => Err(looks_only()),
        }
    }

    fn renewed(&mut self) -> Result<&StateFolder<System>, ActionError> {
        match self {
            Self::Acting(state) => state.renew().map(|()| &*state),
            Self::Looking(_) => Err(looks_only()),
        }
    }
}

fn looks_only() -> ActionError {
    ActionError::Never("this claimtop is read-only".to_owned())
}

impl Executor {
    /// How long a command waits while another claimtop is at work.
    pub(crate) const PATIENCE: Duration = Duration::from_secs(5);

    /// Opens the state folder.
    ///
    /// # Errors
    /// It cannot be made or opened.
    pub fn new(state: &Path, observer: Observer, rules: Rules) -> Result<Self, ActionError> {
        let mut state = StateFolder::open(System, state)?;
        state.act_in(observer.places());
        let mut executor =
            Self { state: State::Acting(state), observer, testimony: None, rules, when_done: None };
        executor.knows_agents(None);
        Ok(executor)
    }

    /// Opens the state folder for reading only, if there is one: nothing is made in it, and no action can be carried
    /// out.
    ///
    /// # Errors
    /// It exists and cannot be read.
    pub fn looking(state: &Path, observer: Observer, rules: Rules) -> Result<Self, ActionError> {
        let mut state = ReadOnlyState::open(state)?;
        state.act_in(observer.places());
        let state = State::Looking(state);
        let mut executor = Self { state, observer, testimony: None, rules, when_done: None };
        executor.knows_agents(None);
        Ok(executor)
    }

    /// Limits the wait for another claimtop that is at work, and reports such a wait at once.
    pub fn waiting(mut self, limit: Duration, on_wait: Option<OnWait>) -> Self {
        if let State::Acting(state) = &mut self.state {
            (state.patience, state.on_wait) = (Patience::For(limit), on_wait);
        }
        self
    }

    /// Sets a callback for completed actions: no other source reports at once that processes have ended.
    pub(crate) fn telling(mut self, when_done: Option<Box<dyn Fn() + Send>>) -> Self {
        self.when_done = when_done;
        self
    }

    /// Lets other machines testify about the records here, anew each time.
    pub fn hearing(mut self, testimony: Testimony) -> Self {
        self.testimony = Some(testimony);
        self
    }

    /// Restricts it to programs below this folder, if one is given.
    pub(crate) fn only_below(mut self, stage: Option<PathBuf>) -> Self {
        self.knows_agents(stage.clone());
        self.observer = self.observer.only_below(stage);
        self
    }

    /// Treats the stand-ins below this folder as the agents that they play, in addition to all other processes.
    pub(crate) fn alone_with(mut self, stage: PathBuf) -> Self {
        self.knows_agents(Some(stage.clone()));
        self.observer = self.observer.alone_with(stage);
        self
    }

    /// Gives it the descents that an observer of this program knows.
    pub(crate) fn knowing(mut self, descents: Descents) -> Self {
        self.observer = self.observer.knowing(descents);
        self
    }

    /// Recognizes the same agents as the observer.
    fn knows_agents(&mut self, stage: Option<PathBuf>) {
        let machine = Machine::new(Some(self.observer.policy().signatures.clone()), stage);
        match &mut self.state {
            State::Acting(state) => state.processes = Box::new(machine),
            State::Looking(state) => state.set_processes(Box::new(machine)),
        }
    }

    /// Adds the databases of a system.
    pub(crate) fn with_rows(mut self, format: Format, rows: Box<dyn Rows>) -> Self {
        let stores = match &mut self.state {
            State::Acting(state) => &mut state.stores,
            State::Looking(state) => state.stores(),
        };
        stores.insert(format, rows);
        self
    }

    /// Takes a look and judges it.
    pub fn report(&mut self) -> Report {
        look::report(&mut Hearing { observer: &mut self.observer, testimony: self.testimony.as_ref() })
    }

    /// Takes a look, and returns the windows that have died without being closed.
    pub fn closed_windows(&mut self) -> Vec<ClosedWindow> {
        closed_now(&mut self.observer, self.testimony.as_ref())
    }

    /// Opens dead windows again, each by a look of this moment, and returns what became of each.
    ///
    /// No other claimtop opens any meanwhile, and the next one sees these sessions run: the lock is held until a look has
    /// seen them, for at most 5 s.
    ///
    /// # Errors
    /// Another claimtop is at work, or this one only looks.
    pub(crate) fn reopen<T>(
        &mut self,
        sessions: &[Untrusted],
        mut open: impl FnMut(Option<&ClosedWindow>) -> (T, Opening),
    ) -> Result<Vec<T>, ActionError> {
        let now = self.observer.now();
        let mut lock = self.state.renewed()?.locked(now)?;
        let closed = closed_now(&mut self.observer, self.testimony.as_ref());
        let mut results = Vec::new();
        let mut unseen = Vec::new();
        for session in sessions {
            let one = closed.iter().find(|one| one.session == *session);
            let (result, reopened) = open(one);
            results.push(result);
            if reopened == Opening::Done {
                unseen.push(session);
                // It is open now, whether that can be written down or not.
                if let Some(Err(error)) = one.map(|one| note_opened(&mut lock, one, now)) {
                    tracing::warn!(%error, "failed to journal a window that was brought back");
                }
            }
        }
        for _ in 0..SEEN_AFTER {
            if unseen.is_empty() {
                break;
            }
            std::thread::sleep(BETWEEN_LOOKS);
            let mut hearing = Hearing { observer: &mut self.observer, testimony: self.testimony.as_ref() };
            let windows = look::report(&mut hearing).windows;
            unseen.retain(|session| !windows.iter().any(|one| may_run_it(one, session)));
        }
        Ok(results)
    }

    /// Previews each request; what was read before the first one serves all of them.
    ///
    /// # Errors
    /// The lock cannot be had. An error of a single request is returned in its place.
    pub fn see(
        &mut self,
        report: &Report,
        requests: &[Request],
    ) -> Result<Vec<Result<Preview, ActionError>>, ActionError> {
        let (now, rules) = (self.observer.now(), &self.rules);
        let see_all = |lock: &Lock<'_, System>| {
            let see = |request: &Request| Preview::look(lock, report, request.clone(), rules, now);
            requests.iter().map(see).collect()
        };
        Ok(match &self.state {
            State::Looking(state) => state.shown(see_all),
            State::Acting(_) => see_all(&self.state.renewed()?.locked(now)?),
        })
    }

    /// Puts right what an earlier claimtop left half done, and returns the outcomes of those entries.
    ///
    /// # Errors
    /// Another claimtop is at work, or the journal cannot be read or written. The entry of this number (the newest if
    /// `None`) cannot be put right now.
    pub(crate) fn recover(&mut self, number: Option<u64>) -> Result<Vec<Entry>, ActionError> {
        let now = self.observer.now();
        let state = self.state.renewed()?;
        let mut lock = state.locked(now)?;
        // Without a number the newest entry is meant.
        let number = number.or_else(|| Some(lock.history.entries.last()?.number));
        let is_meant = |(entry, _): &(u64, _)| number == Some(*entry);
        if let Some(at) = lock.unsettled.iter().position(is_meant) {
            return Err(lock.unsettled.swap_remove(at).1);
        }
        let ended = lock.recovered.iter().filter_map(|number| lock.history.entry(*number));
        Ok(ended.filter(|entry| !entry.is_open()).cloned().collect())
    }

    /// Returns the entries of earlier actions that were cut off and have been put right here since the last call, with
    /// their outcomes.
    pub(crate) fn put_right(&self) -> Vec<Entry> {
        match &self.state {
            State::Acting(state) => state.put_right.take(),
            State::Looking(_) => Vec::new(),
        }
    }

    /// Carries out a previewed action if the answer confirms it, and then its follow-ups.
    ///
    /// # Errors
    /// The answer does not confirm it, or something is not as it was seen; nothing was touched.
    pub fn carry_out(&mut self, preview: Preview, answer: &Answer) -> Result<CompletedAction, ActionError> {
        self.carry_out_in_parts(preview, answer, &mut |_| ())
    }

    /// Does the same, and reports each part as soon as it is finished.
    ///
    /// # Errors
    /// As [`Self::carry_out`].
    pub(crate) fn carry_out_in_parts(
        &mut self,
        preview: Preview,
        answer: &Answer,
        finished: &mut dyn FnMut(Part<'_>),
    ) -> Result<CompletedAction, ActionError> {
        let mut hearing = Hearing { observer: &mut self.observer, testimony: self.testimony.as_ref() };
        let state = self.state.renewed()?;
        let done = follow_up::carry_out_in_parts(state, preview, answer, &mut hearing, finished);
        self.when_done.iter().filter(|_| done.is_ok()).for_each(|tell| tell());
        done
    }

    /// Journals an order before it is sent to another machine.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn place(&mut self, placed: PendingOrder) -> Result<u64, ActionError> {
        let now = self.observer.now();
        self.state.renewed()?.locked(now)?.place(placed, now)
    }

    /// Journals another machine's receipt for an order.
    ///
    /// # Errors
    /// The journal cannot be written.
    pub(crate) fn note_receipt(&mut self, receipt: &OrderReceipt) -> Result<(), ActionError> {
        let now = self.observer.now();
        self.state.renewed()?.locked(now)?.note_receipt(receipt, now)
    }

    /// Returns the receipt of an order that another machine has sent; one that has not begun never will.
    ///
    /// # Errors
    /// Another claimtop is at work, or the journal cannot be written.
    pub(crate) fn settle(&mut self, settle: &Settle) -> Result<OrderReceipt, ActionError> {
        let now = self.observer.now();
        self.state.renewed()?.locked(now)?.settle(settle, now)
    }

    /// Reads the journal.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn history(&self) -> Result<History, ActionError> {
        match &self.state {
            State::Acting(state) => state.history(),
            State::Looking(state) => Ok(state.history().clone()),
        }
    }

    /// Returns why entries cannot be undone now, by their numbers; the others can. This only looks: nothing is put
    /// right.
    pub(crate) fn undo_obstacles(&self, numbers: &[u64]) -> BTreeMap<u64, ActionError> {
        let now = self.observer.now();
        match &self.state {
            State::Acting(_) => BTreeMap::new(),
            State::Looking(state) => state.shown(|lock| obstacles(lock, &self.rules, numbers, now)),
        }
    }

    /// Returns the current time.
    pub fn now(&self) -> Timestamp {
        self.observer.now()
    }

    /// Returns what has been parked for longer than this.
    ///
    /// # Errors
    /// The journal or the parked folder cannot be read.
    pub fn outdated(&self, kept_for: SignedDuration) -> Result<Vec<ParkedFile>, ActionError> {
        let lock = self.state.acting()?.locked(self.observer.now())?;
        prune::outdated(&lock, self.observer.now(), kept_for)
    }

    /// Removes for good what has been parked for longer than this and was shown before.
    ///
    /// # Errors
    /// Something cannot be removed; what was removed until then is journalled.
    pub fn prune(&self, shown: &[ParkedFile], kept_for: SignedDuration) -> Result<(), ActionError> {
        let now = self.observer.now();
        let mut lock = self.state.acting()?.locked(now)?;
        prune::prune(&mut lock, shown, now, kept_for)
    }
}
