//! Where two texts have changed the same lines of a third.

use std::borrow::Cow;
use std::ops::Range;
use std::time::Duration;

use similar::{DiffOp, TextDiff};

use crate::core::model::Lines;

/// The largest text that is compared, in bytes.
const MOST: usize = 1 << 20;
/// How long the shortest diff is looked for.
const WITHIN: Duration = Duration::from_millis(200);
/// The most places of one file.
const MOST_PLACES: usize = 16;

/// A change: lines of the base, and what became of them.
type Change = (Range<usize>, Range<usize>);

/// Returns the lines of both sides where they differ from the base at the same place; `None` if they are not texts, or
/// too large.
pub(super) fn overlaps(base: &[u8], sides: [&[u8]; 2]) -> Option<Vec<[Lines; 2]>> {
    let is_text = |text: &[u8]| text.len() <= MOST && !text.contains(&0);
    if !is_text(base) || !sides.iter().all(|side| is_text(side)) {
        return None;
    }
    let [left, right] = sides.map(|side| changes(base, side));
    let mut places: Vec<(Range<usize>, [Range<usize>; 2])> = Vec::new();
    for (in_base, of_left) in &left {
        for (also, of_right) in &right {
            let touches = in_base.start <= also.end && also.start <= in_base.end;
            if !touches || is_same(sides, [of_left, of_right]) {
                continue;
            }
            let both = in_base.start.min(also.start)..in_base.end.max(also.end);
            match places.last_mut().filter(|(last, _)| last.end >= both.start) {
                Some((last, [one, other])) => {
                    last.end = last.end.max(both.end);
                    one.end = one.end.max(of_left.end);
                    other.end = other.end.max(of_right.end);
                }
                None => places.push((both, [of_left.clone(), of_right.clone()])),
            }
        }
    }
    places.truncate(MOST_PLACES);
    Some(places.into_iter().map(|(_, sides)| sides.map(|side| lines(&side))).collect())
}

fn changes(base: &[u8], side: &[u8]) -> Vec<Change> {
    let [base, side]: [Cow<'_, str>; 2] = [base, side].map(String::from_utf8_lossy);
    let diff = TextDiff::configure().timeout(WITHIN).diff_lines(base.as_ref(), side.as_ref());
    let changed = diff.ops().iter().filter(|op| !matches!(op, DiffOp::Equal { .. }));
    changed.map(|op| (op.old_range(), op.new_range())).collect()
}

/// Returns whether both have the same lines there.
fn is_same(sides: [&[u8]; 2], [left, right]: [&Range<usize>; 2]) -> bool {
    let [one, other] = sides;
    let of = |text: &'_ [u8], range: &Range<usize>| -> Vec<Vec<u8>> {
        let lines = text.split_inclusive(|byte| *byte == b'\n');
        lines.skip(range.start).take(range.len()).map(<[u8]>::to_vec).collect()
    };
    of(one, left) == of(other, right)
}

fn lines(range: &Range<usize>) -> Lines {
    let first = if range.is_empty() { range.start } else { range.start + 1 };
    Lines { first, count: range.len() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(texts: [&str; 3], expected: &[[(usize, usize); 2]]) {
        let [base, left, right] = texts.map(str::as_bytes);
        let found = overlaps(base, [left, right]).unwrap();
        let found: Vec<_> = found.iter().map(|both| both.map(|lines| (lines.first, lines.count))).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn the_same_lines_are_found_on_both_sides() {
        check(["a\nb\nc\nd\n", "x\na\nB\nc\nd\n", "a\nq\nr\nc\nd\n"], &[[(3, 1), (2, 2)]]);
        check(["a\nb\n", "A\nb\n", "A\nb\n"], &[]);
        check(["a\nb\nc\nd\ne\n", "A\nb\nc\nd\ne\n", "a\nb\nc\nd\nE\n"], &[]);
        check(["a\nb\nc\n", "a\nc\n", "a\nB\nc\n"], &[[(1, 0), (2, 1)]]);
        check(["", "x\ny\n", "z\n"], &[[(1, 2), (1, 1)]]);
    }

    #[test]
    fn what_is_not_text_has_no_lines() {
        assert_eq!(overlaps(b"", [b"\0", b"x"]), None);
    }
}
