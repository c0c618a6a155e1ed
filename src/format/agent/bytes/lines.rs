//! The lines of a session's files that may bear on the content of a file, found without parsing the others, and in the
//! order in which they were written.

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use bstr::{ByteSlice, Finder};
use jiff::Timestamp;
use serde::Deserialize;
use serde_json::value::RawValue;

use crate::format::agent::bytes::version::{Ask, Stream};
use crate::format::reading::time;

/// Finds what marks a line, quickly.
pub(crate) struct Marks {
    marks: Vec<Finder<'static>>,
    /// The names of the wanted files, if each looks the same in JSON.
    names: Option<Vec<Finder<'static>>>,
}

impl Marks {
    /// Prepares to find lines with any of these marks, and with the name of a wanted file.
    pub(crate) fn new(marks: &[&'static str], ask: &Ask<'_>) -> Self {
        let plain = |path: &PathBuf| Some(Finder::new(plain_name(path)?).into_owned());
        Self {
            marks: marks.iter().map(|mark| Finder::new(*mark)).collect(),
            names: ask.wanted.and_then(|wanted| wanted.iter().map(plain).collect()),
        }
    }

    /// Returns the first mark of a line, by its number; `None` if it has none, or no wanted file's name.
    pub(crate) fn mark_of(&self, line: &[u8]) -> Option<usize> {
        let mark = self.marks.iter().position(|mark| mark.find(line).is_some())?;
        let is_named = |names: &Vec<Finder<'_>>| names.iter().any(|name| name.find(line).is_some());
        self.names.as_ref().is_none_or(is_named).then_some(mark)
    }
}

/// Returns the name of a file if it looks the same in every agent's JSON.
pub(crate) fn plain_name(path: &Path) -> Option<&str> {
    let name = path.file_name()?.to_str()?;
    let is_plain = |c: char| c.is_ascii_graphic() && !matches!(c, '"' | '\\' | '/' | '<' | '>' | '&' | '\'');
    name.chars().all(is_plain).then_some(name)
}

/// Returns the lines of a text, without those that are longer than a bound; these are counted.
pub(crate) fn each<'a>(text: &'a [u8], most: usize, left_out: &mut u64, mut take: impl FnMut(&'a [u8])) {
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.find_byte(b'\n').unwrap_or(rest.len());
        let (line, after) = rest.split_at_checked(end).unwrap_or((rest, &[]));
        if line.len() > most {
            *left_out += 1;
        } else if !line.is_empty() {
            take(line);
        }
        rest = after.get(1..).unwrap_or_default();
    }
}

/// One thing that happened, in the order of all.
pub(crate) struct DatedEvent<T> {
    pub(crate) what: T,
    /// When, as its line says.
    pub(crate) at: Option<Timestamp>,
    /// The number of its stream.
    pub(crate) stream: usize,
    /// The latest time in its stream up to there.
    order: Option<Timestamp>,
}

/// What happened in several streams.
pub(crate) struct Events<T> {
    events: Vec<DatedEvent<T>>,
    latest: Option<Timestamp>,
    stream: usize,
    /// How many lines were not understood.
    pub(crate) left_out: u64,
}

impl<T> Default for Events<T> {
    fn default() -> Self {
        Self { events: Vec::new(), latest: None, stream: 0, left_out: 0 }
    }
}

impl<T> Events<T> {
    /// Reads the streams, line by line.
    pub(crate) fn read<'a>(
        streams: &[Stream<'a>],
        most: usize,
        mut take: impl FnMut(&mut Self, &'a [u8]),
    ) -> Self {
        let mut all = Self::default();
        for (number, stream) in streams.iter().enumerate() {
            (all.stream, all.latest) = (number, None);
            let mut long = 0;
            each(stream.text, most, &mut long, |line| take(&mut all, line));
            all.left_out += long;
        }
        all
    }

    /// Adds what happened at a time.
    pub(crate) fn add(&mut self, at: Option<Timestamp>, what: T) {
        self.latest = self.latest.max(at);
        self.events.push(DatedEvent { what, at, stream: self.stream, order: self.latest });
    }

    /// Returns the number of the stream that is being read.
    pub(crate) fn stream(&self) -> usize {
        self.stream
    }

    /// Adds what happened at a time in a stream and did not end.
    pub(crate) fn add_open(&mut self, (at, stream): (Option<Timestamp>, usize), what: T) {
        self.events.push(DatedEvent { what, at, stream, order: at });
    }

    /// Keeps what is accepted.
    pub(crate) fn keep(&mut self, accepts: impl Fn(&mut T) -> bool) {
        self.events.retain_mut(|event| accepts(&mut event.what));
    }

    /// Returns all in order: by time, but what one stream says in the order of its lines. The oldest are left out if
    /// there are too many.
    pub(crate) fn in_order(mut self, most: usize) -> (Vec<DatedEvent<T>>, u64) {
        self.events.sort_by_key(|event| event.order);
        let spare = self.events.len().saturating_sub(most);
        self.events.drain(..spare);
        (self.events, self.left_out + spare as u64)
    }
}

/// A field of an object as its text; a value of another type counts as absent.
pub(crate) fn text<'a>(raw: Option<&'a RawValue>) -> Option<Cow<'a, str>> {
    /// A string that is borrowed where it has no escapes.
    #[derive(Deserialize)]
    struct Text<'a>(#[serde(borrow)] Cow<'a, str>);
    serde_json::from_str::<Text<'a>>(raw?.get()).ok().map(|text| text.0)
}

/// Reads a value of some shape; one of another shape counts as absent.
pub(crate) fn shaped<'a, T: Deserialize<'a>>(raw: Option<&'a RawValue>) -> Option<T> {
    serde_json::from_str(raw?.get()).ok()
}

/// Reads a time.
pub(crate) fn moment(raw: Option<&RawValue>) -> Option<Timestamp> {
    time::rfc3339(&text(raw)?)
}
