//! A session that the entire CLI has adopted on one machine while it runs on another.

use std::collections::HashMap;

use super::sites::{PlacedWindow, Site, Sites};
use crate::core::fleet::merge::across::sites::Findings;
use crate::core::judge::rules::facts::file_name;
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::model::{Cause, ClaimView, Code, Finding, Format, Remedy, ResourceKind, Story, Untrusted};

/// Finds sessions that run on one machine and were adopted on another.
pub(super) fn adopted(sites: &Sites<'_>, found: &mut Findings) {
    let is_adoption = |claim: &ClaimView| {
        claim.resource.kind == ResourceKind::Session
            && claim.record.format == Format::Entire
            && !claim.record.has_ended
            && claim.is_known()
    };
    let adoptions: Vec<_> = sites.claims().filter(|(claim, _)| is_adoption(claim)).collect();
    let mut running: HashMap<&Untrusted, Vec<PlacedWindow<'_>>> =
        adoptions.iter().map(|(claim, _)| (&claim.resource.id, Vec::new())).collect();
    for placed in sites.windows() {
        let session = placed.window.session_id.as_ref();
        session.and_then(|session| running.get_mut(session)).into_iter().for_each(|all| all.push(placed));
    }
    let findings = adoptions.iter().filter_map(|(claim, site)| {
        let windows = running.get(&claim.resource.id)?;
        // If it runs in both places, that is the finding.
        let is_elsewhere = windows.iter().all(|placed| !placed.site.is(*site));
        let holder = windows.first().filter(|_| is_elsewhere)?;
        // A cache shared by both machines is the same on both: the session was adopted where it runs.
        let is_copy = |(other, at): &&(&ClaimView, Site<'_>)| {
            at.is(holder.site) && other.resource == claim.resource && other.since == claim.since
        };
        if adoptions.iter().any(|one| is_copy(&one)) {
            return None;
        }
        finding(claim, *site, holder)
    });
    found.findings.extend(findings);
}

fn finding(claim: &ClaimView, site: Site<'_>, holder: &PlacedWindow<'_>) -> Option<Finding> {
    let (session, folder) = (&claim.resource.id, claim.record.title.shown());
    let message = format!(
        "session {session} runs in {}, and entire adopts it for {folder} {}: its checkpoints go to two places; run \
         it in only one",
        holder.name(),
        site.suffix()
    );
    let evidence = [holder.evidence(), site.evidence(&claim.record)];
    let subjects = [claim.key.clone(), holder.window.key.clone()];
    let mut finding = Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::None);
    let mut chain = Chain::default();
    holder.tell_start(&mut chain);
    let at = claim.since.map(|at| site.here(at));
    let sentence = format!(
        "{folder} asked to adopt session {session}, says {} {}",
        file_name(&claim.record),
        site.suffix()
    );
    chain.saw(at, sentence, [site.evidence(&claim.record)]);
    let ending = Ending::new(
        Cause::DoubleClaim,
        format!("end {} before {folder} {} continues it", holder.name(), site.suffix()),
        "the adoption dropped (it lasts 1 h), or the window gone",
    );
    let sentence = format!("it was adopted {} while {} still ran it", site.suffix(), holder.name());
    let story = chain.end(ending, so(sentence, [holder.evidence()]))?;
    finding.story = Some(Box::new(Story { yields: vec![claim.key.clone()], ..story }));
    Some(finding)
}
