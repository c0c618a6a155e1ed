//! A seeded simulation of machines that share a home, boot again, are cloned and take orders, and of a network that
//! delays, breaks, drops and reorders, against an oracle that knows which processes live and what was done.
//!
//! Over every seed **no living holder is judged dead or released**, whichever lines of its own machine's claimtop
//! arrive here, **no order is carried out twice**, and the reported result of an order is its true result. Numbers are
//! few, so that a PID comes back with the very start that it had before a reboot. `CLAIMTOP_SIM_SEEDS=50000` runs more
//! seeds, from `CLAIMTOP_SIM_FIRST` on; `CLAIMTOP_SIM_SEED=7` prints one.

mod orders;

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{
    Binding, ClaimStatus, ClockHistory, ClockReading, Details, Domain, Format, Holder, HolderNames, Host,
    Location, MachineState, MachineView, Medium, Ownership, Process, ProcessId, ProcessState, ProcessTable,
    Reason, Record, RecordKind, Report, Resource, ResourceKind, Role, SeenAgent, Snapshot, StatedClaim,
    StatedPid, Tombstone, VerdictState,
};
use claimtop::testing::core::{
    Decoder, Encoder, FarMachine, Hello, INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE, Identity, Message,
    TombstoneKeeper, hashed, merged_machines,
};
use jiff::{SignedDuration, Timestamp};
use orders::{Disk, Orders};

use crate::rng::Rng;

const SEEDS: u64 = 150;
/// Within how many seeds the control must be detected.
const CONTROL_SEEDS: u64 = 2_000;
const STEPS: usize = 160;
const MACHINES: usize = 3;

/// A process that once lived; it is never forgotten.
#[derive(Clone, Debug)]
struct Life {
    machine: usize,
    /// Whose machine ID it has: its machine's own, or that of the machine that it is a clone of.
    identity: usize,
    id: ProcessId,
    session: usize,
    started_at: Timestamp,
    lives: bool,
}

/// A machine, its claimtop, and the lines on their way from it.
struct Machine {
    /// Whose machine ID and state folder it has: its own, or those of the machine that it is a clone of.
    identity: usize,
    disk: Disk,
    boot: usize,
    ahead: SignedDuration,
    /// The PIDs with starts that were used in this boot: no kernel gives both twice.
    used: BTreeSet<ProcessId>,
    ledger: TombstoneKeeper,
    seen: BTreeMap<ProcessId, SeenAgent>,
    tombstones: Vec<Tombstone>,
    encoder: Encoder,
    is_connected: bool,
    wire: VecDeque<String>,
    decoder: Decoder,
    far: FarMachine,
}

/// How the network treats lines.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Network {
    /// As a connection does: in order, until it breaks.
    Orderly,
    /// Some are lost, and some come late.
    Unruly,
}

/// How tombstones are believed; all but the first are controls that must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Belief {
    Real,
    /// Whenever their processes were seen alive.
    OfAnyTime,
}

/// How clones are treated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Care {
    Real,
    /// They are queried as any other machine; a control that must be detected.
    None,
}

struct World {
    rng: Rng,
    network: Network,
    belief: Belief,
    care: Care,
    orders: Orders,
    step: i64,
    lives: Vec<Life>,
    /// The registry in the shared home: the owner of each entry by file name.
    files: BTreeMap<u32, (usize, Timestamp)>,
    machines: Vec<Machine>,
    policy: Policy,
    tally: BTreeMap<&'static str, usize>,
    trace: Vec<String>,
    breaches: Vec<String>,
}

fn name(machine: usize) -> String {
    format!("m{machine}")
}

fn far(machine: usize) -> FarMachine {
    let view = MachineView::new(&name(machine), "simulated".to_owned());
    FarMachine { view, hello: None, report: None, tombstones: Arc::default() }
}

