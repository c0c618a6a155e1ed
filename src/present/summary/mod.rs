//! What a report comes to in one line: for status bars, titles and wherever there is no more room.

pub(crate) mod bars;
pub(crate) mod statusline;

use crate::core::model::snapshot::unread;
use crate::core::model::{
    Code, Finding, Remedy, Report, Severity, SourceHealth, SourceState, Topic, WindowDoing, WindowState,
    WindowView,
};
use crate::present::text::count;

/// A number of things of which there may be more than could be seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Number {
    /// How many were seen.
    pub(crate) seen: usize,
    /// Whether something could not be read that may hold more.
    pub(crate) is_open: bool,
}

impl Number {
    /// Counts what was seen, beside what could not be.
    pub(crate) fn new(seen: usize, sources: &[SourceHealth], topic: Topic) -> Self {
        Self { seen, is_open: unread(sources, topic).next().is_some() }
    }

    /// Returns the number with its noun: `1 window`, `3+ windows`, `claims unknown`.
    pub(crate) fn with_noun(self, noun: &str) -> String {
        match (self.seen, self.is_open) {
            (0, true) => format!("{noun}s unknown"),
            (seen, true) => format!("{seen}+ {noun}s"),
            (seen, false) => count(seen, noun),
        }
    }
}

/// How much of what matters there is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Summary {
    /// Agents whose process lives.
    pub(crate) windows: Number,
    /// Windows in the middle of a turn.
    pub(crate) working: usize,
    /// Windows that wait for a person.
    pub(crate) waiting: usize,
    pub(crate) claims: Number,
    /// Findings that are collisions.
    pub(crate) collisions: usize,
    /// Findings that are warnings, but for deaths whose claims are counted.
    pub(crate) warnings: usize,
    /// Findings that are only worth knowing.
    pub(crate) notes: usize,
    /// Claims whose holder is proven dead.
    pub(crate) dead_claims: usize,
    /// Actions of claimtop's own that were cut off or got stuck.
    pub(crate) unfinished: usize,
    /// Sources that could not be read.
    pub(crate) failed_sources: usize,
    /// Sources that were read in part, or have not answered yet.
    pub(crate) partial_sources: usize,
}

impl Summary {
    pub(crate) fn from_report(report: &Report) -> Self {
        let problems = report.problems();
        let findings = |severity| problems.iter().filter(|finding| finding.severity == severity).count();
        let windows = report.windows.iter().filter(|window| window.state != WindowState::Zombie);
        let dead_claims = report.claims.iter().filter(|claim| claim.is_dead()).count();
        let reported = if dead_claims > 0 { deaths(report) } else { 0 };
        let sources = &report.sources;
        let is_failed = |source: &&SourceHealth| source.state == SourceState::Failed;
        let (failed, partial): (Vec<_>, Vec<_>) = unread(sources, Topic::All).partition(is_failed);
        Self {
            windows: Number::new(windows.count(), sources, Topic::Windows),
            working: report.windows.iter().filter(|window| works(window)).count(),
            waiting: report.windows.iter().filter(|window| window.waiting.is_some()).count(),
            claims: Number::new(report.claims.len(), sources, Topic::Records),
            collisions: findings(Severity::Collision),
            warnings: findings(Severity::Warning) - reported,
            notes: findings(Severity::Info),
            dead_claims,
            unfinished: report.findings().filter(|one| one.code == Code::UnfinishedAction).count(),
            failed_sources: failed.len(),
            partial_sources: partial.len(),
        }
    }

    /// Says how many windows ask a person something: `1 asks you`, `2 ask you`.
    pub(crate) fn waits(self) -> String {
        if self.waiting == 1 { "1 asks you".to_owned() } else { format!("{} ask you", self.waiting) }
    }

