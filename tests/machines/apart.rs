//! Machines made of namespaces, each with its own machine ID and boot: they boot again, are cloned, and have a wrong
//! clock.

use std::process::Command;

use super::far::{are_possible, configure, json, over_all};
use super::missing::skip_for_want_of;
use super::pty::{Screen, claimtop};
use super::world::World;

const ID: &str = "0123456789abcdef0123456789abcdef\n";

fn boot(world: &World, machine: &str, number: u32) {
    world.write(&format!("boot-{machine}"), &format!("11111111-0000-4000-8000-{number:012}\n"));
}

/// Opens the screen.
pub(super) fn screen(world: &World) -> Screen {
    screen_with(world, "/usr/bin:/bin")
}

/// Opens the screen, which finds its programs in these folders.
pub(super) fn screen_with(world: &World, path: &str) -> Screen {
    let folders = ["home", "tmp"].map(|name| world.path(name).to_str().unwrap().to_owned());
    let arguments = ["--home", &folders[0], "--tmp", &folders[1]].map(str::to_owned);
    let mut command = claimtop(&arguments);
    command.env("PATH", path);
    let mut screen = Screen::start(command, 160, 40);
    screen.wait_for("1 Now");
    screen
}

/// Ends the programs by which the screen reaches machines.
fn power_off(screen: &Screen) {
    let parent = screen.child.process_id().unwrap().to_string();
    let below = Command::new("pgrep").args(["-P", &parent]).output().unwrap().stdout;
    for pid in String::from_utf8(below).unwrap().lines() {
        Command::new("kill").args(["-KILL", pid]).status().unwrap();
    }
}

#[test]
fn a_machine_that_boots_again_is_the_same_one_and_nobody_is_said_to_have_died() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    boot(&world, "devbox", 1);
    world.write("id-devbox", ID);
    configure(&world, &["devbox"], &[]);
    let mut screen = screen(&world);
    screen.press("2/devbox\r");
    screen.wait_until("its windows", |screen| {
        screen.shows("● working    devbox-pay") && screen.shows("○ your turn  devbox-notes")
    });
    let begin = std::fs::read_to_string(world.path("begin.sh")).unwrap();
    world.write("begin.sh", "exit 1\n");
    power_off(&screen);
    // Whether this machine has seen its processes does not matter here.
    let has_died = |screen: &Screen| {
        let picture = screen.picture();
        let mut rows = picture.lines().filter_map(|line| line.split('│').next());
        rows.any(|row| row.contains("✗ died") && row.contains("devbox-"))
    };
    screen.wait_for("? not seen   devbox-pay");
    assert!(!has_died(&screen), "{}", screen.picture());
    boot(&world, "devbox", 2);
    world.write("begin.sh", &begin);
    screen.wait_until("it is back", |screen| {
        screen.shows("● working    devbox-pay") && screen.shows("○ your turn  devbox-notes")
    });
    assert!(!has_died(&screen), "{}", screen.picture());
    screen.end();
    let answer = over_all(&world, &["ls", "--json"]);
    let report = json(&answer);
    assert_eq!((answer.code, &report["machines"][0]["state"]), (0, &"live".into()), "{report}");
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().all(|finding| finding["code"] != "cloned-machine"), "{report}");
}

#[test]
fn of_two_machines_with_one_id_both_are_shown_and_neither_is_asked_for_anything() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    for (number, machine) in [(1, "one"), (2, "two")] {
        boot(&world, machine, number);
        world.write(&format!("id-{machine}"), ID);
    }
    configure(&world, &["one", "two"], &[]);
    let report = json(&over_all(&world, &["ls", "--json"]));
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["code"] == "cloned-machine"), "{report}");
    let keys = report["windows"].as_array().unwrap().iter().map(|window| window["key"].as_str().unwrap());
    let keys: Vec<&str> = keys.filter(|key| key.contains('@')).collect();
    for machine in ["@one", "@two"] {
        assert_eq!(keys.iter().filter(|key| key.ends_with(machine)).count(), 2, "{keys:?}");
    }
    let mut screen = screen(&world);
    // Only an observer that has received both knows that they are clones.
    screen.press("5");
    screen.wait_for("cloned-machine");
    screen.press("2/two-pay\r");
    screen.wait_for("● working    two-pay");
    screen.press("x");
    screen.wait_for("so nothing is requested of either");
    screen.end();
}

/// Sets the clock of the process that loads it an hour ahead.
const FAST: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *at) {
    int (*real)(clockid_t, struct timespec *) = dlsym(RTLD_NEXT, "clock_gettime");
    int done = real(id, at);
    if (id == CLOCK_REALTIME) at->tv_sec += 3600;
    return done;
}
"#;

#[test]
fn a_machine_whose_clock_is_an_hour_fast_is_told_and_judged_as_any_other() {
    if !are_possible() {
        return;
    }
    let world = World::new();
    let made = Command::new("cc")
        .args(["-shared", "-fPIC", "-w", "-x", "c", "-o"])
        .arg(world.path("clock.so"))
        .arg(world.write("clock.c", FAST))
        .status();
    if !made.is_ok_and(|status| status.success()) {
        return skip_for_want_of("cc");
    }
    configure(&world, &["devbox"], &[]);
    let report = json(&over_all(&world, &["ls", "--json"]));
    let machine = &report["machines"][0];
    assert!(machine["detail"].as_str().unwrap().contains("ahead of this one"), "{machine}");
    assert!(machine["clock_ahead_seconds"].as_i64().unwrap() > 3_000, "{machine}");
    let records = report["records"].as_array().unwrap().iter();
    let of_it: Vec<_> = records.filter(|one| one["key"].as_str().unwrap().ends_with("@devbox")).collect();
    assert_eq!(of_it.len(), 2, "{report}");
    assert!(of_it.iter().all(|one| one["verdict"]["state"] == "alive"), "{of_it:?}");
}