impl World {
    fn new(seed: u64, belief: Belief, care: Care) -> Self {
        let mut rng = Rng::new(seed);
        let network = if rng.happens(300) { Network::Unruly } else { Network::Orderly };
        let machines = (0..MACHINES).map(|at| Machine {
            identity: at,
            disk: Disk::default(),
            boot: 0,
            ahead: SignedDuration::from_secs([-3_600, 0, 0, 2, 3_600][rng.roll(5)]),
            used: BTreeSet::new(),
            ledger: TombstoneKeeper::default(),
            seen: BTreeMap::new(),
            tombstones: Vec::new(),
            encoder: Encoder::default(),
            is_connected: false,
            wire: VecDeque::new(),
            decoder: Decoder::new(&name(at)),
            far: far(at),
        });
        let machines = machines.collect();
        Self {
            rng,
            network,
            belief,
            care,
            orders: Orders::default(),
            step: 0,
            lives: Vec::new(),
            files: BTreeMap::new(),
            machines,
            policy: Policy { signatures: Signatures::built_in().unwrap() },
            tally: BTreeMap::new(),
            trace: Vec::new(),
            breaches: Vec::new(),
        }
    }

    fn note(&mut self, what: &'static str, text: String) {
        *self.tally.entry(what).or_default() += 1;
        self.trace.push(format!("{:3} {what}: {text}", self.step));
    }

    /// Returns the time here, which is also the file server's.
    fn now(&self) -> Timestamp {
        Timestamp::UNIX_EPOCH + SignedDuration::from_secs(1_700_000_000 + self.step * 7)
    }

    fn step(&mut self) {
        self.step += 1;
        let at = self.rng.roll(MACHINES);
        match self.rng.roll(400) {
            0..=39 => self.begin(at),
            40..=69 => return self.end(at),
            70..=119 => return self.look(at),
            120..=126 => return self.reboot(at),
            127..=129 => return self.clone_of(at),
            130..=139 => self.break_off(at),
            140..=169 => return self.connect(at),
            170..=179 => self.write_again(at),
            180..=214 => return self.ask(at),
            215..=274 => return self.hear(at),
            275..=324 => return self.carry_on(at),
            325..=334 => return self.settle(at),
            _ => {
                if !self.deliver(at) {
                    return;
                }
            }
        }
        // The other events change nothing that is visible here.
        self.look_here();
    }

    fn begin(&mut self, at: usize) {
        let pid = 10 + self.rng.roll(2) as u32;
        let start_ticks = 1_000 + self.rng.roll(3) as u64;
        let id = ProcessId { pid, start_ticks };
        let is_taken = self.living(at).any(|life| life.id.pid == pid);
        if is_taken || !self.machines[at].used.insert(id) {
            return;
        }
        let started_at = self.now() + self.machines[at].ahead;
        let (session, identity) = (self.rng.roll(2), self.machines[at].identity);
        self.lives.push(Life { machine: at, identity, id, session, started_at, lives: true });
        self.note("begin", format!("{} {id:?} session {session}", name(at)));
        self.files.insert(pid, (self.lives.len() - 1, self.now()));
    }

    fn living(&self, at: usize) -> impl Iterator<Item = &Life> {
        self.lives.iter().filter(move |life| life.machine == at && life.lives)
    }

    fn end(&mut self, at: usize) {
        let living: Vec<usize> = (0..self.lives.len())
            .filter(|one| self.lives[*one].machine == at && self.lives[*one].lives)
            .collect();
        let Some(one) = self.rng.pick(&living).copied() else { return };
        self.lives[one].lives = false;
        let is_tidy = self.rng.happens(300);
        self.note("end", format!("{} {:?}", name(at), self.lives[one].id));
        let pid = self.lives[one].id.pid;
        if is_tidy && self.files.get(&pid).is_some_and(|(whose, _)| *whose == one) {
            self.files.remove(&pid);
        }
    }

    /// Lets a live process write its entry again, over that of another machine.
    fn write_again(&mut self, at: usize) {
        let living: Vec<usize> = (0..self.lives.len())
            .filter(|one| self.lives[*one].machine == at && self.lives[*one].lives)
            .collect();
        if let Some(one) = self.rng.pick(&living).copied() {
            self.files.insert(self.lives[one].id.pid, (one, self.now()));
        }
    }

