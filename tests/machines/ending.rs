//! Programs that reach a machine end with claimtop, whatever they ignore; and a sheet does not wait for a machine that
//! hangs.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, Signal, kill_process};

use super::apart::screen;
use super::far::configure;
use super::stage::{Made, Stage};
use super::world::World;

const HELLO: &str = r#"{"hello":{"schema":"claimtop.stream.v1","version":"0.1.0","machine":"m","store":"s","host":"h","boot":null,"pid_namespace":null,"now":"2026-11-24T00:00:00Z"}}"#;
const LOOK: &str = r#"{"look":{"at":"2026-11-24T00:00:00Z"}}"#;

/// Configures a machine whose program ends neither with its input nor when it is asked to; returns the path of its
/// PID.
fn stubborn(world: &World, says: &str) -> PathBuf {
    let pid = world.path("pid");
    let script =
        format!("trap '' TERM HUP INT; echo $$ > {}; {says} while :; do sleep 0.1; done", pid.display());
    configure(world, &[], &[("box", &["sh", "-c", &script])]);
    pid
}

/// Waits for the noted PID, and takes it.
fn noted(path: &Path) -> String {
    loop {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        if let Some(pid) = text.strip_suffix('\n') {
            std::fs::remove_file(path).unwrap();
            return pid.to_owned();
        }
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

fn lives(pid: &str) -> bool {
    Path::new("/proc").join(pid).exists()
}

#[test]
fn a_program_that_ignores_the_end_of_its_input_and_term_is_ended_with_a_command() {
    let world = World::new();
    let pid = stubborn(&world, &format!("echo '{HELLO}'; echo '{LOOK}';"));
    for command in [&["ls"][..], &["doctor"], &["machines"], &["report"], &["clean", "--dry-run"]] {
        let answer = world.run_with(command, &[("PATH", "/usr/bin:/bin")]);
        assert!(!lives(&noted(&pid)), "{command:?}: {answer:?}");
    }
}

#[test]
fn it_is_ended_with_the_screen_also_before_it_has_said_who_it_is() {
    for says in [format!("echo '{HELLO}'; echo '{LOOK}';"), String::new()] {
        let world = World::new();
        let pid = stubborn(&world, &says);
        let mut screen = screen(&world);
        screen.wait_for("8 Machines 1");
        let pid = noted(&pid);
        assert!(lives(&pid));
        screen.end();
        assert!(!lives(&pid), "{says}");
    }
}

#[test]
fn it_is_ended_when_claimtop_is_killed() {
    let world = World::new();
    let pid = stubborn(&world, "");
    let mut command = world.command(&["ls"]);
    let mut killed = command.env("PATH", "/usr/bin:/bin").spawn().unwrap();
    let pid = noted(&pid);
    let id = i32::try_from(killed.id()).unwrap();
    kill_process(Pid::from_raw(id).unwrap(), Signal::KILL).unwrap();
    killed.wait().unwrap();
    let is_over = || {
        let state = std::fs::read_to_string(format!("/proc/{pid}/stat"));
        state.map_or(true, |state| state.contains(") Z "))
    };
    while !is_over() {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
}

#[test]
fn a_sheet_is_left_while_its_machine_takes_its_time_and_what_became_of_it_is_told() {
    let stage = Stage::new(Made::Home, "operate");
    stage.end();
    stage.rest(&stage.key());
    let go = stage.world.path("go");
    stage.world.write("cuts.sh", &format!("while [ ! -e {} ]; do sleep 0.05; done\n", go.display()));
    let mut screen = screen(&stage.world);
    screen.press(&format!("4/{}", stage.name));
    screen.wait_for(&format!("/{}", stage.name));
    screen.press("\r");
    screen.wait_for("✗ dead");
    screen.press("r");
    screen.wait_for("y does it");
    stage.cut(&["up order run"]);
    screen.press("y");
    screen.wait_for("In progress on far");
    screen.press("\u{1b}");
    screen.wait_for("Work begun on far continues");
    screen.press("2");
    screen.wait_until("another view", |screen| !screen.shows("In progress"));
    assert!(stage.lies());
    std::fs::write(&go, "").unwrap();
    screen.wait_for("On far: ");
    screen.wait_for(" was done");
    assert!(!stage.lies());
    screen.end();
}
