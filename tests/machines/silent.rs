//! A machine that is no longer heard.

use std::process::Stdio;

use rustix::process::{Pid, Signal, kill_process};

use super::apart::screen;
use super::far::{are_possible, configure};
use super::world::World;

/// Sends another machine's report once, and nothing more; a second connection is refused.
const ONCE: &str = r#"[ -e $1.pid ] && exit 1; echo $$ > $1.pid; cat $1; exec sleep 600"#;

/// Writes down the report of a real machine until a whole look is in it: its processes are not of this machine.
fn told(world: &World) -> String {
    configure(world, &["devbox"], &[]);
    let config = std::fs::read_to_string(world.path("home/.config/claimtop/config.toml")).unwrap();
    let command = config.lines().find_map(|line| line.strip_prefix("command = ")).unwrap();
    let words: Vec<String> = serde_json::from_str(command).unwrap();
    let mut machine = std::process::Command::new(&words[0]);
    machine.args(&words[1..]).args([env!("CARGO_BIN_EXE_claimtop"), "stream", "--observe"]);
    let mut machine = machine.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let lines = std::io::BufRead::lines(std::io::BufReader::new(machine.stdout.take().unwrap()));
    let mut all = String::new();
    for line in lines {
        let line = line.unwrap();
        all.push_str(&format!("{line}\n"));
        if line.starts_with(r#"{"look""#) && all.contains("devbox-notes") {
            break;
        }
    }
    machine.kill().unwrap();
    machine.wait().unwrap();
    all
}

#[test]
fn its_rows_stay_and_nobody_of_it_is_said_to_live_or_to_be_dead() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    let told = world.write("told", &told(&world));
    let path = told.to_str().unwrap();
    configure(&world, &[], &[("devbox", &["sh", "-c", ONCE, "sh", path])]);
    let mut screen = screen(&world);
    // Agents of other tests may run on this machine, and what it sees itself of this one's lies in a folder of its
    // name.
    screen.press("2/devbox-");
    screen.wait_for("/devbox-");
    screen.press("\r");
    screen.wait_until("two windows of devbox", |screen| {
        screen.shows("devbox-pay") && screen.shows("devbox-notes") && screen.shows("working")
    });
    let pid = std::fs::read_to_string(world.path("told.pid")).unwrap().trim().parse().unwrap();
    kill_process(Pid::from_raw(pid).unwrap(), Signal::KILL).unwrap();
    screen.wait_for("not seen for");
    assert!(screen.shows("devbox-pay") && screen.shows("? not seen"), "{}", screen.picture());
    assert!(!screen.shows("died") && !screen.shows("● working    devbox"), "{}", screen.picture());
    screen.press("r");
    screen.wait_for("It is on devbox: it is silent");
    screen.press("4");
    screen.wait_for("unproven");
    assert!(!screen.shows("held") && !screen.shows("✗ dead"), "{}", screen.picture());
    screen.press("8");
    screen.wait_for("silent");
    screen.end();
}