    fn reboot(&mut self, at: usize) {
        self.lives.iter_mut().filter(|life| life.machine == at).for_each(|life| life.lives = false);
        let machine = &mut self.machines[at];
        machine.boot += 1;
        machine.used.clear();
        machine.seen.clear();
        machine.ledger = TombstoneKeeper::default();
        machine.tombstones.clear();
        // This side is not notified: the link hangs.
        machine.is_connected = false;
        self.restart_orders(at);
        self.note("reboot", name(at));
    }

    /// Copies another machine's disk onto that of this one, which then boots as its clone.
    fn clone_of(&mut self, at: usize) {
        let of = self.rng.roll(MACHINES);
        if of == at {
            return;
        }
        let (identity, disk) = (self.machines[of].identity, self.machines[of].disk.clone());
        (self.machines[at].identity, self.machines[at].disk) = (identity, disk);
        self.note("clone", format!("{} of {}", name(at), name(of)));
        self.reboot(at);
    }

    /// Returns whether a machine takes a life for its own because that lives on a clone of it, and one of the two has
    /// not been received as a clone: then the clone cannot be recognized.
    fn is_hidden_clone(&self, at: usize, life: &Life) -> bool {
        let (one, other) = (&self.machines[at], &self.machines[life.machine]);
        let says = |machine: &Machine, boot: String| {
            let hello = machine.far.hello.as_ref();
            hello.is_some_and(|hello| {
                hello.boot == Some(boot) && hello.identity.machine == Some(hashed(&name(machine.identity)))
            })
        };
        let are_known = says(one, boot_id(at, one.boot)) && says(other, boot_id(life.machine, other.boot));
        life.machine != at && life.identity == one.identity && !are_known
    }

    /// Returns whether a machine that now has another's disk had, when it was last received, the ID of a clone which
    /// lives and has never been received as a clone.
    fn is_unheard_clone(&self, at: usize, life: &Life) -> bool {
        let heard = |at: usize| self.machines[at].far.hello.as_ref();
        let is_its = |hello: &Hello| hello.identity.machine == Some(hashed(&name(life.identity)));
        let boot = boot_id(life.machine, self.machines[life.machine].boot);
        let is_known = heard(life.machine).is_some_and(|hello| is_its(hello) && hello.boot == Some(boot));
        life.machine != at && heard(at).is_some_and(is_its) && !is_known
    }

    /// Breaks the link: this side notices it, and the lines on their way are lost.
    fn break_off(&mut self, at: usize) {
        self.lose_runs(at);
        let machine = &mut self.machines[at];
        machine.is_connected = false;
        machine.wire.clear();
        let was_seen = machine.far.report.is_some();
        machine.far.view.state = if was_seen { MachineState::Silent } else { MachineState::Unreached };
        self.note("break", name(at));
    }

    fn connect(&mut self, at: usize) {
        if self.machines[at].is_connected {
            return;
        }
        self.break_off(at);
        let hello = Hello {
            schema: "claimtop.stream.v1".to_owned(),
            version: "0.1.0".to_owned(),
            identity: Identity {
                machine: Some(hashed(&name(self.machines[at].identity))),
                store: Some(name(self.machines[at].identity)),
            },
            host: name(at),
            boot: Some(boot_id(at, self.machines[at].boot)),
            pid_namespace: Some(INITIAL_PID_NAMESPACE),
            now: self.now(),
            takes_orders: true,
            no_orders: None,
        };
        self.begin_run(at);
        let machine = &mut self.machines[at];
        machine.is_connected = true;
        machine.encoder = Encoder::default();
        machine.decoder = Decoder::new(&name(at));
        machine.wire.push_back(Encoder::hello(hello).unwrap());
        self.note("connect", name(at));
    }

