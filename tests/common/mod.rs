//! Worlds in TOML: processes and files in, verdicts, claims and findings out.
//!
//! A world is made in memory, but its files go through the same name patterns and parsers as
//! real ones. Times may be absolute or spans such as `5 min ago`.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::disallowed_methods,
    clippy::indexing_slicing,
    reason = "test support says by panicking what is wrong"
)]

mod bindings;
mod descents;
pub(crate) mod expect;
mod files;
pub(crate) mod forget;
mod homes;
mod leo;
mod plans;
mod processes;
mod rows;
mod spec;
mod stores;
mod stories;

use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, LazyLock, OnceLock};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{
    CallWait, ClockHistory, ClockReading, Forecast, GitCaller, GitCommand, Host, LockHold, Multiplexer,
    Origin, Platform, Port, ProcessId, Reason, Report, SeenAgent, SeenBelow, Snapshot, Tombstone, Trace,
    UnfinishedAction, WaitSort,
};
use claimtop::testing::core::{Action, merged, settle};
use claimtop::testing::format::git_command;
use jiff::{SignedDuration, Span, Timestamp, Zoned, tz::TimeZone};
use serde::Deserialize;

use self::expect::Expect;
use self::files::absolute;
use self::rows::{DatabaseSpec, RowSpec};
use self::spec::{
    BindingSpec, CallWaitSpec, DescentSpec, FileSpec, GitCommandSpec, HostSpec, ProcessSpec, RepoSpec,
    SeenSpec, SessionFileSpec, SourceSpec, TombstoneSpec, TraceSpec, UnfinishedSpec, WorkSpec,
};

/// One world.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct WorldFile {
    /// The world's subject.
    pub(crate) title: String,
    #[serde(default)]
    host: HostSpec,
    /// Descriptions of a person's own formats, in TOML.
    #[serde(default)]
    format: Vec<String>,
    #[serde(default)]
    process: Vec<ProcessSpec>,
    #[serde(default)]
    file: Vec<FileSpec>,
    #[serde(default)]
    row: Vec<RowSpec>,
    #[serde(default)]
    database: Vec<DatabaseSpec>,
    #[serde(default)]
    postgres: leo::PostgresSpec,
    #[serde(default)]
    repo: Vec<RepoSpec>,
    #[serde(default)]
    seen_agent: Vec<SeenSpec>,
    #[serde(default)]
    binding: Vec<BindingSpec>,
    /// The context sizes of sessions.
    #[serde(default)]
    context_size: std::collections::BTreeMap<String, u64>,
    #[serde(default)]
    session_file: Vec<SessionFileSpec>,
    #[serde(default)]
    work: Vec<WorkSpec>,
    #[serde(default)]
    tombstone: Vec<TombstoneSpec>,
    #[serde(default)]
    descent: Vec<DescentSpec>,
    #[serde(default)]
    trace: Vec<TraceSpec>,
    #[serde(default)]
    source: Vec<SourceSpec>,
    #[serde(default)]
    unfinished: Vec<UnfinishedSpec>,
    #[serde(default)]
    git_command: Vec<GitCommandSpec>,
    #[serde(default)]
    call_wait: Vec<CallWaitSpec>,
    /// As the recording has them.
    #[serde(default)]
    forecast: Vec<Forecast>,
    /// The expected results.
    pub(crate) expect: Expect,
}

const TICKS: u64 = 100;

/// A world in its file: parsed once, and judged at most once in a test program.
pub(crate) struct Case {
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    pub(crate) world: WorldFile,
    snapshot: OnceLock<Snapshot>,
    report: OnceLock<Report>,
}

impl Case {
    /// Reads a world.
    pub(crate) fn read(path: PathBuf) -> Self {
        let text =
            std::fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let world = parse(&text, &path.display().to_string());
        Self { path, text, world, snapshot: OnceLock::new(), report: OnceLock::new() }
    }

    /// Returns the world's snapshot.
    pub(crate) fn snapshot(&self) -> &Snapshot {
        self.snapshot.get_or_init(|| self.world.snapshot())
    }

    /// Returns the report of the world.
    pub(crate) fn report(&self) -> &Report {
        self.report.get_or_init(|| assess(self.snapshot(), policy()))
    }
}

