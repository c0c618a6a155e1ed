//! One left-over, and the questions asked about it.

use super::doubts::Doubts;
use crate::core::judge::left_over::left_top::Above;
use crate::core::judge::left_over::protected::in_use;
use crate::core::judge::left_over::taken_over::CLAUDE;
use crate::core::judge::window::stand_in::is_played;
use crate::core::judge::world::World;
use crate::core::model::snapshot::host::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use crate::core::model::snapshot::process::{ancestry, has_exited};
use crate::core::model::{
    Absence, Certainty, Evidence, InputEnd, Multiplexer, Origin, Process, ProcessId, Record, Trace, Untrusted,
};

const BEGAN_LATER: &str = "it began after its window had ended";
const BEGAN_WHEN: &str = "it is not known whether it began before its window ended";

/// One process and the context it is judged in.
pub(super) struct Case<'a> {
    pub(super) world: &'a World<'a>,
    pub(super) trace: &'a Trace,
    pub(super) origin: &'a Origin,
    pub(super) process: &'a Process,
    pub(super) above: Above<'a>,
    pub(super) below: &'a [&'a Process],
    pub(super) window_pid: u32,
    pub(super) doubts: &'a Doubts<'a>,
}

/// Why an answer is not exact.
pub(super) struct Doubt {
    pub(super) certainty: Certainty,
    pub(super) why: String,
    pub(super) evidence: Vec<Evidence>,
}

