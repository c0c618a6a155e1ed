//! Findings: one file per family, each rule a function of the judged world.

pub(crate) mod edits;
pub(crate) mod entire;
pub(crate) mod facts;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod generations;
pub(crate) mod holders;
pub(crate) mod identity;
pub(crate) mod leo;
pub(crate) mod obra;
pub(crate) mod places;
pub(crate) mod registry;
pub(crate) mod sharing;
pub(crate) mod staleness;
pub(crate) mod tasks;

pub(crate) use self::registry::{entries, gone_entry};
use std::sync::Arc;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::found::Found;
use crate::core::model::Finding;

type Family = for<'a> fn(&'a Facts<'a>, &mut Found<'_>);

const FAMILIES: [Family; 13] = [
    identity::findings,
    sharing::findings,
    edits::findings,
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
