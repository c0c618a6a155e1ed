//! The open panel, ready to be drawn.

use crate::app::keys::command::Command;
use crate::config::preference::Preference;
use crate::core::model::Key;
use crate::present::text::page::Page;

#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) page: Page,
    /// What can be chosen in it, in the order of reading.
    pub(crate) choices: Vec<Choice>,
    /// The keys that scroll it.
    pub(crate) keys: &'static str,
}

/// What can be chosen in a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// Its line of the page.
    pub(crate) line: usize,
    /// Its first column and how many it takes.
    pub(crate) columns: (usize, usize),
    pub(crate) pick: Pick,
}

/// What a choice stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Pick {
    /// A command, or why it would do nothing.
    Command(Command, Option<String>),
    /// A column of the table.
    Column(usize),
    /// A setting.
    Preference(Preference),
    Thing(Key),
}

impl Choice {
    /// Makes a whole line a choice.
    pub(crate) fn line(line: usize, pick: Pick) -> Self {
        Self { line, columns: (0, usize::MAX), pick }
    }
}
