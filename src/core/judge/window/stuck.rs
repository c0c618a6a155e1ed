//! Whether a window's tool call cannot end by itself: by what the kernel shows of its processes, never by silence.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::window::whose_turn::APART;
use crate::core::judge::window::{Window, window_of};
use crate::core::judge::world::World;
use crate::core::model::snapshot::process::{Children, has_exited};
use crate::core::model::{
    Call, CallProcesses, CallWait, Format, LockHold, Process, ProcessId, Stall, StallReason, Target,
    TurnState, Untrusted, WaitSort, Work,
};

/// A call that is younger is not looked at.
const OLD: SignedDuration = SignedDuration::from_mins(1);

/// The most processes that are looked at because a call may have left them: the youngest.
const MOST_STRAYS: usize = 256;

/// The agents that wait until every process has closed the output of a tool (as of opencode 1.18.33). Claude Code
/// 2.1.332, Codex 0.171, Gemini CLI 0.61, Qwen Code 0.24.4 and Copilot 1.0.102 continue when the tool's shell ends.
const WAITS_FOR_OUTPUT: [&str; 1] = ["opencode"];

/// Returns whether a session may have had a shell command running for long.
pub(crate) fn may_be_open(work: &Work, now: Timestamp) -> bool {
    work.format == Format::Gemini || stated_since(work).is_some_and(|since| is_old(since, now))
}

/// Returns since when a shell command of a window runs, the oldest if there are several, if that is long ago.
pub(crate) fn open_since(
    window: &Window<'_>,
    work: &Work,
    (world, children): (&World<'_>, &Children<'_>),
) -> Option<Timestamp> {
    let since = stated_since(work).or_else(|| shell_since(window, work, (world, children)))?;
    is_old(since, world.snapshot.taken_at).then_some(since)
}

fn is_old(since: Timestamp, now: Timestamp) -> bool {
    now.duration_since(since) >= OLD
}

/// Returns since when a session's shell commands run by its own file, the oldest if there are several.
fn stated_since(work: &Work) -> Option<Timestamp> {
    let is_command = |call: &&Call| matches!(call.target, Some(Target::Command(_)));
    let of_agents = work.agents.iter().filter_map(|agent| agent.call.as_ref());
    let calls = work.doing.calls.iter().chain(of_agents).filter(is_command);
    calls.filter_map(|call| call.since).min()
}

/// Returns since when the shell of a tool of Gemini CLI runs, whose file states its calls only when they have ended.
fn shell_since(
    window: &Window<'_>,
    work: &Work,
    (world, children): (&World<'_>, &Children<'_>),
) -> Option<Timestamp> {
    if work.format != Format::Gemini || work.doing.turn.state == TurnState::Unknown {
        return None;
    }
    let asked_at = work.doing.prompt.as_ref().and_then(|prompt| prompt.at).or(work.doing.turn.since)?;
    let pid = window.process.id.pid;
    let shells = children.descendants(pid, |child| child.parent == pid && child.comm.raw() == "bash");
    shells.into_iter().filter_map(|shell| world.started_at(shell)).filter(|at| *at >= asked_at).min()
}

/// Returns the processes that may show why a call does not end that is open since `since`.
pub(crate) fn processes(
    window: &Window<'_>,
    since: Timestamp,
    (world, children): (&World<'_>, &Children<'_>),
) -> CallProcesses {
    let members = members(window, since, (world, children)).into_iter().map(|member| member.id).collect();
    let strays = if waits_for_output(window) { strays(since, world) } else { Vec::new() };
    CallProcesses { agent: window.process.id, members, strays }
}

fn waits_for_output(window: &Window<'_>) -> bool {
    WAITS_FOR_OUTPUT.contains(&window.agent)
}

fn is_since(process: &Process, since: Timestamp, world: &World<'_>) -> bool {
    world.started_at(process).is_some_and(|at| at + APART >= since)
}

/// Returns the processes below a window's own that have started since a moment.
fn members<'a>(
    window: &Window<'_>,
    since: Timestamp,
    (world, children): (&World<'_>, &Children<'a>),
) -> Vec<&'a Process> {
    let is_window = |pid: u32| world.windows.iter().any(|window| window.process.id.pid == pid);
    let is_its = |child: &Process| !has_exited(child) && !is_window(child.id.pid);
    let mut found = children.descendants(window.process.id.pid, is_its);
    found.retain(|process| is_since(process, since, world));
    found
}

/// Returns the processes below no window that have started since a moment.
fn strays(since: Timestamp, world: &World<'_>) -> Vec<ProcessId> {
    let table = &world.snapshot.processes;
    let is_stray = |process: &&Process| {
        !has_exited(process)
            && is_since(process, since, world)
            && window_of(table, &world.windows, process.id.pid).is_none()
    };
    let mut found: Vec<ProcessId> =
        table.by_pid.values().filter(is_stray).map(|process| process.id).collect();
    found.sort_unstable_by_key(|id| Reverse((id.start_ticks, id.pid)));
    found.truncate(MOST_STRAYS);
    found
}

