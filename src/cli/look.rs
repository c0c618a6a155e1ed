//! One look after another: what is read, and what it means.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::failure::Exit;
use super::settings::Settings;
use crate::act::system::System;
use crate::act::tombstones;
use crate::core::assess::{Policy, assess_after};
use crate::core::history::diff::diff;
use crate::core::judge::agent::Signatures;
use crate::core::judge::tombstone::learn::{Lesson, Mourner};
use crate::core::model::diagnosis::Watched;
use crate::core::model::process::ProcessId;
use crate::core::model::report::Report;
use crate::core::model::snapshot::{Snapshot, SourceHealth, SourceState};
use crate::core::model::text::Untrusted;
use crate::observe::collect::Collector;
use crate::observe::watch::Watch;
use crate::observe::watch::hint::Hint;
use crate::run;
use crate::run::tape::{Kept, Tape};
use crate::source::os::host;

/// Looks and judges, again and again.
pub(crate) struct Looker {
    collector: Collector,
    policy: Policy,
    /// The only folder whose programs count as agents; for the demo.
    stage: Option<PathBuf>,
    /// Follows what the last look found, for those who look again and again.
    watch: Option<Watch>,
    /// Whom to wait for since the last look.
    holders: Vec<ProcessId>,
    /// Where looks are recorded, if they are.
    tape: Option<Tape>,
    /// The last report that was recorded.
    taped: Option<Arc<Report>>,
    /// Learns who is proven dead.
    mourner: Mourner,
    /// What it has taught and is not on the disk yet.
    unkept: Lesson,
    /// Where that is kept, if the home is ours.
    tombstones: Option<PathBuf>,
    /// The last report, for the next one to share what is the same.
    last: Option<Arc<Report>>,
}

impl run::Looker for Looker {
    fn look(&mut self) -> Arc<Report> {
        self.report()
    }

    fn has_news(&mut self) -> bool {
        self.collector.has_news()
    }

    fn has_convert(&mut self) -> bool {
        self.collector.has_convert()
    }

    fn follow(&mut self) -> Watched {
        let Some(watch) = &mut self.watch else { return Watched::default() };
        watch.expect(self.collector.names());
        watch.expect_programs(self.collector.programs());
        watch.follow(&self.collector.folders(), &std::mem::take(&mut self.holders));
        watch.watched()
    }
}

impl Looker {
    /// Prepares to look at the world of these settings; reads nothing yet.
    pub(crate) fn new(settings: &Settings, signatures: Signatures) -> Self {
        let collector =
            Collector::new(settings.places.clone(), signatures.clone()).with_own(&settings.formats);
        Self {
            collector,
            policy: Policy { signatures },
            stage: None,
            mourner: Mourner::default(),
            unkept: Lesson::default(),
            tombstones: settings.places.tombstones().filter(|_| host::owns(&settings.places.home)),
            watch: None,
            holders: Vec::new(),
            tape: None,
            taped: None,
            last: None,
        }
    }

    /// Returns how agents look.
    pub(crate) fn signatures(&self) -> Signatures {
        self.policy.signatures.clone()
    }

    /// Lets only programs below this folder count as agents.
    pub(crate) fn only_below(mut self, stage: PathBuf) -> Self {
        self.collector.on_stage(stage.clone());
        self.stage = Some(stage);
        self
    }

    /// Returns the folder below which alone programs count.
    pub(crate) fn stage(&self) -> Option<PathBuf> {
        self.stage.clone()
    }

    /// Returns where looks are recorded, if they are.
    pub(crate) fn tape(&self) -> Option<Tape> {
        self.tape.clone()
    }

    /// Records every look on this tape while it is on.
    pub(crate) fn taped(mut self, tape: Tape) -> Self {
        self.tape = Some(tape);
        self
    }

    /// Watches from now on what each look finds; the receiver says when to look again.
    pub(crate) fn watched(mut self) -> (Self, Receiver<Hint>) {
        let (watch, hints) = Watch::new();
        if let Some(tape) = &self.tape {
            tape.asks(Box::new(watch.nudge()));
        }
        self.watch = Some(watch);
        self.collector.follow_servers();
        (self, hints)
    }

