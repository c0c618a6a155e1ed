//! Endings of real processes, which the tests start themselves and which no other program uses.

mod containers;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use claimtop::core::assess::Policy;
use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{
    Certainty, Hindrance, Interaction, Key, LeftOver, Port, ProcessId, ProcessPrint, Reason, Report,
    SeenAgent, Snapshot, Tombstone,
};
use claimtop::observe::Observer;
use claimtop::testing::act::{
    ActionError, Agent, Answer, Look, Machine, Patience, Preview, ProcessHandle, Processes, Receipt,
    StateFolder, System,
};
use claimtop::testing::core::{Confirmation, EndResult, Movement, Request, RestoreTo, Signal};
use jiff::{SignedDuration, Timestamp};

use crate::stage::{Stage, start_ticks};
use crate::{alone, may_force_reuse, rounds};

/// A tree of processes whose first process' parent was a window that has died; it is ended with this.
struct Left {
    /// Its starter, which stands for the window.
    window: u32,
    /// Its first process.
    pid: u32,
    /// Its home, which is used only here.
    home: PathBuf,
}

impl Left {
    /// Starts a line of shell from another one that ends at once, and waits until the line reports by a file that it
    /// is ready.
    fn by(stage: &Stage, line: &str) -> Self {
        let ready = stage.path("ready");
        let _ = std::fs::remove_file(&ready);
        let script = line.replace("READY", &format!(": >{}", ready.display()));
        let outer = format!("CLAUDE_PID=$$ /bin/sh -c '{script}' </dev/null >/dev/null 2>&1 & echo $$ $!");
        let mut shell = Command::new("setsid");
        shell.args(["--wait", "/bin/sh", "-c", &outer]).env_clear().env("HOME", stage.path("home"));
        shell
            .env("PATH", "/usr/bin:/bin")
            .env("MY_SECRET_TOKEN", "0xHUSHHUSH")
            .env("CLAUDE_CODE_SESSION_ID", "048d840c-ce95-46c1-9e3a-791d9f7aeaad")
            .current_dir(stage.path("home"));
        let output = String::from_utf8(shell.output().unwrap().stdout).unwrap();
        let pids: Vec<u32> = output.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        let left = Self { window: pids[0], pid: pids[1], home: stage.path("home") };
        let becomes = line.contains("READY; exec sleep");
        wait(|| ready.exists() && (!becomes || is_sleep(left.pid)));
        left
    }

    /// Starts a sleep from a shell that ends at once, below a process that adopts orphans.
    fn below_a_reaper(stage: &Stage, start: &str) -> (Self, Reaper) {
        let told = stage.path("home/told");
        let _ = std::fs::remove_file(&told);
        let outer = format!("CLAUDE_PID=$$ {start} sleep 623 & echo $$ $! >told.new; mv told.new told");
        let mut python = Command::new("/usr/bin/python3");
        stage.write("home/reaper.py", REAPER);
        stage.write("home/window.sh", &outer);
        python.arg("reaper.py").env_clear().env("HOME", stage.path("home"));
        python.env("CLAUDE_CODE_SESSION_ID", "048d840c-ce95-46c1-9e3a-791d9f7aeaad");
        python.env("PATH", "/usr/bin:/bin").current_dir(stage.path("home"));
        python.stdin(Stdio::null()).stdout(Stdio::null());
        let reaper = Reaper(python.spawn().unwrap());
        wait(|| told.exists());
        let told = std::fs::read_to_string(told).unwrap();
        let pids: Vec<u32> = told.split_whitespace().map(|pid| pid.parse().unwrap()).collect();
        let left = Self { window: pids[0], pid: pids[1], home: stage.path("home") };
        wait(|| is_sleep(left.pid) && parent(left.pid) == reaper.0.id() && !lives(left.window));
        (left, reaper)
    }

    fn id(&self) -> ProcessId {
        ProcessId { pid: self.pid, start_ticks: start_ticks(self.pid) }
    }
}

impl Drop for Left {
    fn drop(&mut self) {
        end_all(&self.home);
    }
}

/// Adopts the orphans below it, as `PR_SET_CHILD_SUBREAPER` of prctl(2) allows.
const REAPER: &str = r#"
import ctypes, subprocess, time
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
subprocess.run(["/bin/sh", "window.sh"], start_new_session=True)
time.sleep(623)
"#;

/// A child subreaper; it is ended with this.
struct Reaper(Child);

