//! The windows from which the processes without a window above them come.

mod adopted;
pub(crate) mod descents;
mod measured;
pub(crate) mod servers;
pub(crate) mod shown;

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::path::Path;

use jiff::Timestamp;

use crate::core::judge::window::agent::names_itself;
use crate::core::judge::window::agent::{Role, Signatures};
use crate::core::model::snapshot::process::ancestry;
use crate::core::model::{Host, Process, ProcessId, ProcessTable, Snapshot, SourceHealth, Trace, Untrusted};
use crate::format::{Base, Reading};
use crate::source::interface::{Scope, Source};
use crate::source::os::processes::traced::TraceReading;
use crate::source::os::processes::{arguments, is_others, lives, settled_tick, traces};
use crate::source::provenance::adopted::AdoptionCache;
use crate::source::provenance::descents::Descents;
use crate::source::provenance::measured::MeasureCache;
use crate::source::provenance::servers::Servers;

/// Reads traces again and again; each process is read once for as long as it lives and runs the same
/// program.
#[derive(Default)]
pub(crate) struct Reader {
    known: BTreeMap<ProcessId, TraceName>,
    /// The processes that name a window, and those below them.
    members: BTreeSet<ProcessId>,
    /// The processes that have exited since they were listed.
    gone: Vec<ProcessId>,
    measured: MeasureCache,
    servers: Servers,
    adopted: AdoptionCache,
    looks: u32,
}

/// In how many looks each process is checked once for having become another program under the same name. Only the
/// display depends on it: an action that ends a process reads it again before.
const TURNS: u32 = 4;

/// The name of a process when its traces were read.
struct TraceName {
    comm: Untrusted,
    trace: Option<Trace>,
}

impl Source for Reader {
    fn add_to(&mut self, snapshot: &mut Snapshot, scope: &Scope, reading: &Reading<'_>) {
        let homes: Vec<&Path> = scope.homes.folders_of(Base::Home).map(|one| one.path.as_path()).collect();
        let whose = Whose {
            signatures: &scope.signatures,
            descents: &scope.descents,
            uid: reading.host.uid,
            homes: &homes,
            settled_tick: settled_tick(),
            look: (reading.host, reading.now),
        };
        let tops = self.refresh(&snapshot.processes, &whose);
        self.forget_gone(&mut snapshot.processes);
        self.measured.refresh((&self.members, &tops), whose.uid, scope.shown.get(), reading.now);
        snapshot.traces = self.traces().cloned().collect();
        let members: Vec<&mut Trace> =
            snapshot.traces.iter_mut().filter(|trace| self.members.contains(&trace.id)).collect();
        self.servers.refresh(members.iter().map(|trace| &**trace), scope);
        if !members.is_empty() {
            self.adopted.refresh(scope, whose.uid, reading.now);
        }
        for trace in members {
            let session = trace.origin.as_ref().and_then(|origin| origin.session.as_ref());
            trace.adopted_by = self.adopted.heirs_of(session);
            self.measured.fill(trace);
            trace.server = self.servers.name_of(&trace.argv).cloned();
        }
    }

    fn health(&self, _now: Timestamp) -> Vec<SourceHealth> {
        Vec::new()
    }
}

/// Whose traces are read.
struct Whose<'a> {
    signatures: &'a Signatures,
    descents: &'a Descents,
    uid: u32,
    homes: &'a [&'a Path],
    /// A process that began later may still become another program under the same name.
    settled_tick: u64,
    /// The machine, and when the look began.
    look: (&'a Host, Timestamp),
}

impl Whose<'_> {
    /// Returns whether a process was seen below an agent and is another user's now, so that it is reported.
    fn has_seen(&self, id: ProcessId) -> bool {
        is_others(id.pid, self.uid) && !self.descents.seen_below(id).is_empty()
    }
}

impl Reader {
    /// Reads new processes, and returns those that name a window and have no window above them.
    fn refresh(&mut self, table: &ProcessTable, whose: &Whose<'_>) -> Vec<ProcessId> {
        let mut before = std::mem::take(&mut self.known);
        self.looks = self.looks.wrapping_add(1);
        before.retain(|id, known| {
            let is_its_turn = id.pid % TURNS == self.looks % TURNS && self.members.contains(id);
            id.start_ticks <= whose.settled_tick && (!is_its_turn || is_as_before(*id, known))
        });
        let seen = whose.descents.note(table, whose.signatures, whose.look);
        self.read(&left(table, whose.signatures, &seen), &mut before, whose);
        let named = self.traces().filter(|trace| trace.names_window());
        let tops: Vec<ProcessId> = named.map(|trace| trace.id).collect();
        let below = below(table, &tops);
        let parents = tops.iter().filter_map(|id| table.get(table.get(id.pid)?.parent));
        let mut more: Vec<&Process> = below.iter().copied().chain(parents).collect();
        more.sort_unstable_by_key(|process| process.id);
        more.dedup_by_key(|process| process.id);
        more.retain(|process| !self.known.contains_key(&process.id));
        self.read(&more, &mut before, whose);
        let mut agents = unnamed(table, whose.signatures);
        agents.retain(|process| !self.known.contains_key(&process.id));
        self.read(&agents, &mut before, whose);
        self.members = tops.iter().copied().chain(below.iter().map(|process| process.id)).collect();
        self.members.retain(|id| !self.gone.contains(id));
        tops
    }

