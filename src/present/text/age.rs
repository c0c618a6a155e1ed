//! Ages in words, coarse enough that a screen at rest stays at rest.

use jiff::Timestamp;

const MINUTE: i64 = 60;
const HOUR: i64 = 60 * MINUTE;
const DAY: i64 = 24 * HOUR;

/// Returns the seconds from `then` to `now`; negative when `then` lies ahead.
pub(crate) fn seconds(now: Timestamp, then: Timestamp) -> i64 {
    now.as_second().saturating_sub(then.as_second())
}

/// Returns an age in words, such as `12 s`, `3 min`, `2 h` or `5 d`.
pub(crate) fn label(seconds: i64) -> String {
    match seconds {
        ..0 => "ahead".to_owned(),
        0..MINUTE => format!("{seconds} s"),
        MINUTE..HOUR => format!("{} min", seconds / MINUTE),
        HOUR..172_800 => format!("{} h", seconds / HOUR),
        _ => format!("{} d", seconds / DAY),
    }
}

/// Returns the age of `then` at `now` in words.
pub(crate) fn label_between(now: Timestamp, then: Timestamp) -> String {
    label(seconds(now, then))
}

/// Returns in how many seconds the words for this age change.
pub(crate) fn changes_in(seconds: i64) -> i64 {
    match seconds {
        ..0 => seconds.saturating_neg(),
        0..MINUTE => 1,
        MINUTE..HOUR => MINUTE - seconds % MINUTE,
        HOUR..172_800 => HOUR - seconds % HOUR,
        _ => DAY - seconds % DAY,
    }
}

/// Returns the moment as people compare it with other evidence: `09:58:12Z`, with the date when
/// it is not of the last 20 hours.
pub(crate) fn clock(now: Timestamp, at: Timestamp) -> String {
    format!("{}Z", at.strftime(format(now, at)))
}

/// Returns how a moment is written: with the date when it is not of the last 20 hours.
pub(crate) fn format(now: Timestamp, at: Timestamp) -> &'static str {
    if seconds(now, at).abs() < 20 * HOUR { "%H:%M:%S" } else { "%F %H:%M:%S" }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(seconds: i64, expected: &str, changes: i64) {
        assert_eq!((label(seconds).as_str(), changes_in(seconds)), (expected, changes));
    }

    #[test]
    fn ages_are_coarse() {
        check(-5, "ahead", 5);
        check(12, "12 s", 1);
        check(59, "59 s", 1);
        check(60, "1 min", 60);
        check(199, "3 min", 41);
        check(7_200, "2 h", 3_600);
        check(172_799, "47 h", 1);
        check(172_800, "2 d", 86_400);
    }

    #[test]
    fn the_words_change_exactly_when_told() {
        for age in 0..200_000 {
            let next = age + changes_in(age);
            assert_eq!(label(age), label(next - 1));
            assert_ne!(label(age), label(next));
        }
    }
}