impl Drop for Reaper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Returns the PID of a process's parent.
fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let fields = stat.rsplit(") ").next().unwrap_or_default();
    fields.split(' ').nth(1).and_then(|parent| parent.parse().ok()).unwrap_or_default()
}

/// Ends every process that was started in this home, which is a test's own.
fn end_all(home: &Path) {
    let home = format!("HOME={}", home.display());
    for process in std::fs::read_dir("/proc").unwrap().flatten() {
        let environ = std::fs::read(process.path().join("environ")).unwrap_or_default();
        if environ.split(|byte| *byte == 0).any(|entry| entry == home.as_bytes()) {
            let pid = process.file_name().into_string().unwrap();
            Command::new("/bin/kill").args(["-9", &pid]).stderr(Stdio::null()).status().unwrap();
        }
    }
}

fn wait(mut is_so: impl FnMut() -> bool) {
    while !is_so() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// Returns the machine's uptime, in ticks of 10 ms.
fn ticks_up() -> u64 {
    let uptime = std::fs::read_to_string("/proc/uptime").unwrap();
    uptime.split_whitespace().next().unwrap().replace('.', "").parse().unwrap()
}

/// Returns whether a process has become `sleep`: it has the name before it has its environment.
fn is_sleep(pid: u32) -> bool {
    let read = |file| std::fs::read(format!("/proc/{pid}/{file}")).unwrap_or_default();
    read("comm") == b"sleep\n" && !read("environ").is_empty()
}

/// Returns whether a process runs this program.
fn runs(program: &Path) -> bool {
    let mut all = std::fs::read_dir("/proc").unwrap().flatten();
    all.any(|process| std::fs::read_link(process.path().join("exe")).is_ok_and(|exe| exe == program))
}

fn lives(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(") ").next().is_some_and(|rest| !rest.is_empty() && !rest.starts_with('Z'))
}

/// Looks as an observer that has seen the window live, and die long ago, five minutes from now.
struct Eyes {
    observer: Observer,
    window: u32,
    since: Timestamp,
}

/// Looks at all processes.
fn whole(stage: &Stage) -> Observer {
    Observer::new(stage.options(&[], &stage.path("tmp")))
}

impl Eyes {
    fn new(stage: &Stage, left: &Left) -> Self {
        let observer = whole(stage);
        let since = observer.now();
        Self { observer, window: left.window, since }
    }

    fn report(&mut self) -> Report {
        claimtop::core::assess::assess(&self.look(), self.policy())
    }
}

impl Look for Eyes {
    fn look(&mut self) -> Snapshot {
        let mut snapshot = self.observer.look();
        // A process that has just begun is never ended.
        snapshot.taken_at += SignedDuration::from_mins(5);
        let id = ProcessId { pid: self.window, start_ticks: 1 };
        snapshot.seen_agents.push(SeenAgent { id, last_seen_at: self.since, registered_at: None });
        let stone = Tombstone {
            id,
            pidfd_inode: None,
            host: snapshot.host.name.as_str().into(),
            boot_id: snapshot.host.boot_id.as_deref().unwrap_or_default().into(),
            pid_namespace: snapshot.host.pid_namespace.unwrap_or_default(),
            time_namespace: snapshot.host.time_namespace.unwrap_or_default(),
            session_id: None,
            name: None,
            seen_alive_at: None,
            proven_at: self.since,
            proven_tick: None,
            reason: Reason::NoProcess,
        };
        snapshot.tombstones = snapshot.tombstones.iter().cloned().chain([stone]).collect();
        snapshot
    }

    fn policy(&self) -> &Policy {
        self.observer.policy()
    }

    fn now(&self) -> Timestamp {
        self.observer.now()
    }
}

fn left_over(report: &Report, pid: u32) -> &LeftOver {
    report.left_overs.iter().find(|one| one.pid == pid).unwrap_or_else(|| panic!("{:?}", report.left_overs))
}

/// Everything about one left-over that is ended.
struct Scene {
    stage: Stage,
    state: StateFolder<System>,
    left: Left,
}

impl Scene {
    /// Starts a line of shell; `None` if orphans cannot be attributed here, because another process adopts them.
    fn new(line: &str) -> Option<Self> {
        Self::on(Stage::new(), line)
    }

    fn on(stage: Stage, line: &str) -> Option<Self> {
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let left = Left::by(&stage, line);
        let scene = Self { stage, state, left };
        let mut report = scene.eyes().report();
        if left_over(&report, scene.left.pid).certainty == Certainty::Unknown {
            eprintln!("skipped: it cannot be told here: {}", left_over(&report, scene.left.pid).why);
            return None;
        }
        // A look can meet a process that is just ending and can no longer be read.
        for _ in 0..20 {
            if left_over(&report, scene.left.pid).certainty == Certainty::Exact {
                return Some(scene);
            }
            report = scene.eyes().report();
        }
        panic!("{}", left_over(&report, scene.left.pid).why);
    }

    fn eyes(&self) -> Eyes {
        Eyes::new(&self.stage, &self.left)
    }

    fn request(&self, key: &Key, signal: Signal) -> Request {
        Request::Stop { key: key.clone(), signal }
    }

    fn seen(&self, eyes: &mut Eyes, signal: Signal) -> Result<Preview, ActionError> {
        let report = eyes.report();
        let key = left_over(&report, self.left.pid).key.clone();
        let lock = self.state.lock(Patience::Wait, eyes.now()).unwrap();
        Preview::look(&lock, &report, self.request(&key, signal), &self.stage.rules(), eyes.now())
    }

    /// Confirms a preview with the answer that it requires, and carries it out.
    fn done(&self, eyes: &mut Eyes, seen: Preview) -> Result<Receipt, ActionError> {
        let answer = Answer::Typed(seen.wanted().unwrap());
        let mut lock = self.state.lock(Patience::Wait, eyes.now()).unwrap();
        seen.confirm(&answer)?.verify(&mut lock, eyes)?.execute(eyes)
    }

    fn stop(&self, signal: Signal) -> Result<Receipt, ActionError> {
        let mut eyes = self.eyes();
        let seen = self.seen(&mut eyes, signal)?;
        self.done(&mut eyes, seen)
    }

    /// Does so again while a process below it is beginning or ending.
    fn stop_in_the_end(&self, signal: Signal) -> Receipt {
        loop {
            match self.stop(signal) {
                Err(ActionError::Changed(_)) => {}
                Err(ActionError::Never(why)) if is_momentary(&why) => {}
                Ok(receipt) if receipt.outcome.ended == EndResult::Changed => {}
                Ok(receipt) => return receipt,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Returns the live processes of its home.
    fn living(&self) -> Vec<u32> {
        let home = format!("HOME={}", self.left.home.display());
        let is_its = |pid: &u32| {
            let environ = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environ.split(|byte| *byte == 0).any(|entry| entry == home.as_bytes())
        };
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        pids.filter(is_its).filter(|pid| lives(*pid)).collect()
    }

    fn journal(&self) -> String {
        std::fs::read_to_string(self.stage.state_path().join("journal.jsonl")).unwrap_or_default()
    }
}

fn changed(done: Result<Receipt, ActionError>) -> String {
    match done {
        Err(ActionError::Changed(why)) => why,
        Ok(receipt) if receipt.outcome.ended == EndResult::Changed => receipt.outcome.detail,
        other => panic!("{other:?}"),
    }
}

const SERVER: &str = "/bin/sh -c \"READY; sleep 611; true\"; true";

/// Listens on a port of its own choice and prints it.
const LISTENER: &str = r#"
import os, socket, time
listener = socket.create_server(("127.0.0.1", 0))
with open("port.new", "w") as file:
    file.write(str(listener.getsockname()[1]))
os.rename("port.new", "port")
time.sleep(619)
"#;

#[test]
fn a_client_that_comes_asks_for_the_full_name_and_afterwards_the_port_is_free() {
    let _alone = alone();
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("skipped: there is no python3");
    }
    let stage = Stage::new();
    stage.write("home/listener.py", LISTENER);
    let Some(scene) = Scene::on(stage, "READY; /usr/bin/python3 listener.py; true") else { return };
    let told = scene.left.home.join("port");
    wait(|| told.exists());
    let port: u16 = std::fs::read_to_string(told).unwrap().parse().unwrap();
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    assert_eq!(seen.plan.confirmation, Confirmation::Code);
    let listens: Vec<u16> =
        seen.plan.tree.iter().flat_map(|one| &one.ports).map(|port| port.number).collect();
    assert_eq!(listens, [port]);
    let client = std::net::TcpStream::connect(("127.0.0.1", port)).unwrap();
    changed(scene.done(&mut eyes, seen));
    assert!(lives(scene.left.pid));
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    assert_eq!(seen.wanted(), Some(format!("sh {}", scene.left.pid)), "{:?}", seen.plan.why);
    let receipt = scene.done(&mut eyes, seen).unwrap();
    let expected = format!("2 processes have ended; port {port} is free");
    assert_eq!((receipt.outcome.ended, receipt.outcome.detail), (EndResult::Done, expected));
    drop(client);
}

#[test]
fn a_whole_tree_is_ended_by_its_code_and_no_secret_is_kept() {
    let _alone = alone();
    let Some(scene) = Scene::new(SERVER) else { return };
    wait(|| scene.living().len() == 3);
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    assert_eq!(seen.plan.confirmation, Confirmation::Code);
    assert_eq!((seen.plan.tree.len(), scene.living().len()), (3, 3), "{:?}", seen.plan);
    for answer in [Answer::Yes, Answer::Typed("aaaaaa".to_owned()), Answer::Typed(seen.plan.name.clone())] {
        assert!(matches!(seen.clone().confirm(&answer), Err(ActionError::NotConfirmed(_))));
    }
    let receipt = scene.done(&mut eyes, seen).unwrap();
    assert_eq!(
        (receipt.outcome.ended, receipt.outcome.detail.as_str()),
        (EndResult::Done, "3 processes have ended")
    );
    assert!(scene.living().is_empty());
    let journal = scene.journal();
    assert!(journal.contains("MY_SECRET_TOKEN") && !journal.contains("HUSH"), "{journal}");
    let history = scene.state.history().unwrap();
    assert!(
        matches!(&history.entries[0].intent.movements[..], [Movement::Stop { processes, .. }] if processes.len() == 3)
    );
    assert!(!history.entries[0].can_be_undone() && history.newest_undoable().is_none());
    let lock = scene.state.lock(Patience::Wait, eyes.now()).unwrap();
    let undo = Request::Undo { entry: 1, to: RestoreTo::Origin };
    let undone = Preview::look(&lock, &eyes.report(), undo, &scene.stage.rules(), eyes.now());
    assert!(undone.unwrap_err().to_string().contains("ended processes do not come back"));
}

#[test]
fn what_is_left_below_a_subreaper_is_told_and_ended_where_it_was_handed_over_for_certain() {
    let _alone = alone();
    if !Path::new("/usr/bin/python3").exists() {
        return eprintln!("skipped: there is no python3");
    }
    for (start, certainty) in [("", Certainty::Exact), ("setsid", Certainty::Guess)] {
        let stage = Stage::new();
        let (left, reaper) = Left::below_a_reaper(&stage, start);
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let scene = Scene { stage, state, left };
        let report = scene.eyes().report();
        let one = left_over(&report, scene.left.pid);
        if one.certainty == Certainty::Unknown {
            return eprintln!("skipped: it cannot be told here: {}", one.why);
        }
        assert_eq!((one.certainty, one.tree.len()), (certainty, 1), "{}", one.why);
        if certainty == Certainty::Exact {
            let receipt = scene.stop_in_the_end(Signal::Term);
            assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
        } else {
            assert!(one.why.contains("may have started it itself"), "{}", one.why);
            assert!(matches!(scene.seen(&mut scene.eyes(), Signal::Term), Err(ActionError::Never(_))));
            assert!(lives(scene.left.pid));
        }
        assert!(lives(reaper.0.id()));
    }
}

/// Looks at a window that runs this line, which becomes a sleep; then the window dies. Checks the certainty that this
/// gives for the sleep, and its reason.
fn check_seen_below(line: &str, certainty: Certainty, why: &str) {
    let stage = Stage::new();
    let program = stage.path("bin/@anthropic-ai/claude-code/claude");
    std::fs::remove_file(&program).unwrap();
    crate::program::copy("/bin/sh", program.clone());
    let told = stage.path("home/told");
    let script = format!("{line} </dev/null & echo $! >told.new; mv told.new told; read x");
    stage.write("home/window.sh", &script);
    let mut window = Command::new(&program);
    window.arg("window.sh").env_clear().env("HOME", stage.path("home")).current_dir(stage.path("home"));
    window.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::null());
    let mut window = window.spawn().unwrap();
    wait(|| told.exists());
    let pid: u32 = std::fs::read_to_string(&told).unwrap().trim().parse().unwrap();
    let left = Orphan(pid);
    wait(|| std::fs::read(format!("/proc/{pid}/comm")).unwrap() == b"sleep\n");
    // A process that started in the very tick of a look is not noted.
    wait(|| ticks_up() > start_ticks(pid) + 3);
    let mut observer = whole(&stage);
    let since = observer.now();
    let report = crate::stage::report(&mut observer);
    assert!(report.left_overs.is_empty(), "{:?}", report.left_overs);
    window.kill().unwrap();
    window.wait().unwrap();
    let mut eyes = Eyes { observer, window: window.id(), since };
    let report = eyes.report();
    let one = left_over(&report, pid);
    if one.certainty == Certainty::Unknown && certainty != Certainty::Unknown {
        return eprintln!("skipped: it cannot be told here: {}", one.why);
    }
    // Only the descent shows it, and an observer without it reports nothing.
    assert_eq!((one.certainty, one.window_pid), (certainty, Some(window.id())), "{}", one.why);
    assert!(one.why.contains(why), "{}", one.why);
    assert_eq!(one.command.raw(), "sleep 626");
    assert!(one.evidence.iter().any(|evidence| evidence.fact == "seen".into()), "{:?}", one.evidence);
    let report = Eyes { observer: whole(&stage), window: window.id(), since }.report();
    assert!(report.left_overs.iter().all(|one| one.pid != pid));
    assert!(lives(left.0));
}

#[test]
fn a_process_with_nothing_in_its_environment_is_its_windows_where_it_was_seen_below_it() {
    let _alone = alone();
    check_seen_below("env -i sleep 626", Certainty::Strong, "");
    if !rustix::process::getuid().is_root() {
        return eprintln!("skipped: only root starts processes of another user");
    }
    let other = "setpriv --reuid=65534 --regid=65534 --clear-groups sleep 626";
    check_seen_below(other, Certainty::Unknown, "its environment could not be read");
}

/// A process that is ended with this.
struct Orphan(u32);

impl Drop for Orphan {
    fn drop(&mut self) {
        Command::new("/bin/kill").args(["-9", &self.0.to_string()]).status().unwrap();
    }
}

#[test]
fn who_is_traced_or_has_a_lock_of_git_is_not_ended() {
    let _alone = alone();
    let lock = "mkdir .git; exec 7>.git/index.lock; READY; exec sleep 624";
    let traced = "/usr/bin/python3 -c \"import ctypes, time; ctypes.CDLL(None).ptrace(0, 0, 0, 0); \
        open(\\\"traced\\\", \\\"w\\\"); time.sleep(624)\" & while ! test -e traced; do :; done; READY; wait";
    for (line, why) in [(lock, "holds a git lock"), (traced, "is being traced by PID")] {
        if line == traced && !Path::new("/usr/bin/python3").exists() {
            return eprintln!("skipped: there is no python3");
        }
        let Some(scene) = Scene::new(line) else { return };
        let refused = scene.seen(&mut scene.eyes(), Signal::Term);
        let Err(ActionError::Never(refused)) = refused else { panic!("{refused:?}") };
        assert!(refused.contains(why), "{refused}");
        assert!(lives(scene.left.pid));
    }
}

#[test]
fn a_process_that_takes_a_lock_of_git_before_it_is_signalled_is_left_alone() {
    let _alone = alone();
    let line =
        "mkdir .git; mkfifo take stay; READY; read x <take; exec 7>.git/index.lock; : >taken; read x <stay";
    let Some(scene) = Scene::new(line) else { return };
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    std::fs::write(scene.left.home.join("take"), "\n").unwrap();
    wait(|| scene.left.home.join("taken").exists());
    let why = changed(scene.done(&mut eyes, seen));
    assert!(why.contains("holds a git lock"), "{why}");
    assert!(lives(scene.left.pid));
}

#[test]
fn whoever_does_not_end_is_told_and_killed_only_by_a_second_confirmation() {
    let _alone = alone();
    let Some(scene) = Scene::new("trap \"\" TERM; READY; while :; do sleep 0.2; done") else { return };
    let early = scene.seen(&mut scene.eyes(), Signal::Kill);
    assert!(matches!(early, Err(ActionError::Never(_))), "it was not asked to end yet: {early:?}");
    let first = at_rest(|| scene.seen(&mut scene.eyes(), Signal::Term)).code();
    let receipt = scene.stop_in_the_end(Signal::Term);
    assert_eq!(receipt.outcome.ended, EndResult::Partly, "{}", receipt.outcome.detail);
    assert!(
        receipt.outcome.detail.contains(&format!("PID {} ", scene.left.pid)),
        "{}",
        receipt.outcome.detail
    );
    assert!(lives(scene.left.pid));
    let history = scene.state.history().unwrap();
    assert_eq!(history.next_signal(scene.left.id()), Signal::Kill);
    assert_ne!(at_rest(|| scene.seen(&mut scene.eyes(), Signal::Kill)).code(), first);
    let receipt = scene.stop_in_the_end(Signal::Kill);
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    wait(|| scene.living().is_empty());
}

/// A process that starts a program is blocked in the kernel for a moment, and one that exits cannot be read.
fn is_momentary(why: &str) -> bool {
    why.contains("is blocked in the kernel")
        || why.contains("could not be read")
        || why.contains("could not read")
}

/// Looks until no process is in the middle of a start or an end, at most a thousand times.
fn at_rest<T>(mut look: impl FnMut() -> Result<T, ActionError>) -> T {
    for _ in 0..1_000 {
        match look() {
            Ok(seen) => return seen,
            // A process that is becoming another program shows no owner.
            Err(ActionError::Never(why))
                if is_momentary(&why) || why.contains("not a window or a left-over") => {}
            Err(error) => panic!("{error}"),
        }
    }
    panic!("it never comes to rest")
}

#[test]
fn a_loop_that_starts_processes_all_the_while_is_ended_with_them() {
    let _alone = alone();
    for _ in 0..10 {
        let Some(scene) = Scene::new("READY; while :; do sleep 0.01; done") else { return };
        // Between two rounds nothing runs below it, and then it differs from what was seen.
        while lives(scene.left.pid) {
            match scene.stop(Signal::Term) {
                Err(ActionError::Changed(_)) => {}
                Err(ActionError::Never(why)) if is_momentary(&why) => {}
                Ok(receipt) if receipt.outcome.ended == EndResult::Changed => {}
                Ok(receipt) => {
                    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail)
                }
                Err(error) => panic!("{error}"),
            }
        }
        wait(|| scene.living().is_empty());
    }
}

#[test]
fn what_has_become_another_program_since_is_refused() {
    let _alone = alone();
    let line = "trap \"exec sleep 612\" USR1; READY; while :; do sleep 0.1; done";
    let Some(scene) = Scene::new(line) else { return };
    let pid = scene.left.pid;
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    Command::new("/bin/kill").args(["-USR1", &pid.to_string()]).status().unwrap();
    wait(|| is_sleep(pid));
    changed(scene.done(&mut eyes, seen));
    assert!(lives(pid) && scene.journal().is_empty());
}

#[test]
fn what_runs_below_it_must_be_what_was_seen() {
    let _alone = alone();
    let line = "trap \"sleep 613 &\" USR1; READY; while :; do sleep 0.1; done";
    let Some(scene) = Scene::new(line) else { return };
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    Command::new("/bin/kill").args(["-USR1", &scene.left.pid.to_string()]).status().unwrap();
    let is_it =
        |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line == b"sleep\x00613\0");
    wait(|| scene.living().iter().any(is_it));
    changed(scene.done(&mut eyes, seen));
    assert!(lives(scene.left.pid));
}

