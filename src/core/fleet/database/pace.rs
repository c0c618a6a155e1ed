//! The time until a witness beats again.

use std::time::Duration;

/// What there is to send.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum News {
    /// Only that it is there.
    None,
    /// Something has changed.
    Change,
    /// A process has died, or there is a new problem.
    Urgent,
}

/// Returns how long after its last beat a witness beats again. `jitter` is any number, which varies the result by up
/// to a tenth either way, so that a thousand witnesses started together do not stay in step.
pub(crate) fn after_last(news: News, is_hot: bool, jitter: u64) -> Duration {
    match (news, is_hot) {
        (News::Urgent, _) | (News::Change, true) => Duration::from_secs(1),
        (News::Change, false) | (News::None, true) => Duration::from_secs(2),
        (News::None, false) => Duration::from_millis(9_000 + jitter % 2_001),
    }
}

/// Returns how long to wait after this many failures in a row: 1 s, doubled up to 30 s, and up to a half more.
#[cfg(feature = "postgres")]
pub(crate) fn after_failure(failures: u32, jitter: u64) -> Duration {
    let seconds = 1_u64 << failures.saturating_sub(1).min(5);
    let milliseconds = seconds.min(30) * 1_000;
    Duration::from_millis(milliseconds + jitter % (milliseconds / 2 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_beat_comes_as_soon_as_it_is_wanted_and_at_most_once_a_second() {
        for jitter in [0, 1, 2_000, u64::MAX] {
            let rest = after_last(News::None, false, jitter);
            assert!(rest >= Duration::from_secs(9) && rest <= Duration::from_secs(11), "{rest:?}");
            for (news, is_hot, seconds) in [
                (News::Urgent, false, 1),
                (News::Urgent, true, 1),
                (News::Change, true, 1),
                (News::Change, false, 2),
                (News::None, true, 2),
            ] {
                assert_eq!(after_last(news, is_hot, jitter), Duration::from_secs(seconds));
            }
        }
    }

    #[cfg(feature = "postgres")]
    #[test]
    fn whoever_fails_asks_more_and_more_seldom() {
        let seconds: Vec<u64> = (1..8).map(|failures| after_failure(failures, 0).as_secs()).collect();
        assert_eq!(seconds, [1, 2, 4, 8, 16, 30, 30]);
        assert!(after_failure(100, u64::MAX) <= Duration::from_secs(45));
    }
}
