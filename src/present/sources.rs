//! Sources in words: their names and their health.

use crate::core::model::{Report, SourceHealth, SourceState};

/// Returns the sources that were not read completely.
pub(crate) fn troubled(report: &Report) -> impl Iterator<Item = &SourceHealth> {
    report.sources.iter().filter(|source| match source.state {
        SourceState::Partial | SourceState::Failed => true,
        SourceState::Ok | SourceState::Absent => false,
    })
}

/// Returns the databases on servers that are read, or about to be.
pub(crate) fn databases(report: &Report) -> impl Iterator<Item = &SourceHealth> {
    report.sources.iter().filter(|source| source.is_server()).filter(|source| match source.state {
        SourceState::Ok | SourceState::Absent => true,
        // Those in trouble are reported as that.
        SourceState::Partial | SourceState::Failed => false,
    })
}

/// Returns a short name of a source: a server's URL is too long for a badge.
pub(crate) fn source_name(source: &SourceHealth) -> &str {
    if source.is_server() { "database" } else { &source.id }
}

/// Returns the word for how a source fared.
pub(crate) fn source_state(state: SourceState) -> &'static str {
    match state {
        SourceState::Ok => "read",
        SourceState::Partial => "partial",
        SourceState::Failed => "failed",
        SourceState::Absent => "absent",
    }
}
