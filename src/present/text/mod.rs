//! Text for the screen: made safe, measured in columns, cut and wrapped.

pub(crate) mod age;
pub(crate) mod page;
pub(crate) mod tone;
pub(crate) mod zone;

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::core::model::Untrusted;
use crate::core::model::text::shown;

/// The most characters of one outside text that the screen ever looks at.
const MAX_CHARS: usize = 2_000;

/// Returns text that may be drawn: nothing in it steers a terminal, all of it is as wide as it
/// seems, and it is not huge.
pub(crate) fn safe(text: &str) -> String {
    if text.len() <= MAX_CHARS && text.chars().all(is_simple) {
        return text.to_owned();
    }
    let safe = match text.char_indices().nth(MAX_CHARS) {
        Some((end, _)) => format!("{}…", shown(text.get(..end).unwrap_or_default())),
        None => shown(text),
    };
    if !safe.contains(is_disputed) {
        return safe;
    }
    let mut out = String::new();
    for c in safe.chars() {
        if is_disputed(c) {
            out.push_str(&format!("‹U+{:04X}›", c as u32));
        } else {
            out.push(c);
        }
    }
    out
}

/// Returns whether terminals disagree about how wide `c` is, and so leave a piece of it behind: the
/// halves of a flag, and Thai and Lao am, which is drawn onto the character before it.
fn is_disputed(c: char) -> bool {
    matches!(c, '\u{1f1e6}'..='\u{1f1ff}' | '\u{e33}' | '\u{eb3}')
}

/// Returns outside text that may be drawn, or nothing when there is none.
pub(crate) fn outside(text: Option<&Untrusted>) -> String {
    text.map(|text| safe(text.raw())).unwrap_or_default()
}

/// Returns whether `c` takes one column wherever it stands among its like, as do printable ASCII
/// and the signs of the screen.
pub(crate) fn is_simple(c: char) -> bool {
    matches!(c, ' '..='~' | '·' | '‹' | '›' | '…' | '•' | '●' | '▲' | '✗' | '◆' | '▌' | '─'..='╿')
}

/// Returns how many columns `text` takes.
pub(crate) fn width(text: &str) -> usize {
    // Nearly all text is, and a frame measures some of it several times.
    if text.chars().all(is_simple) {
        return text.chars().count();
    }
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// Returns `text` in at most `columns` columns, with an ellipsis where something is left off: the
/// end, but of a path the beginning, for paths differ at their ends.
pub(crate) fn cut(text: &str, columns: usize) -> Cow<'_, str> {
    if width(text) <= columns {
        return Cow::Borrowed(text);
    }
    let Some(room) = columns.checked_sub(1) else { return Cow::Borrowed("") };
    if text.starts_with('/') && !text.contains(' ') {
        return Cow::Owned(format!("…{}", tail(text, room)));
    }
    Cow::Owned(format!("{}…", head(text, room).0.trim_end()))
}

/// The most columns of a command line in a sentence: a sandbox's own can have kilobytes.
const BRIEF: usize = 200;

/// Returns a command line for a sentence: its beginning, where it is very long.
pub(crate) fn brief(command: &Untrusted) -> String {
    excerpt(command.raw(), BRIEF)
}

/// The most columns of a fact that people are shown; JSON has it whole.
const FACT: usize = 400;

/// Returns a fact, with its first words and how much more there is if it is long, such as a sandbox's command line.
pub(crate) fn fact(text: &str) -> String {
    excerpt(text, FACT)
}

/// Returns text, of one that is longer only its first words and how much more there is.
fn excerpt(text: &str, columns: usize) -> String {
    let safe = safe(text);
    if width(&safe) <= columns {
        return safe;
    }
    let (first, _) = head(&safe, columns.saturating_sub(MORE));
    let words = first.rfind(' ').filter(|at| *at * 2 > first.len()).and_then(|at| first.get(..at));
    let words = words.unwrap_or(first).trim_end();
    format!("{words} … {} more", kilobytes(text.len().saturating_sub(words.len())))
}

/// The columns that are left for how much more there is.
const MORE: usize = 20;

/// Splits `text` into lines of at most `columns` columns, at spaces where there are any.
pub(crate) fn wrap(text: &str, columns: usize) -> Vec<String> {
    let columns = columns.max(8);
    let mut lines = Vec::new();
    let mut rest = text.trim_end();
    while width(rest) > columns {
        let (fitting, _) = head(rest, columns);
        let at = match fitting.rfind(' ').filter(|at| *at * 3 > fitting.len()) {
            _ if rest.get(fitting.len()..).is_some_and(|next| next.starts_with(' ')) => fitting.len(),
            Some(space) => space,
            None => fitting.len(),
        };
        let (line, next) = rest.split_at(at);
        lines.push(line.trim_end().to_owned());
        rest = next.trim_start();
    }
    lines.push(rest.to_owned());
    lines
}

/// Returns the longest beginning of `text` that fits, and the rest.
fn head(text: &str, columns: usize) -> (&str, &str) {
    let mut taken = 0;
    for (at, cluster) in text.grapheme_indices(true) {
        taken += UnicodeWidthStr::width(cluster);
        if taken > columns {
            return text.split_at(at);
        }
    }
    (text, "")
}

