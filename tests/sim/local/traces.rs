//! The traces that processes carry of those that started them, as claimtop's reader finds them.

use std::net::Ipv4Addr;

use claimtop::core::model::{
    Hindrance, InputEnd, Interaction, Multiplexer, Origin, Port, Process, ProcessTable, Snapshot, Trace,
};

use claimtop::testing::source::{Descents, left, unnamed};

use crate::local::files::USER;
use crate::local::observer::{Credit, ScanMode};
use crate::local::processes::{Life, SimProcess, State, Visibility};
use crate::local::world::World;

/// Reads the traces of processes without a parent, and of those below processes that name a window.
pub(crate) fn read(world: &mut World, snapshot: &mut Snapshot, descents: &Descents, scan_mode: ScanMode) {
    let (mut traces, mut gone) = (Vec::<Trace>::new(), Vec::new());
    let signatures = &crate::local::observer::policy().signatures;
    let seen = descents.note(&snapshot.processes, signatures, (&snapshot.host, snapshot.taken_at));
    let tops: Vec<Process> = left(&snapshot.processes, signatures, &seen).into_iter().cloned().collect();
    for top in tops {
        let trace = trace(world, &mut gone, &top, scan_mode);
        traces.extend(trace.map(|trace| Trace { seen_below: descents.seen_below(top.id), ..trace }));
    }
    let is_named = |trace: &&Trace| {
        !trace.seen_below.is_empty() || trace.origin.as_ref().is_some_and(|origin| origin.pid.is_some())
    };
    let named: Vec<u32> = traces.iter().filter(is_named).map(|trace| trace.id.pid).collect();
    let table = &snapshot.processes;
    let parents = named.iter().filter_map(|pid| table.get(table.get(*pid)?.parent).cloned());
    let more: Vec<Process> = named.iter().flat_map(|pid| below(table, *pid)).chain(parents).collect();
    for process in more {
        if traces.iter().all(|trace| trace.id != process.id) {
            traces.extend(trace(world, &mut gone, &process, scan_mode));
        }
    }
    let agents: Vec<Process> = unnamed(table, signatures).into_iter().cloned().collect();
    for agent in agents {
        if traces.iter().all(|trace| trace.id != agent.id) {
            let trace = trace(world, &mut gone, &agent, scan_mode);
            traces.extend(trace.map(|trace| Trace { seen_below: descents.seen_below(agent.id), ..trace }));
        }
    }
    let windows: Vec<u32> = traces.iter().filter_map(|trace| trace.origin.as_ref()?.pid).collect();
    for pid in gone.into_iter().filter(|pid| !windows.contains(pid)) {
        snapshot.processes.listed.remove(&pid);
        snapshot.processes.by_pid.remove(&pid);
    }
    if scan_mode == ScanMode::Credulous(Credit::Orphans) {
        for pid in windows {
            snapshot.processes.listed.remove(&pid);
            snapshot.processes.by_pid.remove(&pid);
        }
    }
    snapshot.traces = traces;
}

fn below(table: &ProcessTable, pid: u32) -> Vec<Process> {
    let mut found: Vec<Process> = Vec::new();
    let mut next = vec![pid];
    while let Some(above) = next.pop() {
        let children = table.by_pid.values().filter(|one| one.parent == above && one.id.pid != above);
        for child in children {
            if found.iter().all(|known| known.id != child.id) {
                next.push(child.id.pid);
                found.push(child.clone());
            }
        }
    }
    found
}

/// Reads one process, or notes that it has exited since it was listed.
fn trace(world: &mut World, gone: &mut Vec<u32>, process: &Process, scan_mode: ScanMode) -> Option<Trace> {
    let visibility = world.fault_model.visibility;
    let life = world.processes.life_at(process.id.pid, visibility);
    let life = life.filter(|life| world.processes.id(*life, visibility) == Some(process.id));
    let Some(life) = life else {
        gone.push(process.id.pid);
        return None;
    };
    let is_unread = world.fault_model.churn && world.steps_left > 0 && world.rng.happens(60);
    let is_lucky = !(world.fault_model.churn && world.steps_left > 0 && world.rng.happens(60));
    let person = &world.processes.all[life];
    // A process with another home is not read.
    let is_at_home =
        person.inside.is_none() || person.pid.is_multiple_of(2) || visibility.container.is_some();
    let is_seen = person.state == State::Running || person.state == State::Stopped;
    if !is_seen || person.uid != USER || !is_at_home || person.is_hidden || is_unread {
        return None;
    }
    let mut trace = Trace { id: process.id, ..made(world, life, person, visibility) };
    trace.origin = trace.origin.filter(|_| is_lucky && !person.kin.is_shut);
    trace.hindrance = trace.hindrance.filter(|_| is_lucky);
    trace.interaction = trace.interaction.filter(|_| is_lucky);
    if let Some(origin) =
        trace.origin.as_mut().filter(|_| scan_mode == ScanMode::Credulous(Credit::Environments))
    {
        origin.multiplexer = None;
        trace.group = origin.pid.unwrap_or(trace.group);
        trace.tasks = origin.session.iter().cloned().collect();
    }
    Some(trace)
}

fn made(world: &World, life: Life, person: &SimProcess, visibility: Visibility) -> Trace {
    let kin = &person.kin;
    let leader = kin.group.unwrap_or(life);
    let (_, _, argv) = person.sort.look();
    let port =
        |number| Port { number, address: Ipv4Addr::LOCALHOST.into(), clients: Some(u32::from(number % 2)) };
    let input = |asker: Life| if world.processes.is_alive(asker) { InputEnd::Open } else { InputEnd::Closed };
    Trace {
        id: claimtop::core::model::ProcessId { pid: person.pid, start_ticks: person.start_ticks },
        group: world.processes.number(leader, visibility).unwrap_or(0),
        argv: argv.iter().map(|argument| (*argument).into()).collect(),
        cwd: Some(person.cwd.into()),
        origin: Some(Origin {
            agent: kin
                .env
                .window
                .map(|_| if kin.env.is_opencodes { "opencode" } else { "claude-code" }.into()),
            pid: kin.env.window,
            session: kin.env.session.as_deref().map(Into::into),
            multiplexer: kin.env.tmux.map(Multiplexer::Server),
            is_unit: false,
        }),
        tasks: kin
            .tasks
            .iter()
            .filter(|_| !kin.is_redirected)
            .map(|session| session.as_str().into())
            .collect(),
        adopted_by: Some(Vec::new()),
        seen_below: Vec::new(),
        memory: None,
        cpu_time: None,
        ports: kin.port.map(port).into_iter().collect(),
        input: kin.asker.map(input),
        server: None,
        hindrance: Some(Hindrance::Nothing),
        interaction: Some(Interaction::Nothing),
    }
}
