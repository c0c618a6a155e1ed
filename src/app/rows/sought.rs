//! What the filter finds a thing by beside its cells: folders, branches, files, and those of whose it is.

use crate::core::model::{ClaimView, Finding, Key, RecordView, WindowView};
use crate::present::left_over;
use crate::present::report_index::{Index, place_of};
use crate::present::text::outside;

/// The most subjects of a finding that are looked through.
const SUBJECTS: usize = 16;

/// Returns what a row is found by, line by line.
pub(crate) fn sought(index: &Index, row: &Key) -> String {
    let key = index.target(row);
    match index.finding(key) {
        Some(finding) => of_finding(index, finding),
        None => of_thing(index, key),
    }
    .join("\n")
}

fn of_finding(index: &Index, finding: &Finding) -> Vec<String> {
    let about = finding.subjects.iter().take(SUBJECTS).flat_map(|key| of_thing(index, key));
    std::iter::once(finding.message.to_string()).chain(about).collect()
}

fn of_thing(index: &Index, key: &Key) -> Vec<String> {
    if let Some(window) = index.window(key) {
        return of_window(window);
    }
    let mut all = match (index.record(key), index.claim(key)) {
        (Some(record), _) => of_record(record),
        (None, Some(claim)) => of_claim(claim),
        (None, None) => index.left_over(key).map(left_over::sought).unwrap_or_default(),
    };
    all.extend(index.window_of(key).map(of_window).into_iter().flatten());
    all
}

fn of_window(window: &WindowView) -> Vec<String> {
    let repo = window.repo.as_ref();
    let places =
        [window.cwd.as_ref(), repo.map(|repo| &repo.worktree), repo.and_then(|repo| repo.branch.as_ref())];
    let files = window.work.iter().flat_map(|work| &work.doing.edits).map(|edit| outside(Some(&edit.path)));
    let texts = places.into_iter().flatten().map(|text| outside(Some(text)));
    texts.chain(files).chain(window.session_id.iter().map(|id| outside(Some(id)))).collect()
}

fn of_record(record: &RecordView) -> Vec<String> {
    [outside(Some(&record.title)), outside(record.session_id.as_ref()), place_of(record)].into()
}

fn of_claim(claim: &ClaimView) -> Vec<String> {
    let resource = format!("{} {}", claim.resource.kind.name(), outside(Some(&claim.resource.id)));
    std::iter::once(resource).chain(of_record(&claim.record)).collect()
}
