//! Replacements for names: the same by the same, in a shape with equal meaning.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::history::recording::redact::cut::{Piece, pieces};
use crate::core::history::recording::redact::words::WORDS;
use crate::core::judge::window::agent::Signatures;

/// The most digits of a number that can be a PID: 4,194,304 is the largest (proc(5), `pid_max`).
const PID: usize = 7;

/// The most digits of a number that stays in a sentence.
const IN_SENTENCE: usize = 3;

/// The number of characters from which on hexadecimal digits are a checksum and not a word.
const CHECKSUM: usize = 6;

/// The replacements made since the last request.
#[derive(Debug, Default)]
pub struct Replacements {
    /// Each replaced text, with its replacement.
    pub replaced: Vec<(String, String)>,
    /// The texts that were kept.
    pub kept: Vec<String>,
}

impl Replacements {
    /// Returns whether it is empty.
    pub(crate) fn is_empty(&self) -> bool {
        self.replaced.is_empty() && self.kept.is_empty()
    }
}

/// Replaces text that is not known to be harmless.
#[derive(Debug)]
pub(crate) struct Names {
    harmless: BTreeSet<String>,
    names: BTreeMap<String, String>,
    /// The number of each thing, whatever its case.
    numbers: BTreeMap<String, usize>,
    kept: BTreeSet<String>,
    replacements: Replacements,
}

impl Names {
    /// Keeps the words of these signatures, by which agents are known.
    pub(crate) fn new(signatures: &Signatures) -> Self {
        let own = serde_json::to_string(signatures).unwrap_or_default();
        let words = |text: &str| -> Vec<String> {
            text.split(|c: char| !c.is_alphanumeric()).map(str::to_lowercase).collect()
        };
        let harmless = words(WORDS).into_iter().chain(words(&own)).filter(|word| !word.is_empty()).collect();
        let (names, numbers, kept) = (BTreeMap::new(), BTreeMap::new(), BTreeSet::new());
        Self { harmless, names, numbers, kept, replacements: Replacements::default() }
    }

    /// Returns what was replaced and kept since the last call.
    pub(crate) fn take_new(&mut self) -> Replacements {
        std::mem::take(&mut self.replacements)
    }

    /// Returns a text with only its harmless parts. In a sentence fewer numbers are harmless.
    pub(crate) fn text(&mut self, text: &str) -> String {
        let most = if text.contains(char::is_whitespace) { IN_SENTENCE } else { PID };
        self.within(text, most)
    }

    /// Returns a text that a system has written for itself, whose short numbers can be PIDs and whose moments are
    /// those of records.
    pub(crate) fn fact(&mut self, text: &str) -> String {
        self.timed(text)
    }

    fn within(&mut self, text: &str, most: usize) -> String {
        pieces(text).map(|piece| self.piece(piece, most)).collect()
    }

    /// Keeps the moments of a text that a system has written for itself.
    fn timed(&mut self, text: &str) -> String {
        let timed =
            |piece| if let Piece::Moment(text) = piece { self.keep(text) } else { self.piece(piece, PID) };
        pieces(text).map(timed).collect()
    }

    fn piece(&mut self, piece: Piece<'_>, most: usize) -> String {
        match piece {
            Piece::Between(text) => text.to_owned(),
            Piece::Moment(text) => self.replaced(text, moment),
            Piece::Number(text) if text.len() <= most => self.keep(text),
            Piece::Number(text) | Piece::Grouped(text) => self.replaced(text, with_digits),
            Piece::Word(text) if is_letter(text) || self.is_harmless(text) => self.keep(text),
            Piece::Word(text) => self.replaced(text, |text, number| format!("{}{number}", in_case_of(text))),
            Piece::Mixed(text) if self.is_harmless(text) || self.is_numbered(text) => self.keep(text),
            Piece::Mixed(text) if is_checksum(text) => self.replaced(text, checksum),
            Piece::Mixed(text) => self.replaced(text, mixed),
            Piece::Address(text) => self.replaced(text, address),
            Piece::Uuid(text) => self.uuid(text),
        }
    }

    fn is_harmless(&self, word: &str) -> bool {
        self.harmless.contains(&word.to_lowercase())
    }

    /// Returns whether a text is a harmless word with a short number after it, such as `pts3`.
    fn is_numbered(&self, text: &str) -> bool {
        let word = text.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_short = text.len() - word.len() <= 3;
        is_short && word.chars().all(char::is_alphabetic) && (is_letter(word) || self.is_harmless(word))
    }

    fn keep(&mut self, text: &str) -> String {
        if self.kept.insert(text.to_owned()) {
            self.replacements.kept.push(text.to_owned());
        }
        text.to_owned()
    }

    fn replaced(&mut self, text: &str, name: impl Fn(&str, usize) -> String) -> String {
        if let Some(known) = self.names.get(text) {
            return known.clone();
        }
        let next = self.numbers.len() + 1;
        let number = *self.numbers.entry(text.to_lowercase()).or_insert(next);
        let name = name(text, number);
        self.replacements.replaced.push((text.to_owned(), name.clone()));
        self.names.insert(text.to_owned(), name.clone());
        name
    }

    /// Replaces a UUID by another one. Its beginning gets the same replacement as when it stands alone, because some
    /// systems shorten UUIDs to it.
    fn uuid(&mut self, text: &str) -> String {
        let start = text.get(..8).unwrap_or_default();
        let start = self.names.get(start).cloned().unwrap_or_else(|| {
            let made = self.piece(pieces(start).next().unwrap_or(Piece::Between("")), 0);
            if is_hex(&made) && made.len() == 8 { made } else { self.replaced(start, checksum) }
        });
        let start = if is_hex(&start) && start.len() == 8 { start } else { "0".repeat(8) };
        let is_upper = text.contains(|c: char| c.is_ascii_uppercase());
        self.replaced(text, |_, number| {
            let end = format!("-0000-4000-8000-{number:012x}");
            format!("{start}{}", if is_upper { end.to_uppercase() } else { end })
        })
    }
}

