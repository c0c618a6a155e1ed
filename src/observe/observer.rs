//! The observer: takes one look after another, judges each after the report before it, and remembers which processes
//! are proven dead.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use crate::core::assess::{Policy, assess_after};
use crate::core::judge::tombstone::ended::ended;
use crate::core::judge::tombstone::keeper::{Lesson, TombstoneKeeper};
use crate::core::model::{
    DescribedFormat, Host, ProcessId, Report, Snapshot, SourceHealth, SourceState, Untrusted, WatchCounts,
};
use crate::observe::collect::Collector;
use crate::observe::report_source::ReportSource;
use crate::observe::watch::Watch;
use crate::observe::watch::notice::Hint;
use crate::source::places::Places;
use crate::source::provenance::descents::Descents;

/// Receives every snapshot and its report, to record or to publish them.
pub type Recorder = Box<dyn FnMut(&Snapshot, &Arc<Report>) + Send>;

/// Writes what was learned about the dead to the disk. A failed lesson is passed again with the next look.
pub type TombstoneStore = Box<dyn FnMut(&Lesson, &Host) -> Result<(), Box<dyn Error>> + Send>;

/// What to observe, and how.
#[derive(Default)]
pub struct Options {
    /// Where to look.
    pub places: Places,
    /// The policy by which looks are judged.
    pub policy: Policy,
    /// The formats that a person has described.
    pub formats: Vec<DescribedFormat>,
    /// The only folder below which programs count as agents; all programs do if there is none.
    pub stage: Option<PathBuf>,
    /// Where tombstones are kept; without a store, for as long as the observer lives.
    pub tombstones: Option<TombstoneStore>,
}

/// Observes the world repeatedly. The screen, the commands and the actions each have one.
pub struct Observer {
    collector: Collector,
    policy: Policy,
    stage: Option<PathBuf>,
    recorders: Vec<Recorder>,
    /// Follows the results of the last look, for callers that observe repeatedly.
    watch: Option<Watch>,
    /// The processes whose death would change the last report.
    holders: Vec<ProcessId>,
    ledger: TombstoneKeeper,
    /// Lessons that are not on the disk yet.
    unkept: Lesson,
    tombstones: Option<TombstoneStore>,
    /// The last report, so that the next one shares equal parts.
    last: Option<Arc<Report>>,
}

impl Observer {
    /// Prepares to observe; reads nothing yet.
    pub fn new(options: Options) -> Self {
        let Options { places, policy, formats, stage, tombstones } = options;
        let collector = Collector::new(places, policy.signatures.clone()).with_own(&formats);
        let observer = Self {
            collector,
            policy,
            stage: None,
            recorders: Vec::new(),
            watch: None,
            holders: Vec::new(),
            ledger: TombstoneKeeper::default(),
            unkept: Lesson::default(),
            tombstones,
            last: None,
        };
        observer.only_below(stage)
    }

    /// Makes only programs below this folder count as agents, if one is given.
    pub fn only_below(mut self, stage: Option<PathBuf>) -> Self {
        if let Some(stage) = &stage {
            self.collector.on_stage(stage.clone());
        }
        self.stage = stage;
        self
    }

    /// Treats the stand-ins of this stage as what they play, on a machine with no other processes.
    pub(crate) fn alone_with(mut self, stage: PathBuf) -> Self {
        self.collector.on_stage(stage);
        self
    }

    /// Shares another observer's observations of processes, before and after this.
    pub(crate) fn knowing(mut self, descents: Descents) -> Self {
        self.collector.share(descents);
        self
    }

    /// Returns the observations of processes, for another observer.
    pub(crate) fn descents(&self) -> Descents {
        self.collector.descents()
    }

    /// Returns the only folder below which programs count.
    pub(crate) fn stage(&self) -> Option<PathBuf> {
        self.stage.clone()
    }

    /// Returns the places where it looks.
    pub(crate) fn places(&self) -> &Places {
        self.collector.places()
    }

    /// Returns the policy by which looks are judged.
    pub fn policy(&self) -> &Policy {
        &self.policy
    }

    /// From now on, also passes every snapshot and its report to this recorder.
    pub fn recorded(mut self, recorder: Recorder) -> Self {
        self.recorders.push(recorder);
        self
    }

    /// From now on, watches the results of each look; the receiver gets a hint when to look again.
    pub fn watched(mut self) -> (Self, Receiver<Hint>) {
        let (watch, hints) = Watch::new();
        self.watch = Some(watch);
        self.collector.follow_servers();
        (self, hints)
    }

