//! Ends processes: those that a person saw and confirmed, and no others.
//!
//! A PID alone is never signalled. A pidfd stays with one process, so it is opened first, and the PID is read through
//! `/proc` *after* that: if it is the confirmed process and is still alive then, the pidfd refers to it.

pub(crate) mod ending;
mod newcomer;
pub(crate) mod processes;
#[cfg_attr(not(target_os = "linux"), path = "stub.rs")]
pub(crate) mod system;
mod tree;

use std::collections::BTreeSet;

use crate::act::error::ActionError;
use crate::act::stop::ending::{Ending, end};
use crate::act::stop::processes::Processes;
pub(crate) use crate::act::stop::tree::prepare;
use crate::core::history::journal::Outcome;
use crate::core::model::{EndResult, ProcessPrint, Signal};

/// Ends the confirmed processes, and those that they have started since.
///
/// # Errors
/// Something is not as it was confirmed; nothing was signalled.
pub(crate) fn carry_out(
    processes: &dyn Processes,
    confirmed: &[ProcessPrint],
    signal: Signal,
    ports: &BTreeSet<u16>,
) -> Result<Outcome, ActionError> {
    let outcome = end(processes, confirmed, signal).map(|ending| outcome_of_ending(ending, signal))?;
    let read_back = Some(outcome.ended).filter(|ended| *ended == EndResult::Done);
    let ports_text = read_back.and_then(|_| freed(ports, processes.listening().as_ref()));
    Ok(Outcome {
        detail: [Some(outcome.detail), ports_text].into_iter().flatten().collect::<Vec<_>>().join("; "),
        ..outcome
    })
}

/// Describes whether the ports that were listened on are free.
fn freed(ports: &BTreeSet<u16>, listening: Option<&BTreeSet<u16>>) -> Option<String> {
    let listed = |ports: &BTreeSet<u16>| {
        let ports: Vec<String> = ports.iter().map(u16::to_string).collect();
        format!("port {}", ports.join(" and "))
    };
    if ports.is_empty() {
        return None;
    }
    let Some(listening) = listening else {
        return Some(format!("could not read whether {} is free", listed(ports)));
    };
    let taken: BTreeSet<u16> = ports.intersection(listening).copied().collect();
    Some(match taken.is_empty() {
        true => format!("{} is free", listed(ports)),
        false => format!("another process listens on {}", listed(&taken)),
    })
}

/// Describes the result of an ending.
fn outcome_of_ending(ending: Ending, signal: Signal) -> Outcome {
    let Ending { ended, stayed, notes } = ending;
    let mut detail = match ended.len() {
        0 => Vec::new(),
        1 => vec!["1 process has ended".to_owned()],
        number => vec![format!("{number} processes have ended")],
    };
    detail.extend(
        stayed.iter().map(|print| format!("PID {} ({}) is still running", print.id.pid, print.command)),
    );
    if !stayed.is_empty() && signal == Signal::Term {
        detail.push("stop it again to kill it".to_owned());
    }
    let is_all = stayed.is_empty();
    detail.extend(notes);
    let ended = if is_all { EndResult::Done } else { EndResult::Partly };
    Outcome::new(ended, detail.join("; "))
}

/// Describes in which state an interrupted ending has left the processes; no process is signalled.
pub(crate) fn found(processes: &dyn Processes, meant: &[ProcessPrint]) -> Outcome {
    let lives = |print: &&ProcessPrint| {
        let now = processes.print(print.id.pid);
        now.is_some_and(|now| now.id == print.id)
    };
    let left: Vec<String> =
        meant.iter().filter(lives).map(|print| format!("PID {} ({})", print.id.pid, print.command)).collect();
    match left.len() {
        0 => Outcome::new(EndResult::Done, "it was interrupted; all of the processes are gone".to_owned()),
        some => Outcome::new(
            if some == meant.len() { EndResult::Failed } else { EndResult::Partly },
            format!("it was interrupted; still running: {}", left.join(", ")),
        ),
    }
}

#[cfg(test)]
mod tests;
