//! Judges a snapshot: windows, verdicts, claims and findings, each with its evidence.

use super::agent::Signatures;
use super::report::{Report, ReportHost, SCHEMA};
use super::snapshot::Snapshot;

/// What a person can set about judging.
#[derive(Clone, Debug, Default)]
pub struct Policy {
    /// How agents look.
    pub signatures: Signatures,
}

/// Judges a snapshot.
pub fn assess(snapshot: &Snapshot, _policy: &Policy) -> Report {
    Report {
        schema: SCHEMA,
        taken_at: snapshot.taken_at,
        host: ReportHost {
            name: snapshot.host.name.clone(),
            boot_id: snapshot.host.boot_id.clone(),
            pid_namespace: snapshot.host.pid_namespace,
        },
        sources: snapshot.sources.clone(),
        windows: Vec::new(),
        records: Vec::new(),
        claims: Vec::new(),
        findings: Vec::new(),
    }
}