#[test]
fn a_process_whose_window_is_alive_again_is_refused() {
    let _alone = alone();
    let Some(scene) = Scene::new("READY; exec sleep 614") else { return };
    let mut eyes = scene.eyes();
    let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
    // An observer that looks only now has not seen the window die: its death is no longer certain.
    let answer = Answer::Typed(seen.wanted().unwrap());
    let mut observer = whole(&scene.stage);
    let mut lock = scene.state.lock(Patience::Wait, eyes.now()).unwrap();
    let verified = seen.confirm(&answer).unwrap().verify(&mut lock, &mut observer);
    assert!(matches!(verified, Err(ActionError::Changed(_))));
    assert!(lives(scene.left.pid));
}

#[test]
fn a_tree_with_one_that_is_never_ended_stays_as_a_whole() {
    let _alone = alone();
    let stage = Stage::new();
    let claude = stage.path("bin/@anthropic-ai/claude-code/claude");
    crate::program::copy("/bin/sleep", stage.path("bin/tmux"));
    for program in [claude, stage.path("bin/tmux")] {
        let left = Left::by(&stage, &format!("READY; {} 615; true", program.display()));
        wait(|| runs(&program));
        let state = StateFolder::open(System, &stage.state_path()).unwrap();
        let mut eyes = Eyes::new(&stage, &left);
        let report = eyes.report();
        let Some(one) = report.left_overs.iter().find(|one| one.pid == left.pid) else { panic!("not told") };
        let request = Request::Stop { key: one.key.clone(), signal: Signal::Term };
        let lock = state.lock(Patience::Wait, eyes.now()).unwrap();
        let seen = Preview::look(&lock, &report, request, &stage.rules(), eyes.now());
        assert!(matches!(seen, Err(ActionError::Never(_))), "{}: {seen:?}", program.display());
        assert!(lives(left.pid));
    }
}

