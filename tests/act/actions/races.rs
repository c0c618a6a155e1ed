//! Races with real threads over real files. The naive ways are kept as controls: they must lose, which proves that the
//! tests can fail.
//!
//! A whole look scans all processes, and thousands of rounds would take long; here the observer reads the one file and
//! knows the one process. Everything else is the real code.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use claimtop::core::assess::{Policy, assess};
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Format, Host, Notes, ProcessTable, Snapshot};
use claimtop::testing::act::{
    ActionError, Answer, Disk, Look, Patience, Preview, Receipt, Rules, StateFolder, System,
};
use claimtop::testing::core::{Action, EndResult, INITIAL_PID_NAMESPACE, Request};
use claimtop::testing::format::{self, FileContents, Reading};
use claimtop::testing::source::{clock, host};
use jiff::{SignedDuration, Timestamp};

use crate::stage::Stage;

/// An observer of one folder without live processes, or whose registry always names PID 2.
struct Simple {
    files: Vec<PathBuf>,
    format: Format,
    host: Host,
    policy: Policy,
}

impl Simple {
    fn new(format: Format, files: &[&Path]) -> Self {
        let host = Host { pid_namespace: Some(INITIAL_PID_NAMESPACE), ..host::host(clock::now()) };
        let policy = Policy { signatures: Signatures::built_in().unwrap() };
        Self { files: files.iter().map(|path| path.to_path_buf()).collect(), format, host, policy }
    }
}

impl Look for Simple {
    fn look(&mut self) -> Snapshot {
        let now = clock::now();
        let mut snapshot = Snapshot {
            taken_at: now,
            host: self.host.clone(),
            processes: table(),
            records: Vec::new(),
            broken: Vec::new(),
            repos: Vec::new(),
            databases: Vec::new(),
            sources: Vec::new(),
            seen_agents: Vec::new(),
            bound: Notes::default(),
            homes: Vec::new(),
            session_files: Vec::new(),
            tombstones: Default::default(),
            unread_work: Vec::new(),
            unfinished: Vec::new(),
            git_commands: Vec::new(),
            call_waits: Vec::new(),
            forecasts: Vec::new(),
            plain_folders: Vec::new(),
            traces: Vec::new(),
            work: Vec::new(),
        };
        for path in &self.files {
            let folder = System.folder(path.parent().unwrap()).unwrap();
            let image = System.image((&folder, path.file_name().unwrap())).unwrap();
            let Some(mut image) = image else { continue };
            image.path = path.clone().into();
            let kind = format::kind_at(self.format, path).unwrap();
            if let FileContents::Record(record) =
                format::read(kind, &image, &Reading { host: &self.host, now })
            {
                snapshot.records.push(record);
            }
        }
        snapshot
    }

    fn policy(&self) -> &Policy {
        &self.policy
    }

    fn now(&self) -> Timestamp {
        clock::now()
    }
}

/// One process lives: PID 4,000,002, Claude Code, since tick 1,000.
fn table() -> ProcessTable {
    use claimtop::core::model::{Details, InnerPids, Process, ProcessId, ProcessState};
    let mut table = ProcessTable { listed: BTreeSet::from([LIVE]), ..ProcessTable::default() };
    let exe = "/opt/node_modules/@anthropic-ai/claude-code/bin/claude";
    let details = Details {
        uid: Some(rustix::process::geteuid().as_raw()),
        exe: Some(exe.into()),
        argv: vec!["claude".into()],
        ns_pids: vec![LIVE],
        ..Details::default()
    };
    let process = Process {
        id: ProcessId { pid: LIVE, start_ticks: 1_000 },
        parent: 1,
        state: ProcessState::Running,
        comm: "claude".into(),
        tty: None,
        group: 0,
        session: LIVE,
        pidfd_inode: None,
        has_exited: Some(false),
        inner: InnerPids::default(),
        is_renamed: false,
        details: Some(details),
    };
    table.by_pid.insert(LIVE, process);
    table
}

const LIVE: u32 = 4_000_002;

fn registry(pid: u32, round: u32) -> String {
    format!(
        r#"{{"pid":{pid},"sessionId":"95fe798d-3725-4649-974a-0dec79220193","procStart":"1000","round":{round}}}"#
    )
}