    /// Returns a function that requests a look from the receiver of [`Observer::watched`], from any thread.
    pub fn nudge(&self) -> Option<impl Fn() + Send + 'static> {
        self.watch.as_ref().map(Watch::nudge)
    }

    /// Returns a function that sets whether a person looks at what windows have left. While one does, its figures are
    /// kept fresh, and old ones are refreshed at once.
    pub(crate) fn attention(&self) -> impl Fn(bool) + Send + 'static {
        let (shown, nudge) = (self.collector.shown(), self.nudge());
        move |is_shown| {
            if shown.set(is_shown)
                && let Some(nudge) = &nudge
            {
                nudge();
            }
        }
    }

    /// Returns why changes are missed, each reason once; none if nothing is watched.
    pub fn losses(&self) -> Vec<String> {
        self.watch.as_ref().map(Watch::losses).unwrap_or_default()
    }

    /// Takes a whole look: records first, processes second.
    pub fn look(&mut self) -> Snapshot {
        let snapshot = self.collector.look();
        self.on_stage(snapshot)
    }

    /// Takes a look that does not read again what cannot have changed since the last one.
    pub(crate) fn look_again(&mut self) -> Snapshot {
        let snapshot = self.collector.look_again();
        self.on_stage(snapshot)
    }

    fn on_stage(&self, mut snapshot: Snapshot) -> Snapshot {
        if let Some(stage) = &self.stage {
            snapshot.forget_outside(stage);
        }
        snapshot
    }

    /// Takes a look, judges it, records it and learns from it which processes are dead.
    pub fn observe(&mut self) -> Arc<Report> {
        // Things that cannot have changed since the last look are read again only if nothing is watched.
        let whole = match self.watch {
            Some(_) => self.collector.look_again(),
            None => self.collector.look(),
        };
        let ended = self.last.as_deref().map_or_else(Vec::new, |last| ended(last, &whole));
        let mut snapshot = self.on_stage(whole);
        snapshot.sources.extend(self.health());
        let report = assess_after(self.last.as_deref(), &snapshot, &self.policy);
        let report = Arc::new(Report { ended, ..report });
        self.last = Some(Arc::clone(&report));
        self.recorders.iter_mut().for_each(|recorder| recorder(&snapshot, &report));
        // On a stage the rest of the machine is left out, so no absence means anything.
        if self.stage.is_none() {
            self.learn(&snapshot, &report);
        }
        if self.watch.is_some() {
            self.holders = holders(&report, &snapshot);
        } else {
            // The scanner thread logs its own looks, with how long each took.
            let (windows, records) = (report.windows.len(), report.records.len());
            tracing::debug!(windows, records, findings = report.findings.len(), "looked");
        }
        report
    }

    /// Returns the watch's badge if it misses something.
    fn health(&self) -> Option<SourceHealth> {
        let losses = self.losses();
        let detail = Untrusted::new(losses.join("; "));
        let badge = SourceHealth { id: "watch".to_owned(), state: SourceState::Partial, detail };
        (!losses.is_empty()).then_some(badge)
    }

    /// Remembers the processes proven dead; if the disk fails, for as long as this program runs.
    fn learn(&mut self, snapshot: &Snapshot, report: &Report) {
        let mut lesson = self.ledger.learn(snapshot, report);
        self.collector.add_descents(&mut lesson, snapshot);
        for ProcessId { pid, start_ticks } in &lesson.refuted {
            tracing::warn!(
                pid,
                start_ticks,
                "dropped a tombstone: a process with this PID and start is running"
            );
        }
        self.collector.learn(&lesson);
        let Some(store) = &mut self.tombstones else { return };
        self.unkept.add(lesson);
        if self.unkept.is_empty() {
            return;
        }
        match store(&self.unkept, &snapshot.host) {
            Ok(()) => {
                self.collector.has_kept(&std::mem::take(&mut self.unkept));
            }
            Err(error) => tracing::debug!(%error, "tombstones could not be kept"),
        }
    }
}

impl ReportSource for Observer {
    fn next_report(&mut self) -> Arc<Report> {
        self.observe()
    }

    fn has_news(&mut self) -> bool {
        self.collector.has_news()
    }

    fn has_new_agent(&mut self) -> bool {
        self.collector.has_new_agent()
    }

    fn follow(&mut self) -> WatchCounts {
        let Some(watch) = &mut self.watch else { return WatchCounts::default() };
        watch.expect(self.collector.names());
        watch.expect_programs(self.collector.programs());
        watch.follow(&self.collector.folders(), &std::mem::take(&mut self.holders));
        watch.watched()
    }
}

/// Returns the processes whose death would change the report: windows, and holders of records.
fn holders(report: &Report, snapshot: &Snapshot) -> Vec<ProcessId> {
    let windows = report.windows.iter().map(|window| window.pid);
    let named = report.records().filter_map(|record| record.pid());
    let pids: BTreeSet<u32> = windows.chain(named).collect();
    pids.into_iter().filter_map(|pid| Some(snapshot.processes.get(pid)?.id)).collect()
}