/// Returns every world below `tests/cases`, sorted by path.
pub(crate) fn cases() -> &'static [Case] {
    static CASES: LazyLock<Vec<Case>> = LazyLock::new(|| paths().into_iter().map(Case::read).collect());
    &CASES
}

/// Returns the policy by which every world is judged.
pub(crate) fn policy() -> &'static Policy {
    static POLICY: LazyLock<Policy> =
        LazyLock::new(|| Policy { signatures: Signatures::built_in().expect("signatures") });
    &POLICY
}

fn paths() -> Vec<PathBuf> {
    fn walk(folder: &Path, out: &mut Vec<PathBuf>) {
        for entry in std::fs::read_dir(folder).expect("a folder of worlds") {
            let path = entry.expect("a world").path();
            if path.is_dir() { walk(&path, out) } else { out.push(path) }
        }
    }
    let mut all = Vec::new();
    walk(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cases"), &mut all);
    all.retain(|path| path.extension().is_some_and(|ext| ext == "toml"));
    all.sort();
    all
}

/// Reads a world.
pub(crate) fn load(path: &Path) -> WorldFile {
    Case::read(path.to_owned()).world
}

/// Reads a world from a text, with its origin for messages.
pub(crate) fn parse(text: &str, from: &str) -> WorldFile {
    toml::from_str(text).unwrap_or_else(|error| panic!("{from}: {error}"))
}

impl WorldFile {
    fn now(&self) -> Timestamp {
        self.host.now.parse().expect("host.now is an instant")
    }

    fn at(&self, text: &str) -> Timestamp {
        if let Ok(at) = text.parse() {
            return at;
        }
        let span: Span = text.parse().unwrap_or_else(|error| panic!("{text}: {error}"));
        let now = Zoned::new(self.now(), TimeZone::UTC);
        now.checked_add(span).expect("a time").timestamp()
    }

    fn booted_at(&self) -> Timestamp {
        self.at(&self.host.booted)
    }

    /// Returns the start of a process in ticks.
    fn ticks(&self, started: &str) -> u64 {
        if let Some(ticks) = started.strip_prefix("tick ") {
            return ticks.parse().expect("a tick");
        }
        let (zero, a_second) = match self.host.platform {
            Platform::MacOs => (Timestamp::UNIX_EPOCH, 1_000_000),
            Platform::Linux | Platform::Other => (self.booted_at(), TICKS),
        };
        let micros = self.at(started).duration_since(zero).as_micros();
        u64::try_from(micros).expect("started after boot") / (1_000_000 / a_second)
    }

    fn tombstone(&self, spec: &TombstoneSpec) -> Tombstone {
        Tombstone {
            id: ProcessId { pid: spec.pid, start_ticks: self.ticks(&spec.started) },
            pidfd_inode: None,
            host: self.host.name.as_str().into(),
            boot_id: spec.boot_id.as_deref().unwrap_or(&self.host.boot_id).into(),
            pid_namespace: spec.pid_namespace.unwrap_or(self.host.pid_namespace),
            time_namespace: spec.time_namespace.unwrap_or(self.host.time_namespace),
            session_id: spec.session.as_deref().map(Into::into),
            name: spec.name.as_deref().map(Into::into),
            seen_alive_at: spec.seen_alive.as_deref().map(|at| self.at(at)),
            proven_at: self.at(&spec.proven),
            proven_tick: spec.proven_tick.as_deref().map(|at| self.ticks(at)),
            reason: Reason::NoProcess,
        }
    }

    fn unfinished(&self, spec: &UnfinishedSpec) -> UnfinishedAction {
        UnfinishedAction {
            entry: spec.entry,
            action: Action::Park,
            title: spec.title.as_str().into(),
            began_at: self.at(&spec.began),
            end: spec.end,
            missing: spec.missing.iter().map(|path| path.as_str().into()).collect(),
        }
    }

    fn call_wait(&self, spec: &CallWaitSpec) -> CallWait {
        let process = |pid: u32| {
            let process = self.process.iter().find(|process| process.pid == pid).expect("its process");
            let command = match process.argv.is_empty() {
                true => process.name.clone(),
                false => process.argv.join(" "),
            };
            (ProcessId { pid, start_ticks: self.ticks(&process.started) }, command.into())
        };
        let wait = match (&spec.terminal, &spec.pipe, &spec.lock) {
            (Some(name), ..) => WaitSort::Terminal(name.as_str().into()),
            (_, Some(writers), _) => WaitSort::Pipe(writers.clone()),
            (.., Some(lock)) => {
                let (holder, command) = process(lock.holder);
                let path = Some(lock.path.as_str().into());
                WaitSort::Lock(LockHold { path, holder, command, taken_by: lock.taken_by })
            }
            _ if spec.output => WaitSort::Output,
            _ if spec.stopped => WaitSort::Stopped,
            _ => {
                assert!(spec.child, "it waits for something");
                WaitSort::Child
            }
        };
        let (id, command) = process(spec.pid);
        CallWait { agent: process(spec.agent).0, process: id, command, wait }
    }

    fn git_command(&self, spec: &GitCommandSpec) -> GitCommand {
        let at = self.at(&spec.at);
        let name = |pid: u32| format!("{}-H00000000-P{pid:08x}", at.strftime("%Y%m%dT%H%M%S.%6fZ"));
        let own = name(spec.pid);
        let sid = spec.below.map_or_else(|| own.clone(), |above| format!("{}/{own}", name(above)));
        let mode = spec.mode.as_deref().map_or(String::new(), |mode| {
            format!("{{\"event\":\"cmd_mode\",\"sid\":{sid:?},\"name\":{mode:?}}}\n")
        });
        let (tree, ended) = (&spec.tree, self.at(spec.ended.as_deref().unwrap_or(&spec.at)));
        let (argv, above) = (format!("{:?}", spec.argv), format!("{:?}", spec.above));
        let text = format!(
            "{{\"event\":\"start\",\"sid\":{sid:?},\"time\":\"{at}\",\"argv\":{argv}}}\n\
             {{\"event\":\"cmd_ancestry\",\"sid\":{sid:?},\"ancestry\":{above}}}\n\
             {{\"event\":\"def_repo\",\"sid\":{sid:?},\"worktree\":{tree:?}}}\n{mode}\
             {{\"event\":\"atexit\",\"sid\":{sid:?},\"time\":\"{ended}\",\"code\":0}}\n"
        );
        let mut command = git_command(&own, text.as_bytes()).expect("a git command that changes something");
        let process = |pid, started: &str| ProcessId { pid, start_ticks: self.ticks(started) };
        command.caller = (!spec.not_seen).then(|| GitCaller {
            boot_id: spec.boot_id.as_deref().unwrap_or(&self.host.boot_id).into(),
            process: process(spec.pid, &spec.at),
            window: spec.window.as_ref().map(|(pid, started)| SeenBelow {
                id: process(*pid, started),
                agent: spec::claude_code().as_str().into(),
            }),
        });
        command
    }

    fn trace(&self, spec: &TraceSpec) -> Trace {
        let process = self.process.iter().find(|process| process.pid == spec.pid).expect("its process");
        let argv: Vec<_> = process.argv.iter().map(|argument| argument.as_str().into()).collect();
        Trace {
            id: ProcessId { pid: spec.pid, start_ticks: self.ticks(&process.started) },
            group: spec.group.unwrap_or(spec.pid),
            server: spec.server.as_deref().map(Into::into).or_else(|| self.server(&argv)),
            argv,
            cwd: process.cwd.as_deref().map(Into::into),
            origin: (!spec.unread).then(|| Origin {
                agent: spec.window.map(|_| spec.agent.as_str().into()),
                pid: spec.window,
                session: spec.session.as_deref().map(Into::into),
                multiplexer: spec.tmux.map(Multiplexer::Server),
                is_unit: spec.unit,
            }),
            tasks: spec.tasks.iter().map(|session| session.as_str().into()).collect(),
            adopted_by: spec.adopted(),
            seen_below: spec.seen_below.iter().map(|seen| self.seen_below(seen)).collect(),
            memory: spec.memory,
            cpu_time: None,
            ports: spec
                .ports
                .iter()
                .map(|number| Port {
                    number: *number,
                    address: Ipv4Addr::LOCALHOST.into(),
                    clients: spec.clients,
                })
                .collect(),
            input: spec.input,
            hindrance: spec.hindrance(),
            interaction: spec.interaction(),
        }
    }

    fn seen_below(&self, pid: &u32) -> SeenBelow {
        let agent = self.seen_agent.iter().find(|agent| agent.pid == *pid).expect("that agent");
        let id = ProcessId { pid: *pid, start_ticks: self.ticks(&agent.started) };
        SeenBelow { id, agent: spec::claude_code().as_str().into() }
    }

    /// Returns the wall clock's readings in the course of the boot.
    fn clock(&self) -> ClockHistory {
        let set_by: SignedDuration = self.host.clock_set_by.parse().expect("a span");
        let stamp = match self.host.boot_stamp.as_deref() {
            Some("unknown") => None,
            Some(at) => Some(self.at(at)),
            None => Some(self.booted_at() - set_by),
        };
        let stamp = stamp.map(|boot_at| ClockReading { up_for: SignedDuration::ZERO, boot_at });
        let read = self.host.clock_read.iter().map(|(at, ahead)| {
            let ahead: SignedDuration = ahead.parse().expect("a span");
            let up_for = self.at(at).duration_since(self.booted_at());
            ClockReading { up_for, boot_at: self.booted_at() + ahead }
        });
        read.chain(stamp).collect()
    }

    /// Makes the snapshot.
    pub(crate) fn snapshot(&self) -> Snapshot {
        let zone = TimeZone::get(&self.host.zone).expect("a zone");
        let host = Host {
            name: self.host.name.clone(),
            platform: self.host.platform,
            up_by: self.host.up_by.as_deref().map(|at| self.at(at)),
            clock: self.clock(),
            boot_id: Some(self.host.boot_id.clone()),
            pid_namespace: Some(self.host.pid_namespace),
            boot_at: Some(self.booted_at()),
            machine_id: self.host.machine_id.clone(),
            time_namespace: Some(self.host.time_namespace),
            clock_doubt: self.host.clock_set_by.parse().expect("a span"),
            ticks_per_second: if self.host.platform == Platform::MacOs { 1_000_000 } else { TICKS },
            uid: self.host.uid,
            zone,
        };
        let mut snapshot = Snapshot {
            taken_at: self.now(),
            processes: self.table(),
            records: Vec::new(),
            broken: Vec::new(),
            repos: self.repo.iter().map(|spec| files::repo(spec, &self.process, &self.file)).collect(),
            databases: Vec::new(),
            sources: self.source.iter().map(SourceSpec::health).collect(),
            seen_agents: self
                .seen_agent
                .iter()
                .map(|seen| SeenAgent {
                    id: ProcessId { pid: seen.pid, start_ticks: self.ticks(&seen.started) },
                    last_seen_at: seen.until.as_deref().map_or(self.now(), |until| self.at(until)),
                    registered_at: seen.registered.as_deref().map(|at| self.at(at)),
                })
                .collect(),
            bound: self.notes(),
            homes: homes::of_records(),
            work: self.work.iter().map(|spec| Arc::new(self.work(spec))).collect(),
            unread_work: Vec::new(),
            unfinished: self.unfinished.iter().map(|spec| self.unfinished(spec)).collect(),
            git_commands: self.git_command.iter().map(|spec| self.git_command(spec)).collect(),
            call_waits: self.call_wait.iter().map(|spec| self.call_wait(spec)).collect(),
            forecasts: self.forecast.clone(),
            plain_folders: self.host.plain_folders.iter().map(|folder| folder.as_str().into()).collect(),
            traces: self.trace.iter().map(|spec| self.trace(spec)).collect(),
            session_files: self.session_file.iter().map(|spec| self.session_file(spec)).collect(),
            tombstones: merged(self.tombstone.iter().map(|spec| self.tombstone(spec)).collect(), &[]).into(),
            host,
        };
        descents::recall(self, &snapshot.host, &snapshot.processes, &mut snapshot.traces);
        for file in &self.file {
            self.read_file(file, &mut snapshot);
        }
        rows::read(self, &mut snapshot);
        leo::read(self, &mut snapshot);
        stores::read(self, &mut snapshot);
        settle(&mut snapshot);
        snapshot
    }

    /// Judges the world.
    pub(crate) fn report(&self) -> Report {
        assess(&self.snapshot(), policy())
    }
}
