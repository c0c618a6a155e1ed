//! Whether a session lives, by everything that names it; and the agent in a pane, and the holder of a file.

use crate::core::judge::liveness::answer::{Answer, Trail};
use crate::core::judge::liveness::owners::unseen;
use crate::core::judge::window::agent::Role;
use crate::core::judge::window::possible_agent::{PossibleAgent, is_read};
use crate::core::judge::world::World;
use crate::core::model::{
    Evidence, JudgedRecord, Key, Reason, Report, Strength, Untrusted, Verdict, VerdictState, WindowState,
    WindowView,
};

/// A verdict on something that is not one record.
pub(crate) struct Life {
    /// The verdict.
    pub(crate) verdict: Verdict,
    /// The window or record that decided.
    pub(crate) decided_by: Option<Key>,
    /// The PID that decided.
    pub(crate) pid: Option<u32>,
}

impl Life {
    /// Creates one that no window and no record decided.
    fn undecided(answer: Answer, trail: Trail) -> Self {
        Self { verdict: answer.into_verdict(trail), decided_by: None, pid: None }
    }

    fn of_window(window: &WindowView, fact: &'static str, source: &'static str) -> Self {
        let mut trail = Trail::default();
        trail.add(fact, format!("{} {}", window.agent, window.pid), source);
        if let Some(session) = &window.session {
            trail.facts.push(session.evidence.clone());
        }
        let verdict = Answer(VerdictState::Alive, Reason::ProcessPresent).into_verdict(trail);
        Self { verdict, decided_by: Some(window.key.clone()), pid: Some(window.pid) }
    }

    fn of_record(record: &JudgedRecord) -> Self {
        let facts = [record.evidence.clone()].into_iter().chain(record.verdict.evidence.iter().cloned());
        let verdict = Verdict { evidence: facts.collect(), ..record.verdict.clone() };
        Self { verdict, decided_by: Some(record.key.clone()), pid: record.window_pid.or(record.pid()) }
    }
}

/// Returns a living process that may run a session of these agents, for all that is known: it is one of them, or may be
/// one, and which session it runs is not known at least so strongly.
pub(crate) fn possible_runner<'w>(
    is_its_agent: impl Fn(&str) -> bool,
    known_by: Strength,
    report: &Report,
    world: &'w World<'_>,
) -> Option<&'w PossibleAgent<'w>> {
    let may_run = |possible: &&PossibleAgent<'_>| match possible {
        PossibleAgent::Known(process, name) if is_its_agent(name) => {
            let window = report.windows.iter().find(|window| window.pid == process.id.pid);
            let session = window.and_then(|window| window.session.as_ref());
            let is_spare =
                world.signatures.matched(process).is_some_and(|(_, pattern)| pattern.role == Role::Spare);
            // A spare is a window once its agent's registry says that it has a session.
            !(is_spare && window.is_none()) && session.is_none_or(|session| session.strength < known_by)
        }
        PossibleAgent::Known(..) => false,
        // One that was read and bears the name of another agent alone is none of these.
        PossibleAgent::Unproven(process) => {
            !is_read(process) || world.signatures.resembled(process).any(|agent| is_its_agent(&agent.name))
        }
        PossibleAgent::Hidden(_) => true,
    };
    world.possible_agents.iter().map(|(agent, _)| agent).find(may_run)
}

/// Returns whether a record claims that anything lives: one without a PID and a heartbeat does not.
pub(crate) fn says_nothing(record: &JudgedRecord) -> bool {
    record.verdict.reason == Reason::NoPid && record.heartbeat_at.is_none()
}

