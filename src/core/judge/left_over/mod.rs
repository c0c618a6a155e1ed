//! Left-overs: processes that outlive the window that started them, and how sure that is.
//!
//! A parent PID of 1 proves nothing, and a number in an environment is handed on to every later child: a terminal
//! multiplexer that an agent started gives it to every pane of a person's own. So an offer needs proof that the
//! window is dead, and that nothing alive could need the process; a missing fact makes it less sure, never surer.

mod case;
mod doubts;
pub(crate) mod left_stash;
pub(crate) mod left_top;
pub(crate) mod lone_server;
pub(crate) mod owner;
pub(crate) mod protected;
pub(crate) mod stray_tree;
pub(crate) mod taken_over;
mod times;
pub(crate) mod worktree;

use self::case::{Case, Doubt};
use self::doubts::Doubts;
use crate::core::judge::left_over::left_top::find_above;
use crate::core::judge::left_over::protected::never_ended;
use crate::core::judge::window::tool_shell::{is_tool_shell, tool_command};
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::{Children, has_exited};
use crate::core::model::{
    Certainty, Key, KeyKind, LeftOver, LeftSort, Member, Origin, Process, Trace, Untrusted,
};

/// Returns every process that bears the traces of a window and has none above it.
pub(crate) fn left_overs(world: &World<'_>, children: &Children<'_>) -> Vec<LeftOver> {
    let mut named = world.snapshot.traces.iter().filter(|trace| trace.names_window()).peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let doubts = Doubts::new(world);
    named.filter_map(|trace| left_over(world, trace, children, &doubts)).collect()
}

fn left_over(
    world: &World<'_>,
    trace: &Trace,
    children: &Children<'_>,
    doubts: &Doubts<'_>,
) -> Option<LeftOver> {
    let origin = &origin(world, trace)?;
    let window_pid = origin.pid?;
    let process = world.snapshot.processes.get(trace.id.pid).filter(|process| process.id == trace.id)?;
    if has_exited(process) || world.signatures.classify(process).is_some() {
        return None;
    }
    let above = find_above(world, process, window_pid)?;
    let below = children.descendants(process.id.pid, |below| !has_exited(below));
    let case = Case { world, trace, origin, process, above, below: &below, window_pid, doubts };
    let (certainty, why, evidence) = match case.weigh() {
        Ok(evidence) => (Certainty::Exact, String::new(), evidence),
        Err(Doubt { certainty, why, evidence }) => (certainty, why, evidence),
    };
    let tree: Vec<Member> =
        std::iter::once(process).chain(below.iter().copied()).map(|process| member(world, process)).collect();
    let name = tree.iter().find_map(|member| world.trace_of(member.id)?.server.clone());
    let (pid, ticks) = (process.id.pid, process.id.start_ticks);
    Some(LeftOver {
        key: Key::derive(KeyKind::LeftOver, &[&pid.to_string(), &ticks.to_string()]),
        pid,
        start_ticks: ticks,
        started_at: world.started_at(process),
        command: tool_command(&trace.argv).map_or_else(|| command(trace, process), Untrusted::new),
        folder: trace.cwd.clone(),
        sort: if name.is_some() { LeftSort::McpServer } else { sort(trace, &tree) },
        name,
        tree,
        agent: origin.agent.clone(),
        window_pid: Some(window_pid),
        window_name: None,
        window_ended_at: None,
        session: origin.session.clone(),
        certainty,
        why,
        refused: never_ended(world, trace, process, &below),
        evidence,
    })
}

/// Returns where a process comes from: an observation counts before its environment, which it may have erased. Then
/// its session is the last that its window ran.
fn origin(world: &World<'_>, trace: &Trace) -> Option<Origin> {
    let Some(seen) = trace.seen_below.first() else { return trace.origin.clone() };
    let own = trace.origin.clone().unwrap_or_default();
    let last = || world.snapshot.tombstone(seen.id)?.session_id.clone();
    let session = own.session.clone().or_else(last);
    Some(Origin { agent: Some(seen.agent.clone()), pid: Some(seen.id.pid), session, ..own })
}

fn member(world: &World<'_>, process: &Process) -> Member {
    let trace = world.trace_of(process.id);
    Member {
        id: process.id,
        parent: process.parent,
        started_at: world.started_at(process),
        command: trace.map_or_else(|| process.comm.clone(), |trace| command(trace, process)),
        folder: trace.and_then(|trace| trace.cwd.clone()),
        memory: trace.and_then(|trace| trace.memory),
        cpu_time: trace.and_then(|trace| trace.cpu_time),
        ports: trace.map(|trace| trace.ports.clone()).unwrap_or_default(),
    }
}

/// Returns the command that a process runs, else the kernel's name for it.
fn command(trace: &Trace, process: &Process) -> Untrusted {
    let command = trace.argv.iter().map(|argument| argument.raw()).collect::<Vec<_>>().join(" ");
    if command.is_empty() { process.comm.clone() } else { command.as_str().into() }
}

/// Returns the kind of a process.
fn sort(trace: &Trace, tree: &[Member]) -> LeftSort {
    if tree.iter().any(|member| !member.ports.is_empty()) {
        return LeftSort::Server;
    }
    if is_tool_shell(&trace.argv) { LeftSort::Shell } else { LeftSort::Process }
}
