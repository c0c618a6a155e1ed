//! The open panel, ready to be drawn.

use crate::present::page::Page;

/// An open panel.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it is about.
    pub title: String,
    /// All of its lines.
    pub page: Page,
    /// The keys that scroll it.
    pub keys: &'static str,
}