/// Judges a session: alive if a window runs it or one of its records lives; dead if one of its records is dead, no other
/// contradicts, and no process that lives may run it.
pub(crate) fn judge_session(session: &Untrusted, report: &Report, world: &World<'_>) -> Life {
    let runs = |window: &&WindowView| {
        let lives = window.state != WindowState::Zombie;
        let known = window.session.as_ref().filter(|known| known.strength != Strength::Guess);
        lives && known.is_some_and(|known| known.id == *session)
    };
    if let Some(window) = report.windows.iter().find(runs) {
        return Life::of_window(window, "window", "process table");
    }
    let records: Vec<&JudgedRecord> =
        report.records.iter().filter(|record| record.session_id.as_ref() == Some(session)).collect();
    if let Some(decided) = contradicting(&records) {
        return decided;
    }
    let dead = records.iter().filter(|record| record.verdict.state == VerdictState::Dead);
    let mut trail = Trail::default();
    let Some(newest) = dead.max_by_key(|record| record.written_at) else {
        let value =
            if records.is_empty() { "none names this session" } else { "none of them names a process" };
        trail.add("records", value, "all that were read");
        return Life::undecided(Answer(VerdictState::Unknown, Reason::NoPid), trail);
    };
    if let Some(answer) = unseen(false, world, &mut trail) {
        return Life::undecided(answer, trail);
    }
    let is_its_agent = |name: &str| records.iter().any(|record| record.format.runs_on(name));
    // An agent that was started with another session can have turned to this one.
    if let Some(runner) = possible_runner(is_its_agent, Strength::Exact, report, world) {
        let value = format!("{} may run it: which session it runs is not known", runner.name());
        trail.add("possible owner", value, "process table");
        return Life::undecided(Answer(VerdictState::Unknown, Reason::WrongRole), trail);
    }
    Life::of_record(newest)
}

/// Returns what the records decide other than a death: that one of them lives, or may live.
fn contradicting(records: &[&JudgedRecord]) -> Option<Life> {
    let with_state =
        |state| records.iter().find(|record| record.verdict.state == state && !says_nothing(record));
    if let Some(record) = with_state(VerdictState::Alive) {
        return Some(Life::of_record(record));
    }
    // The session of a dead record may live on elsewhere.
    let resumed = records.iter().find(|record| record.lives_in.is_some() || record.lives_on.is_some());
    if let Some(record) = resumed {
        let mut life = Life::of_record(record);
        let facts = life.verdict.evidence.iter().cloned();
        let on = Evidence::new("session", "it lives on in another window or record", "session of the record");
        life.verdict = Verdict {
            state: VerdictState::Alive,
            reason: Reason::ProcessPresent,
            evidence: facts.chain([on]).collect(),
            ..life.verdict
        };
        return Some(life);
    }
    with_state(VerdictState::Unknown).map(|record| Life::of_record(record))
}

/// Judges the agent in a multiplexer's pane. That none is seen there is no death: it may run on another machine, or in
/// a container.
pub(crate) fn judge_pane(pane: &Untrusted, report: &Report) -> Life {
    let is_there =
        |window: &&WindowView| window.pane.as_ref() == Some(pane) && window.state != WindowState::Zombie;
    if let Some(window) = report.windows.iter().find(is_there) {
        return Life::of_window(window, "pane", "TMUX_PANE of /proc/<pid>/environ");
    }
    let mut trail = Trail::default();
    let value = "no agent is seen in it; one may run there on another machine or in a container";
    trail.add("pane", value, "process table");
    Life::undecided(Answer(VerdictState::Unknown, Reason::NoPid), trail)
}

/// Judges the holder of a file by the records that were read from it; `None` if there are none.
pub(crate) fn judge_file(path: &Untrusted, report: &Report) -> Option<Life> {
    let is_there =
        |record: &&JudgedRecord| record.location.path().is_some() && *record.location.text() == *path;
    let records: Vec<&JudgedRecord> = report.records.iter().filter(is_there).collect();
    let with_state = |state| records.iter().find(|record| record.verdict.state == state);
    [VerdictState::Alive, VerdictState::Unknown, VerdictState::Dead]
        .into_iter()
        .find_map(with_state)
        .map(|record| Life::of_record(record))
}

