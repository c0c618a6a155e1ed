//! Left-overs: processes that go on after the window that started them, and how sure that is.
//!
//! A parent PID of 1 proves nothing, and a number in an environment is handed on to whatever comes
//! later: a terminal multiplexer that an agent started gives it to every pane of a person's own. So what
//! is offered needs proof that the window is dead, and that nothing alive could need the process; where
//! a fact is missing it is less sure, never surer.

use std::collections::BTreeMap;

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::left_top::{Above, above};
use crate::core::judge::never_ended::never_ended;
use crate::core::judge::stand_in::is_played;
use crate::core::judge::taken_over::{CLAUDE, TakenOver};
use crate::core::judge::tool_shell::{is_tool_shell, tool_command};
use crate::core::judge::world::{PossibleAgent, World};
use crate::core::model::host::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use crate::core::model::process::{Children, ancestry, has_exited};
use crate::core::model::{
    Absence, Certainty, Evidence, InputEnd, Key, KeyKind, LeftOver, LeftSort, Member, Multiplexer, Origin,
    Process, ProcessId, Record, Snapshot, Tombstone, Trace, Untrusted,
};

/// How long a window must have been dead before what it left counts as left: 120 s, in which another
/// may take it over.
const SETTLED: SignedDuration = SignedDuration::from_secs(120);

/// Returns whether an agent puts its own PID into the environment of all that it starts.
pub fn names_itself(agent: &str) -> bool {
    matches!(agent, "claude-code" | "opencode")
}

const BEGAN_LATER: &str = "it began after its window had ended";
const BEGAN_WHEN: &str = "whether it began before its window ended is not known";

/// Returns every process that bears the traces of a window and has none above it.
pub(crate) fn left_overs(world: &World<'_>, children: &Children<'_>) -> Vec<LeftOver> {
    let mut named = world.snapshot.traces.iter().filter(|trace| trace.names_window()).peekable();
    if named.peek().is_none() {
        return Vec::new();
    }
    let doubts = Doubts::new(world);
    named.filter_map(|trace| left_over(world, trace, children, &doubts)).collect()
}

/// Who keeps any answer from being certain.
struct Doubts<'a> {
    /// A process that could not be read.
    hidden: Option<u32>,
    /// Whether all processes were seen, with all their numbers.
    is_whole: bool,
    taken_over: TakenOver<'a>,
    /// Who lives in PID namespaces below, by each number there.
    elsewhere: BTreeMap<u32, u32>,
    /// One who may be an agent, of whom it is not known in which PID namespace he counts.
    unplaced: Option<u32>,
    /// Living agents whose variables do not tell whom they have started.
    unnamed: Vec<(&'a Process, Option<&'a Trace>)>,
}

impl<'a> Doubts<'a> {
    fn new(world: &World<'a>) -> Self {
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
    let above = above(world, process, window_pid)?;
    let below = children.below(process.id.pid, |below| !has_exited(below));
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

/// Returns where a process comes from: what was seen counts before what its environment says, which it may
/// have erased. Then its session is the last that its window ran.
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

/// Returns what a process runs, else what the kernel calls it.
fn command(trace: &Trace, process: &Process) -> Untrusted {
    let command = trace.argv.iter().map(|argument| argument.raw()).collect::<Vec<_>>().join(" ");
    if command.is_empty() { process.comm.clone() } else { command.as_str().into() }
}

/// Says what sort of process it is.
fn sort(trace: &Trace, tree: &[Member]) -> LeftSort {
    if tree.iter().any(|member| !member.ports.is_empty()) {
        return LeftSort::Server;
    }
    if is_tool_shell(&trace.argv) { LeftSort::Shell } else { LeftSort::Process }
}

/// One process and what is asked about it.
struct Case<'a> {
    world: &'a World<'a>,
    trace: &'a Trace,
    origin: &'a Origin,
    process: &'a Process,
    above: Above<'a>,
    below: &'a [&'a Process],
    window_pid: u32,
    doubts: &'a Doubts<'a>,
}

/// Why an answer is not exact.
struct Doubt {
    certainty: Certainty,
    why: String,
    evidence: Vec<Evidence>,
}

