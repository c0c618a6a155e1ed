//! The whole world of one seed, and the events that happen in it by themselves.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::{Path, PathBuf};

use claimtop::core::model::{ClockHistory, ClockReading, Descent, Medium, Tombstone};
use jiff::{SignedDuration, Timestamp};

use crate::local::background::{self, Job};
use crate::local::files::{Files, Mount, OTHER_USER, USER};
use crate::local::kin::{self, Env, Kin};
use crate::local::ledger::Ledger;
use crate::local::processes::{Life, OTHER_MACHINE, Power, Processes, SimProcess, State, Visibility};
use crate::local::programs::Sort;
use crate::local::tally::Tally;
use crate::local::writers::{self, Pending};
use crate::rng::Rng;

pub(crate) const HOME: &str = "/home/dev";
pub(crate) const REPO: &str = "/home/dev/shop";
pub(crate) const STATE: &str = "/state/claimtop";
/// The latest time after a turn at which its agent's registry records it, while the agent runs.
const TURN: SignedDuration = SignedDuration::from_secs(6);

/// The properties of a seed's world.
#[derive(Clone, Copy, Debug)]
pub(crate) struct FaultModel {
    /// The disk's failures per thousand calls.
    pub(crate) faults: usize,
    /// How many steps in a thousand kill a claimtop.
    pub(crate) crashes: usize,
    /// Whether the clock is set now and then.
    pub(crate) clock_steps: bool,
    /// Whether the journal is deleted now and then.
    pub(crate) loses_journal: bool,
    /// Whether there are processes and files of others.
    pub(crate) foreigners: bool,
    pub(crate) containers: bool,
    /// Whether processes come and go so fast that too little can be read of some.
    pub(crate) churn: bool,
    /// The mount of homes and repositories.
    pub(crate) mount: Mount,
    /// Whether files get other owners and dates, and some are writable by others.
    pub(crate) gives_away: bool,
    /// Whether agents' registries name machine and PID namespace.
    pub(crate) names_domain: bool,
    /// How many ticks the time namespace of the first container is ahead.
    pub(crate) containers_clock: i64,
    /// Whether a rename to a taken name on another file system is reported as taken, as by `link`, and not as
    /// crossing, as by `renameat2`.
    pub(crate) tells_taken_first: bool,
    pub(crate) claimtops: usize,
    /// Whether windows start processes, which may outlive them.
    pub(crate) background: bool,
    pub(crate) visibility: Visibility,
}

pub(crate) struct World {
    pub(crate) rng: Rng,
    pub(crate) fault_model: FaultModel,
    pub(crate) files: Files,
    pub(crate) processes: Processes,
    pub(crate) ledger: Ledger,
    pub(crate) pending: Vec<Pending>,
    /// Whether a journal was lost: actions under way then cannot be put right.
    pub(crate) lost_journal: bool,
    /// The inodes of which a claimtop removed a name.
    pub(crate) removed: BTreeSet<u64>,
    /// The held lock files: their inodes, and the numbers of the holds.
    pub(crate) locks: BTreeMap<u64, u64>,
    /// The processes known to be dead: the file that all claimtops share.
    pub(crate) stones: Vec<Tombstone>,
    /// The survivors that were seen below them: another such file.
    pub(crate) descents: Vec<Descent>,
    pub(crate) steps_left: usize,
    pub(crate) tally: Tally,
    pub(crate) breaches: Vec<String>,
    /// When each ended process did so, by the machine's uptime.
    pub(crate) ended: BTreeMap<Life, SignedDuration>,
    pub(crate) became_agents: BTreeMap<Life, SignedDuration>,
    /// The background sessions, and whether the daemon has yet to write one.
    pub(crate) jobs: Vec<Job>,
    pub(crate) roster_due: bool,
    /// The windows that turned to another session and have not yet recorded it in their registry, with the time of the
    /// turn.
    turning: BTreeMap<Life, SignedDuration>,
    /// The jobs that windows have queued with `at`.
    pub(crate) later: Vec<(Life, Env)>,
    up_for: SignedDuration,
    booted_at: Timestamp,
    /// When the machine booted, by the clock at that time.
    stamped_at: Timestamp,
    /// The readings of both clocks in claimtops' looks.
    readings: ClockHistory,
    /// Whether the clock was set since it was read last.
    was_set_unseen: bool,
    /// How far the clock was set in all, as seen by a claimtop that always ran.
    pub(crate) clock_doubt: SignedDuration,
    holds: u64,
    trace: VecDeque<(Timestamp, String)>,
    traces_all: bool,
    breached_at: Option<usize>,
}

