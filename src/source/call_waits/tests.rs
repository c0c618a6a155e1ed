//! Real processes below stand-ins for agents: what is proven to be stuck, and what is not.

#![expect(clippy::disallowed_methods, reason = "the tests start processes")]

use std::io::{PipeReader, pipe};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use tempfile::TempDir;

use super::*;
use crate::core::assess::{Policy, assess};
use crate::core::judge::window::agent::Signatures;
use crate::core::model::{
    Call, Doing, Format, Medium, Stall, StallReason, Target, Turn, TurnState, WindowDoing,
};
use crate::source::os::clock;
use crate::source::os::host::host;
use crate::source::os::processes::Scanner;
use crate::source::os::processes::started::spawn;
use crate::source::places::Places;
use crate::source::places::homes::Homes;
use crate::source::provenance::descents::Descents;
use crate::source::provenance::shown::Visibility;

/// A stand-in for an agent whose call is two minutes old, with the group of processes that ends with it.
struct StandIn {
    child: Child,
    agent: &'static str,
    session: &'static str,
    since: Timestamp,
    folder: TempDir,
}

const CLAUDE: (&str, &str, &str) =
    ("claude-code", "@anthropic-ai/claude-code/claude", "95fe798d-3725-4649-974a-0dec79220193");
const OTHER_CLAUDE: (&str, &str, &str) =
    ("claude-code", "@anthropic-ai/claude-code/claude", "95fe798d-3725-4649-974a-0dec79220194");
const OPENCODE: (&str, &str, &str) =
    ("opencode", "opencode-ai/bin/opencode.exe", "ses_e0515a879ffeeCvFT1faoBtJOy");

impl StandIn {
    /// Starts a copy of a program under the agent's name.
    fn start(
        (agent, path, session): (&'static str, &str, &'static str),
        program: &str,
        arguments: &[&str],
        input: impl Into<Stdio>,
    ) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let copy = folder.path().join(path);
        std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
        // By another process: a child that another test forks meanwhile would have it open for writing.
        assert!(Command::new("cp").arg("-L").arg(program).arg(&copy).status().unwrap().success());
        let word = if agent == "opencode" { "-s" } else { "--session-id" };
        let mut command = Command::new(&copy);
        command.args(arguments).args([word, session]).stdin(input).stdout(Stdio::null());
        command.env("PYTHONHOME", "/usr").current_dir(folder.path()).process_group(0);
        let child = spawn(&mut command);
        Self { child, agent, session, since: clock::now(), folder }
    }

    /// Starts one that runs a shell command as a tool and waits for it.
    fn running(agent: (&'static str, &str, &'static str), line: &str) -> Self {
        let script = "/bin/bash -c \"$1\"; exit";
        Self::start(agent, "/bin/bash", &["-c", script, "x", line], Stdio::null())
    }

    fn work(&self) -> Work {
        let target = Some(Target::Command("make".into()));
        let call = Call { id: "t".into(), tool: "Bash".into(), target, since: Some(self.since) };
        let turn = Turn { state: TurnState::Working, since: Some(self.since) };
        let format = if self.agent == "opencode" { Format::OpenCode } else { Format::ClaudeCode };
        Work {
            format,
            session: self.session.into(),
            path: self.folder.path().join("x.jsonl").into(),
            medium: Medium::Local,
            written_at: self.since,
            doing: Doing { turn, calls: vec![call], ..Doing::default() },
            agents: Vec::new(),
            warnings: Vec::new(),
            skipped: 0,
        }
    }

    fn below(&self) -> Vec<u32> {
        let all = std::fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.child.id()));
        all.unwrap_or_default().split_whitespace().map(|pid| pid.parse().unwrap()).collect()
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        let group = format!("-{}", self.child.id());
        let _ = Command::new("/bin/kill").args(["-9", "--", &group]).status();
        let _ = self.child.wait();
    }
}

/// Ends a process with this.
struct EndedWith(Child);

