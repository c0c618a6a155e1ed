//! The reports of several machines, merged into one.

pub(crate) mod across;
pub(crate) mod clones;
pub(crate) mod identity;
pub(crate) mod remote_machine;
pub(crate) mod resumed_sessions;
pub(crate) mod witness;

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use crate::core::fleet::merge::across::collide;
use crate::core::fleet::merge::clones::{doubt, doubt_own};
use crate::core::fleet::merge::identity::{Clones, doubts};
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::merge::resumed_sessions::hand_over;
use crate::core::fleet::merge::witness::testify;
use crate::core::fleet::wire::line::Identity;
use crate::core::fleet::wire::part::{keys_of_finding, keys_of_need};
use crate::core::judge::needs::rank;
use crate::core::model::snapshot::MACHINE;
use crate::core::model::{
    ClaimStatus, ClaimView, Code, Evidence, Finding, Key, MachineState, MachineView, NeedKind, Reason,
    RecordView, Releasable, Report, SourceHealth, SourceState, Untrusted, VerdictState, WindowView,
};
use crate::core::plan::about::{ReportView, releasable};

/// Merges the reports of other machines with the local one. Verdicts are not judged again, except that processes on a
/// silent machine are not known to live.
pub fn merged(local: &Report, machines: &[FarMachine]) -> Report {
    merged_beside(None, local, machines)
}

/// Merges them like [`merged`], and takes into account which of the machines is a clone of this one.
pub fn merged_beside(own: Option<&Identity>, local: &Report, machines: &[FarMachine]) -> Report {
    let mut all = local.clone();
    let live = machines.iter().filter(|machine| machine.view.state.is_heard());
    let seen_twice = seen_twice(local, live.filter_map(|machine| machine.report.as_deref()));
    if !seen_twice.is_empty() {
        show_once(&mut all, &seen_twice);
    }
    doubt_own(own, &mut all, machines);
    apply_testimony(&mut all, machines);
    let (clones, kernels) = (Clones::from_machines(machines), Kernels::of(local, machines));
    for machine in machines {
        let FarMachine { view, report, .. } = machine;
        all.sources.push(health(view));
        all.machines.push(view.clone());
        let Some(report) = report else { continue };
        let kin = kernels.seen_by(report);
        let mut report = match view.state {
            MachineState::Live | MachineState::Late => nearest(report, &kin),
            MachineState::Connecting | MachineState::Silent | MachineState::Unreached => {
                Cow::Owned(unseen(report, view, &kin))
            }
        };
        if let Some(clone) = clones.of_machine(machine) {
            doubt(report.to_mut(), &clone.view.name);
        }
        add(&mut all, &report);
    }
    // A window whose process is visible here has not ended, whatever another machine reports.
    let has_ended = |here: &Key| local.ended.iter().any(|ended| ended.window == *here);
    let living: BTreeSet<&Key> =
        seen_twice.iter().filter(|(here, _)| !has_ended(here)).map(|(_, there)| there).collect();
    all.ended.retain(|ended| !living.contains(&ended.window));
    collide(&mut all, machines);
    all.findings.extend(doubts(local, own, machines).into_iter().map(Arc::new));
    all.findings.sort_by(|one, other| Finding::order(one, other));
    all.needs.sort_by_key(rank);
    all
}

/// Adds what other machines know of the records here and of the sessions that these name, and nothing else of theirs.
pub fn apply_testimony(local: &mut Report, machines: &[FarMachine]) {
    testify(local, machines);
    hand_over(local, machines);
    let ways = ways_of_letting_go(local);
    for (claim, way) in local.claims.iter_mut().zip(ways) {
        claim.releasable = way.unwrap_or(claim.releasable);
    }
}

/// Returns how each claim may be let go of if another machine knows something of its holder.
fn ways_of_letting_go(report: &Report) -> Vec<Option<Releasable>> {
    let is_heard_of = |claim: &ClaimView| claim.record.witness().is_some() || claim.record.lives_on.is_some();
    if !report.claims.iter().any(is_heard_of) {
        return Vec::new();
    }
    let known = ReportView::new(report);
    let foreign: BTreeSet<&Key> = (report.findings.iter())
        .filter(|finding| finding.code == Code::ForeignOwner)
        .flat_map(|finding| &finding.subjects)
        .collect();
    let way = |claim: &ClaimView| releasable(&known, claim, foreign.contains(&claim.record.key));
    report.claims.iter().map(|claim| is_heard_of(claim).then(|| way(claim))).collect()
}

