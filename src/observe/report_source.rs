//! Sources of finished reports.

use std::sync::Arc;

use crate::core::model::{Report, WatchCounts};

/// A source of finished reports: this machine's [`Observer`](crate::observe::Observer), or a recording.
///
/// Another machine belongs here and not among the sources of facts: only a machine itself can judge its processes. A
/// merger of several sources is one itself, so that nothing above it changes.
pub trait ReportSource {
    /// Returns the report of this moment. It may take its time: nothing waits for it.
    fn next_report(&mut self) -> Arc<Report>;

    /// Returns whether a process has started or changed since, at almost no cost; then a look is worthwhile.
    fn has_news(&mut self) -> bool {
        false
    }

    /// Returns whether a process that existed before has become a possible agent since, without a fork: that costs one
    /// `stat` of each process.
    fn has_new_agent(&mut self) -> bool {
        false
    }

    /// From now on, watches what the last report names, and returns the counts. The report was returned before.
    fn follow(&mut self) -> WatchCounts {
        WatchCounts::default()
    }
}

impl<F: FnMut() -> Report> ReportSource for F {
    fn next_report(&mut self) -> Arc<Report> {
        Arc::new(self())
    }
}
