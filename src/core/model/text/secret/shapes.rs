//! Where secrets are in a text: one walk over its names, visiting each once.

use crate::core::model::text::secret::alphabet::{Alphabet, is_of_name};
use crate::core::model::text::secret::command;
use crate::core::model::text::secret::prose::stated_secret;
use crate::core::model::text::secret::span::Span;
use crate::core::model::text::secret::table::TABLE;
use crate::core::model::text::secret::token::{pem, token};
use crate::core::model::text::secret::url::{user_at_host, user_info};
use crate::core::model::text::secret::value::{scheme, value};

/// Finds secrets, in any order.
pub(super) fn spans(text: &str) -> Vec<Span> {
    let (mut found, has_command) = named(text);
    if has_command {
        command::in_text(text, &mut found);
    }
    found
}

/// Finds secrets by their own shape and by the name before them, and returns whether a command may contain others.
pub(super) fn named(text: &str) -> (Vec<Span>, bool) {
    let mut found: Vec<Span> = Vec::new();
    let mut has_command = false;
    // The position of the walk, the word directly before it, and the end of the part in which sentences were parsed.
    let (mut at, mut before, mut told_to) = (0, "", 0);
    let begins = |byte: &u8| *byte == b':' || is_of_name(*byte);
    while let Some(passed) = text.as_bytes().get(at..).and_then(|rest| rest.iter().position(begins)) {
        before = if passed == 1 { before } else { "" };
        at += passed;
        let rest = text.get(at..).unwrap_or_default();
        let name = rest.get(..Alphabet::Word.run(rest)).unwrap_or_default();
        let span = if name.is_empty() { user_info(rest) } else { at_name(text, (at, name), before) };
        if span.is_none() && at >= told_to && may_tell(rest, name) {
            let secret = stated_secret(text, at, name, before);
            told_to = secret.map_or(told_to, |(_, end)| end);
            found.extend(secret);
        }
        has_command |= TABLE.is_of_command(name);
        found.extend(span.map(|(start, end)| (at + start, at + end)));
        at += span.map_or(0, |(_, end)| end).max(name.len()).max(1);
        // The next word, if it follows a space.
        before = if span.is_none() && text.get(at..).is_some_and(|rest| rest.starts_with(' ')) {
            name
        } else {
            ""
        };
    }
    (found, has_command)
}

/// Returns whether a sentence that states a secret may begin at a word.
fn may_tell(rest: &str, name: &str) -> bool {
    rest.as_bytes().get(name.len()) == Some(&b' ') && TABLE.may_name(name)
}

/// Finds a secret where a name begins.
fn at_name(text: &str, (at, name): (usize, &str), before: &str) -> Option<Span> {
    let rest = text.get(at..)?;
    let found = token(rest, name).or_else(|| if name.starts_with('-') { pem(rest) } else { None });
    if found.is_some() {
        return found;
    }
    // Most words of a text are not followed by anything that introduces a value, or are not names of secrets.
    let next = rest.as_bytes().get(name.len())?;
    if b":= \"'\\>]".contains(next) && TABLE.may_name(name) {
        let sign = text.get(..at).and_then(|text| text.bytes().next_back());
        let found = scheme(rest, name).or_else(|| value(sign, rest, (name, whole(text, (at, name), before))));
        if found.is_some() {
            return found;
        }
    }
    if *next == b':' { user_at_host(rest, name) } else { None }
}

/// Returns a name with the word before it, if that word states whose key it is: `API key: ...`.
fn whole<'a>(text: &'a str, (at, name): (usize, &'a str), before: &str) -> &'a str {
    let start =
        at.checked_sub(before.len() + 1).filter(|_| !before.is_empty() && name.eq_ignore_ascii_case("key"));
    start.and_then(|start| text.get(start..at + name.len())).unwrap_or(name)
}