impl Case<'_> {
    /// Weighs the facts, those against it first.
    pub(super) fn weigh(&self) -> Result<Vec<Evidence>, Doubt> {
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
                let why = format!("not all processes were seen, so PID {} may be alive", self.window_pid);
                return doubt(Certainty::Unknown, why, &evidence);
            }
        }
        let may_be = self.may_be_a_persons().or_else(|| self.may_be_its_parents());
        let may_be = may_be.or_else(|| self.may_be_anothers()).or_else(|| self.may_be_in_use());
        if let Some(why) = may_be.or_else(|| self.may_have_begun_later()) {
            return doubt(Certainty::Guess, why, &evidence);
        }
        evidence.extend(self.others());
        match self.is_not_exact() {
            Some(why) => doubt(Certainty::Strong, why, &evidence),
            None => Ok(evidence),
        }
    }

    /// Returns whether its environment names its origin.
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

    /// Returns the living owner it belongs to, if any. An earlier start of the process that has the number proves no
    /// identity, and errs towards life.
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
            let unused =
                if self.is_undriven() { "; the program that started and drove it has ended" } else { "" };
            return Some(format!("its window, PID {}, is alive{unused}", self.window_pid));
        }
        let is_there =
            |id: ProcessId| table.get(id.pid).is_some_and(|process| process.id == id && !has_exited(process));
        if let Some(outer) = self.trace.seen_below.iter().find(|seen| is_there(seen.id)) {
            return Some(format!(
                "it was started below {} (PID {}), which is alive",
                outer.agent, outer.id.pid
            ));
        }
        for by in self.trace.adopted_by.iter().flatten() {
            let goes_on = self.doubts.taken_over.successor_of(self.world, by).is_some();
            if let Some(pid) = self.world.pids_of_session(by).next() {
                return Some(format!("session {by} took over its task and is running (PID {pid})"));
            }
            if goes_on {
                return Some(format!("session {by} took over its task and is running in the background"));
            }
        }
        let session = self.origin.session.as_ref()?;
        let by = self.doubts.taken_over.successor_of(self.world, session)?;
        let pid = by.process.or(by.host).map(|id| format!(" (PID {})", id.pid)).unwrap_or_default();
        Some(format!("its window was moved to the background, where its session continues{pid}"))
    }

    /// Returns whether it is a browser that a program drives, and that program, a server of the window's, has ended.
    fn is_undriven(&self) -> bool {
        let is_driven =
            self.trace.argv.iter().any(|argument| argument.raw().starts_with("--remote-debugging-"));
        is_driven && matches!(self.above, Above::Nobody | Above::Reaper)
    }

    /// Returns why it cannot be judged.
    fn cannot_be_told(&self) -> Option<String> {
        if self.process.inner_pids() != Some(&[]) {
            return Some("it runs in another PID namespace, where PIDs mean other processes".to_owned());
        }
        let host = &self.world.snapshot.host;
        if host.time_namespace != Some(INITIAL_TIME_NAMESPACE) {
            return Some("start times in this time namespace differ from those in records".to_owned());
        }
        if host.pid_namespace != Some(INITIAL_PID_NAMESPACE) && !self.is_known_here() {
            return Some("its window may run outside of this PID namespace".to_owned());
        }
        if self.trace.origin.is_none() {
            return Some(
                "its environment could not be read, so another window may have started it".to_owned(),
            );
        }
        if let Some(pid) = self.doubts.elsewhere.get(&self.window_pid) {
            let number = self.window_pid;
            return Some(format!("PID {pid} is {number} in another PID namespace, and may be its window"));
        }
        if let Some(pid) = self.doubts.unplaced {
            let number = self.window_pid;
            return Some(format!("PID {pid} may be {number} in another PID namespace, and so its window"));
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
            return Some("could not read whether another session has taken over its task".to_owned());
        };
        let may_go_on = |by: &&Untrusted| self.world.tombstone_of(by).is_none() || self.runs_on(by).is_some();
        if let Some(by) = adopted_by.iter().find(may_go_on) {
            return Some(format!("session {by} took over its task and may still be running"));
        }
        if let Some(untold) = taken_over.untold {
            return Some(format!(
                "PID {untold} runs Claude Code sessions in the background and may have taken it over"
            ));
        }
        if self.origin.session.is_none() && taken_over.is_any(self.world) {
            return Some("it names no session, and Claude Code sessions run in the background".to_owned());
        }
        if taken_over.of_another(self.world, |moment| self.may_have_ended_after(moment)).is_some() {
            return Some("its window may have been moved to the background with another session".to_owned());
        }
        let daemon = taken_over.daemon.filter(|_| self.settled().next().is_none())?;
        Some(format!("PID {daemon} may be taking it over: its window may have died less than 2 min ago"))
    }

    /// Returns why a process below it may belong to another window, or be needed by another process that started it.
    fn is_of_another(&self, below: &Process) -> Option<String> {
        let pid = below.id.pid;
        let trace = self.world.trace_of(below.id).filter(|trace| trace.origin.is_some());
        let Some(trace) = trace else {
            return Some(format!(
                "{} (PID {pid}) below it belongs to another user or could not be read",
                below.comm
            ));
        };
        let session = trace.origin.as_ref().and_then(|origin| origin.session.as_ref());
        let is_taken_over =
            |session: &Untrusted| self.doubts.taken_over.successor_of(self.world, session).is_some();
        if session.is_some_and(is_taken_over) {
            return Some(format!("{} (PID {pid}) below it belongs to a background session", below.comm));
        }
        let other = trace.window_pid().filter(|other| *other != self.window_pid)?;
        Some(format!("{} (PID {pid}) below it was started by another window, PID {other}", below.comm))
    }

    /// Returns whether its window was seen in this PID namespace: a registry may lie in a home that is shared with
    /// others, and not state where its numbers count.
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

    /// Returns why it may be a person's own: people work where an agent has left its variables.
    fn may_be_a_persons(&self) -> Option<String> {
        let named = self.trace.origin.as_ref().and_then(|origin| origin.pid);
        if let Some(other) = named.filter(|other| *other != self.window_pid) {
            return Some(format!("its environment names another window, PID {other}"));
        }
        let table = &self.world.snapshot.processes;
        let multiplexer = ancestry(table, self.process.id.pid).into_iter().find(|one| is_multiplexer(one));
        if let Some(multiplexer) = multiplexer {
            return Some(format!("{} (PID {}) keeps its terminal", multiplexer.comm, multiplexer.id.pid));
        }
        match self.origin.multiplexer? {
            Multiplexer::Unnamed => {
                Some("a terminal multiplexer may have passed on the variables".to_owned())
            }
            Multiplexer::Server(pid) => {
                // Its number may belong to another process now.
                let is_it =
                    |server: &&Process| is_multiplexer(server) && self.was_there_at(server.id.start_ticks);
                let server = table.get(pid).filter(is_it);
                // A process that has ended no longer keeps anything for a person; and no server hands on the window's
                // group, a task's output, or what an earlier look has seen below the window.
                if server.is_none() && self.descent().is_some() {
                    return None;
                }
                let is_clean = server.is_some_and(|server| {
                    let trace = self.world.trace_of(server.id);
                    let origin = trace.and_then(|trace| trace.origin.as_ref());
                    origin.is_some_and(|origin| origin.pid.is_none() && origin.session.is_none())
                });
                (!is_clean).then(|| format!("tmux (PID {pid}) may have passed on the variables"))
            }
        }
    }

    /// Returns why a person may be working with it or with a process below it, such as an editor, a terminal or a
    /// viewer that an agent has opened: whatever its name, its open files show that it is displayed and typed at.
    fn may_be_in_use(&self) -> Option<String> {
        let tree = std::iter::once(self.process).chain(self.below.iter().copied());
        tree.filter_map(|one| {
            let interaction = self.world.trace_of(one.id).and_then(|trace| trace.interaction);
            Some(format!("{} (PID {}) {}", one.comm, one.id.pid, in_use(interaction)?))
        })
        .next()
    }

    /// Returns which living agent may have started it: an agent that its window started hands on its variables.
    fn may_be_anothers(&self) -> Option<String> {
        let window = self.window_pid;
        let is_older = |agent: &Process| agent.id.start_ticks <= self.process.id.start_ticks;
        self.doubts.unnamed.iter().filter(|(agent, _)| is_older(agent)).find_map(|(agent, trace)| {
            let who = format!("{} (PID {})", agent.comm, agent.id.pid);
            let Some((trace, origin)) = trace.and_then(|trace| Some((trace, trace.origin.as_ref()?))) else {
                return Some(format!("{who} is running but could not be read: it may have started it"));
            };
            let is_from_there = origin.pid == Some(window)
                || origin.session.is_some() && origin.session == self.origin.session
                || trace.seen_below.iter().any(|seen| seen.id.pid == window);
            is_from_there
                .then(|| format!("{who} is running, also comes from PID {window}, and may have started it"))
        })
    }

    /// Returns why it may not be an orphan: a parent that has the variables from an agent hands them on, such as a
    /// terminal or an editor that the agent has opened.
    fn may_be_its_parents(&self) -> Option<String> {
        let (parent, why) = match self.above {
            Above::Nobody | Above::Reaper => return None,
            Above::Parent(_) if self.descent().is_some() => return None,
            Above::Parent(parent) => (parent, "may have started it itself"),
            Above::Unread(parent) => (parent, "could not be read"),
        };
        Some(format!("{} (PID {}) above it {why}", parent.comm, parent.id.pid))
    }

    /// Returns why it may have begun after its window ended: a job that an agent gave to `at`, or to the manager of a
    /// person's services, starts with the agent's variables at any later time, on anyone's behalf.
    ///
    /// The proof needed is that it began earlier. Were it the contrary, forgetting when the window was proven dead
    /// would make the answer surer. The proof is that the window was seen alive at that time or later, or that only a
    /// process of the window can have started it, at any time. That the window was proven dead only later proves
    /// nothing: perhaps claimtop did not look for long.
    fn may_have_begun_later(&self) -> Option<String> {
        if is_played(self.process) || self.descent().is_some() {
            return None;
        }
        let began = self.world.started_at(self.process);
        let start = self.world.up_for(self.process.id.start_ticks).filter(|_| began.is_some());
        let had_begun = |sign| {
            let times = start.zip(self.world.moments_of(sign));
            times.is_some_and(|(start, sign)| start <= sign.earliest)
        };
        if self.signs().any(had_begun) {
            return None;
        }
        let is_later = |(began, dead)| self.world.is_after(began, dead);
        Some(match began.zip(self.deaths().max()).is_some_and(is_later) {
            true => format!("{BEGAN_LATER}, as a job of `at` does"),
            false => BEGAN_WHEN.to_owned(),
        })
    }

    /// Returns a fact beside its environment that shows that it came from that window.
    fn descent(&self) -> Option<Evidence> {
        self.marks().or_else(|| self.seen())
    }

    /// Returns the fact that claimtop itself has seen it below the window.
    fn seen(&self) -> Option<Evidence> {
        let seen = self.trace.seen_below.first()?;
        Some(Evidence::new("seen", format!("below PID {} in an earlier look", seen.id.pid), "process table"))
    }

    /// Returns its other traces of that window.
    fn marks(&self) -> Option<Evidence> {
        let pid = self.process.id.pid;
        if let Some(session) = self.origin.session.as_ref().filter(|id| self.trace.tasks.contains(id)) {
            let value = format!("it writes the output of a task of session {session}");
            return Some(Evidence::new("output", value, format!("/proc/{pid}/fd")));
        }
        // The kernel gives no process a number that a group still has, so the group is that window's.
        if self.trace.group == self.window_pid {
            let value = format!("it is in the process group of PID {}", self.window_pid);
            return Some(Evidence::new("group", value, format!("/proc/{pid}/stat")));
        }
        None
    }

    /// Returns an independent fact showing that it came from that window, or that it is unused.
    fn others(&self) -> Option<Evidence> {
        let input = || {
            let value = "the other end of its standard input is closed";
            Evidence::new("input", value, format!("/proc/{}/fd/0", self.process.id.pid))
        };
        let came = if self.says_so() { self.descent() } else { self.marks() };
        came.or_else(|| (self.trace.input == Some(InputEnd::Closed)).then(input))
    }

    /// Returns what an exact answer lacks.
    fn is_not_exact(&self) -> Option<String> {
        let world = self.world;
        if !self.doubts.is_whole {
            return Some("not all processes could be seen".to_owned());
        }
        if let Some(pid) = self.origin.session.as_ref().and_then(|session| self.runs_on(session)) {
            return Some(format!("PID {pid} continues its session, or may do so"));
        }
        if self.is_claudes() && self.origin.session.is_none() {
            return Some("it names no session".to_owned());
        }
        if self.others().is_none() {
            let fact = if self.says_so() { "its environment says" } else { "an earlier look says" };
            return Some(format!("only {fact} whose it is"));
        }
        let Some(started) = world.started_at(self.process) else {
            return Some("its start time is not known".to_owned());
        };
        if self.last_sign().is_none_or(|sign| world.is_after(started, sign)) {
            return Some(BEGAN_WHEN.to_owned());
        }
        if self.settled().next().is_none() {
            return Some("its window may have died less than 2 min ago".to_owned());
        }
        let was_there = |at| is_played(self.process) || !world.is_after(started, at);
        (!self.settled().any(was_there)).then(|| BEGAN_LATER.to_owned())
    }
}

/// Returns whether a process hosts terminals for other programs.
fn is_multiplexer(process: &Process) -> bool {
    let comm = process.comm.raw();
    comm.starts_with("tmux") || matches!(comm, "screen" | "SCREEN" | "zellij")
}
