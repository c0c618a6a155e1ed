//! Whether what an edit wrote is still somewhere.

use std::collections::HashSet;

use crate::core::model::text::remains::keeps_most;

/// From which length on a line is also found inside of others, in letters: formatters join and break lines.
const LONG: usize = 12;
/// The shortest line that says whose it is, in letters.
const SHORT: usize = 3;

/// One edit: what the file held before, nothing if it was not there, and after.
pub(crate) type Change = (Vec<u8>, Vec<u8>);

/// What some edits of one file have left in the last of them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Traces {
    /// The lines that they have added, by their letters.
    lines: HashSet<String>,
    /// Those of them of which most is left.
    changes: Vec<Change>,
}

impl Traces {
    /// Returns the traces of edits, the oldest first; `None` if they have left nothing.
    pub(crate) fn of_changes(mut changes: Vec<Change>) -> Option<Self> {
        let (_, last) = changes.last()?.clone();
        let left = lines(&last);
        let added = |(before, after): &Change| {
            let before = lines(before);
            lines(after).into_iter().filter(move |line| !before.contains(line)).collect::<Vec<_>>()
        };
        let lines: HashSet<String> =
            changes.iter().flat_map(added).filter(|line| left.contains(line)).collect();
        changes.retain(|(before, after)| before != after && keeps_most(before, after, &last));
        (!lines.is_empty() || !changes.is_empty()).then_some(Self { lines, changes })
    }

    /// Returns whether any of the lines, or most of what one of the edits has changed, is in a content.
    pub(crate) fn is_in(&self, content: &[u8]) -> bool {
        let (there, all) = (lines(content), letters(content));
        let is_inside = |line: &String| line.chars().count() >= LONG && all.contains(line.as_str());
        self.lines.iter().any(|line| there.contains(line) || is_inside(line))
            || self.changes.iter().any(|(before, after)| keeps_most(before, after, content))
    }
}

/// Returns how many lines two contents have in common.
pub(crate) fn alike(one: &[u8], other: &[u8]) -> usize {
    lines(one).intersection(&lines(other)).count()
}

/// Returns the lines of a content by their letters, without those that are too short to say anything.
fn lines(content: &[u8]) -> HashSet<String> {
    let lines = content.split(|byte| *byte == b'\n').map(letters);
    lines.filter(|line| line.chars().count() >= SHORT).collect()
}

/// Returns the letters and digits of a text.
fn letters(text: &[u8]) -> String {
    String::from_utf8_lossy(text).chars().filter(|c| c.is_alphanumeric() || *c == '_').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(changes: &[(&str, &str)], content: &str, expected: bool) {
        let bytes = |(before, after): &(&str, &str)| (before.as_bytes().to_vec(), after.as_bytes().to_vec());
        let found = Traces::of_changes(changes.iter().map(bytes).collect()).unwrap();
        assert_eq!(found.is_in(content.as_bytes()), expected, "{changes:?} in {content:?}");
    }

    #[test]
    fn an_edit_is_there_as_long_as_a_line_or_most_of_its_words_are() {
        let one = [("fn a() {}\n", "fn a() {}\nfn pay(sum: u32) { charge(sum) }\nfn tax() {}\n")];
        check(&one, one[0].1, true);
        check(&one, "fn a() {}\n", false);
        check(&one, "", false);
        check(&one, "fn a() {}\nfn tax() {}\n", true);
        check(&one, "fn pay(sum: u32) {\n    charge(sum);\n}\n", true);
        check(&one, "fn paid(sum: u32) { charge(sum) }\n", true);
        check(&one, "fn syntax() {}\n", false);
        // What another one wrote before is not its own.
        let two =
            [("a\nof others\n", "a\nof others\nmine\n"), ("a\nof others\nmine\n", "of others\nmine too\n")];
        check(&two, "of others\n", false);
        check(&two, "mine too\n", true);
        check(&two, "none\n", false);
    }

    #[test]
    fn what_only_removes_lines_is_gone_where_they_are_back() {
        let one = [("one\ntwo\nthree\n", "one\n")];
        check(&one, "one\ntwo\nthree\n", false);
        check(&one, "one\n", true);
        check(&one, "one\nfour\n", true);
        check(&[("a b", "a  b")], "a b", false);
        assert_eq!(Traces::of_changes(Vec::new()), None);
        assert_eq!(Traces::of_changes(vec![(b"same".to_vec(), b"same".to_vec())]), None);
    }
}
