//! Treats a machine's first data as already there: the only change is that the machine was reached.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::model::{Key, MachineState, MachineView, Report};

/// The machines that have sent any data since this claimtop began to look: it may be out of sight for a while, and
/// counts as a change when it is back.
#[derive(Clone, Debug, Default)]
pub(crate) struct EverTold(BTreeSet<String>);

impl EverTold {
    /// Takes in two successive looks; returns the earlier one with the data of machines that first sent any in the
    /// later one.
    pub(crate) fn follow<'a>(&mut self, before: &'a Report, now: &Report) -> Cow<'a, Report> {
        let names = before.machines.iter().filter(|machine| has_told(machine)).map(|machine| &*machine.name);
        let recorded = before.records.iter().filter_map(|record| record.key.machine());
        for name in names.chain(recorded) {
            if !self.0.contains(name) {
                self.0.insert(name.to_owned());
            }
        }
        let first: BTreeSet<&str> = (now.machines.iter())
            .filter(|machine| machine.state.is_heard() && !self.0.contains(&machine.name))
            .map(|machine| machine.name.as_str())
            .collect();
        if first.is_empty() { Cow::Borrowed(before) } else { Cow::Owned(with_first(before, now, &first)) }
    }
}

fn with_first(before: &Report, now: &Report, first: &BTreeSet<&str>) -> Report {
    let is_first = |key: &Key| key.machine().is_some_and(|name| first.contains(name));
    let mut all = before.clone();
    all.windows.extend(now.windows.iter().filter(|window| is_first(&window.key)).cloned());
    all.records.extend(now.records.iter().filter(|record| is_first(&record.key)).cloned());
    all.claims.extend(now.claims.iter().filter(|claim| is_first(&claim.key)).cloned());
    // Findings that also concern others are news.
    let is_its_own = |keys: &[Key]| keys.first().is_some_and(is_first) && keys.iter().all(is_first);
    all.findings.extend(now.findings.iter().filter(|finding| is_its_own(&finding.subjects)).map(Arc::clone));
    all
}

/// Returns whether a machine has sent any data yet, as far as is known.
pub(crate) fn has_told(machine: &MachineView) -> bool {
    match machine.state {
        MachineState::Live | MachineState::Late | MachineState::Silent => true,
        MachineState::Connecting | MachineState::Unreached => machine.windows > 0,
    }
}
