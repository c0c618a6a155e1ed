//! What has changed since a person last looked, which is when a key was pressed last.

use std::collections::BTreeSet;

use crate::core::model::{Key, RecordView, Report};
use crate::present::report_index::Index;

/// Adds the things that are new, or that say something else than before. Neither ages nor loads are
/// news.
pub(crate) fn follow(news: &mut BTreeSet<Key>, before: &Index, (now, findings): (&Report, &[Key])) {
    let windows = now
        .windows
        .iter()
        .filter(|window| before.window(&window.key).is_none_or(|earlier| earlier.state != window.state));
    let says = |record: &RecordView| (record.verdict.state, record.verdict.reason);
    let records = now
        .records
        .iter()
        .filter(|record| before.record(&record.key).is_none_or(|earlier| says(earlier) != says(record)));
    let claims = now
        .claims
        .iter()
        .filter(|claim| before.claim(&claim.key).is_none_or(|earlier| earlier.status != claim.status));
    news.extend(windows.map(|window| window.key.clone()));
    news.extend(records.map(|record| record.key.clone()));
    news.extend(claims.map(|claim| claim.key.clone()));
    // A finding's key says all of it.
    news.extend(findings.iter().filter(|key| before.finding(key).is_none()).cloned());
}
