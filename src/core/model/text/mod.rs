//! Text from outside: stored exactly, shown only escaped.
//!
//! ratatui lets bidi and zero-width characters through tables, lists and titles, and plain
//! `println!` filters nothing, so the filter sits at the type, not at the widget.

pub(crate) mod diff;
pub(crate) mod fixed;
pub(crate) mod json;
pub(crate) mod line;
pub(crate) mod named;
pub(crate) mod path;
pub(crate) mod remains;
pub(crate) mod secret;
pub(crate) mod shared;

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use lean_string::LeanStr;
use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The most combining marks that one base character may carry on the screen.
const MAX_MARKS: usize = 3;

/// A string from a file, a process or a database row.
///
/// [`Untrusted::raw`] is for comparing; everything shown to a person goes through [`fmt::Display`] or
/// [`Untrusted::shown`], which make every control, bidi and zero-width character visible instead of passing it on.
///
/// Copies share one text, so a record, its view and its findings hold it once; short texts, which are most of them,
/// need no allocation.
#[derive(Clone)]
pub struct Untrusted(LeanStr);

impl Untrusted {
    /// Creates it from a string as received.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into().into())
    }

    /// Creates it from one of our own words, without a copy.
    pub const fn fixed(text: &'static str) -> Self {
        Self(LeanStr::from_static_str(text))
    }

    /// Creates it from raw bytes; each byte that is not UTF-8 is kept visible as `\xNN`.
    pub fn from_bytes(bytes: &[u8]) -> Self {
        if let Ok(text) = std::str::from_utf8(bytes) {
            return Self::from(text);
        }
        let mut text = String::with_capacity(bytes.len());
        for chunk in bytes.utf8_chunks() {
            text.push_str(chunk.valid());
            for byte in chunk.invalid() {
                text.push_str(&format!("\\x{byte:02X}"));
            }
        }
        Self::new(text)
    }

    /// Creates it from a path; bytes that are not UTF-8 are kept visible as `\xNN`.
    pub fn from_path(path: &std::path::Path) -> Self {
        Self::from_bytes(path.as_os_str().as_encoded_bytes())
    }

    /// Returns the text as received, for comparing and never for showing.
    pub fn raw(&self) -> &str {
        &self.0
    }

    /// Returns the text with everything that could steer a terminal made visible.
    pub fn shown(&self) -> String {
        shown(self.raw())
    }

    /// Returns whether the text is empty.
    pub fn is_empty(&self) -> bool {
        self.raw().is_empty()
    }
}

impl Default for Untrusted {
    fn default() -> Self {
        Self::fixed("")
    }
}

impl PartialEq for Untrusted {
    fn eq(&self, other: &Self) -> bool {
        self.raw() == other.raw()
    }
}

impl Eq for Untrusted {}

impl PartialOrd for Untrusted {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Untrusted {
    fn cmp(&self, other: &Self) -> Ordering {
        self.raw().cmp(other.raw())
    }
}

impl Hash for Untrusted {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.raw().hash(state);
    }
}

impl fmt::Display for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if is_plain(self.raw()) { f.pad(self.raw()) } else { f.pad(&self.shown()) }
    }
}

impl fmt::Debug for Untrusted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.shown())
    }
}

impl From<&str> for Untrusted {
    fn from(text: &str) -> Self {
        Self(text.into())
    }
}

impl From<String> for Untrusted {
    fn from(text: String) -> Self {
        Self(text.into())
    }
}

impl Serialize for Untrusted {
    /// Serialises the exact text; `core::model::json` writes forbidden characters as `\uNNNN`.
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.raw())
    }
}

impl<'de> Deserialize<'de> for Untrusted {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Reader).map(Self)
    }
}

/// Deserializes a text without a temporary copy.
pub(crate) struct Reader;

impl Visitor<'_> for Reader {
    type Value = LeanStr;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<LeanStr, E> {
        Ok(shared::text(text))
    }
}

/// Returns `text` with control, bidi, zero-width, tag and separator characters made visible
/// and runs of combining marks cut short.
pub(crate) fn shown(text: &str) -> String {
    if is_plain(text) {
        return text.to_owned();
    }
    let mut out = String::with_capacity(text.len());
    let mut marks = 0;
    for c in text.chars() {
        if is_combining(c) {
            marks += 1;
            if marks <= MAX_MARKS {
                out.push(c);
            } else if marks == MAX_MARKS + 1 {
                out.push('…');
            }
            continue;
        }
        marks = 0;
        match c {
            '\n' => out.push_str("\\n"),
            '\t' => out.push_str("\\t"),
            '\r' => out.push_str("\\r"),
            c if (c as u32) < 0x20 || c as u32 == 0x7f => {
                out.push_str(&format!("\\x{:02X}", c as u32));
            }
            c if is_forbidden(c) => out.push_str(&format!("‹U+{:04X}›", c as u32)),
            c => out.push(c),
        }
    }
    out
}

