//! The demo: the meaning of its world on paper, that the real one means the same, and that nothing of it remains.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Output};
use std::sync::Arc;
use std::time::Duration;

use claimtop::core::model::{Certainty, Code, Severity};
use claimtop::testing::app::{Effect, Msg, Options, Press, Size, State, update};
use claimtop::testing::core::Request;
use serde_json::Value;

use crate::common;
use crate::pty;
use crate::pty::Screen;

fn story() -> common::WorldFile {
    common::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo.toml"))
}

#[test]
fn the_stories_of_its_machines_come_out_as_they_say() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/demo-machines");
    for entry in std::fs::read_dir(folder).unwrap() {
        let story = common::load(&entry.unwrap().path());
        let differences = common::expect::differences(&story.expect, &story.report());
        assert!(differences.is_empty(), "{}", differences.join("\n"));
    }
}

/// Runs the demo once with a temporary folder of its own.
fn once(tmp: &Path, zone: &str, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_claimtop"))
        .args(["demo", "--once"])
        .args(arguments)
        .env("TMPDIR", tmp)
        .env("TZ", zone)
        .output()
        .unwrap()
}

fn is_empty(folder: &Path) -> bool {
    std::fs::read_dir(folder).unwrap().next().is_none()
}

#[test]
fn the_story_comes_out_as_it_says_and_has_every_collision() {
    let story = story();
    let report = story.report();
    let differences = common::expect::differences(&story.expect, &report);
    assert!(differences.is_empty(), "{}", differences.join("\n"));
    let told: BTreeSet<Code> = report.findings.iter().map(|finding| finding.code).collect();
    for code in Code::ALL.iter().filter(|code| code.severity() == Severity::Collision) {
        assert!(told.contains(code), "the demo does not show {}", code.name());
    }
}

#[test]
fn the_real_world_means_what_the_story_says_in_every_zone() {
    ["UTC", "America/New_York", "Asia/Tokyo"].into_iter().for_each(check);
}

