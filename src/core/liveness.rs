//! Verdicts: whether a record's holder lives, with proof for every "dead".
//!
//! The one rule above all: an answer of Dead needs proof, and forgetting any fact may turn an
//! answer into Unknown but never into Dead. Where only a helper's PID is known (a shell, a
//! hook), its death proves nothing as long as some window could still be the owner.

mod git;
mod leo;
mod obra;
mod tasks;

use jiff::{SignedDuration, Timestamp};

use super::context::CONTEXT_VARIABLE;
use super::evidence::Evidence;
use super::process::{Process, ancestry};
use super::record::{Binding, Format, Holder, Location, Record, Role, StatedPid};
use super::report::{Reason, Verdict, VerdictState};
use super::snapshot::INITIAL_PID_NAMESPACE;
use super::text::Untrusted;
use super::window::{Window, window_of};
use super::world::{PossibleAgent, World, has_exited};

/// Judges one record: by its own PID where that is the agent's, else by whatever binds its
/// session to a process, else by whether any living window could own it.
pub fn judge(record: &Record, world: &World<'_>) -> Verdict {
    let mut ladder = Ladder::default();
    let answer = match record.format {
        Format::Obra => obra::judge(record, world, &mut ladder),
        Format::Git => git::judge(record, world, &mut ladder),
        Format::ClaudeCode if tasks::is_task(record) => tasks::judge(record, world, &mut ladder),
        Format::Maia
        | Format::Observability
        | Format::Entire
        | Format::Leo
        | Format::ClaudeCode
        | Format::Beads
        | Format::AgentMail
        | Format::Codex
        | Format::Copilot
        | Format::Own(_) => by_holder(record, world, &mut ladder),
    };
    answer.with(ladder)
}

/// Judges by the three steps that hold for whatever names a process or a session.
fn by_holder(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    if let Some(answer) = by_note(record, world, ladder) {
        return answer;
    }
    if record.format == Format::Leo && matches!(record.location, Location::Row(_)) {
        let answer = leo::judge(record, world, ladder);
        return spared(answer, record, world, ladder);
    }
    if let Some(answer) = own_verdict(record, world, ladder) {
        return spared(answer, record, world, ladder);
    }
    if let Some(answer) = by_session(record, world, ladder) {
        return answer;
    }
    if let Some(answer) = by_context(record, world, ladder) {
        return answer;
    }
    let answer = by_possible_owners(record, world, ladder);
    spared(answer, record, world, ladder)
}

/// Judges by what the agent's own hook told, which beats all other evidence for life.
fn by_note(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record))?;
    let (note, process) =
        world.bonds.running(session).iter().find(|(note, _)| runs_on(record.format, note.agent.raw()))?;
    ladder.add_from(
        "binding",
        format!("PID {} runs this session, as its own hook told at {}", process.id.pid, note.written_at),
        note.source(),
    );
    alive(Reason::SameProcess)
}

/// Returns whether a record is about one process and not about who else may run its session: an
/// agent's own registry keeps one for each.
fn names_its_process(record: &Record) -> bool {
    let holder = record.holder.as_ref();
    holder.is_some_and(|holder| holder.start_ticks.is_some() && holder.binding == Binding::Registry)
}

/// Takes a death back where a note says that the session may be run out of sight.
fn spared(answer: Answer, record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record));
    let why = session.and_then(|session| world.bonds.open(session));
    match (answer.0, why) {
        (VerdictState::Dead, Some(reason)) => {
            ladder.add(
                "binding",
                Untrusted::fixed("the session may be run where it cannot be seen from here"),
                "claimtop's own notes",
            );
            Answer(VerdictState::Unknown, reason)
        }
        (VerdictState::Dead | VerdictState::Alive | VerdictState::Unknown, _) => answer,
    }
}

/// The facts, in the order in which they were weighed.
#[derive(Default)]
struct Ladder {
    facts: Vec<Evidence>,
    /// Why the process behind a helper's PID is over, should nothing living own the record.
    helper_gone: Option<Reason>,
}

impl Ladder {
    fn add(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: &'static str) {
        self.add_from(fact, value, Untrusted::fixed(source));
    }

    fn add_from(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: Untrusted) {
        self.facts.push(Evidence::new(Untrusted::fixed(fact), value, source));
    }
}

