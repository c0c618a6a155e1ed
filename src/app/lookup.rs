//! Finds things in a report by their key, and the findings about them.

use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use crate::core::finding::Finding;
use crate::core::key::Key;
use crate::core::record::Location;
use crate::core::report::{ClaimView, RecordView, Report, WindowView};

use super::text::outside;

/// A report with ways in, made once for each look.
#[derive(Debug)]
pub struct Index {
    /// The report itself.
    pub report: Arc<Report>,
    windows: Places,
    records: Places,
    claims: Places,
    claims_of_record: Places,
    findings: Places,
    findings_about: Places,
}

impl Index {
    /// Reads a report once.
    pub fn new(report: Arc<Report>) -> Self {
        let subjects = report.findings.iter().map(|finding| &finding.subjects).zip(0..);
        Self {
            windows: Places::of_each(report.windows.iter().map(|window| window.key.clone())),
            records: Places::of_each(report.records.iter().map(|record| record.key.clone())),
            claims: Places::of_each(report.claims.iter().map(|claim| claim.key.clone())),
            claims_of_record: Places::of_each(report.claims.iter().map(|claim| claim.record.clone())),
            findings: Places::of_each(keys_of_findings(&report)),
            findings_about: Places::new(
                subjects.flat_map(|(keys, at)| keys.iter().map(move |key| (key.clone(), at))),
            ),
            report,
        }
    }

    /// Returns a window.
    pub fn window(&self, key: &Key) -> Option<&WindowView> {
        self.report.windows.get(self.windows.first(key)?)
    }

    /// Returns a record.
    pub fn record(&self, key: &Key) -> Option<&RecordView> {
        self.report.records.get(self.records.first(key)?)
    }

    /// Returns a claim.
    pub fn claim(&self, key: &Key) -> Option<&ClaimView> {
        self.report.claims.get(self.claims.first(key)?)
    }

    /// Returns a finding by the key that [`keys_of_findings`] gave it.
    pub fn finding(&self, key: &Key) -> Option<&Finding> {
        self.report.findings.get(self.findings.first(key)?)
    }

    /// Returns whether there is a thing or a finding of this key.
    pub fn has(&self, key: &Key) -> bool {
        [&self.windows, &self.records, &self.claims, &self.findings]
            .iter()
            .any(|places| places.first(key).is_some())
    }

    /// Returns the claims that a record states.
    pub fn claims_of(&self, record: &Key) -> impl Iterator<Item = &ClaimView> {
        self.claims_of_record.all(record).filter_map(|at| self.report.claims.get(at))
    }

    /// Returns a finding by its own key, or the findings near a thing, worst first.
    pub fn findings_at(&self, key: &Key) -> Vec<&Finding> {
        self.finding(key).map_or_else(|| self.findings_near(key), |finding| vec![finding])
    }

    /// Returns the findings about a thing and what belongs to it, worst first: a window's
    /// records and claims, a record's claims, a claim's record.
    pub fn findings_near(&self, key: &Key) -> Vec<&Finding> {
        let found: BTreeSet<usize> =
            self.near(key).into_iter().flat_map(|key| self.findings_about.all(key)).collect();
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
            near.extend(self.claims_of(key).map(|claim| &claim.key));
        }
        near
    }

    /// Returns the window that a thing is, or belongs to.
    pub fn window_of(&self, key: &Key) -> Option<&WindowView> {
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

/// Where keys stand in a list, by key.
#[derive(Debug)]
struct Places(Box<[(Key, u32)]>);

impl Places {
    /// Sorts keys, each with its place.
    fn new(placed: impl Iterator<Item = (Key, u32)>) -> Self {
        let mut placed: Box<[(Key, u32)]> = placed.collect();
        placed.sort_unstable();
        Self(placed)
    }

    /// Sorts the keys of a list.
    fn of_each(keys: impl Iterator<Item = Key>) -> Self {
        Self::new(keys.zip(0..))
    }

    /// Returns every place of a key, in their order.
    fn all(&self, key: &Key) -> impl Iterator<Item = usize> {
        let from = self.0.partition_point(|(own, _)| own < key);
        let placed = self.0.get(from..).unwrap_or_default();
        let places = placed.iter().take_while(move |(own, _)| own == key).map(|(_, at)| *at);
        places.filter_map(|at| usize::try_from(at).ok())
    }

    /// Returns the first place of a key.
    fn first(&self, key: &Key) -> Option<usize> {
        self.all(key).next()
    }
}

/// Names every finding for as long as it is about the same things: findings have no key of
/// their own, and their words may hold an age.
pub fn keys_of_findings(report: &Report) -> impl Iterator<Item = Key> {
    let mut seen: HashMap<Key, usize> = HashMap::new();
    report.findings.iter().map(move |finding| {
        let mut parts = vec![finding.code.name()];
        parts.extend(finding.subjects.iter().map(Key::as_str));
        let first = Key::derive('p', &parts);
        let count = seen.entry(first.clone()).and_modify(|count| *count += 1).or_insert(0);
        if *count == 0 { first } else { Key::typed(&format!("{first}-{count}")) }
    })
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
        Location::File(path) => outside(Some(path.text())),
        Location::Row(row) => {
            format!("{} {} {}", outside(Some(&row.database)), row.table, outside(Some(&row.id)))
        }
    }
}
