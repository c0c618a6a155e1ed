//! `claimtop guard` as a hook runs it: below a shell below an agent, 200 times for each kind of call, timed from the
//! start of the program to its end, beside six other windows whose ledgers hold 5,000 edits of one working tree; and
//! other programs as a hook, within the same minute.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

const RUNS: usize = 200;
const WINDOWS: usize = 6;
const EDITS: usize = 5_000;
const FILES: usize = 800;
const WORLD: &str = "CLAIMTOP_BENCH_WORLD";
/// Names the program to measure, such as the packaged one; by default the one just built.
const PROGRAM: &str = "CLAIMTOP_BENCH_PROGRAM";
const OTHERS: &str = "CLAIMTOP_BENCH_OTHERS";

/// Runs the benchmark.
pub(crate) fn bench(_: Option<&str>) {
    match std::env::var(WORLD) {
        Ok(world) => measure(Path::new(&world)),
        Err(_) => below_an_agent(),
    }
}

/// Starts itself again below a shell in place of an agent's program.
fn below_an_agent() {
    let world = tempfile::tempdir().expect("a folder");
    let bin = world.path().join("node_modules/@anthropic-ai/claude-code/bin");
    std::fs::create_dir_all(&bin).expect("a folder");
    let agent = bin.join("claude");
    std::fs::copy("/bin/sh", &agent).expect("a shell");
    // Not below the agent: a process below a window is not another window.
    let others =
        Others((0..WINDOWS).map(|_| Command::new("sleep").arg("1000").spawn().expect("a window")).collect());
    let pids: Vec<String> = others.0.iter().map(|child| child.id().to_string()).collect();
    let own = std::env::current_exe().expect("own path");
    let script = format!("sh -c '{} guard; exit $?'; exit $?", own.display());
    let mut command = Command::new(&agent);
    let status = command.args(["-c", &script]).env(WORLD, world.path()).env(OTHERS, pids.join(" ")).status();
    assert!(status.is_ok_and(|status| status.success()));
}

/// Other windows, as far as a guard requires: live processes.
struct Others(Vec<Child>);

impl Drop for Others {
    fn drop(&mut self) {
        for child in &mut self.0 {
            let _ = child.kill();
            let _ = child.wait();
        }
    }
}

fn git(repo: &Path, arguments: &[&str]) {
    let mut command = Command::new("git");
    command.arg("-C").arg(repo).args(["-c", "user.name=x", "-c", "user.email=x@x"]).args(arguments);
    assert!(command.stdout(Stdio::null()).status().is_ok_and(|status| status.success()));
}

fn measure(world: &Path) {
    let repo = world.join("repo");
    std::fs::create_dir_all(repo.join("src")).expect("a folder");
    git(&repo, &["init", "-q"]);
    for number in 0..FILES {
        std::fs::write(repo.join(format!("src/{number}.rs")), "one\n").expect("a file");
    }
    git(&repo, &["add", "-A"]);
    git(&repo, &["commit", "-qm", "first"]);
    let own = &std::env::var(PROGRAM).unwrap_or_else(|_| env!("CARGO_BIN_EXE_claimtop").to_owned());
    let hook = |name: &str, event: &str, more: Value| {
        let mut hook = json!({"session_id": "own", "cwd": repo, "hook_event_name": event});
        hook.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
        let path = world.join(name);
        std::fs::write(&path, hook.to_string()).expect("a file");
        path
    };
    let write =
        json!({"tool_name": "Write", "tool_input": {"file_path": repo.join("src/own.rs"), "content": "x"}});
    let bash = |line: &str| json!({"tool_name": "Bash", "tool_input": {"command": line}});
    let before = hook("before", "PreToolUse", write.clone());
    let after = hook("after", "PostToolUse", write);
    let shell = hook("shell", "PreToolUse", bash("cargo test && ls"));
    let stash = hook("stash", "PreToolUse", bash("git stash"));
    let prompt = hook("prompt", "UserPromptSubmit", json!({}));
    let guard = ["guard", "--for", "claude"];
    once(&after, world, own, &guard);
    write_ledgers(world, &repo);

    let [write, edited, shell, stash, prompt] =
        run([&before, &after, &shell, &stash, &prompt], world, own, &guard);
    let [id] = run([&before], world, own, &["context-id"]);
    let [nothing] = run([&before], world, "/bin/true", &[]);
    let stats = Command::new(own).args(["guard", "stats"]).env("HOME", world).output().expect("the counts");
    println!("{}", String::from_utf8_lossy(&stats.stdout));
    tell("before Write", write);
    tell("after Write", edited);
    tell("Bash", shell);
    tell("git stash", stash);
    tell("a prompt", prompt);
    tell("context-id", id);
    tell("/bin/true", nothing);
    if Command::new("node").arg("--version").stdout(Stdio::null()).status().is_ok() {
        let [node] = run([&before], world, "node", &["-e", ""]);
        tell("node", node);
    }
}

