//! Processes that windows start: servers of the Model Context Protocol, shells, detached processes, terminals, other
//! agents; and background sessions.

use crate::local::deaths;
use crate::local::kin::{self, Kin, Whose, start};
use crate::local::persons;
use crate::local::processes::{Life, SimProcess, State};
use crate::local::programs::Sort;
use crate::local::world::World;
use crate::local::writers;

/// A background session.
#[derive(Clone, Debug)]
pub(crate) struct Job {
    pub(crate) daemon: Life,
    pub(crate) host: Life,
    pub(crate) worker: Life,
    pub(crate) from: String,
    /// When its window requested it.
    pub(crate) since: jiff::Timestamp,
}

/// Lets an event happen to the processes that windows and persons have started.
pub(crate) fn happen(world: &mut World) {
    match world.rng.roll(20) {
        0..=6 => start_something(world),
        7..=9 => persons::happen(world),
        10..=12 => stir(world),
        13..=14 => end_something(world),
        15..=17 => end_a_window(world),
        18 => turn_to_another_session(world),
        _ => background_session(world),
    }
}

fn is_window(person: &SimProcess) -> bool {
    person.sort == Sort::Claude && person.state == State::Running
}

/// Returns a window of any agent.
fn some_window(world: &mut World) -> Option<Life> {
    if world.rng.happens(20) {
        kin::start_alone(world, Sort::Opencode, Kin::default());
    }
    let is_opencode = |one: &SimProcess| one.sort == Sort::Opencode && one.state == State::Running;
    world.somebody(|one| is_window(one) || is_opencode(one))
}

/// Returns what a process inherits from the window that starts it.
fn child_of(world: &World, window: Life) -> Kin {
    let starter = &world.processes.all[window];
    Kin { env: starter.handed_down(), whose: Whose::Of(vec![window]), ..Kin::default() }
}

fn start_something(world: &mut World) {
    let Some(window) = some_window(world).filter(|life| !world.processes.all[*life].is_far()) else { return };
    let kin = child_of(world, window);
    let is_claude = is_window(&world.processes.all[window]);
    let tasks = Some(world.processes.all[window].session.clone()).filter(|_| is_claude);
    match world.rng.roll(11) {
        10 => boxed(world, window, kin),
        0..=2 => server(world, window, kin),
        3..=6 => shell(world, window, Kin { tasks, ..kin }),
        7..=8 => detached(world, window, Kin { tasks, ..kin }),
        _ => persons::terminal_of_an_agent(world, window),
    }
}

/// Starts a server of the Model Context Protocol, perhaps behind a shell.
fn server(world: &mut World, window: Life, kin: Kin) {
    let is_rude = world.rng.happens(300);
    let kin = Kin { group: Some(window), asker: Some(window), is_rude, ..kin };
    let wrapper = world.rng.happens(400);
    let sort = if wrapper { Sort::Wrapper } else { Sort::Mcp };
    let top = start(world, (window, Some(window)), sort, kin.clone());
    if let Some(top) = top.filter(|_| wrapper) {
        let group = if world.rng.happens(300) { Some(top) } else { kin.group };
        let kin = Kin { group, ..bare(world, kin) };
        start(world, (top, Some(top)), Sort::Mcp, kin);
    }
}

/// Removes the traces of a process' owner: its output goes elsewhere, or it has erased its environment (`env -i`).
/// Then only a claimtop that saw it knows.
fn bare(world: &mut World, kin: Kin) -> Kin {
    let is_redirected = world.rng.happens(400);
    let env = if world.rng.happens(150) { kin::Env::default() } else { kin.env.clone() };
    Kin { is_redirected, env, ..kin }
}

/// Starts a shell as the Bash tool does, with a process below it.
fn shell(world: &mut World, window: Life, kin: Kin) {
    let Some(shell) = start(world, (window, Some(window)), Sort::Tool, kin.clone()) else { return };
    let kin = Kin { group: Some(shell), ..bare(world, kin) };
    match world.rng.roll(5) {
        0..=1 => {
            let port = Some(3000 + world.rng.roll(4) as u16);
            start(world, (shell, Some(shell)), Sort::Server, Kin { port, ..kin });
        }
        2 => {
            start(world, (shell, Some(shell)), Sort::Loop, kin);
        }
        3 => nested(world, shell),
        _ => {}
    }
}

/// Starts an agent below a shell: it belongs only to itself.
fn nested(world: &mut World, shell: Life) {
    let sort = if world.rng.happens(600) { Sort::Claude } else { Sort::Gemini };
    let kin = Kin { whose: Whose::Own, ..world.processes.all[shell].kin.clone() };
    if let Some(agent) = start(world, (shell, Some(shell)), sort, kin) {
        world.processes.all[agent].session = world.new_session();
        world.tally.count("nested agents");
    }
}

/// Starts a process that leaves its window at once: by setsid, nohup, or a double fork.
fn detached(world: &mut World, window: Life, kin: Kin) {
    let parent = kin::reaper(world, window);
    let has_output = world.rng.happens(500);
    let is_named = world.rng.happens(900);
    let port = world.rng.happens(400).then(|| 3000 + world.rng.roll(4) as u16);
    let is_shut = world.rng.happens(60);
    let mut kin = Kin { port, is_shut, tasks: kin.tasks.clone().filter(|_| has_output), ..kin };
    kin.env.session = kin.env.session.filter(|_| is_named);
    let sort = if port.is_some() { Sort::Server } else { Sort::Loop };
    let top = start(world, (window, parent), sort, kin.clone());
    if let Some(top) = top.filter(|_| world.rng.happens(300)) {
        start(world, (top, Some(top)), Sort::Loop, Kin { group: Some(top), port: None, ..kin });
    }
}