    /// Lets its claimtop look, judge, remember, and send the differences.
    fn look(&mut self, at: usize) {
        let now = self.now() + self.machines[at].ahead;
        let processes: Vec<(ProcessId, usize)> =
            self.living(at).map(|life| (life.id, life.session)).collect();
        let machine = &mut self.machines[at];
        for (id, _) in &processes {
            machine.seen.insert(*id, SeenAgent { id: *id, last_seen_at: now, registered_at: Some(now) });
        }
        let mut snapshot = self.snapshot(Some(at), now);
        let report = assess(&snapshot, &self.policy);
        let machine = &mut self.machines[at];
        let lesson = machine.ledger.learn(&snapshot, &report);
        if !lesson.refuted.is_empty() {
            let refuted = format!("{} took back {:?}", name(at), lesson.refuted);
            self.breaches.push(refuted);
        }
        let machine = &mut self.machines[at];
        for stone in lesson.learnt {
            machine.tombstones.retain(|known| known.id != stone.id);
            machine.tombstones.push(stone);
        }
        machine.tombstones.sort_by_key(|stone| stone.id);
        snapshot.tombstones = machine.tombstones.clone().into();
        let report = assess(&snapshot, &self.policy);
        if machine.is_connected {
            let lines = machine.encoder.look(&report, &snapshot.tombstones).unwrap();
            machine.wire.extend(lines.lines().map(|line| format!("{line}\n")));
        }
        let told = format!("{} has {} tombstones", name(at), self.machines[at].tombstones.len());
        self.note("look", told);
    }

    /// Lets some lines arrive; returns whether a whole look has.
    fn deliver(&mut self, at: usize) -> bool {
        let mut is_news = false;
        let most = 1 + self.rng.roll(20);
        for _ in 0..most {
            let is_unruly = self.network == Network::Unruly && self.machines[at].decoder.hello().is_some();
            let (is_lost, is_late) = (self.rng.happens(30), self.rng.happens(50));
            let machine = &mut self.machines[at];
            let Some(line) = machine.wire.pop_front() else { break };
            if is_unruly && is_lost {
                continue;
            }
            if is_unruly && is_late {
                machine.wire.push_back(line);
                continue;
            }
            match machine.decoder.receive(line.trim_end().as_bytes()).unwrap() {
                Message::Hello => {
                    is_news = true;
                    machine.far.hello = machine.decoder.hello().cloned();
                    machine.far.view.no_orders = None;
                }
                Message::Look => {
                    is_news = true;
                    machine.far.view.state = MachineState::Live;
                    machine.far.report = machine.decoder.report().cloned();
                    let told = machine.decoder.tombstones().cloned();
                    machine.far.tombstones = match self.belief {
                        Belief::Real => told.collect(),
                        Belief::OfAnyTime => told
                            .map(|stone| Tombstone { seen_alive_at: Some(Timestamp::MAX), ..stone })
                            .collect(),
                    };
                }
                Message::Answer => self.answered(at),
                Message::Beat(_) | Message::Other => {}
            }
        }
        is_news
    }

    /// Merges what is seen here with what has arrived, and asks the oracle.
    fn look_here(&mut self) {
        let local = assess(&self.snapshot(None, self.now()), &self.policy);
        let machines: Vec<FarMachine> = self.machines.iter().map(|machine| machine.far.clone()).collect();
        self.check(&merged_machines(&local, &machines));
    }

    fn check(&mut self, all: &Report) {
        let by_claims =
            all.claims.iter().filter(|claim| claim.status == ClaimStatus::Dead).map(|claim| &*claim.record);
        let dead = all.records().filter(|record| record.verdict.state == VerdictState::Dead).chain(by_claims);
        let dead: Vec<_> =
            dead.map(|record| (record.key.to_string(), record.title.raw().to_owned())).collect();
        for (key, title) in dead {
            let life = &self.lives[title.parse::<usize>().unwrap()];
            let by = self
                .machines
                .iter()
                .position(|machine| key.ends_with(&format!("@{}", machine.far.view.name)));
            let is_hidden = |by: usize| self.is_hidden_clone(by, life) || self.is_unheard_clone(by, life);
            let is_hidden = by.map_or_else(|| (0..MACHINES).any(is_hidden), is_hidden);
            if life.lives && is_hidden {
                *self.tally.entry("called dead by a clone that nobody knew").or_default() += 1;
            } else if life.lives {
                self.breaches.push(format!("step {}: {key} is called dead, and {life:?}", self.step));
            }
        }
        for record in all.records().filter(|record| record.verdict.reason == Reason::Witnessed) {
            let what = match record.verdict.state {
                VerdictState::Alive => "witnessed alive",
                VerdictState::Dead => "witnessed dead",
                VerdictState::Unknown => continue,
            };
            *self.tally.entry(what).or_default() += 1;
        }
    }

