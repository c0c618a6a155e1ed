//! Patches: the hunks of a unified diff, applied to bytes in either direction.

use std::borrow::Cow;

use bstr::ByteSlice;

/// A piece of a patch.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Hunk<'a> {
    /// How many lines come before it in the old text.
    old: usize,
    /// How many lines come before it in the new text.
    new: usize,
    lines: Vec<Line<'a>>,
}

/// A line of a patch.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Line<'a> {
    sign: Sign,
    text: Cow<'a, [u8]>,
    /// Whether a line end follows.
    has_end: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Sign {
    Both,
    Old,
    New,
}

/// Which of the two texts of a patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Side {
    Old,
    New,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Old => Self::New,
            Self::New => Self::Old,
        }
    }

    fn has(self, sign: Sign) -> bool {
        match sign {
            Sign::Both => true,
            Sign::Old => self == Self::Old,
            Sign::New => self == Self::New,
        }
    }
}

impl<'a> Hunk<'a> {
    /// Creates a hunk of lines that begin with their signs, after so many lines of the old and of the new text.
    pub(crate) fn new((old, new): (usize, usize), lines: impl IntoIterator<Item = &'a [u8]>) -> Option<Self> {
        let mut hunk = Self { old, new, lines: Vec::new() };
        lines.into_iter().try_for_each(|line| hunk.add(line))?;
        Some(hunk)
    }

    fn add(&mut self, line: &'a [u8]) -> Option<()> {
        let sign = match line.first() {
            Some(b' ') => Sign::Both,
            Some(b'-') => Sign::Old,
            Some(b'+') => Sign::New,
            Some(b'\\') => {
                self.lines.last_mut()?.has_end = false;
                return Some(());
            }
            _ => return None,
        };
        self.lines.push(Line { sign, text: Cow::Borrowed(line.get(1..)?), has_end: true });
        Some(())
    }

    fn lines_of(&self, side: Side) -> impl Iterator<Item = &Line<'a>> {
        self.lines.iter().filter(move |line| side.has(line.sign))
    }

    fn before(&self, side: Side) -> usize {
        match side {
            Side::Old => self.old,
            Side::New => self.new,
        }
    }
}

/// Reads a unified diff; lines end with LF alone. Lines before the first hunk are passed over.
pub(crate) fn unified(diff: &[u8]) -> Option<Vec<Hunk<'_>>> {
    let mut hunks: Vec<Hunk<'_>> = Vec::new();
    let lines = diff.strip_suffix(b"\n").unwrap_or(diff).split(|byte| *byte == b'\n');
    for line in lines {
        if line.starts_with(b"@@ ") {
            hunks.push(Hunk::new(head(line)?, [])?);
        } else if let Some(hunk) = hunks.last_mut() {
            hunk.add(line)?;
        }
    }
    (!hunks.is_empty()).then_some(hunks)
}

/// Reads `@@ -old,count +new,count @@`, and returns how many lines come before.
fn head(line: &[u8]) -> Option<(usize, usize)> {
    let mut parts = line.split(|byte| *byte == b' ').skip(1);
    let mut before = |sign: &[u8]| {
        let range = parts.next()?.strip_prefix(sign)?.to_str().ok()?;
        let (first, count) = range.split_once(',').unwrap_or((range, "1"));
        let first: usize = first.parse().ok()?;
        // An empty range has the number of the line before it.
        Some(if count == "0" { first } else { first.saturating_sub(1) })
    };
    Some((before(b"-")?, before(b"+")?))
}