impl Case<'_> {
    /// Weighs the facts, those against it first.
    fn weigh(&self) -> Result<Vec<Evidence>, Doubt> {
        let mut evidence = vec![self.named()];
        let doubt = |certainty, why: String, evidence: &[Evidence]| {
            Err(Doubt { certainty, why, evidence: evidence.to_vec() })
        };
        if let Some(why) = self.is_held() {
            return doubt(Certainty::Held, why, &evidence);
        }
        if let Some(why) = self.cannot_be_told() {
            return doubt(Certainty::Unknown, why, &evidence);
        }
        match self.death() {
            Some(dead) => evidence.push(dead),
            None => {
                let why = format!("not all processes were seen, so PID {} may live", self.window_pid);
                return doubt(Certainty::Unknown, why, &evidence);
            }
        }
        let may_be = self.may_be_a_persons().or_else(|| self.may_be_its_parents());
        let may_be = may_be.or_else(|| self.may_be_anothers());
        if let Some(why) = may_be.or_else(|| self.may_have_begun_later()) {
            return doubt(Certainty::Guess, why, &evidence);
        }
        evidence.extend(self.others());
        match self.is_not_exact() {
            Some(why) => doubt(Certainty::Strong, why, &evidence),
            None => Ok(evidence),
        }
    }

    /// Returns whether its environment says where it comes from.
    fn says_so(&self) -> bool {
        self.trace.origin.as_ref().is_some_and(|origin| origin.pid == Some(self.window_pid))
    }

    fn named(&self) -> Evidence {
        if !self.says_so() {
            return self.seen().unwrap_or_else(|| Evidence::new("seen", "nothing", "process table"));
        }
        let session = self.origin.session.as_ref().map(|id| format!(", session {id}")).unwrap_or_default();
        let value = format!("PID {}{session}", self.window_pid);
        Evidence::new("started by", value, format!("/proc/{}/environ", self.process.id.pid))
    }

    /// Says who alive it belongs to. An earlier start of whoever has the number proves no identity, and
    /// errs towards life.
    fn is_held(&self) -> Option<String> {
        let table = &self.world.snapshot.processes;
        let above = ancestry(table, self.process.id.pid).into_iter().skip(1);
        if let Some(agent) = above.into_iter().find(|above| self.is_agent(above)) {
            return Some(format!("it runs below {} (PID {})", agent.comm, agent.id.pid));
        }
        let window = table
            .get(self.window_pid)
            .filter(|window| window.id.start_ticks <= self.process.id.start_ticks && !has_exited(window));
        if window.is_some() {
            return Some(format!("its window, PID {}, lives", self.window_pid));
        }
        let is_there =
            |id: ProcessId| table.get(id.pid).is_some_and(|process| process.id == id && !has_exited(process));
        if let Some(outer) = self.trace.seen_below.iter().find(|seen| is_there(seen.id)) {
            return Some(format!("it was started below {} (PID {}), which lives", outer.agent, outer.id.pid));
        }
        for by in self.trace.adopted_by.iter().flatten() {
            let goes_on = self.doubts.taken_over.by(self.world, by).is_some();
            if let Some(pid) = self.world.pids_of_session(by).next() {
                return Some(format!("session {by} has taken its task over, and goes on (PID {pid})"));
            }
            if goes_on {
                return Some(format!("session {by} has taken its task over, and goes on in the background"));
            }
        }
        let session = self.origin.session.as_ref()?;
        let by = self.doubts.taken_over.by(self.world, session)?;
        let pid = by.process.or(by.host).map(|id| format!(" (PID {})", id.pid)).unwrap_or_default();
        Some(format!("its window was moved to the background, where its session goes on{pid}"))
    }

    /// Says why nothing can be told of it.
    fn cannot_be_told(&self) -> Option<String> {
        if self.process.inner_pids() != Some(&[]) {
            return Some("it runs in another PID namespace, where numbers mean others".to_owned());
        }
        let host = &self.world.snapshot.host;
        if host.time_namespace != Some(INITIAL_TIME_NAMESPACE) {
            return Some("in this time namespace starts are other numbers than records say".to_owned());
        }
        if host.pid_namespace != Some(INITIAL_PID_NAMESPACE) && !self.is_known_here() {
            return Some("its window may run outside of this PID namespace".to_owned());
        }
        if self.trace.origin.is_none() {
            return Some("its environment could not be read, so it may have come through another".to_owned());
        }
        if let Some(pid) = self.doubts.elsewhere.get(&self.window_pid) {
            let number = self.window_pid;
            return Some(format!(
                "PID {pid} has number {number} in another PID namespace, and may be its window"
            ));
        }
        if let Some(pid) = self.doubts.unplaced {
            let number = self.window_pid;
            return Some(format!(
                "PID {pid} may have number {number} in another PID namespace, and be its window"
            ));
        }
        if let Some(hidden) = self.doubts.hidden {
            return Some(format!("PID {hidden} could not be read and may run below it"));
        }
        if let Some(agent) = self.below.iter().find(|below| self.is_agent(below)) {
            return Some(format!("PID {} below it is an agent, or may be one", agent.id.pid));
        }
        if self.is_agent(self.process) {
            return Some("it may be an agent itself".to_owned());
        }
        if let Some(why) = self.below.iter().find_map(|below| self.is_of_another(below)) {
            return Some(why);
        }
        let taken_over = &self.doubts.taken_over;
        if !self.is_claudes() {
            return None;
        }
        let Some(adopted_by) = &self.trace.adopted_by else {
            return Some("whether another session has taken its task over could not be read".to_owned());
        };
        let may_go_on = |by: &&Untrusted| self.world.tombstone_of(by).is_none() || self.runs_on(by).is_some();
        if let Some(by) = adopted_by.iter().find(may_go_on) {
            return Some(format!("session {by} has taken its task over, and may go on"));
        }
        if let Some(untold) = taken_over.untold {
            return Some(format!(
                "PID {untold} runs sessions of Claude Code's in the background and may have taken it over"
            ));
        }
        if self.origin.session.is_none() && taken_over.is_any(self.world) {
            return Some(
                "it names no session, and sessions of Claude Code's go on in the background".to_owned(),
            );
        }
        if taken_over.of_another(self.world, |moment| self.may_have_ended_after(moment)).is_some() {
            return Some("its window may have been moved to the background with another session".to_owned());
        }
        let daemon = taken_over.daemon.filter(|_| self.settled().next().is_none())?;
        Some(format!("PID {daemon} may be taking it over: its window is not known to be dead for 2 min"))
    }

    /// Says why a process below it may be another window's, or needed by whoever else has started it.
    fn is_of_another(&self, below: &Process) -> Option<String> {
        let pid = below.id.pid;
        let trace = self.world.trace_of(below.id).filter(|trace| trace.origin.is_some());
        let Some(trace) = trace else {
            return Some(format!(
                "{} (PID {pid}) below it is another user's, or could not be read",
                below.comm
            ));
        };
        let session = trace.origin.as_ref().and_then(|origin| origin.session.as_ref());
        let is_taken_over = |session: &Untrusted| self.doubts.taken_over.by(self.world, session).is_some();
        if session.is_some_and(is_taken_over) {
            return Some(format!("{} (PID {pid}) below it is of a session in the background", below.comm));
        }
        let other = trace.window_pid().filter(|other| *other != self.window_pid)?;
        Some(format!("{} (PID {pid}) below it was started by another window, PID {other}", below.comm))
    }

    /// Returns whether its window was seen in this PID namespace: a registry may lie in a home that is shared
    /// with others, and not say where its numbers count.
    fn is_known_here(&self) -> bool {
        let names_domain =
            |record: &&Record| record.holder.as_ref().is_some_and(|one| one.domain().is_some());
        !self.trace.seen_below.is_empty()
            || self.seen_alive().chain(self.deaths()).next().is_some()
            || self.entries().any(|record| names_domain(&record))
    }

    fn is_claudes(&self) -> bool {
        self.origin.agent.as_ref().is_some_and(|agent| agent.raw() == CLAUDE)
    }

    fn is_agent(&self, process: &Process) -> bool {
        self.world.may_be_agents(process)
    }

    /// Proves that its window is dead.
    fn death(&self) -> Option<Evidence> {
        let table = &self.world.snapshot.processes;
        let (pid, source) = (self.window_pid, "process table");
        match table.get(pid) {
            Some(other) if other.id.start_ticks > self.process.id.start_ticks => {
                let value = format!("PID {pid} was given to another process after this one had begun");
                Some(Evidence::new("window", value, source))
            }
            Some(zombie) if has_exited(zombie) => {
                Some(Evidence::new("window", format!("PID {pid} has exited"), source))
            }
            Some(_) => None,
            None if table.absence(pid) == Absence::Proven => {
                Some(Evidence::new("window", format!("no process has PID {pid}"), source))
            }
            None => None,
        }
    }

    /// Says why it may be a person's own, who works where an agent has left its variables.
    fn may_be_a_persons(&self) -> Option<String> {
        let named = self.trace.origin.as_ref().and_then(|origin| origin.pid);
        if let Some(other) = named.filter(|other| *other != self.window_pid) {
            return Some(format!("its environment names another window, PID {other}"));
        }
        let table = &self.world.snapshot.processes;
        let multiplexer = ancestry(table, self.process.id.pid).into_iter().find(|one| is_multiplexer(one));
        if let Some(multiplexer) = multiplexer {
            return Some(format!("{} (PID {}) keeps it", multiplexer.comm, multiplexer.id.pid));
        }
        match self.origin.multiplexer? {
            Multiplexer::Unnamed => {
                Some("a terminal multiplexer may have handed the variables on".to_owned())
            }
            Multiplexer::Server(pid) => {
                // Its number may be another's by now.
                let is_it =
                    |server: &&Process| is_multiplexer(server) && self.was_there_at(server.id.start_ticks);
                let is_clean = table.get(pid).filter(is_it).is_some_and(|server| {
                    let trace = self.world.trace_of(server.id);
                    let origin = trace.and_then(|trace| trace.origin.as_ref());
                    origin.is_some_and(|origin| origin.pid.is_none() && origin.session.is_none())
                });
                (!is_clean).then(|| format!("tmux (PID {pid}) may have handed the variables on"))
            }
        }
    }

    /// Says which living agent may have started it: one that its window has started hands on its variables.
    fn may_be_anothers(&self) -> Option<String> {
        let window = self.window_pid;
        let is_older = |agent: &Process| agent.id.start_ticks <= self.process.id.start_ticks;
        self.doubts.unnamed.iter().filter(|(agent, _)| is_older(agent)).find_map(|(agent, trace)| {
            let who = format!("{} (PID {})", agent.comm, agent.id.pid);
            let Some((trace, origin)) = trace.and_then(|trace| Some((trace, trace.origin.as_ref()?))) else {
                return Some(format!("{who} lives, and could not be read: it may have started it"));
            };
            let is_from_there = origin.pid == Some(window)
                || origin.session.is_some() && origin.session == self.origin.session
                || trace.seen_below.iter().any(|seen| seen.id.pid == window);
            is_from_there
                .then(|| format!("{who} lives, comes from PID {window} as well, and may have started it"))
        })
    }

    /// Says why it may be no orphan: whoever has the variables from an agent hands them on, as a terminal
    /// or an editor does that the agent has opened a window of.
    fn may_be_its_parents(&self) -> Option<String> {
        let (parent, why) = match self.above {
            Above::Nobody | Above::Reaper => return None,
            Above::Parent(_) if self.descent().is_some() => return None,
            Above::Parent(parent) => (parent, "may have started it itself"),
            Above::Unread(parent) => (parent, "could not be read"),
        };
        Some(format!("{} (PID {}), which it runs below, {why}", parent.comm, parent.id.pid))
    }

    /// Says why it may have begun when its window had ended already: what an agent has told `at`, or the
    /// keeper of a person's services, is started with its variables at any later time, for whomever.
    ///
    /// That it began earlier is what must be known. Were it the contrary, to forget when the window was
    /// proven dead would make it surer. It is known where the window was seen to live by then; and of whom
    /// only a process of the window can have started, whenever that was. That the window was proven dead only
    /// later says nothing: nobody may have looked for long.
    fn may_have_begun_later(&self) -> Option<String> {
        if is_played(self.process) || self.descent().is_some() {
            return None;
        }
        let began = self.world.started_at(self.process);
        let certain = began.and_then(|began| began.checked_add(self.world.snapshot.host.clock_doubt).ok());
        if self.signs().any(|sign| certain.is_some_and(|began| began <= sign)) {
            return None;
        }
        let is_later = |(began, dead)| self.world.is_after(began, dead);
        Some(match began.zip(self.deaths().max()).is_some_and(is_later) {
            true => format!("{BEGAN_LATER}, as a job of `at` does"),
            false => BEGAN_WHEN.to_owned(),
        })
    }

    /// Returns a fact beside its environment that says that it came from that window.
    fn descent(&self) -> Option<Evidence> {
        self.marks().or_else(|| self.seen())
    }

    /// Returns what claimtop itself has seen.
    fn seen(&self) -> Option<Evidence> {
        let seen = self.trace.seen_below.first()?;
        Some(Evidence::new("seen", format!("below PID {} in an earlier look", seen.id.pid), "process table"))
    }

    /// Returns what else it bears of that window.
    fn marks(&self) -> Option<Evidence> {
        let pid = self.process.id.pid;
        if let Some(session) = self.origin.session.as_ref().filter(|id| self.trace.tasks.contains(id)) {
            let value = format!("it writes a task's output of session {session}");
            return Some(Evidence::new("output", value, format!("/proc/{pid}/fd")));
        }
        // The kernel gives nobody a number that a group still has, so the group is that window's.
        if self.trace.group == self.window_pid {
            let value = format!("it is in the process group of PID {}", self.window_pid);
            return Some(Evidence::new("group", value, format!("/proc/{pid}/stat")));
        }
        None
    }

    /// Returns a fact that says independently that it came from that window, or that nobody uses it.
    fn others(&self) -> Option<Evidence> {
        let input = || {
            let value = "nobody is at the other end of its standard input";
            Evidence::new("input", value, format!("/proc/{}/fd/0", self.process.id.pid))
        };
        let came = if self.says_so() { self.descent() } else { self.marks() };
        came.or_else(|| (self.trace.input == Some(InputEnd::Closed)).then(input))
    }

    /// Says what an exact answer lacks.
    fn is_not_exact(&self) -> Option<String> {
        let world = self.world;
        if !self.doubts.is_whole {
            return Some("not all processes could be seen".to_owned());
        }
        if let Some(pid) = self.origin.session.as_ref().and_then(|session| self.runs_on(session)) {
            return Some(format!("PID {pid} goes on with its session, or may do so"));
        }
        if self.is_claudes() && self.origin.session.is_none() {
            return Some("it names no session".to_owned());
        }
        if self.others().is_none() {
            let fact = if self.says_so() { "its environment says" } else { "an earlier look says" };
            return Some(format!("only {fact} whose it is"));
        }
        let Some(started) = world.started_at(self.process) else {
            return Some("when it began is not known".to_owned());
        };
        if self.last_sign().is_none_or(|sign| world.is_after(started, sign)) {
            return Some(BEGAN_WHEN.to_owned());
        }
        if self.settled().next().is_none() {
            return Some("its window is not known to have been dead for 2 min".to_owned());
        }
        let was_there = |at| is_played(self.process) || !world.is_after(started, at);
        (!self.settled().any(was_there)).then(|| BEGAN_LATER.to_owned())
    }

    /// Returns the PID of a window that runs a session, or that may: its own is not known.
    fn runs_on(&self, session: &Untrusted) -> Option<u32> {
        let world = self.world;
        let started = world.started_with(session.raw()).iter().map(|process| process.id.pid);
        let certain = world.pids_of_session(session).chain(started).next();
        let is_unknown = |pid: &u32| !world.sessions.contains_key(pid) && world.bindings.of(*pid).is_none();
        let mut windows = world.windows.iter().filter(|window| window.agent == CLAUDE);
        certain.or_else(|| windows.find_map(|window| Some(window.process.id.pid).filter(is_unknown)))
    }

    /// Returns when its window was last known to live.
    fn last_sign(&self) -> Option<Timestamp> {
        let work = self.world.snapshot.work.iter();
        let work = work.filter(|work| Some(&work.session) == self.origin.session.as_ref());
        self.signs().chain(work.map(|work| work.written_at)).max()
    }

    /// Returns when its window's very process was known to live. Another may go on with its session, so
    /// what is written there says nothing; nor does another machine's clock, or a file that is dated ahead.
    fn signs(&self) -> impl Iterator<Item = Timestamp> {
        self.entries().map(|record| record.written_at).chain(self.seen_alive())
    }

    fn entries(&self) -> impl Iterator<Item = &Record> {
        self.world.registered(self.window_pid).iter().copied().filter(|record| {
            let start = record.holder.as_ref().and_then(|holder| holder.start_ticks);
            let is_ours = record.medium().is_this_machines();
            is_ours
                && record.written_at <= self.world.snapshot.taken_at
                && start.is_some_and(|start| self.was_there_at(start))
        })
    }

    fn seen_alive(&self) -> impl Iterator<Item = Timestamp> {
        let seen = self.world.seen(self.window_pid).iter();
        let seen = seen.filter(|seen| self.was_there_at(seen.id.start_ticks)).map(|seen| seen.last_seen_at);
        // A clock that was set back since then says nothing.
        let is_sound = |stone: &&Tombstone| stone.seen_alive_at.is_some_and(|at| at <= stone.proven_at);
        seen.chain(self.stones().filter(is_sound).filter_map(|stone| stone.seen_alive_at))
    }

    /// Returns when its window was proven dead: whoever had that number by the time that it began. Where
    /// one that began later is known to have had it, it was an earlier one that was dead.
    fn deaths(&self) -> impl Iterator<Item = Timestamp> {
        self.own_stones().map(|stone| stone.proven_at)
    }

    fn own_stones(&self) -> impl Iterator<Item = &Tombstone> {
        let seen = self.world.seen(self.window_pid).iter().map(|seen| seen.id.start_ticks);
        let newest = seen.filter(|start| self.was_there_at(*start)).max().unwrap_or_default();
        self.stones().filter(move |stone| stone.id.start_ticks >= newest)
    }

    fn stones(&self) -> impl Iterator<Item = &Tombstone> {
        self.world.snapshot.tombstones.iter().filter(|stone| {
            stone.id.pid == self.window_pid
                && self.was_there_at(stone.id.start_ticks)
                && stone.counts_on(&self.world.snapshot.host)
        })
    }

    /// Returns those of them that are long past, however the clock was set since.
    fn settled(&self) -> impl Iterator<Item = Timestamp> {
        let Snapshot { host, taken_at, .. } = self.world.snapshot;
        let settled = SETTLED.saturating_add(host.clock_doubt);
        let those = self.own_stones().filter(move |stone| stone.dead_for(host, *taken_at) >= settled);
        those.map(|stone| stone.proven_at)
    }

    /// Returns whether its window may have lived at a moment, and have ended soon after.
    fn may_have_ended_after(&self, moment: Timestamp) -> bool {
        let soon = moment.checked_add(SETTLED).unwrap_or(Timestamp::MAX);
        !self.deaths().any(|dead| self.world.is_after(moment, dead))
            && !self.signs().any(|sign| self.world.is_after(sign, soon))
    }

    /// Returns whether it had begun by this tick.
    fn was_there_at(&self, start_ticks: u64) -> bool {
        start_ticks <= self.process.id.start_ticks
    }
}

/// Returns whether a process keeps terminals for others.
fn is_multiplexer(process: &Process) -> bool {
    let comm = process.comm.raw();
    comm.starts_with("tmux") || matches!(comm, "screen" | "SCREEN" | "zellij")
}