fn is_letter(word: &str) -> bool {
    word.chars().nth(1).is_none()
}

fn is_hex(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_hexdigit())
}

fn is_checksum(text: &str) -> bool {
    text.len() >= CHECKSUM && is_hex(text)
}

/// Replaces a number's digits, and keeps its groups.
fn with_digits(text: &str, number: usize) -> String {
    let count = text.bytes().filter(u8::is_ascii_digit).count();
    let mut digits = format!("9{number:0>width$}", width = count.saturating_sub(1)).into_bytes().into_iter();
    let filled =
        text.chars().map(|c| if c.is_ascii_digit() { digits.next().map_or('0', char::from) } else { c });
    filled.collect()
}

fn checksum(text: &str, number: usize) -> String {
    let hex = format!("{number:0>width$x}", width = text.len());
    if text.contains(|c: char| c.is_ascii_uppercase()) { hex.to_uppercase() } else { hex }
}

/// Makes an ID of the same length, because some are recognised by their length.
fn mixed(text: &str, number: usize) -> String {
    let first = if text.starts_with(char::is_uppercase) { 'W' } else { 'w' };
    format!("{first}{number:0>width$}", width = text.chars().count().saturating_sub(1))
}

/// Makes another date, in the same form if it is ISO's (ISO 8601), at midnight.
fn moment(text: &str, number: usize) -> String {
    let (date, time) = text.split_at_checked(10).unwrap_or((text, ""));
    let (year, month, day) = (2_001 + number / 336, number / 28 % 12 + 1, number % 28 + 1);
    let sign = date.get(4..5).unwrap_or("-");
    let parts: Vec<&str> = date.split(|c: char| !c.is_ascii_digit()).collect();
    match parts.as_slice() {
        [first, _, _] if first.len() == 4 => {
            let time: String = time.chars().map(|c| if c.is_ascii_digit() { '0' } else { c }).collect();
            format!("{year:04}{sign}{month:02}{sign}{day:02}{time}")
        }
        _ => with_digits(text, number),
    }
}

/// Returns an unassigned address (RFC 2606, RFC 5737, RFC 3849).
fn address(text: &str, number: usize) -> String {
    if text.contains('@') {
        format!("wd{number}@wd{number}.example")
    } else if text.contains(':') {
        format!("2001:db8::{number:x}")
    } else {
        let sign = text.trim_start_matches(|c: char| c.is_ascii_digit()).get(..1).unwrap_or(".");
        ["198", "51", &(number / 250).to_string(), &(number % 250 + 1).to_string()].join(sign)
    }
}

/// Returns the letters of a replacement, so that words which differ only in case still do, and only in that.
fn in_case_of(word: &str) -> &'static str {
    let mut letters = word.chars();
    let first = letters.next().is_some_and(char::is_uppercase);
    let rest = letters.as_str();
    match (first, rest.contains(char::is_uppercase), rest.contains(char::is_lowercase)) {
        (false, false, _) => "wd",
        (true, false, _) => "Wd",
        (true, true, false) => "WD",
        (_, true, _) => "wD",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: &[&str], expected: &[&str]) {
        let mut names = Names::new(&Signatures::built_in().unwrap());
        let redacted: Vec<String> = texts.iter().map(|text| names.text(text)).collect();
        assert_eq!(redacted, expected);
    }

    #[test]
    fn the_same_word_becomes_the_same_everywhere() {
        check(
            &["/home/anna/Shop/.git", "Shop", "shop, for anna", "/usr/bin/claude"],
            &["/home/wd1/Wd2/.git", "Wd2", "wd2, for wd1", "/usr/bin/claude"],
        );
    }

    #[test]
    fn short_numbers_stay_and_ids_become_others() {
        check(
            &["swarm_session_4711.json", "pts3/v8", "swarm_123456789"],
            &["swarm_session_4711.json", "pts3/v8", "swarm_900000001"],
        );
        let id = "95fe798d-3725-4649-974a-0dec79220193";
        check(
            &[id, "pid-95fe798d.json", &id.to_uppercase(), "ses_e0515a879ffeeCvFT1faoBtJOy", "wd7"],
            &[
                "00000001-0000-4000-8000-000000000002",
                "pid-00000001.json",
                "00000001-0000-4000-8000-000000000002".to_uppercase().as_str(),
                "wd3_w0000000000000000000000004",
                "w05",
            ],
        );
    }

    #[test]
    fn a_moment_stays_only_where_a_system_has_written_it_for_itself() {
        check(
            &["--since=2026-11-20T21:40:35.5Z", "12.05.1984", "1984/5/12", "2026-11", "2026-11-20"],
            &["--wd1=2001-01-03T00:00:00.0Z", "90.00.0003", "2001/01/05", "9000-05", "2001-01-07"],
        );
        let mut names = Names::new(&Signatures::built_in().unwrap());
        assert_eq!(names.fact("2026-11-20T21:40:35Z 4711"), "2026-11-20T21:40:35Z 4711");
    }

    #[test]
    fn what_names_a_person_is_replaced_by_what_names_nobody() {
        check(
            &[
                "call +49 170 1234567 or anna@shop.example",
                "10.0.0.7 51234 fe80::1 22",
                "pin 4711 of 12",
                "ip-10-0-0-7",
            ],
            &[
                "wd1 +90 000 0000002 or wd3@wd3.example",
                "198.51.0.5 90005 2001:db8::6 22",
                "wd7 9008 of 12",
                "wd9-198-51-0-11",
            ],
        );
    }
}
