//! Secrets in sentences: `my password is ...`.

use crate::core::model::text::secret::alphabet::{is_drawn, is_mixed};
use crate::core::model::text::secret::list::List;
use crate::core::model::text::secret::span::{HIDDEN, QUOTES, Span, may_begin};
use crate::core::model::text::secret::table::TABLE;
use crate::core::model::text::secret::url::is_number;
use crate::core::model::text::secret::value::is_nothing;

/// The most words between the name of a secret and the word that introduces it.
const BETWEEN: usize = 6;

/// The longest word to examine, in bytes.
const LONGEST: usize = 128;

/// The characters that end a part of a sentence.
const STOPS: [char; 5] = ['.', ',', ';', '?', ')'];

/// Finds what a sentence calls a password, or a token or key with the word before it.
pub(super) fn stated_secret(text: &str, at: usize, name: &str, before: &str) -> Option<Span> {
    let is_password = TABLE.has(List::Said, name);
    if !is_password && !TABLE.has(List::MaybeSaid, name) {
        return None;
    }
    let subject = Subject {
        is_password,
        is_login: is_password && is_after_login(text.get(..at)?),
        is_of_key: TABLE.has(List::Key, before) || TABLE.has(List::Vendor, before),
        is_number: TABLE.has(List::Digits, name),
        is_otp: name.eq_ignore_ascii_case("otp"),
    };
    let mut sentence = Sentence { text, at: at + name.len() };
    let first = sentence.clone().next()?;
    if first.is_hidden() {
        return first.hidden();
    }
    if subject.is_right_before(&first) {
        return first.secret();
    }
    for number in 0..BETWEEN {
        let word = sentence.next()?;
        let is_so = TABLE.has(List::Is, word.text);
        if is_so || TABLE.has(List::To, word.text) {
            let value = sentence.clone().next()?;
            if value.is_hidden() {
                return value.hidden();
            }
            if subject.is_told(&value, is_so && number == 0) {
                return if is_mixed(value.text, 1) { value.secret() } else { value.phrase() };
            }
        }
        if word.is_last {
            return None;
        }
    }
    None
}

/// The words by which a sentence names a secret.
struct Subject {
    is_password: bool,
    /// Whether it follows a user, as in .netrc.
    is_login: bool,
    /// Whether the word before it names the owner of the key or token.
    is_of_key: bool,
    /// Whether it is a number.
    is_number: bool,
    is_otp: bool,
}

impl Subject {
    /// Returns whether the word after it is the secret, as in SQL and in .netrc.
    fn is_right_before(&self, word: &Word<'_>) -> bool {
        if self.is_password {
            !word.quote.is_empty() || self.is_login || is_odd(word)
        } else if is_number(word.text) {
            self.is_otp && (6..=8).contains(&word.text.len())
        } else {
            let is_key = self.is_of_key && is_odd(word) && is_mixed(word.text, 10) && !is_hex(word.text);
            is_key || is_random(word)
        }
    }

    /// Returns whether a word is the secret that a sentence states, directly after the name or later.
    fn is_told(&self, word: &Word<'_>, is_said: bool) -> bool {
        if !word.quote.is_empty() {
            let is_literal = !is_reference(word.text) && is_mixed(word.text, 8);
            self.is_password || self.is_of_key && is_said || is_literal
        } else if is_said && is_number(word.text) {
            self.is_password || self.is_number && (4..=8).contains(&word.text.len())
        } else if self.is_password && is_said {
            !is_plain(word.text)
        } else if self.is_password || self.is_of_key {
            is_odd(word)
        } else {
            is_random(word)
        }
    }
}

fn is_odd(word: &Word<'_>) -> bool {
    is_mixed(word.text, 6) && !is_plain(word.text) && !is_reference(word.text) && !word.text.contains(HIDDEN)
}

fn is_random(word: &Word<'_>) -> bool {
    is_drawn(word.text, 16) && (word.text.len() >= 32 || !is_hex(word.text))
}

