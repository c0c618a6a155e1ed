//! Finds things in a report by their key, and the findings about them.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::finding::Finding;
use crate::core::key::Key;
use crate::core::report::{ClaimView, LocationView, RecordView, Report, WindowView};

use super::text::outside;

/// A report with ways in.
pub struct Index<'a> {
    /// The report itself.
    pub report: &'a Report,
    windows: BTreeMap<&'a Key, &'a WindowView>,
    records: BTreeMap<&'a Key, &'a RecordView>,
    claims: BTreeMap<&'a Key, &'a ClaimView>,
    claims_of_record: BTreeMap<&'a Key, Vec<&'a Key>>,
    findings: BTreeMap<&'a Key, Vec<usize>>,
}

impl<'a> Index<'a> {
    /// Reads a report once.
    pub fn new(report: &'a Report) -> Self {
        let mut claims_of_record: BTreeMap<&Key, Vec<&Key>> = BTreeMap::new();
        for claim in &report.claims {
            claims_of_record.entry(&claim.record).or_default().push(&claim.key);
        }
        let mut findings: BTreeMap<&Key, Vec<usize>> = BTreeMap::new();
        for (at, finding) in report.findings.iter().enumerate() {
            for subject in &finding.subjects {
                findings.entry(subject).or_default().push(at);
            }
        }
        Self {
            report,
            windows: report.windows.iter().map(|window| (&window.key, window)).collect(),
            records: report.records.iter().map(|record| (&record.key, record)).collect(),
            claims: report.claims.iter().map(|claim| (&claim.key, claim)).collect(),
            claims_of_record,
            findings,
        }
    }

    /// Returns a window.
    pub fn window(&self, key: &Key) -> Option<&'a WindowView> {
        self.windows.get(key).copied()
    }

    /// Returns a record.
    pub fn record(&self, key: &Key) -> Option<&'a RecordView> {
        self.records.get(key).copied()
    }

    /// Returns a claim.
    pub fn claim(&self, key: &Key) -> Option<&'a ClaimView> {
        self.claims.get(key).copied()
    }

    /// Returns the keys of the claims that a record states.
    pub fn claims_of(&self, record: &Key) -> &[&'a Key] {
        self.claims_of_record.get(record).map_or(&[], Vec::as_slice)
    }

    /// Returns the findings about a thing and what belongs to it, worst first: a window's
    /// records and claims, a record's claims, a claim's record.
    pub fn findings_near(&self, key: &Key) -> Vec<&'a Finding> {
        let found: BTreeSet<usize> =
            self.near(key).into_iter().filter_map(|key| self.findings.get(key)).flatten().copied().collect();
        let mut findings: Vec<&Finding> =
            found.into_iter().filter_map(|at| self.report.findings.get(at)).collect();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        findings
    }

    /// Returns a thing's key and the keys of what belongs to it.
    fn near<'k>(&'k self, key: &'k Key) -> Vec<&'k Key> {
        let mut near = vec![key];
        if let Some(window) = self.window(key) {
            near.extend(window.records.iter().chain(&window.claims));
        } else if let Some(claim) = self.claim(key) {
            near.push(&claim.record);
        } else {
            near.extend(self.claims_of(key));
        }
        near
    }

    /// Returns the window that a thing is, or belongs to.
    pub fn window_of(&self, key: &Key) -> Option<&'a WindowView> {
        let record = |key: &Key| self.record(key).and_then(|record| self.window(record.window.as_ref()?));
        self.window(key).or_else(|| record(key)).or_else(|| {
            let claim = self.claim(key)?;
            claim.window.as_ref().and_then(|key| self.window(key)).or_else(|| record(&claim.record))
        })
    }

    /// Returns a name for people, or the key itself when the thing is not in the report.
    pub fn name(&self, key: &Key) -> String {
        if let Some(window) = self.window(key) {
            return format!("{} {}", window_name(window), window.pid);
        }
        if let Some(record) = self.record(key) {
            return format!("{} {}", record.format.name(), outside(Some(&record.title)));
        }
        match self.claim(key) {
            Some(claim) => {
                format!("{} {}", claim.resource.kind.name(), outside(Some(&claim.resource.id)))
            }
            None => key.to_string(),
        }
    }
}

/// Returns a window's given name, or its agent's.
pub fn window_name(window: &WindowView) -> String {
    match window.name.as_ref().filter(|name| !name.is_empty()) {
        Some(name) => outside(Some(name)),
        None => window.agent.clone(),
    }
}

/// Returns where a record was read: a path, or a database, table and row.
pub fn place_of(record: &RecordView) -> String {
    match &record.location {
        LocationView::File { path } => outside(Some(path)),
        LocationView::Row { database, table, id } => {
            format!("{} {table} {}", outside(Some(database)), outside(Some(id)))
        }
    }
}