    /// Returns the report of a machine's own claimtop if it looks now.
    fn report_there(&self, at: usize) -> Report {
        assess(&self.snapshot(Some(at), self.now() + self.machines[at].ahead), &self.policy)
    }

    /// Returns what is visible on a machine, or here.
    fn snapshot(&self, at: Option<usize>, now: Timestamp) -> Snapshot {
        let mut table = ProcessTable::default();
        let processes: Vec<Process> = at.iter().flat_map(|at| self.living(*at)).map(process).collect();
        for process in processes {
            table.listed.insert(process.id.pid);
            table.by_pid.insert(process.id.pid, process);
        }
        let records = self.files.values().map(|(whose, at)| Arc::new(self.record(*whose, *at))).collect();
        let machine = at.map(|at| &self.machines[at]);
        Snapshot {
            taken_at: now,
            host: Host {
                name: at.map_or("here".to_owned(), name),
                boot_id: Some(machine.map_or("here".to_owned(), |one| boot_id(at.unwrap(), one.boot))),
                pid_namespace: Some(INITIAL_PID_NAMESPACE),
                boot_at: Some(now - SignedDuration::from_hours(1)),
                machine_id: Some(machine.map_or("here".to_owned(), |one| name(one.identity))),
                time_namespace: Some(INITIAL_TIME_NAMESPACE),
                clock_doubt: SignedDuration::ZERO,
                ticks_per_second: 100,
                uid: 1000,
                zone: jiff::tz::TimeZone::UTC,
                platform: Default::default(),
                up_by: None,
                clock: ClockHistory::from_iter([ClockReading {
                    up_for: SignedDuration::ZERO,
                    boot_at: now - SignedDuration::from_hours(1),
                }]),
            },
            processes: table,
            records,
            bound: claimtop::core::model::Notes::default(),
            homes: Vec::new(),
            session_files: Vec::new(),
            tombstones: machine.map(|machine| machine.tombstones.clone().into()).unwrap_or_default(),
            unread_work: Vec::new(),
            unfinished: Vec::new(),
            git_commands: Vec::new(),
            call_waits: Vec::new(),
            forecasts: Vec::new(),
            plain_folders: Vec::new(),
            traces: Vec::new(),
            work: Vec::new(),
            broken: Vec::new(),
            repos: Vec::new(),
            databases: Vec::new(),
            sources: Vec::new(),
            seen_agents: machine.map(|machine| machine.seen.values().copied().collect()).unwrap_or_default(),
        }
    }

    /// Returns an entry of Claude Code's registry, which names where its PID counts, but not the boot.
    fn record(&self, whose: usize, written_at: Timestamp) -> Record {
        let life = &self.lives[whose];
        let mut holder = Holder::new(StatedPid::Valid(life.id.pid), Role::Agent, Binding::Registry);
        holder.start_ticks = Some(life.id.start_ticks);
        let domain = Domain::Linux {
            machine: Some(name(life.identity).into()),
            namespace: Some(INITIAL_PID_NAMESPACE),
        };
        holder.names = Some(Box::new(HolderNames { domain: Some(domain), ..HolderNames::default() }));
        let session = format!("95fe798d-3725-4649-974a-00000000000{}", life.session);
        let path = format!("/home/dev/.claude/sessions/{}.json", life.id.pid);
        let ownership = Ownership { medium: Medium::Shared, ..Ownership::new(1000, 0o600) };
        let location = Location::File(std::path::PathBuf::from(path).into());
        let claim = Resource { kind: ResourceKind::Session, id: session.as_str().into() };
        Record {
            variant: "registry",
            session_id: Some(session.into()),
            title: whose.to_string().into(),
            holder: Some(holder),
            started_at: Some(life.started_at),
            claims: vec![StatedClaim { resource: claim, since: None, surfaces: [].into() }],
            ..Record::blank((Format::ClaudeCode, RecordKind::Session), location, ownership, written_at)
        }
    }
}

