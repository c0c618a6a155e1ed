//! The characters of the screen: symbols, or ASCII of the same width.

use std::borrow::Cow;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::config::Glyphs;
use crate::present::text::tone::Mark;

pub(super) fn mark(glyphs: Glyphs, mark: Mark) -> char {
    let (symbol, ascii) = match mark {
        Mark::Alive => ('●', '*'),
        Mark::Waiting => ('◐', 'w'),
        Mark::Turn => ('○', '.'),
        Mark::Quiet => ('◌', 'o'),
        Mark::Dead => ('✗', 'x'),
        Mark::Unknown => ('?', '?'),
        Mark::Collision => ('◆', '#'),
        Mark::Warning => ('▲', '!'),
        Mark::Info => ('›', '>'),
        Mark::Ghost => ('◇', '~'),
        Mark::Expired => ('⊘', 'e'),
        Mark::Chosen => ('✓', '+'),
        Mark::News => ('•', '='),
    };
    match glyphs {
        Glyphs::Unicode => symbol,
        Glyphs::Ascii => ascii,
    }
}

/// Returns text as it is drawn. With ASCII each character outside it becomes one or two of
/// ASCII, so that the width stays the same.
pub(crate) fn text(glyphs: Glyphs, text: &str) -> Cow<'_, str> {
    match glyphs {
        Glyphs::Ascii if !text.is_ascii() => Cow::Owned(text.graphemes(true).map(ascii).collect()),
        Glyphs::Unicode | Glyphs::Ascii => Cow::Borrowed(text),
    }
}

fn ascii(cluster: &str) -> Cow<'_, str> {
    if cluster.is_ascii() {
        return Cow::Borrowed(cluster);
    }
    Cow::Borrowed(match cluster {
        "─" | "·" | "—" | "–" => "-",
        "│" | "▌" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" => "+",
        "…" => "~",
        "‹" => "<",
        "›" => ">",
        "↔" => "&",
        "▲" | "↑" => "^",
        "▼" | "↓" => "v",
        wide if wide.width() == 2 => "??",
        _ => "?",
    })
}
