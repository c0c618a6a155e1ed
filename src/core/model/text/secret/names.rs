//! Decides which names have a secret as their value.

use crate::core::model::text::secret::list::List;
use crate::core::model::text::secret::table::TABLE;

/// How certainly a name has a secret as its value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Says {
    /// The value is one, whatever it looks like.
    Secret,
    /// The value is one if it is long enough.
    Proof,
    /// The value is one if it does not name a field or a status.
    Telling,
    /// The value is one if it does not look like a path or a word of a program.
    Likely,
    /// The value is one if it looks random.
    Perhaps,
}

/// Returns how certainly a name has a secret as its value: `--api-key`, `GITHUB_TOKEN`, `clientSecret`.
pub(super) fn says(name: &str) -> Option<Says> {
    if !TABLE.may_name(name) {
        return None;
    }
    let (mut before, mut last) = (None, None);
    let (mut is_one, mut is_vendors) = (false, false);
    for word in words(name) {
        (before, last) = (last, Some(word));
        let ends = |end: &&str| ends_with(word, end);
        is_one |= TABLE.has(List::Anywhere, word) || TABLE.lists.entries(List::Ending).iter().any(ends);
        is_vendors |= TABLE.has(List::Vendor, word);
    }
    let last = last?;
    if TABLE.has(List::About, last) {
        return None;
    }
    let is_key = last.eq_ignore_ascii_case("key");
    let is_token = last.eq_ignore_ascii_case("token");
    match before {
        Some(before) if is_token && TABLE.has(List::PlainToken, before) => None,
        Some(before) if is_key && TABLE.has(List::PlainKey, before) => None,
        _ if is_one => Some(Says::Secret),
        Some(_) if TABLE.has(List::Last, last) => Some(Says::Secret),
        None if TABLE.has(List::Alone, last) => Some(Says::Likely),
        Some(before) if is_key && TABLE.has(List::Key, before) => Some(Says::Secret),
        _ if is_key || is_vendors => Some(Says::Perhaps),
        _ => None,
    }
}

/// Returns how certainly a URL parameter has a secret as its value, for names that mean one only there.
pub(super) fn says_of_parameter(name: &str) -> Option<Says> {
    let says = [(List::Parameter, Says::Proof), (List::Telling, Says::Telling)];
    says.into_iter().find_map(|(list, says)| TABLE.has(list, name).then_some(says))
}

/// Returns whether the value of a name is several words.
pub(super) fn is_phrase(name: &str) -> bool {
    TABLE.lists.entries(List::Phrase).iter().any(|end| ends_with(name, end))
}

/// Returns whether the first word of an option means that it does not take a secret: `--skip-password`.
pub(super) fn is_switch(option: &str) -> bool {
    let words = option.trim_start_matches('-').split(['-', '_']);
    words.take(1).any(|first| TABLE.has(List::Switch, first))
}

/// Returns whether the value is the rest of the line, as in a header (RFC 9110, RFC 6265).
pub(super) fn is_header(name: &str, value: &str) -> bool {
    let last = words(name).last().unwrap_or_default();
    let is_pair = || value.split(' ').next().is_some_and(|first| first.contains('='));
    last.eq_ignore_ascii_case("authorization") || last.eq_ignore_ascii_case("cookie") && is_pair()
}

/// Returns whether a word ends with another, whatever its case.
fn ends_with(word: &str, end: &str) -> bool {
    let at = word.len().checked_sub(end.len());
    at.and_then(|at| word.get(at..)).is_some_and(|tail| tail.eq_ignore_ascii_case(end))
}

/// Splits a name at `-`, `_`, `.` and from small letters to capitals; a number after a word is not part of it.
fn words(name: &str) -> impl Iterator<Item = &str> {
    let mut rest = name;
    std::iter::from_fn(move || {
        rest = rest.trim_start_matches(|c: char| !c.is_alphanumeric());
        let mut was_small = false;
        let ends = |(_, c): &(usize, char)| {
            let is_end = !c.is_alphanumeric() || c.is_ascii_uppercase() && was_small;
            was_small = c.is_ascii_lowercase();
            is_end
        };
        let end = rest.char_indices().find(ends).map_or(rest.len(), |(at, _)| at);
        let (word, more) = rest.split_at_checked(end).filter(|(word, _)| !word.is_empty())?;
        rest = more;
        let letters = word.trim_end_matches(|c: char| c.is_ascii_digit());
        Some(if letters.is_empty() { word } else { letters })
    })
}