fn boot_id(machine: usize, boot: usize) -> String {
    format!("boot {boot} of {machine}")
}

fn process(life: &Life) -> Process {
    Process {
        id: life.id,
        parent: 1,
        state: ProcessState::Running,
        comm: "claude".into(),
        tty: None,
        group: 0,
        session: life.id.pid,
        pidfd_inode: None,
        has_exited: None,
        inner: Default::default(),
        is_renamed: false,
        details: Some(Details {
            uid: Some(1000),
            exe: Some("/opt/node_modules/@anthropic-ai/claude-code/bin/claude.exe".into()),
            argv: vec!["claude".into()],
            cwd: Some("/home/dev".into()),
            ns_pids: vec![life.id.pid],
            ..Details::default()
        }),
    }
}

fn number(name: &str) -> Option<u64> {
    std::env::var(name).ok().map(|text| text.parse().unwrap())
}

fn run(seed: u64, belief: Belief, care: Care) -> World {
    let mut world = World::new(seed, belief, care);
    while world.step < STEPS as i64 && world.breaches.is_empty() {
        world.step();
    }
    if world.breaches.is_empty() {
        world.calm_down();
    }
    world
}

#[test]
fn no_holder_that_lives_on_any_machine_is_called_dead() {
    let seeds = match number("CLAIMTOP_SIM_SEED") {
        Some(seed) => seed..seed + 1,
        None => number("CLAIMTOP_SIM_FIRST").unwrap_or(0)..number("CLAIMTOP_SIM_SEEDS").unwrap_or(SEEDS),
    };
    let mut tally: BTreeMap<&str, usize> = BTreeMap::new();
    for seed in seeds.clone() {
        let world = run(seed, Belief::Real, Care::Real);
        if number("CLAIMTOP_SIM_SEED").is_some() {
            println!("{:?}\n{}", world.network, world.trace.join("\n"));
        }
        let (breaches, trace) = (world.breaches.join("\n"), world.trace.join("\n"));
        assert!(breaches.is_empty(), "seed {seed}, {:?}:\n{trace}\n{breaches}", world.network);
        for (what, count) in world.tally {
            *tally.entry(what).or_default() += count;
        }
    }
    println!("{tally:#?}");
    if seeds.end - seeds.start >= SEEDS {
        for what in [
            "witnessed alive", "witnessed dead", "reboot", "break", "connect", "clone", "told done",
            "told not done",
        ] {
            assert!(tally.contains_key(what), "no {what:?} in {tally:?}");
        }
    }
}

#[test]
fn asking_a_clone_as_any_other_machine_is_found_out() {
    let is_found = |seed: u64| !run(seed, Belief::Real, Care::None).breaches.is_empty();
    let found = (0..CONTROL_SEEDS).find(|seed| is_found(*seed));
    println!("found out by seed {found:?}");
    assert!(found.is_some(), "not found out in {CONTROL_SEEDS} seeds");
}

#[test]
fn believing_a_tombstone_of_another_boot_is_found_out() {
    let is_found = |seed: u64| !run(seed, Belief::OfAnyTime, Care::Real).breaches.is_empty();
    let found = (0..CONTROL_SEEDS).find(|seed| is_found(*seed));
    println!("found out by seed {found:?}");
    assert!(found.is_some(), "not found out in {CONTROL_SEEDS} seeds");
}
