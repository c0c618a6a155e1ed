//! The filter: a part of any cell, folder, branch or file; a leading `!` turns it round.

use crate::app::msg::Press;
use crate::app::rows::row::Row;

/// What a person has typed, and whether they still do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Filter {
    pub(crate) text: String,
    /// Whether keys go into the text.
    pub(crate) focus: Focus,
}

/// Where keys go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Focus {
    #[default]
    Table,
    /// Into the filter's text.
    Text,
}

/// The longest text that can be typed.
const MAX_CHARS: usize = 100;

/// Adds a typed character to a text.
pub(crate) fn type_into(text: &mut String, c: char) {
    if text.chars().count() < MAX_CHARS && !c.is_control() {
        text.push(c);
    }
}

/// Gives a key to a text; returns whether the text took it.
pub(crate) fn edit(text: &mut String, press: Press) -> bool {
    match press {
        Press::Char(c) => type_into(text, c),
        Press::Backspace => {
            text.pop();
        }
        Press::Ctrl('u') => text.clear(),
        Press::Enter
        | Press::Ctrl(_)
        | Press::Esc
        | Press::Tab
        | Press::BackTab
        | Press::Up
        | Press::Down
        | Press::Left
        | Press::Right
        | Press::PageUp
        | Press::PageDown
        | Press::Home
        | Press::End => return false,
    }
    true
}

impl Filter {
    /// Returns whether it keeps all rows.
    pub(crate) fn is_empty(&self) -> bool {
        self.text.trim_start_matches('!').is_empty()
    }

    /// Decides whether a row is kept; asks for what else it is `sought` by where its cells say nothing.
    pub(crate) fn keeps(&self, row: &Row, sought: impl FnOnce() -> String) -> bool {
        let (wanted, part) = match self.text.strip_prefix('!') {
            Some(part) => (false, part),
            None => (true, self.text.as_str()),
        };
        part.is_empty() || wanted == has(row, part, sought)
    }
}

/// Decides whether a row has a part; capitals count where one was typed.
fn has(row: &Row, part: &str, sought: impl FnOnce() -> String) -> bool {
    let heeds_case = part.chars().any(char::is_uppercase);
    let is_in =
        |text: &str| if heeds_case { text.contains(part) } else { text.to_lowercase().contains(part) };
    is_in(row.key.as_str())
        || is_in(&row.also)
        || row.cells.iter().any(|cell| is_in(cell.span.text()))
        || sought().lines().any(is_in)
}
