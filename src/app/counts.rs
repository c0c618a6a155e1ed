//! The counts of the header.

use crate::core::model::claim::ClaimStatus;
use crate::core::model::code::Severity;
use crate::core::model::report::Report;
use crate::core::model::snapshot::{SourceHealth, SourceState, Topic};
use crate::core::model::window::WindowState;
use crate::present::summary::Number;

/// How many of what there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Windows whose process lives.
    pub windows: Number,
    /// All claims.
    pub claims: Number,
    /// Claims whose holder is gone.
    pub dead: usize,
    /// Findings of each severity, worst first.
    pub collisions: usize,
    /// Findings that warn.
    pub warnings: usize,
    /// Findings that are only worth knowing.
    pub notes: usize,
}

/// Counts a report.
pub fn counts(report: &Report) -> Counts {
    let of = |severity| report.findings.iter().filter(|finding| finding.severity == severity).count();
    Counts {
        windows: Number::new(
            report.windows.iter().filter(|window| window.state != WindowState::Zombie).count(),
            &report.sources,
            Topic::Windows,
        ),
        claims: Number::new(report.claims.len(), &report.sources, Topic::Records),
        dead: report.claims.iter().filter(|claim| claim.status == ClaimStatus::Dead).count(),
        collisions: of(Severity::Collision),
        warnings: of(Severity::Warning),
        notes: of(Severity::Info),
    }
}

/// Returns the sources that were not read completely.
pub fn troubled(report: &Report) -> impl Iterator<Item = &SourceHealth> {
    report.sources.iter().filter(|source| match source.state {
        SourceState::Partial | SourceState::Failed => true,
        SourceState::Ok | SourceState::Absent => false,
    })
}

/// Returns the databases on servers that are read, or about to be.
pub fn databases(report: &Report) -> impl Iterator<Item = &SourceHealth> {
    report.sources.iter().filter(|source| source.is_server()).filter(|source| match source.state {
        SourceState::Ok | SourceState::Absent => true,
        // Those in trouble are told as that.
        SourceState::Partial | SourceState::Failed => false,
    })
}

/// Returns a short name of a source: a server's URL is too long for a badge.
pub fn source_name(source: &SourceHealth) -> &str {
    if source.is_server() { "database" } else { &source.id }
}

/// Returns the word for how a source fared.
pub fn source_state(state: SourceState) -> &'static str {
    match state {
        SourceState::Ok => "read",
        SourceState::Partial => "partial",
        SourceState::Failed => "failed",
        SourceState::Absent => "absent",
    }
}
