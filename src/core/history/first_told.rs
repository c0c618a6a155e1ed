//! What a machine tells first is there already: that it was reached is all that has changed.

use std::borrow::Cow;
use std::collections::BTreeSet;
use std::sync::Arc;

use crate::core::model::{Key, MachineState, MachineView, Report};

/// Returns the look before with all that machines tell in the next one that had told nothing by then.
pub(crate) fn with_first_told<'a>(before: &'a Report, now: &Report) -> Cow<'a, Report> {
    let was_reached =
        |name: &str| before.machines.iter().any(|machine| machine.name == name && has_told(machine));
    let mut first: BTreeSet<&str> = (now.machines.iter())
        .filter(|machine| machine.state == MachineState::Live && !was_reached(&machine.name))
        .map(|machine| machine.name.as_str())
        .collect();
    if first.is_empty() {
        return Cow::Borrowed(before);
    }
    before.records.iter().filter_map(|record| record.key.machine()).for_each(|name| {
        first.remove(name);
    });
    let is_first = |key: &Key| key.machine().is_some_and(|name| first.contains(name));
    let mut all = before.clone();
    all.windows.extend(now.windows.iter().filter(|window| is_first(&window.key)).cloned());
    all.records.extend(now.records.iter().filter(|record| is_first(&record.key)).cloned());
    all.claims.extend(now.claims.iter().filter(|claim| is_first(&claim.key)).cloned());
    // What it has to do with others is news.
    let is_its_own = |keys: &[Key]| keys.first().is_some_and(is_first) && keys.iter().all(is_first);
    all.findings.extend(now.findings.iter().filter(|finding| is_its_own(&finding.subjects)).map(Arc::clone));
    Cow::Owned(all)
}

/// Returns whether a machine has told anything yet, as far as it can be seen.
fn has_told(machine: &MachineView) -> bool {
    match machine.state {
        MachineState::Live | MachineState::Silent => true,
        MachineState::Connecting | MachineState::Unreached => machine.windows > 0,
    }
}