    /// Takes one look and watches for a moment what it finds; returns what is watched, and why the
    /// rest is not.
    pub(crate) fn tried(self) -> (Watched, Vec<String>) {
        let (mut looker, _hints) = self.watched();
        run::Looker::look(&mut looker);
        let watched = run::Looker::follow(&mut looker);
        (watched, looker.watch.map(|watch| watch.losses()).unwrap_or_default())
    }

    /// Takes one look.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let mut snapshot = match &self.watch {
            Some(_) => self.collector.look_again(),
            None => self.collector.look(),
        };
        if let Some(stage) = &self.stage {
            snapshot.forget_outside(stage);
        }
        snapshot
    }

    /// Takes one look and judges it.
    pub(crate) fn report(&mut self) -> Arc<Report> {
        let mut snapshot = self.snapshot();
        if let Some(watch) = &self.watch {
            snapshot.sources.extend(health(watch));
        }
        let report = Arc::new(assess_after(self.last.as_deref(), &snapshot, &self.policy));
        self.last = Some(Arc::clone(&report));
        self.record(&snapshot, &report);
        // On a stage nobody of the machine is there, so nobody's absence means anything.
        if self.stage.is_none() {
            self.mourn(&snapshot, &report);
        }
        if self.watch.is_some() {
            self.holders = holders(&report, &snapshot);
        } else {
            let (windows, records) = (report.windows.len(), report.records.len());
            tracing::debug!(windows, records, findings = report.findings.len(), "looked");
        }
        report
    }

    /// Remembers who was proven dead; where the disk fails, for as long as this program runs.
    fn mourn(&mut self, snapshot: &Snapshot, report: &Report) {
        let lesson = self.mourner.learn(snapshot, report);
        for ProcessId { pid, start_ticks } in &lesson.refuted {
            tracing::warn!(pid, start_ticks, "dropped a tombstone: a process with this PID and start lives");
        }
        self.collector.learn(&lesson);
        self.unkept.add(lesson);
        let Some(path) = self.tombstones.as_ref().filter(|_| !self.unkept.is_empty()) else { return };
        match tombstones::keep(&System, path, &self.unkept, &snapshot.host) {
            Ok(()) => {
                self.unkept = Lesson::default();
                self.collector.has_kept();
            }
            Err(error) => tracing::debug!(%error, "tombstones could not be kept"),
        }
    }

    /// Records a look, if somebody wants that at present.
    fn record(&mut self, snapshot: &Snapshot, report: &Arc<Report>) {
        let Some(tape) = self.tape.as_ref().filter(|tape| tape.path().is_some()) else {
            self.taped = None;
            return;
        };
        let is_event = self.taped.as_ref().is_none_or(|before| !diff(Some(before), report).is_empty());
        match tape.keep(snapshot, is_event) {
            Kept::Off | Kept::Written => {}
            Kept::Full => tracing::warn!("the recording is full"),
            Kept::Failed(error) => tracing::warn!(%error, "the recording has failed"),
        }
        self.taped = Some(Arc::clone(report));
    }
}

/// Returns the watch's badge when it misses something.
fn health(watch: &Watch) -> Option<SourceHealth> {
    let losses = watch.losses();
    let detail = Untrusted::new(losses.join("; "));
    (!losses.is_empty()).then(|| SourceHealth { id: "watch".to_owned(), state: SourceState::Partial, detail })
}

/// Returns the processes whose death would change the report: windows, and holders of records.
fn holders(report: &Report, snapshot: &Snapshot) -> Vec<ProcessId> {
    let windows = report.windows.iter().map(|window| window.pid);
    let named = report.records().filter_map(|record| record.pid());
    let pids: BTreeSet<u32> = windows.chain(named).collect();
    pids.into_iter().filter_map(|pid| Some(snapshot.processes.get(pid)?.id)).collect()
}

/// Returns how a command that has looked ends: a failure where no source gave anything.
pub(crate) fn exit(report: &Report) -> Exit {
    let has_failed = report.sources.iter().any(|source| source.state == SourceState::Failed);
    let is_useless = report.sources.iter().all(|source| match source.state {
        SourceState::Failed | SourceState::Absent => true,
        SourceState::Ok | SourceState::Partial => false,
    });
    if has_failed && is_useless { Exit::Failed } else { Exit::Fine }
}
