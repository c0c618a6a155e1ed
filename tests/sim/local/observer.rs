//! How a claimtop looks at the world: through the real parsers, records first.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, OnceLock};

use claimtop::core::assess::Policy;
use claimtop::core::judge::window::agent::{Role, Signatures};
use claimtop::core::model::{
    Content, Credentials, Descent, FileImage, Format, Host, InnerPids, LeftOver, Notes, Process, ProcessId,
    ProcessState, ProcessTable, Repo, Report, SeenAgent, Snapshot, Untrusted, Worktree,
};
use claimtop::testing::act::Look;
use claimtop::testing::core::{
    INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE, TombstoneKeeper, ended, merged, merged_descents, to_keep,
};
use claimtop::testing::format::{self, FileContents, FileKind, Reading};
use claimtop::testing::source::Descents;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};

use crate::local::files::Belief;
use crate::local::scheduler::Scheduler;
use crate::local::world::{REPO, World};
use crate::local::{texts, traces};

/// How well a claimtop sees; all but the first are controls that must be detected.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ScanMode {
    /// It lists every process.
    Whole,
    /// It lacks some, always the same, and believes that its list is complete.
    Lacking,
    /// It believes that processes of which too little could be read are gone: it judges absence without churn.
    Careless,
    /// It has wrong beliefs about file systems.
    WrongMount(Belief),
    /// It takes the traces of processes for a proof.
    Credulous(Credit),
}

/// What a claimtop wrongly takes for a proof.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Credit {
    /// That a process has no parent window: it believes that the window is dead.
    Orphans,
    /// The contents of an environment, wherever it was handed on.
    Environments,
    /// That a PID still belongs to the process that was seen below a window.
    Numbers,
    /// That a process writes as its effective user alone.
    Users,
    /// That a number is unused if no process has it, though a group has.
    Groups,
    /// That no roster of background sessions could be read: it takes that for an empty one.
    NoRoster,
}

pub(crate) struct SimObserver {
    scheduler: Arc<Scheduler>,
    me: usize,
    scan_mode: ScanMode,
    ledger: TombstoneKeeper,
    seen: BTreeMap<ProcessId, Timestamp>,
    /// The machine's uptime when it last listed the processes.
    listed_at: SignedDuration,
    descents: Descents,
    /// The processes that it knows only from kept descents to have run below a window.
    recalled: BTreeSet<ProcessId>,
}

static POLICY: OnceLock<Policy> = OnceLock::new();

pub(crate) fn policy() -> &'static Policy {
    POLICY.get_or_init(|| Policy { signatures: Signatures::built_in().unwrap() })
}

impl SimObserver {
    pub(crate) fn new(scheduler: Arc<Scheduler>, me: usize, scan_mode: ScanMode) -> Self {
        Self {
            scheduler,
            me,
            scan_mode,
            ledger: TombstoneKeeper::default(),
            seen: BTreeMap::new(),
            listed_at: SignedDuration::ZERO,
            descents: Descents::default(),
            recalled: BTreeSet::new(),
        }
    }

    /// Returns the claimtop of this observer.
    pub(crate) fn me(&self) -> usize {
        self.me
    }

    fn records(&self) -> Snapshot {
        let me = self.me;
        self.scheduler.step(me, |world| {
            world.note(|| format!("claimtop {me}: reads the records"));
            records(world)
        })
    }

    fn processes(&self) -> (ProcessTable, Timestamp) {
        let me = self.me;
        self.scheduler.step(me, |world| {
            world.note(|| format!("claimtop {me}: lists the processes"));
            (processes(world), world.now())
        })
    }

    /// Remembers the proven dead, as all claimtops of a home do in one file.
    pub(crate) fn learn(&mut self, snapshot: &Snapshot, report: &Report) {
        let lesson = self.ledger.learn(snapshot, report);
        self.scheduler.with(|world| {
            let stones = merged(std::mem::take(&mut world.stones), &lesson.learnt).into_iter();
            world.stones = stones.filter(|stone| !lesson.refuted.contains(&stone.id)).collect();
            lesson.learnt.iter().for_each(|_| world.tally.count("tombstones"));
            lesson.refuted.iter().for_each(|_| world.tally.count("tombstones refuted"));
            let new = self.descents.read(|seen| to_keep(seen, &world.descents, snapshot));
            new.iter().for_each(|_| world.tally.count("descents kept"));
            // As the file, which is written only if there is something new.
            if !new.is_empty() {
                let ended = ended(&world.descents, snapshot);
                world.descents.retain(|one| !ended.contains(&one.id));
                world.descents = merged_descents(std::mem::take(&mut world.descents), &new);
            }
        });
    }

