//! Records here of dead holders whose session continues elsewhere: their claims belong to that window.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::judge::rules::facts::window_name;
use crate::core::model::{
    ClaimStatus, Code, Evidence, FarSession, Finding, Key, Need, NeedKind, Reason, RecordView, Remedy,
    Report, Untrusted, VerdictState, WindowView,
};

/// The most characters of a window's name that a person may have to type.
const TYPED_AT_MOST: usize = 40;

/// Gives the claims of dead holders here to the windows of other machines that certainly run their sessions. If such a
/// machine is silent now, the holder is unknown.
pub(crate) fn hand_over(all: &mut Report, machines: &[FarMachine]) {
    let resumed = resumed(all, machines);
    if resumed.is_empty() {
        return;
    }
    let mut changed: HashMap<Key, Arc<RecordView>> = HashMap::new();
    for record in &mut all.records {
        let Some(window) = resumed.get(&record.key) else { continue };
        let record = Arc::make_mut(record);
        match window.far_session() {
            Some(session) => record.lives_on = Some(Box::new(session)),
            None => record.lives_in = Some(window.view.pid),
        }
        changed.insert(record.key.clone(), Arc::new(record.clone()));
    }
    for claim in &mut all.claims {
        let Some((window, record)) = resumed.get(&claim.record.key).zip(changed.get(&claim.record.key))
        else {
            continue;
        };
        claim.record = Arc::clone(record);
        (claim.status, claim.window) = match (claim.status, window.is_heard) {
            (ClaimStatus::Dead, true) => (ClaimStatus::Held, Some(window.view.key.clone())),
            (ClaimStatus::Dead, false) => (ClaimStatus::Unproven, None),
            (status, _) => (status, claim.window.take()),
        };
    }
    all.findings.retain(|finding| {
        !is_of_dead(finding) || !finding.subjects.iter().all(|key| resumed.contains_key(key))
    });
    let findings = changed.values().filter_map(|record| Some(finding(record, resumed.get(&record.key)?)));
    all.findings.extend(findings.map(Arc::new));
    let sessions: HashSet<&Untrusted> =
        changed.values().filter_map(|record| record.session_id.as_ref()).collect();
    all.needs.retain_mut(|need| !has_left_nothing(need, &sessions));
}

/// A window that runs the session of a dead holder.
#[derive(Clone)]
struct ResumingWindow {
    view: WindowView,
    /// Whether it is visible now.
    is_heard: bool,
}

impl ResumingWindow {
    fn who(&self) -> String {
        let place = self.view.key.machine().map_or_else(|| "here".to_owned(), |name| format!("on {name}"));
        format!("{} {place}", window_name(&self.view))
    }

    /// Returns it as a session of another machine, if it is one.
    fn far_session(&self) -> Option<FarSession> {
        let machine = self.view.key.machine()?;
        let title = self.view.title();
        let is_long = title.chars().count() > TYPED_AT_MOST;
        let name = if is_long { format!("PID {}", self.view.pid) } else { title };
        let (window, label) = (self.view.key.clone(), format!("{name}@{machine}"));
        Some(FarSession { window, label, who: self.who(), is_heard: self.is_heard })
    }
}

/// Returns the records of dead holders here, each with the window that runs its session.
fn resumed(all: &Report, machines: &[FarMachine]) -> HashMap<Key, ResumingWindow> {
    let is_dead =
        |record: &&Arc<RecordView>| record.verdict.state == VerdictState::Dead && record.lives_in.is_none();
    let mut dead = all.records.iter().filter(is_dead).peekable();
    // Without dead holders, thousands of windows need not be listed.
    if dead.peek().is_none() {
        return HashMap::new();
    }
    let windows = |is_live: bool| -> HashMap<&Untrusted, &WindowView> {
        let machine = machines.iter().filter(|machine| machine.view.state.is_heard() == is_live);
        let windows =
            machine.filter_map(|machine| machine.report.as_deref()).flat_map(|report| &report.windows);
        windows.filter_map(by_session).collect()
    };
    let (heard, silent) = (windows(true), windows(false));
    let here: HashMap<&Untrusted, &WindowView> = all.windows.iter().filter_map(by_session).collect();
    let runs_in = |record: &RecordView| {
        let session = record.session_id.as_ref()?;
        // A record judged here was also judged by the windows here.
        let is_witnessed = record.verdict.reason == Reason::Witnessed;
        let now = heard.get(session).or_else(|| here.get(session).filter(|_| is_witnessed));
        let now = now.map(|view| (view, true)).or_else(|| silent.get(session).map(|view| (view, false)));
        now.map(|(view, is_heard)| ResumingWindow { view: (*view).clone(), is_heard })
    };
    dead.filter_map(|record| Some((record.key.clone(), runs_in(record)?))).collect()
}

fn by_session(window: &WindowView) -> Option<(&Untrusted, &WindowView)> {
    Some((window.session_id.as_ref()?, window))
}

/// Returns whether a finding states only that a holder is dead.
pub(crate) fn is_of_dead(finding: &Finding) -> bool {
    matches!(finding.code, Code::DeadHolder | Code::RecycledPid | Code::RebootedHolder)
}

fn finding(record: &RecordView, window: &ResumingWindow) -> Finding {
    let who = window.who();
    let says = match window.is_heard {
        true => format!("its process is gone, but the session runs in {who}: do not release"),
        false => {
            format!("its process is gone, but the session was last seen running in {who}: do not release")
        }
    };
    let sight = Evidence::new("window", who, "its claimtop").dated(window.view.started_at);
    let evidence: Vec<Evidence> = [sight].into_iter().chain(record.all_evidence()).collect();
    Finding::of_record(Code::WrongPid, record, says, evidence, Remedy::None)
}

/// Removes the claims from the remains of a session that continues; returns whether nothing remains.
pub(crate) fn has_left_nothing(need: &mut Need, resumed: &HashSet<&Untrusted>) -> bool {
    let NeedKind::Died(left) = &mut need.kind else { return false };
    if !left.session.as_ref().is_some_and(|session| resumed.contains(session)) {
        return false;
    }
    left.claims.clear();
    left.left_overs.is_empty()
        && left.left_trees.is_empty()
        && left.left_stashes.is_empty()
        && left.uncommitted == 0
}
