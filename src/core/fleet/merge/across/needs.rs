//! The needs of collisions between machines; those between the same windows become one.

use std::collections::{BTreeMap, HashSet};

use super::sites::Sites;
use crate::core::judge::needs::harm;
use crate::core::model::{Code, Finding, Key, KeyKind, Need, NeedKind};

/// Returns the needs of these findings.
pub(super) fn needs(findings: &[Finding], sites: &Sites<'_>) -> Vec<Need> {
    let mut between: BTreeMap<Vec<Key>, Vec<&Finding>> = BTreeMap::new();
    for finding in findings {
        let mut windows = windows_of(finding, sites);
        windows.sort_unstable();
        between.entry(windows).or_default().push(finding);
    }
    let merged = between.into_values().filter_map(|mut findings| {
        findings.sort_by_key(|finding| harm(finding.code));
        need(&findings, sites)
    });
    merged.collect()
}

fn need(findings: &[&Finding], sites: &Sites<'_>) -> Option<Need> {
    let (worst, others) = findings.split_first()?;
    let windows = windows_of(worst, sites);
    let mut parts: Vec<&str> = windows.iter().map(Key::as_str).collect();
    parts.sort_unstable();
    let mut also: Vec<Code> = others.iter().map(|finding| finding.code).collect();
    also.retain(|code| *code != worst.code);
    also.dedup();
    let key = Key::derive(KeyKind::Need, &[&["between"], parts.as_slice()].concat());
    let kind = NeedKind::Collision {
        code: worst.code,
        message: worst.message.clone(),
        subjects: worst.subjects.to_vec(),
        windows,
        also,
        files: Vec::new(),
    };
    Some(Need { key, subject: worst.subjects.first()?.clone(), kind, since: None })
}

/// Returns the windows involved in a finding; the one that should yield is last.
fn windows_of(finding: &Finding, sites: &Sites<'_>) -> Vec<Key> {
    let of = |key: &Key| match key.kind() {
        Some(KeyKind::Window) => Some(key.clone()),
        Some(KeyKind::Claim) => sites.holder_of(key),
        Some(_) | None => None,
    };
    let yields: HashSet<Key> = finding.yields().iter().filter_map(of).collect();
    let mut windows: Vec<Key> = finding.subjects.iter().filter_map(of).collect();
    windows.sort_by_key(|key| yields.contains(key));
    windows.dedup();
    windows
}
