//! Claims and left-overs that belong to something else, in one line each.

use crate::core::model::{ClaimView, LeftOver, Remains};
use crate::present::left_over;
use crate::present::report_index::Index;
use crate::present::text::megabytes;
use crate::present::text::page::Page;
use crate::present::text::tone::of_claim;
use crate::present::words;

pub(crate) fn claim(page: &mut Page, claim: &ClaimView) {
    let (mark, tone, word) = of_claim(claim.status);
    let (key, kind) = (page.key(&claim.key), claim.resource.kind);
    let what = format!("{key}{} {} · {word}", kind.name(), words::holds(claim));
    page.bullet(mark, &what, tone);
}

/// Writes what a dead window has left running.
pub(crate) fn left_overs(page: &mut Page, index: &Index, left: &Remains) {
    left.left_overs.iter().filter_map(|key| index.left_over(key)).for_each(|one| left_over(page, one));
}

pub(crate) fn left_over(page: &mut Page, one: &LeftOver) {
    let (mark, tone, word) = left_over::sign(one.certainty);
    let more = [left_over::ports(one).map(|ports| format!("on {ports}")), one.memory().map(megabytes)];
    let more: String = more.into_iter().flatten().map(|part| format!(" · {part}")).collect();
    let (key, what) = (page.key(&one.key), left_over::what(one));
    page.bullet(mark, &format!("{key}{what} (PID {}){more} · {word}", one.pid), tone);
}
