//! The process table over real processes, every one of which is started here and ended here.

use std::collections::BTreeSet;
use std::io::Write as _;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use claimtop::core::judge::window::agent::Signatures;
use claimtop::core::model::{Absence, FolderId, Process, ProcessState, ProcessTable};
use claimtop::testing::format::Base;
use claimtop::testing::source::{Scanner, chain};
use rustix::process::{Pid, Signal, kill_process};

use crate::missing;
use crate::program;

/// The variables that name a home, which the tests' own environment may contain.
const HOMES: [&str; 3] = ["HOME", "CLAUDE_CONFIG_DIR", "XDG_CACHE_HOME"];

/// A child that ends with its test.
struct Stand(Child);

impl Stand {
    fn start(program: &Path, arguments: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).env("CLAUDE_SESSION_ID", "alpha").env("SECRET", "x");
        Self(program::spawn(&mut command))
    }

    fn sleeping() -> Self {
        Self::start(Path::new("/bin/sleep"), &["600"])
    }

    fn pid(&self) -> u32 {
        self.0.id()
    }

    fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.0), signal).unwrap();
    }
}

impl Drop for Stand {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn scanner() -> Scanner {
    Scanner::new(&Signatures::built_in().unwrap())
}

/// Looks until the expected state shows; a process needs a moment to start, stop or exit.
#[track_caller]
fn when(scanner: &mut Scanner, named: &[u32], mut is_so: impl FnMut(&ProcessTable) -> bool) -> ProcessTable {
    let named: BTreeSet<u32> = named.iter().copied().collect();
    for _ in 0..500 {
        let table = scanner.scan(&named);
        if is_so(&table) {
            return table;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never showed");
}

fn get(table: &ProcessTable, pid: u32) -> &Process {
    table.get(pid).unwrap_or_else(|| panic!("{pid} is not in the table"))
}

/// Copies `/bin/sleep` to a name of its own: the name becomes the thread's name.
fn program(folder: &Path, name: &str) -> PathBuf {
    let path = folder.join(name);
    program::copy("/bin/sleep", &path);
    path
}

#[test]
fn a_process_that_a_record_names_is_read_in_detail() {
    let child = Stand::sleeping();
    let is_running = |table: &ProcessTable| table.get(child.pid()).is_some_and(|p| p.comm.raw() == "sleep");
    let table = when(&mut scanner(), &[child.pid()], is_running);
    let process = get(&table, child.pid());
    assert_eq!((process.parent, process.state), (std::process::id(), ProcessState::Running));
    assert_eq!(process.has_exited, Some(false));
    let details = process.details.as_ref().unwrap();
    assert_eq!(details.argv.iter().map(|arg| arg.raw()).collect::<Vec<_>>(), ["/bin/sleep", "600"]);
    assert_eq!(details.uid, Some(rustix::process::geteuid().as_raw()));
    assert_eq!(details.cwd.as_ref().unwrap().raw(), std::env::current_dir().unwrap().to_string_lossy());
    assert_eq!(details.ns_pids.first(), Some(&child.pid()));
    let is_of_the_runner =
        |name: &str| claimtop::testing::core::VARIABLES.contains(&name) || HOMES.contains(&name);
    let env: Vec<_> = details.env.iter().filter(|(name, _)| !is_of_the_runner(name)).collect();
    assert_eq!(env, [(&"CLAUDE_SESSION_ID".to_owned(), &"alpha".into())]);
    assert!(get(&table, std::process::id()).details.is_some(), "its ancestors are read as well");
}

/// Starts `sleep` under an agent's name below the words of `within`, with this home, and returns which folders of
/// homes it reaches.
#[track_caller]
fn homes_of(folder: &Path, within: &[&str], home: Option<&Path>) -> Option<BTreeSet<FolderId>> {
    let program = folder.join("node");
    if !program.exists() {
        program::copy("/bin/sleep", &program);
    }
    let mut words = within.iter().map(|word| Path::new(*word)).chain([program.as_path(), Path::new("600")]);
    let mut command = Command::new(words.next().unwrap());
    command.args(words).stdin(Stdio::null());
    for name in HOMES {
        command.env_remove(name);
    }
    if let Some(home) = home {
        command.env("HOME", home);
    }
    let child = Stand(program::spawn(&mut command));
    let mut scanner = scanner();
    scanner.with_homes(vec![(Base::Home, ".maia/sessions".to_owned())]);
    // Its name is a new one a moment before it has arguments and an environment.
    let has_begun = |process: &Process| {
        process.comm.raw() == "node" && process.details.as_ref().is_some_and(|all| !all.argv.is_empty())
    };
    let table = when(&mut scanner, &[], |table| table.get(child.pid()).is_some_and(has_begun));
    get(&table, child.pid()).details.as_ref().unwrap().homes.clone()
}

fn folder_id(path: &Path) -> FolderId {
    let meta = std::fs::metadata(path).unwrap();
    FolderId { dev: meta.dev(), ino: meta.ino() }
}

#[test]
fn a_home_is_told_by_its_folders_and_not_by_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = |below: &str| folder.path().join(below);
    for below in ["one/.claude", "one/.maia/sessions", "two/.claude", "two/.maia/sessions", "bare"] {
        std::fs::create_dir_all(path(below)).unwrap();
    }
    std::os::unix::fs::symlink("one", path("link")).unwrap();
    let sessions = folder_id(&path("one/.maia/sessions"));
    let reaches = |home: &str| homes_of(folder.path(), &[], Some(&path(home))).unwrap().contains(&sessions);
    assert!(reaches("one") && reaches("link") && !reaches("two"));
    for unknown in [None, Some(path("bare")), Some(path("nowhere")), Some("one".into())] {
        assert_eq!(homes_of(folder.path(), &[], unknown.as_deref()), None, "{unknown:?}");
    }
}

/// Like a container that has one folder of the host's in a home of its own.
#[test]
fn a_home_is_told_in_the_mounts_of_its_process() {
    let setup = "mount --bind \"$HOME/../one/.maia\" \"$HOME/.maia\" && exec \"$0\" \"$@\"";
    let within = ["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", setup];
    let tried = Command::new(within[0]).args(&within[1..4]).arg("true").stdin(Stdio::null()).output();
    if !tried.is_ok_and(|output| output.status.success()) {
        eprintln!("skipped: no mount namespaces here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let path = |below: &str| folder.path().join(below);
    for below in ["one/.claude", "one/.maia/sessions", "two/.claude", "two/.maia/sessions"] {
        std::fs::create_dir_all(path(below)).unwrap();
    }
    let found = homes_of(folder.path(), &within, Some(&path("two"))).unwrap();
    let has = |below: &str| found.contains(&folder_id(&path(below)));
    assert!(has("one/.maia/sessions") && has("two/.claude"));
    assert!(!has("two/.maia/sessions") && !has("one/.claude"));
}

#[test]
fn whoever_does_not_matter_is_read_in_brief() {
    let child = Stand::sleeping();
    let table =
        when(&mut scanner(), &[], |table| table.get(child.pid()).is_some_and(|p| p.comm.raw() == "sleep"));
    let process = get(&table, child.pid());
    assert!(process.details.is_none() && process.pidfd_inode.is_none() && process.has_exited.is_none());
}

#[test]
fn a_name_with_parentheses_hides_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let name = "x) R 1 (y";
    let child = Stand::start(&program(folder.path(), name), &["600"]);
    let table = when(&mut scanner(), &[child.pid()], |table| {
        table.get(child.pid()).is_some_and(|process| process.comm.raw() == name)
    });
    assert_eq!(get(&table, child.pid()).parent, std::process::id());
}

#[test]
fn a_candidate_is_read_in_detail_though_nobody_names_it() {
    let folder = tempfile::tempdir().unwrap();
    let exe = program(folder.path(), "claude");
    let child = Stand::start(&exe, &["600"]);
    let mut scanner = scanner();
    let exe_of =
        |table: &ProcessTable| Some(table.get(child.pid())?.details.as_ref()?.exe.clone()?.raw().to_owned());
    let expected = exe.to_string_lossy().into_owned();
    when(&mut scanner, &[], |table| exe_of(table).as_ref() == Some(&expected));
    std::fs::remove_file(&exe).unwrap();
    let table = scanner.scan(&BTreeSet::new());
    assert_eq!(exe_of(&table), Some(expected), "without the mark of a removed file");
}

#[test]
fn an_agent_that_runs_through_a_link_of_another_name_is_one() {
    let folder = tempfile::tempdir().unwrap();
    let versions = folder.path().join("claude/versions");
    std::fs::create_dir_all(&versions).unwrap();
    let link = folder.path().join("cc");
    std::os::unix::fs::symlink(program(&versions, "2.1.197"), &link).unwrap();
    let mut scanner = scanner();
    scanner.scan(&BTreeSet::new());
    let terminal = portable_pty::native_pty_system().openpty(portable_pty::PtySize::default()).unwrap();
    let mut command = portable_pty::CommandBuilder::new(&link);
    command.arg("600");
    let mut agent = terminal.slave.spawn_command(command).unwrap();
    let pid = agent.process_id().unwrap();
    let signatures = Signatures::built_in().unwrap();
    let is_agent = |table: &ProcessTable| {
        table.get(pid).and_then(|process| signatures.classify(process)).map(|(agent, _)| agent.name.as_str())
            == Some("claude-code")
    };
    assert!((0..500).any(|_| {
        std::thread::sleep(Duration::from_millis(10));
        scanner.has_news()
    }));
    let table = when(&mut scanner, &[], is_agent);
    assert_eq!(get(&table, pid).comm.raw(), "cc");
    assert!(is_agent(&scanner.rescan(&BTreeSet::new())));
    agent.kill().unwrap();
    agent.wait().unwrap();
}

#[test]
fn an_unreaped_child_is_a_zombie_that_has_exited() {
    let child = Stand::sleeping();
    child.signal(Signal::KILL);
    let table =
        when(&mut scanner(), &[child.pid()], |table| get(table, child.pid()).state == ProcessState::Zombie);
    assert_eq!(get(&table, child.pid()).has_exited, Some(true));
    assert_ne!(table.absence(child.pid()), Absence::Proven);
}

#[test]
fn a_stopped_child_is_stopped_and_lives() {
    let child = Stand::sleeping();
    child.signal(Signal::STOP);
    let table =
        when(&mut scanner(), &[child.pid()], |table| get(table, child.pid()).state == ProcessState::Stopped);
    assert_eq!(get(&table, child.pid()).has_exited, Some(false));
    child.signal(Signal::CONT);
}

#[test]
fn a_reaped_child_is_proven_absent() {
    let mut scanner = scanner();
    let child = Stand::sleeping();
    let pid = child.pid();
    when(&mut scanner, &[pid], |table| table.get(pid).is_some());
    drop(child);
    let table = scanner.scan(&BTreeSet::from([pid]));
    if table.partial.is_some() {
        return eprintln!("skipped: {:?}", table.partial);
    }
    assert!(table.absence(pid) == Absence::Proven && table.get(pid).is_none());
}

#[test]
fn a_leader_that_exits_before_its_threads_has_not_exited() {
    // Python's main thread can end alone through the C library's pthread_exit.
    let script = "import ctypes, threading, time\n\
                  threading.Thread(target=time.sleep, args=(600,)).start()\n\
                  ctypes.CDLL(None).pthread_exit(None)";
    if !Path::new("/usr/bin/python3").exists() {
        return missing::skip_for_want_of("python3");
    }
    let child = Stand::start(Path::new("/usr/bin/python3"), &["-c", script]);
    let table = when(&mut scanner(), &[child.pid()], |table| {
        get(table, child.pid()).state == ProcessState::LeaderExited
    });
    assert_eq!(get(&table, child.pid()).has_exited, Some(false));
}

#[test]
fn the_details_follow_a_process_that_runs_another_program() {
    let mut scanner = scanner();
    let folder = tempfile::tempdir().unwrap();
    let script = format!("cd {}; read x; exec /bin/sleep 600", folder.path().display());
    let mut child = Command::new("/bin/sh").args(["-c", &script]).stdin(Stdio::piped()).spawn().unwrap();
    let (pid, input) = (child.id(), child.stdin.take());
    let child = Stand(child);
    let details = |table: &ProcessTable| table.get(pid)?.details.clone();
    let folder = folder.path().to_string_lossy().into_owned();
    when(&mut scanner, &[pid], |table| {
        details(table).is_some_and(|found| found.cwd.is_some_and(|cwd| cwd.raw() == folder))
    });
    drop(input);
    when(&mut scanner, &[pid], |table| {
        details(table).is_some_and(|found| found.argv.last().is_some_and(|arg| arg.raw() == "600"))
    });
    drop(child);
}

#[test]
fn the_chain_leads_from_a_process_to_its_ancestors() {
    let candidates = Signatures::built_in().unwrap().candidates();
    let table = chain(std::process::id(), &candidates);
    let own = get(&table, std::process::id());
    assert_eq!(own.parent, std::os::unix::process::parent_id());
    assert_eq!(
        own.details.as_ref().unwrap().exe.as_ref().unwrap().raw(),
        std::env::current_exe().unwrap().to_string_lossy()
    );
    let parent = get(&table, own.parent);
    assert!(parent.details.as_ref().is_some_and(|details| details.exe.is_some()));
    assert_ne!(table.absence(4_194_304), Absence::Proven, "a chain proves nobody's absence");
    assert!(chain(4_194_304, &candidates).by_pid.is_empty());
}

#[test]
fn cpu_and_memory_are_measured_between_two_looks() {
    let child = Stand::start(Path::new("/bin/sh"), &["-c", "while :; do :; done"]);
    let mut scanner = scanner();
    let pids = BTreeSet::from([child.pid()]);
    let mut at = jiff::Timestamp::UNIX_EPOCH;
    let mut measure = |scanner: &mut Scanner| {
        let mut table = scanner.scan(&pids);
        at += jiff::SignedDuration::from_secs(1);
        scanner.usage(&mut table, &pids, at);
        get(&table, child.pid()).details.clone().unwrap()
    };
    // sysinfo treats a process that has used no time yet as one that it never measured.
    std::thread::sleep(Duration::from_millis(300));
    let first = measure(&mut scanner);
    assert_eq!(first.cpu_percent, None);
    assert!(first.memory_bytes.is_some_and(|bytes| bytes > 0));
    std::thread::sleep(Duration::from_millis(300));
    assert!(measure(&mut scanner).cpu_percent.is_some_and(|percent| percent > 0.0));
}

#[test]
fn who_comes_and_who_stops_is_news_once() {
    let folder = tempfile::tempdir().unwrap();
    let claude = folder.path().join("claude");
    program::copy("/bin/sleep", &claude);
    let mut scanner = scanner();
    scanner.scan(&BTreeSet::new());
    let mut agent = Command::new(&claude).arg("600").stdin(Stdio::null()).spawn().unwrap();
    let wait_for_news = |scanner: &mut Scanner| {
        (0..500).any(|_| {
            std::thread::sleep(Duration::from_millis(10));
            scanner.has_news()
        })
    };
    assert!(wait_for_news(&mut scanner), "it has come");
    let table = scanner.scan(&BTreeSet::new());
    assert!(table.get(agent.id()).is_some());
    let pid = rustix::process::Pid::from_raw(agent.id().cast_signed()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    assert!(wait_for_news(&mut scanner), "it has stopped");
    agent.kill().unwrap();
    agent.wait().unwrap();
}

#[test]
fn an_old_shell_that_becomes_an_agent_is_found_once_everybody_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let package = folder.path().join("@anthropic-ai/claude-code");
    std::fs::create_dir_all(&package).unwrap();
    let agent = program(&package, "claude");
    let mut shell = Command::new("/bin/sh");
    shell.args(["-c", "read line; exec \"$AGENT\" 600"]).env("AGENT", &agent).stdin(Stdio::piped());
    let mut shell = Stand(shell.spawn().unwrap());
    // A process is read at every look until it is 10 s old.
    std::thread::sleep(Duration::from_secs(11));
    let mut scanner = scanner();
    scanner.scan(&BTreeSet::new());
    writeln!(shell.0.stdin.take().unwrap()).unwrap();
    let comm = format!("/proc/{}/comm", shell.pid());
    while std::fs::read_to_string(&comm).unwrap() != "claude\n" {
        std::thread::sleep(Duration::from_millis(10));
    }
    let signatures = Signatures::built_in().unwrap();
    let is_agent =
        |table: &ProcessTable| table.get(shell.pid()).is_some_and(|one| signatures.classify(one).is_some());
    assert!(!is_agent(&scanner.rescan(&BTreeSet::new())), "an old process is not read at every look");
    assert!(scanner.has_new_agent());
    assert!(is_agent(&scanner.rescan(&BTreeSet::new())));
}