/// A verdict without its evidence.
#[derive(Clone, Copy)]
struct Answer(VerdictState, Reason);

impl Answer {
    fn with(self, ladder: Ladder) -> Verdict {
        Verdict { state: self.0, reason: self.1, evidence: ladder.facts.into() }
    }
}

const fn alive(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Alive, reason))
}

const fn dead(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Dead, reason))
}

const fn unknown(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Unknown, reason))
}

/// Judges by the record's own PID; `None` when that PID cannot decide.
fn own_verdict(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let holder = record.holder.as_ref()?;
    if let Some(answer) = elsewhere(holder, world, ladder) {
        return Some(answer);
    }
    let pid = match holder.pid.as_ref()? {
        StatedPid::Valid(pid) => *pid,
        StatedPid::Bad(text) => {
            ladder.add("pid", text.clone(), "record");
            return unknown(Reason::BadPid);
        }
    };
    ladder.add("pid", format!("{pid} ({})", role_words(holder.role)), "record");
    match world.snapshot.processes.get(pid) {
        Some(process) => present(record, holder, process, world, ladder),
        None => absent(record, holder, pid, world, ladder),
    }
}

/// Judges what the record says about machine and boot.
fn elsewhere(holder: &Holder, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let here = &world.snapshot.host;
    if let Some(host) = holder.host.as_ref() {
        ladder.add("host", host.clone(), "record");
        if !host.raw().eq_ignore_ascii_case(&here.name) {
            ladder.add("this host", here.name.as_str(), "uname");
            return unknown(Reason::OtherHost);
        }
    }
    let recorded = holder.boot_id.as_ref()?;
    ladder.add("boot", recorded.clone(), "record");
    match here.boot_id.as_deref() {
        None => unknown(Reason::Unreadable),
        Some(boot) if boot == recorded.raw() => None,
        Some(boot) => {
            ladder.add("this boot", boot, "/proc/sys/kernel/random/boot_id");
            dead(Reason::OtherBoot)
        }
    }
}

fn role_words(role: Role) -> &'static str {
    match role {
        Role::Agent => "the agent's",
        Role::Shell => "a shell's",
        Role::Hook => "a short-lived helper's",
        Role::Daemon => "a daemon's",
        Role::Unknown => "the format does not say whose",
    }
}

/// Judges a PID that is there.
fn present(
    record: &Record,
    holder: &Holder,
    process: &Process,
    world: &World<'_>,
    ladder: &mut Ladder,
) -> Option<Answer> {
    let source = Untrusted::new(format!("/proc/{}/stat", process.id.pid));
    ladder.add_from(
        "process",
        format!("{} started at tick {}", process.comm, process.id.start_ticks),
        source.clone(),
    );
    let is_same = match holder.start_ticks {
        Some(start) => {
            ladder.add("recorded start", format!("tick {start}"), "record");
            start == process.id.start_ticks
        }
        None => !is_younger(record, process, world, ladder),
    };
    if !is_same {
        let reason = if holder.start_ticks.is_some() { Reason::OtherProcess } else { Reason::BornLater };
        return gone(record, holder, process.id.pid, reason, world, ladder);
    }
    if has_exited(process) {
        ladder.add(
            "exited",
            Untrusted::fixed("it has exited and waits to be reaped"),
            "pidfd, or state Z with one thread",
        );
        return gone(record, holder, process.id.pid, Reason::Exited, world, ladder);
    }
    if holder.start_ticks.is_some() {
        return alive(Reason::SameProcess);
    }
    if holder.role == Role::Agent && is_foreign(record, process) {
        ladder.add_from(
            "user",
            Untrusted::fixed("the process belongs to another user than the record"),
            source,
        );
        return gone(record, holder, process.id.pid, Reason::NotAnAgent, world, ladder);
    }
    if let Some(window) = window_of(&world.snapshot.processes, &world.windows, process.id.pid) {
        ladder.add("window", format!("{} {}", window.agent, window.process.id.pid), "parent chain");
    }
    alive(Reason::ProcessPresent)
}

