//! The text that agents see of a file, and the bytes that they write for a text.

use std::sync::Arc;

use bstr::ByteSlice;

/// The content of a file, shared by all that refer to it.
pub type Bytes = Arc<Vec<u8>>;

/// How much of a file Claude Code reads to find its line ends, in bytes (measured with 2.1.332).
const BEGINNING: usize = 4_096;

/// The byte order mark as text, in UTF-8.
const MARK: &[u8] = b"\xEF\xBB\xBF";
/// The byte order mark of UTF-16LE.
const MARK_16: &[u8] = b"\xFF\xFE";

/// How an agent reads and writes text, as measured; each writes all lines of a file with the same end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Rule {
    /// CRLF if most lines of the beginning have it; UTF-16LE stays.
    Majority,
    /// CRLF if any line has it.
    Any,
    /// The same, and the text has no byte order mark.
    AnyWithoutMark,
}

/// How the bytes of a file differ from its text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Form {
    /// Whether lines end with CRLF.
    pub(crate) is_crlf: bool,
    /// Whether it is UTF-16LE, with a byte order mark that the text has too.
    pub(crate) is_utf16: bool,
    /// Whether it begins with a byte order mark that the text does not have.
    pub(crate) has_mark: bool,
}

impl Rule {
    /// Returns the text of a file, with lines that end with LF, and the form of its bytes; `None` if it is not text.
    pub(crate) fn text(self, bytes: &Bytes) -> Option<(Bytes, Form)> {
        if let (Some(words), Self::Majority) = (bytes.strip_prefix(MARK_16), self) {
            let is_crlf =
                is_mostly_crlf(&decoded(bytes.get(MARK_16.len()..BEGINNING).unwrap_or(words), true)?);
            let text = with_lf(&[MARK, &decoded(words, false)?].concat());
            return Some((Arc::new(text), Form { is_crlf, is_utf16: true, has_mark: false }));
        }
        bytes.to_str().ok()?;
        let text = bytes.strip_prefix(MARK).filter(|_| self == Self::AnyWithoutMark);
        let form = Form { is_crlf: self.is_crlf(bytes), is_utf16: false, has_mark: text.is_some() };
        Some(match text {
            None if bytes.find(b"\r\n").is_none() => (Arc::clone(bytes), form),
            None => (Arc::new(with_lf(bytes)), form),
            Some(text) => (Arc::new(with_lf(text)), form),
        })
    }

    fn is_crlf(self, bytes: &[u8]) -> bool {
        match self {
            Self::Majority => is_mostly_crlf(bytes.get(..BEGINNING).unwrap_or(bytes)),
            Self::Any | Self::AnyWithoutMark => bytes.find(b"\r\n").is_some(),
        }
    }

    /// Returns the form of a file with this text, if the text alone shows it: without a line end there is none to
    /// choose, and what begins without a byte order mark is UTF-8.
    pub(crate) fn form_of(self, text: &[u8]) -> Option<Form> {
        let is_plain = match self {
            Self::Majority => !text.contains(&b'\n') && !text.starts_with(MARK),
            Self::Any => !text.contains(&b'\n'),
            Self::AnyWithoutMark => text.is_empty(),
        };
        is_plain.then(Form::default)
    }
}

impl Form {
    /// Returns the bytes that are written for a text.
    pub(crate) fn bytes(self, text: &Bytes) -> Bytes {
        if self == Self::default() {
            return Arc::clone(text);
        }
        let mut bytes = if self.is_crlf { with_crlf(text) } else { text.to_vec() };
        if self.is_utf16 {
            bytes = encoded(&bytes);
        }
        if self.has_mark {
            bytes.splice(0..0, MARK.iter().copied());
        }
        Arc::new(bytes)
    }
}

/// Returns whether more lines end with CRLF than with LF.
fn is_mostly_crlf(text: &[u8]) -> bool {
    let crlf = text.find_iter(b"\r\n").count();
    crlf * 2 > text.find_iter(b"\n").count()
}

fn with_lf(text: &[u8]) -> Vec<u8> {
    text.replace(b"\r\n", b"\n")
}