    /// Takes over the known facts of some processes, reads the others, and notes below which agents each was seen.
    fn read(&mut self, those: &[&Process], before: &mut BTreeMap<ProcessId, TraceName>, whose: &Whose<'_>) {
        let mut new = Vec::new();
        for process in those {
            match before.remove_entry(&process.id) {
                Some((id, known)) if known.comm == process.comm => {
                    self.known.insert(id, known);
                }
                _ => new.push(*process),
            }
        }
        let ids: Vec<ProcessId> = new.iter().map(|process| process.id).collect();
        for ((id, traced), process) in traces(&ids, whose.uid, whose.homes).into_iter().zip(new) {
            let trace = match traced {
                TraceReading::Read(trace) => Some(*trace),
                TraceReading::Unread => whose.has_seen(id).then(|| Trace::unread(id, arguments(id.pid))),
                TraceReading::Gone => {
                    self.gone.push(id);
                    continue;
                }
            };
            self.known.insert(id, TraceName { comm: process.comm.clone(), trace });
        }
        for process in those {
            let trace = self.known.get_mut(&process.id).and_then(|known| known.trace.as_mut());
            if let Some(trace) = trace {
                trace.seen_below = whose.descents.seen_below(trace.id);
            }
        }
    }

    /// Forgets processes that have exited since they were listed, except those that the kernel still reports as
    /// living. A window that others name is kept: the process that continues its work may have been started only after
    /// all were listed.
    fn forget_gone(&mut self, table: &mut ProcessTable) {
        let windows: BTreeSet<u32> = self.traces().filter_map(|trace| trace.origin.as_ref()?.pid).collect();
        let has_gone = |id: &ProcessId| !windows.contains(&id.pid) && lives(*id) != Some(true);
        self.gone.drain(..).filter(has_gone).for_each(|id| table.forget(id.pid));
    }

    fn traces(&self) -> impl Iterator<Item = &Trace> {
        self.known.values().filter_map(|known| known.trace.as_ref())
    }
}

/// Returns the processes that a window may have left or was seen above, except those below an agent, which are that
/// agent's.
pub fn left<'a>(
    table: &'a ProcessTable,
    signatures: &Signatures,
    seen: &BTreeSet<ProcessId>,
) -> Vec<&'a Process> {
    let is_agents = |process: &Process| {
        let mut above = ancestry(table, process.parent).into_iter();
        above.any(|above| signatures.classify(above).is_some())
    };
    let is_left = |process: &&Process| table.may_be_left(process) || seen.contains(&process.id);
    let may_be = table.by_pid.values().filter(is_left);
    may_be.filter(|process| !is_agents(process)).collect()
}

/// Returns the agents whose variables do not name the window in processes that they start: their own traces show it.
pub fn unnamed<'a>(table: &'a ProcessTable, signatures: &Signatures) -> Vec<&'a Process> {
    let is_one = |process: &&Process| {
        let agent = signatures.classify(process).filter(|(_, role)| *role == Role::Agent);
        agent.is_some_and(|(signature, _)| !names_itself(&signature.name))
    };
    table.by_pid.values().filter(is_one).collect()
}

/// Returns all processes below these. Most have begun after their parents and have a higher PID, so one walk through
/// all finds nearly all.
fn below<'a>(table: &'a ProcessTable, those: &[ProcessId]) -> Vec<&'a Process> {
    let mut family: HashSet<u32> = those.iter().map(|id| id.pid).collect();
    let mut found = Vec::new();
    let mut is_more = !those.is_empty();
    while is_more {
        let before = found.len();
        let all = table.by_pid.values();
        found.extend(all.filter(|one| family.contains(&one.parent) && family.insert(one.id.pid)));
        is_more = found.len() > before;
    }
    found
}

/// Returns whether a process still runs what it did (execve(2) keeps the PID and the start).
fn is_as_before(id: ProcessId, known: &TraceName) -> bool {
    known.trace.as_ref().is_none_or(|trace| arguments(id.pid) == trace.argv)
}

#[cfg(test)]
#[cfg(target_os = "linux")]
#[expect(clippy::disallowed_methods, reason = "the tests start processes")]
mod tests {
    use std::io::Write as _;
    use std::process::{Child, Command, Stdio};

    use super::*;
    use crate::source::os::clock::now;
    use crate::source::os::host::host;
    use crate::source::os::processes::linux::proc::{self, Proc};
    use crate::source::os::processes::started::spawn;