/// Returns the proof that a window's call cannot end by itself.
pub(crate) fn stuck(
    window: &Window<'_>,
    work: &Work,
    (world, children): (&World<'_>, &Children<'_>),
) -> Option<Stall> {
    let is_its = |wait: &&CallWait| wait.agent == window.process.id;
    let waits: Vec<&CallWait> = world.snapshot.call_waits.iter().filter(is_its).collect();
    // A process that was not listed may be what the call waits for.
    if waits.is_empty() || world.snapshot.processes.partial.is_some() {
        return None;
    }
    let since = open_since(window, work, (world, children))?;
    let members = members(window, since, (world, children));
    if members.is_empty() {
        return held_output(&waits, window, since, world);
    }
    CallState { waits: &waits, members: &members, window, world }.proof(since)
}

/// Returns the process that has the output of a tool open whose shell has ended.
fn held_output(
    waits: &[&CallWait],
    window: &Window<'_>,
    since: Timestamp,
    world: &World<'_>,
) -> Option<Stall> {
    if !waits_for_output(window) {
        return None;
    }
    let strays = strays(since, world);
    let is_it = |fact: &&&CallWait| fact.wait == WaitSort::Output && strays.contains(&fact.process);
    let holder =
        waits.iter().filter(is_it).min_by_key(|wait| (wait.process.start_ticks, wait.process.pid))?;
    Some(proof(StallReason::OutputHeld, (holder.process.pid, &holder.command), since))
}

fn proof(reason: StallReason, (pid, command): (u32, &Untrusted), since: Timestamp) -> Stall {
    Stall {
        reason,
        pid,
        command: command.clone(),
        since,
        on: None,
        waits: None,
        window_pid: None,
        window: None,
    }
}

/// The processes of a call, and what each waits for.
struct CallState<'a> {
    waits: &'a [&'a CallWait],
    members: &'a [&'a Process],
    window: &'a Window<'a>,
    world: &'a World<'a>,
}

impl CallState<'_> {
    /// Returns the first process that does not continue by itself, if no other process of the call can: each waits
    /// for a process below it, reads what only others of the call write, or is held up itself.
    fn proof(&self, since: Timestamp) -> Option<Stall> {
        let parents: BTreeSet<u32> = self.members.iter().map(|member| member.parent).collect();
        let pids: BTreeSet<u32> = self.members.iter().map(|member| member.id.pid).collect();
        let is_idle = |member: &Process| {
            let has_child = parents.contains(&member.id.pid);
            self.waits_of(member).any(|fact| match &fact.wait {
                WaitSort::Child => has_child,
                WaitSort::Pipe(writers) => {
                    !writers.is_empty() && writers.iter().all(|writer| pids.contains(writer))
                }
                WaitSort::Stopped | WaitSort::Terminal(_) => true,
                WaitSort::Lock(hold) => self.is_kept(hold),
                WaitSort::Output => false,
            })
        };
        if !self.members.iter().all(|member| is_idle(member)) {
            return None;
        }
        let proofs = self.members.iter().flat_map(|member| self.waits_of(member));
        proofs.filter_map(|fact| self.proof_by(fact, since)).next()
    }

    fn waits_of<'b>(&'b self, member: &Process) -> impl Iterator<Item = &'b CallWait> + use<'b> {
        let id = member.id;
        self.waits.iter().copied().filter(move |fact| fact.process == id)
    }

    fn proof_by(&self, fact: &CallWait, since: Timestamp) -> Option<Stall> {
        let by = (fact.process.pid, &fact.command);
        match &fact.wait {
            WaitSort::Stopped => Some(proof(StallReason::Stopped, by, since)),
            WaitSort::Terminal(name) => {
                Some(Stall { on: Some(name.clone()), ..proof(StallReason::Terminal, by, since) })
            }
            WaitSort::Lock(hold) if self.is_kept(hold) => Some(Stall {
                on: hold.path.clone(),
                waits: Some(fact.process.pid),
                window_pid: self.other_window(hold).map(|window| window.process.id.pid),
                ..proof(StallReason::Lock, (hold.holder.pid, &hold.command), since)
            }),
            WaitSort::Lock(_) | WaitSort::Output | WaitSort::Child | WaitSort::Pipe(_) => None,
        }
    }

    /// Returns whether the holder of a lock is another window's, or has it only from a process that has ended: any
    /// other holder may be a build that a person waits for.
    fn is_kept(&self, hold: &LockHold) -> bool {
        let is_own = self.members.iter().any(|member| member.id == hold.holder);
        !is_own && (hold.taken_by.is_some() || self.other_window(hold).is_some())
    }

    fn other_window(&self, hold: &LockHold) -> Option<&Window<'_>> {
        let holder = window_of(&self.world.snapshot.processes, &self.world.windows, hold.holder.pid)?;
        (holder.process.id != self.window.process.id).then_some(holder)
    }
}