fn replace(path: &Path, text: &str) {
    let temp = path.with_extension("tmp");
    std::fs::write(&temp, text).unwrap();
    std::fs::rename(temp, path).unwrap();
}

/// Does the action step by step; the wait between one step and the next is the racer's chance.
fn act(
    state: &StateFolder<System>,
    observer: &mut Simple,
    rules: &Rules,
    action: Action,
    meet: &Barrier,
) -> Result<Receipt, ActionError> {
    let now = observer.now();
    let mut lock = state.lock(Patience::Wait, now)?;
    let snapshot = observer.look();
    let report = assess(&snapshot, observer.policy());
    let key = report.records.first().map(|record| record.key.clone());
    let Some(key) = key else {
        meet.wait();
        return Err(ActionError::Changed("it has gone".to_owned()));
    };
    let seen = Preview::look(&lock, &report, Request::Act { key, action }, rules, now);
    let confirmed = seen.and_then(|seen| seen.confirm(&Answer::Yes));
    meet.wait();
    confirmed?.verify(&mut lock, observer)?.execute(observer)
}

/// State folders: a new one every hundred rounds, so that no journal becomes long.
struct States {
    folder: tempfile::TempDir,
    rounds: AtomicU32,
}

impl States {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), rounds: AtomicU32::new(0) }
    }

    fn next(&self) -> StateFolder<System> {
        let round = self.rounds.fetch_add(1, Ordering::Relaxed);
        StateFolder::open(System, &self.folder.path().join((round / 100).to_string())).unwrap()
    }
}

/// Returns whether a renewal's text is in its place, or lies parked by an action that reports so.
fn survives(path: &Path, text: &str) -> bool {
    std::fs::read_to_string(path).is_ok_and(|there| there == text)
}

/// Releases a dead claim while a live one takes its place; returns how many live claims are lost. In each 400th round
/// the live one comes only after the release, however slow this machine is.
fn release_against_renewal(rounds: u32, mut release: impl FnMut(&Path, &Barrier)) -> u32 {
    let stage = Stage::new();
    let path = stage.path("home/.claude/sessions/4000001.json");
    let mut lost = 0;
    for round in 0..rounds {
        replace(&path, &registry(4_000_001, round));
        let renewed = registry(LIVE, round);
        let (meet, has_ended) = (Barrier::new(2), Barrier::new(2));
        std::thread::scope(|scope| {
            scope.spawn(|| {
                meet.wait();
                // A little later each round, over the whole duration of a release.
                for _ in 0..(round % 400) * 20 {
                    std::hint::spin_loop();
                }
                if round % 400 == 399 {
                    has_ended.wait();
                }
                replace(&path, &renewed);
                if round % 400 != 399 {
                    has_ended.wait();
                }
            });
            release(&path, &meet);
            has_ended.wait();
        });
        if !survives(&path, &renewed) {
            lost += 1;
        }
    }
    lost
}

#[test]
fn a_renewed_claim_is_never_released() {
    let states = States::new();
    let uid = rustix::process::geteuid().as_raw();
    let rules =
        Rules { home: "/".into(), uid, programs: Vec::new(), settled_for: SignedDuration::from_secs(-1) };
    let (mut done, mut changed) = (0, 0);
    let lost = release_against_renewal(4_000, |path, meet| {
        let mut observer = Simple::new(Format::ClaudeCode, &[path]);
        match act(&states.next(), &mut observer, &rules, Action::Release, meet) {
            Ok(receipt) if receipt.outcome.ended == EndResult::Done => done += 1,
            Ok(_) | Err(_) => changed += 1,
        }
    });
    eprintln!("4,000 rounds: {done} released before the renewal, {changed} refused, {lost} lost");
    assert_eq!(lost, 0);
    assert!(done > 0 && changed > 0, "the race is not close: {done} and {changed}");
}

#[test]
fn a_naive_release_loses_renewed_claims() {
    let lost = release_against_renewal(4_000, |path, meet| {
        meet.wait();
        let text = std::fs::read_to_string(path).unwrap();
        if text.contains("4000001") {
            std::fs::remove_file(path).unwrap();
        }
    });
    eprintln!("naive: {lost} of 4,000 lost");
    assert!(lost > 0, "the test has no teeth");
}

