//! What changes about a process while it runs the same program.

use std::collections::{BTreeMap, BTreeSet};

use jiff::{SignedDuration, Timestamp};

use crate::core::model::{Hindrance, InputEnd, Load, Port, ProcessId, Trace};
use crate::source::os::processes::{hindrances, inputs, loads, ports};

/// How long a measurement counts: to add up the pages of a large process takes a millisecond, and so does
/// it to count connections. What acts measures by itself.
const LASTS: SignedDuration = SignedDuration::from_secs(30);

/// What was measured last.
#[derive(Default)]
pub(super) struct Measured {
    loads: BTreeMap<ProcessId, Load>,
    /// Of those that nobody stands above.
    inputs: BTreeMap<ProcessId, InputEnd>,
    measured_at: Option<Timestamp>,
    hindrances: BTreeMap<ProcessId, Hindrance>,
    ports: BTreeMap<ProcessId, Vec<Port>>,
}

impl Measured {
    /// Measures the new ones among these processes, and all of them where the figures are old.
    pub(super) fn refresh(
        &mut self,
        those: &BTreeSet<ProcessId>,
        tops: &[ProcessId],
        uid: u32,
        now: Timestamp,
    ) {
        // Also when the clock was set back.
        if self.measured_at.is_none_or(|at| now.duration_since(at).abs() >= LASTS) {
            *self = Self { measured_at: Some(now), ..Self::default() };
        }
        self.loads.retain(|id, _| those.contains(id));
        self.ports.retain(|id, _| those.contains(id));
        self.hindrances.retain(|id, _| those.contains(id));
        let new: Vec<ProcessId> = those.iter().filter(|id| !self.loads.contains_key(id)).copied().collect();
        if tops.iter().any(|id| !self.loads.contains_key(id)) {
            self.inputs = inputs(tops, uid);
        }
        self.loads.extend(loads(&new).into_iter().map(|(id, load)| (id, load.unwrap_or_default())));
        self.ports.extend(ports(&new));
        self.hindrances.extend(hindrances(&new));
    }

    /// Adds what was measured.
    pub(super) fn fill(&self, trace: &mut Trace) {
        let load = self.loads.get(&trace.id).copied().unwrap_or_default();
        (trace.memory, trace.cpu_time) = (load.memory, load.cpu_time);
        trace.hindrance = self.hindrances.get(&trace.id).cloned();
        trace.input = self.inputs.get(&trace.id).copied();
        trace.ports = self.ports.get(&trace.id).cloned().unwrap_or_default();
    }
}