#[test]
fn an_ending_that_was_cut_off_is_told_and_signals_nobody() {
    let _alone = alone();
    let Some(scene) = Scene::new("READY; exec sleep 616") else { return };
    assert_eq!(scene.stop_in_the_end(Signal::Term).outcome.ended, EndResult::Done);
    let intent = scene.journal().lines().next().unwrap().to_owned();
    let Some(again) = Scene::new("READY; exec sleep 617") else { return };
    // As if the intent had been about the second one, and nothing had been written after it.
    let (old, new) = (scene.left.pid.to_string(), again.left.id());
    let ticks: u64 = {
        let at = intent.find("\"start_ticks\":").unwrap() + 14;
        intent[at..].split(',').next().unwrap().parse().unwrap()
    };
    let meant = intent.replace(&format!("\"pid\":{old}"), &format!("\"pid\":{}", new.pid));
    let meant = meant.replace(&ticks.to_string(), &new.start_ticks.to_string());
    std::fs::write(again.stage.state_path().join("journal.jsonl"), meant + "\n").unwrap();
    drop(again.state.lock(Patience::Wait, scene.eyes().now()).unwrap());
    let outcome = again.state.history().unwrap().entries[0].outcome.clone().unwrap();
    assert_eq!(outcome.ended, EndResult::Failed, "{}", outcome.detail);
    assert!(outcome.detail.contains("still running") && lives(new.pid), "{}", outcome.detail);
}