/// Lets two racers each move a legacy file of their own to one new name; returns how many rounds had two winners, or
/// lost a byte.
fn two_migrators(rounds: u32, migrate: impl Fn(&Stage, &Path, usize, &Barrier) -> bool + Sync) -> (u32, u32) {
    let stage = Stage::new();
    let (mut double, mut lost) = (0, 0);
    let new = stage.path(&format!("home/.maia/sessions/swarm_session_{LIVE}.json"));
    let olds = [
        stage.path(&format!("tmp/maia_active_swarm_session_{LIVE}.json")),
        stage.path(&format!("tmp/maia_active_swarm_session_context_{LIVE}.json")),
    ];
    for round in 0..rounds {
        let text = |who: usize| format!(r#"{{"current_agent":"agent_{who}","round":{round}}}"#);
        if new.exists() {
            std::fs::remove_file(&new).unwrap();
        }
        olds.iter().enumerate().for_each(|(who, old)| replace(old, &text(who)));
        let meet = Barrier::new(2);
        let won: Vec<bool> = std::thread::scope(|scope| {
            let racers: Vec<_> = olds
                .iter()
                .enumerate()
                .map(|(who, old)| {
                    let (stage, meet, migrate) = (&stage, &meet, &migrate);
                    scope.spawn(move || migrate(stage, old, who, meet))
                })
                .collect();
            racers.into_iter().map(|racer| racer.join().unwrap()).collect()
        });
        double += u32::from(won.iter().all(|won| *won));
        let places: Vec<&PathBuf> = olds.iter().chain([&new]).collect();
        let is_there = |who| places.iter().any(|place| survives(place, &text(who)));
        lost += u32::from(!(is_there(0) && is_there(1)));
    }
    (double, lost)
}

#[test]
fn of_two_migrators_one_wins_and_nothing_is_lost() {
    // One for each: with a common lock they would never meet.
    let states = [States::new(), States::new()];
    let uid = rustix::process::geteuid().as_raw();
    let wins = AtomicBool::new(false);
    let (double, lost) = two_migrators(3_000, |stage, old, who, meet| {
        let rules = Rules {
            home: stage.path("home"),
            uid,
            programs: Vec::new(),
            settled_for: SignedDuration::from_secs(-1),
        };
        let mut observer = Simple::new(Format::Maia, &[old]);
        let state = states.get(who).unwrap().next();
        let won = act(&state, &mut observer, &rules, Action::Migrate, meet)
            .is_ok_and(|receipt| receipt.outcome.ended == EndResult::Done);
        wins.fetch_or(won, Ordering::Relaxed);
        won
    });
    eprintln!("3,000 rounds of two migrators: {double} double winners, {lost} lost");
    assert_eq!((double, lost), (0, 0));
    assert!(wins.load(Ordering::Relaxed), "nobody ever won");
}

#[test]
fn two_naive_migrators_lose_files() {
    let (double, lost) = two_migrators(3_000, |stage, old, _, meet| {
        let new = stage.path(&format!("home/.maia/sessions/swarm_session_{LIVE}.json"));
        meet.wait();
        if new.exists() {
            return false;
        }
        std::fs::rename(old, new).is_ok()
    });
    eprintln!("naive: {double} of 3,000 rounds had two winners, {lost} lost a file");
    assert!(double > 0 && lost > 0, "the test has no teeth");
}

#[test]
fn two_claimtops_never_both_release_one_thing() {
    let stage = Stage::new();
    let path = stage.path("home/.claude/sessions/4000001.json");
    let state_folder = tempfile::tempdir().unwrap();
    let uid = rustix::process::geteuid().as_raw();
    let rules =
        Rules { home: "/".into(), uid, programs: Vec::new(), settled_for: SignedDuration::from_secs(-1) };
    for round in 0..200 {
        replace(&path, &registry(4_000_001, round));
        let done: usize = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..2)
                .map(|_| {
                    scope.spawn(|| {
                        let state = StateFolder::open(System, state_folder.path()).unwrap();
                        let mut observer = Simple::new(Format::ClaudeCode, &[&path]);
                        act(&state, &mut observer, &rules, Action::Release, &Barrier::new(1))
                            .is_ok_and(|receipt| receipt.outcome.ended == EndResult::Done)
                    })
                })
                .collect();
            racers.into_iter().map(|racer| usize::from(racer.join().unwrap())).sum()
        });
        assert_eq!(done, 1, "round {round}");
    }
}