impl World {
    pub(crate) fn new(seed: u64, fault_model: impl FnOnce(&mut Rng) -> FaultModel, traces_all: bool) -> Self {
        let mut rng = Rng::new(seed);
        let fault_model = fault_model(&mut rng);
        let mut world = Self {
            files: disks(&mut rng, fault_model.mount),
            fault_model,
            processes: Processes::default(),
            ledger: Ledger::default(),
            pending: Vec::new(),
            turning: BTreeMap::new(),
            lost_journal: false,
            removed: BTreeSet::new(),
            locks: BTreeMap::new(),
            stones: Vec::new(),
            descents: Vec::new(),
            steps_left: crate::local::STEPS,
            tally: Tally::default(),
            breaches: Vec::new(),
            ended: BTreeMap::new(),
            became_agents: BTreeMap::new(),
            jobs: Vec::new(),
            roster_due: false,
            later: Vec::new(),
            up_for: SignedDuration::from_hours(40),
            booted_at: "2026-11-19T06:00:00Z".parse().unwrap(),
            stamped_at: "2026-11-19T06:00:00Z".parse().unwrap(),
            readings: ClockHistory::default(),
            was_set_unseen: false,
            clock_doubt: SignedDuration::ZERO,
            holds: 0,
            trace: VecDeque::new(),
            traces_all,
            breached_at: None,
            rng,
        };
        for _ in 0..40 {
            world.happen();
        }
        world
    }

    pub(crate) fn now(&self) -> Timestamp {
        self.booted_at + self.up_for
    }

    /// Reads both clocks as a look does, in the time namespace of the observer, and returns their history.
    pub(crate) fn read_clock(&mut self) -> ClockHistory {
        self.readings.add([ClockReading { up_for: self.up_for, boot_at: self.booted_at }]);
        self.was_set_unseen = false;
        let shift = SignedDuration::from_millis(10 * self.fault_model.visibility.clock);
        let shifted = |reading: ClockReading| ClockReading {
            up_for: reading.up_for + shift,
            boot_at: reading.boot_at - shift,
        };
        // A container sees no device nodes of the machine.
        let stamp = ClockReading { up_for: SignedDuration::ZERO, boot_at: self.stamped_at };
        let stamp = Some(stamp).filter(|_| self.fault_model.visibility.container.is_none());
        self.readings.readings().map(shifted).chain(stamp).collect()
    }

    /// Returns when the machine booted, by the current wall clock.
    pub(crate) fn booted_at(&self) -> Timestamp {
        self.booted_at
    }

    pub(crate) fn up_for(&self) -> SignedDuration {
        self.up_for
    }

    pub(crate) fn pass(&mut self, time: SignedDuration) {
        let due_by = self.up_for + time - TURN;
        self.tell_of_turns(|turned_at| turned_at < due_by);
        self.up_for += time;
    }

    /// Records that a window has turned to another session, which its registry is to show soon.
    pub(crate) fn turn(&mut self, life: Life) {
        self.turning.insert(life, self.up_for);
    }

    fn tell_of_turns(&mut self, is_due: impl Fn(SignedDuration) -> bool) {
        let due = |(life, turned_at): (&Life, &SignedDuration)| {
            let is_running = self.processes.all[*life].state != State::Stopped;
            (is_running && is_due(*turned_at)).then_some(*life)
        };
        let due: Vec<Life> = self.turning.iter().filter_map(due).collect();
        for life in due {
            self.turning.remove(&life);
            if self.processes.all[life].state.is_alive() {
                writers::follow(self, life);
            }
        }
    }

    pub(crate) fn note(&mut self, text: impl FnOnce() -> String) {
        if !self.traces_all && self.breached_at.is_some() {
            return;
        }
        if !self.traces_all && self.trace.len() >= 40 {
            self.trace.pop_front();
        }
        self.trace.push_back((self.now(), text()));
    }

