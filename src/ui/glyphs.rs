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

/// Returns a sign for how high the dots of a braille pattern stand.
fn height(pattern: &str) -> &'static str {
    let dots = pattern.chars().next().map_or(0, |c| u32::from(c) - 0x2800);
    match dots {
        dots if dots & 0x09 > 0 => "#",
        dots if dots & 0x12 > 0 => "+",
        dots if dots & 0x24 > 0 => "=",
        dots if dots & 0xc0 > 0 => "_",
        _ => " ",
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
        "█" => "#",
        "░" => ".",
        "┆" => "|",
        "▲" | "↑" => "^",
        "▼" | "↓" => "v",
        dots if dots.starts_with(|c| ('\u{2800}'..='\u{28ff}').contains(&c)) => height(dots),
        wide if wide.width() == 2 => "??",
        _ => "?",
    })
}