/// Returns the verdict on a file that states nothing.
pub(crate) fn unreadable(why: String) -> Verdict {
    let mut trail = Trail::default();
    trail.add("file", why, "file");
    Answer(VerdictState::Unknown, Reason::Unreadable).into_verdict(trail)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use jiff::Timestamp;
    use jiff::tz::TimeZone;

    use super::*;
    use crate::core::assess::{Policy, assess};
    use crate::core::judge::window::agent::Signatures;
    use crate::core::model::snapshot::host::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
    use crate::core::model::snapshot::process::ProcessTable;
    use crate::core::model::{
        Binding, Details, Format, Holder, Host, InnerPids, Location, Ownership, Process, ProcessId,
        ProcessState, Record, RecordKind, Role, Snapshot, StatedPid,
    };

    const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

    fn now() -> Timestamp {
        "2026-11-20T21:48:00Z".parse().unwrap()
    }

    fn host() -> Host {
        Host {
            name: "desk".to_owned(),
            platform: Default::default(),
            boot_id: None,
            pid_namespace: Some(INITIAL_PID_NAMESPACE),
            machine_id: None,
            time_namespace: Some(INITIAL_TIME_NAMESPACE),
            boot_at: "2026-11-20T00:00:00Z".parse().ok(),
            up_by: None,
            clock: Default::default(),
            clock_doubt: Default::default(),
            ticks_per_second: 100,
            uid: 1000,
            zone: TimeZone::UTC,
        }
    }

    fn process(pid: u32, argv: &[&str]) -> Process {
        let details = Details {
            exe: argv.first().map(|exe| format!("/usr/bin/{exe}").into()),
            argv: argv.iter().map(|argument| Untrusted::from(*argument)).collect(),
            ns_pids: vec![pid],
            ..Details::default()
        };
        Process {
            id: ProcessId { pid, start_ticks: 5_000 },
            parent: 1,
            state: ProcessState::Running,
            comm: Untrusted::from(argv.first().copied().unwrap_or_default()),
            tty: None,
            group: pid,
            session: pid,
            pidfd_inode: None,
            has_exited: Some(false),
            inner: InnerPids::Read([].into()),
            is_renamed: false,
            details: Some(details),
        }
    }

    /// Returns the registry's entry of the session, for a process with this start.
    fn entry(pid: u32, start: u64) -> Record {
        let location = Location::File(format!("/home/dev/.claude/sessions/{pid}.json").as_str().into());
        let holder = Holder {
            start_ticks: Some(start),
            ..Holder::new(StatedPid::from_number(pid.into()), Role::Agent, Binding::Registry)
        };
        let kind = (Format::ClaudeCode, RecordKind::Session);
        Record {
            session_id: Some(SESSION.into()),
            holder: Some(holder),
            ..Record::blank(kind, location, Ownership::new(1000, 0o600), now())
        }
    }

    fn judged(
        records: Vec<Record>,
        processes: Vec<Process>,
        partial: Option<&str>,
    ) -> (VerdictState, Reason) {
        let table = ProcessTable {
            listed: processes.iter().map(|process| process.id.pid).collect(),
            partial: partial.map(str::to_owned),
            by_pid: processes.into_iter().map(|process| (process.id.pid, process)).collect(),
            ..ProcessTable::default()
        };
        let mut snapshot = Snapshot::of_processes(now(), host(), table);
        snapshot.records = records.into_iter().map(Arc::new).collect();
        let policy = Policy { signatures: Signatures::built_in().unwrap() };
        let report = assess(&snapshot, &policy);
        let world = World::new(&snapshot, &policy.signatures);
        let verdict = judge_session(&SESSION.into(), &report, &world).verdict;
        (verdict.state, verdict.reason)
    }

    #[test]
    fn a_session_is_dead_only_if_nothing_that_lives_may_run_it() {
        use Reason::{NoPid, NoProcess, OtherProcess, PartialScan, SameProcess, WrongRole};
        use VerdictState::{Alive, Dead, Unknown};

        let shell = || process(900, &["bash"]);
        let dead = || entry(4_000, 77);
        let check = |records, processes, partial, expected| {
            assert_eq!(judged(records, processes, partial), expected);
        };
        check(vec![], vec![shell()], None, (Unknown, NoPid));
        check(vec![dead()], vec![shell()], None, (Dead, NoProcess));
        check(vec![dead()], vec![shell()], Some("hidepid=2"), (Unknown, PartialScan));
        // Which session this agent runs is not known, so it may be this one.
        check(vec![dead()], vec![shell(), process(901, &["claude"])], None, (Unknown, WrongRole));
        // So may one that was started with another session, for it can have turned to this one.
        let other = process(901, &["claude", "--resume", "11111111-2222-4333-8444-555555555555"]);
        check(vec![dead()], vec![shell(), other], None, (Unknown, WrongRole));
        // Another system's agent runs no session of this one.
        check(vec![dead()], vec![shell(), process(902, &["codex"])], None, (Dead, NoProcess));
        // One record of two is dead: the session was resumed.
        let resumed = vec![dead(), entry(900, 5_000)];
        check(resumed, vec![shell()], None, (Alive, SameProcess));
        check(vec![entry(900, 77)], vec![shell()], None, (Dead, OtherProcess));
    }

    #[test]
    fn a_window_that_was_started_with_the_session_runs_it() {
        let window = process(903, &["claude", "--resume", SESSION]);
        assert_eq!(judged(vec![entry(4_000, 77)], vec![window], None).0, VerdictState::Alive);
    }
}