    /// Returns the last events, up to the first breach if there was one.
    pub(crate) fn trace(&self) -> String {
        let until = self.breached_at.unwrap_or(self.trace.len());
        let told = self.trace.iter().take(until);
        told.map(|(at, text)| format!("  {} {text}\n", at.strftime("%H:%M:%S.%3f"))).collect()
    }

    pub(crate) fn breach(&mut self, what: String) {
        self.note(|| format!("BREACH {what}"));
        if !self.traces_all {
            self.breached_at.get_or_insert(self.trace.len());
        }
        self.breaches.push(what);
    }

    pub(crate) fn new_hold(&mut self) -> u64 {
        self.holds += 1;
        self.holds
    }

    /// Lets one event happen that no claimtop causes.
    pub(crate) fn happen(&mut self) {
        if self.fault_model.background && self.rng.happens(450) {
            return background::happen(self);
        }
        match self.rng.roll(100) {
            0..=14 => self.time_passes(),
            15..=26 => self.birth(),
            27..=35 => self.end_somebody(),
            36..=39 => self.change_somebody(),
            40..=41 => self.change_some_file(),
            42..=65 => writers::go_on(self),
            _ => writers::write_something(self),
        }
    }

    /// Lets an event happen to processes alone.
    pub(crate) fn change_kin(&mut self) {
        match self.rng.roll(6) {
            0..=2 => background::stir(self),
            3 => self.birth(),
            4 => self.reuse_numbers(),
            _ => background::happen(self),
        }
    }

    /// Gives numbers of the dead to new processes.
    pub(crate) fn reuse_numbers(&mut self) {
        for _ in 0..3 {
            self.birth();
        }
    }

    /// Returns an unused session.
    pub(crate) fn new_session(&mut self) -> String {
        format!("95fe798d-3725-4649-974b-{:012}", self.new_hold())
    }

    fn time_passes(&mut self) {
        if self.roster_due {
            background::tell_roster(self);
        }
        let seconds = [1, 3, 3, 5, 20, 120, 1500].get(self.rng.roll(7)).copied().unwrap_or(1);
        self.pass(SignedDuration::from_secs(seconds));
        if self.fault_model.clock_steps && self.rng.happens(80) {
            let steps = [-86_400, -3_600, -300, -3, 3, 300, 3_600, 86_400];
            let step = SignedDuration::from_secs(steps[self.rng.roll(steps.len())]);
            // A clock that was set twice between two looks cannot be detected (docs/limits.md).
            if std::mem::replace(&mut self.was_set_unseen, true) {
                self.readings.add([ClockReading { up_for: self.up_for, boot_at: self.booted_at }]);
            }
            self.booted_at += step;
            self.clock_doubt += step.abs();
            self.note(|| format!("the clock is set by {} s", step.as_secs()));
        }
        if self.fault_model.loses_journal && self.rng.happens(80) {
            self.note(|| "the journal is deleted".to_owned());
            self.lost_journal |= self.files.unlink(&Self::path(STATE, "journal.jsonl")).is_ok();
        }
    }

    pub(crate) fn birth(&mut self) {
        let sort = match self.rng.roll(10) {
            0..=6 => Sort::Claude,
            7 => Sort::Codex,
            _ => Sort::Sleep,
        };
        let in_container = self.fault_model.containers && self.rng.happens(400);
        let container = in_container.then(|| 1 + self.rng.roll(2) as u32);
        let is_far = !self.fault_model.mount.medium.is_this_machines() && self.rng.happens(250);
        let container = if is_far { Some(OTHER_MACHINE) } else { container };
        let clock = if container == Some(1) { self.fault_model.containers_clock } else { 0 };
        let session = match self.resumed() {
            Some(session) => session,
            None => format!("95fe798d-3725-4649-974a-{:012}", self.processes.all.len()),
        };
        // Where owners are mapped, there are users of containers, who own nothing by their number.
        let is_mapped = self.fault_model.mount.medium == Medium::Mapped;
        let others = if is_mapped { 700 } else { 250 };
        let is_other = (is_mapped || self.fault_model.foreigners) && self.rng.happens(others);
        let uid = if is_other { OTHER_USER } else { USER };
        let has_power = is_other && !is_mapped && self.rng.happens(800);
        let power = Power::SOME[self.rng.roll(Power::SOME.len())];
        let power = if has_power { power } else { Power::None };
        let kin = self.begun(container);
        let parent = kin.group;
        let is_hidden = self.fault_model.foreigners && self.rng.happens(60);
        let names_session = self.rng.happens(200);
        let cwd = if self.rng.happens(500) { REPO } else { "/home/dev/shop-b" };
        self.add(
            |pid, inside, start_ticks, born_at| SimProcess {
                pid,
                inside,
                parent,
                sort,
                state: State::Running,
                start_ticks,
                born_at,
                uid,
                power,
                is_hidden,
                session,
                cwd,
                names_session,
                clock,
                kin,
            },
            container,
        );
        // `( agent & )` leaves a group without its leader.
        if let Some(script) = parent {
            self.tally.count("start scripts");
            self.set(script, State::Gone);
        }
    }

