//! The letters of tokens, and whether a text looks random.

/// The letters a token consists of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Alphabet {
    Hex,
    /// Capitals and digits.
    Upper,
    Alnum,
    /// The letters of names: `_` and `-` too.
    Word,
    /// Names with dots between.
    Dot,
    /// Both kinds of base64 (RFC 4648), also with `=` and `+` as encoded in URLs.
    Base64,
    /// The letters of URL paths.
    Path,
}

impl Alphabet {
    pub(super) fn parse(name: &str) -> Option<Self> {
        Some(match name {
            "hex" => Self::Hex,
            "upper" => Self::Upper,
            "alnum" => Self::Alnum,
            "word" => Self::Word,
            "dot" => Self::Dot,
            "base64" => Self::Base64,
            "path" => Self::Path,
            _ => return None,
        })
    }

    /// Returns how many of a text's first bytes are in this alphabet.
    pub(super) fn run(self, text: &str) -> usize {
        match self {
            Self::Hex => run(text, |byte| byte.is_ascii_hexdigit()),
            Self::Upper => run(text, |byte| byte.is_ascii_uppercase() || byte.is_ascii_digit()),
            Self::Alnum => run(text, |byte| byte.is_ascii_alphanumeric()),
            Self::Word => run(text, is_of_name),
            Self::Dot => closed(text, run(text, |byte| is_of_name(byte) || byte == b'.')),
            Self::Base64 => run(text, is_of_base64),
            Self::Path => {
                let ends = |byte: u8| byte.is_ascii_whitespace() || b"\"'`\\<>?#".contains(&byte);
                closed(text, run(text, |byte| !ends(byte)))
            }
        }
    }
}

fn is_of_base64(byte: u8) -> bool {
    is_of_name(byte) || b"+/=%".contains(&byte)
}

fn run(text: &str, fits: impl Fn(u8) -> bool) -> usize {
    text.bytes().position(|byte| !fits(byte)).unwrap_or(text.len())
}

/// Returns where a text ends without the punctuation of the sentence around it.
fn closed(text: &str, end: usize) -> usize {
    text.get(..end).map_or(end, |run| run.trim_end_matches(CLOSING).len())
}

/// The characters that close a sentence or a bracket around a text.
const CLOSING: [char; 9] = ['.', ',', ';', ':', '!', '?', ')', ']', '}'];

/// Returns whether a byte can be in a name; no part of a multi-byte character can.
pub(super) fn is_of_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'
}

/// Returns whether a text of at least `least` bytes looks like a password and not like a word: it mixes letters with
/// digits or signs.
pub(super) fn is_mixed(text: &str, least: usize) -> bool {
    let has = |is: fn(u8) -> bool| text.bytes().any(is);
    let is_odd = |byte: u8| byte.is_ascii_digit() || b"!#$%&+=?@^~".contains(&byte);
    text.len() >= least && has(|byte| byte.is_ascii_alphabetic()) && has(is_odd)
}

/// The least bits per letter of a random text. Nearly all texts of 16 random hexadecimal digits have more, and hardly
/// any words with digits do.
const LEAST_BITS: f64 = 3.0;

/// Returns whether a text looks random: at least `least` letters and digits in one piece, with nearly the highest
/// possible entropy (Shannon). UUIDs and the checksums by which git and others name things do not.
pub(super) fn is_drawn(text: &str, least: usize) -> bool {
    let pieces = || text.split(|c: char| !c.is_ascii_alphanumeric());
    text.len() >= least
        && text.bytes().all(|byte| is_of_base64(byte) || byte == b'.' || byte == b'~')
        && text.bytes().any(|byte| byte.is_ascii_digit())
        && pieces().any(is_tangled)
        && !pieces().any(is_sum)
        && !is_uuid(text)
        && bits(text) >= LEAST_BITS
}

/// Returns whether a text is a checksum by which git and others name things.
fn is_sum(piece: &str) -> bool {
    matches!(piece.len(), 40 | 64) && piece.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether letters and digits alternate often, unlike in versions and names.
fn is_tangled(piece: &str) -> bool {
    let turns = piece.as_bytes().windows(2).filter(|two| kind(two.first()) != kind(two.last()));
    turns.count() >= 3
}

/// Returns 0 for a digit, 1 for a capital, 2 for any other letter.
fn kind(byte: Option<&u8>) -> u8 {
    match byte {
        Some(byte) if byte.is_ascii_digit() => 0,
        Some(byte) if byte.is_ascii_uppercase() => 1,
        _ => 2,
    }
}

fn is_uuid(text: &str) -> bool {
    text.len() == 36 && text.split('-').map(str::len).eq([8, 4, 4, 4, 12])
}

/// Returns the entropy of a text in bits per letter.
fn bits(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(usize::from(byte)) {
            *count += 1;
        }
    }
    let length: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let share = |count: &u32| f64::from(*count) / length;
    counts.iter().filter(|count| **count > 0).map(|count| -share(count) * share(count).log2()).sum()
}
