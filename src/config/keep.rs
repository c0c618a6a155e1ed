//! What a guard keeps of what windows write.

use serde::Deserialize;

/// Which files are kept, how much, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Keep {
    /// Whether what windows write is kept at all.
    pub(crate) files: bool,
    /// How much of one working tree, in MiB.
    pub(crate) mib: u32,
    /// For how many days, 24 hours each.
    pub(crate) days: u16,
    /// Whether files of more than 8 MiB are kept too.
    pub(crate) large: bool,
    /// Whether files that git ignores are kept too.
    pub(crate) ignored: bool,
    /// Whether files whose names are those of secrets are kept too.
    pub(crate) secrets: bool,
}

impl Default for Keep {
    fn default() -> Self {
        Self { files: true, mib: 256, days: 14, large: false, ignored: false, secrets: false }
    }
}
