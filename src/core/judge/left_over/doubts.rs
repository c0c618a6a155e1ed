//! What keeps any answer about left-overs from being certain.

use std::collections::BTreeMap;

use crate::core::judge::left_over::taken_over::TakenOver;
use crate::core::judge::window::agent::names_itself;
use crate::core::judge::window::possible_agent::PossibleAgent;
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::has_exited;
use crate::core::model::{Process, Trace};

/// Who keeps any answer from being certain.
pub(super) struct Doubts<'a> {
    /// A process that could not be read.
    pub(super) hidden: Option<u32>,
    /// Whether all processes were seen, with all their numbers.
    pub(super) is_whole: bool,
    pub(super) taken_over: TakenOver<'a>,
    /// Who lives in PID namespaces below, by each number there.
    pub(super) elsewhere: BTreeMap<u32, u32>,
    /// One who may be an agent, of whom it is not known in which PID namespace he counts.
    pub(super) unplaced: Option<u32>,
    /// Living agents whose variables do not tell whom they have started.
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

/// Finds who lives in PID namespaces below this one: a window there names itself by its number there.
fn elsewhere(world: &World<'_>) -> BTreeMap<u32, u32> {
    let living = world.snapshot.processes.by_pid.values().filter(|process| !has_exited(process));
    let numbers = living.map(|process| (process.inner_pids().unwrap_or_default(), process.id.pid));
    numbers.flat_map(|(inner, pid)| inner.iter().map(move |number| (*number, pid))).collect()
}

/// Returns every process that lives and is an agent, or may be one.
fn living_agents<'a>(world: &World<'a>) -> impl Iterator<Item = &'a Process> {
    world.possible_agents.iter().filter_map(|(agent, _)| match agent {
        PossibleAgent::Known(process, _) | PossibleAgent::Unproven(process) => Some(*process),
        // That is in doubt as it is.
        PossibleAgent::Hidden(_) => None,
    })
}

/// Finds who lives, is an agent or may be one, and does not put its own number into what it starts: that bears the
/// variables of whatever window the agent was started in.
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
