//! What is visible only across machines: one session or one claim with living holders on two of them.
//!
//! Each machine's own claimtop has judged its windows. Only its certain results are compared here, and only while it
//! is connected: a silent machine raises nothing, and ends nothing.

mod adoptions;
mod claims;
mod needs;
mod sessions;
mod sites;

use std::sync::Arc;

use self::sites::{Findings, Sites};
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::model::{ClaimStatus, Report};

/// Adds the collisions between windows of several machines, and their needs.
pub(crate) fn collide(all: &mut Report, machines: &[FarMachine]) {
    let sites = Sites::from_report(all, machines);
    if sites.are_one() {
        return;
    }
    let mut found = Findings::default();
    sessions::shared(&sites, &mut found);
    claims::contested(&sites, &mut found);
    adoptions::adopted(&sites, &mut found);
    let Findings { findings, contested } = found;
    let needs = needs::needs(&findings, &sites);
    for claim in all.claims.iter_mut().filter(|claim| contested.contains(&claim.key)) {
        claim.status = ClaimStatus::Contested;
    }
    all.findings.extend(findings.into_iter().map(Arc::new));
    all.needs.extend(needs);
}
