//! What another machine's witness knows of records here: of files in a home that several machines share, and of rows
//! in a database that all of them write.
//!
//! A witness only ever adds what cannot be known from here. Whoever it has seen alive lives for as long as it is
//! heard; whom it has seen alive itself and then proven dead stays dead, whatever becomes of it.

use std::collections::HashMap;
use std::sync::Arc;

use crate::core::fleet::far::FarMachine;
use crate::core::fleet::identity::speaks_alone;
use crate::core::fleet::line::{Hello, hashed};
use crate::core::model::{
    ClaimStatus, Code, Domain, Evidence, Finding, Holder, Key, MachineState, Reason, RecordView, Remedy,
    Report, Tombstone, Verdict, VerdictState,
};

/// Judges by their own machines' witnesses the records here of whose holders nothing is known.
pub(crate) fn testify(all: &mut Report, machines: &[FarMachine]) {
    let alone = machines.iter().filter(|told| speaks_alone(told, &all.host, machines));
    let witnesses: Vec<Witness<'_>> = alone.filter_map(Witness::new).collect();
    if witnesses.is_empty() {
        return;
    }
    let mut changed: HashMap<Key, Arc<RecordView>> = HashMap::new();
    for record in all.records.iter_mut().filter(|record| record.verdict.state == VerdictState::Unknown) {
        let Some((state, evidence)) = witnesses.iter().find_map(|witness| witness.on(record)) else {
            continue;
        };
        let before = record.verdict.evidence.iter().cloned();
        let evidence = [evidence].into_iter().chain(before).collect();
        let verdict = Verdict { state, reason: Reason::Witnessed, in_other_namespace: false, evidence };
        Arc::make_mut(record).verdict = verdict;
        changed.insert(record.key.clone(), Arc::clone(record));
    }
    if changed.is_empty() {
        return;
    }
    for claim in &mut all.claims {
        let Some(record) = changed.get(&claim.record.key) else { continue };
        claim.record = Arc::clone(record);
        claim.status = match (claim.status, record.verdict.state) {
            (ClaimStatus::Unproven, VerdictState::Alive) => ClaimStatus::Held,
            (ClaimStatus::Unproven, VerdictState::Dead) => ClaimStatus::Dead,
            (status, _) => status,
        };
    }
    let is_answered = |finding: &Finding| {
        finding.code == Code::ForeignHolder && finding.subjects.iter().any(|key| changed.contains_key(key))
    };
    all.findings.retain(|finding| !is_answered(finding));
    let dead = changed.values().filter(|record| record.verdict.state == VerdictState::Dead);
    all.findings.extend(dead.map(|record| {
        let says = "its own machine has seen its holder end";
        let evidence = record.all_evidence();
        Arc::new(Finding::of_record(Code::DeadHolder, record, says, evidence, Remedy::Release))
    }));
}

/// The claimtop of another machine.
struct Witness<'a> {
    told: &'a FarMachine,
    hello: &'a Hello,
}

impl<'a> Witness<'a> {
    fn new(told: &'a FarMachine) -> Option<Self> {
        Some(Self { told, hello: told.hello.as_ref()? })
    }

    /// Returns what it knows of a record's holder, and what says so.
    fn on(&self, record: &RecordView) -> Option<(VerdictState, Evidence)> {
        let holder = record.holder.as_ref()?;
        let (pid, start) = (record.pid()?, holder.start_ticks?);
        // A number means nothing without the namespace that it counts in.
        if !self.is_its(holder) {
            return None;
        }
        let fact = |value: String, at| Evidence::new("witness", value, self.told.view.name.as_str()).at(at);
        // Until it has told a look of a new boot, its tombstones are still those of the one before.
        let is_of_boot = |stone: &Tombstone| {
            Some(stone.boot_id.raw()) == self.hello.boot.as_deref()
                && Some(stone.pid_namespace) == self.hello.pid_namespace
        };
        let buried = |stone: &&Tombstone| {
            stone.id.pid == pid
                && stone.id.start_ticks == start
                && stone.seen_alive_at.is_some()
                && is_of_boot(stone)
        };
        if let Some(stone) = self.told.tombstones.iter().find(buried) {
            let value = format!("saw PID {pid} with start tick {start} live, and proved that it ended");
            return Some((VerdictState::Dead, fact(value, Some(stone.proven_at))));
        }
        if self.told.view.state != MachineState::Live {
            return None;
        }
        let windows = self.told.report.iter().flat_map(|report| &report.windows);
        let mut it = windows.filter(|window| window.pid == pid && window.start_ticks == start);
        it.next()?;
        Some((
            VerdictState::Alive,
            fact(format!("sees PID {pid} with start tick {start}"), self.told.view.seen_at),
        ))
    }

    /// Returns whether a holder's numbers count in its namespace: by the machine's ID and the namespace's, as a record says
    /// them itself. A name alone may be another machine's as well.
    fn is_its(&self, holder: &Holder) -> bool {
        let Some(Domain::Linux { machine: Some(machine), namespace: Some(namespace) }) = holder.domain()
        else {
            return false;
        };
        let is_boot = holder.boot_id().is_none_or(|boot| Some(boot.raw()) == self.hello.boot.as_deref());
        let machine = hashed(machine.raw());
        self.hello.identity.machine.as_deref() == Some(machine.as_str())
            && self.hello.pid_namespace == Some(*namespace)
            && is_boot
    }
}
