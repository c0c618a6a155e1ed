//! What has changed since a person last looked, which is when a key was pressed last.

use std::collections::{BTreeMap, BTreeSet};

use crate::core::key::Key;
use crate::core::report::Report;

use super::lookup::keys_of_findings;

/// Adds the things that are new, or that say something else than before; and forgets those that
/// are there no more, for nobody may press a key for days.
pub(super) fn follow(news: &mut BTreeSet<Key>, before: &Report, now: &Report) {
    let (before, now) = (words(before), words(now));
    news.retain(|key| now.contains_key(key));
    let changed = now.into_iter().filter(|(key, words)| before.get(key) != Some(words));
    news.extend(changed.map(|(key, _)| key));
}

/// Returns what each thing says, as far as a change of it is news: neither ages nor loads are.
fn words(report: &Report) -> BTreeMap<Key, String> {
    let windows = report.windows.iter().map(|window| (window.key.clone(), format!("{:?}", window.state)));
    let records = report.records.iter().map(|record| {
        let verdict = &record.verdict;
        (record.key.clone(), format!("{:?} {:?}", verdict.state, verdict.reason))
    });
    let claims = report.claims.iter().map(|claim| (claim.key.clone(), format!("{:?}", claim.status)));
    let findings = keys_of_findings(report).zip(&report.findings);
    let findings = findings.map(|(key, finding)| (key, finding.code.name().to_owned()));
    windows.chain(records).chain(claims).chain(findings).collect()
}
