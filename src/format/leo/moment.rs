//! Times in LEO's files: always UTC, always with a `Z`, and never in the future.

use jiff::{SignedDuration, Timestamp};

use super::facts;
use crate::core::model::{Code, Problem};
use crate::format::reading::json::Object;
use crate::format::reading::time;

/// How far ahead of now a time may lie before it is called wrong: 60 s of clock skew.
const AHEAD_AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// Reads a time that has passed. An unusable time is left out and reported.
pub(super) fn past(
    object: &Object<'_>,
    name: &str,
    now: Timestamp,
    problems: &mut Vec<Problem>,
) -> Option<Timestamp> {
    let text = facts::stated(object, name)?;
    let problem = match time::rfc3339(&text) {
        Some(at) if now.duration_since(at) >= -AHEAD_AT_MOST => return Some(at),
        Some(_) => "is in the future",
        None => "is not a time in UTC",
    };
    let message = format!("{name} {problem}: {}", crate::format::reading::excerpt::excerpt(&text, 40));
    problems.push(Problem::new(Code::BadTimestamp, message));
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::format::reading::json;

    #[track_caller]
    fn check(value: &str, expected: Result<&str, &str>) {
        let text = format!("{{\"at\":{value}}}");
        let object = json::parse(text.as_bytes()).unwrap();
        let mut problems = Vec::new();
        let at = past(&object, "at", "2026-11-20T21:00:00Z".parse().unwrap(), &mut problems);
        let told = problems.first().map(|problem| problem.message.clone()).unwrap_or_default();
        assert_eq!(at.map(|at| at.to_string()).ok_or(told.as_str()), expected.map(str::to_owned));
    }

    #[test]
    fn utc_is_read_and_all_else_told() {
        check("\"2026-11-20T20:59:00.5Z\"", Ok("2026-11-20T20:59:00.5Z"));
        check("\"2026-11-20T22:00:00+01:00\"", Ok("2026-11-20T21:00:00Z"));
        check("null", Err(""));
        check("\"2026-11-20T20:59:00\"", Err("at is not a time in UTC: 2026-11-20T20:59:00"));
        check("1763672340000", Err("at is not a time in UTC: 1763672340000"));
    }

    #[test]
    fn a_minute_of_skew_is_allowed() {
        check("\"2026-11-20T21:01:00Z\"", Ok("2026-11-20T21:01:00Z"));
        check("\"2026-11-20T21:01:01Z\"", Err("at is in the future: 2026-11-20T21:01:01Z"));
    }
}
