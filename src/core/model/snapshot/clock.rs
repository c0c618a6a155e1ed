//! The readings of the wall clock during one boot.
//!
//! A process's start is counted in ticks since the boot, which cannot be set. A file's time is a reading of the wall
//! clock, which a person, NTP or a virtual machine that resumes after its host has slept can set. So a file's time
//! identifies a moment of the boot only as far as the readings in between are known.

use jiff::{SignedDuration, Timestamp};
use serde::{Deserialize, Serialize};

/// The largest difference between two equal readings: the two clocks are read one after the other.
const SAME: SignedDuration = SignedDuration::from_secs(1);

/// How far a file's time may be outside the readings: the clock of file times is coarse.
const COARSE: SignedDuration = SignedDuration::from_secs(2);

/// One reading of both clocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct ClockReading {
    /// How long the machine had been up, time asleep included.
    pub up_for: SignedDuration,
    /// When it had booted, by the wall clock at that time.
    pub boot_at: Timestamp,
}

impl ClockReading {
    /// Creates a reading from both clocks at one moment.
    pub(crate) fn new(up_for: SignedDuration, now: Timestamp) -> Option<Self> {
        Some(Self { up_for, boot_at: now.checked_sub(up_for).ok()? })
    }

    /// Returns whether the clock was not set between two readings, or was set back again.
    pub(crate) fn agrees_with(self, other: Self) -> bool {
        self.boot_at.duration_since(other.boot_at).abs() <= SAME
    }
}

/// The range of moments of the boot in which something was written; before zero means in an earlier boot.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Moments {
    pub(crate) earliest: SignedDuration,
    pub(crate) latest: SignedDuration,
}

impl Moments {
    fn or(self, other: Self) -> Self {
        Self { earliest: self.earliest.min(other.earliest), latest: self.latest.max(other.latest) }
    }
}

/// Every known reading of one boot, the oldest first. One at zero is the timestamp of the boot itself.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ClockHistory(Vec<ClockReading>);

impl ClockHistory {
    /// Returns whether there are no readings.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Adds readings. Of equal ones only the first and the last are kept.
    pub fn add(&mut self, readings: impl IntoIterator<Item = ClockReading>) {
        self.0.extend(readings);
        self.0.sort_unstable();
        let all = std::mem::take(&mut self.0);
        for reading in all {
            if let [.., first, last] = self.0.as_mut_slice()
                && first.agrees_with(*last)
                && first.agrees_with(reading)
            {
                *last = reading;
            } else {
                self.0.push(reading);
            }
        }
    }

    /// Returns the readings, the oldest first.
    pub fn readings(&self) -> impl Iterator<Item = ClockReading> + use<> {
        self.0.clone().into_iter()
    }

    /// Returns the least amount by which the clock was set between the first reading and the last.
    pub(crate) fn set_by(&self) -> SignedDuration {
        let boots = || self.0.iter().map(|reading| reading.boot_at);
        boots().max().zip(boots().min()).map_or(SignedDuration::ZERO, |(max, min)| max.duration_since(min))
    }

    /// Returns whether the clock's reading at boot is known.
    pub(crate) fn has_stamp(&self) -> bool {
        self.0.first().is_some_and(|first| first.up_for.is_zero())
    }

    /// Returns the moments at which the clock may have shown a time; `None` if, by all readings, it never did.
    pub(crate) fn moments_of(&self, at: Timestamp) -> Option<Moments> {
        let first = self.0.first()?;
        let last = self.0.last()?;
        let between = self.0.windows(2).filter_map(|pair| match pair {
            [one, other] => between(*one, *other, at),
            _ => None,
        });
        let before = self.before(*first, at).into_iter();
        let now = at.duration_since(last.boot_at);
        let after = (now >= last.up_for).then_some(Moments { earliest: now, latest: now });
        before.chain(between).chain(after).reduce(Moments::or)
    }