/// Applies a patch to the text of one side, where it says, and returns that of the other; `None` if anything in it
/// does not match.
pub(crate) fn applied(text: &[u8], hunks: &[Hunk<'_>], from: Side) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len());
    let mut lines = Lines { text, at: 0, passed: 0 };
    for hunk in hunks {
        out.extend_from_slice(lines.skip_to(hunk.before(from))?);
        for line in &hunk.lines {
            if from.has(line.sign) && lines.next()? != (line.text.as_ref(), line.has_end) {
                return None;
            }
            if from.other().has(line.sign) {
                out.extend_from_slice(&line.text);
                out.extend_from_slice(if line.has_end { b"\n" } else { b"" });
            }
        }
    }
    out.extend_from_slice(text.get(lines.at..)?);
    Some(out)
}

/// How a patch shows the lines of a text.
pub(crate) type Shows = fn(&[u8]) -> Cow<'_, [u8]>;

/// Returns whether a text has the lines of a patch's side, as it shows them, where it says.
pub(crate) fn has_lines(text: &[u8], hunks: &[Hunk<'_>], side: Side, shows: Shows) -> bool {
    let mut lines = Lines { text, at: 0, passed: 0 };
    hunks.iter().all(|hunk| {
        let is_there = lines.skip_to(hunk.before(side)).is_some();
        is_there
            && hunk.lines_of(side).all(|line| lines.next().is_some_and(|(text, _)| shows(text) == line.text))
    })
}

/// Returns the new text of a patch that shows lines differently, by two texts: the old one, and one that has a line
/// for each line of the new. `like` makes of such a line, and of what the patch shows for it, the true line.
pub(crate) fn merged(
    old: &[u8],
    plain: &[u8],
    hunks: &[Hunk<'_>],
    like: impl Fn(&[u8], &[u8]) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(plain.len());
    let mut olds = Lines { text: old, at: 0, passed: 0 };
    let mut plains = Lines { text: plain, at: 0, passed: 0 };
    for hunk in hunks {
        out.extend_from_slice(olds.skip_to(hunk.old)?);
        plains.skip_to(hunk.new)?;
        for line in &hunk.lines {
            let old = if Side::Old.has(line.sign) { Some(olds.next()?) } else { None };
            if !Side::New.has(line.sign) {
                continue;
            }
            let (plain, has_end) = plains.next()?;
            match old {
                Some((old, _)) => out.extend_from_slice(old),
                None => out.extend_from_slice(&like(plain, &line.text)?),
            }
            out.extend_from_slice(if has_end { b"\n" } else { b"" });
        }
    }
    out.extend_from_slice(old.get(olds.at..)?);
    Some(out)
}

/// The lines of a text, one after the other.
struct Lines<'a> {
    text: &'a [u8],
    /// Where the next one begins.
    at: usize,
    /// How many came before it.
    passed: usize,
}

impl<'a> Lines<'a> {
    /// Returns the next line, and whether a line end follows it.
    fn next(&mut self) -> Option<(&'a [u8], bool)> {
        let rest = self.text.get(self.at..).filter(|rest| !rest.is_empty())?;
        let end = rest.find_byte(b'\n');
        let line = rest.get(..end.unwrap_or(rest.len()))?;
        self.at += line.len() + usize::from(end.is_some());
        self.passed += 1;
        Some((line, end.is_some()))
    }

    /// Passes over the lines before a number, and returns them; `None` if there are fewer, or they were passed.
    fn skip_to(&mut self, number: usize) -> Option<&'a [u8]> {
        let begin = self.at;
        for _ in self.passed..number {
            self.next()?;
        }
        if self.passed == number { self.text.get(begin..self.at) } else { None }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(old: &str, diff: &str, new: &str) {
        let hunks = unified(diff.as_bytes()).unwrap();
        let to =
            |text: &str, from| applied(text.as_bytes(), &hunks, from).map(|text| text.as_bstr().to_string());
        assert_eq!(to(old, Side::Old).as_deref(), Some(new));
        assert_eq!(to(new, Side::New).as_deref(), Some(old));
    }

    #[test]
    fn a_diff_is_applied_forward_and_in_reverse() {
        check("a\nb\nc\n", "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nB\nc\n");
        check("a\nb\nc\nd\ne\n", "@@ -1 +1,2 @@\n-a\n+A\n+x\n@@ -5 +6 @@\n-e\n+E\n", "A\nx\nb\nc\nd\nE\n");
        check("", "@@ -0,0 +1,2 @@\n+a\n+b\n", "a\nb\n");
        check("a\nb\n", "@@ -1,0 +2,1 @@\n+x\n", "a\nx\nb\n");
        check("a\nb\n", "@@ -1,2 +0,0 @@\n-a\n-b\n", "");
    }

    #[test]
    fn a_line_without_an_end_is_written_so() {
        check("a\nb", "@@ -2 +2 @@\n-b\n\\ No newline at end of file\n+B\n", "a\nB\n");
        check("a\nb\n", "@@ -2 +2 @@\n-b\n+B\n\\ No newline at end of file\n", "a\nB");
    }

    #[test]
    fn a_carriage_return_belongs_to_its_line() {
        check("a\r\nb\r\n", "@@ -1,2 +1,2 @@\n-a\r\n+A\r\n b\r\n", "A\r\nb\r\n");
    }

    #[test]
    fn what_does_not_match_is_not_applied() {
        let to = |old: &str, diff: &str| {
            unified(diff.as_bytes()).and_then(|hunks| applied(old.as_bytes(), &hunks, Side::Old))
        };
        for diff in [
            "@@ -1,3 +1,3 @@\n a\n-x\n+B\n c\n",
            "@@ -2,3 +2,3 @@\n a\n-b\n+B\n c\n",
            "@@ -3 +3 @@\n-c\n\\ No newline at end of file\n+C\n",
            "@@ -9 +9 @@\n-c\n+C\n",
            "@@ -3 +3 @@\n-c\n+C\n@@ -1 +1 @@\n-a\n+A\n",
            "@@ -99999999999999999999 +1 @@\n-c\n+C\n",
            "@@ -1 @@\n-a\n",
            "@@ -1 +1 @@\n?a\n",
            "a\n",
            "",
        ] {
            assert_eq!(to("a\nb\nc\n", diff), None, "{diff}");
        }
    }
}
