//! Machines with one machine ID: what each considers its own in a shared folder can belong to the other.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::core::fleet::merge::identity::clone_of_own;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::merge::resumed_sessions::{has_left_nothing, is_of_dead};
use crate::core::fleet::wire::line::Identity;
use crate::core::model::{
    ClaimStatus, Evidence, Key, Reason, RecordView, Releasable, Report, Untrusted, VerdictState,
};

/// Withdraws the deaths of holders that this machine considers its own, if another machine that was connected has its
/// ID.
pub(crate) fn doubt_own(own: Option<&Identity>, local: &mut Report, machines: &[FarMachine]) {
    let clone = own.and_then(|own| clone_of_own(own, &local.host, machines));
    if let Some(clone) = clone {
        doubt(local, &clone.view.name);
    }
}

/// Withdraws the deaths of holders that a machine considers its own by an ID that another machine has too. Only
/// records on disks that are not its own are affected: no other machine writes to its own.
pub(crate) fn doubt(report: &mut Report, other: &str) {
    let mut changed: HashMap<Key, Arc<RecordView>> = HashMap::new();
    for record in report.records.iter_mut().filter(|record| is_doubtful(record)) {
        forget_death(record, other);
        changed.insert(record.key.clone(), Arc::clone(record));
    }
    for claim in report.claims.iter_mut().filter(|claim| is_doubtful(&claim.record)) {
        forget_death(&mut claim.record, other);
        changed.insert(claim.record.key.clone(), Arc::clone(&claim.record));
        claim.releasable = Releasable::No;
        if claim.status == ClaimStatus::Dead {
            claim.status = ClaimStatus::Unproven;
        }
    }
    if changed.is_empty() {
        return;
    }
    report.findings.retain(|finding| {
        !is_of_dead(finding) || !finding.subjects.iter().any(|key| changed.contains_key(key))
    });
    let sessions: HashSet<&Untrusted> =
        changed.values().filter_map(|record| record.session_id.as_ref()).collect();
    report.needs.retain_mut(|need| !has_left_nothing(need, &sessions));
}

fn is_doubtful(record: &RecordView) -> bool {
    record.verdict.state == VerdictState::Dead && !record.ownership.medium.is_this_machines()
}

fn forget_death(record: &mut Arc<RecordView>, other: &str) {
    let says = format!("{other} has the same ID, so the holder may be there");
    let shared = Evidence::new("machine ID", says, "its claimtop");
    Arc::make_mut(record).overrule(VerdictState::Unknown, Reason::OtherHost, shared);
}