/// Returns whether the PID's process is younger than the record's last write.
fn is_younger(record: &Record, process: &Process, world: &World<'_>, ladder: &mut Ladder) -> bool {
    let Some(started) = world.started_at(process) else { return false };
    let is_younger = world.is_born_after(process, record.written_at);
    if is_younger {
        ladder.add("process start", started.to_string(), "start tick and boot time");
        ladder.add("last write", record.written_at.to_string(), "file time");
    }
    is_younger
}

fn is_foreign(record: &Record, process: &Process) -> bool {
    let uid = process.details.as_ref().and_then(|details| details.uid);
    uid.is_some_and(|uid| uid != record.ownership.uid)
}

/// Judges a PID that is not in the table.
fn absent(
    record: &Record,
    holder: &Holder,
    pid: u32,
    world: &World<'_>,
    ladder: &mut Ladder,
) -> Option<Answer> {
    let table = &world.snapshot.processes;
    if table.listed.contains(&pid) {
        ladder.add("process", Untrusted::fixed("there, but it may not be read"), "/proc");
        return unknown(Reason::NoPermission);
    }
    if let Some(why) = table.partial.as_ref() {
        ladder.add("process", format!("not seen, but not all processes can be seen: {why}"), "/proc");
        return unknown(Reason::PartialScan);
    }
    ladder.add(
        "process",
        Untrusted::fixed("no process has this PID"),
        "complete scan of /proc after the record was read",
    );
    gone(record, holder, pid, Reason::NoProcess, world, ladder)
}

/// Decides what it means that the process behind the stored PID is over: death for an agent's
/// PID, nothing yet for a helper's, and nothing at all where another PID namespace could have
/// written the number.
fn gone(
    record: &Record,
    holder: &Holder,
    pid: u32,
    reason: Reason,
    world: &World<'_>,
    ladder: &mut Ladder,
) -> Option<Answer> {
    if let Some(answer) = named_elsewhere(holder, pid, world, ladder) {
        return Some(answer);
    }
    // A dead process whose start the record states is the holder, whatever its number means
    // elsewhere.
    let is_certain = reason == Reason::Exited && holder.start_ticks.is_some();
    if !is_certain && let Some(answer) = in_other_namespace(holder, pid, world, ladder) {
        return Some(answer);
    }
    let is_the_agents = holder.role == Role::Agent
        || (!may_be_outsiders(record, world) && was_seen_as_agent(record, pid, world, ladder));
    if is_the_agents {
        return dead(if is_before_boot(record, world, ladder) { Reason::OtherBoot } else { reason });
    }
    ladder.helper_gone = Some(reason);
    None
}