    /// Lets a start script begin, which leads the group of the window that it starts; most windows are started by
    /// hand.
    fn begun(&mut self, container: Option<u32>) -> Kin {
        if !self.rng.happens(120) {
            return Kin::default();
        }
        let script = kin::start_alone_in(self, container, Sort::Script, Kin::default());
        Kin { group: script, is_named_by_group: script.is_some(), ..Kin::default() }
    }

    /// Returns the session of an ended window, if this one resumes it.
    fn resumed(&mut self) -> Option<String> {
        let is_resumed = self.rng.happens(150);
        let gone = |person: &&SimProcess| !person.state.is_alive() && person.sort == Sort::Claude;
        let sessions: Vec<String> =
            self.processes.all.iter().filter(gone).map(|p| p.session.clone()).collect();
        self.rng.pick(&sessions).filter(|_| is_resumed).cloned()
    }

    /// Gives a process a PID; `None` if none is free.
    pub(crate) fn add(
        &mut self,
        person: impl FnOnce(u32, Option<(u32, u32)>, u64, Timestamp) -> SimProcess,
        container: Option<u32>,
    ) -> Option<Life> {
        let wanted = self.rng.roll(64);
        // Within one tick a PID and a start could be those of two processes.
        self.pass(SignedDuration::from_millis(10));
        let numbers = if self.fault_model.background { 100..126 } else { 100..112 };
        let pid = self.processes.free(wanted, numbers, None)?;
        let inside = match container {
            None => None,
            Some(container) => Some((container, self.processes.free(wanted, 101..105, Some(container))?)),
        };
        let ticks = u64::try_from(self.up_for.as_millis() / 10).unwrap_or_default();
        let person = person(pid, inside, ticks, self.now());
        let life = self.processes.all.len();
        self.note(|| {
            format!("born: life {life} {:?} {pid} inside {inside:?} uid {}", person.sort, person.uid)
        });
        self.processes.all.push(person);
        self.tally.count("processes");
        Some(life)
    }

    /// Returns a live process for which `is_wanted` is true.
    pub(crate) fn somebody(&mut self, is_wanted: impl Fn(&SimProcess) -> bool) -> Option<Life> {
        let lives: Vec<Life> =
            self.processes.alive().filter(|(_, person)| is_wanted(person)).map(|(life, _)| life).collect();
        self.rng.pick(&lives).copied()
    }

    fn end_somebody(&mut self) {
        let is_window = |person: &SimProcess| matches!(person.sort, Sort::Claude | Sort::Codex | Sort::Sleep);
        let is_hook = |person: &SimProcess| person.sort == Sort::Shell && person.kin.env.tmux.is_none();
        let is_ended =
            |person: &SimProcess| person.state != State::Stopped && (is_window(person) || is_hook(person));
        if let Some(life) = self.somebody(is_ended) {
            let is_reaped = self.rng.happens(700);
            self.set(life, if is_reaped { State::Gone } else { State::Zombie });
        }
    }

    fn change_somebody(&mut self) {
        let lives: Vec<Life> = (0..self.processes.all.len()).collect();
        let Some(life) = self.rng.pick(&lives).copied() else { return };
        let next = match self.processes.all[life].state {
            State::Running if self.rng.happens(500) => State::Stopped,
            State::Running => State::LeaderExited,
            State::Stopped => State::Running,
            State::LeaderExited => return,
            State::Zombie => State::Gone,
            State::Gone => return,
        };
        self.set(life, next);
    }

