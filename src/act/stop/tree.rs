//! The processes that a plan would end: one with all that runs below it, as it is now.

use std::collections::BTreeMap;

use crate::act::error::ActionError;
use crate::act::fs::print::sha256;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::stop::newcomer::{refusal, refusal_below};
use crate::act::stop::processes::{Processes, hindered_now, print_of};
use crate::core::model::{
    Load, Member, Plan, Port, ProcessId, ProcessPrint, Report, Signal, Step, WindowView,
};
use crate::core::plan::stop::heed_clients;

/// The message for a process to which no handle can be opened for certain.
const NOT_OURS: &str =
    "is not yours, is in another PID namespace (such as a container's), or cannot be identified";

/// Reads what runs below a process that would be ended, adds all of it to the plan, and returns it with the state that
/// a confirmation covers.
///
/// # Errors
/// It is not what the plan says, or something below it must never be ended.
pub(crate) fn prepare(
    machine: &dyn Processes,
    report: &Report,
    plan: &mut Plan,
) -> Result<(Vec<PreparedStep>, String), ActionError> {
    let Some(Step::Stop { id, signal, .. }) = plan.steps.first().cloned() else {
        return Err(ActionError::Never("the plan ends no process".to_owned()));
    };
    let window = report.windows.iter().find(|window| window.key == plan.subject);
    let mut tree = Vec::new();
    for print in self::tree(machine, id)? {
        let why = match window {
            Some(_) if print.id == id => None,
            Some(window) => refusal_below(machine, report, window, &print),
            None => refusal(machine, &print),
        };
        let held = machine.hold(print.id.pid)?;
        let hindered = || held.and_then(|held| hindered_now(machine, &*held, &print));
        match why.or_else(hindered) {
            None => tree.push(print),
            // Nothing is known of a process that has exited.
            Some(_) if print.id != id && has_gone(machine, print.id)? => {}
            Some(why) => return Err(ActionError::Never(why)),
        }
    }
    let ids: Vec<ProcessId> = tree.iter().map(|print| print.id).collect();
    let ports = machine.ports(&ids);
    let unread = ids.iter().find(|id| !ports.contains_key(id)).map(|id| id.pid);
    plan.tree = members(report, &tree, ports, &machine.loads(&ids));
    heed_clients(plan, unread);
    plan.steps.extend(tree.iter().skip(1).map(|print| step(print, signal)));
    if signal == Signal::Term {
        plan.steps.reverse();
    }
    // The topmost must be the very process; below it, where commands come and go, the same must run. What runs below a
    // window is its own business.
    let mut below: Vec<(&str, &str)> = match window {
        Some(_) => Vec::new(),
        None => tree.iter().skip(1).map(|print| (print.exe.raw(), print.command.raw())).collect(),
    };
    below.sort_unstable();
    let state = format!("{signal:?} {:?} {:?} {below:?}", plan.confirmation, tree.first());
    let prepared = tree.into_iter().map(|print| PreparedStep::Stop { print, signal });
    Ok((prepared.collect(), sha256(state.as_bytes())))
}

fn step(print: &ProcessPrint, signal: Signal) -> Step {
    Step::Stop { id: print.id, command: print.command.clone(), signal, is_topmost: false }
}

/// Describes each process: what is known of it, what it is and takes now.
fn members(
    report: &Report,
    tree: &[ProcessPrint],
    mut ports: BTreeMap<ProcessId, Vec<Port>>,
    loads: &BTreeMap<ProcessId, Load>,
) -> Vec<Member> {
    let started_at = |id: ProcessId| {
        let known = report.left_overs.iter().flat_map(|one| &one.tree).find(|member| member.id == id);
        let window = |window: &&WindowView| (window.pid, window.start_ticks) == (id.pid, id.start_ticks);
        let of_window = || report.windows.iter().find(window)?.started_at;
        known.and_then(|known| known.started_at).or_else(of_window)
    };
    let member = |print: &ProcessPrint| {
        let load = loads.get(&print.id).copied().unwrap_or_default();
        Member {
            id: print.id,
            parent: print.parent,
            started_at: started_at(print.id),
            command: print.command.clone(),
            folder: print.folder.clone(),
            memory: load.memory,
            cpu_time: load.cpu_time,
            ports: ports.remove(&print.id).unwrap_or_default(),
        }
    };
    tree.iter().map(member).collect()
}

/// Returns a process with all that runs below it, the topmost first and parents before children.
fn tree(machine: &dyn Processes, topmost: ProcessId) -> Result<Vec<ProcessPrint>, ActionError> {
    let mut children: BTreeMap<u32, Vec<ProcessId>> = BTreeMap::new();
    let mut parents: BTreeMap<u32, u32> = BTreeMap::new();
    for (id, parent) in machine.parents()? {
        children.entry(parent).or_default().push(id);
        parents.insert(id.pid, parent);
    }
    let own: Vec<u32> =
        std::iter::successors(Some(machine.own_pid()), |pid| parents.get(pid).copied()).take(64).collect();
    let print = machine.print(topmost.pid).filter(|print| print.id == topmost);
    let print = print.ok_or_else(|| {
        let why = format!("PID {} has ended, or {NOT_OURS}", topmost.pid);
        ActionError::Never(why)
    })?;
    let mut found = vec![print];
    let mut at = 0;
    while let Some(above) = found.get(at).map(|print| print.id.pid) {
        if own.contains(&above) {
            return Err(ActionError::Never(format!("claimtop itself runs below PID {above}")));
        }
        for id in children.get(&above).into_iter().flatten() {
            let Some(held) = machine.hold(id.pid)? else { continue };
            match print_of(machine, &*held, *id) {
                Some(print) if print.parent != above => {}
                Some(print) if found.iter().any(|known| known.id == print.id) => {}
                Some(print) => found.push(print),
                None if has_gone(machine, *id)? => {}
                None => {
                    let why = format!("PID {} below it {NOT_OURS}", id.pid);
                    return Err(ActionError::Never(why));
                }
            }
        }
        at += 1;
    }
    Ok(found)
}

/// Returns whether a process has ended since it was listed, including one that was not reaped yet.
fn has_gone(machine: &dyn Processes, id: ProcessId) -> Result<bool, ActionError> {
    let Some(held) = machine.hold(id.pid)? else { return Ok(true) };
    let is_it = machine.parents()?.iter().any(|(other, _)| *other == id);
    Ok(!is_it || held.has_exited() == Some(true))
}
