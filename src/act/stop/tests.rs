//! Endings among processes that change between any two calls.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use rustix::io::Errno;

use crate::act::error::ActionError;
use crate::act::stop::carry_out;
use crate::act::stop::ending::{Ending, end};
use crate::act::stop::processes::{Agent, ProcessHandle, Processes};
use crate::core::model::{Hindrance, Interaction, Port, ProcessId, ProcessPrint, Signal};

/// A process of the fake machine, distinct from all others.
#[derive(Clone, Debug)]
struct Fake {
    serial: u64,
    parent: u32,
    start_ticks: u64,
    program: &'static str,
    is_rude: bool,
    is_traced: bool,
}

#[derive(Default)]
struct World {
    by_pid: BTreeMap<u32, Fake>,
    /// Includes those whose PID now belongs to another process.
    exited: Vec<u64>,
    serials: u64,
    /// The events before each call.
    events: BTreeMap<usize, Vec<Event>>,
    calls: usize,
    /// The last call that listed all processes.
    listed_at: usize,
    /// The program that each process was running when it was last looked at.
    seen: BTreeMap<u64, &'static str>,
    /// Whether each was traced when that was last asked.
    traced: BTreeMap<u64, bool>,
    /// The signalled processes, with the program that each was running when it was last looked at.
    signalled: Vec<(u32, u64, &'static str)>,
}

#[derive(Clone, Copy, Debug)]
enum Event {
    Exits(u32),
    /// Its PID is given to a stranger, who has the same parent.
    IsReused(u32),
    Execs(u32, &'static str),
    Forks(u32, u32),
    /// The same, and it becomes another program at once.
    Starts(u32, u32, &'static str),
    IsReparented(u32),
    IsTraced(u32),
}

impl World {
    fn add(&mut self, pid: u32, parent: u32, program: &'static str) {
        self.serials += 1;
        let start_ticks = 100 + self.serials;
        let fake =
            Fake { serial: self.serials, parent, start_ticks, program, is_rude: false, is_traced: false };
        if let Some(before) = self.by_pid.insert(pid, fake) {
            self.exited.push(before.serial);
        }
    }

    fn exit(&mut self, pid: u32) {
        let Some(gone) = self.by_pid.remove(&pid) else { return };
        self.exited.push(gone.serial);
        self.by_pid.values_mut().filter(|fake| fake.parent == pid).for_each(|fake| fake.parent = 1);
    }

    fn happen(&mut self, event: Event) {
        match event {
            Event::Exits(pid) => self.exit(pid),
            Event::IsReused(pid) => {
                let Some(before) = self.by_pid.get(&pid).cloned() else { return };
                self.exit(pid);
                self.add(pid, before.parent, before.program);
            }
            Event::Execs(pid, program) => {
                self.by_pid.get_mut(&pid).into_iter().for_each(|fake| fake.program = program);
            }
            Event::Forks(parent, pid) => {
                if let Some(above) = self.by_pid.get(&parent).cloned() {
                    self.add(pid, parent, above.program);
                }
            }
            Event::Starts(parent, pid, program) => {
                if self.by_pid.contains_key(&parent) {
                    self.add(pid, parent, program);
                }
            }
            Event::IsReparented(pid) => {
                self.by_pid.get_mut(&pid).into_iter().for_each(|fake| fake.parent = 1);
            }
            Event::IsTraced(pid) => {
                self.by_pid.get_mut(&pid).into_iter().for_each(|fake| fake.is_traced = true);
            }
        }
    }

    fn print(&mut self, pid: u32) -> Option<ProcessPrint> {
        let fake = self.by_pid.get(&pid)?;
        self.seen.insert(fake.serial, fake.program);
        Some(ProcessPrint {
            id: ProcessId { pid, start_ticks: fake.start_ticks },
            parent: fake.parent,
            name: fake.program.into(),
            exe: fake.program.into(),
            command: fake.program.into(),
            program: fake.program.to_owned(),
            folder: None,
            environment: Vec::new(),
        })
    }
}

#[derive(Clone, Default)]
struct Machine(Arc<Mutex<World>>);

impl Machine {
    /// Makes a shell with a server, and a child of that.
    fn new() -> Self {
        let machine = Self::default();
        let mut world = machine.0.lock().unwrap();
        world.add(1, 0, "init");
        world.add(2, 1, "stranger");
        world.add(10, 1, "sh");
        world.add(11, 10, "server");
        world.add(12, 11, "worker");
        drop(world);
        machine
    }

    /// Applies the events that are due, and returns the world.
    fn called<T>(&self, call: impl FnOnce(&mut World) -> T) -> T {
        let mut world = self.0.lock().unwrap();
        world.calls += 1;
        let now = world.calls;
        for event in world.events.remove(&now).unwrap_or_default() {
            world.happen(event);
        }
        call(&mut world)
    }

    fn before(self, call: usize, event: Event) -> Self {
        self.0.lock().unwrap().events.entry(call).or_default().push(event);
        self
    }

    fn rude(self, pid: u32) -> Self {
        self.0.lock().unwrap().by_pid.get_mut(&pid).unwrap().is_rude = true;
        self
    }

    /// Ends the shell with all that is below it, as it was before any event.
    fn end(&self, signal: Signal) -> Result<Ending, ActionError> {
        let confirmed: Vec<_> = [10, 11, 12].map(|pid| self.0.lock().unwrap().print(pid).unwrap()).into();
        end(self, &confirmed, signal)
    }

    fn signalled(&self) -> Vec<u32> {
        self.0.lock().unwrap().signalled.iter().map(|(pid, ..)| *pid).collect()
    }

    /// Returns how many calls an undisturbed ending makes.
    fn calls() -> usize {
        let machine = Self::new();
        machine.end(Signal::Term).unwrap();
        machine.0.lock().unwrap().calls
    }

    /// Returns the last call before which an event can still be noticed, if one process does not end.
    fn last(rude: u32) -> usize {
        let machine = Self::new().rude(rude);
        machine.end(Signal::Term).unwrap();
        machine.0.lock().unwrap().listed_at
    }
}

impl Processes for Machine {
    fn own_pid(&self) -> u32 {
        3
    }

    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError> {
        self.called(|world| {
            world.listed_at = world.calls;
            let all = world.by_pid.iter();
            let id = |pid: &u32, fake: &Fake| ProcessId { pid: *pid, start_ticks: fake.start_ticks };
            Ok(all.map(|(pid, fake)| (id(pid, fake), fake.parent)).collect())
        })
    }

    fn print(&self, pid: u32) -> Option<ProcessPrint> {
        self.called(|world| world.print(pid))
    }

    fn agent(&self, id: ProcessId) -> Agent {
        let is_agent =
            self.called(|world| world.by_pid.get(&id.pid).is_none_or(|fake| fake.program == "agent"));
        if is_agent { Agent::Maybe } else { Agent::No }
    }

    fn hindrance(&self, id: ProcessId) -> Option<Hindrance> {
        self.called(|world| {
            let fake = world.by_pid.get(&id.pid)?;
            world.traced.insert(fake.serial, fake.is_traced);
            Some(if fake.is_traced { Hindrance::Traced(7) } else { Hindrance::Nothing })
        })
    }

    fn interaction(&self, id: ProcessId) -> Option<Interaction> {
        let fake = self.called(|world| world.by_pid.get(&id.pid).cloned())?;
        Some(if fake.program == "editor" { Interaction::Display } else { Interaction::Nothing })
    }

    fn ports(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
        those.iter().map(|id| (*id, Vec::new())).collect()
    }

    fn listening(&self) -> Option<BTreeSet<u16>> {
        Some(BTreeSet::from([3000]))
    }

    fn hold(&self, pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError> {
        let machine = self.clone();
        self.called(|world| {
            let serial = world.by_pid.get(&pid).map(|fake| fake.serial);
            Ok(serial.map(|serial| -> Box<dyn ProcessHandle> { Box::new(Hold { machine, pid, serial }) }))
        })
    }

    fn patience(&self) -> Duration {
        Duration::ZERO
    }
}

struct Hold {
    machine: Machine,
    pid: u32,
    serial: u64,
}

impl ProcessHandle for Hold {
    fn has_exited(&self) -> Option<bool> {
        self.machine.called(|world| Some(world.exited.contains(&self.serial)))
    }

    fn wait(&self, _at_most: Duration) {}

    fn signal(&self, signal: Signal) -> Result<(), Errno> {
        // No program can see what happens to a process between the last look at it and the signal; the kernel ensures
        // that it is the same process.
        let mut world = self.machine.0.lock().unwrap();
        let Some(fake) = world.by_pid.get(&self.pid).filter(|fake| fake.serial == self.serial).cloned()
        else {
            return Err(Errno::SRCH);
        };
        let seen = world.seen[&self.serial];
        assert!(!world.traced[&self.serial], "{} is traced", self.pid);
        world.signalled.push((self.pid, self.serial, seen));
        if signal == Signal::Kill || !fake.is_rude {
            world.exit(self.pid);
        }
        Ok(())
    }
}

fn pids(prints: &[ProcessPrint]) -> Vec<u32> {
    prints.iter().map(|print| print.id.pid).collect()
}

#[test]
fn all_are_asked_to_end_the_deepest_first_and_killed_the_topmost_first() {
    for (signal, order) in [(Signal::Term, [12, 11, 10]), (Signal::Kill, [10, 11, 12])] {
        let machine = Machine::new();
        let ending = machine.end(signal).unwrap();
        assert_eq!((machine.signalled(), pids(&ending.ended)), (order.to_vec(), vec![10, 11, 12]));
        assert_eq!((ending.stayed, ending.notes), (vec![], vec![]));
    }
}

#[test]
fn whoever_does_not_end_is_told_and_the_others_end() {
    let machine = Machine::new().rude(11);
    let ending = machine.end(Signal::Term).unwrap();
    assert_eq!((pids(&ending.ended), pids(&ending.stayed)), (vec![10, 12], vec![11]));
    assert_eq!(machine.signalled(), [12, 11, 10], "nobody is asked twice");
    let machine = Machine::new().rude(11);
    assert!(machine.end(Signal::Kill).unwrap().stayed.is_empty());
}

#[test]
fn what_is_started_meanwhile_is_ended_with_it() {
    for call in 1..=Machine::last(11) {
        let machine = Machine::new().rude(11).before(call, Event::Forks(11, 13));
        let ending = machine.end(Signal::Term).unwrap();
        assert_eq!(pids(&ending.ended), [10, 12, 13], "before call {call}");
    }
    for call in 1..=Machine::last(10) {
        let machine = Machine::new().rude(10).before(call, Event::Starts(10, 13, "sleep"));
        assert!(machine.end(Signal::Term).unwrap().stayed.len() == 1, "before call {call}");
        assert!(machine.signalled().contains(&13), "before call {call}");
    }
}

#[test]
fn an_agent_below_is_never_signalled_and_before_the_first_signal_keeps_all_from_it() {
    check_never_signalled("agent", "agent");
}

#[test]
fn nor_is_what_a_person_may_be_working_with() {
    check_never_signalled("editor", "a person may be working with it");
}

#[track_caller]
fn check_never_signalled(program: &'static str, why: &str) {
    let mut refused = 0;
    for call in 1..=Machine::last(11) {
        let machine = Machine::new().rude(11).before(call, Event::Starts(11, 13, program));
        match machine.end(Signal::Term) {
            Err(ActionError::Changed(_)) => {
                assert!(machine.signalled().is_empty(), "before call {call}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
            Ok(ending) => assert!(ending.notes.iter().any(|note| note.contains(why)), "{call}"),
        }
        assert!(!machine.signalled().contains(&13), "before call {call}");
    }
    assert!(refused > 0);
}

#[test]
fn a_process_that_is_another_by_then_is_never_signalled() {
    for pid in [10, 11, 12] {
        for call in 1..=Machine::calls() {
            let machine = Machine::new().before(call, Event::IsReused(pid));
            let serial = machine.0.lock().unwrap().by_pid[&pid].serial;
            let _ = machine.end(Signal::Term);
            let world = machine.0.lock().unwrap();
            // An heir that is a confirmed process' own child was started below it, like any other.
            let is_strange =
                |(one, found, _): &(u32, u64, &str)| *one == pid && pid == 10 && *found != serial;
            assert!(!world.signalled.iter().any(is_strange), "{pid} before {call}");
        }
    }
}

#[test]
fn a_process_that_has_become_another_program_is_left_alone() {
    for (pid, call) in [10, 11, 12].into_iter().flat_map(|pid| (1..=6).map(move |call| (pid, call))) {
        let machine = Machine::new().before(call, Event::Execs(pid, "vim"));
        let refused = machine.end(Signal::Term);
        assert!(matches!(refused, Err(ActionError::Changed(_))), "{pid} before {call}: {refused:?}");
        assert!(machine.signalled().is_empty());
    }
    for call in 1..=Machine::calls() {
        let machine = Machine::new().before(call, Event::Execs(10, "vim"));
        let _ = machine.end(Signal::Term);
        let world = machine.0.lock().unwrap();
        assert!(world.signalled.iter().all(|(_, _, program)| *program != "vim"), "before {call}");
    }
}

#[test]
fn a_process_that_is_traced_by_then_is_left_alone() {
    let mut refused = 0;
    for (pid, call) in
        [10, 11, 12].into_iter().flat_map(|pid| (1..=Machine::calls()).map(move |call| (pid, call)))
    {
        // The fake machine checks for every signal that the process was not traced when last asked.
        let machine = Machine::new().before(call, Event::IsTraced(pid));
        match machine.end(Signal::Term) {
            Ok(ending) => assert!(ending.stayed.iter().all(|print| print.id.pid == pid), "{ending:?}"),
            Err(ActionError::Changed(why)) => {
                assert!(machine.signalled().is_empty() && why.contains("is being traced by PID 7"), "{why}");
                refused += 1;
            }
            Err(error) => panic!("{error}"),
        }
    }
    assert!(refused > 0);
}

#[test]
fn the_topmost_must_live_and_keep_its_parent() {
    for event in [Event::Exits(10), Event::IsReparented(11), Event::IsReused(10)] {
        let machine = Machine::new().before(1, event);
        assert!(matches!(machine.end(Signal::Term), Err(ActionError::Changed(_))), "{event:?}");
        assert!(machine.signalled().is_empty(), "{event:?}");
    }
    let machine = Machine::new().before(1, Event::Exits(12));
    assert_eq!(pids(&machine.end(Signal::Term).unwrap().ended), [10, 11]);
}

/// Several things happen at random calls.
#[test]
fn nobody_but_the_confirmed_and_their_children_is_signalled_whatever_happens() {
    let calls = Machine::calls() + 20;
    for seed in 0..20_000_u64 {
        let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
        let mut draw = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            usize::try_from(state % below as u64).unwrap()
        };
        let mut machine = Machine::new();
        if draw(3) == 0 {
            machine = machine.rude([10, 11, 12][draw(3)]);
        }
        for new in 20..20 + u32::try_from(draw(6)).unwrap() {
            let pid = [2, 10, 11, 12, new - 1][draw(5)];
            let event = match draw(8) {
                7 => Event::IsTraced(pid),
                0 => Event::Exits(pid),
                1 => Event::IsReused(pid),
                2 => Event::Execs(pid, "vim"),
                3 => Event::Forks(pid, new),
                4 => Event::Starts(pid, new, "agent"),
                5 => Event::Starts(pid, [10, 11, 12, 2][draw(4)], "agent"),
                _ => Event::IsReparented(pid),
            };
            machine = machine.before(1 + draw(calls), event);
        }
        let signal = if draw(2) == 0 { Signal::Term } else { Signal::Kill };
        let confirmed: Vec<u64> =
            [10, 11, 12].map(|pid| machine.0.lock().unwrap().by_pid[&pid].serial).into();
        let strangers = [1, 2].map(|pid| machine.0.lock().unwrap().by_pid[&pid].serial);
        let ending = machine.end(signal);
        let world = machine.0.lock().unwrap();
        for (pid, serial, program) in &world.signalled {
            let is_known = confirmed.contains(serial);
            assert!(!strangers.contains(serial), "seed {seed}: {pid} is a stranger");
            assert!(*program != "agent", "seed {seed}: {pid} is an agent");
            assert!(!is_known || *program != "vim", "seed {seed}: {pid} has become another program");
        }
        assert!(ending.is_ok() || world.signalled.is_empty(), "seed {seed}: {ending:?}");
    }
}

#[test]
fn the_ports_are_said_to_be_free_only_when_nobody_listens() {
    let confirmed = |machine: &Machine| vec![machine.0.lock().unwrap().print(12).unwrap()];
    for (ports, expected) in [
        (&[][..], "1 process has ended"),
        (&[8000], "1 process has ended; port 8000 is free"),
        (&[3000, 8000], "1 process has ended; another process listens on port 3000"),
    ] {
        let machine = Machine::new();
        let ports = ports.iter().copied().collect();
        let outcome = carry_out(&machine, &confirmed(&machine), Signal::Term, &ports).unwrap();
        assert_eq!(outcome.detail, expected);
    }
}