#[test]
fn a_living_window_is_no_left_over_and_ends_by_its_name_alone() {
    let _alone = alone();
    let stage = Stage::new();
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let agent = stage.agent();
    stage.register(agent.id(), start_ticks(agent.id()));
    let mut observer = whole(&stage);
    let report = crate::stage::report(&mut observer);
    assert!(report.left_overs.is_empty());
    let window = report.windows.iter().find(|window| window.pid == agent.id()).unwrap();
    let now = observer.now();
    let request = Request::Stop { key: window.key.clone(), signal: Signal::Term };
    let mut lock = state.lock(Patience::Wait, now).unwrap();
    let seen = Preview::look(&lock, &report, request, &stage.rules(), now).unwrap();
    let name = format!("alpha {}", agent.id());
    assert_eq!((seen.plan.confirmation.clone(), seen.wanted()), (Confirmation::FullName, Some(name.clone())));
    assert!(seen.clone().confirm(&Answer::Yes).is_err());
    assert!(seen.clone().confirm(&Answer::Typed(seen.code())).is_err());
    let receipt = seen.confirm(&Answer::Typed(name)).unwrap().verify(&mut lock, &mut observer).unwrap();
    let receipt = receipt.execute(&mut observer).unwrap();
    assert_eq!(receipt.outcome.ended, EndResult::Done, "{}", receipt.outcome.detail);
    assert!(receipt.outcome.detail.contains("claude --resume"), "{}", receipt.outcome.detail);
    assert!(!lives(agent.id()));
}

