//! Ancestry and inheritance: parents, process groups, environments.

use crate::local::processes::{Life, Power, SimProcess, State};
use crate::local::programs::Sort;
use crate::local::world::World;

/// What a process inherits from the one that started it.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kin {
    /// The leader of its process group, unless it is the leader itself.
    pub(crate) group: Option<Life>,
    /// Whether a start script has put its own number, its group's, in place of the window's.
    pub(crate) is_named_by_group: bool,
    pub(crate) env: Env,
    /// The session whose task output it writes to.
    pub(crate) tasks: Option<String>,
    /// Whether its own output goes elsewhere.
    pub(crate) is_redirected: bool,
    /// The process at the other end of its standard input.
    pub(crate) asker: Option<Life>,
    pub(crate) port: Option<u16>,
    /// Whether it ends only when it is killed.
    pub(crate) is_rude: bool,
    /// Whether its environment may not be read.
    pub(crate) is_shut: bool,
    /// Whether orphans below it become its own.
    pub(crate) is_reaper: bool,
    pub(crate) whose: Whose,
}

/// The contents of an environment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Env {
    /// The number by which a window knows itself.
    pub(crate) window: Option<u32>,
    pub(crate) session: Option<String>,
    /// Whether the window is one of opencode's, which names no session.
    pub(crate) is_opencodes: bool,
    /// The number of tmux's server.
    pub(crate) tmux: Option<u32>,
}

/// Who needs a process.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Whose {
    /// It is an agent, or a person's: no process may end it.
    #[default]
    Own,
    /// Those of these that live.
    Of(Vec<Life>),
}

impl SimProcess {
    /// Returns the environment of the processes that it starts.
    pub(crate) fn handed_down(&self) -> Env {
        let env = self.kin.env.clone();
        let (window, session) = (Some(self.own_pid()), Some(self.session.clone()));
        match self.sort {
            Sort::Claude | Sort::Worker => Env { window, session, is_opencodes: false, ..env },
            // A session of Claude Code's above it stays.
            Sort::Opencode => Env { window, is_opencodes: true, ..env },
            Sort::Codex
            | Sort::Gemini
            | Sort::Daemon
            | Sort::PtyHost
            | Sort::Shell
            | Sort::Script
            | Sort::Sleep => env,
            Sort::Mcp | Sort::Wrapper | Sort::Tool | Sort::Server | Sort::Loop => env,
            Sort::Tmux | Sort::Vim | Sort::Keeper | Sort::Reaper => env,
        }
    }
}

/// Starts a process from another one, in its container and by its user.
pub(crate) fn start(
    world: &mut World,
    (by, parent): (Life, Option<Life>),
    sort: Sort,
    kin: Kin,
) -> Option<Life> {
    let container = world.processes.all[by].inside.map(|(container, _)| container);
    start_in(world, container, (by, parent), sort, kin)
}

/// Starts a process in a container, or in none.
pub(crate) fn start_in(
    world: &mut World,
    container: Option<u32>,
    (by, parent): (Life, Option<Life>),
    sort: Sort,
    kin: Kin,
) -> Option<Life> {
    let starter = world.processes.all[by].clone();
    let make = |pid, inside, start_ticks, born_at| SimProcess {
        pid,
        inside,
        parent,
        sort,
        start_ticks,
        born_at,
        state: State::Running,
        is_hidden: false,
        names_session: false,
        kin,
        ..starter
    };
    let life = world.add(make, container)?;
    world.tally.count(format!("started: {sort:?}"));
    Some(life)
}

/// Starts a part of the machine, without a parent.
pub(crate) fn start_alone(world: &mut World, sort: Sort, kin: Kin) -> Option<Life> {
    start_alone_in(world, None, sort, kin)
}

/// Does the same in a container, or in none.
pub(crate) fn start_alone_in(
    world: &mut World,
    container: Option<u32>,
    sort: Sort,
    kin: Kin,
) -> Option<Life> {
    let cwd = crate::local::world::REPO;
    let make = |pid, inside, start_ticks, born_at| SimProcess {
        pid,
        inside,
        parent: None,
        sort,
        state: State::Running,
        start_ticks,
        born_at,
        uid: crate::local::files::USER,
        power: Power::None,
        is_hidden: false,
        session: String::new(),
        cwd,
        names_session: false,
        clock: 0,
        kin,
    };
    world.add(make, container)
}

/// Returns the process that takes the orphans of another one.
pub(crate) fn reaper(world: &World, life: Life) -> Option<Life> {
    let parent = |life: &Life| world.processes.all[*life].parent;
    let mut above = std::iter::successors(parent(&life), parent);
    above.find(|life| world.processes.is_alive(*life) && world.processes.all[*life].kin.is_reaper)
}

/// Hands on the children of a process that has ended.
pub(crate) fn orphan(world: &mut World, life: Life) {
    let heir = reaper(world, life);
    for child in world.processes.all.iter_mut().filter(|child| child.parent == Some(life)) {
        child.parent = heir;
    }
}

/// Returns every live process below one.
pub(crate) fn below(world: &World, life: Life) -> Vec<Life> {
    let mut found = vec![life];
    let mut at = 0;
    while let Some(above) = found.get(at).copied() {
        let children = world.processes.alive().filter(|(_, child)| child.parent == Some(above));
        found.extend(children.map(|(child, _)| child));
        at += 1;
    }
    found.split_off(1)
}
