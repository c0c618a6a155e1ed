//! How much of what an edit added is in another text of its file.

use std::collections::HashSet;
use std::hash::Hash;

/// How much of an edit another text has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// It has what was added.
    Whole,
    Nothing,
    /// That cannot be determined.
    Unclear,
}

/// The text before an edit.
#[derive(Clone, Copy, Debug)]
pub(super) enum Before<'a> {
    /// The text that the file had right before: all that differs was added by this edit.
    Exact(&'a [u8]),
    /// An earlier one, such as the last commit's: others may have added a part of what differs, so that a part of it
    /// proves nothing of the edit itself.
    Earlier(&'a [u8]),
}

/// Compares what an edit added to the text before it with a later text, by words and how they follow each other, so
/// that a formatter changes little.
pub(super) fn extent(before: Before<'_>, edited: &[u8], later: &[u8]) -> Extent {
    let (Before::Exact(text) | Before::Earlier(text)) = before;
    if later == edited {
        return Extent::Whole;
    }
    if later == text {
        return Extent::Nothing;
    }
    let (text, edited, later) = (Text::new(text), Text::new(edited), Text::new(later));
    let words = NewParts::new(&text.words, &edited.words, &later.words);
    let triples = NewParts::new(&text.triples, &edited.triples, &later.triples);
    if words.added + triples.added == 0 {
        return removed(&text, &edited, &later);
    }
    // Another text can have the same words, but hardly in the same order.
    let (is_whole, is_nothing) = match before {
        Before::Exact(_) => (
            3 * words.kept >= 2 * words.added && 2 * triples.kept >= triples.added,
            3 * words.kept <= words.added && 4 * triples.kept <= triples.added,
        ),
        Before::Earlier(_) => (
            words.kept == words.added && 4 * triples.kept >= 3 * triples.added,
            triples.kept == 0 && 2 * words.kept <= words.added,
        ),
    };
    match (is_whole, is_nothing) {
        (true, false) => Extent::Whole,
        (false, true) => Extent::Nothing,
        _ => Extent::Unclear,
    }
}

/// Returns whether a text has at least one part in so many of another one, as that of a renamed file does.
pub(super) fn shares(other: &[u8], text: &[u8], parts: usize) -> bool {
    let (other, text) = (Text::new(other), Text::new(text));
    parts * other.triples.intersection(&text.triples).count() >= other.triples.len()
}

/// Compares an edit that only removed something.
fn removed(before: &Text<'_>, edited: &Text<'_>, later: &Text<'_>) -> Extent {
    let words = NewParts::new(&edited.words, &before.words, &later.words);
    match (words.added, words.kept) {
        (0, _) => Extent::Unclear,
        (_, 0) => Extent::Whole,
        (removed, back) if removed == back => Extent::Nothing,
        _ => Extent::Unclear,
    }
}

struct Text<'a> {
    words: HashSet<&'a [u8]>,
    triples: HashSet<[&'a [u8]; 3]>,
}

impl<'a> Text<'a> {
    /// Finds the words of a text: letters, digits, underscores, and whatever is not ASCII.
    fn new(text: &'a [u8]) -> Self {
        let is_gap = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'_';
        let words: Vec<&[u8]> = text.split(is_gap).filter(|word| !word.is_empty()).collect();
        let triples = words.windows(3).filter_map(|three| three.try_into().ok()).collect();
        Self { triples, words: words.into_iter().collect() }
    }
}

/// How many parts were added to a text, and how many of these a later one has.
struct NewParts {
    added: usize,
    kept: usize,
}

impl NewParts {
    fn new<T: Eq + Hash>(before: &HashSet<T>, edited: &HashSet<T>, later: &HashSet<T>) -> Self {
        let added = || edited.difference(before);
        Self { added: added().count(), kept: added().filter(|part| later.contains(part)).count() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, edited: &str, later: &str, expected: Extent) {
        let before = Before::Earlier(before.as_bytes());
        assert_eq!(extent(before, edited.as_bytes(), later.as_bytes()), expected);
    }

    const BEFORE: &str = "fn pay() {\n    charge(1);\n}\n";
    const EDITED: &str = "fn pay() {\n    charge(2);\n    audit(cart, total);\n}\n";

    #[test]
    fn all_or_nothing_is_certain_and_a_part_is_not() {
        check(BEFORE, EDITED, EDITED, Extent::Whole);
        check(BEFORE, EDITED, BEFORE, Extent::Nothing);
        check(BEFORE, EDITED, "", Extent::Nothing);
        // A formatter, and another's lines beside them.
        let formatted = "fn pay() { charge(2); audit(\n  cart,\n  total,\n) }\nfn more() {}\n";
        check(BEFORE, EDITED, formatted, Extent::Whole);
        check(BEFORE, EDITED, "fn pay() {\n    refund(card);\n}\n", Extent::Nothing);
        // One of two lines may be another window's.
        check(BEFORE, EDITED, "fn pay() {\n    charge(2);\n}\n", Extent::Unclear);
        check(BEFORE, EDITED, "fn pay() {\n    audit(cart, total);\n}\n", Extent::Unclear);
    }

    #[test]
    fn most_of_what_an_edit_itself_added_is_enough() {
        let before = "fn pay() {\n    charge(2);\n}\n";
        let check = |later: &str, expected: Extent| {
            let before = Before::Exact(before.as_bytes());
            assert_eq!(extent(before, EDITED.as_bytes(), later.as_bytes()), expected, "{later}");
        };
        check("fn pay() {\n    charge(2);\n    audit(cart, total, now);\n}\n", Extent::Whole);
        check("fn pay() {\n    charge(2);\n    refund(total);\n}\n", Extent::Nothing);
        check("fn pay() {\n    charge(2);\n    audit(card, total);\n}\n", Extent::Unclear);
    }

    #[test]
    fn words_that_are_everywhere_prove_nothing() {
        check("", "let fn pay(total)\n", "fn refund(cart)\nlet total = card\n", Extent::Unclear);
        check("", "let fn pay(total)\n", "pub refund(cart)\n", Extent::Nothing);
    }

    #[test]
    fn what_was_only_removed_is_back_or_is_not() {
        let (long, short) = ("fn pay() {\n    audit(cart);\n}\n", "fn pay() {\n}\n");
        check(long, short, long, Extent::Nothing);
        check(long, short, short, Extent::Whole);
        check("a  b", "a b", "a b", Extent::Whole);
        check("a  b", "a b", "a  b", Extent::Nothing);
        check("a  b", "a b", "c", Extent::Unclear);
    }
}