    /// Returns the moments before the first reading: in an earlier boot or, if the clock at boot is unknown, at any
    /// moment up to the reading.
    fn before(&self, first: ClockReading, at: Timestamp) -> Option<Moments> {
        if !self.has_stamp() {
            return Some(Moments { earliest: SignedDuration::MIN, latest: first.up_for });
        }
        let since = at.duration_since(first.boot_at);
        (since <= COARSE).then_some(Moments { earliest: since, latest: since })
    }
}

impl FromIterator<ClockReading> for ClockHistory {
    fn from_iter<I: IntoIterator<Item = ClockReading>>(readings: I) -> Self {
        let mut history = Self::default();
        history.add(readings);
        history
    }
}

/// Returns the moments between two readings at which the clock may have shown a time.
fn between(one: ClockReading, other: ClockReading, at: Timestamp) -> Option<Moments> {
    let since = |boot_at: Timestamp| at.duration_since(boot_at);
    let earliest = since(one.boot_at.max(other.boot_at)).max(one.up_for.saturating_sub(COARSE));
    let latest = since(one.boot_at.min(other.boot_at)).min(other.up_for.saturating_add(COARSE));
    (earliest <= latest).then_some(Moments { earliest, latest })
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: i64 = 3_600;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_second(1_000_000 + seconds).unwrap()
    }

    /// Returns a reading `up_for` seconds after the boot, by a clock that is `ahead` seconds ahead of the first.
    fn reading(up_for: i64, ahead: i64) -> ClockReading {
        ClockReading { up_for: SignedDuration::from_secs(up_for), boot_at: at(ahead) }
    }

    #[track_caller]
    fn check(readings: &[ClockReading], said: i64, expected: Option<(i64, i64)>) {
        let mut history = ClockHistory::default();
        history.add(readings.iter().copied());
        let found = history.moments_of(at(said));
        assert_eq!(found.map(|found| (found.earliest.as_secs(), found.latest.as_secs())), expected);
    }

    #[test]
    fn a_clock_that_was_not_set_says_each_time_once() {
        check(&[reading(0, 0), reading(HOUR, 0)], 60, Some((60, 60)));
        check(&[reading(0, 0), reading(HOUR, 0)], -60, Some((-60, -60)));
        check(&[reading(0, 0)], HOUR, Some((HOUR, HOUR)));
    }

    #[test]
    fn what_was_written_before_the_clock_was_set_forward_is_as_old_as_it_was() {
        let readings = [reading(0, 0), reading(600, 0), reading(601, HOUR), reading(700, HOUR)];
        check(&readings, 500, Some((500, 500)));
        check(&readings, HOUR + 650, Some((650, 650)));
        // Somewhere between the two readings it was set, perhaps in steps.
        check(&readings, 1_800, Some((598, 603)));
    }

    #[test]
    fn nobody_knows_when_a_time_was_that_two_clocks_have_said() {
        let readings = [reading(0, 0), reading(7_000, 0), reading(7_001, -HOUR), reading(9_000, -HOUR)];
        check(&readings, 5_000, Some((5_000, 8_600)));
        check(&readings, 100, Some((100, 100)));
    }

    #[test]
    fn a_step_between_two_readings_leaves_both_open() {
        check(&[reading(0, 0), reading(5_000, HOUR)], 4_000, Some((400, 4_000)));
    }

    #[test]
    fn an_unknown_start_leaves_everything_open_before_the_first_reading() {
        let found = {
            let mut history = ClockHistory::default();
            history.add([reading(600, 0), reading(700, 0)]);
            history.moments_of(at(650)).unwrap()
        };
        assert_eq!((found.earliest, found.latest.as_secs()), (SignedDuration::MIN, 650));
    }

    #[test]
    fn of_readings_that_agree_the_first_and_the_last_are_kept() {
        let mut history = ClockHistory::default();
        history.add((0..100).map(|second| reading(second, 0)));
        history.add([reading(100, HOUR), reading(101, HOUR), reading(102, HOUR)]);
        assert_eq!(history.0, [reading(0, 0), reading(99, 0), reading(100, HOUR), reading(102, HOUR)]);
        assert_eq!(history.set_by().as_secs(), HOUR);
    }
}