/// Returns the longest end of `text` that fits.
fn tail(text: &str, columns: usize) -> &str {
    let mut taken = 0;
    for (at, cluster) in text.grapheme_indices(true).rev() {
        taken += UnicodeWidthStr::width(cluster);
        if taken > columns {
            return text.get(at + cluster.len()..).unwrap_or_default();
        }
    }
    text
}

/// Returns the last part of a path.
pub(crate) fn file_name(path: &str) -> &str {
    path.trim_end_matches('/').rsplit('/').next().unwrap_or(path)
}

/// Returns a count with its noun: `1 window`, `2 windows`.
pub(crate) fn count(number: usize, noun: &str) -> String {
    if number == 1 { format!("1 {noun}") } else { format!("{number} {noun}s") }
}

/// Returns text for a size in bytes, such as `412 MB`.
pub(crate) fn megabytes(bytes: u64) -> String {
    match bytes / 1_000_000 {
        0..1_000 => format!("{} MB", bytes / 1_000_000),
        _ => format!("{}.{} GB", bytes / 1_000_000_000, bytes / 100_000_000 % 10),
    }
}

/// Returns text for a small size in bytes, such as `3.1 kB`.
fn kilobytes(bytes: usize) -> String {
    match bytes {
        0..1_000 => count(bytes, "byte"),
        1_000..1_000_000 => format!("{}.{} kB", bytes / 1_000, bytes / 100 % 10),
        _ => megabytes(u64::try_from(bytes).unwrap_or(u64::MAX)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check_cut(text: &str, columns: usize, expected: &str) {
        assert_eq!(cut(text, columns), expected);
    }

    #[test]
    fn text_is_cut_by_columns_and_not_by_characters() {
        check_cut("window", 6, "window");
        check_cut("window", 5, "wind…");
        check_cut("日本語", 5, "日本…");
        check_cut("/home/dev/shop", 10, "…/dev/shop");
        check_cut("/home/日本", 4, "…本");
        check_cut("/home/x is gone", 8, "/home/x…");
        check_cut("日本語", 4, "日…");
        check_cut("window", 0, "");
    }

    #[test]
    fn lines_break_at_spaces_and_long_words_break_anywhere() {
        assert_eq!(wrap("two live windows", 10), ["two live", "windows"]);
        assert_eq!(wrap("two words exactly", 9), ["two words", "exactly"]);
        assert_eq!(wrap("/a/very/long/path", 8), ["/a/very/", "long/pat", "h"]);
        assert_eq!(wrap("", 8), [""]);
    }

    #[test]
    fn what_terminals_draw_in_different_widths_is_spelt() {
        assert_eq!(safe("a\u{1f1e9}\u{1f1ea}b"), "a‹U+1F1E9›‹U+1F1EA›b");
        assert_eq!(safe("\u{e19}\u{e33} \u{ea5}\u{eb3}"), "\u{e19}‹U+0E33› \u{ea5}‹U+0EB3›");
        assert_eq!(safe("日本 ü"), "日本 ü");
    }

    #[test]
    fn a_very_long_command_is_cut_at_its_end() {
        let command = format!("/usr/bin/bwrap {}", "--ro-bind /usr /usr ".repeat(100));
        let brief = brief(&command.as_str().into());
        assert!(
            brief.starts_with("/usr/bin/bwrap --ro-bind") && brief.ends_with("/usr … 1.8 kB more"),
            "{brief}"
        );
        assert!(width(&brief) <= BRIEF);
    }

    #[test]
    fn a_long_fact_keeps_its_first_words_and_says_how_much_more_there_is() {
        assert_eq!(fact("as written, 2026"), "as written, 2026");
        let long = fact(&format!("ran bwrap {}", "--bind /a /a ".repeat(250)));
        assert!(
            long.starts_with("ran bwrap --bind /a /a --bind") && long.ends_with(" … 2.8 kB more"),
            "{long}"
        );
        let letters = fact(&"x".repeat(900));
        assert!(letters.ends_with("xx … 520 bytes more") && width(&letters) <= FACT, "{letters}");
    }

    #[test]
    fn huge_text_is_cut_before_it_is_looked_at() {
        assert_eq!(safe(&"x".repeat(10_000_000)).chars().count(), MAX_CHARS + 1);
    }

    proptest::proptest! {
        #[test]
        fn text_is_as_wide_as_its_clusters(text in ".*|[ -~·‹›…•●▲✗◆▌─-╿]*") {
            let clusters: usize = text.graphemes(true).map(UnicodeWidthStr::width).sum();
            proptest::prop_assert_eq!(width(&text), clusters);
        }

        #[test]
        fn nothing_is_ever_wider_than_asked(text in ".*", columns in 8usize..40) {
            let text = safe(&text);
            proptest::prop_assert!(width(&cut(&text, columns)) <= columns);
            proptest::prop_assert!(wrap(&text, columns).iter().all(|line| width(line) <= columns));
        }
    }
}
