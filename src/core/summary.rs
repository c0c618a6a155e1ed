//! What a report comes to in one line: for status bars, titles and whoever has no more room.

use super::finding::Severity;
use super::report::{ClaimStatus, Report};
use super::snapshot::SourceState;

/// How much of what matters there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Running agents.
    pub windows: usize,
    /// Findings that are collisions.
    pub collisions: usize,
    /// Claims whose holder is proven dead.
    pub dead_claims: usize,
    /// Sources that could not be read.
    pub failed_sources: usize,
}

impl Summary {
    /// Counts.
    pub fn of(report: &Report) -> Self {
        let collisions = report.findings.iter().filter(|finding| finding.severity == Severity::Collision);
        let dead_claims = report.claims.iter().filter(|claim| claim.status == ClaimStatus::Dead);
        let failed = report.sources.iter().filter(|source| source.state == SourceState::Failed);
        Self {
            windows: report.windows.len(),
            collisions: collisions.count(),
            dead_claims: dead_claims.count(),
            failed_sources: failed.count(),
        }
    }

    /// Returns whether a person should look.
    pub fn is_trouble(self) -> bool {
        self.collisions + self.dead_claims + self.failed_sources > 0
    }

    /// Returns the counts in words, those of trouble only where there is some.
    pub fn words(self) -> Vec<String> {
        let trouble = [
            (self.collisions, "collision"),
            (self.dead_claims, "dead claim"),
            (self.failed_sources, "unread source"),
        ];
        let trouble = trouble.into_iter().filter(|(number, _)| *number > 0);
        std::iter::once((self.windows, "window")).chain(trouble).map(counted).collect()
    }
}

fn counted((number, noun): (usize, &str)) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[track_caller]
    fn check(counts: [usize; 4], expected: &str) {
        let [windows, collisions, dead_claims, failed_sources] = counts;
        let summary = Summary { windows, collisions, dead_claims, failed_sources };
        assert_eq!(summary.words().join(" · "), expected);
    }

    #[test]
    fn trouble_is_told_where_there_is_some() {
        check([0, 0, 0, 0], "0 windows");
        check([1, 0, 0, 0], "1 window");
        check([6, 1, 2, 0], "6 windows · 1 collision · 2 dead claims");
        check([2, 2, 1, 1], "2 windows · 2 collisions · 1 dead claim · 1 unread source");
    }
}
