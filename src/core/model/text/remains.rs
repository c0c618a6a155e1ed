//! How much of what an edit changed is in a later text of its file.

use std::collections::HashMap;

/// Returns whether a later text has most of what an edit changed in the text before it. Words are compared, so that a
/// formatter changes little; an edit that changed no word is in every text but the one before it.
pub(crate) fn keeps_most(before: &[u8], edited: &[u8], later: &[u8]) -> bool {
    let is_back = later == before;
    let (before, edited, later) = (counts(before), counts(edited), counts(later));
    let count = |of: &HashMap<&[u8], usize>, word| of.get(word).copied().unwrap_or(0);
    let (mut changed, mut kept) = (0, 0);
    for (word, number) in &edited {
        let old = count(&before, word);
        let added = number.saturating_sub(old);
        changed += added;
        kept += added.min(count(&later, word).saturating_sub(old));
    }
    if changed == 0 {
        for (word, number) in &before {
            let removed = number.saturating_sub(count(&edited, word));
            changed += removed;
            kept += removed.min(number.saturating_sub(count(&later, word)));
        }
    }
    if changed > 0 { 2 * kept >= changed } else { !is_back }
}

/// Counts the words of a text: letters, digits, underscores, and whatever is not ASCII.
fn counts(text: &[u8]) -> HashMap<&[u8], usize> {
    let is_gap = |byte: &u8| byte.is_ascii() && !byte.is_ascii_alphanumeric() && *byte != b'_';
    let mut counts = HashMap::new();
    for word in text.split(is_gap).filter(|word| !word.is_empty()) {
        *counts.entry(word).or_default() += 1;
    }
    counts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(before: &str, edited: &str, later: &str, expected: bool) {
        assert_eq!(keeps_most(before.as_bytes(), edited.as_bytes(), later.as_bytes()), expected);
    }

    #[test]
    fn words_that_were_added_or_removed_are_looked_for() {
        let before = "fn pay() {\n    charge(1);\n}\n";
        let edited = "fn pay() {\n    charge(2);\n    audit(cart, total);\n}\n";
        check(before, edited, edited, true);
        check(before, edited, before, false);
        check(before, edited, "", false);
        // A formatter, and another's lines beside them.
        check(before, edited, "fn pay() { charge(2); audit(\n  cart,\n  total,\n) }\nfn more() {}\n", true);
        // Another text in their place.
        check(before, edited, "fn pay() {\n    refund(card);\n}\n", false);
        // What was only removed has come back, or has not.
        check(edited, before, edited, false);
        check(edited, before, before, true);
        check("a  b", "a b", "a b", true);
        check("a  b", "a b", "a  b", false);
    }
}