/// Returns whether a text ends like `login USER ` (netrc(5)).
fn is_after_login(before: &str) -> bool {
    let mut words = before.rsplit(' ').filter(|word| !word.is_empty());
    let (user, login) = (words.next(), words.next());
    user.is_some_and(|user| !user.ends_with(','))
        && login.is_some_and(|login| login == "login" || login.ends_with("\nlogin"))
}

fn is_hex(word: &str) -> bool {
    word.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Returns whether a word describes a password and is not one.
fn is_plain(word: &str) -> bool {
    let is_lower = word.len() > 4 && word.bytes().all(|byte| byte.is_ascii_lowercase());
    let endings = ["ed", "ing", "able", "ible", "ful", "less", "ous", "ive", "ly"];
    TABLE.has(List::Plain, word) || is_lower && endings.iter().any(|end| word.ends_with(end))
}

/// Returns whether a word names a file, an issue or a version.
fn is_reference(word: &str) -> bool {
    let issue = word.trim_start_matches(|c: char| c.is_ascii_uppercase());
    let number = word.trim_start_matches(|c: char| c.is_ascii_alphabetic());
    word.contains(['/', '(', '<'])
        || word.contains("::")
        || issue.strip_prefix('-').is_some_and(is_number)
        || number.contains('.') && number.split('.').all(is_number)
}

/// The words of a text from a position on, on the same line.
#[derive(Clone)]
struct Sentence<'a> {
    text: &'a str,
    at: usize,
}

/// A word of a sentence.
struct Word<'a> {
    whole: &'a str,
    /// Where it begins in the whole text, without its quotes.
    start: usize,
    /// The quotes that it begins with.
    quote: &'a str,
    text: &'a str,
    /// Whether a part of the sentence ends with it.
    is_last: bool,
}

impl<'a> Iterator for Sentence<'a> {
    type Item = Word<'a>;

    fn next(&mut self) -> Option<Word<'a>> {
        let rest = self.text.get(self.at..)?;
        let spaced = rest.trim_start_matches([' ', '\t']);
        let raw =
            spaced.split(char::is_whitespace).next().filter(|raw| !raw.is_empty() && raw.len() <= LONGEST)?;
        if spaced.len() == rest.len() {
            return None;
        }
        self.at += rest.len() - spaced.len() + raw.len();
        let bare = raw.trim_start_matches(QUOTES).trim_start_matches('(');
        let quote = raw.get(..raw.len() - raw.trim_start_matches(QUOTES).len())?;
        let text = bare.trim_end_matches(QUOTES).trim_end_matches(STOPS).trim_end_matches(QUOTES);
        let text = text.trim_end_matches(':');
        let start = self.at - bare.len();
        Some(Word { whole: self.text, start, quote, text, is_last: bare.ends_with(STOPS) })
    }
}

impl Word<'_> {
    /// Returns whether it was a secret before it was hidden.
    fn is_hidden(&self) -> bool {
        self.text.starts_with(HIDDEN)
    }

    /// Returns the placeholder of a hidden secret, so that a second pass finds nothing else.
    fn hidden(&self) -> Option<Span> {
        Some((self.start, self.start + HIDDEN.len()))
    }

    /// Returns the word, or the text in the same quotes.
    fn secret(&self) -> Option<Span> {
        let start = self.start;
        let line = self.whole.get(start..).filter(|line| may_begin(line) && !line.starts_with(['-', '/']))?;
        let end = if self.quote.is_empty() { None } else { line.find(self.quote) };
        let end = end.filter(|end| line.get(..*end).is_some_and(|value| !value.contains('\n')));
        let end = end.unwrap_or(self.text.len());
        let is_secret = line.get(..end).is_some_and(|value| !is_nothing(value));
        is_secret.then_some((start, start + end))
    }

    /// Returns the words up to the end of this part of the sentence.
    fn phrase(&self) -> Option<Span> {
        let (start, end) = self.secret()?;
        if !self.quote.is_empty() || self.is_last {
            return Some((start, end));
        }
        let rest = self.whole.get(end..)?;
        let more = rest.find(|c: char| c == '\n' || STOPS.contains(&c) || QUOTES.contains(&c));
        let phrase = self.whole.get(start..end + more.unwrap_or(rest.len()))?;
        Some((start, start + phrase.trim_end().len()))
    }
}