/// Writes the ledgers of the other windows, like the one that the guard wrote of this one.
fn write_ledgers(world: &Path, repo: &Path) {
    let trees = world.join(".local/state/claimtop/guard/trees");
    let tree = std::fs::read_dir(trees).expect("the ledgers").next().expect("a tree").expect("a tree").path();
    let own = std::fs::read_dir(&tree).expect("a folder").next().expect("a ledger").expect("a ledger").path();
    let own = std::fs::read_to_string(own).expect("the ledger");
    let holder: Value =
        own.lines().find_map(|line| serde_json::from_str(line).ok()).expect("the holder's line");
    for number in 0..FILES / 2 {
        std::fs::write(repo.join(format!("src/{number}.rs")), "two\n").expect("a file");
    }
    let at = jiff::Timestamp::now();
    let pids = std::env::var(OTHERS).expect("the windows");
    for (window, pid) in pids.split(' ').enumerate() {
        let pid: u32 = pid.parse().expect("a PID");
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).expect("its line");
        let ticks = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(19));
        let ticks: u64 = ticks.expect("its start").parse().expect("a number");
        let mut holder = holder.clone();
        let entry = holder.get_mut("holder").expect("the holder");
        *entry.get_mut("session").expect("its session") = json!(format!("other-{window}"));
        *entry.get_mut("process").expect("its process") = json!({"pid": pid, "start_ticks": ticks});
        *entry.get_mut("pidfd_inode").expect("its inode") = Value::Null;
        let mut text = format!("{holder}\n");
        for edit in (0..EDITS).filter(|edit| edit % WINDOWS == window) {
            let path = repo.join(format!("src/{}.rs", edit % FILES));
            writeln!(text, "{}", json!({"edited": {"path": path, "at": at}})).expect("text");
        }
        std::fs::write(tree.join(format!("other-{window}.{pid}.jsonl")), text).expect("a ledger");
    }
}

fn once(hook: &PathBuf, home: &Path, program: &str, arguments: &[&str]) -> Duration {
    let input = std::fs::File::open(hook).expect("the hook's JSON");
    let mut command = Command::new(program);
    command.args(arguments).env_clear().env("HOME", home).env("PATH", "/usr/local/bin:/usr/bin:/bin");
    command.stdin(Stdio::from(input)).stdout(Stdio::null());
    let began_at = Instant::now();
    assert!(command.status().is_ok_and(|status| status.success()));
    began_at.elapsed()
}

/// Runs a program with each of these hooks in turn, and returns the times of each, sorted.
fn run<const HOOKS: usize>(
    hooks: [&PathBuf; HOOKS],
    home: &Path,
    program: &str,
    arguments: &[&str],
) -> [Vec<Duration>; HOOKS] {
    let mut times = hooks.map(|_| Vec::with_capacity(RUNS));
    for _ in 0..RUNS {
        times
            .iter_mut()
            .zip(hooks)
            .for_each(|(times, hook)| times.push(once(hook, home, program, arguments)));
    }
    times.iter_mut().for_each(|times| times.sort());
    times
}

fn tell(name: &str, times: Vec<Duration>) {
    let at =
        |percent: usize| times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!("{name:14} p50 {:.2} ms  p99 {:.2} ms over {RUNS} runs", at(50), at(99));
}