/// Compares the demo with its story, on a machine in this zone.
#[track_caller]
fn check(zone: &str) {
    let tmp = tempfile::tempdir().unwrap();
    let output = once(tmp.path(), zone, &["--json"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = report.get("findings").and_then(Value::as_array).unwrap();
    let mut found: Vec<&str> =
        findings.iter().map(|finding| finding.get("code").unwrap().as_str().unwrap()).collect();
    found.sort_unstable();
    let mut expected = story().expect.findings;
    expected.sort_unstable();
    // Beside processes that may not be inspected (tests/alone), the process that works in a tree is a guess.
    if std::env::var_os("CLAIMTOP_TEST_WORLD").is_none() {
        let tree = Code::LeftOverWorktree.name();
        found.retain(|code| *code != tree);
        expected.retain(|code| *code != tree);
    }
    let told: Vec<_> = findings.iter().map(|finding| finding.get("message")).collect();
    assert_eq!(found, expected, "{zone}: {told:#?}");
    assert!(is_empty(tmp.path()), "a folder of the demo stays");
    let windows = report.get("windows").and_then(Value::as_array).unwrap();
    assert_eq!(windows.len(), 10);
    for window in windows {
        let number = |name| window.get(name).unwrap().as_u64().unwrap();
        assert!(!runs(number("pid"), number("start_ticks")), "a process of the demo stays: {window}");
    }
}

/// Returns whether this very process runs.
fn runs(pid: u64, start_ticks: u64) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let mut fields = stat.rsplit(')').next().unwrap_or_default().split_whitespace();
    let state = fields.next().unwrap_or("X").to_owned();
    let started = fields.nth(18).and_then(|ticks| ticks.parse().ok());
    started == Some(start_ticks) && !"XZ".contains(&state)
}

#[test]
fn the_list_is_for_people_and_folders_are_the_demos_own() {
    let tmp = tempfile::tempdir().unwrap();
    let output = once(tmp.path(), "UTC", &[]);
    let text = String::from_utf8(output.stdout).unwrap();
    assert!(text.contains("codex"), "{text}");
    let output = once(tmp.path(), "UTC", &["--home", "/"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(is_empty(tmp.path()));
}

/// Opens the demo's screen.
fn screen(tmp: &Path, columns: u16, rows: u16) -> Screen {
    let mut command = pty::claimtop(&["demo".to_owned()]);
    command.env("TMPDIR", tmp);
    let mut screen = Screen::start(command, columns, rows);
    screen.wait_for("site-css");
    screen
}

/// Returns whether this system lets the demo's machines have namespaces of their own.
fn has_namespaces() -> bool {
    let all = ["--pid", "--fork", "--kill-child", "--mount", "--mount-proc", "--uts", "true"];
    let granted = |of_a_user: &[&str]| {
        let mut tried = Command::new("unshare");
        tried.args(of_a_user).args(all).output().is_ok_and(|tried| tried.status.success())
    };
    granted(&[]) || granted(&["--user", "--map-root-user"])
}

/// Returns the processes that run a program of the demo's or play a machine of it.
fn everybody(tmp: &Path) -> Vec<(u64, u64)> {
    let plays_machine = |entry: &std::fs::DirEntry| {
        let command = std::fs::read(entry.path().join("cmdline")).unwrap_or_default();
        let command = String::from_utf8_lossy(&command);
        command.contains("demo-machine") && command.contains(tmp.to_str().unwrap())
    };
    let machine = |entry: std::fs::DirEntry| {
        if plays_machine(&entry) { started(&entry.path()) } else { None }
    };
    let machines = std::fs::read_dir("/proc").unwrap().filter_map(|entry| machine(entry.ok()?));
    players(tmp).into_iter().chain(machines).collect()
}

/// Waits for every process of the demo: one releases its lock a moment before it is gone.
fn wait_until_all_have_ended(tmp: &Path) {
    wait_for(|| everybody(tmp).is_empty().then_some(()));
}

#[test]
fn three_machines_are_shown_and_nothing_of_them_stays() {
    let tmp = tempfile::tempdir().unwrap();
    let output = once(tmp.path(), "UTC", &["--json", "--machines", "3"]);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(is_empty(tmp.path()), "a folder of the demo stays");
    wait_until_all_have_ended(tmp.path());
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = |kind: &str, path: &str| -> Vec<String> {
        let values = report.get(kind).and_then(Value::as_array).unwrap();
        values.iter().map(|value| value.pointer(path).unwrap().to_string().replace('"', "")).collect()
    };
    assert_eq!(all("machines", "/name"), ["devbox", "gpu", "web"]);
    assert_eq!(all("machines", "/state"), ["live"; 3]);
    let keys = all("windows", "/key");
    let windows_of = |machine: &str| keys.iter().filter(|key| key.ends_with(machine)).count();
    assert_eq!([windows_of("@devbox"), windows_of("@gpu"), windows_of("@web"), keys.len()], [1, 2, 2, 7]);
    // One session lives on two of them.
    let held: Vec<(String, String)> =
        all("claims", "/resource/id").into_iter().zip(all("claims", "/status")).collect();
    let pay = held.iter().filter(|(id, status)| id.starts_with("3f5e2c74") && status == "contested").count();
    assert_eq!(pay, 2, "{held:?}");
    // A window has died there.
    let of_dead = held.iter().find(|(id, _)| id.starts_with("7d9260b8")).unwrap();
    let provable = if has_namespaces() { of_dead.1 == "dead" } else { of_dead.1 != "held" };
    assert!(provable, "{held:?}");
}

#[test]
fn what_a_window_left_over_there_is_let_go_from_here() {
    if !has_namespaces() {
        return;
    }
    let tmp = tempfile::tempdir().unwrap();
    let mut command = pty::claimtop(&["demo", "--machines", "3"].map(str::to_owned));
    command.env("TMPDIR", tmp.path());
    let mut screen = Screen::start(command, 150, 40);
    // Whether its machine has seen it end does not matter here.
    let is_dead = |screen: &Screen| screen.shows("shop-search is dead") || screen.shows("shop-search died");
    screen.wait_until("the dead one", is_dead);
    screen.press("/shop-search\r");
    screen.wait_until("one row", |screen| !screen.shows("docs-intro"));
    screen.press("r");
    screen.wait_for("Plan: release");
    assert!(!screen.shows("None of this can be done"), "{}", screen.picture());
    screen.press("y");
    screen.wait_until("done", |screen| !screen.shows("Plan: release") || screen.shows("done"));
    assert!(screen.shows("done"), "{}", screen.picture());
    assert_eq!(screen.end(), 0);
    assert!(is_empty(tmp.path()), "a folder of the demo stays");
}

#[test]
fn a_machine_falls_silent_and_comes_back() {
    let tmp = tempfile::tempdir().unwrap();
    let mut command = pty::claimtop(&["demo", "--machines", "3"].map(str::to_owned));
    command.env("TMPDIR", tmp.path());
    let mut screen = Screen::start(command, 150, 40);
    screen.wait_for("8 Machines 3");
    screen.press("8");
    let live = |screen: &Screen| screen.picture().matches("● live").count();
    screen.wait_until("all live", |screen| live(screen) == 3);
    screen.wait_for("? silent");
    assert_eq!(live(&screen), 2, "{}", screen.picture());
    screen.press("2");
    screen.wait_for("not seen for");
    screen.press("8");
    screen.wait_until("all live again", |screen| live(screen) == 3);
    assert_eq!(screen.end(), 0);
    assert!(is_empty(tmp.path()), "a folder of the demo stays");
    wait_until_all_have_ended(tmp.path());
}

#[test]
fn whoever_kills_the_demo_ends_its_machines() {
    let tmp = tempfile::tempdir().unwrap();
    let system = portable_pty::native_pty_system();
    let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = system.openpty(size).unwrap();
    let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_claimtop"));
    command.args(["demo", "--machines", "2"]);
    command.env("TMPDIR", tmp.path());
    let mut demo = pair.slave.spawn_command(command).unwrap();
    // Two windows here and three there, and their witnesses.
    let all = wait_for(|| Some(everybody(tmp.path())).filter(|all| all.len() >= 7));
    demo.kill().unwrap();
    demo.wait().unwrap();
    wait_for(|| all.iter().all(|(pid, ticks)| !runs(*pid, *ticks)).then_some(()));
}

#[test]
fn who_waits_and_for_what_is_told_without_a_key() {
    for (columns, rows) in [(60, 15), (80, 24), (200, 50)] {
        let tmp = tempfile::tempdir().unwrap();
        let mut screen = screen(tmp.path(), columns, rows);
        screen.wait_for("site-css asks you (4 min): may it run");
        screen.wait_for("1 asks you");
        // Beside the needs there is room for windows and their work.
        screen.wait_for("shop-cart");
        screen.wait_for("working");
        assert_eq!(screen.end(), 0);
    }
}

#[test]
fn why_two_windows_collide_and_which_yields_takes_three_keys() {
    let tmp = tempfile::tempdir().unwrap();
    let mut screen = screen(tmp.path(), 80, 24);
    // The window that yields is reported at once.
    screen.wait_for(": close checkout");
    screen.press("jj");
    screen.wait_for("or restart it");
    screen.press("\r");
    screen.wait_for("How it came to be: resumed-session");
    assert_eq!(screen.end(), 0);
}

/// Finds a file of the demo's.
fn found(folder: &Path, name: &str) -> bool {
    std::fs::read_dir(folder).into_iter().flatten().flatten().any(|entry| {
        let is_folder = entry.file_type().is_ok_and(|sort| sort.is_dir());
        entry.file_name() == name || is_folder && found(&entry.path(), name)
    })
}

#[test]
fn lost_edits_come_back_and_are_undone() {
    let tmp = tempfile::tempdir().unwrap();
    let mut screen = screen(tmp.path(), 120, 40);
    screen.wait_for("shop-tests ↔ shop-cart: src/refunds.rs of shop-tests gone: u brings them back");
    assert!(!found(tmp.path(), "refunds.rs"));
    screen.press("j");
    let is_selected = |line: &str| line.starts_with('▌') && line.contains("u brings them back");
    screen.wait_until("the loss selected", |screen| screen.picture().lines().any(is_selected));
    screen.press("u");
    screen.wait_for("y do it");
    screen.press("y");
    screen.wait_for("Finished");
    assert!(found(tmp.path(), "refunds.rs"));
    screen.press("\u{1b}");
    screen.wait_until("all is back", |screen| !screen.picture().contains("u brings them back"));
    screen.press("z");
    screen.wait_for("y do it");
    screen.press("y");
    screen.wait_for("Finished");
    assert!(!found(tmp.path(), "refunds.rs"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_stuck_claim_is_let_go_with_three_keys() {
    let tmp = tempfile::tempdir().unwrap();
    let mut screen = screen(tmp.path(), 120, 40);
    let is_last = |line: &str| line.contains("shop-search is dead") || line.contains("shop-search died");
    screen.wait_until("the dead one", |screen| screen.picture().lines().any(is_last));
    // The left-overs of the dead are last, and moving up from the first goes there.
    screen.press("N");
    let is_selected = |line: &str| line.starts_with('▌') && is_last(line);
    screen.wait_until("the dead selected", |screen| screen.picture().lines().any(is_selected));
    screen.press("r");
    screen.wait_for("y do it");
    screen.press("y");
    screen.wait_for("Finished");
    screen.press("\u{1b}");
    screen.wait_until("no claim left", |screen| !screen.picture().lines().any(is_last));
    assert_eq!(screen.end(), 0);
}

#[test]
fn whoever_kills_the_demo_ends_its_processes() {
    let tmp = tempfile::tempdir().unwrap();
    let system = portable_pty::native_pty_system();
    let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = system.openpty(size).unwrap();
    let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_claimtop"));
    command.arg("demo");
    command.env("TMPDIR", tmp.path());
    let mut demo = pair.slave.spawn_command(command).unwrap();
    // Nine windows, two shells, and the processes that outlive their windows.
    let players = wait_for(|| Some(players(tmp.path())).filter(|players| players.len() >= 15));
    demo.kill().unwrap();
    demo.wait().unwrap();
    wait_for(|| players.iter().all(|(pid, ticks)| !runs(*pid, *ticks)).then_some(()));
    // The next one removes its left-overs, and nothing of a live one, nor anything that it does not know.
    assert!(!is_empty(tmp.path()));
    let foreign = tmp.path().join("claimtop-demo-foreign");
    std::fs::create_dir(&foreign).unwrap();
    let mut living = screen(tmp.path(), 80, 24);
    let folders = || std::fs::read_dir(tmp.path()).unwrap().count();
    assert_eq!(folders(), 2, "the living one's and what is foreign");
    assert!(once(tmp.path(), "UTC", &[]).status.success());
    assert_eq!(folders(), 2);
    living.press("2");
    living.wait_for("site-css");
    assert_eq!(living.end(), 0);
    std::fs::remove_dir(foreign).unwrap();
    assert!(is_empty(tmp.path()), "a folder of the demo stays");
}

#[test]
fn a_terminal_that_hangs_up_leaves_nothing_of_the_demo() {
    let tmp = tempfile::tempdir().unwrap();
    let system = portable_pty::native_pty_system();
    let size = portable_pty::PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
    let pair = system.openpty(size).unwrap();
    let mut command = portable_pty::CommandBuilder::new(env!("CARGO_BIN_EXE_claimtop"));
    command.arg("demo");
    command.env("TMPDIR", tmp.path());
    let mut demo = pair.slave.spawn_command(command).unwrap();
    wait_for(|| (!is_cooked(&*pair.master)).then_some(()));
    drop(pair);
    let status = wait_for(|| demo.try_wait().unwrap());
    assert!(is_empty(tmp.path()), "a folder of the demo stays: {status:?}");
}

/// Returns whether a terminal is in its ordinary mode: lines, with echo.
fn is_cooked(master: &dyn portable_pty::MasterPty) -> bool {
    // ICANON and ECHO of termios(3) on Linux.
    let wanted = 0o2 | 0o10;
    u64::from(master.get_termios().unwrap().local_flags.bits()) & wanted == wanted
}

/// Asks repeatedly; a minute is far more than it can need.
#[track_caller]
fn wait_for<T>(mut ask: impl FnMut() -> Option<T>) -> T {
    for _ in 0..6_000 {
        if let Some(answer) = ask() {
            return answer;
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    panic!("it never came");
}

/// Returns PID and start of every process that runs a program of the demo's.
fn players(tmp: &Path) -> Vec<(u64, u64)> {
    let player = |entry: std::fs::DirEntry| {
        std::fs::read_link(entry.path().join("exe")).ok().filter(|exe| exe.starts_with(tmp))?;
        started(&entry.path())
    };
    std::fs::read_dir("/proc").unwrap().filter_map(|entry| player(entry.ok()?)).collect()
}

/// Returns the PID and the start of a process, by its folder.
fn started(process: &Path) -> Option<(u64, u64)> {
    let stat = std::fs::read_to_string(process.join("stat")).ok()?;
    let pid = stat.split(' ').next()?.parse().ok()?;
    Some((pid, stat.rsplit(')').next()?.split_whitespace().nth(19)?.parse().ok()?))
}

#[test]
fn what_a_dead_window_left_running_and_its_end_take_two_keys_and_a_code() {
    let report = Arc::new(story().report());
    let mut state = State::new(Options::default(), Size { width: 80, height: 24 }, report.taken_at);
    update(&mut state, Msg::Looked(Arc::clone(&report)));
    update(&mut state, Msg::Pressed(Press::Char('6')));
    let effects = update(&mut state, Msg::Pressed(Press::Char('x')));
    let [Effect::Offer(asked), ..] = effects.as_slice() else { panic!("{effects:?}") };
    let [Request::Stop { key, .. }] = asked.as_slice() else { panic!("{asked:?}") };
    let left = report.left_overs.iter().find(|one| one.key == *key).unwrap();
    assert!(left.may_be_ended() && left.certainty == Certainty::Exact, "{left:?}");
}

#[test]
fn the_guards_play_is_held_by_real_windows_and_hooks() {
    let tmp = tempfile::tempdir().unwrap();
    let mut play = Command::new(env!("CARGO_BIN_EXE_claimtop"));
    let answer = play.args(["demo", "--guard"]).env("TMPDIR", tmp.path()).output().unwrap();
    let said = String::from_utf8(answer.stdout).unwrap();
    assert!(answer.status.success() && answer.stderr.is_empty(), "{said}");
    assert!(is_empty(tmp.path()));
    let flat = said.split_whitespace().collect::<Vec<_>>().join(" ");
    let steps = [
        "cart calls `git stash`: (the guard says nothing)",
        "cart edits src/pay.rs: (the guard says nothing)",
        "its model reads: claimtop: the window `cart` (claude-code, PID",
        "refused once: claimtop held this up once: `git add -A` would affect",
        "so it is intentional: (the guard says nothing)",
        "with the result its model reads: claimtop: the window `cart`",
        "which would take what cart stashed: claimtop held this up once: `git stash pop`",
        "cart ↔ checkout: both edit pay.rs, same tree; checkout was held up ",
        " s ago because of the work of cart",
    ];
    let mut rest = flat.as_str();
    for step in steps {
        rest = rest.split_once(step).unwrap_or_else(|| panic!("{step}\n{said}")).1;
    }
}

#[test]
fn what_a_window_left_running_is_called_as_its_configuration_does() {
    let tmp = tempfile::tempdir().unwrap();
    let frames = once(tmp.path(), "UTC", &["--frames", "6"]);
    assert!(String::from_utf8_lossy(&frames.stdout).contains("MCP server catalogue"));
}
