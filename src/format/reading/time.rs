//! Times as the formats write them; each format names its own zone.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

/// Reads an RFC 3339 time with `Z` or an offset. Go's zero time (year 1) means "none".
pub(crate) fn rfc3339(text: &str) -> Option<Timestamp> {
    let at: Timestamp = text.trim().parse().ok()?;
    (at.as_second() > 0).then_some(at)
}

/// Reads an ISO time that carries no zone, in the zone that its format means. A time that
/// does carry one is not naive and gives `None`.
pub(crate) fn naive(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if has_zone(text) { None } else { local(text, zone) }
}

/// Reads a time with or without a zone; without one, `zone` is meant.
pub(crate) fn any(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    if has_zone(text) { rfc3339(text) } else { local(text, zone) }
}

fn local(text: &str, zone: &TimeZone) -> Option<Timestamp> {
    let civil: DateTime = text.trim().parse().ok()?;
    zone.to_timestamp(civil).ok()
}

/// Reads an ISO time without a zone in every possible way: one, or two if the clocks of the zone were set then. The
/// earlier one comes first.
pub(crate) fn readings(text: &str, zone: &TimeZone) -> Option<[Timestamp; 2]> {
    let civil: DateTime = Some(text.trim()).filter(|text| !has_zone(text))?.parse().ok()?;
    let both = zone.to_ambiguous_timestamp(civil);
    Some([both.earlier().ok()?, both.later().ok()?])
}

/// Returns whether an ISO time ends in `Z` or a numeric offset.
pub(crate) fn has_zone(text: &str) -> bool {
    let time = text.trim().as_bytes().split(|byte| matches!(byte, b'T' | b't' | b' ')).nth(1);
    time.is_some_and(|time| {
        matches!(time.last(), Some(b'Z' | b'z')) || time.iter().any(|byte| matches!(byte, b'+' | b'-'))
    })
}

/// Reads milliseconds since 1970.
pub(crate) fn epoch_ms(millis: i64) -> Option<Timestamp> {
    (millis > 0).then(|| Timestamp::from_millisecond(millis).ok()).flatten()
}

/// Adds whole seconds and stays inside what a time can be.
pub(crate) fn add_seconds(at: Timestamp, seconds: i64) -> Timestamp {
    at.checked_add(SignedDuration::from_secs(seconds)).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_naive_time_is_read_in_the_zone_that_is_meant() {
        let sydney = TimeZone::fixed(jiff::tz::offset(11));
        assert_eq!(
            naive("2026-11-21T08:40:34.370794", &sydney).map(|at| at.to_string()),
            Some("2026-11-20T21:40:34.370794Z".to_owned())
        );
        assert_eq!(naive("2026-11-20T21:42:23.289476Z", &sydney), None);
        assert_eq!(naive("2026-11-20T21:42:23+01:00", &sydney), None);
        assert_eq!(naive("yesterday", &sydney), None);
    }

    #[test]
    fn the_zero_time_of_go_is_no_time() {
        assert_eq!(rfc3339("0001-01-01T00:00:00Z"), None);
        assert!(rfc3339("2026-11-21T06:47:27.378102+11:00").is_some());
    }
}