    /// Lets the oracle see the offers.
    pub(crate) fn check_offers(&self, report: &Report) {
        self.scheduler.with(|world| {
            let rests_on_it = |one: &&LeftOver| {
                let id = ProcessId { pid: one.pid, start_ticks: one.start_ticks };
                let is_seen = one.evidence.iter().any(|evidence| evidence.fact == "seen".into());
                one.may_be_ended() && is_seen && self.recalled.contains(&id)
            };
            for one in report.left_overs.iter().filter(rests_on_it) {
                world.tally.count(format!("by a kept descent: {}", one.certainty.name()));
            }
            crate::local::whose::check_offers(world, report, self.listed_at);
        });
    }

    /// Takes over the descents that earlier claimtops have seen.
    fn recall(&mut self, kept: &[Descent], snapshot: &Snapshot) {
        let known: BTreeSet<ProcessId> = self.descents.read(|seen| seen.keys().copied().collect());
        let table = &snapshot.processes;
        let mut kept = kept.to_vec();
        if self.scan_mode == ScanMode::Credulous(Credit::Numbers) {
            kept.iter_mut().for_each(|one| one.id = table.get(one.id.pid).map_or(one.id, |heir| heir.id));
        }
        self.descents.recall(&kept, &snapshot.host, table);
        let all: BTreeSet<ProcessId> = self.descents.read(|seen| seen.keys().copied().collect());
        self.recalled.extend(all.difference(&known));
    }

    /// Records which agents were seen alive, as the collector does.
    fn remember(&mut self, snapshot: &mut Snapshot, listed_at: Timestamp) {
        for process in snapshot.processes.by_pid.values() {
            let role = policy().signatures.classify(process).map(|(_, role)| role);
            if role == Some(Role::Agent) && !claimtop::testing::core::has_exited(process) {
                self.seen.insert(process.id, listed_at);
            }
        }
        let seen =
            self.seen.iter().map(|(id, at)| SeenAgent { id: *id, last_seen_at: *at, registered_at: None });
        snapshot.seen_agents = seen.collect();
    }
}

impl Look for SimObserver {
    fn look(&mut self) -> Snapshot {
        let mut snapshot = self.records();
        let listed_at;
        (snapshot.processes, listed_at) = self.processes();
        let table = &mut snapshot.processes;
        match self.scan_mode {
            ScanMode::Credulous(Credit::NoRoster) => {
                use claimtop::core::model::{ClaudeCode, RecordDetail};
                let is_roster = |detail: &RecordDetail| {
                    matches!(detail, RecordDetail::ClaudeCode(ClaudeCode::Roster { .. }))
                };
                snapshot.records.retain(|record| !is_roster(&record.detail));
                let is_daemons = |pid: &u32| {
                    let details = table.by_pid.get(pid).and_then(|process| process.details.as_ref());
                    let argument = details.and_then(|details| details.argv.get(1));
                    argument.is_some_and(|argument| {
                        argument.raw() == "daemon" || argument.raw().starts_with("--bg")
                    })
                };
                let daemons: Vec<u32> = table.listed.iter().copied().filter(is_daemons).collect();
                table.by_pid.retain(|pid, _| !daemons.contains(pid));
                table.listed.retain(|pid| !daemons.contains(pid));
            }
            ScanMode::Credulous(Credit::Users) => {
                for details in table.by_pid.values_mut().filter_map(|process| process.details.as_mut()) {
                    let users = details.uid.into_iter().cycle().take(4).collect();
                    details.credentials = Some(Credentials { users, ..Credentials::default() });
                }
            }
            ScanMode::Credulous(Credit::Groups) => {
                table.by_pid.values_mut().for_each(|process| {
                    (process.group, process.session) = (process.id.pid, process.id.pid);
                });
            }
            ScanMode::Whole | ScanMode::WrongMount(_) | ScanMode::Credulous(_) => {}
            ScanMode::Lacking => {
                table.listed.retain(|pid| !pid.is_multiple_of(3));
                table.by_pid.retain(|pid, _| !pid.is_multiple_of(3));
            }
            ScanMode::Careless => {
                table.by_pid.retain(|_, process| process.inner_pids().is_some());
                table.listed = table.by_pid.keys().copied().collect();
            }
        }
        self.listed_at = self.scheduler.with(|world| world.up_for());
        let scan_mode = self.scan_mode;
        if self.scheduler.with(|world| world.fault_model.background) {
            let kept = self.scheduler.with(|world| world.descents.clone());
            self.recall(&kept, &snapshot);
            self.scheduler
                .step(self.me, |world| traces::read(world, &mut snapshot, &self.descents, scan_mode));
        }
        self.remember(&mut snapshot, listed_at);
        // The reading that dates a look also shows how far the clock was set at that time.
        (snapshot.taken_at, snapshot.host.clock_doubt) =
            self.scheduler.with(|world| (world.now(), world.clock_doubt));
        snapshot
    }

    fn policy(&self) -> &Policy {
        policy()
    }

    fn now(&self) -> Timestamp {
        self.scheduler.with(|world| world.now())
    }
}