fn is_before_boot(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> bool {
    let Some(boot) = world.snapshot.host.boot_at else { return false };
    let is_before = world.is_after(boot, record.written_at);
    if is_before {
        ladder.add("boot", format!("the machine booted at {boot}, after the last write"), "boot clock");
    }
    is_before
}

/// Returns whether an agent of another PID namespace could have written a record, with a number
/// that counts there.
fn may_be_outsiders(record: &Record, world: &World<'_>) -> bool {
    world.outsiders.iter().any(|agent| match agent {
        PossibleAgent::Known(..) | PossibleAgent::Unproven(_) => could_own(record, agent, world),
        PossibleAgent::Hidden(_) => true,
    })
}

/// Looks for a living process that has this number in its own PID namespace.
fn named_elsewhere(holder: &Holder, pid: u32, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let is_it = |process: &&&Process| holder.start_ticks.is_none_or(|start| start == process.id.start_ticks);
    let process = world.inner(pid).iter().find(is_it)?;
    ladder.add(
        "other namespace",
        format!("process {} here is {pid} in its own PID namespace", process.id.pid),
        "NSpid of /proc/<pid>/status",
    );
    match holder.start_ticks {
        Some(_) => alive(Reason::SameProcess),
        None => unknown(Reason::OtherNamespace),
    }
}

/// Decides whether the number may count in a PID namespace that cannot be seen into from here.
fn in_other_namespace(holder: &Holder, pid: u32, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    if let Some(who) = world.unplaced.iter().find(|agent| may_count_as(holder, agent)) {
        ladder.add(
            "other namespace",
            format!("{} may have this number in its own PID namespace", who.name()),
            "/proc",
        );
        return unknown(Reason::OtherNamespace);
    }
    let namespace = world.snapshot.host.pid_namespace;
    // Neither host name nor boot ID says which namespace: containers may share both.
    if namespace == Some(INITIAL_PID_NAMESPACE) || seen(pid, holder, world) {
        return None;
    }
    ladder.add(
        "namespace",
        Untrusted::fixed(
            "claimtop is not in the machine's first PID namespace; the number may count in another one",
        ),
        "/proc/self/ns/pid",
    );
    unknown(Reason::OtherNamespace)
}

/// Returns whether an agent of which the namespace could not be read may be the holder.
fn may_count_as(holder: &Holder, agent: &PossibleAgent<'_>) -> bool {
    let process = match agent {
        PossibleAgent::Hidden(_) => return true,
        PossibleAgent::Known(process, _) | PossibleAgent::Unproven(process) => process,
    };
    holder.start_ticks.is_none_or(|start| start == process.id.start_ticks)
}

/// Returns whether claimtop has seen this very process: a number alone may be another's, in
/// another namespace.
fn seen(pid: u32, holder: &Holder, world: &World<'_>) -> bool {
    let seen = &world.snapshot.seen_agents;
    seen.iter().any(|agent| agent.id.pid == pid && holder.start_ticks == Some(agent.id.start_ticks))
}

/// How much later than an agent's start a file was certainly written: a tick of 10 ms and the
/// coarse clock of file times, which is up to 10 ms behind.
const TICKS: SignedDuration = SignedDuration::from_millis(20);

/// Returns whether the PID is known to have been an agent's when the record was last written:
/// claimtop saw it alive as one before and after, or so does the agent's own registry. An agent
/// that ended before may have left its PID to the very helper that wrote the record.
fn was_seen_as_agent(record: &Record, pid: u32, world: &World<'_>, ladder: &mut Ladder) -> bool {
    let doubt = world.snapshot.host.clock_doubt;
    let was_there = |start: u64, last_at: Timestamp| {
        let started = world.snapshot.host.wall_clock(start);
        started.is_some_and(|at| record.written_at.duration_since(at) >= TICKS + doubt)
            && last_at.duration_since(record.written_at) >= doubt
    };
    let by_us = world
        .snapshot
        .seen_agents
        .iter()
        .find(|agent| agent.id.pid == pid && was_there(agent.id.start_ticks, agent.last_seen_at));
    if let Some(agent) = by_us {
        ladder.add(
            "role",
            format!("claimtop saw it as an agent until {}", agent.last_seen_at),
            "earlier look",
        );
        return true;
    }
    // The number alone may be that of another PID namespace; with the session it is certain.
    let session = record.session_id.as_ref();
    let noted = session.and_then(|session| world.bonds.gone(session)).filter(|(note, _)| {
        note.pid == pid
            && world.snapshot.host.pid_namespace == Some(note.pid_namespace)
            && was_there(note.start_ticks, note.written_at)
    });
    if let Some((note, _)) = noted {
        ladder.add_from(
            "role",
            Untrusted::fixed("the agent's own hook named this PID for the session, and later"),
            note.source(),
        );
        return true;
    }
    let registered = world
        .registered(pid)
        .iter()
        .filter(|other| session.is_some() && other.session_id.as_ref() == session);
    let registry = registered.into_iter().find(|other| {
        let holder = other.holder.as_ref().filter(|holder| holder.role == Role::Agent);
        let start = holder.and_then(|holder| holder.start_ticks);
        start.is_some_and(|start| was_there(start, other.written_at))
    });
    if let Some(other) = registry {
        ladder.add_from(
            "role",
            Untrusted::fixed(
                "the agent's own registry names this PID for the session, and was written later",
            ),
            other.location.text().clone(),
        );
    }
    registry.is_some()
}

/// Judges by whatever else binds the record's session to a living process.
fn by_session(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let session = record.session_id.as_ref()?;
    if let Some(pid) = world.pids_of_session(session).next() {
        ladder.add(
            "session",
            format!("PID {pid} runs this session"),
            "Claude Code's registry, PID and start match",
        );
        return alive(Reason::SameProcess);
    }
    let others = world.records_of(session).iter().filter(|other| !std::ptr::eq(**other, record));
    let process = others
        .filter_map(|other| other.holder.as_ref().map(|holder| (*other, holder)))
        .filter(|(_, holder)| matches!(holder.binding, Binding::Marker | Binding::Tick | Binding::Owner))
        .find_map(|(other, holder)| living(other, holder, session, world))
        .or_else(|| named_in_arguments(session, world))?;
    ladder.add(
        "session",
        format!("PID {} runs this session", process.id.pid),
        "marker, tick, owner or arguments",
    );
    alive(Reason::ProcessPresent)
}

/// Returns the process that another record of the session binds it to, if it lives and is not
/// certain to run another session by now.
fn living<'a>(
    other: &Record,
    holder: &Holder,
    session: &Untrusted,
    world: &World<'a>,
) -> Option<&'a Process> {
    let mut ladder = Ladder::default();
    if elsewhere(holder, world, &mut ladder).is_some() {
        return None;
    }
    let pid = holder.pid.as_ref()?.valid()?;
    let process = world.snapshot.processes.get(pid)?;
    let is_alive = present(other, holder, process, world, &mut ladder)
        .is_some_and(|answer| answer.0 == VerdictState::Alive);
    let window = window_of(&world.snapshot.processes, &world.windows, pid)?;
    (is_alive && world.may_run(window.process.id.pid, session)).then_some(process)
}

