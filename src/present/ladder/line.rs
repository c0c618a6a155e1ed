//! Claims that belong to something else, in one line each.

use crate::core::model::ClaimView;
use crate::present::page::Page;
use crate::present::text::outside;
use crate::present::tone::of_claim;

pub(crate) fn claim(page: &mut Page, claim: &ClaimView) {
    let (mark, tone, word) = of_claim(claim.status);
    let (key, resource) = (page.key(&claim.key), &claim.resource);
    let what = format!("{key}{} {} · {word}", resource.kind.name(), outside(Some(&resource.id)));
    page.bullet(mark, &what, tone);
}
