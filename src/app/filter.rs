//! The filter: a part of any cell, in any case; a leading `!` turns it round.

use super::rows::row::Row;

/// What a person has typed, and whether they still do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// The text as typed.
    pub text: String,
    /// Whether keys go into the text.
    pub focus: Focus,
}

/// Where keys go.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Focus {
    /// To the table.
    #[default]
    Table,
    /// Into the filter's text.
    Text,
}

/// The longest filter that can be typed.
const MAX_CHARS: usize = 100;

impl Filter {
    /// Adds a typed character.
    pub fn push(&mut self, c: char) {
        if self.text.chars().count() < MAX_CHARS && !c.is_control() {
            self.text.push(c);
        }
    }

    /// Returns whether it keeps all rows.
    pub fn is_empty(&self) -> bool {
        self.text.trim_start_matches('!').is_empty()
    }

    /// Decides whether a row is kept.
    pub fn keeps(&self, row: &Row) -> bool {
        let (wanted, part) = match self.text.strip_prefix('!') {
            Some(part) => (false, part),
            None => (true, self.text.as_str()),
        };
        let part = part.to_lowercase();
        part.is_empty() || wanted == has(row, &part)
    }
}

fn has(row: &Row, part: &str) -> bool {
    row.key.as_str().contains(part)
        || row.also.to_lowercase().contains(part)
        || row.cells.iter().any(|cell| cell.span.text().to_lowercase().contains(part))
}
