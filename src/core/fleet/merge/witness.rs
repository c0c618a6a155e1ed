//! What another machine's witness knows of records here: of files in a home that several machines share, and of rows
//! in a database that all of them write to.
//!
//! A witness only ever adds what cannot be known from here. A process it has seen alive lives for as long as the
//! witness is connected; a process it has seen alive itself and then proven dead stays dead, whatever happens to the
//! witness.

use std::collections::HashMap;
use std::sync::Arc;

use jiff::Timestamp;

use crate::core::fleet::merge::identity::Namespaces;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::wire::line::{Hello, hashed};
use crate::core::model::{
    ClaimStatus, Code, Domain, Evidence, Finding, Holder, Key, Reason, RecordView, Remedy, Report, Tombstone,
    Untrusted, VerdictState, WindowView,
};

/// Judges the records here whose holders are unknown, by the witnesses of their own machines.
pub(crate) fn testify(all: &mut Report, machines: &[FarMachine]) {
    let host = all.host.clone();
    let namespaces = Namespaces::from_host(&host, machines);
    let alone = machines.iter().filter(|machine| namespaces.speaks_alone(machine));
    let witnesses: Vec<Witness<'_>> = alone.filter_map(Witness::new).collect();
    if witnesses.is_empty() {
        return;
    }
    let mut changed: HashMap<Key, Arc<RecordView>> = HashMap::new();
    for record in all.records.iter_mut().filter(|record| record.verdict.state == VerdictState::Unknown) {
        let Some((state, evidence)) = witnesses.iter().find_map(|witness| witness.on(record)) else {
            continue;
        };
        Arc::make_mut(record).overrule(state, Reason::Witnessed, evidence);
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
        let says = "its own machine saw the holder end";
        let evidence = record.all_evidence();
        Arc::new(Finding::of_record(Code::DeadHolder, record, says, evidence, Remedy::Release))
    }));
}

/// The claimtop of another machine.
struct Witness<'a> {
    machine: &'a FarMachine,
    hello: &'a Hello,
}

impl<'a> Witness<'a> {
    fn new(machine: &'a FarMachine) -> Option<Self> {
        Some(Self { machine, hello: machine.hello.as_ref()? })
    }

    /// Returns what it knows of a record's holder, with the evidence.
    fn on(&self, record: &RecordView) -> Option<(VerdictState, Evidence)> {
        self.on_process(record).or_else(|| self.on_session(record))
    }

    /// Returns what it knows of the process that a record names.
    fn on_process(&self, record: &RecordView) -> Option<(VerdictState, Evidence)> {
        let holder = record.holder.as_ref()?;
        let (pid, start) = (record.pid()?, holder.start_ticks?);
        let tie = self.tie(holder)?;
        let is_it = |id: (u32, u64), session: Option<&Untrusted>| {
            let is_session = session.is_some() && session == record.session_id.as_ref();
            id == (pid, start) && (tie == Tie::Namespace || is_session)
        };
        // Until it has sent a look of a new boot, its tombstones are still those of the previous one.
        let is_of_boot = |stone: &Tombstone| {
            Some(stone.boot_id.raw()) == self.hello.boot.as_deref()
                && Some(stone.pid_namespace) == self.hello.pid_namespace
        };
        // A machine that has rebooted while disconnected can have another process with this PID and start: both times
        // are by its own clock.
        let was_seen = |stone: &Tombstone| {
            let began = record.started_at.zip(stone.seen_alive_at);
            began.is_some_and(|(began, seen)| began <= seen)
        };
        let buried = |stone: &&Tombstone| {
            is_it((stone.id.pid, stone.id.start_ticks), stone.session_id.as_ref())
                && was_seen(stone)
                && is_of_boot(stone)
        };
        if let Some(stone) = self.machine.tombstones.iter().find(buried) {
            let value = format!("saw PID {pid} with start tick {start} live, and proved that it ended");
            return Some((VerdictState::Dead, self.fact(value, Some(stone.proven_at))));
        }
        self.windows()
            .find(|window| is_it((window.pid, window.start_ticks), window.session_id.as_ref()))
            .map(|_| self.alive(format!("sees PID {pid} with start tick {start}")))
    }

    /// Returns the window that certainly runs the session of a record whose holder is elsewhere, if the record does
    /// not state in which namespace. The absence of such a window proves nothing.
    fn on_session(&self, record: &RecordView) -> Option<(VerdictState, Evidence)> {
        let session = record.session_id.as_ref()?;
        let is_elsewhere = matches!(record.verdict.reason, Reason::OtherHost | Reason::OtherNamespace);
        if !is_elsewhere || record.holder.as_ref().and_then(Holder::domain).is_some() {
            return None;
        }
        let window = self.windows().find(|window| window.session_id.as_ref() == Some(session))?;
        Some(self.alive(format!("sees session {session} running as PID {}", window.pid)))
    }

    /// Returns its windows, as long as it is connected.
    fn windows(&self) -> impl Iterator<Item = &'a WindowView> {
        let is_live = self.machine.view.state.is_heard();
        let report = self.machine.report.as_deref().filter(|_| is_live);
        report.into_iter().flat_map(|report| &report.windows)
    }

    fn alive(&self, value: String) -> (VerdictState, Evidence) {
        (VerdictState::Alive, self.fact(value, self.machine.view.seen_at))
    }

    fn fact(&self, value: String, at: Option<Timestamp>) -> Evidence {
        Evidence::new("witness", value, self.machine.view.name.as_str()).dated(at)
    }

    /// Returns what ties a holder's numbers to this witness's namespace, as stated by a record itself. A host name
    /// alone may belong to another machine too.
    fn tie(&self, holder: &Holder) -> Option<Tie> {
        let boot = holder.boot_id().map(Untrusted::raw);
        let is_boot = boot.is_some() && boot == self.hello.boot.as_deref();
        match holder.domain() {
            Some(Domain::Linux { machine: Some(machine), namespace: Some(namespace) }) => {
                let is_machine =
                    self.hello.identity.machine.as_deref() == Some(hashed(machine.raw()).as_str());
                let is_its = is_machine && self.hello.pid_namespace == Some(*namespace);
                (is_its && (is_boot || boot.is_none())).then_some(Tie::Namespace)
            }
            Some(Domain::Linux { .. } | Domain::Darwin | Domain::Other) => None,
            None => is_boot.then_some(Tie::Boot),
        }
    }
}

/// What ties a holder's numbers to a witness.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Tie {
    /// Machine and PID namespace: a number means one process there.
    Namespace,
    /// The boot alone, in which each container has numbers of its own: its session must agree too.
    Boot,
}
