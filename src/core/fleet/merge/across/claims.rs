//! Items of work held by living windows of two machines.

use std::collections::BTreeMap;

use jiff::Timestamp;

use super::sites::{EVIDENCE, PlacedWindow, Sites, some_of_each};
use crate::core::fleet::merge::across::sites::Findings;
use crate::core::judge::claim::thing;
use crate::core::judge::rules::facts::{count, listed};
use crate::core::judge::story::chain::{Chain, Ending, so};
use crate::core::judge::story::scene::{began_at, session_name};
use crate::core::model::{
    Cause, ClaimStatus, ClaimView, Code, Evidence, Finding, Remedy, Resource, ResourceKind, Story,
    VerdictState,
};

/// A claim of a living window.
#[derive(Clone, Copy)]
struct LivingClaim<'a> {
    claim: &'a ClaimView,
    holder: PlacedWindow<'a>,
}

impl<'a> LivingClaim<'a> {
    fn of(claim: &'a ClaimView, sites: &Sites<'a>) -> Option<Self> {
        let is_held = match claim.status {
            ClaimStatus::Held | ClaimStatus::Quiet | ClaimStatus::Contested => true,
            // If only some of its surfaces state it, its holder may still work on it.
            ClaimStatus::Ghost => claim.record.verdict.state == VerdictState::Alive,
            ClaimStatus::Dead | ClaimStatus::Expired | ClaimStatus::Unproven => false,
        };
        // Equal names of projects, locks and tasks on two machines mean different things; an item of work has a unique
        // name.
        let is_same_everywhere = claim.resource.kind == ResourceKind::WorkItem;
        if !is_held || !is_same_everywhere || !claim.is_known() {
            return None;
        }
        Some(Self { claim, holder: sites.window(claim.window.as_ref()?)? })
    }

    fn since(&self) -> Timestamp {
        self.holder.site.here(self.claim.since.unwrap_or_else(|| began_at(&self.claim.record)))
    }

    /// Returns whether two claims on one machine are indistinguishable for claims on another.
    fn counts_as(&self, other: &LivingClaim<'_>) -> bool {
        self.claim.record.session_id == other.claim.record.session_id && self.holder.counts_as(&other.holder)
    }

    /// Returns whether two claims certainly belong to two sessions; one session that runs twice is a finding of its
    /// own.
    fn is_apart(&self, other: &LivingClaim<'_>) -> bool {
        let is_of_one = self.claim.record.session_id.is_some()
            && self.claim.record.session_id == other.claim.record.session_id;
        !is_of_one && self.holder.is_apart(&other.holder)
    }
}

/// Finds items of work held by windows of two machines.
pub(super) fn contested(sites: &Sites<'_>, found: &mut Findings) {
    let mut items: BTreeMap<Resource, Vec<LivingClaim<'_>>> = BTreeMap::new();
    for (claim, _) in sites.claims() {
        if let Some(held) = LivingClaim::of(claim, sites) {
            items.entry(thing(&claim.resource)).or_default().push(held);
        }
    }
    for (item, all) in items {
        let some = some_of_each(&all, |held| held.holder, LivingClaim::counts_as);
        let is_apart = |one: &&LivingClaim<'_>| some.iter().any(|other| one.is_apart(other));
        let mut apart: Vec<LivingClaim<'_>> = all.iter().filter(is_apart).copied().collect();
        apart.sort_by_key(LivingClaim::since);
        if let Some(finding) = finding(&item, &apart) {
            found.contested.extend(apart.iter().map(|held| held.claim.key.clone()));
            found.findings.push(finding);
        }
    }
}

fn finding(item: &Resource, held: &[LivingClaim<'_>]) -> Option<Finding> {
    let mut names: Vec<String> = held.iter().map(|one| one.holder.name()).collect();
    names.dedup();
    let message = format!(
        "{} {} is held by {}, {}: let one of them release it",
        item.kind.name(),
        item.id,
        count(names.len(), "live window"),
        listed(&names)
    );
    let evidence: Vec<Evidence> =
        held.iter().take(EVIDENCE).map(|one| one.holder.site.evidence(&one.claim.record)).collect();
    let subjects = held.iter().map(|one| one.claim.key.clone());
    let mut finding = Finding::new(Code::ContestedClaim, subjects, message, evidence, Remedy::Release);
    finding.story = Some(Box::new(story(item, held)?));
    Some(finding)
}

fn story(item: &Resource, held: &[LivingClaim<'_>]) -> Option<Story> {
    let (first, later) = held.split_first()?;
    let what = format!("{} {}", item.kind.name(), item.id);
    let mut chain = Chain::default();
    for LivingClaim { claim, holder } in held {
        holder.tell_start(&mut chain);
        let says = holder.site.file(&claim.record);
        let sentence = format!("{} claimed {what}, says {says}", session_name(&claim.record));
        let at = LivingClaim { claim, holder: *holder }.since();
        chain.saw(Some(at), sentence, [holder.site.evidence(&claim.record)]);
    }
    let name = format!("{} {}", session_name(&first.claim.record), first.holder.site.suffix());
    let sentence =
        format!("the later claim was written while {name} still held {what}: it had not been released");
    let ending = Ending::new(
        Cause::DoubleClaim,
        format!("let all but {name} release {what}"),
        "a release by one of them, or a surface (the database) that names one holder",
    );
    let evidence: Vec<Evidence> = held.iter().take(EVIDENCE).map(|one| one.holder.evidence()).collect();
    let story = chain.end(ending, so(sentence, evidence))?;
    Some(Story { yields: later.iter().map(|one| one.claim.key.clone()).collect(), ..story })
}
