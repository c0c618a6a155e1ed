//! `claimtop bind` as a hook runs it: a shell below an agent starts it with the hook's JSON, 200 times, and each run
//! is timed from the start of the program to its end; then as the hook that notes that the session waits for a person,
//! and, each time after it, as the one that takes this back.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const RUNS: usize = 200;
const WORLD: &str = "CLAIMTOP_BENCH_WORLD";

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
    let own = std::env::current_exe().expect("own path");
    let script = format!("sh -c '{} bind; exit $?'; exit $?", own.display());
    let status = Command::new(&agent).args(["-c", &script]).env(WORLD, world.path()).status();
    assert!(status.is_ok_and(|status| status.success()));
}

fn measure(world: &Path) {
    let hook = |name: &str, more: &str| {
        let hook = world.join(name);
        let session = r#""session_id":"95fe798d-3725-4649-974a-0dec79220193","cwd":"/x""#;
        std::fs::write(&hook, format!("{{{session}{more}}}")).expect("a file");
        hook
    };
    let asks = r#","hook_event_name":"PermissionRequest","tool_name":"Bash","tool_input":{"command":"ls"}"#;
    let own = env!("CARGO_BIN_EXE_claimtop");
    let [bind] = run([&hook("hook.json", "")], world, own, &["bind"]);
    let waits = hook("waits.json", asks);
    let goes_on = hook("goes-on.json", r#","hook_event_name":"UserPromptSubmit""#);
    let [waits, goes_on] = run([&waits, &goes_on], world, own, &["bind"]);
    let [nothing] = run([&hook("nothing.json", "")], world, "/bin/true", &[]);
    let notes = std::fs::read_dir(world.join(".local/state/claimtop/bindings")).expect("the notes").count();
    assert_eq!(notes, 1, "every run must have written the note");
    tell("claimtop bind", bind);
    tell("a wait", waits);
    tell("its end", goes_on);
    tell("/bin/true", nothing);
}

/// Runs a program with each of these hooks in turn, and returns the times of each, sorted.
fn run<const HOOKS: usize>(
    hooks: [&PathBuf; HOOKS],
    home: &Path,
    program: &str,
    arguments: &[&str],
) -> [Vec<Duration>; HOOKS] {
    let once = |hook: &PathBuf| {
        let input = std::fs::File::open(hook).expect("the hook's JSON");
        let mut command = Command::new(program);
        command.args(arguments).env_clear().env("HOME", home).stdin(Stdio::from(input));
        let began_at = Instant::now();
        let status = command.status();
        assert!(status.is_ok_and(|status| status.success()));
        began_at.elapsed()
    };
    let mut times = hooks.map(|_| Vec::with_capacity(RUNS));
    for _ in 0..RUNS {
        times.iter_mut().zip(hooks).for_each(|(times, hook)| times.push(once(hook)));
    }
    times.iter_mut().for_each(|times| times.sort());
    times
}

fn tell(name: &str, times: Vec<Duration>) {
    let at =
        |percent: usize| times.get(times.len() * percent / 100).map_or(0.0, |time| time.as_secs_f64() * 1e3);
    println!("{name:14} p50 {:.2} ms  p99 {:.2} ms over {RUNS} runs", at(50), at(99));
}
