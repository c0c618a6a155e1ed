//! Processes that persons start where agents have left their variables: panes of an agent's terminal, processes that
//! outlive those, and jobs for later.

use crate::local::kin::{self, Kin, Whose, start, start_alone};
use crate::local::processes::{Life, SimProcess, State};
use crate::local::programs::Sort;
use crate::local::world::World;

pub(crate) fn happen(world: &mut World) {
    match world.rng.roll(12) {
        0 => {
            start_alone(world, Sort::Tmux, Kin::default());
        }
        1..=3 => pane(world),
        4..=8 => work_in_a_pane(world),
        9 => end_a_terminal(world),
        10 => job(world),
        _ => keepers(world),
    }
}

/// An agent starts a terminal multiplexer, in which a person works later.
pub(crate) fn terminal_of_an_agent(world: &mut World, window: Life) {
    let env = world.processes.all[window].handed_down();
    if world.rng.happens(400) {
        // Or it asks for something to be started later.
        world.later.push((window, env));
        return;
    }
    let parent = kin::reaper(world, window);
    start(world, (window, parent), Sort::Tmux, Kin { env, ..Kin::default() });
}

/// Opens a pane: it inherits the environment of the multiplexer's server.
fn pane(world: &mut World) {
    let Some(server) = world.somebody(|one| one.sort == Sort::Tmux) else { return };
    let mut env = world.processes.all[server].kin.env.clone();
    env.tmux = Some(world.processes.all[server].own_pid());
    start(world, (server, Some(server)), Sort::Shell, Kin { env, ..Kin::default() });
}

fn work_in_a_pane(world: &mut World) {
    let is_pane = |one: &SimProcess| one.sort == Sort::Shell && one.kin.env.tmux.is_some();
    let Some(pane) = world.somebody(is_pane) else { return };
    let kin = Kin { env: world.processes.all[pane].kin.env.clone(), ..Kin::default() };
    let pane_kin = kin.clone();
    match world.rng.roll(6) {
        0 => {
            start(world, (pane, Some(pane)), Sort::Vim, kin);
        }
        1 => {
            if let Some(agent) = start(world, (pane, Some(pane)), Sort::Claude, kin) {
                world.processes.all[agent].session = world.new_session();
                world.tally.count("agents in panes");
                if world.rng.happens(300) {
                    // As `claude -p x | tee` does: it is in the agent's group, and not its child.
                    let kin = Kin { group: Some(agent), ..pane_kin };
                    start(world, (pane, Some(pane)), Sort::Loop, kin);
                }
            }
        }
        2..=4 => {
            let parent = kin::reaper(world, pane);
            let sort = if world.rng.happens(500) { Sort::Server } else { Sort::Loop };
            if let Some(job) = start(world, (pane, parent), sort, kin) {
                world.processes.all[job].kin.whose = Whose::Own;
                world.tally.count("a person's nohup");
            }
        }
        _ => {
            // It waits below its pane, and outlives it.
            start(world, (pane, Some(pane)), Sort::Loop, Kin { group: Some(pane), ..kin });
        }
    }
}

/// Ends a terminal with its panes; processes that ignore that survive.
fn end_a_terminal(world: &mut World) {
    let Some(server) = world.somebody(|one| one.sort == Sort::Tmux) else { return };
    for other in kin::below(world, server) {
        if world.processes.all[other].sort == Sort::Shell {
            world.set(other, State::Gone);
        }
    }
    world.set(server, State::Gone);
    world.tally.count("terminals ended");
}

/// Starts a job that a window has queued with `at`: it is unknown who needs it.
fn job(world: &mut World) {
    let at = world.rng.roll(world.later.len());
    if world.later.is_empty() {
        return;
    }
    let (window, env) = world.later.swap_remove(at);
    // A job that runs while its window lives belongs to that window.
    let whose = if world.processes.is_alive(window) { Whose::Of(vec![window]) } else { Whose::Own };
    if start(world, (window, None), Sort::Loop, Kin { env, whose, ..Kin::default() }).is_some() {
        world.tally.count("jobs of at");
    }
}

/// Starts the processes that adopt orphans.
fn keepers(world: &mut World) {
    let sort = if world.rng.happens(600) { Sort::Keeper } else { Sort::Reaper };
    let has_one = world.processes.alive().any(|(_, one)| one.sort == sort);
    if !has_one {
        start_alone(world, sort, Kin { is_reaper: true, ..Kin::default() });
    }
}
