//! Files of two lines, an ID and a naive local time, and that system's use of the time.

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{BrokenFile, Code, Expiry, FileImage, Format, Problem, Untrusted};
use crate::format::reading::Reading;
use crate::format::reading::{draft, json, time};

/// How far ahead of now a time may lie before it is called wrong: 60 s.
pub(super) const AHEAD_AT_MOST: SignedDuration = SignedDuration::from_secs(60);

/// The two lines of a file.
#[derive(Debug)]
pub(super) struct Lines {
    /// Line 1.
    pub(super) id: String,
    /// Line 2.
    pub(super) stamp: Stamp,
}

/// The content of line 2.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Stamp {
    /// A time that can be used.
    Usable(Timestamp),
    /// A time after now.
    Future(Timestamp, Untrusted),
    /// A time with a zone, which that system cannot compare.
    Zoned(Timestamp, Untrusted),
    /// Not a time.
    Bad(Untrusted),
    /// There is no line 2.
    Missing,
}

/// How that system treats one kind of file.
pub(super) struct Habits {
    /// How long it considers the ID fresh, in seconds.
    pub(super) fresh_seconds: i64,
    /// The same as a rule.
    pub(super) rule: &'static str,
    /// What it does when it cannot parse line 2.
    pub(super) when_bad: &'static str,
    /// What it does when comparing line 2 fails.
    pub(super) when_zoned: &'static str,
}

/// Reads the text of a file as that system does: UTF-8, without the white space around it.
///
/// # Errors
/// The broken file: not readable, empty, or not UTF-8.
pub(super) fn text<'a>(file: &'a FileImage, reading: &Reading<'_>) -> Result<&'a str, BrokenFile> {
    let bytes = json::bytes(Format::Observability, file, reading)?;
    let unusable = |why| draft::unusable(Format::Observability, file, reading, why);
    match std::str::from_utf8(bytes).map(str::trim) {
        Ok("") => Err(unusable("the file is empty")),
        Ok(text) => Ok(text),
        Err(_) => Err(unusable("not UTF-8: that system fails on it and never removes it")),
    }
}

/// Splits a text into its two lines; further ones mean nothing to that system.
pub(super) fn lines(text: &str, reading: &Reading<'_>) -> Lines {
    let mut lines = text.lines();
    let id = lines.next().unwrap_or_default().to_owned();
    Lines { id, stamp: lines.next().map_or(Stamp::Missing, |line| stamp(line, reading)) }
}

fn stamp(line: &str, reading: &Reading<'_>) -> Stamp {
    let shown = crate::format::reading::excerpt::excerpt(line, 40);
    if let Some(at) = time::rfc3339(line) {
        return Stamp::Zoned(at, shown);
    }
    match time::naive(line, &reading.host.zone) {
        Some(at) if reading.now.duration_since(at) < -AHEAD_AT_MOST => Stamp::Future(at, shown),
        Some(at) => Stamp::Usable(at),
        None => Stamp::Bad(shown),
    }
}

impl Stamp {
    /// Returns the intended moment, if it can have been one.
    pub(super) fn moment(&self) -> Option<Timestamp> {
        match self {
            Self::Usable(at) | Self::Zoned(at, _) => Some(*at),
            Self::Future(..) | Self::Bad(_) | Self::Missing => None,
        }
    }

    /// Returns when that system stops considering the ID fresh; never if it cannot compare.
    pub(super) fn expiry(&self, habits: &Habits) -> Option<Expiry> {
        match self {
            Self::Usable(at) | Self::Future(at, _) => {
                Some(Expiry { at: time::add_seconds(*at, habits.fresh_seconds), rule: habits.rule })
            }
            Self::Zoned(..) | Self::Bad(_) | Self::Missing => None,
        }
    }

    /// Returns the problem with the time, and that system's reaction to it.
    pub(super) fn problem(&self, habits: &Habits) -> Option<Problem> {
        let message = match self {
            Self::Usable(_) => return None,
            Self::Future(at, shown) => format!(
                "line 2 is in the future: {shown}; that system treats the ID as fresh until {}",
                time::add_seconds(*at, habits.fresh_seconds)
            ),
            Self::Zoned(_, shown) => format!("line 2 has a time zone: {shown}; {}", habits.when_zoned),
            Self::Bad(shown) => format!("line 2 is not a time: {shown}; {}", habits.when_bad),
            Self::Missing => format!("there is no line 2 with a time; {}", habits.when_bad),
        };
        Some(Problem::new(Code::BadTimestamp, message))
    }
}