    pub(crate) fn set(&mut self, life: Life, state: State) {
        let pid = self.processes.all[life].pid;
        self.note(|| format!("life {life} ({pid}) is {state:?}"));
        let before = std::mem::replace(&mut self.processes.all[life].state, state);
        if before == State::Stopped {
            // It continues where it was stopped.
            let due_by = self.up_for - TURN;
            self.tell_of_turns(|turned_at| turned_at < due_by);
        }
        let was_alive = before.is_alive();
        if was_alive && !state.is_alive() {
            self.ended.insert(life, self.up_for);
            kin::orphan(self, life);
        }
    }

    /// Gives a file to another owner, or dates it ahead.
    fn change_some_file(&mut self) {
        let all: Vec<u64> =
            self.files.all().filter(|(path, ..)| !path.starts_with("/state")).map(|at| at.1).collect();
        let Some(number) = self.rng.pick(&all).copied().filter(|_| self.fault_model.gives_away) else {
            return;
        };
        let (now, is_dated) = (self.files.time_of(number, self.now()), self.rng.happens(200));
        if self.rng.happens(400) {
            return self.restore(number, now);
        }
        let Some(inode) = self.files.inodes.get_mut(&number) else { return };
        // The user who is given it within 100 ms of the write is taken for its writer.
        if now.duration_since(inode.modified_at).abs() <= SignedDuration::from_millis(100) {
            return;
        }
        inode.changed_at = now;
        if is_dated {
            inode.modified_at = now + SignedDuration::from_hours(72);
        } else {
            inode.uid = if inode.uid == USER { OTHER_USER } else { USER };
        }
        let what = if is_dated { "dated ahead" } else { "given away" };
        self.tally.count(what);
        self.note(|| format!("inode {number} is {what}"));
    }

    /// Gives a file another mode, or puts a copy with its time in its place, as `cp --preserve` from a backup does.
    fn restore(&mut self, number: u64, now: Timestamp) {
        let is_copied = self.rng.happens(500);
        let what = if is_copied { "restored" } else { "given another mode" };
        self.tally.count(what);
        self.note(|| format!("inode {number} is {what}"));
        if is_copied {
            return self.files.restore(number, now);
        }
        let Some(inode) = self.files.inodes.get_mut(&number) else { return };
        inode.changed_at = now;
        inode.mode ^= 0o044;
    }

    /// Writes whole bytes into a file, whatever names it has.
    pub(crate) fn fill(&mut self, inode: u64, bytes: &[u8]) {
        let (now, version) = (self.files.time_of(inode, self.now()), self.ledger.version(bytes));
        if let Some(inode) = self.files.inodes.get_mut(&inode) {
            inode.bytes = bytes.to_vec();
            inode.version = version;
            (inode.modified_at, inode.changed_at) = (now, now);
        }
    }

    pub(crate) fn path(folder: &str, name: impl AsRef<Path>) -> PathBuf {
        Path::new(folder).join(name)
    }
}

/// Returns the folders of the world, on up to three file systems.
fn disks(rng: &mut Rng, mount: Mount) -> Files {
    let mut files = Files::default();
    files.mounts.insert(1, mount);
    let tmp = if rng.happens(500) { 2 } else { 1 };
    let state = if rng.happens(400) { 3 } else { 1 };
    let home = [
        "/home/dev", "/home/dev/.claude/sessions", "/home/dev/.claude/daemon", "/home/dev/.maia",
        "/home/dev/.claude-sessions",
    ];
    let repo = [
        "/home/dev/shop",
        "/home/dev/shop/.git",
        "/home/dev/shop/.git/entire-sessions",
        "/home/dev/shop/.git/entire-session-locks",
        "/home/dev/shop/.claude/session-identity",
        "/home/dev/shop/.claude/pids",
    ];
    for folder in home.into_iter().chain(repo) {
        files.add_folder(folder, 1);
    }
    if rng.happens(800) {
        files.add_folder("/home/dev/.maia/sessions", 1);
    }
    files.add_folder("/tmp", tmp);
    files.add_folder("/state", state);
    files
}