fn named_in_arguments<'a>(session: &Untrusted, world: &World<'a>) -> Option<&'a Process> {
    if !is_uuid(session.raw()) {
        return None;
    }
    let started = world.started_with(session.raw()).iter();
    started.copied().find(|process| world.may_run(process.id.pid, session))
}

/// Judges by the context ID that a living window was given: whatever bears it is that window's.
fn by_context(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let window = given_context(record, world)?;
    ladder.add(
        "context ID",
        format!("{} {} has it in its environment", window.agent, window.process.id.pid),
        "/proc/<pid>/environ",
    );
    alive(Reason::ProcessPresent)
}

/// Returns the window that has a record's context ID in its own environment.
fn given_context<'w, 'a>(record: &Record, world: &'w World<'a>) -> Option<&'w Window<'a>> {
    let context = record.context_id.as_ref()?;
    let is_given = |window: &&Window<'_>| {
        let env = window.process.details.as_ref().map(|details| &details.env);
        env.and_then(|env| env.get(CONTEXT_VARIABLE)) == Some(context)
    };
    world.windows.iter().filter(|window| runs_on(record.format, window.agent)).find(is_given)
}

/// Judges a record that no stored PID can decide: it is dead only if nothing that lives could
/// own it.
fn by_possible_owners(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    let has_pid = record.holder.as_ref().is_some_and(|holder| holder.pid.is_some());
    let open = if has_pid { Reason::WrongRole } else { Reason::NoPid };
    if record.context_id.is_none() && record.session_id.is_none() {
        ladder.add("owner", Untrusted::fixed("the record names neither a process nor a session"), "record");
        return Answer(VerdictState::Unknown, open);
    }
    if let Some(answer) = unseen(has_pid, world, ladder) {
        return answer;
    }
    if let Some((_, words)) = world.possible_agents.iter().find(|(agent, _)| could_own(record, agent, world))
    {
        ladder.add("possible owner", words.clone(), "process table");
        return Answer(VerdictState::Unknown, open);
    }
    ladder.add(
        "possible owners",
        Untrusted::fixed("no agent that lives could have written it"),
        "complete scan of /proc",
    );
    if is_before_boot(record, world, ladder) {
        return Answer(VerdictState::Dead, Reason::OtherBoot);
    }
    match ladder.helper_gone.or_else(|| session_gone(record, world, ladder)) {
        Some(reason) => Answer(VerdictState::Dead, reason),
        // Nobody can own it as far as can be seen, but no process was ever named: no proof.
        None => Answer(VerdictState::Unknown, open),
    }
}

/// Returns why an owner could be where it cannot be seen.
fn unseen(has_pid: bool, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    if let Some(why) = world.snapshot.processes.partial.as_ref() {
        ladder.add("processes", format!("not all can be seen: {why}"), "/proc");
        return unknown(Reason::PartialScan);
    }
    if !has_pid && world.snapshot.host.pid_namespace != Some(INITIAL_PID_NAMESPACE) {
        ladder.add(
            "namespace",
            Untrusted::fixed("the owner may be in another PID namespace"),
            "/proc/self/ns/pid",
        );
        return unknown(Reason::OtherNamespace);
    }
    None
}

