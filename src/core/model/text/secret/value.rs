//! Values that follow the name of a secret: `NAME=value`, `"name": "value"`, `--name value`.

use crate::core::model::text::secret::alphabet::{is_drawn, is_mixed};
use crate::core::model::text::secret::joint::{Joint, behind};
use crate::core::model::text::secret::list::List;
use crate::core::model::text::secret::names::{
    Says, is_header, is_phrase, is_switch, says, says_of_parameter,
};
use crate::core::model::text::secret::span::{HIDDEN, Span, may_begin};
use crate::core::model::text::secret::table::TABLE;

/// Returns whether an option takes an argument as its value and that value is a secret.
pub(super) fn is_option_value(option: &str, argument: &str) -> bool {
    match says(option).filter(|_| !is_switch(option)) {
        Some(Says::Secret) => !argument.starts_with("--"),
        Some(Says::Likely) => !argument.starts_with('-') && is_likely(option, argument, Joint::Option),
        Some(Says::Proof | Says::Telling | Says::Perhaps) | None => false,
    }
}

/// Finds the value after the name of a secret. It may have more words than the first one of the text.
pub(super) fn value(before: Option<u8>, rest: &str, (name, whole): (&str, &str)) -> Option<Span> {
    let behind = behind(before, name, rest.get(name.len()..)?)?;
    let is_option = behind.joint == Joint::Option;
    let of_parameter = || says_of_parameter(name).filter(|_| behind.joint == Joint::Parameter);
    let says = of_parameter().or_else(|| says(whole)).filter(|_| !is_option || !is_switch(name))?;
    // Neither another option nor a value with a form of its own.
    let others = [if is_option { "-" } else { "--" }, "http://", "https://"];
    if !may_begin(behind.rest) || others.iter().any(|other| behind.rest.starts_with(other)) {
        return None;
    }
    let from = rest.len() - behind.rest.len();
    if behind.rest.starts_with(HIDDEN) {
        // The same span, so that a second pass finds nothing else.
        return Some((from, from + HIDDEN.len()));
    }
    let near = behind.near();
    let is_line = behind.quote.is_empty()
        && match behind.joint {
            Joint::Colon => is_phrase(name) || is_header(name, near),
            Joint::Is => is_header(name, near),
            Joint::Spaced | Joint::Option | Joint::Parameter | Joint::Element => false,
        };
    // In the form of openssl and similar programs (openssl-passphrase-options(1)).
    let scheme = if is_option && near.starts_with("pass:") { "pass:".len() } else { 0 };
    let value = near.get(scheme..)?;
    let is_secret = match says {
        _ if is_nothing(value) => false,
        Says::Secret if !behind.quote.is_empty() => !value.starts_with([',', ')', ';', ']', '}', ' ']),
        Says::Secret => is_line || is_told(name, value, behind.joint) && !is_type(behind.rest, value),
        Says::Proof => value.len() >= 6,
        Says::Telling => tells(value),
        Says::Likely => is_likely(name, value, behind.joint),
        Says::Perhaps => is_drawn(value, 16),
    };
    let is_element = behind.joint != Joint::Element || behind.rest.get(near.len()..)?.starts_with("</");
    if !is_secret || !is_element {
        return None;
    }
    let whole = if is_line { behind.line() } else { behind.whole() };
    Some((from + scheme, from + whole.len()))
}

/// Returns whether a value means that there is none, or has been hidden.
pub(super) fn is_nothing(value: &str) -> bool {
    let value = value.trim_end_matches(|c: char| !c.is_alphanumeric());
    let is_word = |word: &str| value.eq_ignore_ascii_case(word);
    value.is_empty() || ["null", "none", "nil", "true", "false", "undefined"].into_iter().any(is_word)
}

