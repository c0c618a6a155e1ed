//! How often frames may be drawn.

use std::time::Duration;

use tokio::time::Instant;

/// The time between two frames in a long row: with the first two no more than 30 in any second.
const FRAME: Duration = Duration::from_millis(35);

/// Spaces frames that no key asked for. After a rest two may follow each other: what a death
/// means is shown as soon as it is known, though its window was just shown as exited.
pub(super) struct Pace {
    free_at: Instant,
}

impl Pace {
    /// Begins as after a rest: the first look is shown at once, too.
    pub(super) fn new(now: Instant) -> Self {
        Self { free_at: now.checked_sub(FRAME).unwrap_or(now) }
    }

    /// Returns when the next frame may be drawn.
    pub(super) fn free_at(&self) -> Instant {
        self.free_at
    }

    /// Takes note of a frame.
    pub(super) fn drawn(&mut self, now: Instant) {
        self.free_at = (self.free_at + FRAME).max(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns when frames are drawn, in milliseconds, if one is wanted every millisecond.
    fn frames(pace: &mut Pace, from: Instant, during: u64) -> Vec<u64> {
        let wanted = (0..during).filter(|at| {
            let now = from + Duration::from_millis(*at);
            let is_free = pace.free_at() <= now;
            if is_free {
                pace.drawn(now);
            }
            is_free
        });
        wanted.collect()
    }

    #[test]
    fn after_a_rest_two_frames_follow_each_other_and_then_they_are_spaced() {
        let now = Instant::now();
        let mut pace = Pace::new(now);
        let later = now + Duration::from_secs(60);
        assert_eq!(frames(&mut pace, later, 110), [0, 1, 35, 70, 105]);
        assert_eq!(frames(&mut pace, later + Duration::from_secs(60), 40), [0, 1, 35]);
    }

    #[test]
    fn there_are_never_more_than_thirty_a_second() {
        let now = Instant::now();
        let drawn = frames(&mut Pace::new(now), now, 10_000);
        let most =
            drawn.iter().map(|from| drawn.iter().filter(|at| (*from..from + 1_000).contains(*at)).count());
        assert_eq!(most.max(), Some(30));
    }
}