fn processes(world: &mut World) -> ProcessTable {
    let mut table = world.processes.table(world.fault_model.visibility);
    if world.steps_left > 0 && world.rng.happens(world.fault_model.faults) {
        table.partial = Some("the scan was cut off".to_owned());
    }
    if world.fault_model.churn && world.steps_left > 0 {
        churn(world, &mut table);
    }
    table
}

/// Reads less of some processes, as while others come and go, and lists some of those.
fn churn(world: &mut World, table: &mut ProcessTable) {
    let mut unlucky: Vec<u32> = table.by_pid.keys().copied().collect();
    unlucky.retain(|_| world.rng.happens(150));
    for pid in unlucky {
        let how_much = world.rng.roll(3);
        if how_much == 0 {
            table.by_pid.remove(&pid);
        } else if let Some(process) = table.by_pid.get_mut(&pid) {
            (process.details, process.has_exited) = (None, None);
            if how_much == 1 {
                process.inner = InnerPids::Unread;
            }
        }
    }
    if world.rng.happens(300) {
        let pid = 90 + world.rng.roll(8) as u32;
        table.listed.insert(pid);
        table.by_pid.insert(pid, passer_by(pid, world.rng.happens(500)));
    }
}

/// Returns a process that has an agent's name, and of which nothing else was read in time.
fn passer_by(pid: u32, is_placed: bool) -> Process {
    Process {
        id: ProcessId { pid, start_ticks: 1 },
        parent: 1,
        state: ProcessState::Running,
        comm: "codex-code-mode".into(),
        tty: None,
        group: 0,
        session: pid,
        pidfd_inode: None,
        has_exited: None,
        inner: if is_placed { InnerPids::Read([].into()) } else { InnerPids::Unread },
        is_renamed: false,
        details: None,
    }
}

fn records(world: &mut World) -> Snapshot {
    let mut snapshot = Snapshot {
        taken_at: world.now(),
        host: host(world),
        processes: ProcessTable::default(),
        records: Vec::new(),
        broken: Vec::new(),
        databases: Vec::new(),
        repos: vec![repo()],
        sources: Vec::new(),
        seen_agents: Vec::new(),
        bound: Notes::default(),
        homes: Vec::new(),
        session_files: Vec::new(),
        tombstones: world.stones.clone().into(),
        unread_work: Vec::new(),
        unfinished: Vec::new(),
        git_commands: Vec::new(),
        call_waits: Vec::new(),
        forecasts: Vec::new(),
        plain_folders: Vec::new(),
        traces: Vec::new(),
        work: Vec::new(),
    };
    let mut images: Vec<(FileKind, FileImage)> = Vec::new();
    for (path, inode, _) in world.files.all() {
        if let Some((kind, image)) = kind_of(path).zip(world.files.image(path)) {
            let locked_by = world.locks.contains_key(&inode).then_some(2);
            images.push((kind, FileImage { locked_by, ..image }));
        }
    }
    let reading = Reading { host: &snapshot.host.clone(), now: snapshot.taken_at };
    for (kind, mut image) in images {
        if world.steps_left > 0 && world.rng.happens(world.fault_model.faults) {
            image.content = Content::Failed("input/output error".to_owned());
        }
        match format::read(kind, &image, &reading) {
            FileContents::Record(record) => snapshot.records.push(record),
            FileContents::Broken(broken) => snapshot.broken.push(broken),
            FileContents::Ignored => {}
        }
    }
    snapshot
}

fn kind_of(path: &Path) -> Option<FileKind> {
    let is_world = !path.starts_with("/state");
    Format::ALL.into_iter().filter(|_| is_world).find_map(|format| format::kind_at(format, path))
}

fn host(world: &mut World) -> Host {
    let clock = world.fault_model.visibility.clock;
    Host {
        name: texts::HOST.to_owned(),
        boot_id: Some(texts::BOOT.to_owned()),
        pid_namespace: Some(match world.fault_model.visibility.container {
            None => INITIAL_PID_NAMESPACE,
            Some(container) => texts::namespace_of(container),
        }),
        // By the clock of its own time namespace (time_namespaces(7)).
        boot_at: Some(world.booted_at() - SignedDuration::from_millis(10 * clock)),
        machine_id: Some(texts::MACHINE.to_owned()),
        time_namespace: Some(INITIAL_TIME_NAMESPACE + u64::from(clock != 0)),
        platform: Default::default(),
        up_by: None,
        clock: world.read_clock(),
        clock_doubt: world.clock_doubt,
        ticks_per_second: 100,
        uid: crate::local::files::USER,
        zone: TimeZone::UTC,
    }
}

fn repo() -> Repo {
    let tree = |path: &str, id: &str| Worktree {
        path: path.into(),
        id: id.to_owned(),
        branch: Some(Untrusted::fixed("main")),
        exists: true,
        ..Worktree::default()
    };
    Repo {
        common_dir: Path::new(REPO).join(".git"),
        worktrees: vec![tree(REPO, ""), tree("/home/dev/shop-b", "shop-b")],
        ..Repo::default()
    }
}
