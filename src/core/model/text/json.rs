//! JSON that is safe to print on a terminal.

use std::io;

use serde::Serialize;
use serde_json::ser::{Formatter, PrettyFormatter};

use crate::core::model::text::is_forbidden;

/// Writes `value` as indented JSON in which every character of
/// [`is_forbidden`] is a `\uNNNN` escape, so the document decodes to the exact text and still
/// cannot steer a terminal. serde_json itself escapes C0 only.
///
/// # Errors
/// Returns the error of serde_json, which for our own types is only a failing writer.
pub(crate) fn to_string_pretty<T: Serialize>(value: &T) -> serde_json::Result<String> {
    write(value, Escaping(PrettyFormatter::new()))
}

/// Writes `value` on one line, escaped like [`to_string_pretty`].
///
/// # Errors
/// Returns the error of serde_json, which for our own types is only a failing writer.
pub(crate) fn to_line<T: Serialize>(value: &T) -> serde_json::Result<String> {
    write(value, Escaping(serde_json::ser::CompactFormatter))
}

fn write<T: Serialize, F: Formatter>(value: &T, formatter: F) -> serde_json::Result<String> {
    let mut out = Vec::new();
    value.serialize(&mut serde_json::Serializer::with_formatter(&mut out, formatter))?;
    Ok(String::from_utf8_lossy(&out).into_owned())
}

struct Escaping<F>(F);

impl<F: Formatter> Formatter for Escaping<F> {
    fn write_string_fragment<W: ?Sized + io::Write>(&mut self, w: &mut W, text: &str) -> io::Result<()> {
        let mut from = 0;
        for (at, c) in text.char_indices().filter(|(_, c)| is_forbidden(*c)) {
            w.write_all(text.get(from..at).unwrap_or_default().as_bytes())?;
            let mut units = [0; 2];
            for unit in c.encode_utf16(&mut units) {
                write!(w, "\\u{unit:04x}")?;
            }
            from = at + c.len_utf8();
        }
        w.write_all(text.get(from..).unwrap_or_default().as_bytes())
    }
    fn begin_array<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_array(w)
    }
    fn end_array<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array(w)
    }
    fn begin_array_value<W: ?Sized + io::Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_array_value(w, first)
    }
    fn end_array_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_array_value(w)
    }
    fn begin_object<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object(w)
    }
    fn end_object<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object(w)
    }
    fn begin_object_key<W: ?Sized + io::Write>(&mut self, w: &mut W, first: bool) -> io::Result<()> {
        self.0.begin_object_key(w, first)
    }
    fn begin_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.begin_object_value(w)
    }
    fn end_object_value<W: ?Sized + io::Write>(&mut self, w: &mut W) -> io::Result<()> {
        self.0.end_object_value(w)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::Untrusted;

    #[test]
    fn json_decodes_to_the_exact_text_and_prints_nothing_raw() -> serde_json::Result<()> {
        let nasty = "a\u{1b}[31m\u{9b}\u{202e}\u{e0041}\u{200b}\"\\é";
        let json = to_line(&Untrusted::new(nasty))?;
        assert!(!json.chars().any(is_forbidden), "{json:?}");
        assert_eq!(serde_json::from_str::<String>(&json)?, nasty);
        Ok(())
    }
}