/// Acts once, right before a call.
struct Meddler {
    machine: Machine,
    call: usize,
    calls: Arc<AtomicUsize>,
    act: Arc<dyn Fn() + Send + Sync>,
}

impl Meddler {
    fn called(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.call {
            (self.act)();
        }
    }
}

impl Processes for Meddler {
    fn own_pid(&self) -> u32 {
        self.machine.own_pid()
    }

    fn parents(&self) -> Result<Vec<(ProcessId, u32)>, ActionError> {
        self.called();
        self.machine.parents()
    }

    fn print(&self, pid: u32) -> Option<ProcessPrint> {
        self.called();
        self.machine.print(pid)
    }

    fn agent(&self, id: ProcessId) -> Agent {
        self.called();
        self.machine.agent(id)
    }

    fn hindrance(&self, id: ProcessId) -> Option<Hindrance> {
        self.called();
        self.machine.hindrance(id)
    }

    fn interaction(&self, id: ProcessId) -> Option<Interaction> {
        self.called();
        self.machine.interaction(id)
    }

    fn ports(&self, those: &[ProcessId]) -> BTreeMap<ProcessId, Vec<Port>> {
        self.machine.ports(those)
    }

    fn listening(&self) -> Option<BTreeSet<u16>> {
        self.machine.listening()
    }