/// Starts a process in a PID namespace of its own, with the number that its window has outside.
fn boxed(world: &mut World, window: Life, kin: Kin) {
    let is_left = world.rng.happens(500);
    let parent = if is_left { kin::reaper(world, window) } else { Some(window) };
    if kin::start_in(world, Some(1), (window, parent), Sort::Loop, kin).is_some() {
        world.tally.count("boxed");
    }
}

/// Lets a process that outlived its window start another one, or become another program.
pub(crate) fn stir(world: &mut World) {
    let Some(life) = world.somebody(|one| one.sort.is_left_by_windows() && one.state == State::Running)
    else {
        return;
    };
    let kin = Kin { port: None, ..world.processes.all[life].kin.clone() };
    match world.rng.roll(8) {
        0..=2 => {
            start(world, (life, Some(life)), Sort::Loop, kin);
        }
        3 if world.rng.happens(300) => {
            // By sudo: another user may need it.
            if let Some(other) = start(world, (life, Some(life)), Sort::Loop, kin) {
                world.processes.all[other].uid = crate::local::files::OTHER_USER;
                world.processes.all[other].kin.whose = Whose::Own;
            }
        }
        3 => nested(world, life),
        4 => change(world, life, Sort::Server),
        5 => {
            let parent = kin::reaper(world, life);
            start(world, (life, parent), Sort::Loop, Kin { group: None, ..kin });
        }
        _ => world.set(life, State::Gone),
    }
}

/// Lets a process become an agent, which is its own from then on.
pub(crate) fn become_an_agent(world: &mut World) {
    let Some(life) = world.somebody(|one| one.sort.is_left_by_windows() && one.state == State::Running)
    else {
        return;
    };
    change(world, life, Sort::Gemini);
    world.processes.all[life].kin.whose = Whose::Own;
    world.became_agents.insert(life, world.up_for());
    world.tally.count("became agents");
}

fn change(world: &mut World, life: Life, sort: Sort) {
    world.note(|| format!("life {life} becomes {sort:?}"));
    world.processes.all[life].sort = sort;
}

fn end_something(world: &mut World) {
    let is_ended = |one: &SimProcess| one.sort.is_left_by_windows() || one.sort == Sort::Gemini;
    if let Some(life) = world.somebody(is_ended) {
        world.set(life, State::Gone);
    }
}

fn end_a_window(world: &mut World) {
    let is_window = |one: &SimProcess| matches!(one.sort, Sort::Claude | Sort::Opencode);
    if let Some(life) = world.somebody(|one| is_window(one) && one.state != State::Stopped) {
        deaths::end(world, life);
        if world.rng.happens(400) {
            world.pass(jiff::SignedDuration::from_secs(130));
        }
    }
}

/// Lets a window turn to a new session, or back to an older one; nothing else of it changes.
fn turn_to_another_session(world: &mut World) {
    let Some(window) = world.somebody(is_window) else { return };
    let all = world.processes.all.iter().filter(|one| one.sort == Sort::Claude);
    let older: Vec<String> = all.map(|one| one.session.clone()).collect();
    let is_new = world.rng.happens(600);
    let new = world.new_session();
    let session = world.rng.pick(&older).filter(|_| !is_new).cloned().unwrap_or(new);
    world.tally.count(if is_new { "/clear" } else { "/resume" });
    world.note(|| format!("life {window} turns to {session}"));
    world.processes.all[window].session = session;
    world.processes.all[window].names_session = false;
    world.turn(window);
    if world.rng.happens(500) {
        writers::tell_hook(world, window);
    }
}

fn background_session(world: &mut World) {
    match world.rng.roll(6) {
        0..=3 => move_to_background(world),
        4 => {
            let sorts = [Sort::Daemon, Sort::Worker, Sort::PtyHost];
            if let Some(life) = world.somebody(|one| sorts.contains(&one.sort)) {
                world.set(life, State::Gone);
            }
        }
        _ => tell_roster(world),
    }
}

/// Moves a window to the background: a new session continues its work and takes its shells.
fn move_to_background(world: &mut World) {
    let is_here =
        |one: &SimProcess| is_window(one) && one.inside.is_none() && one.uid == crate::local::files::USER;
    let Some(window) = world.somebody(is_here) else { return };
    let daemon = world.somebody(|one| one.sort == Sort::Daemon);
    let Some(daemon) = daemon.or_else(|| kin::start_alone(world, Sort::Daemon, Kin::default())) else {
        return;
    };
    let host = start(world, (daemon, Some(daemon)), Sort::PtyHost, Kin::default());
    let Some(host) = host else { return };
    let worker = start(world, (host, Some(host)), Sort::Worker, Kin::default());
    let Some(worker) = worker else { return };
    world.processes.all[worker].session = world.new_session();
    let from = world.processes.all[window].session.clone();
    let since = world.now();
    world.jobs.push(Job { daemon, host, worker, from, since });
    adopt(world, window, worker);
    world.roster_due = true;
    if world.rng.happens(600) {
        tell_roster(world);
    }
    world.tally.count("moved to the background");
    deaths::move_away(world, window);
}

/// Gives the shells of a window to the process that continues its work.
fn adopt(world: &mut World, window: Life, worker: Life) {
    for one in world.processes.all.iter_mut().filter(|one| one.state.is_alive() && one.kin.tasks.is_some()) {
        if let Whose::Of(users) = &mut one.kin.whose
            && users.contains(&window)
        {
            users.push(worker);
        }
    }
}

/// Lets the daemon write the roster of the sessions that it runs.
pub(crate) fn tell_roster(world: &mut World) {
    world.roster_due = false;
    if let Some(daemon) = world.somebody(|one| one.sort == Sort::Daemon) {
        writers::write_roster(world, daemon);
    }
}
