//! Findings: one file per family, each rule a function of the judged world.

pub(crate) mod facts;
pub(crate) mod files;
pub(crate) mod found;
pub(crate) mod generations;
pub(crate) mod holders;
pub(crate) mod identity;
pub(crate) mod left_overs;
pub(crate) mod place;
pub(crate) mod staleness;
pub(crate) mod system;
pub(crate) mod unfinished;
pub(crate) mod unstable;

pub(crate) use self::system::registry::{entries, gone_entry};
use std::sync::Arc;

use crate::core::judge::rules::facts::Facts;
use crate::core::judge::rules::found::Findings;
use crate::core::model::{Finding, JudgedRecord};

type Family = for<'a> fn(&'a Facts<'a>, &mut Findings<'_>);

const FAMILIES: [Family; 19] = [
    identity::findings,
    unstable::findings,
    place::sharing::findings,
    place::edits::findings,
    place::lost::findings,
    place::places::findings,
    place::folders::findings,
    holders::findings,
    system::registry::findings,
    staleness::findings,
    files::findings,
    system::entire::findings,
    system::obra::findings,
    system::stray::findings,
    system::leo::findings,
    left_overs::findings,
    place::ports::findings,
    place::foresight::findings,
    unfinished::findings,
];

/// Finds what one record alone shows, by all families: thousands of records are fetched but once.
fn of_record<'a>(judged: &'a JudgedRecord, facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    identity::of_record(judged, facts, found);
    place::sharing::of_record(judged, facts, found);
    holders::of_record(judged, facts, found);
    generations::of_record(judged, facts, found);
    staleness::of_record(judged, facts, found);
    files::of_record(judged, found);
    system::registry::of_record(judged, facts, found);
    system::tasks::of_record(judged, facts, found);
}

/// Finds everything, worst first, in a stable order.
pub(crate) fn findings(facts: &Facts<'_>, earlier: &[Arc<Finding>]) -> Vec<Arc<Finding>> {
    let mut found = Findings::beside(earlier);
    facts.records.iter().for_each(|judged| of_record(judged, facts, &mut found));
    FAMILIES.iter().for_each(|family| family(facts, &mut found));
    let Findings { mut all, .. } = found;
    staleness::leave_out_users(&mut all);
    all.sort_unstable_by(|one, other| one.order(other));
    all.shrink_to_fit();
    all
}