    fn hold(&self, pid: u32) -> Result<Option<Box<dyn ProcessHandle>>, ActionError> {
        self.called();
        let held = self.machine.hold(pid)?;
        let (act, call) = (Arc::clone(&self.act), self.call);
        let calls = Arc::clone(&self.calls);
        Ok(held.map(|held| -> Box<dyn ProcessHandle> { Box::new(MeddledWith { held, call, calls, act }) }))
    }

    fn patience(&self) -> Duration {
        self.machine.patience()
    }
}

/// A process on which an action is done before a call.
struct MeddledWith {
    held: Box<dyn ProcessHandle>,
    call: usize,
    calls: Arc<AtomicUsize>,
    act: Arc<dyn Fn() + Send + Sync>,
}

impl MeddledWith {
    fn called(&self) {
        if self.calls.fetch_add(1, Ordering::SeqCst) + 1 == self.call {
            (self.act)();
        }
    }
}

impl ProcessHandle for MeddledWith {
    fn has_exited(&self) -> Option<bool> {
        self.called();
        self.held.has_exited()
    }

    fn wait(&self, at_most: Duration) {
        self.held.wait(at_most);
    }

    fn signal(&self, signal: Signal) -> Result<(), rustix::io::Errno> {
        self.called();
        self.held.signal(signal)
    }
}