/// Returns the windows of this machine that another live one reports too, by their keys there: this machine sees the
/// processes of its containers, and another user's claimtop sees the same machine.
fn seen_twice<'a>(local: &Report, others: impl Iterator<Item = &'a Report>) -> BTreeMap<Key, Key> {
    let boot = &local.host.boot_id;
    let mut others = others.filter(|other| boot.is_some() && other.host.boot_id == *boot).peekable();
    if others.peek().is_none() {
        return BTreeMap::new();
    }
    let mut by_pid: HashMap<(u32, u64), Vec<&WindowView>> = HashMap::new();
    let mut by_inner_pid: HashMap<(u32, u64), Vec<&WindowView>> = HashMap::new();
    for here in &local.windows {
        by_pid.entry((here.pid, here.start_ticks)).or_default().push(here);
        if let Some(pid) = here.place.inner_pid {
            by_inner_pid.entry((pid, here.start_ticks)).or_default().push(here);
        }
    }
    let mut pairs: Vec<(&WindowView, &WindowView)> = Vec::new();
    for other in others {
        let is_ours = other.host.pid_namespace == local.host.pid_namespace;
        let counted = if is_ours { &by_pid } else { &by_inner_pid };
        for there in &other.windows {
            let here = counted.get(&(there.pid, there.start_ticks)).into_iter().flatten();
            // For windows that are known to this machine its own report counts, whichever other claimtop is in its
            // namespace.
            let may_be_theirs = |here: &WindowView| !is_ours || here.records.is_empty();
            pairs.extend(here.filter(|here| may_be_theirs(here)).map(|here| (*here, there)));
        }
    }
    // Two containers can use the same PID and start in the same tick. Then the folder decides; if that is the same
    // too, both are shown.
    let in_one_folder =
        |(here, there): &(&WindowView, &WindowView)| here.cwd.is_some() && here.cwd == there.cwd;
    let of_one_folder: Vec<_> = pairs.iter().copied().filter(in_one_folder).collect();
    let certain = only_pairs(&pairs).chain(only_pairs(&of_one_folder));
    certain.map(|(here, there)| (here.key.clone(), there.key.clone())).collect()
}

/// Returns the pairs of which neither window is in another pair.
fn only_pairs<'a>(
    pairs: &[(&'a WindowView, &'a WindowView)],
) -> impl Iterator<Item = (&'a WindowView, &'a WindowView)> {
    let mut counts: HashMap<&Key, usize> = HashMap::new();
    for key in pairs.iter().flat_map(|(here, there)| [&here.key, &there.key]) {
        *counts.entry(key).or_default() += 1;
    }
    pairs
        .iter()
        .copied()
        .filter(move |(here, there)| [&here.key, &there.key].iter().all(|key| counts.get(*key) == Some(&1)))
}

/// The reports of connected machines, by the boot of the kernel that each sees.
struct Kernels<'a>(HashMap<&'a str, Vec<&'a Report>>);

impl<'a> Kernels<'a> {
    fn of(local: &'a Report, machines: &'a [FarMachine]) -> Self {
        let live = machines.iter().filter(|machine| machine.view.state.is_heard());
        let mut by: HashMap<_, Vec<_>> = HashMap::new();
        for report in live.filter_map(|machine| machine.report.as_deref()).chain([local]) {
            if let Some(boot) = &report.host.boot_id {
                by.entry(boot.as_str()).or_default().push(report);
            }
        }
        Self(by)
    }

    /// Returns all reports from the kernel of a report.
    fn seen_by(&self, report: &Report) -> Vec<&'a Report> {
        report.host.boot_id.as_deref().and_then(|boot| self.0.get(boot)).cloned().unwrap_or_default()
    }
}

/// Returns a machine's report without the windows that their own container's claimtop reports, whether on another
/// machine or this one: it is one of the `kin`, which see the same kernel.
fn nearest<'a>(report: &'a Report, kin: &[&Report]) -> Cow<'a, Report> {
    // Two claimtops in one namespace are reported as two witnesses of one machine.
    let inside = kin.iter().copied().filter(|other| other.host.pid_namespace != report.host.pid_namespace);
    let seen_twice = seen_twice(report, inside);
    if seen_twice.is_empty() {
        return Cow::Borrowed(report);
    }
    let mut report = report.clone();
    show_once(&mut report, &seen_twice);
    Cow::Owned(report)
}

