//! How a text differs from another one, as lines to be shown.

use std::borrow::Cow;
use std::time::Duration;

use similar::TextDiff;

/// The largest text that is compared, in bytes.
const MOST: usize = 4 << 20;
/// How long the shortest diff is looked for; after that, any one will do.
const WITHIN: Duration = Duration::from_millis(300);
/// The most lines of a diff; what exceeds them is counted.
const MOST_LINES: usize = 2_000;

/// Returns the lines of a unified diff between two texts with these names; none if they are the same. The lines are raw.
/// `None` if they are no texts, or too large.
pub(crate) fn unified((old, old_name): (&[u8], &str), (new, new_name): (&[u8], &str)) -> Option<Vec<String>> {
    if [old, new].iter().any(|text| text.len() > MOST || text.contains(&0)) {
        return None;
    }
    let [old, new]: [Cow<'_, str>; 2] = [old, new].map(String::from_utf8_lossy);
    let diff = TextDiff::configure().timeout(WITHIN).diff_lines(old.as_ref(), new.as_ref());
    let text = diff.unified_diff().header(old_name, new_name).to_string();
    let mut lines: Vec<String> = text.split('\n').map(str::to_owned).collect();
    if lines.last().is_some_and(String::is_empty) {
        lines.pop();
    }
    let more = lines.len().saturating_sub(MOST_LINES);
    if more > 0 {
        lines.truncate(MOST_LINES);
        lines.push(format!("... and {more} more lines"));
    }
    Some(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_diff_has_only_what_differs() {
        let lines = unified((b"one\ntwo\n", "now"), (b"one\nthree\n", "then")).unwrap();
        assert_eq!(lines, ["--- now", "+++ then", "@@ -1,2 +1,2 @@", " one", "-two", "+three"]);
        assert_eq!(unified((b"same\n", "a"), (b"same\n", "b")), Some(Vec::new()));
        assert_eq!(unified((b"\0", "a"), (b"text", "b")), None);
    }

    #[test]
    fn a_long_diff_is_cut_and_says_so() {
        let long = "x\n".repeat(3_000);
        let lines = unified((b"", "a"), (long.as_bytes(), "b")).unwrap();
        assert_eq!((lines.len(), lines.last().unwrap().as_str()), (2_001, "... and 1003 more lines"));
    }
}
