//! `replay`: shows a recording on the same screens, with the same verdicts, and cannot act.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{SyncSender, sync_channel};

use anyhow::{Context, anyhow};
use jiff::{SignedDuration, Timestamp};

use crate::app::msg::{Position, Step};
use crate::cli::output::failure::{Exit, Failure};
use crate::cli::settings::config_file::text;
use crate::core::assess::{Policy, assess};
use crate::core::history::diff::diff;
use crate::core::history::recording::{Recording, Unreadable};
use crate::core::history::timeline::Past;
use crate::core::judge::tombstone::ended::ended;
use crate::core::model::{Report, Untrusted};
use crate::observe::ReportSource;
use crate::observe::watch::notice::Hint;
use crate::present::change::news;
use crate::run::Replay;
use crate::run::tape::LIMIT;

/// Opens a recording of at most as many bytes as one has that is made.
///
/// # Errors
/// It cannot be read, is too big, no plain file, or none that this claimtop knows.
pub(crate) fn open(path: &Path) -> Result<Recording, Failure> {
    let text = text(path, LIMIT)
        .and_then(|text| text.context("there is no such file"))
        .with_context(|| format!("failed to read the recording {}", Untrusted::from_path(path)))
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    Recording::open(text).map_err(|error| unreadable(path, error))
}

/// Prints why a recording cannot be shown.
pub(crate) fn unreadable(path: &Path, error: Unreadable) -> Failure {
    Failure::new(Exit::Failed, anyhow!(error).context(Untrusted::from_path(path).shown()))
}

pub(crate) struct Player {
    recording: Arc<Recording>,
    policy: Policy,
    at: Arc<AtomicUsize>,
    /// What was shown last, for a look that cannot be read.
    last: Arc<Report>,
    /// The latest look that was shown: to go back undoes nothing.
    latest: Arc<Report>,
}

impl Player {
    /// Begins at a moment, or at the first look.
    ///
    /// # Errors
    /// That look cannot be read.
    pub(crate) fn new(recording: Recording, at: Option<Timestamp>) -> Result<Self, Unreadable> {
        let number = at.map_or(0, |at| recording.index_at(at));
        let policy = Policy { signatures: recording.header.signatures.clone() };
        let last = Arc::new(assess(&recording.look(number)?, &policy));
        let at = Arc::new(AtomicUsize::new(number));
        let latest = Arc::clone(&last);
        Ok(Self { recording: Arc::new(recording), policy, at, last, latest })
    }

    /// Judges one look anew, and who has ended since another one that was before it.
    ///
    /// # Errors
    /// It cannot be read.
    fn judge(&self, before: Option<&Report>, number: usize) -> Result<Report, Unreadable> {
        let look = self.recording.look(number)?;
        let before = before.filter(|before| before.taken_at < look.taken_at);
        let ended = before.map_or_else(Vec::new, |before| ended(before, &look));
        Ok(Report { ended, ..assess(&look, &self.policy) })
    }

    /// Judges every look, each after the one before it.
    ///
    /// # Errors
    /// One cannot be read.
    pub(crate) fn all(&self) -> Result<Vec<Arc<Report>>, Unreadable> {
        let mut all: Vec<Arc<Report>> = Vec::new();
        for number in 0..self.recording.marks().len() {
            all.push(Arc::new(self.judge(all.last().map(Arc::as_ref), number)?));
        }
        Ok(all)
    }

    /// Returns what was shown last, at first the look at which it begins.
    pub(crate) fn report(&self) -> Arc<Report> {
        Arc::clone(&self.last)
    }

    /// Returns what changed from each look to the next that shows a change.
    ///
    /// # Errors
    /// A look cannot be read.
    pub(crate) fn past(&self) -> Result<Vec<Past>, Unreadable> {
        let (mut past, mut before): (_, Option<Report>) = (Vec::new(), None);
        for (number, _) in self.recording.marks().iter().enumerate().filter(|(_, mark)| mark.event) {
            let now = self.judge(before.as_ref(), number)?;
            if let Some(before) = &before {
                past.extend(news(&diff(Some(before), &now)));
            }
            before = Some(now);
        }
        Ok(past)
    }

    /// Returns what the screen needs to go about in it; each step has it looked at again.
    pub(crate) fn replay(&self, hints: SyncSender<Hint>) -> Replay {
        let (recording, at) = (Arc::clone(&self.recording), Arc::clone(&self.at));
        let begin = position(&recording, at.load(Ordering::Relaxed));
        let step = move |step| {
            let number = to(&recording, at.load(Ordering::Relaxed), step);
            at.store(number, Ordering::Relaxed);
            // As many hints as fit wait for a look already.
            let _ = hints.try_send(Hint::Asked);
            position(&recording, number)
        };
        Replay { at: begin, step: Box::new(step) }
    }
}

impl ReportSource for Player {
    fn next_report(&mut self) -> Arc<Report> {
        match self.judge(Some(&self.latest), self.at.load(Ordering::Relaxed)) {
            Ok(report) => self.last = Arc::new(report),
            Err(error) => tracing::warn!(%error, "a look in the recording cannot be read"),
        }
        if self.last.taken_at > self.latest.taken_at {
            self.latest = self.report();
        }
        self.report()
    }
}

fn position(recording: &Recording, number: usize) -> Position {
    let marks = recording.marks();
    let at = marks.get(number).map_or(recording.header.began_at, |mark| mark.at);
    Position { look: number + 1, of: marks.len(), at }
}

/// Returns where a step leads; where there is nothing more, to the end on that side.
fn to(recording: &Recording, from: usize, step: Step) -> usize {
    let marks = recording.marks();
    let last = marks.len().saturating_sub(1);
    let now = position(recording, from).at;
    match step {
        Step::Next => {
            (from + 1..=last).find(|at| marks.get(*at).is_some_and(|mark| mark.event)).unwrap_or(last)
        }
        Step::Previous => {
            (0..from).rev().find(|at| marks.get(*at).is_some_and(|mark| mark.event)).unwrap_or(0)
        }
        Step::MinuteOn => recording.index_at(now + SignedDuration::from_mins(1)).max((from + 1).min(last)),
        Step::MinuteBack => {
            recording.index_at(now - SignedDuration::from_mins(1)).min(from.saturating_sub(1))
        }
    }
}

/// Makes the channel by which steps ask for a look.
pub(crate) fn hints() -> (SyncSender<Hint>, std::sync::mpsc::Receiver<Hint>) {
    sync_channel(8)
}
