//! The open panel, ready to be drawn.

use crate::present::page::Page;

#[derive(Clone, Debug)]
pub(crate) struct Panel {
    pub(crate) title: String,
    pub(crate) page: Page,
    /// The keys that scroll it.
    pub(crate) keys: &'static str,
}