    /// A process that is ended with this.
    struct EndedWith(Child);

    impl EndedWith {
        fn new(line: &str, window: Option<&str>) -> Self {
            let mut shell = Command::new("/bin/sh");
            shell.args(["-c", line]).env_clear().env("HOME", "/home/nobody").stdin(Stdio::piped());
            shell.envs(window.map(|window| ("CLAUDE_PID", window)));
            Self(spawn(&mut shell))
        }

        /// Returns it as a look reads it, below this parent.
        fn below(&self, parent: u32) -> Process {
            let proc::Reading::Read(line) = Proc::open().unwrap().process(self.0.id()) else {
                panic!("it runs");
            };
            Process { parent, ..line.process }
        }
    }

    impl Drop for EndedWith {
        fn drop(&mut self) {
            let _ = self.0.kill();
            let _ = self.0.wait();
        }
    }

    fn table(all: impl IntoIterator<Item = Process>) -> ProcessTable {
        let by_pid: BTreeMap<u32, Process> = all.into_iter().map(|one| (one.id.pid, one)).collect();
        ProcessTable { listed: by_pid.keys().copied().collect(), by_pid, ..ProcessTable::default() }
    }

    fn refreshed(reader: &mut Reader, table: &ProcessTable) -> BTreeMap<u32, Vec<Untrusted>> {
        let homes = [Path::new("/home/nobody")];
        let uid = rustix::process::getuid().as_raw();
        let signatures = &Signatures::built_in().unwrap();
        reader.refresh(
            table,
            &Whose {
                signatures,
                descents: &Descents::default(),
                uid,
                homes: &homes,
                settled_tick: u64::MAX,
                look: (&host(now()), now()),
            },
        );
        reader.traces().map(|trace| (trace.id.pid, trace.argv.clone())).collect()
    }

    #[test]
    fn what_runs_below_a_process_of_a_window_is_read_and_below_others_not() {
        let all = [Some("7"), None, None, None].map(|window| EndedWith::new("read x; exit", window));
        let [top, other, under, elsewhere] = all.each_ref().map(|one| one.0.id());
        let one = table(all.iter().zip([1, 1, top, other]).map(|(one, parent)| one.below(parent)));
        let read = refreshed(&mut Reader::default(), &one);
        let shell: Vec<Untrusted> = ["/bin/sh", "-c", "read x; exit"].map(Into::into).into();
        assert_eq!(read.get(&under), Some(&shell));
        assert!(read.contains_key(&top) && read.contains_key(&other));
        assert!(!read.contains_key(&elsewhere), "{read:?}");
    }

    #[test]
    fn whoever_has_exited_since_the_look_is_told_apart() {
        let (top, mut under) = (EndedWith::new("read x", Some("7")), EndedWith::new("read x", Some("7")));
        let seen = under.below(top.0.id());
        let table = table([top.below(1), seen.clone()]);
        under.0.kill().unwrap();
        under.0.wait().unwrap();
        let mut reader = Reader::default();
        let read = refreshed(&mut reader, &table);
        assert_eq!(read.into_keys().collect::<Vec<u32>>(), [top.0.id()]);
        assert_eq!(reader.gone, [seen.id]);
    }

    #[test]
    fn a_window_that_has_exited_since_the_look_was_there() {
        let [mut window, mut other] = [(); 2].map(|()| EndedWith::new("read x", None));
        let left = EndedWith::new("read x", Some(&window.0.id().to_string()));
        let mut table = table([&left, &window, &other].map(|one| one.below(1)));
        for gone in [&mut window, &mut other] {
            gone.0.kill().unwrap();
            gone.0.wait().unwrap();
        }
        let mut reader = Reader::default();
        refreshed(&mut reader, &table);
        reader.forget_gone(&mut table);
        let there = [&window, &other].map(|one| table.listed.contains(&one.0.id()));
        assert_eq!(there, [true, false]);
    }

    #[test]
    fn a_process_that_becomes_another_program_is_read_again() {
        let mut top = EndedWith::new("read x; exec /bin/cat", Some("7"));
        let mut under = EndedWith::new("read x; exec /bin/cat", None);
        let mut reader = Reader::default();
        let looked = |top: &EndedWith, under: &EndedWith| table([top.below(1), under.below(top.0.id())]);
        let before = refreshed(&mut reader, &looked(&top, &under));
        assert!(before.values().all(|argv| argv.len() == 3), "{before:?}");
        let seen = looked(&top, &under);
        for started in [&mut top, &mut under] {
            started.0.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
            while arguments(started.0.id()).len() != 1 {}
        }
        // Even if no look has noticed it.
        let looks: Vec<_> = (0..TURNS).map(|_| refreshed(&mut reader, &seen)).collect();
        let after = looks.last().unwrap().clone();
        let cat = vec![Untrusted::from("/bin/cat")];
        assert_eq!(after, before.into_keys().map(|pid| (pid, cat.clone())).collect());
    }
}
