//! The open panel, ready to be drawn.

use crate::present::page::Page;

/// An open panel.
#[derive(Clone, Debug)]
pub(crate) struct Panel {
    /// What it is about.
    pub(crate) title: String,
    /// All of its lines.
    pub(crate) page: Page,
    /// The keys that scroll it.
    pub(crate) keys: &'static str,
}
