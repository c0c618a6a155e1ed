//! Findings: one file per family, each rule a function of the judged world.

pub mod entire;
pub mod facts;
pub mod files;
pub mod generations;
pub mod holders;
pub mod identity;
pub mod leo;
pub mod obra;
pub mod places;
pub mod registry;
pub mod sharing;
pub mod staleness;
pub mod tasks;

pub(crate) use self::registry::{entries, gone_entry};
use crate::core::judge::rules::facts::Facts;
use crate::core::model::finding::Finding;

/// One family of rules.
type Family = for<'a> fn(&'a Facts<'a>, &mut Vec<Finding>);

/// Every family.
const FAMILIES: [Family; 12] = [
    identity::findings,
    sharing::findings,
    places::findings,
    holders::findings,
    registry::findings,
    generations::findings,
    staleness::findings,
    files::findings,
    tasks::findings,
    entire::findings,
    obra::findings,
    leo::findings,
];

/// Finds everything, worst first, in a stable order; what an earlier report has found just so is
/// taken from there.
pub fn findings(facts: &Facts<'_>, earlier: &[Finding]) -> Vec<Finding> {
    let mut all = Vec::with_capacity(earlier.len());
    for family in FAMILIES {
        let from = all.len();
        family(facts, &mut all);
        let found = all.get_mut(from..).unwrap_or_default();
        found.sort_unstable_by(Finding::order);
        share(found, earlier);
    }
    staleness::leave_out_users(&mut all);
    all.sort_unstable_by(Finding::order);
    all.shrink_to_fit();
    all
}

/// Puts those of an earlier report, which are in order as well, in the place of equal ones.
fn share(found: &mut [Finding], earlier: &[Finding]) {
    let mut earlier = earlier.iter().peekable();
    for finding in found {
        while earlier.next_if(|one| one.order(finding).is_lt()).is_some() {}
        if let Some(same) = earlier.peek().filter(|one| **one == finding) {
            *finding = Finding::clone(same);
        }
    }
}