    /// Returns the counts in words, those of trouble only where there is some.
    pub(crate) fn parts(self) -> Vec<String> {
        let trouble = [
            (self.collisions, "collision"),
            (self.dead_claims, "dead claim"),
            (self.unfinished, "unfinished action"),
            (self.failed_sources, "unread source"),
            (self.partial_sources, "partly read source"),
        ];
        let trouble =
            trouble.into_iter().filter(|(number, _)| *number > 0).map(|(number, noun)| count(number, noun));
        // With no claim in sight, a person would not know that there may be some.
        let claims = (self.claims.seen == 0 && self.claims.is_open).then(|| self.claims.with_noun("claim"));
        let waiting = (self.waiting > 0).then(|| self.waits());
        std::iter::once(self.windows.with_noun("window"))
            .chain(claims)
            .chain(waiting)
            .chain(trouble)
            .collect()
    }
}

fn works(window: &WindowView) -> bool {
    matches!(window.doing, Some(WindowDoing::Working | WindowDoing::Quiet))
}

/// Counts the deaths that have left something to release: that is counted as dead claims.
pub(crate) fn deaths(report: &Report) -> usize {
    let is_death = |finding: &Finding| {
        let is_holders = matches!(finding.code, Code::DeadHolder | Code::RecycledPid | Code::RebootedHolder);
        is_holders && finding.remedy == Remedy::Release
    };
    report.findings().filter(|finding| is_death(finding)).count()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::testing::busy;

    #[test]
    fn what_happened_once_is_counted_once() {
        let mut report = busy();
        let is_known = |code| report.findings.iter().any(|finding| finding.code == code);
        assert!(is_known(Code::DeadHolder) && is_known(Code::NoRecord));
        let counts = |report: &Report| {
            let Summary { dead_claims, warnings, notes, .. } = Summary::from_report(report);
            (dead_claims, warnings, notes)
        };
        // A legacy record and a stopped holder; the death is its claim's.
        assert_eq!(counts(&report), (1, 2, 0));
        report.claims.retain(|claim| !claim.is_dead());
        assert_eq!(counts(&report), (0, 3, 0));
    }

    #[track_caller]
    fn check(counts: [usize; 4], expected: &str) {
        let [windows, collisions, dead_claims, failed_sources] = counts;
        let windows = Number { seen: windows, is_open: false };
        let claims = Number { seen: 1, is_open: failed_sources > 0 };
        let summary =
            Summary { windows, claims, collisions, dead_claims, failed_sources, ..Summary::default() };
        assert_eq!(summary.parts().join(" · "), expected);
    }

    #[test]
    fn trouble_is_told_where_there_is_some() {
        check([0, 0, 0, 0], "0 windows");
        check([1, 0, 0, 0], "1 window");
        check([6, 1, 2, 0], "6 windows · 1 collision · 2 dead claims");
        check([2, 2, 1, 1], "2 windows · 2 collisions · 1 dead claim · 1 unread source");
    }

    #[track_caller]
    fn check_unread(id: &str, state: SourceState, expected: &str) {
        let source = SourceHealth { id: id.to_owned(), state, detail: "".into() };
        let open = |seen, topic| Number::new(seen, std::slice::from_ref(&source), topic);
        let told = [(0, Topic::Windows), (2, Topic::Windows), (0, Topic::Records), (1, Topic::Records)];
        let told = told.map(|(seen, topic)| {
            open(seen, topic).with_noun(if topic == Topic::Windows { "window" } else { "claim" })
        });
        assert_eq!(told.join(", "), expected, "{id} {state:?}");
    }

    #[test]
    fn what_cannot_be_known_is_never_counted_as_nothing() {
        let all = "0 windows, 2 windows, 0 claims, 1 claim";
        check_unread("leo:postgres://far/leo", SourceState::Ok, all);
        check_unread("maia", SourceState::Absent, all);
        let claims = "0 windows, 2 windows, claims unknown, 1+ claims";
        check_unread("leo:postgres://far/leo", SourceState::Failed, claims);
        check_unread("leo:postgres://far/leo", SourceState::Partial, claims);
        // It is being connected to: nothing was read of it yet.
        check_unread("leo:postgres://far/leo", SourceState::Absent, claims);
        check_unread("obra:/home/dev/o.db", SourceState::Failed, claims);
        check_unread("processes", SourceState::Failed, "windows unknown, 2+ windows, 0 claims, 1 claim");
    }
}
