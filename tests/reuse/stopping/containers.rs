//! Processes in a PID namespace of their own, as in a container: shown as far as they are visible, and never ended.

use std::process::{Child, Command, Stdio};

use claimtop::core::model::{Certainty, Report};
use claimtop::observe::Observer;
use claimtop::testing::act::{ActionError, Look, Patience, Preview, StateFolder, System};
use claimtop::testing::core::{Request, Signal};

use crate::alone;
use crate::stage::{Stage, start_ticks};
use crate::stopping::{Left, Orphan, Scene, left_over, lives, parent, wait, whole};

/// A PID namespace, with the `/proc` of outside.
const INSIDE: &str = "unshare --user --map-root-user --pid --fork";

/// The text of every refusal here.
const ELSEWHERE: &str = "is in another PID namespace";

fn is_allowed() -> bool {
    let mut words = INSIDE.split(' ');
    let tried = Command::new(words.next().unwrap()).args(words).arg("true").stdin(Stdio::null()).status();
    let is_allowed = tried.is_ok_and(|status| status.success());
    if !is_allowed {
        eprintln!("skipped: no PID namespace may be made here");
    }
    is_allowed
}

/// Returns the process that runs this line, once it does.
fn running(line: &str) -> u32 {
    let line: Vec<u8> = line.split(' ').flat_map(|word| word.bytes().chain([0])).collect();
    loop {
        let all = std::fs::read_dir("/proc").unwrap().flatten();
        let mut pids = all.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
        let runs = |pid: &u32| std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|argv| argv == line);
        match pids.find(runs) {
            Some(pid) => return pid,
            None => std::thread::yield_now(),
        }
    }
}

/// Fails unless an ending is refused because of the process' PID namespace, and the process continues.
#[track_caller]
fn check_refused(seen: Result<Preview, ActionError>, those: &[u32]) {
    let Err(ActionError::Never(why)) = seen else { panic!("{seen:?}") };
    assert!(why.contains(ELSEWHERE), "{why}");
    assert!(those.iter().all(|pid| lives(*pid)), "{those:?}");
}

#[test]
fn a_left_over_with_a_container_below_it_is_shown_with_it_and_never_ended() {
    let _alone = alone();
    if !is_allowed() {
        return;
    }
    let Some(scene) = Scene::new(&format!("{INSIDE} sleep 641 & READY; wait")) else { return };
    let inside = running("sleep 641");
    let report = scene.eyes().report();
    let one = left_over(&report, scene.left.pid);
    assert!(one.tree.iter().any(|member| member.id.pid == inside), "{:?}", one.tree);
    assert_eq!(one.refused, Some(format!("sleep (PID {inside}) {ELSEWHERE}")));
    check_refused(scene.seen(&mut scene.eyes(), Signal::Term), &[scene.left.pid, inside]);
}

#[test]
fn a_left_over_in_a_container_is_shown_and_never_ended() {
    let _alone = alone();
    if !is_allowed() {
        return;
    }
    let stage = Stage::new();
    let left = Left::by(&stage, &format!("{INSIDE} sleep 642 & READY; wait"));
    let inside = running("sleep 642");
    // The process that has made the namespace dies before the processes in it.
    for outside in [parent(inside), left.pid] {
        Command::new("/bin/kill").args(["-9", &outside.to_string()]).stderr(Stdio::null()).status().unwrap();
        wait(|| !lives(outside));
    }
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let scene =
        Scene { stage, state, left: Left { pid: inside, window: left.window, home: left.home.clone() } };
    let report = scene.eyes().report();
    let one = left_over(&report, inside);
    assert_eq!((one.certainty, one.command.raw()), (Certainty::Unknown, "sleep 642"), "{}", one.why);
    assert!(one.why.contains("in another PID namespace, where PIDs mean other processes"), "{}", one.why);
    assert_eq!(one.refused, Some(format!("sleep (PID {inside}) {ELSEWHERE}")));
    check_refused(scene.seen(&mut scene.eyes(), Signal::Term), &[inside]);
}

/// A window of Claude Code's that a test has started; it is ended with this.
struct Window(Child);

impl Drop for Window {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Asks to end a window.
fn seen(stage: &Stage, observer: &Observer, report: &Report, pid: u32) -> Result<Preview, ActionError> {
    let state = StateFolder::open(System, &stage.state_path()).unwrap();
    let window = report.windows.iter().find(|window| window.pid == pid);
    let window = window.unwrap_or_else(|| panic!("{:?}", report.windows));
    let request = Request::Stop { key: window.key.clone(), signal: Signal::Term };
    let lock = state.lock(Patience::Wait, observer.now()).unwrap();
    Preview::look(&lock, report, request, &stage.rules(), observer.now())
}

#[test]
fn a_window_with_a_container_below_it_is_shown_with_it_and_never_ended() {
    let _alone = alone();
    if !is_allowed() {
        return;
    }
    let stage = Stage::new();
    let program = stage.path("bin/@anthropic-ai/claude-code/claude");
    std::fs::remove_file(&program).unwrap();
    crate::program::copy("/bin/sh", program.clone());
    stage.write("home/window.sh", &format!("{INSIDE} sleep 643 </dev/null & read x"));
    let mut window = Command::new(&program);
    window.arg("window.sh").env_clear().env("HOME", stage.path("home")).current_dir(stage.path("home"));
    window.env("PATH", "/usr/bin:/bin").stdin(Stdio::piped()).stdout(Stdio::null());
    let window = Window(window.spawn().unwrap());
    let inside = Orphan(running("sleep 643"));
    let mut observer = whole(&stage);
    let report = crate::stage::report(&mut observer);
    let of_window = report.windows.iter().find(|one| one.pid == window.0.id()).unwrap();
    assert!(of_window.processes.iter().any(|process| process.pid == inside.0), "{:?}", of_window.processes);
    assert!(report.left_overs.iter().all(|one| !one.may_be_ended()), "{:?}", report.left_overs);
    check_refused(seen(&stage, &observer, &report, window.0.id()), &[window.0.id(), inside.0]);
}

#[test]
fn a_window_in_a_container_is_shown_and_never_ended() {
    let _alone = alone();
    if !is_allowed() {
        return;
    }
    let stage = Stage::new();
    let program = stage.path("bin/@anthropic-ai/claude-code/claude");
    let mut container = Command::new("unshare");
    container.args(INSIDE.split(' ').skip(1)).arg(&program).arg("644").env("HOME", stage.path("home"));
    let _container = Window(container.stdin(Stdio::null()).spawn().unwrap());
    let inside = Orphan(running(&format!("{} 644", program.display())));
    stage.register(1, start_ticks(inside.0));
    let mut observer = whole(&stage);
    let report = crate::stage::report(&mut observer);
    check_refused(seen(&stage, &observer, &report, inside.0), &[inside.0]);
}
