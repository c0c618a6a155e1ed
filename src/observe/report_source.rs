//! Where finished reports come from.

use std::sync::Arc;

use crate::core::model::{Report, WatchCounts};

/// A source of finished reports: this machine's [`Observer`](crate::observe::Observer), or a recording.
///
/// Another machine belongs here and not among the sources of facts: only a machine itself can
/// judge its processes. What merges several of these is one itself, so that nothing above it changes.
pub trait ReportSource {
    /// Returns the report of this moment. It may take its time: nothing waits for it.
    fn next_report(&mut self) -> Arc<Report>;

    /// Returns whether a process has come or changed since, at next to no cost; then it is worth a
    /// look.
    fn has_news(&mut self) -> bool {
        false
    }

    /// Returns whether a process that was there before has become a possible agent since, without a
    /// fork: that costs one `stat` of each process.
    fn has_new_agent(&mut self) -> bool {
        false
    }

    /// Watches from now on what the last report names, and returns what is watched. The report was
    /// handed out before.
    fn follow(&mut self) -> WatchCounts {
        WatchCounts::default()
    }
}

impl<F: FnMut() -> Report> ReportSource for F {
    fn next_report(&mut self) -> Arc<Report> {
        Arc::new(self())
    }
}
