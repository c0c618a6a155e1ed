//! Orders that a person gives on the screen, through the database.

use std::path::Path;
use std::time::Duration;

use crate::machine::Machine;
use crate::ordering::Stage;
use crate::pty::{Screen, claimtop};

/// Opens the operator's screen.
fn screen(stage: &Stage) -> Screen {
    let Machine { folder } = &stage.operator;
    let folders = ["home", "tmp", "state"].map(|name| (name, folder.path().join(name)));
    let mut arguments: Vec<String> =
        folders.iter().map(|(name, path)| format!("--{name}={}", path.display())).collect();
    arguments.push(format!("--fleet={}", stage.url()));
    let mut screen = Screen::start(claimtop(&arguments), 160, 40);
    screen.wait_for("1 Now");
    screen
}

#[test]
fn keys_release_what_is_dead_on_a_host_and_bring_it_back() {
    let stage = Stage::new("accept = 'dead-only'", "");
    let record = stage.host.record();
    let mut screen = screen(&stage);
    screen.press("3/one\r");
    screen.wait_for("1 of 2 rows");
    screen.wait_until("it is old enough", |_| age(&record) > Duration::from_secs(3));
    screen.press("r");
    screen.wait_for("aside, whole");
    screen.press("y");
    screen.wait_for("z undoes the last one");
    assert!(!record.exists(), "{}", screen.picture());
    screen.press("z");
    screen.wait_for("y does it");
    screen.press("y");
    screen.wait_until("it is back", |_| record.exists());
    screen.wait_for("● Done");
    assert_eq!(screen.end(), 0);
    assert!(stage.orders().ends_with("order done"), "{}", stage.orders());
    assert_eq!(stage.host.journal()[1]["undone_by"].as_u64(), Some(2), "{:?}", stage.host.journal());
}

/// Returns how long ago a file was written.
fn age(path: &Path) -> Duration {
    path.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default()
}
