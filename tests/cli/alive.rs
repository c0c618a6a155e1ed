//! `alive`: its answers about real processes, and that no failure has the exit code of an answer.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

use serde_json::Value;

use crate::program::spawn;
use crate::world::{Answer, World};

const SESSION: &str = "95fe798d-3725-4649-974a-0dec79220193";

/// A process of the test, killed and reaped at its end.
struct Sleeper(Child);

impl Sleeper {
    fn start() -> Self {
        Self(spawn(Command::new("sleep").arg("600").stdin(Stdio::null()).stdout(Stdio::null())))
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    /// Ends it and takes its exit code, so that no process has its PID.
    fn end(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Sleeper {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs the program with these arguments alone, and without a home.
fn ask(arguments: &[&str]) -> Answer {
    let output = Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .env_clear()
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    answer_of(&output)
}

fn answer_of(output: &Output) -> Answer {
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    Answer { code: output.status.code().unwrap_or(-1), out: text(&output.stdout), err: text(&output.stderr) }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

/// Returns field 22 of a process's `stat`.
fn start_of(pid: u32) -> u64 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().split(' ').nth(19).unwrap().parse().unwrap()
}

fn state_of(pid: u32) -> String {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(") ").next().unwrap().chars().take(1).collect()
}

#[track_caller]
fn check(process: &str, code: i32, reason: &str) {
    // Once by the short way, and once through all arguments.
    let world = World::new();
    for answer in [ask(&["alive", process, "--json"]), world.run(&["alive", "--json", process])] {
        assert_eq!(answer.code, code, "{process}: {answer:?}");
        let shown = json(&answer);
        let state = ["alive", "dead", "unknown"][usize::try_from(code).unwrap()];
        assert_eq!((&shown["state"], &shown["reason"]), (&state.into(), &reason.into()), "{answer:?}");
        assert_eq!(shown["schema"], "claimtop.alive.v1");
        assert!(!shown["evidence"].as_array().unwrap().is_empty(), "{answer:?}");
    }
}

#[test]
fn a_running_process_is_alive_and_one_that_was_reaped_is_dead() {
    let mut sleeper = Sleeper::start();
    let pid = sleeper.pid();
    let with_start = format!("{pid}@{}", start_of(pid));
    check(&with_start, 0, "same-process");
    check(&pid.to_string(), 0, "process-present");
    sleeper.end();
    check(&with_start, 1, "no-process");
    check(&pid.to_string(), 1, "no-process");
}

#[test]
fn without_a_start_the_answer_is_about_some_process_and_says_so() {
    let sleeper = Sleeper::start();
    let answer = ask(&["alive", &sleeper.pid().to_string()]);
    assert!(answer.out.starts_with("alive process-present"), "{answer:?}");
    assert!(answer.out.contains("some process has this PID"), "{answer:?}");
    let exact = ask(&["alive", &format!("{}@{}", sleeper.pid(), start_of(sleeper.pid()))]);
    assert!(!exact.out.contains("some process has this PID"), "{exact:?}");
}

#[test]
fn the_answer_has_the_start_that_a_caller_can_record() {
    let sleeper = Sleeper::start();
    let shown = json(&ask(&["alive", &sleeper.pid().to_string(), "--json"]));
    assert_eq!(shown["subject"]["process"], sleeper.pid().to_string());
    assert_eq!(shown["process"]["pid"], sleeper.pid());
    assert_eq!(shown["process"]["start_ticks"], start_of(sleeper.pid()));
    assert_eq!(shown["process"]["name"], "sleep");
}

#[test]
fn a_stopped_process_is_alive() {
    let sleeper = Sleeper::start();
    let pid = sleeper.pid();
    assert!(Command::new("kill").args(["-STOP", &pid.to_string()]).status().unwrap().success());
    while state_of(pid) != "T" {
        std::thread::yield_now();
    }
    check(&format!("{pid}@{}", start_of(pid)), 0, "same-process");
    check(&pid.to_string(), 0, "process-present");
}

#[test]
fn a_process_that_has_exited_and_was_not_reaped_is_dead() {
    let mut sleeper = Sleeper::start();
    let pid = sleeper.pid();
    sleeper.0.kill().unwrap();
    while state_of(pid) != "Z" {
        std::thread::yield_now();
    }
    check(&format!("{pid}@{}", start_of(pid)), 1, "exited");
    check(&pid.to_string(), 1, "exited");
}

#[test]
fn a_pid_that_another_process_has_now_is_dead_and_one_that_it_had_before_is_not() {
    let sleeper = Sleeper::start();
    let (pid, start) = (sleeper.pid(), start_of(sleeper.pid()));
    check(&format!("{pid}@{}", start - 1), 1, "other-process");
    // It had the PID before the recorded process began, so the PID is from elsewhere.
    check(&format!("{pid}@{}", start + 1), 2, "other-namespace");
}

#[test]
fn a_start_by_the_clock_is_never_a_death_near_its_edge() {
    let sleeper = Sleeper::start();
    let pid = sleeper.pid();
    let shown = json(&ask(&["alive", &pid.to_string(), "--json"]));
    let started: jiff::Timestamp = shown["process"]["started_at"].as_str().unwrap().parse().unwrap();
    let at = |seconds: i64| format!("{pid}@{}", started + jiff::SignedDuration::from_secs(seconds));
    for seconds in [0, 1, -1] {
        check(&at(seconds), 0, "same-process");
    }
    for seconds in [-5, 5, -50, 3_600] {
        check(&at(seconds), 2, "other-clock");
    }
    // Only a machine whose clock at boot is known can be sure.
    let long_ago = ask(&["alive", &at(-3_600), "--json"]);
    assert!([1, 2].contains(&long_ago.code), "{long_ago:?}");
    if long_ago.code == 1 {
        assert_eq!(json(&long_ago)["reason"], "other-process");
    }
}

#[test]
fn a_number_that_is_no_users_process_is_unknown() {
    for process in ["0", "1", "4194305", "99999999999", "1@5"] {
        check(process, 2, "bad-pid");
    }
}

#[test]
fn a_thread_is_answered_for_by_its_process() {
    let (send, receive) = std::sync::mpsc::channel::<()>();
    let (sender, receiver) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let own = std::fs::read_link("/proc/thread-self").unwrap();
        sender.send(own.file_name().unwrap().to_str().unwrap().to_owned()).unwrap();
        let _ = receive.recv();
    });
    let tid = receiver.recv().unwrap();
    check(&tid, 0, "process-present");
    assert!(ask(&["alive", &tid]).out.contains("one of the threads"));
    drop(send);
    thread.join().unwrap();
}

#[test]
fn no_usage_error_has_the_code_of_an_answer() {
    let world = World::new();
    let usages: [&[&str]; 14] = [
        &["alive"],
        &["alive", ""],
        &["alive", "x"],
        &["alive", "12@"],
        &["alive", "12@0"],
        &["alive", "12@x"],
        &["alive", "--", "-1"],
        &["alive", "12", "13"],
        &["alive", "12", "--session", "x"],
        &["alive", "--session"],
        &["alive", "--no-such-option"],
        &["--read-only", "alive", "x"],
        &["--on", "elsewhere", "alive", "12"],
        &["--config", "/no/such/file", "alive", "--session", "x"],
    ];
    for arguments in usages {
        let answer = world.run(arguments);
        assert_eq!((answer.code, answer.out.as_str()), (64, ""), "{arguments:?}: {answer:?}");
        assert!(!answer.err.is_empty(), "{arguments:?}");
    }
    assert_eq!(world.run(&["explain"]).code, 2, "the others keep theirs");
    assert_eq!(world.run(&["explain", "alive", "--no-such-option"]).code, 2);
}

#[test]
fn a_reader_that_has_gone_changes_no_code() {
    let mut sleeper = Sleeper::start();
    let process = format!("{}@{}", sleeper.pid(), start_of(sleeper.pid()));
    sleeper.end();
    let mut child = Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .args(["alive", &process])
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    assert_eq!(child.wait().unwrap().code(), Some(1));
}

/// Asks about a file.
fn ask_file(world: &World, path: &Path) -> (i32, String) {
    let answer = world.run(&["alive", "--json", "--file", path.to_str().unwrap()]);
    (answer.code, json(&answer)["reason"].as_str().unwrap().to_owned())
}

#[test]
fn a_pid_file_is_as_alive_as_its_process() {
    let world = World::new();
    let mut sleeper = Sleeper::start();
    let path = world.write("tmp/x.pid", &format!("{}\n", sleeper.pid()));
    assert_eq!(ask_file(&world, &path), (0, "process-present".to_owned()));
    sleeper.end();
    assert_eq!(ask_file(&world, &path), (1, "no-process".to_owned()));
}

#[test]
fn a_pid_file_from_before_its_pids_process_may_be_a_copy() {
    let world = World::new();
    let sleeper = Sleeper::start();
    let path = world.write("tmp/x.pid", &sleeper.pid().to_string());
    age(&path, 1);
    // A copy can have kept the time, so its inode must be old as well; a new one proves nothing.
    assert_eq!(ask_file(&world, &path), (2, "other-clock".to_owned()));
}

#[test]
fn a_file_that_states_nothing_is_unknown() {
    let world = World::new();
    for text in ["", "x", "12 13", "12\n13\n", "-5", "12@77"] {
        let path = world.write("tmp/x.pid", text);
        assert_eq!(ask_file(&world, &path), (2, "unreadable".to_owned()), "{text:?}");
    }
    assert_eq!(ask_file(&world, &world.path("tmp/none")), (2, "unreadable".to_owned()));
    assert_eq!(ask_file(&world, &world.path("tmp")), (2, "unreadable".to_owned()));
    let path = world.write("tmp/x.pid", "0");
    assert_eq!(ask_file(&world, &path), (2, "bad-pid".to_owned()));
}

/// Writes the registry entry of a window.
fn register(world: &World, pid: u32, start: u64) -> std::path::PathBuf {
    let text = format!(r#"{{"pid":{pid},"sessionId":"{SESSION}","procStart":"{start}"}}"#);
    world.write(&format!("home/.claude/sessions/{pid}.json"), &text)
}

#[test]
fn a_session_and_its_record_are_as_alive_as_the_process_that_runs_it() {
    let world = World::new();
    let mut sleeper = Sleeper::start();
    let entry = register(&world, sleeper.pid(), start_of(sleeper.pid()));
    let answer = world.run(&["alive", "--session", SESSION, "--json"]);
    assert_eq!((answer.code, &json(&answer)["state"]), (0, &"alive".into()), "{answer:?}");
    assert_eq!(json(&answer)["process"]["pid"], sleeper.pid());
    assert_eq!(ask_file(&world, &entry), (0, "same-process".to_owned()));
    sleeper.end();
    assert_eq!(ask_file(&world, &entry), (1, "no-process".to_owned()));
    // An agent of this machine whose session is not known may run it.
    let answer = world.run(&["alive", "--session", SESSION, "--json"]);
    let expected = match answer.code {
        1 => "no-process",
        _ => "wrong-role",
    };
    assert!([1, 2].contains(&answer.code) && json(&answer)["reason"] == expected, "{answer:?}");
}

#[test]
fn a_session_or_a_pane_that_nothing_names_is_unknown_and_not_dead() {
    let world = World::new();
    for about in [&["--session", "no-such-session"][..], &["--pane", "%4294967295"]] {
        let answer = world.run(&[&["alive", "--json"], about].concat());
        assert_eq!((answer.code, &json(&answer)["reason"]), (2, &"no-pid".into()), "{answer:?}");
    }
}

/// Makes what a public thread describes, asks about it, and returns the answer and the code that it should have;
/// nothing if this system cannot make it.
type Scene = fn() -> Option<(Answer, i32)>;

/// Public threads in which a living session, or the holder of a lock, was called dead.
const THREADS: [(&str, Scene); 9] = [
    ("anthropics/claude-code#85283: a container that shares the home", asked_from_a_container),
    ("anthropics/claude-code#85283: the entry of its registry", entry_seen_from_a_container),
    ("uutils/shadow#28, openclaw/openclaw#110235: kill(2) says EPERM", asked_by_another_user),
    ("uutils/shadow#28 where /proc hides other users' processes", hidden_from_another_user),
    ("NazzarenoGiannelli/tuiboard#62: no write during a long turn", long_turn),
    ("Yeachan-Heo/gajae-code#669, sonichi/sutando#3831: an old lock", old_lock),
    ("gastownhall/gastown#1681: a new session has the PID of an ended one", reused_by_a_session),
    ("onepub-dev/dcli#128, stellar/stellar-core#652: every container's PID 1", first_of_a_container),
    ("openclaw/openclaw#4015: the PID of a container that was made anew", own_pid_in_a_container),
];

#[test]
fn no_public_thread_is_a_wrong_death() {
    let mut wrong = Vec::new();
    for (thread, scene) in THREADS {
        match scene() {
            Some((answer, code)) if answer.code != code => wrong.push(format!("{thread}: {answer:?}")),
            Some(_) => {}
            None => eprintln!("skipped: {thread}"),
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Runs a line of a shell as the first process of a new PID namespace with a `/proc` of its own; the program is `$0`.
fn in_a_container(line: &str, arguments: &[&str]) -> Option<Answer> {
    let user: &[&str] =
        if rustix::process::geteuid().is_root() { &[] } else { &["--user", "--map-root-user"] };
    let output = Command::new("unshare")
        .args(user)
        .args(["--pid", "--fork", "--mount-proc", "sh", "-c", line, env!("CARGO_BIN_EXE_claimtop")])
        .args(arguments)
        .stdin(Stdio::null())
        .output()
        .ok()?;
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let answer = Answer { code: output.status.code()?, out: text(&output.stdout), err: text(&output.stderr) };
    (!answer.err.starts_with("unshare: ")).then_some(answer)
}

fn asked_from_a_container() -> Option<(Answer, i32)> {
    let sleeper = Sleeper::start();
    let process = format!("{}@{}", sleeper.pid(), start_of(sleeper.pid()));
    Some((in_a_container(r#""$0" alive "$1"; exit $?"#, &[&process])?, 2))
}

#[test]
fn a_caller_that_knows_its_namespace_gets_deaths_in_a_container_too() {
    let line = |namespace: &str| {
        let ask = format!(r#"ns={namespace}; "$0" alive "$p@9" --pid-namespace "$ns" --json; exit $?"#);
        format!(r#"sh -c "exit 0" & p=$!; wait $p; {ask}"#)
    };
    let own = "$(readlink /proc/self/ns/pid | tr -dc 0-9)";
    let Some(here) = in_a_container(&line(own), &[]) else { return eprintln!("skipped: no namespaces here") };
    assert_eq!((here.code, &json(&here)["reason"]), (1, &"no-process".into()), "{here:?}");
    // Without it, and if the PID is from another one, nothing is known.
    let plain = in_a_container(&line(own).replace(r#" --pid-namespace "$ns""#, ""), &[]).unwrap();
    for unknown in [plain, in_a_container(&line("4026531836"), &[]).unwrap()] {
        assert_eq!((unknown.code, &json(&unknown)["reason"]), (2, &"other-namespace".into()), "{unknown:?}");
    }
}

fn entry_seen_from_a_container() -> Option<(Answer, i32)> {
    let world = World::new();
    let sleeper = Sleeper::start();
    register(&world, sleeper.pid(), start_of(sleeper.pid()));
    let (home, tmp) = (world.path("home"), world.path("tmp"));
    let line = r#""$0" alive --session "$1" --home "$2" --tmp "$3"; exit $?"#;
    let arguments = [SESSION, home.to_str().unwrap(), tmp.to_str().unwrap()];
    Some((in_a_container(line, &arguments)?, 2))
}

fn asked_by_another_user() -> Option<(Answer, i32)> {
    use std::os::unix::process::CommandExt;

    let sleeper = Sleeper::start();
    let process = format!("{}@{}", sleeper.pid(), start_of(sleeper.pid()));
    let mut command = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    command.env_clear().args(["alive", &process]).stdin(Stdio::null()).uid(65_534).gid(65_534);
    let output = command.output().ok()?;
    Some((answer_of(&output), 0))
}

fn hidden_from_another_user() -> Option<(Answer, i32)> {
    if !rustix::process::geteuid().is_root() {
        return None;
    }
    let sleeper = Sleeper::start();
    let process = format!("{}@{}", sleeper.pid(), start_of(sleeper.pid()));
    let line = r#"mount -t proc -o hidepid=2 proc /proc && exec setpriv --reuid 65534 --regid 65534 --clear-groups "$0" alive "$1""#;
    let mut command = Command::new("unshare");
    command.args(["--mount", "sh", "-c", line, env!("CARGO_BIN_EXE_claimtop"), &process]);
    let output = command.stdin(Stdio::null()).output().ok()?;
    let answer = answer_of(&output);
    // Without an answer the mount or the change of user was refused.
    (!answer.out.is_empty()).then_some((answer, 2))
}

/// Dates a file back by hours.
fn age(path: &Path, hours: u64) {
    let file = std::fs::File::options().write(true).open(path).unwrap();
    file.set_modified(std::time::SystemTime::now() - std::time::Duration::from_secs(3_600 * hours)).unwrap();
}

fn long_turn() -> Option<(Answer, i32)> {
    let world = World::new();
    let sleeper = Sleeper::start();
    age(&register(&world, sleeper.pid(), start_of(sleeper.pid())), 1);
    Some((world.run(&["alive", "--session", SESSION]), 0))
}

fn old_lock() -> Option<(Answer, i32)> {
    let world = World::new();
    let sleeper = Sleeper::start();
    let path = world.write("tmp/x.lock", &sleeper.pid().to_string());
    age(&path, 48);
    // The process began after that time, but the file may be a copy.
    Some((world.run(&["alive", "--file", path.to_str().unwrap()]), 2))
}

fn reused_by_a_session() -> Option<(Answer, i32)> {
    let world = World::new();
    let sleeper = Sleeper::start();
    let (pid, start) = (sleeper.pid(), start_of(sleeper.pid()));
    let ended = r#"{"pid":PID,"sessionId":"11111111-2222-4333-8444-555555555555","procStart":"7"}"#;
    world.write("home/.claude/sessions/7.json", &ended.replace("PID", &pid.to_string()));
    register(&world, pid, start);
    Some((world.run(&["alive", "--session", SESSION]), 0))
}

fn first_of_a_container() -> Option<(Answer, i32)> {
    Some((in_a_container(r#""$0" alive 1; exit $?"#, &[])?, 2))
}

fn own_pid_in_a_container() -> Option<(Answer, i32)> {
    let line =
        r#"sleep 600 & p=$!; s=$(cut -d" " -f22 /proc/$p/stat); "$0" alive "$p@$s"; c=$?; kill $p; exit $c"#;
    Some((in_a_container(line, &[])?, 0))
}
