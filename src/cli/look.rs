//! One look after another: what is read, and what it means.

use std::path::PathBuf;

use super::failure::Exit;
use super::settings::Settings;
use crate::core::agent::Signatures;
use crate::core::assess::{Policy, assess};
use crate::core::report::Report;
use crate::core::snapshot::{Snapshot, SourceState};
use crate::source::Collector;

/// Looks and judges, again and again.
pub(crate) struct Looker {
    collector: Collector,
    policy: Policy,
    /// The only folder whose programs count as agents; for the demo.
    stage: Option<PathBuf>,
}

impl Looker {
    /// Prepares to look at the world of these settings; reads nothing yet.
    pub(crate) fn new(settings: &Settings, signatures: Signatures) -> Self {
        let collector = Collector::new(settings.places.clone(), signatures.clone());
        Self { collector, policy: Policy { signatures }, stage: None }
    }

    /// Lets only programs below this folder count as agents.
    pub(crate) fn only_below(mut self, stage: PathBuf) -> Self {
        self.stage = Some(stage);
        self
    }

    /// Takes one look.
    pub(crate) fn snapshot(&mut self) -> Snapshot {
        let mut snapshot = self.collector.look();
        if let Some(stage) = &self.stage {
            forget_others(&mut snapshot, stage);
        }
        snapshot
    }

    /// Takes one look and judges it.
    pub(crate) fn report(&mut self) -> Report {
        assess(&self.snapshot(), &self.policy)
    }

    /// Returns how looks are judged.
    pub(crate) fn policy(&self) -> &Policy {
        &self.policy
    }
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

/// Forgets what makes a process an agent, for every program outside of `stage`. The processes
/// themselves stay: a PID that is there is there.
fn forget_others(snapshot: &mut Snapshot, stage: &std::path::Path) {
    for process in snapshot.processes.by_pid.values_mut() {
        let exe = process.details.as_ref().and_then(|details| details.exe.as_ref());
        if !exe.is_some_and(|exe| std::path::Path::new(exe.raw()).starts_with(stage)) {
            process.details = None;
        }
    }
}