/// Returns whether a text is only printable ASCII, as nearly all text is.
fn is_plain(text: &str) -> bool {
    // Without an early exit many bytes are compared at once.
    text.bytes().fold(true, |is_plain, byte| is_plain & (0x20..0x7f).contains(&byte))
}

/// Returns whether no character of a text could steer a terminal.
pub(crate) fn is_harmless(text: &str) -> bool {
    is_plain(text) || !text.chars().any(is_forbidden)
}

/// Returns whether `c` may never reach a terminal: C0, C1, DEL, bidi controls, zero-width
/// characters, tags, variation selectors, line and paragraph separators and other format
/// characters (Unicode 16 general categories Cc, Cf, Zl and Zp, and the invisible fillers).
pub fn is_forbidden(c: char) -> bool {
    matches!(c as u32,
        0x00..=0x1f | 0x7f..=0x9f | 0xad | 0x34f | 0x600..=0x605 | 0x61c | 0x6dd | 0x70f
        | 0x890..=0x891 | 0x8e2 | 0x115f..=0x1160 | 0x17b4..=0x17b5 | 0x180b..=0x180f
        | 0x200b..=0x200f | 0x2028..=0x202e | 0x2060..=0x206f | 0x3164 | 0xfe00..=0xfe0f
        | 0xfeff | 0xffa0 | 0xfff0..=0xfffb | 0x110bd | 0x110cd | 0x13430..=0x1343f
        | 0x1bca0..=0x1bca3 | 0x1d173..=0x1d17a | 0xe0000..=0xe0fff)
}

/// Returns whether `c` is drawn onto the character before it.
fn is_combining(c: char) -> bool {
    !is_forbidden(c) && !c.is_ascii() && unicode_width::UnicodeWidthChar::width(c) == Some(0)
}

/// Returns bytes as two lowercase hex digits each.
pub(crate) fn hex<'a>(bytes: impl IntoIterator<Item = &'a u8>) -> String {
    bytes.into_iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Returns whether text has the shape of a UUID, as agents' session IDs do.
pub fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    groups.iter().all(|length| {
        parts
            .next()
            .is_some_and(|part| part.len() == *length && part.bytes().all(|b| b.is_ascii_alphanumeric()))
    }) && parts.next().is_none()
}

/// Returns the time between two moments in words.
pub(crate) fn shown_span(from: jiff::Timestamp, to: jiff::Timestamp) -> String {
    let seconds = to.duration_since(from).as_secs();
    match seconds {
        0..120 => format!("{seconds} s"),
        120..7_200 => format!("{} min", seconds / 60),
        7_200..172_800 => format!("{} h", seconds / 3_600),
        _ => format!("{} days", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(input: &str, expected: &str) {
        assert_eq!(Untrusted::new(input).to_string(), expected);
    }

    #[test]
    fn plain_text_passes() {
        check("SD-DEMO-001 für Ünïcode 日本", "SD-DEMO-001 für Ünïcode 日本");
    }

    #[test]
    fn what_steers_a_terminal_is_made_visible() {
        check("a\x1b[31mb", "a\\x1B[31mb");
        check("bell\x07 del\x7f", "bell\\x07 del\\x7F");
        check("c1\u{9b}31m", "c1‹U+009B›31m");
        check("rtl\u{202e}x", "rtl‹U+202E›x");
        check("zw\u{200b}\u{feff}", "zw‹U+200B›‹U+FEFF›");
        check("tag\u{e0041}", "tag‹U+E0041›");
        check("two\nlines", "two\\nlines");
    }

    #[test]
    fn combining_marks_are_cut() {
        let zalgo = format!("a{}", "\u{0301}".repeat(5_000));
        assert_eq!(Untrusted::new(zalgo).shown().chars().count(), 1 + MAX_MARKS + 1);
    }

    #[test]
    fn bytes_that_are_not_utf8_stay_visible() {
        assert_eq!(Untrusted::from_bytes(b"a\xff\xfeb").raw(), "a\\xFF\\xFEb");
    }

    proptest::proptest! {
        #[test]
        fn shown_text_has_no_forbidden_character(text in ".*") {
            proptest::prop_assert!(!shown(&text).chars().any(is_forbidden));
            proptest::prop_assert_eq!(is_harmless(&text), !text.chars().any(is_forbidden));
        }
    }
}
