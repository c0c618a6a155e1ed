//! Recordings: looks at the world, kept line by line as what differs from the look before.
//!
//! The first line names the version. Every field that a later version adds has a default, so
//! that an older recording still opens; `tests/recordings` holds one of each version.

pub(crate) mod encode;
pub(crate) mod line;
pub(crate) mod parts;
pub(crate) mod redact;
mod upgrade;

use jiff::Timestamp;
use serde::Deserialize;

pub use self::encode::Encoder;
pub use self::line::Header;
use crate::core::history::recording::line::Line;
use crate::core::history::recording::parts::Parts;
use crate::core::model::Snapshot;
use crate::core::model::text::shown;

/// The version that is written.
pub const VERSION: u32 = 1;

/// Where a look stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark {
    /// When it was taken.
    pub at: Timestamp,
    /// Whether it shows a change that people care about.
    pub event: bool,
    full: bool,
    line: usize,
}

/// Why a recording cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum Unreadable {
    /// The first line is not a header.
    #[error("it is not a claimtop recording")]
    Foreign,
    /// It is of a later version.
    #[error(
        "it was written by claimtop {claimtop}, a later version (format {version}; this one reads up to {VERSION})"
    )]
    Newer {
        /// The version of its form.
        version: u32,
        /// The version of claimtop that wrote it, safe to show.
        claimtop: String,
    },
    /// It has not a single look.
    #[error("it holds no snapshot")]
    Empty,
    /// A line is invalid.
    #[error("line {line} is damaged: {message}")]
    Damaged {
        /// The line, counted from 1.
        line: usize,
        /// The error, safe to show.
        message: String,
    },
}

/// A recording that was opened.
#[derive(Debug)]
pub struct Recording {
    /// The first line.
    pub header: Header,
    text: String,
    marks: Vec<Mark>,
    offsets: Vec<(usize, usize)>,
}

impl Recording {
    /// Opens the text of a recording. A last line that breaks off is left out: the recorder was ended in the middle
    /// of it.
    ///
    /// # Errors
    /// It is not a recording, a later version's, empty or damaged.
    pub fn open(text: String) -> Result<Self, Unreadable> {
        let header = header(text.lines().next().unwrap_or_default())?;
        let offsets = offsets(&text);
        let (mut marks, last) = (Vec::new(), offsets.len().saturating_sub(1));
        for (line, (from, to)) in offsets.iter().enumerate().skip(1) {
            let is_whole = text.as_bytes().get(*to) == Some(&b'\n');
            match serde_json::from_str::<Line<'_>>(text.get(*from..*to).unwrap_or_default()) {
                Ok(look) => marks.push(Mark { at: look.at, event: look.event, full: look.full, line }),
                Err(_) if line == last && !is_whole => {}
                Err(error) => return Err(damaged(line, &error)),
            }
        }
        match marks.first() {
            Some(first) if first.full => Ok(Self { header, text, marks, offsets }),
            Some(_) | None => Err(Unreadable::Empty),
        }
    }

    /// Returns where each look stands, oldest first; there is at least one.
    pub fn marks(&self) -> &[Mark] {
        &self.marks
    }

    /// Returns the last look that was taken at or before a moment, or the first.
    pub fn index_at(&self, moment: Timestamp) -> usize {
        self.marks.partition_point(|mark| mark.at <= moment).saturating_sub(1)
    }

    /// Reads one look again.
    ///
    /// # Errors
    /// There is no such look, or a part of it cannot be read.
    pub fn look(&self, number: usize) -> Result<Snapshot, Unreadable> {
        let wanted = self.marks.get(..=number).ok_or(Unreadable::Empty)?;
        let from = wanted.iter().rposition(|mark| mark.full).unwrap_or(0);
        let mut parts = Parts::default();
        for mark in wanted.iter().skip(from) {
            let (start, end) = self.offsets.get(mark.line).copied().unwrap_or_default();
            let line = serde_json::from_str(self.text.get(start..end).unwrap_or_default());
            parts.apply(mark.line, line.map_err(|error| damaged(mark.line, &error))?);
        }
        let at = wanted.last().map_or(self.header.began_at, |mark| mark.at);
        let look = parts.snapshot(at).map_err(|(line, error)| damaged(line, &error))?;
        look.ok_or(Unreadable::Empty)
    }
}

fn header(line: &str) -> Result<Header, Unreadable> {
    /// The fields that every version's first line has.
    #[derive(Deserialize)]
    struct First {
        recording: u32,
        claimtop: String,
    }
    let first: First = serde_json::from_str(line).map_err(|_| Unreadable::Foreign)?;
    if first.recording > VERSION {
        return Err(Unreadable::Newer { version: first.recording, claimtop: shown(&first.claimtop) });
    }
    serde_json::from_str(line).map_err(|error| damaged(0, &error))
}

fn damaged(line: usize, error: &serde_json::Error) -> Unreadable {
    Unreadable::Damaged { line: line + 1, message: shown(&error.to_string()) }
}

/// Returns where each line begins and ends, without its newline.
fn offsets(text: &str) -> Vec<(usize, usize)> {
    let mut from = 0;
    let line = |line: &str| {
        let start = from;
        from += line.len();
        (start, start + line.trim_end_matches('\n').len())
    };
    text.split_inclusive('\n').map(line).collect()
}
