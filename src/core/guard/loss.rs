//! Whether what an edit wrote is still somewhere: by its lines, as formatters change everything else.

use std::collections::HashSet;

/// From which length on a line is also found inside of others, in letters: formatters join and break lines.
const LONG: usize = 12;
/// The shortest line that says whose it is, in letters.
const SHORT: usize = 3;

/// One edit: what the file held before, `None` if it was not there, and after.
pub(crate) type Change<'a> = (Option<&'a [u8]>, &'a [u8]);

/// What some edits of one file have left in it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Traces {
    /// These lines, by their letters.
    Lines(HashSet<String>),
    /// The whole content, where no line is new: lines were removed, or it is no text.
    Whole { before: Option<Vec<u8>>, after: Vec<u8> },
}

impl Traces {
    /// Returns the traces of edits in the last of them; `None` without any.
    pub(crate) fn of_changes(changes: &[Change<'_>]) -> Option<Self> {
        let (first, (_, last)) = (changes.first()?, changes.last()?);
        let left = lines(last);
        let mut own = HashSet::new();
        for (before, after) in changes {
            let before = before.map(lines).unwrap_or_default();
            own.extend(lines(after).into_iter().filter(|line| !before.contains(line) && left.contains(line)));
        }
        let is_text = changes.iter().all(|(_, after)| !after.contains(&0));
        Some(match own.is_empty() || !is_text {
            true => Self::Whole { before: first.0.map(<[u8]>::to_vec), after: last.to_vec() },
            false => Self::Lines(own),
        })
    }

    /// Returns whether any of it is in a content.
    pub(crate) fn is_in(&self, content: &[u8]) -> bool {
        match self {
            Self::Lines(own) => {
                let there = lines(content);
                let all = letters(content);
                own.iter().any(|line| {
                    there.contains(line) || line.chars().count() >= LONG && all.contains(line.as_str())
                })
            }
            Self::Whole { after, .. } if content == after => true,
            // Any other change since may have kept it.
            Self::Whole { before: Some(before), after } if !after.contains(&0) => content != before,
            Self::Whole { .. } => false,
        }
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
        let changes: Vec<Change<'_>> =
            changes.iter().map(|(before, after)| (Some(before.as_bytes()), after.as_bytes())).collect();
        let found = Traces::of_changes(&changes).unwrap().is_in(content.as_bytes());
        assert_eq!(found, expected, "{changes:?} in {content:?}");
    }

    #[test]
    fn an_edit_is_there_as_long_as_any_of_its_lines_is() {
        let one = [("fn a() {}\n", "fn a() {}\nfn pay(sum: u32) { charge(sum) }\nfn tax() {}\n")];
        check(&one, one[0].1, true);
        check(&one, "fn a() {}\n", false);
        check(&one, "", false);
        check(&one, "fn a() {}\nfn tax() {}\n", true);
        check(&one, "fn pay(sum: u32) {\n    charge(sum);\n}\n", true);
        check(&one, "fn syntax() {}\n", false);
        // What another one wrote before is not its own.
        let two = [
            ("a\nothers line\n", "a\nothers line\nmine\n"),
            ("a\nothers line\nmine\n", "others line\nmine too\n"),
        ];
        check(&two, "others line\n", false);
        check(&two, "mine too\n", true);
        check(&two, "mine\n", false);
    }

    #[test]
    fn what_only_removes_lines_is_gone_where_they_are_back() {
        let one = [("one\ntwo\nthree\n", "one\n")];
        check(&one, "one\ntwo\nthree\n", false);
        check(&one, "one\n", true);
        check(&one, "one\nfour\n", true);
        let bytes =
            |content: &[u8]| Traces::of_changes(&[(Some(b"\0old"), b"\0new")]).unwrap().is_in(content);
        assert!(bytes(b"\0new") && !bytes(b"\0old") && !bytes(b"\0other"));
        assert!(!Traces::of_changes(&[(None, b"}\n")]).unwrap().is_in(b""), "a new file without letters");
        assert_eq!(Traces::of_changes(&[]), None);
    }
}