/// Returns whether an unquoted value after a secret's name is a secret, and not a word of a sentence or a program.
fn is_told(name: &str, value: &str, joint: Joint) -> bool {
    let is_filler = || TABLE.has(List::Filler, value);
    let is_own_name = || value.trim_end_matches(';').eq_ignore_ascii_case(name);
    let is_elsewhere = || ["env:", "file:", "fd:"].iter().any(|source| value.starts_with(source));
    match joint {
        Joint::Is => !(value.contains(['(', '[']) && is_code(value)),
        Joint::Parameter | Joint::Element => true,
        Joint::Option => !is_filler() && !is_elsewhere(),
        Joint::Colon | Joint::Spaced => !is_filler() && !is_code(value) && !is_own_name(),
    }
}

/// Returns whether a word calls or names something in a program: `next_token`, `config.password`, `read(`, `*mut`.
fn is_code(word: &str) -> bool {
    let is_letter = |c: char| c.is_ascii_alphabetic() || c == '_';
    let is_name =
        |part: &str| part.starts_with(is_letter) && part.chars().all(|c| is_letter(c) || c.is_ascii_digit());
    let word = word.trim_end_matches([';', ',']);
    let called = word.split(['!', '(', '[']).next().unwrap_or_default();
    let is_joined = word.contains(['.', '_', '(', '[']) || word.contains("::");
    word.starts_with('*') || is_joined && called.split('.').flat_map(|part| part.split("::")).all(is_name)
}

/// Returns whether the first word of a text is a type in a program: `token: Vec<Token>`, `(token: RawToken)`.
fn is_type(text: &str, word: &str) -> bool {
    let after = text.get(word.len()..).unwrap_or_default();
    let is_closed = after.starts_with(['<', ')']) || after.starts_with(" = ");
    is_closed
        && word.starts_with(|c: char| c.is_ascii_uppercase())
        && word.bytes().all(|byte| byte.is_ascii_alphabetic())
}

/// Returns whether the value of a parameter proves something, instead of naming a field or a status.
fn tells(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_word = value.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'_' || byte == b'-');
    match (is_number, is_word) {
        (false, true) => value.len() >= 20 && !value.contains(['_', '-']),
        (true, _) | (false, false) => value.len() >= 6,
    }
}

/// Returns whether the value after a word such as `pass` alone is a secret.
fn is_likely(name: &str, value: &str, joint: Joint) -> bool {
    let name = name.trim_start_matches('-');
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_path = value.starts_with(['/', '~', '.']);
    let is_odd = is_mixed(value, 6) && !is_path && !is_code(value);
    match joint {
        Joint::Colon | Joint::Spaced => is_odd,
        _ if name.eq_ignore_ascii_case("auth") => is_odd || value.contains(':') || is_base64(value),
        Joint::Option if TABLE.has(List::Digits, name) && !is_number => is_odd,
        Joint::Is | Joint::Option | Joint::Parameter | Joint::Element => {
            value.len() >= 4 && !is_path && !TABLE.has(List::Filler, value)
        }
    }
}

/// Returns whether there are capitals within a longer text.
fn is_base64(text: &str) -> bool {
    text.len() >= 10 && text.bytes().skip(1).filter(u8::is_ascii_uppercase).count() > 1
}

/// Finds what the word before it marks as a token, or as a user with a password.
pub(super) fn scheme(rest: &str, name: &str) -> Option<Span> {
    let body = rest.get(name.len()..)?.strip_prefix(' ').filter(|_| TABLE.has(List::Scheme, name))?;
    let token = body.split(|c: char| c.is_whitespace() || "\"'`\\,;)".contains(c)).next()?;
    // A word of a sentence has at most an initial capital.
    let is_basic = name.eq_ignore_ascii_case("basic");
    let is_odd = |c: char| c.is_ascii_digit() || c == '=' || c.is_ascii_uppercase() && !is_basic;
    let start = name.len() + 1;
    (token.len() >= 8 && token.get(1..)?.contains(is_odd)).then(|| (start, start + token.len()))
}
