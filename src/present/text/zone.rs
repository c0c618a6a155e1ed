//! Moments on a person's own clock. What is printed for scripts stays in UTC.

use std::borrow::Cow;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::present::text::age;

/// The time zone in which moments are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Zone(pub TimeZone);

impl Default for Zone {
    fn default() -> Self {
        Self(TimeZone::UTC)
    }
}

impl Zone {
    /// Returns its name at a moment, such as `CET`; nothing for UTC, whose times say so themselves.
    pub(crate) fn name(&self, at: Timestamp) -> Option<String> {
        let zoned = at.to_zoned(self.0.clone());
        Some(zoned.strftime("%Z").to_string()).filter(|name| name != "UTC")
    }

    /// Returns the moment as people compare it with other evidence, with the date when it is not of the
    /// last 20 hours.
    pub(crate) fn clock(&self, now: Timestamp, at: Timestamp) -> String {
        if self.name(at).is_none() {
            return age::clock(now, at);
        }
        at.to_zoned(self.0.clone()).strftime(age::format(now, at)).to_string()
    }

    /// Returns the same with its offset from UTC, for text that is read without a clock beside it.
    pub(crate) fn clock_and_offset(&self, now: Timestamp, at: Timestamp) -> String {
        self.with_offset(at, age::format(now, at))
    }

    /// Returns a moment with its date and its offset from UTC.
    pub(crate) fn date(&self, at: Timestamp) -> String {
        self.with_offset(at, "%F %H:%M:%S")
    }

    fn with_offset(&self, at: Timestamp, format: &str) -> String {
        match self.name(at) {
            None => format!("{}Z", at.strftime(format)),
            Some(_) => at.to_zoned(self.0.clone()).strftime(&format!("{format} %:z")).to_string(),
        }
    }

    /// Returns a sentence with its moments of UTC in this zone. Only a moment that stands by itself is one: what is part
    /// of a path or an ID stays.
    pub(crate) fn localized<'a>(&self, text: &'a str) -> Cow<'a, str> {
        if self.0 == TimeZone::UTC {
            return Cow::Borrowed(text);
        }
        let mut out = String::new();
        let mut rest = text;
        while let Some((before, at, after)) = next_moment(rest, out.chars().next_back()) {
            out.push_str(before);
            out.push_str(&self.date(at));
            rest = after;
        }
        match out.is_empty() {
            true => Cow::Borrowed(text),
            false => Cow::Owned(out + rest),
        }
    }
}

/// How a date and a time begin: their digits.
const SHAPE: &[u8] = b"0000-00-00T00:00:00";

/// Finds the next moment of UTC in a text: what stands before it, it, and what follows.
fn next_moment(text: &str, last: Option<char>) -> Option<(&str, Timestamp, &str)> {
    let starts = text.match_indices("20").map(|(at, _)| at);
    starts.filter_map(|at| text.split_at_checked(at)).find_map(|(before, rest)| {
        let is_apart = |c: char| c.is_whitespace() || matches!(c, '(' | '`');
        before.chars().next_back().or(last).is_none_or(is_apart).then_some(())?;
        let (moment, after) = rest.split_at_checked(SHAPE.len())?;
        let is_shaped = moment.bytes().zip(SHAPE).all(|(byte, shape)| match shape {
            b'0' => byte.is_ascii_digit(),
            b'T' => matches!(byte, b'T' | b' '),
            _ => byte == *shape,
        });
        is_shaped.then_some(())?;
        let fraction = after
            .strip_prefix('.')
            .map_or(0, |digits| 1 + digits.bytes().take_while(u8::is_ascii_digit).count());
        let after = after.get(fraction..)?;
        let after = after.strip_prefix('Z').or_else(|| after.strip_prefix(" UTC"))?;
        let is_end = |c: char| !c.is_alphanumeric() && !matches!(c, '/' | '-' | '_');
        let ends = after.chars().next().is_none_or(is_end) && !after.starts_with(".j");
        ends.then_some(())?;
        Some((before, format!("{}Z", moment.replace(' ', "T")).parse().ok()?, after))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(zone: &str, at: &str, clock: &str, name: Option<&str>) {
        let zone = Zone(TimeZone::posix(zone).unwrap());
        let now = "2026-07-01T12:00:00Z".parse().unwrap();
        let at = at.parse().unwrap();
        assert_eq!((zone.clock(now, at).as_str(), zone.name(at).as_deref()), (clock, name));
    }

    #[test]
    fn moments_in_a_sentence_are_local_with_their_offset() {
        let zone = Zone(TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap());
        let check = |text: &str, expected: &str| assert_eq!(zone.localized(text), expected);
        check(
            "working since 2026-07-01 11:58:12 UTC, then",
            "working since 2026-07-01 13:58:12 +02:00, then",
        );
        check("2026-01-01T11:58:12.25Z", "2026-01-01 12:58:12 +01:00");
        check(
            "(2026-01-01T11:58:12Z) 2026-01-01 11:58:12Z.",
            "(2026-01-01 12:58:12 +01:00) 2026-01-01 12:58:12 +01:00.",
        );
        for same in
            ["/x/2026-01-01T11:58:12Z", "2026-01-01T11:58:12Z.jsonl", "x2026-01-01T11:58:12Z", "2026-01-01"]
        {
            check(same, same);
        }
        assert_eq!(Zone::default().localized("2026-01-01T11:58:12Z"), "2026-01-01T11:58:12Z");
    }

    #[test]
    fn moments_are_local_and_those_of_utc_say_so() {
        let berlin = "CET-1CEST,M3.5.0,M10.5.0/3";
        check(berlin, "2026-07-01T11:58:12Z", "13:58:12", Some("CEST"));
        check(berlin, "2026-01-01T11:58:12Z", "2026-01-01 12:58:12", Some("CET"));
        check("UTC0", "2026-07-01T11:58:12Z", "11:58:12Z", None);
        check("GMT0", "2026-07-01T11:58:12Z", "11:58:12", Some("GMT"));
        check("<+0530>-5:30", "2026-07-01T11:58:12Z", "17:28:12", Some("+0530"));
    }
}
