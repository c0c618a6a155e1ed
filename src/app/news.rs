//! What has changed since a person last looked, which is when a key was pressed last.

use std::collections::{BTreeSet, HashMap};

use crate::core::finding::Code;
use crate::core::key::Key;
use crate::core::report::{ClaimStatus, Reason, Report, VerdictState, WindowState};

use super::lookup::keys_of_findings;

/// Adds the things that are new, or that say something else than before; and forgets those that
/// are there no more, for nobody may press a key for days.
pub(super) fn follow(news: &mut BTreeSet<Key>, before: &Report, now: &Report) {
    let (before, now) = (words(before), words(now));
    news.retain(|key| now.contains_key(key));
    let changed = now.into_iter().filter(|(key, words)| before.get(key) != Some(words));
    news.extend(changed.map(|(key, _)| key));
}

/// What a thing says, as far as a change of it is news: neither ages nor loads are.
#[derive(PartialEq, Eq)]
enum Word {
    Window(WindowState),
    Record(VerdictState, Reason),
    Claim(ClaimStatus),
    Finding(Code),
}

fn words(report: &Report) -> HashMap<Key, Word> {
    let windows = report.windows.iter().map(|window| (window.key.clone(), Word::Window(window.state)));
    let records = report
        .records
        .iter()
        .map(|record| (record.key.clone(), Word::Record(record.verdict.state, record.verdict.reason)));
    let claims = report.claims.iter().map(|claim| (claim.key.clone(), Word::Claim(claim.status)));
    let findings = keys_of_findings(report).zip(&report.findings);
    let findings = findings.map(|(key, finding)| (key, Word::Finding(finding.code)));
    windows.chain(records).chain(claims).chain(findings).collect()
}
