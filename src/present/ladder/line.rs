//! Claims that belong to something else, in one line each.

use crate::core::model::ClaimView;
use crate::present::page::Page;
use crate::present::tone::of_claim;
use crate::present::words;

pub(crate) fn claim(page: &mut Page, claim: &ClaimView) {
    let (mark, tone, word) = of_claim(claim.status);
    let (key, kind) = (page.key(&claim.key), claim.resource.kind);
    let what = format!("{key}{} {} · {word}", kind.name(), words::holds(claim));
    page.bullet(mark, &what, tone);
}
