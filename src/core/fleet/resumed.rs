//! Records here of the dead whose session goes on elsewhere: what they claim is that window's.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::core::fleet::far::FarMachine;
use crate::core::judge::rules::facts::window_name;
use crate::core::model::{
    ClaimStatus, Code, Evidence, Finding, Key, MachineState, Need, NeedKind, Reason, RecordView, Remedy,
    Report, Untrusted, VerdictState, WindowView,
};

/// Leaves what the dead here claim to the windows of other machines that are certain to run their sessions.
pub(crate) fn hand_over(all: &mut Report, machines: &[FarMachine]) {
    let live = machines.iter().filter(|told| told.view.state == MachineState::Live);
    let windows = live.filter_map(|told| told.report.as_deref()).flat_map(|report| &report.windows);
    let elsewhere: HashMap<&Untrusted, &WindowView> = windows.filter_map(by_session).collect();
    let here: HashMap<&Untrusted, &WindowView> = all.windows.iter().filter_map(by_session).collect();
    let runs_in = |record: &RecordView| {
        let session = record.session_id.as_ref()?;
        // Whoever was judged here was judged by the windows here as well.
        let is_witnessed = record.verdict.reason == Reason::Witnessed;
        elsewhere.get(session).copied().or_else(|| here.get(session).copied().filter(|_| is_witnessed))
    };
    let is_dead =
        |record: &&Arc<RecordView>| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
    let dead = all.records.iter().filter(is_dead);
    let resumed: HashMap<Key, (Arc<RecordView>, WindowView)> = dead
        .filter_map(|record| Some((record.key.clone(), (Arc::clone(record), runs_in(record)?.clone()))))
        .collect();
    if resumed.is_empty() {
        return;
    }
    for claim in all.claims.iter_mut().filter(|claim| claim.status == ClaimStatus::Dead) {
        if let Some((_, window)) = resumed.get(&claim.record.key) {
            (claim.status, claim.window) = (ClaimStatus::Held, Some(window.key.clone()));
        }
    }
    all.findings.retain(|finding| {
        !is_of_dead(finding) || !finding.subjects.iter().all(|key| resumed.contains_key(key))
    });
    let told = resumed.values().map(|(record, window)| Arc::new(tell(record, window)));
    all.findings.extend(told);
    let sessions: HashSet<&Untrusted> =
        resumed.values().filter_map(|(record, _)| record.session_id.as_ref()).collect();
    all.needs.retain_mut(|need| !has_left_nothing(need, &sessions));
}

fn by_session(window: &WindowView) -> Option<(&Untrusted, &WindowView)> {
    Some((window.session_id.as_ref()?, window))
}

/// Returns whether a finding says no more than that a holder is dead.
fn is_of_dead(finding: &Finding) -> bool {
    matches!(finding.code, Code::DeadHolder | Code::RecycledPid | Code::RebootedHolder)
}

fn tell(record: &RecordView, window: &WindowView) -> Finding {
    let place = window.key.machine().map_or_else(|| "here".to_owned(), |machine| format!("on {machine}"));
    let who = format!("{} {place}", window_name(window));
    let says = format!("its process is gone, but the session runs in {who}: do not release");
    let sight = Evidence::new("window", who, "its claimtop").at(window.started_at);
    let evidence: Vec<Evidence> = [sight].into_iter().chain(record.all_evidence()).collect();
    Finding::of_record(Code::WrongPid, record, says, evidence, Remedy::None)
}

/// Takes the claims out of what a session left that goes on; returns whether nothing is left of it.
fn has_left_nothing(need: &mut Need, resumed: &HashSet<&Untrusted>) -> bool {
    let NeedKind::Died(left) = &mut need.kind else { return false };
    if !left.session.as_ref().is_some_and(|session| resumed.contains(session)) {
        return false;
    }
    left.claims.clear();
    left.left_overs.is_empty() && left.left_trees.is_empty() && left.uncommitted == 0
}