/// Ends a process and gives its PID to another one, which only root can.
fn reuse(pid: u32) -> Option<Child> {
    Command::new("/bin/kill").args(["-9", &pid.to_string()]).status().unwrap();
    wait(|| !Path::new(&format!("/proc/{pid}")).exists());
    for _ in 0..200 {
        std::fs::write("/proc/sys/kernel/ns_last_pid", (pid - 1).to_string()).ok()?;
        let mut child = Command::new("/bin/sleep").arg("618").env_clear().spawn().unwrap();
        if child.id() == pid {
            return Some(child);
        }
        child.kill().unwrap();
        child.wait().unwrap();
    }
    None
}

#[test]
fn a_pid_that_is_given_to_another_process_at_any_moment_is_never_signalled() {
    let _alone = alone();
    if !may_force_reuse() {
        return;
    }
    let (mut reused, mut late) = (0, 0);
    for round in 0..rounds() {
        let Some(mut scene) = Scene::new("READY; exec sleep 618") else { return };
        let mut eyes = scene.eyes();
        let seen = at_rest(|| scene.seen(&mut eyes, Signal::Term));
        let heir: Arc<Mutex<Option<Option<Child>>>> = Arc::default();
        let (pid, given) = (scene.left.pid, Arc::clone(&heir));
        let act = Arc::new(move || *given.lock().unwrap() = Some(reuse(pid)));
        // Call 0 is before the plan is verified; the others are while it is carried out.
        let call = round % 16;
        if call == 0 {
            act();
        }
        let machine = Machine::new(Signatures::built_in().ok(), None);
        scene.state.processes = Box::new(Meddler { machine, call, calls: Arc::default(), act });
        let done = scene.done(&mut eyes, seen);
        let Some(heir) = heir.lock().unwrap().take() else {
            // It had ended before it came to this call.
            assert!(
                matches!(&done, Ok(receipt) if receipt.outcome.ended == EndResult::Done),
                "round {round}: {done:?}"
            );
            late += 1;
            continue;
        };
        // On a busy machine, other processes may always take the number first.
        let Some(mut heir) = heir else {
            late += 1;
            continue;
        };
        assert!(
            heir.try_wait().unwrap().is_none(),
            "round {round}: an heir was signalled before call {call}"
        );
        heir.kill().unwrap();
        heir.wait().unwrap();
        reused += 1;
    }
    eprintln!("{reused} reuses, none signalled; {late} came too late, or could not be forced");
}
