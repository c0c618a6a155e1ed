//! Orders that a person gives on the screen, through the database.

use std::cell::RefCell;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::fleet::machine::{Machine, Running};
use crate::fleet::ordering::Stage;
use crate::program;
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
    screen.wait_for("Refused if");
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

/// Starts a window of this name on a host, which registers itself.
fn window(host: &Machine, name: &str) -> RefCell<Running> {
    let folder = host.folder.path();
    let agent = folder.join("share/claude/versions/2.1.330");
    std::fs::create_dir_all(agent.parent().unwrap()).unwrap();
    program::copy("/bin/sleep", &agent);
    let child = program::spawn(Command::new(agent).arg("3600").current_dir(folder).stdin(Stdio::null()));
    let pid = child.id();
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    let start = stat.rsplit_once(") ").unwrap().1.split(' ').nth(19).unwrap().to_owned();
    let record = format!(
        r#"{{"pid": {pid}, "sessionId": "bbbbbbbb-0000-4000-8000-{pid:012}", "procStart": "{start}", "startedAt": 1, "cwd": "/x", "kind": "interactive", "name": "{name}", "status": "busy"}}"#
    );
    std::fs::write(host.record().with_file_name(format!("{pid}.json")), record).unwrap();
    RefCell::new(Running(child))
}

/// Shows the rows of a view that have this text, once there is one.
fn find(screen: &mut Screen, view: &str, text: &str) {
    screen.press(&format!("{view}/{text}\r"));
    screen.wait_for(&format!("/{text}  1 of "));
}

/// Types the text that the sheet requires.
fn type_what_is_asked(screen: &mut Screen) {
    screen.wait_for(", then Enter:");
    let picture = screen.picture();
    let asked = picture.lines().find(|line| line.contains(", then Enter:")).unwrap();
    let before = asked.split(", then Enter:").next().unwrap();
    let wanted = before.rsplit_once("type its name ").or_else(|| before.rsplit_once("type "));
    screen.press(&format!("{}\r", wanted.unwrap().1));
}

#[test]
fn a_key_migrates_what_a_window_of_a_host_has_in_an_old_form_and_brings_it_back() {
    let stage = Stage::new("accept = 'typed'", "");
    let window = window(&stage.host, "window-that-migrates");
    let pid = window.borrow().0.id();
    let folder = stage.host.folder.path();
    let old = folder.join(format!("tmp/maia_active_swarm_session_{pid}.json"));
    let new = folder.join(format!("home/.maia/sessions/swarm_session_{pid}.json"));
    std::fs::write(&old, r#"{"current_agent":"sre"}"#).unwrap();
    let mut screen = screen(&stage);
    find(&mut screen, "3", &format!("swarm_session_{pid}"));
    screen.wait_until("it is old enough", |_| age(&old) > Duration::from_secs(3));
    screen.press("m");
    screen.wait_for("y does it");
    assert!(old.exists() && !new.exists(), "{}", screen.picture());
    screen.press("y");
    screen.wait_for("z undoes the last one");
    assert!(new.exists() && !old.exists(), "{}", screen.picture());
    screen.press("z");
    screen.wait_for("y does it");
    screen.press("y");
    screen.wait_until("it is back", |_| old.exists() && !new.exists());
    screen.wait_for("● Done");
    assert_eq!(screen.end(), 0);
    assert!(stage.orders().ends_with("order done"), "{}", stage.orders());
    assert_eq!(stage.host.journal()[1]["action"], "migrate", "{:?}", stage.host.journal());
}

#[test]
fn a_key_parks_what_is_broken_on_a_host_by_the_code_that_is_typed() {
    let stage = Stage::new("accept = 'typed'", "");
    let broken = stage.host.folder.path().join("home/.maia/sessions/swarm_session_1.json");
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "{").unwrap();
    let mut screen = screen(&stage);
    find(&mut screen, "5", "swarm_session_1");
    // It could have been half written.
    screen.wait_for("P park");
    screen.wait_until("it is old enough", |_| age(&broken) > Duration::from_secs(3));
    screen.press("P");
    screen.wait_for(", then Enter:");
    screen.press("aaaaaa\r");
    assert!(broken.exists(), "that was not the code: {}", screen.picture());
    screen.press("\u{15}");
    type_what_is_asked(&mut screen);
    screen.wait_for("z undoes the last one");
    assert!(!broken.exists(), "{}", screen.picture());
    assert_eq!(screen.end(), 0);
    assert_eq!(stage.host.journal()[0]["action"], "park", "{:?}", stage.host.journal());
}

#[test]
fn a_key_ends_a_window_of_a_host_by_its_full_name() {
    let stage = Stage::new("accept = 'typed'", "");
    let window = window(&stage.host, "window-that-ends");
    let has_ended = || window.borrow_mut().0.try_wait().unwrap().is_some();
    let mut screen = screen(&stage);
    find(&mut screen, "2", "window-that-ends");
    screen.press("x");
    screen.wait_for(", then Enter:");
    assert!(!has_ended(), "{}", screen.picture());
    type_what_is_asked(&mut screen);
    screen.wait_until("it has ended", |_| has_ended());
    screen.wait_for("● Done");
    assert_eq!(screen.end(), 0);
    assert_eq!(stage.host.journal()[0]["action"], "stop", "{:?}", stage.host.journal());
    assert_eq!(stage.operator.journal()[0]["can_be_undone"], false);
}

/// Returns how long ago a file was written.
fn age(path: &Path) -> Duration {
    path.metadata().unwrap().modified().unwrap().elapsed().unwrap_or_default()
}