/// Leaves these windows to the nearest claimtop; what refers to them here stays, with the key used there.
fn show_once(all: &mut Report, seen_twice: &BTreeMap<Key, Key>) {
    let is_once = |key: &Key| !seen_twice.contains_key(key);
    let name = |key: &mut Key| {
        if let Some(there) = seen_twice.get(key) {
            *key = there.clone();
        }
    };
    all.windows.retain(|window| is_once(&window.key));
    all.ended.retain(|ended| is_once(&ended.window));
    all.shown_once.extend(seen_twice.iter().map(|(here, there)| (here.clone(), there.clone())));
    // Whether any system has a record of it is better known there.
    all.findings.retain(|finding| finding.is_problem() || finding.subjects.iter().all(is_once));
    all.needs.retain(|need| {
        is_once(&need.subject)
            || !matches!(need.kind, NeedKind::Waits { .. } | NeedKind::Failed { .. } | NeedKind::Stuck { .. })
    });
    for finding in &mut all.findings {
        if !finding.subjects.iter().chain(finding.yields()).all(is_once) {
            keys_of_finding(Arc::make_mut(finding)).into_iter().for_each(name);
        }
    }
    for record in &mut all.records {
        if record.window.as_ref().is_some_and(|key| !is_once(key)) {
            Arc::make_mut(record).window.iter_mut().for_each(name);
        }
    }
    all.claims.iter_mut().filter_map(|claim| claim.window.as_mut()).for_each(name);
    all.needs.iter_mut().flat_map(keys_of_need).for_each(name);
}

fn add(all: &mut Report, other: &Report) {
    all.sources.extend_from_slice(&other.sources);
    all.windows.extend_from_slice(&other.windows);
    all.records.extend_from_slice(&other.records);
    all.claims.extend_from_slice(&other.claims);
    all.findings.extend(other.findings.iter().map(without_command));
    all.needs.extend_from_slice(&other.needs);
    all.broken.extend_from_slice(&other.broken);
    all.left_overs.extend_from_slice(&other.left_overs);
    all.left_trees.extend_from_slice(&other.left_trees);
    all.ended.extend_from_slice(&other.ended);
    all.shown_once.extend_from_slice(&other.shown_once);
}

/// Returns a finding of another machine without its command: nothing from another machine is run here.
fn without_command(finding: &Arc<Finding>) -> Arc<Finding> {
    let mut finding = Arc::clone(finding);
    if finding.command.is_some() {
        Arc::make_mut(&mut finding).command = None;
    }
    finding
}

/// Returns the last report of a machine that is now disconnected: the dead stay dead, and no process is known to live.
///
/// The processes of a container are still visible from its host: these windows are shown as seen there.
fn unseen(report: &Report, view: &MachineView, kin: &[&Report]) -> Report {
    let seen = kin.iter().flat_map(|host| seen_twice(host, [report].into_iter()));
    let here: BTreeMap<Key, Key> = seen.map(|(here, there)| (there, here)).collect();
    let mut report = report.clone();
    let lives_here = |record: &RecordView| record.window.as_ref().is_some_and(|key| here.contains_key(key));
    for record in report.records.iter_mut().filter(|record| !lives_here(record)) {
        forget_life(record, view);
    }
    for claim in report.claims.iter_mut().filter(|claim| !lives_here(&claim.record)) {
        forget_life(&mut claim.record, view);
        claim.status = match claim.status {
            ClaimStatus::Dead | ClaimStatus::Ghost | ClaimStatus::Expired => claim.status,
            ClaimStatus::Contested | ClaimStatus::Unproven | ClaimStatus::Quiet | ClaimStatus::Held => {
                ClaimStatus::Unproven
            }
        };
    }
    report.ended.clear();
    if !here.is_empty() {
        show_once(&mut report, &here);
    }
    report
}

fn forget_life(record: &mut Arc<RecordView>, view: &MachineView) {
    if record.verdict.state != VerdictState::Alive {
        return;
    }
    let seen = Evidence::new("machine", format!("{} is silent", view.name), view.transport.as_str())
        .dated(view.seen_at);
    Arc::make_mut(record).overrule(VerdictState::Unknown, Reason::NotSeen, seen);
}

/// Returns the connection state of a machine as a source's health.
fn health(view: &MachineView) -> SourceHealth {
    let state = match view.state {
        MachineState::Live | MachineState::Late if view.not_understood > 0 => SourceState::Partial,
        MachineState::Live | MachineState::Late => SourceState::Ok,
        MachineState::Connecting => SourceState::Partial,
        MachineState::Silent | MachineState::Unreached => SourceState::Failed,
    };
    let detail = match view.state {
        MachineState::Live | MachineState::Late if view.not_understood > 0 => {
            format!("sends {} things that this version does not know", view.not_understood)
        }
        MachineState::Live | MachineState::Late if !view.detail.is_empty() => view.detail.raw().to_owned(),
        MachineState::Live | MachineState::Late => format!("{} windows", view.windows),
        MachineState::Connecting => "connecting".to_owned(),
        MachineState::Silent | MachineState::Unreached => view.detail.raw().to_owned(),
    };
    SourceHealth { id: format!("{MACHINE}{}", view.name), state, detail: Untrusted::new(detail) }
}
