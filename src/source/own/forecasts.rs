//! Reads what an open claimtop has foreseen of working trees. It counts only while that one lives: it holds a lock for
//! as long as it keeps the forecasts up to date.

use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use rustix::io::Errno;

use crate::core::model::{ForecastBook, Outcome, Snapshot, SourceHealth, SourceState};
use crate::format::Reading;
use crate::source::interface::{Hints, Scope, Source};
use crate::source::os::open::plain::{open_plain, small};
use crate::source::own::lines::OwnLines;
use crate::source::places::{FORECASTS, forecasts_in};

/// The most bytes of the file that are read.
const MOST: usize = 4 << 20;

/// The name of the health badge.
const ID: &str = "foresight";

/// Returns the file whose lock an open claimtop holds for as long as it compares working trees.
pub(crate) fn lock_in(state: &Path) -> PathBuf {
    state.join("forecasts.lock")
}

/// Reads what was foreseen last, also by a claimtop that has ended.
pub(crate) fn last_book(state: &Path) -> Option<ForecastBook> {
    serde_json::from_slice(&small(&forecasts_in(state), MOST).ok()?).ok()
}

/// Reads what is foreseen by a claimtop that is open.
pub(crate) fn current_book(state: &Path) -> Option<ForecastBook> {
    if is_kept_up(state) { last_book(state) } else { None }
}

/// Returns whether a claimtop is open that keeps the forecasts up to date (flock(2)).
fn is_kept_up(state: &Path) -> bool {
    let Ok((lock, _)) = open_plain(&lock_in(state)) else { return false };
    matches!(flock(&lock, FlockOperation::NonBlockingLockShared), Err(Errno::WOULDBLOCK))
}

/// Reads them look by look.
#[derive(Default)]
pub(crate) struct Reader {
    file: OwnLines,
    book: ForecastBook,
    is_kept_up: bool,
    state: Option<PathBuf>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        self.state = scope.places.state().filter(|state| scope.fence.reaches(&forecasts_in(state)));
        let Some(state) = &self.state else { return };
        self.is_kept_up = is_kept_up(state);
        if !self.is_kept_up {
            return;
        }
        if let Some(books) = self.file.changed::<ForecastBook>(&forecasts_in(state), reading.host) {
            self.book = books.into_iter().next().unwrap_or_default();
        }
        snapshot.forecasts.clone_from(&self.book.forecasts);
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        let forecasts = &self.book.forecasts;
        if !self.is_kept_up || forecasts.is_empty() {
            return Vec::new();
        }
        let of = |outcome| forecasts.iter().filter(|forecast| forecast.outcome == outcome).count();
        let detail = format!(
            "working trees compared: {} merge, {} will not, {} unknown",
            of(Outcome::Clean),
            of(Outcome::Conflicts),
            of(Outcome::Unknown)
        );
        vec![SourceHealth { id: ID.to_owned(), state: SourceState::Ok, detail: detail.into() }]
    }

    fn hints(&self, _scope: &Scope, hints: &mut Hints) {
        if let Some(state) = &self.state {
            hints.folders.insert(state.clone());
            hints.names.entry(state.clone()).or_default().insert(FORECASTS.to_owned());
        }
    }
}
