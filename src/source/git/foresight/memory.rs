//! What was foreseen before, so that only pairs of which a side has changed are merged again.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use crate::core::model::{Forecast, ForecastCounts, Outcome};

/// How long a forecast is taken for that of the same states: attributes and ignored names outside of the trees decide
/// as well, and change seldom.
const KNOWN_FOR: Duration = Duration::from_secs(600);

/// What decides the forecast of a pair.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct PairKey {
    pub(super) repository: PathBuf,
    /// The working trees; the right one is missing where it is a branch alone.
    pub(super) places: [Option<PathBuf>; 2],
    /// The commit and the tree of each side.
    pub(super) states: [String; 4],
    /// The settings of each side.
    pub(super) settings: [Vec<(String, Vec<u8>)>; 2],
}

/// The forecasts of the last check.
#[derive(Default)]
pub(crate) struct Memory {
    last: BTreeMap<PairKey, (Forecast, Instant)>,
    /// Those of the check under way.
    next: BTreeMap<PairKey, (Forecast, Instant)>,
    now: Option<Instant>,
    /// What was merged since the counts were last taken.
    counts: ForecastCounts,
}

impl Memory {
    /// Returns what was merged since this was last called.
    pub(crate) fn take_counts(&mut self) -> ForecastCounts {
        std::mem::take(&mut self.counts)
    }

    pub(super) fn begin(&mut self, now: Instant) {
        self.now = Some(now);
        self.counts.checks += 1;
    }

    /// Forgets what the check that ends has not asked for.
    pub(super) fn end(&mut self) {
        self.last = std::mem::take(&mut self.next);
    }

    /// Returns the forecast of the same states, if it is not too old.
    pub(super) fn recall(&mut self, key: &PairKey) -> Option<&Forecast> {
        let now = self.now?;
        let is_known = |(_, at): &(Forecast, Instant)| now.saturating_duration_since(*at) < KNOWN_FOR;
        let (key, kept) = self.last.remove_entry(key).filter(|(_, kept)| is_known(kept))?;
        Some(&self.next.entry(key).or_insert(kept).0)
    }

    /// Keeps a forecast that is certain.
    pub(super) fn learn(&mut self, key: Option<PairKey>, forecast: &Forecast) {
        self.counts.count(forecast.outcome);
        let is_certain = forecast.outcome != Outcome::Unknown;
        if let (Some(key), Some(now), true) = (key, self.now, is_certain) {
            self.next.insert(key, (forecast.clone(), now));
        }
    }
}
