//! CPU and memory use, from sysinfo.

use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};
use sysinfo::{Pid, ProcessRefreshKind, ProcessesToUpdate, System};

use crate::core::model::ProcessTable;

/// How far apart two measurements must be to give a percentage: sysinfo's own limit, 200 ms.
const APART_FOR: SignedDuration = SignedDuration::from_millis(200);

/// The last measurement.
#[derive(Default)]
pub(crate) struct Usage {
    /// `None` before the first measurement, and when sysinfo does not know the system.
    system: Option<System>,
    measured_at: Option<Timestamp>,
    /// The processes of the measurement before: only they have a percentage.
    known: BTreeSet<Pid>,
}

impl Usage {
    /// Fills in CPU and memory use of the given processes.
    pub(crate) fn fill(&mut self, table: &mut ProcessTable, pids: &BTreeSet<u32>, now: Timestamp) {
        if pids.is_empty() {
            *self = Self::default();
            return;
        }
        if self.is_due(now) {
            self.measure(pids);
            self.measured_at = Some(now);
        }
        let Some(system) = &self.system else { return };
        for pid in pids {
            let Some(process) = system.process(Pid::from_u32(*pid)) else { continue };
            let details = table.by_pid.get_mut(pid).and_then(|entry| entry.details.as_mut());
            if let Some(details) = details {
                details.memory_bytes = Some(process.memory());
                details.cpu_percent = self.known.contains(&process.pid()).then(|| process.cpu_usage());
            }
        }
    }

    /// Returns whether a measurement is due, also if the clock was set back.
    fn is_due(&self, now: Timestamp) -> bool {
        self.measured_at.is_none_or(|at| now.duration_since(at).abs() >= APART_FOR)
    }

    fn measure(&mut self, pids: &BTreeSet<u32>) {
        if self.system.is_none() {
            self.system = System::new().ok();
        }
        let Some(system) = &mut self.system else { return };
        self.known = system.processes().keys().copied().collect();
        // Processes that are no longer requested are measured once more, so that those that have exited are forgotten.
        let mut asked: Vec<Pid> = pids.iter().map(|pid| Pid::from_u32(*pid)).collect();
        asked.extend(self.known.iter().filter(|pid| !pids.contains(&pid.as_u32())));
        let kind = ProcessRefreshKind::nothing().with_cpu().with_memory().without_tasks();
        system.refresh_processes_specifics(ProcessesToUpdate::Some(&asked), true, kind);
    }
}
