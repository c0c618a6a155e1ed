//! Keeps the last known state of other machines in the state folder.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::act::fs::system::System;
use crate::act::state::bind::put;
use crate::core::fleet::last_known::{LastKnown, Sources};
use crate::core::model::Report;
use crate::source::os::clock;
use crate::source::os::open::plain::small;

const NAME: &str = "elsewhere.json";

/// The most bytes of the file that are read.
const MOST: usize = 1 << 20;

/// The shortest time between two writes of changes by a long look.
const EACH: Duration = Duration::from_secs(5);

/// The time between two writes when nothing has changed.
const EACH_SAME: Duration = Duration::from_secs(20);

/// Keeps the results of looks for callers that must not wait.
pub(crate) struct Keeper {
    state: PathBuf,
    sources: Sources,
    /// The time and content of the last write.
    kept: Mutex<Option<(Instant, LastKnown)>>,
}

impl Keeper {
    pub(crate) fn new(state: PathBuf, sources: Sources) -> Self {
        Self { state, sources, kept: Mutex::default() }
    }

    /// Keeps the result of a look. If it cannot be written, the next one tries again.
    pub(crate) fn keep(&self, report: &Report) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let now = clock::steady();
        if kept.as_ref().is_some_and(|(at, _)| now.saturating_duration_since(*at) < EACH) {
            return;
        }
        // Another claimtop may have asked other machines meanwhile.
        let mut known = read(&self.state);
        known.learn(report, &self.sources);
        let is_told = |(at, before): &(Instant, LastKnown)| {
            now.saturating_duration_since(*at) < EACH_SAME && before.is_same_as(&known)
        };
        if kept.as_ref().is_some_and(is_told) {
            return;
        }
        if let Err(error) = put(&System, (&self.state, NAME.to_owned()), &known) {
            tracing::warn!(%error, "what is known of other machines is not kept");
        }
        *kept = Some((now, known));
    }
}

/// Returns the last known state; empty if it cannot be read.
pub(crate) fn read(state: &Path) -> LastKnown {
    let bytes = small(&state.join(NAME), MOST).ok();
    bytes.and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}
