//! Facts that keep every answer about left-overs from being certain.

use std::collections::BTreeMap;

use crate::core::judge::left_over::taken_over::TakenOver;
use crate::core::judge::window::agent::names_itself;
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Process, Trace};

/// The processes that keep every answer from being certain.
pub(super) struct Doubts<'a> {
    /// A process that could not be read.
    pub(super) hidden: Option<u32>,
    /// Whether all processes were seen, with all their numbers.
    pub(super) is_whole: bool,
    pub(super) taken_over: TakenOver<'a>,
    /// The processes in PID namespaces below, by each number there.
    pub(super) elsewhere: BTreeMap<u32, u32>,
    /// A process that may be an agent, whose PID namespace is not known.
    pub(super) unplaced: Option<u32>,
    /// Living agents whose variables do not show which processes they have started.
    pub(super) unnamed: Vec<(&'a Process, Option<&'a Trace>)>,
}

impl<'a> Doubts<'a> {
    pub(super) fn new(world: &World<'a>) -> Self {
        let table = &world.snapshot.processes;
        let is_whole = table.is_whole();
        let hidden = || table.listed.iter().copied().find(|pid| table.get(*pid).is_none());
        Self {
            hidden: if is_whole { None } else { hidden() },
            is_whole,
            taken_over: TakenOver::new(world),
            elsewhere: elsewhere(world),
            unplaced: living_agents(world).find(|one| one.inner_pids().is_none()).map(|one| one.id.pid),
            unnamed: unnamed(world),
        }
    }
}

/// Finds the processes in PID namespaces below this one: a window there names itself by its number there.
fn elsewhere(world: &World<'_>) -> BTreeMap<u32, u32> {
    let living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let numbers = living.map(|process| (process.inner_pids().unwrap_or_default(), process.id.pid));
    numbers.flat_map(|(inner, pid)| inner.iter().map(move |number| (*number, pid))).collect()
}

/// Returns every process that lives and is an agent, or may be one.
fn living_agents<'a>(world: &World<'a>) -> impl Iterator<Item = &'a Process> {
    world.possible_agents.iter().filter_map(|(agent, _)| match agent {
        PossibleAgent::Known(process, _) | PossibleAgent::Unproven(process) => Some(*process),
        // That one is in doubt anyway.
        PossibleAgent::Hidden(_) => None,
    })
}

/// Finds the living processes that are agents or may be, and do not put their own number into what they start: such
/// children bear the variables of the window that the agent was started in.
fn unnamed<'a>(world: &World<'a>) -> Vec<(&'a Process, Option<&'a Trace>)> {
    let host = &world.snapshot.host;
    let may_be_ours = |process: &Process| {
        process.details.as_ref().and_then(|details| details.uid).is_none_or(|uid| uid == host.uid)
    };
    let names_itself = |process: &Process| {
        world.signatures.classify(process).is_some_and(|(signature, _)| names_itself(&signature.name))
    };
    let agents = living_agents(world).filter(|process| !names_itself(process) && may_be_ours(process));
    agents.map(|process| (process, world.trace_of(process.id))).collect()
}