/// Returns how the agent's process ended that another record of the session names.
fn session_gone(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Reason> {
    let session = record.session_id.as_ref()?;
    if let Some((note, reason)) = world.bonds.gone(session) {
        let gone = format!("the agent that ran it, PID {}, is gone: {}", note.pid, reason.name());
        ladder.add_from("binding", gone, note.source());
        return Some(reason);
    }
    let others = world.records_of(session).iter();
    let dead = |other: &&&Record| {
        let verdict = own_verdict(other, world, &mut Ladder::default());
        verdict.is_some_and(|answer| answer.0 == VerdictState::Dead)
    };
    let named = others.filter(|other| !std::ptr::eq(**other, record)).find(dead)?;
    let path = named.location.text().clone();
    ladder.add_from("session", Untrusted::fixed("the agent that another record names for it is gone"), path);
    Some(Reason::NoProcess)
}

/// Returns whether a process could be the record's owner: an agent of that system (or a process that could
/// be one, for all that was read of it), old enough, of the same user, and not certain to run
/// another session.
fn could_own(record: &Record, agent: &PossibleAgent<'_>, world: &World<'_>) -> bool {
    let process = match agent {
        PossibleAgent::Hidden(_) => return true,
        PossibleAgent::Known(process, name) if runs_on(record.format, name) => process,
        PossibleAgent::Known(..) => return false,
        PossibleAgent::Unproven(process) => process,
    };
    let could = match record.session_id.as_ref().filter(|session| is_uuid(session.raw())) {
        // A session can be resumed by a younger process; only another certain session excludes it.
        Some(session) => world.may_run(process.id.pid, session),
        None => !world.is_born_after(process, record.written_at),
    };
    could && !is_foreign(record, process)
}

/// Returns whether a system works with an agent. Maia, observability and LEO are hooks of
/// Claude Code; other agents never run them.
fn runs_on(format: Format, agent: &str) -> bool {
    match format {
        Format::Maia | Format::Observability | Format::Leo | Format::ClaudeCode | Format::Obra => {
            agent.contains("claude")
        }
        Format::Entire | Format::Git | Format::Beads | Format::AgentMail | Format::Own(_) => true,
        Format::Codex => agent == "codex",
        Format::Copilot => agent == "copilot",
    }
}

/// Returns whether text has the shape of a UUID, as agents' session IDs do.
pub fn is_uuid(text: &str) -> bool {
    let groups = [8, 4, 4, 4, 12];
    let mut parts = text.split('-');
    groups.iter().all(|length| {
        parts
            .next()
            .is_some_and(|part| part.len() == *length && part.bytes().all(|b| b.is_ascii_alphanumeric()))
    }) && parts.next().is_none()
}

/// Returns the window that a judged record belongs to: its own PID's, or its session's.
pub fn window_of_record(record: &Record, verdict: &Verdict, world: &World<'_>) -> Option<u32> {
    if verdict.state != VerdictState::Alive {
        return None;
    }
    let table = &world.snapshot.processes;
    let own = record.holder.as_ref().and_then(|holder| holder.pid.as_ref()?.valid());
    let of_own =
        own.and_then(|pid| window_of(table, &world.windows, pid)).map(|window| window.process.id.pid);
    let session = tasks::session_of(record, world);
    of_own
        .filter(|_| own.is_some_and(|pid| !ancestry(table, pid).is_empty()))
        .or_else(|| session.and_then(|session| world.pids_of_session(session).next()))
        .or_else(|| session.and_then(|session| bound_window(session, world)))
        .or_else(|| given_context(record, world).map(|window| window.process.id.pid))
}

/// Returns the window to which a marker, a tick or an argument binds a session.
fn bound_window(session: &Untrusted, world: &World<'_>) -> Option<u32> {
    let by_record = world
        .records_of(session)
        .iter()
        .filter_map(|other| other.holder.as_ref().map(|holder| (*other, holder)))
        .find_map(|(other, holder)| living(other, holder, session, world));
    let process = by_record.or_else(|| named_in_arguments(session, world))?;
    window_of(&world.snapshot.processes, &world.windows, process.id.pid).map(|window| window.process.id.pid)
}