fn with_crlf(text: &[u8]) -> Vec<u8> {
    with_lf(text).replace(b"\n", b"\r\n")
}

/// Decodes UTF-16LE; `None` if it is none. It may be cut behind any byte.
fn decoded(words: &[u8], is_cut: bool) -> Option<Vec<u8>> {
    let (words, rest) = words.as_chunks::<2>();
    if !rest.is_empty() && !is_cut {
        return None;
    }
    let mut text = String::with_capacity(words.len() * 2);
    for unit in char::decode_utf16(words.iter().map(|word| u16::from_le_bytes(*word))) {
        match unit {
            Ok(unit) => text.push(unit),
            Err(_) if is_cut => text.push(char::REPLACEMENT_CHARACTER),
            Err(_) => return None,
        }
    }
    Some(text.into_bytes())
}

/// Encodes a text as UTF-16LE.
pub(crate) fn encoded(text: &[u8]) -> Vec<u8> {
    text.to_str_lossy().encode_utf16().flat_map(u16::to_le_bytes).collect()
}

/// Returns whether a file begins as UTF-16LE does.
pub(crate) fn is_utf16(bytes: &[u8]) -> bool {
    bytes.starts_with(MARK_16)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shared(bytes: &[u8]) -> Bytes {
        Arc::new(bytes.to_vec())
    }

    #[track_caller]
    fn check(rule: Rule, bytes: &[u8], text: &[u8], again: &[u8]) {
        let (found, form) = rule.text(&shared(bytes)).unwrap();
        assert_eq!(found.as_bstr(), text.as_bstr());
        assert_eq!(form.bytes(&found).as_bstr(), again.as_bstr());
    }

    #[test]
    fn all_lines_get_the_end_that_most_of_the_beginning_have() {
        check(Rule::Majority, b"a\r\nb\r\nc\n", b"a\nb\nc\n", b"a\r\nb\r\nc\r\n");
        check(Rule::Majority, b"a\r\nb\n", b"a\nb\n", b"a\nb\n");
        check(Rule::Any, b"a\r\nb\nc\n", b"a\nb\nc\n", b"a\r\nb\r\nc\r\n");
        check(Rule::Majority, b"a\rb", b"a\rb", b"a\rb");
    }

    #[test]
    fn only_the_first_4096_bytes_are_counted() {
        let file = |lines: usize| [b"123456789\n".repeat(lines), b"12345678\r\n".repeat(900)].concat();
        let is_crlf = |lines| Rule::Majority.text(&shared(&file(lines))).unwrap().1.is_crlf;
        assert!(is_crlf(204) && !is_crlf(205));
    }

    #[test]
    fn a_byte_order_mark_stays() {
        check(Rule::Majority, b"\xEF\xBB\xBFa\n", b"\xEF\xBB\xBFa\n", b"\xEF\xBB\xBFa\n");
        check(Rule::AnyWithoutMark, b"\xEF\xBB\xBFa\r\n", b"a\n", b"\xEF\xBB\xBFa\r\n");
    }

    #[test]
    fn utf_16_stays_and_other_bytes_are_no_text() {
        check(Rule::Majority, b"\xFF\xFEa\0\r\0\n\0", b"\xEF\xBB\xBFa\n", b"\xFF\xFEa\0\r\0\n\0");
        assert_eq!(Rule::Majority.text(&shared(b"\xFF\xFEa")), None);
        assert_eq!(Rule::Majority.text(&shared(b"\xFF\xFE\0\xD8")), None);
        assert_eq!(Rule::Any.text(&shared(b"caf\xE9")), None);
        assert_eq!(Rule::Any.text(&shared(b"\xFF\xFEa\0")), None);
    }

    #[test]
    fn a_text_without_line_ends_shows_its_form() {
        assert_eq!(Rule::Majority.form_of(b"one line"), Some(Form::default()));
        assert_eq!(Rule::Majority.form_of(b"one\n"), None);
        assert_eq!(Rule::Majority.form_of(b"\xEF\xBB\xBFone"), None);
        assert_eq!(Rule::AnyWithoutMark.form_of(b"one line"), None);
    }
}