impl Drop for EndedWith {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Looks at stand-ins two minutes later, and returns what the first one does, and why it is stuck.
fn look(all: &[&StandIn]) -> (Option<WindowDoing>, Option<Stall>) {
    let signatures = Signatures::built_in().unwrap();
    let now = clock::now();
    let later = now + SignedDuration::from_mins(2);
    let pids = all.iter().map(|one| one.child.id()).collect();
    let table = Scanner::new(&signatures).scan(&pids);
    let host = host(now);
    let mut snapshot = Snapshot::of_processes(later, host.clone(), table);
    // Other tests run in this PID namespace, or some processes of it are hidden.
    snapshot.processes.partial = None;
    snapshot.work = all.iter().map(|one| Arc::new(one.work())).collect();
    let places = Places::default();
    let scope = Scope {
        fence: places.fence(),
        homes: Homes::new(&places),
        places,
        signatures: signatures.clone(),
        descents: Descents::default(),
        shown: Visibility::default(),
    };
    Reader::default().add_to(&mut snapshot, &scope, &Reading { host: &host, now });
    let report = assess(&snapshot, &Policy { signatures });
    let pid = all.first().unwrap().child.id();
    let window = report.windows.iter().find(|window| window.pid == pid).expect("the stand-in");
    (window.doing, window.stuck.as_deref().cloned())
}

/// Waits until the first stand-in is proven to be stuck.
#[track_caller]
fn proof(all: &[&StandIn]) -> Stall {
    let deadline = clock::steady() + Duration::from_secs(60);
    while clock::steady() < deadline {
        if let (Some(WindowDoing::Stuck), Some(stuck)) = look(all) {
            return stuck;
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("it is never stuck: {:?}", look(all));
}

#[track_caller]
fn check_working(all: &[&StandIn]) {
    // Once it has begun, and again when all its processes have settled.
    while all.first().unwrap().below().is_empty() {
        std::thread::sleep(Duration::from_millis(1));
    }
    for _ in 0..25 {
        assert_eq!(look(all), (Some(WindowDoing::Working), None));
        std::thread::sleep(Duration::from_millis(10));
    }
}

fn check_builds(lines: &[&str]) {
    for line in lines {
        let agent = StandIn::running(CLAUDE, line);
        check_working(&[&agent]);
    }
}

fn left(output: impl Into<Stdio>) -> EndedWith {
    let mut command = Command::new("/bin/sleep");
    EndedWith(spawn(command.arg("600").stdin(Stdio::null()).stdout(output)))
}

fn reader_of(agent: (&'static str, &str, &'static str), input: OwnedFd) -> StandIn {
    StandIn::start(agent, "/bin/bash", &["-c", "read x; exit"], input)
}

fn pipe_to(agent: (&'static str, &str, &'static str)) -> (StandIn, OwnedFd) {
    let (reader, writer): (PipeReader, _) = pipe().unwrap();
    (reader_of(agent, reader.into()), writer.into())
}

#[test]
fn whoever_has_the_output_of_an_ended_shell_is_named() {
    let (agent, writer) = pipe_to(OPENCODE);
    let left = left(writer);
    let stuck = proof(&[&agent]);
    assert_eq!((stuck.reason, stuck.pid), (StallReason::OutputHeld, left.0.id()));
    assert_eq!(stuck.command.raw(), "/bin/sleep 600");
    let (ours, theirs) = UnixStream::pair().unwrap();
    let agent = reader_of(OPENCODE, ours.into());
    let left = self::left(OwnedFd::from(theirs));
    let stuck = proof(&[&agent]);
    assert_eq!((stuck.reason, stuck.pid), (StallReason::OutputHeld, left.0.id()));
}

#[test]
fn an_output_that_its_agent_does_not_wait_for_proves_nothing() {
    let (agent, writer) = pipe_to(CLAUDE);
    let _left = left(writer);
    assert_eq!(look(&[&agent]), (Some(WindowDoing::Working), None));
    // Another one's pipe.
    let (agent, _writer) = pipe_to(OPENCODE);
    let (_reader, other) = pipe().unwrap();
    let _left = left(OwnedFd::from(other));
    assert_eq!(look(&[&agent]), (Some(WindowDoing::Working), None));
}

#[test]
fn an_output_is_not_waited_for_while_a_shell_runs() {
    let (reader, writer) = pipe().unwrap();
    let script = "sleep 600; read x; exit";
    let agent = StandIn::start(OPENCODE, "/bin/bash", &["-c", script], OwnedFd::from(reader));
    let _left = left(OwnedFd::from(writer));
    check_working(&[&agent]);
}

#[test]
fn a_stopped_program_is_named_if_all_wait_for_it() {
    for line in [
        "kill -STOP $$; exit",
        "/bin/sh -c 'kill -STOP $$; exit'; exit",
        "/bin/sh -c 'kill -STOP $$; exit' | cat; exit",
    ] {
        let agent = StandIn::running(CLAUDE, line);
        let stuck = proof(&[&agent]);
        assert_eq!(stuck.reason, StallReason::Stopped, "{line}");
        assert!(stuck.command.raw().contains("kill -STOP"), "{stuck:?}");
    }
}

#[test]
fn long_builds_are_working() {
    check_builds(&[
        "sleep 600; exit",
        "sleep 600 & wait; exit",
        "sleep 600 | cat; exit",
        "tail -f /dev/null | grep x; exit",
        "(sleep 600 &); sleep 600; exit",
        "nohup sleep 600 >/dev/null 2>&1 & sleep 600; exit",
    ]);
}

#[test]
fn builds_of_several_programs_are_working() {
    check_builds(&[
        "printf 'all: a b\\na b:\\n\\t@sleep 600\\n' | make -j2 -f -; sleep 600; exit",
        "timeout --foreground 600 sleep 600; exit",
        "sleep 600 & kill -STOP $!; sleep 600; exit",
        "flock lock sleep 600 & sleep 0.1; flock lock true; exit",
        "sleep 600 | (read x; exit); exit",
        "mkfifo f; cat f & sleep 600 > f; exit",
        "/bin/sh -c 'kill -STOP $$; exit' & while :; do sleep 0.01; done; exit",
    ]);
}

#[test]
fn a_program_that_reads_with_one_thread_and_works_with_another_is_working() {
    if !Path::new("/usr/bin/python3").exists() {
        return;
    }
    let script =
        "import os,threading,time; threading.Thread(target=time.sleep,args=(600,)).start(); os.read(0,1)";
    check_builds(&[&format!("sleep 600 | python3 -c '{script}'; exit")]);
}

/// The agent has the other side of a terminal in which it runs the tool.
#[test]
fn a_program_that_reads_from_a_terminal_of_its_agent_is_named() {
    let script = "import os,sys\n\
        m,s=os.openpty()\n\
        name=os.ttyname(s)\n\
        if os.fork()==0:\n \
            os.close(m); os.dup2(os.open(name,os.O_RDWR),0)\n \
            os.execvp('bash',['bash','-c',sys.argv[1]])\n\
        os.close(s)\n\
        os.wait()";
    if !Path::new("/usr/bin/python3").exists() {
        return;
    }
    for line in ["read x; exit", "cat; exit", "/bin/sh -c 'read x; exit' 2>&1 | tail -5; exit"] {
        let agent = StandIn::start(CLAUDE, "/usr/bin/python3", &["-c", script, line], Stdio::null());
        let stuck = proof(&[&agent]);
        assert_eq!(stuck.reason, StallReason::Terminal, "{line}: {stuck:?}");
        assert!(stuck.on.as_ref().unwrap().raw().starts_with("pts/"), "{stuck:?}");
    }
    let agent = StandIn::start(CLAUDE, "/usr/bin/python3", &["-c", script, "sleep 600; exit"], Stdio::null());
    check_working(&[&agent]);
}

#[test]
fn a_lock_of_another_window_is_waited_for_and_one_of_a_person_is_work() {
    let folder = tempfile::tempdir().unwrap();
    let lock = folder.path().join("lock").display().to_string();
    let waits = format!("flock {lock} true; exit");
    let holder = StandIn::running(OTHER_CLAUDE, &format!("flock {lock} sleep 600; exit"));
    let is_locked = || {
        let tried = Command::new("flock").args(["-n", &lock, "true"]).status().unwrap();
        !tried.success()
    };
    while !is_locked() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let waiter = StandIn::running(CLAUDE, &waits);
    let stuck = proof(&[&waiter, &holder]);
    assert_eq!((stuck.reason, stuck.window_pid), (StallReason::Lock, Some(holder.child.id())));
    assert_eq!(stuck.on.as_ref().unwrap().raw(), lock);
    assert!(stuck.window.is_some(), "{stuck:?}");
    drop((waiter, holder));
    let mut command = Command::new("flock");
    let person = EndedWith(spawn(
        command.args([&lock, "-c", "echo; exec sleep 600"]).process_group(0).stdout(Stdio::null()),
    ));
    while !is_locked() {
        std::thread::sleep(Duration::from_millis(5));
    }
    let waiter = StandIn::running(CLAUDE, &waits);
    check_working(&[&waiter]);
    let _ = Command::new("/bin/kill").args(["-9", "--", &format!("-{}", person.0.id())]).status();
}
