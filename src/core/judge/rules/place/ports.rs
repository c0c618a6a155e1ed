//! Findings about ports: one window's command could not listen on a port that another window has.

use crate::core::judge::edited::certain_work;
use crate::core::judge::rules::facts::{Facts, window_evidence, window_name};
use crate::core::judge::rules::found::Findings;
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{
    Certainty, Code, Evidence, Finding, Process, ProcessId, Remedy, TakenPort, WindowView,
};

/// A port that two windows want.
pub(crate) struct PortConflict<'a> {
    /// The window whose command could not get it.
    pub(crate) by: &'a WindowView,
    pub(crate) taken: &'a TakenPort,
    /// The window that has it.
    pub(crate) holder: &'a WindowView,
    /// The process of that window that listens.
    pub(crate) listener: &'a Process,
}

/// Finds ports that two windows want.
pub(crate) fn findings<'a>(facts: &'a Facts<'a>, found: &mut Findings<'_>) {
    found.extend(wanted(facts).map(|wanted| finding(&wanted)));
}

/// Returns every port that a command of a window's could not get because of another living window.
pub(crate) fn wanted<'a>(facts: &'a Facts<'a>) -> impl Iterator<Item = PortConflict<'a>> {
    let taken = |by: &'a WindowView| {
        certain_work(by).into_iter().flat_map(|work| &work.doing.taken_ports).map(move |taken| (by, taken))
    };
    facts.windows.iter().flat_map(taken).filter_map(|(by, taken)| {
        let (holder, listener) = holder(facts, taken.by?)?;
        (holder.key != by.key).then_some(PortConflict { by, taken, holder, listener })
    })
}

/// Returns the window that a process runs below or beside.
fn holder<'a>(facts: &'a Facts<'a>, id: ProcessId) -> Option<(&'a WindowView, &'a Process)> {
    let table = &facts.world.snapshot.processes;
    let process = table.get(id.pid).filter(|process| process.id == id)?;
    let above = ancestry(table, id.pid);
    let below = above.iter().find_map(|above| facts.window(above.id.pid));
    let has =
        |pid: u32, ticks: u64| above.iter().any(|above| (above.id.pid, above.id.start_ticks) == (pid, ticks));
    let beside = || {
        let held = facts.left_overs.iter().filter(|one| one.certainty == Certainty::Held);
        let one = held.into_iter().find(|one| has(one.pid, one.start_ticks))?;
        facts.window(one.window_pid?)
    };
    Some((below.or_else(beside)?, process))
}

fn finding(wanted: &PortConflict<'_>) -> Finding {
    let PortConflict { by, taken, holder, listener } = wanted;
    let (port, pid) = (taken.port, listener.id.pid);
    let message = format!(
        "{} and {} both want port {port}: {} has it ({}, PID {pid}), so {} could not listen there: give one of \
         them another port",
        window_name(holder),
        window_name(by),
        window_name(holder),
        listener.comm,
        window_name(by),
    );
    let mut evidence = vec![window_evidence(holder), window_evidence(by)];
    evidence.push(listens(wanted));
    evidence.extend(could_not(wanted));
    let subjects = [holder.key.clone(), by.key.clone()];
    Finding::new(Code::ContestedPort, subjects, message, evidence, Remedy::None)
}

/// States which window has the port.
pub(crate) fn listens(wanted: &PortConflict<'_>) -> Evidence {
    let pid = wanted.listener.id.pid;
    let value = format!("{} (PID {pid}) listens on port {}", wanted.listener.comm, wanted.taken.port);
    Evidence::new("listener", value, format!("/proc/{pid}/fd"))
}

/// States which window could not get it.
pub(crate) fn could_not(wanted: &PortConflict<'_>) -> Option<Evidence> {
    let source = certain_work(wanted.by)?.path.text().clone();
    let value = format!("a command of {} could not listen on {}", window_name(wanted.by), wanted.taken.port);
    Some(Evidence::new("refused", value, source).dated(wanted.taken.at))
}
