//! How a name and its value are joined, and where the value ends.

use crate::core::model::text::secret::alphabet::is_of_name;
use crate::core::model::text::secret::span::{QUOTES, beginning};

/// How a name and its value are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Joint {
    /// By `=`, or as a field of a machine-readable text.
    Is,
    /// By a colon, as in a header or a sentence.
    Colon,
    /// By a sign with spaces around it, as programs are written.
    Spaced,
    /// By a space, as an option's.
    Option,
    /// As a parameter of a URL.
    Parameter,
    /// As an element of XML.
    Element,
}

/// The text after a name.
#[derive(Clone, Copy, Debug)]
pub(super) struct Behind<'a> {
    pub(super) joint: Joint,
    /// The quotes that it begins with.
    pub(super) quote: &'a str,
    /// The text from its beginning to the end.
    pub(super) rest: &'a str,
    /// Whether the name itself is inside the quotes that end the value, as in `env 'NAME=a b'`.
    is_within: bool,
}

/// How many bytes of a value without a space to examine to decide whether it is a secret.
const NEAR: usize = 512;

/// Finds the value after a name, in the text that follows it, given the byte before the name.
pub(super) fn behind<'a>(before: Option<u8>, name: &str, after: &'a str) -> Option<Behind<'a>> {
    let (joint, separated) = joint(before, name, after)?;
    // The prefixes of strings in Rust and Python.
    let string = separated.trim_start_matches(['b', 'f', 'r', 'u']);
    let is_string = separated.len() - string.len() < 3 && string.starts_with(['"', '\'']);
    let separated = if is_string { string } else { separated };
    let quote = separated.get(..separated.len() - separated.trim_start_matches(QUOTES).len())?;
    let is_within = joint == Joint::Is && after.starts_with('=') && matches!(before, Some(b'"' | b'\''));
    let is_empty = matches!(quote, "\"\"" | "''");
    (!is_empty).then_some(Behind { joint, quote, rest: separated.get(quote.len()..)?, is_within })
}

impl<'a> Behind<'a> {
    /// Returns the value, or as much of it as decides whether it is a secret.
    pub(super) fn near(&self) -> &'a str {
        if self.quote.is_empty() { self.word(beginning(self.rest, NEAR)) } else { self.whole() }
    }

    /// Returns the value.
    pub(super) fn whole(&self) -> &'a str {
        match self.quote {
            "" => self.word(self.rest),
            quote => {
                let end = self.rest.find(quote).or_else(|| self.rest.find(QUOTES)).unwrap_or(self.rest.len());
                self.rest.get(..end).unwrap_or_default()
            }
        }
    }

    /// Returns the value with the rest of its line, as in a header.
    pub(super) fn line(&self) -> &'a str {
        until(self.rest, |c| "\"'\n\\".contains(c))
    }

    /// Returns the unquoted value at the beginning of a text.
    fn word(&self, text: &'a str) -> &'a str {
        let is_parameter = self.joint == Joint::Parameter;
        if self.is_within {
            return until(text, |c| "\"'\n".contains(c));
        }
        if self.joint == Joint::Element {
            return until(text, |c| "<\n".contains(c));
        }
        // Up to a space, or a character that ends a word in a shell.
        let word = until(text, |c| {
            c.is_whitespace() || "\"'`\\;&|<>".contains(c) || is_parameter && "#)]".contains(c)
        });
        // One of several fields separated by commas.
        let is_next = |(at, _): &(usize, &str)| word.get(at + 1..).is_some_and(is_field);
        let end = word.match_indices(',').find(is_next).map_or(word.len(), |(at, _)| at);
        word.get(..end).unwrap_or_default().trim_end_matches([',', ')', ']', '}'])
    }
}

fn until(text: &str, ends: impl Fn(char) -> bool) -> &str {
    text.split(ends).next().unwrap_or_default()
}

/// Returns whether a text begins with a name and a value.
fn is_field(text: &str) -> bool {
    let end = text.bytes().take(64).position(|byte| !is_of_name(byte));
    end.is_some_and(|end| end > 0 && matches!(text.as_bytes().get(end), Some(b'=' | b':')))
}

/// Returns how a name is joined with the text after it, and that text.
fn joint<'a>(before: Option<u8>, name: &str, after: &'a str) -> Option<(Joint, &'a str)> {
    if let Some(value) = after.strip_prefix('>') {
        return (before == Some(b'<')).then_some((Joint::Element, value));
    }
    if matches!(before, Some(b'?' | b'&' | b'#')) && after.starts_with('=') {
        return Some((Joint::Parameter, after.get(1..)?));
    }
    let is_option = name.starts_with('-');
    let closed = after.trim_start_matches(['"', '\'', '\\', ']']);
    let is_quoted = closed.len() < after.len() && !after.starts_with(']');
    let sign = closed.trim_start_matches(' ');
    let is_spaced = sign.len() < closed.len();
    let (joint, value) = if is_quoted && is_option {
        in_list(sign)?
    } else {
        let of_xml = || sign.strip_prefix("value=").filter(|_| is_quoted).map(|value| (Joint::Is, value));
        let of_option = || (is_option && is_spaced && is_long(name)).then_some((Joint::Option, sign));
        signed(sign).or_else(of_xml).or_else(of_option)?
    };
    let trimmed = value.trim_start_matches(' ');
    let is_far = trimmed.len() < value.len();
    let joint = match joint {
        Joint::Colon if is_quoted && trimmed.starts_with(['"', '\'', '\\']) => Joint::Is,
        Joint::Colon if is_quoted => Joint::Colon,
        Joint::Colon if is_spaced => return None,
        // A shell variable without a value.
        Joint::Is if !is_spaced && is_far && !name.contains(|c: char| c.is_ascii_lowercase()) => return None,
        Joint::Is if !is_quoted && (is_spaced || is_far) => Joint::Spaced,
        Joint::Is | Joint::Colon | Joint::Spaced => joint,
        Joint::Option | Joint::Parameter | Joint::Element => joint,
    };
    Some((joint, trimmed))
}

/// Finds the sign that joins a name with its value, and that is neither a comparison nor part of a path.
fn signed(text: &str) -> Option<(Joint, &str)> {
    if ["==", "=~", "::", "://"].iter().any(|other| text.starts_with(other)) {
        return None;
    }
    let signs = [("=>", Joint::Is), (":=", Joint::Spaced), ("=", Joint::Is), (":", Joint::Colon)];
    signs.iter().find_map(|(sign, joint)| Some((*joint, text.strip_prefix(sign)?)))
}

/// Finds the next text of a list, as in `["--token", "value"]`.
fn in_list(text: &str) -> Option<(Joint, &str)> {
    let value = text.strip_prefix(',')?.trim_start_matches(' ');
    value.starts_with(['"', '\'', '\\']).then_some((Joint::Is, value))
}

/// Returns whether an option has more than a few letters, like options that state what they take.
fn is_long(option: &str) -> bool {
    option.starts_with("--") || option.len() > 5
}
