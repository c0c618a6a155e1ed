//! Findings: one file per family, each rule a function of the judged world.

pub mod entire;
pub mod facts;
pub mod files;
pub(crate) mod found;
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
use std::sync::Arc;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::found::Found;
use crate::core::model::finding::Finding;

/// One family of rules.
type Family = for<'a> fn(&'a Facts<'a>, &mut Found<'_>);

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

/// Finds everything, worst first, in a stable order.
pub(crate) fn findings(facts: &Facts<'_>, earlier: &[Arc<Finding>]) -> Vec<Arc<Finding>> {
    let mut found = Found::beside(earlier);
    FAMILIES.iter().for_each(|family| family(facts, &mut found));
    let Found { mut all, .. } = found;
    staleness::leave_out_users(&mut all);
    all.sort_unstable_by(|one, other| one.order(other));
    all.shrink_to_fit();
    all
}
