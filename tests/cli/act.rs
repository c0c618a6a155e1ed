//! The commands that act, over records whose holders are certainly dead: their PIDs belonged to processes that the
//! test started and reaped.

use std::ffi::OsStr;
use std::io::{BufRead as _, BufReader};
use std::os::unix::ffi::OsStrExt;
use std::process::Stdio;
use std::time::Duration;

use rustix::fs::{FlockOperation, flock};
use serde_json::Value;

use crate::ended::{SESSION, ended_window};
use crate::world::{Answer, World};

/// Writes the registry entry of an ended process, and returns the file's path.
pub(crate) fn dead_window(world: &World) -> String {
    let (_, path) = ended_window(world, "alpha", SESSION);
    path.canonicalize().unwrap().to_str().unwrap().to_owned()
}

impl World {
    /// Runs the program again while a file is too young to be touched.
    pub(crate) fn settled(&self, arguments: &[&str]) -> Answer {
        loop {
            let answer = self.run(arguments);
            if answer.code == 0 || !answer.out.contains("s ago: wait") {
                return answer;
            }
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}

fn json(answer: &Answer) -> Value {
    serde_json::from_str(&answer.out).unwrap_or_else(|error| panic!("{error}: {answer:?}"))
}

#[test]
fn what_was_written_just_now_is_shown_and_waited_for() {
    let world = World::new();
    let path = dead_window(&world);
    let text = std::fs::read(&path).unwrap();
    for (option, json_too) in [("--dry-run", false), ("--dry-run", true), ("--yes", false)] {
        // On a busy machine the file gets the time that it needs.
        let answer = loop {
            std::fs::write(&path, &text).unwrap();
            let shape: &[&str] = if json_too { &["--json"] } else { &[] };
            let answer = world.run(&[&["release", &path, option], shape].concat());
            if answer.out.contains("s ago: wait") {
                break answer;
            }
            std::fs::write(&path, &text).unwrap();
        };
        assert_eq!(answer.code, 3, "{answer:?}");
        assert!(!answer.out.contains("changed under you"), "{answer:?}");
        if json_too {
            let said = json(&answer);
            assert_eq!(said["plans"][0]["steps"][0]["step"], "park");
            assert!(said["refused"][0]["why"].as_str().unwrap().contains("s ago: wait"), "{said}");
        } else {
            assert!(answer.out.contains("Steps           1. park "), "{answer:?}");
            assert!(answer.out.contains("not done"), "{answer:?}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), text);
    }
}

#[test]
fn a_release_is_shown_confirmed_journalled_and_undone() {
    let world = World::new();
    let path = dead_window(&world);
    let before = std::fs::read(&path).unwrap();

    let young = world.run(&["release", &path, "--yes"]);
    assert_eq!(young.code, 3, "{young:?}");
    let shown = world.settled(&["release", &path, "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("Steps           1. park "), "{shown:?}");
    assert!(shown.out.contains("  Confirm         --yes does it\n"), "{shown:?}");
    let unconfirmed = world.run(&["release", &path]);
    assert_eq!(unconfirmed.code, 3);
    assert!(unconfirmed.out.contains("--yes does it"), "{unconfirmed:?}");
    assert!(std::fs::exists(&path).unwrap());

    let refused = world.run(&["release", &path, "--yes", "--read-only"]);
    assert_eq!((refused.code, refused.err.lines().next()), (3, Some("claimtop: claimtop is read-only")));
    let done = world.run(&["release", &path, "--yes", "--json"]);
    assert_eq!(done.code, 0, "{done:?}");
    assert_eq!(json(&done)["receipts"][0]["ended"], "done");
    assert!(!std::fs::exists(&path).unwrap());

    let journal = json(&world.run(&["journal", "--json"]));
    assert_eq!(journal["entries"][0]["action"], "release");
    assert_eq!(journal["entries"][0]["can_be_undone"], true);
    let done_why = journal["entries"][0]["why"].as_str().unwrap();
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    assert_eq!(world.run(&["undo", "--yes"]).code, 3, "there is nothing left to undo");
    let journal = world.run(&["journal"]);
    assert!(journal.out.contains("by 2"));
    assert!(journal.out.lines().next().unwrap().ends_with("WHY"), "{journal:?}");
    assert!(journal.out.contains(done_why), "{journal:?}");
    let words: Vec<&str> = journal.out.split_whitespace().collect();
    let is_age = |pair: &[&str]| pair[0].parse::<u32>().is_ok() && pair[1] == "s";
    assert!(words.windows(2).any(is_age), "{journal:?}");
}

/// Releases a record, and forgets the outcome: this is the state after claimtop was killed on the way.
fn cut_off(world: &World) -> (String, Vec<u8>) {
    let path = dead_window(world);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(world.settled(&["release", &path, "--yes"]).code, 0);
    let journal = world.path("home/.local/state/claimtop/journal.jsonl");
    let lines = std::fs::read_to_string(&journal).unwrap();
    let intent: Vec<&str> = lines.lines().take(1).collect();
    std::fs::write(&journal, intent.join("") + "\n").unwrap();
    (path, before)
}

#[test]
fn what_was_cut_off_is_told_and_put_right_by_undo() {
    let world = World::new();
    let (path, before) = cut_off(&world);
    let journal = world.run(&["journal"]);
    assert!(journal.out.contains("`claimtop undo 1` puts it right"), "{journal:?}");
    let doctor = world.run(&["doctor"]);
    assert_eq!(doctor.code, 1, "{doctor:?}");
    assert!(doctor.out.contains("`claimtop undo 1` puts it right"), "{doctor:?}");
    assert!(!std::fs::exists(&path).unwrap(), "a look changes nothing");
    for shown in [&["undo", "--dry-run"][..], &["undo", "1", "--beside", "--dry-run"]] {
        let shown = world.run(shown);
        assert!(shown.code == 3 && shown.err.contains("claimtop undo 1 puts it right first"), "{shown:?}");
    }
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert!(undone.out.starts_with("put right entry 1, "), "{undone:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let again = world.run(&["undo", "1", "--yes"]);
    assert_eq!(again.code, 3);
    assert!(again.out.contains("it was interrupted; everything is where it was"), "{again:?}");
    let page = world.run(&["report", "--html", "-"]).out;
    let act = page.lines().find(|line| line.contains("journal entry 1")).unwrap();
    assert!(act.contains("release: ") && act.contains(" (failed: it was interrupted; everything"), "{act}");
}

/// A file in neither place is reported by every command that looks or acts, with the way to put it right.
#[test]
fn no_command_says_that_nothing_is_to_do_while_a_file_is_in_neither_place() {
    let world = World::new();
    let (path, before) = cut_off(&world);
    let way = "`claimtop undo 1` puts it right";
    for arguments in [
        &["clean"][..],
        &["clean", "--yes"],
        &["clean", "--dry-run"],
        &["migrate", "--all"],
        &["ls"],
        &["ls", "claims"],
        &["ls", "problems"],
        &["now"],
        &["leftovers"],
        &["doctor"],
    ] {
        let told = world.run(arguments);
        assert!(told.out.contains(way) && told.out.contains(&path), "{arguments:?}: {told:?}");
        assert!(!told.out.contains("nothing to do") && !told.out.contains("nothing needs"), "{told:?}");
    }
    assert!(world.run(&["statusline"]).out.contains("1 unfinished action"));
    let said = |arguments: &[&str]| json(&world.run(arguments));
    let ls = said(&["ls", "--json"]);
    let codes: Vec<&str> =
        ls["findings"].as_array().unwrap().iter().filter_map(|one| one["code"].as_str()).collect();
    assert!(codes.contains(&"unfinished-action"), "{codes:?}");
    assert_eq!(said(&["now", "--json"])["needs"][0]["kind"], "unfinished");
    let clean = said(&["clean", "--json"]);
    assert_eq!(clean["unfinished"][0]["entry"], 1);
    assert!(clean["unfinished"][0]["says"].as_str().unwrap().contains(way), "{clean}");
    let explained = world.run(&["explain", "e-00000001"]);
    assert!(explained.out.contains(way), "{explained:?}");
    assert!(!std::fs::exists(&path).unwrap(), "a look changes nothing");

    let other = dead_window(&world);
    let acted = world.settled(&["release", &other, "--dry-run"]);
    assert!(acted.out.contains(way), "{acted:?}");
    let acted = world.run(&["release", &other, "--yes"]);
    assert!(acted.out.contains("put right entry 1, ") && !acted.out.contains(way), "{acted:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    let nothing = world.run(&["clean"]);
    assert!(!nothing.out.contains("entry"), "{nothing:?}");
}

/// The process that holds the lock may be doing it at this very moment, unless it is stopped.
#[test]
fn what_is_being_done_is_not_called_unfinished() {
    let world = World::new();
    cut_off(&world);
    let state = world.path("home/.local/state/claimtop");
    let lock = std::fs::File::open(state.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    let now = world.run(&["now"]);
    assert!(!now.out.contains("entry 1"), "{now:?}");
    flock(&lock, FlockOperation::Unlock).unwrap();

    let mut holder = std::process::Command::new("flock");
    let keep = ["--exclusive", state.join("lock").to_str().unwrap(), "sh", "-c", "echo ready; exec cat"]
        .map(str::to_owned);
    let mut holder = holder.args(keep).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut ready = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut ready).unwrap();
    let pid = rustix::process::Pid::from_child(&holder);
    rustix::process::kill_process(pid, rustix::process::Signal::STOP).unwrap();
    let told = loop {
        let now = world.run(&["now"]);
        if now.out.contains("entry 1") {
            break now;
        }
    };
    // Its child ends with the end of its input.
    rustix::process::kill_process(pid, rustix::process::Signal::CONT).unwrap();
    drop(holder.stdin.take());
    holder.wait().unwrap();
    let way = format!("PID {}, is stopped in the middle of it", holder.id());
    assert!(told.out.contains(&way), "{told:?}");
    assert!(told.out.contains(&format!("`kill -CONT {}` resumes it", holder.id())), "{told:?}");
}

/// An entry without an outcome may be one on which another claimtop is at work.
#[test]
fn what_another_has_ended_is_not_said_to_be_put_right() {
    let world = World::new();
    let path = dead_window(&world);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(world.settled(&["release", &path, "--yes"]).code, 0);
    let state = world.path("home/.local/state/claimtop");
    let whole = std::fs::read_to_string(state.join("journal.jsonl")).unwrap();
    let intent = whole.lines().next().unwrap().to_owned() + "\n";
    let lock = std::fs::File::open(state.join("lock")).unwrap();
    flock(&lock, FlockOperation::LockExclusive).unwrap();
    std::fs::write(state.join("journal.jsonl"), intent).unwrap();
    let mut undo = world.command(&["undo", "--yes"]);
    let mut undo = undo.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut told = String::new();
    let mut errors = BufReader::new(undo.stderr.take().unwrap());
    errors.read_line(&mut told).unwrap();
    assert!(told.contains("is at work"), "{told}");
    std::fs::write(state.join("journal.jsonl"), whole).unwrap();
    flock(&lock, FlockOperation::Unlock).unwrap();
    let undone = undo.wait_with_output().unwrap();
    let out = String::from_utf8(undone.stdout).unwrap();
    assert!(undone.status.success() && !out.contains("put right"), "{out}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn what_the_journal_has_lost_is_still_told() {
    let world = World::new();
    let path = dead_window(&world);
    assert_eq!(world.settled(&["release", &path, "--yes"]).code, 0);
    let state = world.path("home/.local/state/claimtop");
    assert!(!world.run(&["journal"]).out.contains("no entry names"));
    std::fs::write(state.join("journal.jsonl"), "").unwrap();
    let parked = std::fs::read_dir(state.join("parked")).unwrap().next().unwrap().unwrap().path();
    for command in ["journal", "doctor"] {
        let told = world.run(&[command]).out;
        assert!(told.contains(parked.to_str().unwrap()) && !told.contains("Nothing has been done"), "{told}");
    }
}

#[test]
fn what_got_stuck_is_named_kept_and_brought_back() {
    let world = World::new();
    let (path, before) = cut_off(&world);
    std::fs::write(&path, "{}").unwrap();
    let stuck = world.run(&["undo", "--yes", "--json"]);
    assert_eq!(stuck.code, 4, "{stuck:?}");
    assert_eq!(json(&stuck)["receipts"][0]["ended"], "stuck");
    let journal = world.run(&["journal"]);
    assert!(journal.out.contains("Entry 1 got stuck: it was interrupted; a newer file is at"), "{journal:?}");
    let now = world.run(&["now"]);
    assert!(now.out.contains("`claimtop undo 1 --beside` brings back what is parked"), "{now:?}");
    let config = world.write("kept.toml", "keep_parked_days = 0\n");
    let prune = ["journal", "--prune", "--yes", "--config", config.to_str().unwrap()];
    assert!(world.run(&prune).out.contains("it was not meant to stay"));
    assert_eq!(world.run(&["undo", "1", "--yes"]).code, 3, "a newer file is there");
    let newest = world.run(&["undo", "--yes"]);
    assert_eq!(newest.code, 3);
    assert!(newest.err.contains("claimtop undo 1 --beside"), "{newest:?}");
    let beside = world.run(&["undo", "--beside", "--yes"]);
    assert_eq!(beside.code, 0, "{beside:?}");
    assert_eq!(std::fs::read(format!("{path}.restored")).unwrap(), before);
    assert_eq!(std::fs::read(&path).unwrap(), b"{}");
    assert!(!world.run(&["now"]).out.contains("--beside"));
    let again = world.run(&["undo", "1", "--beside", "--yes"]);
    assert!(again.out.contains("entry 2 has undone it"), "{again:?}");
}

/// Moves a folder elsewhere, and leaves a link in its place.
fn link_instead(world: &World, below: &str) {
    let (at, elsewhere) = (world.path(below), world.path("elsewhere"));
    std::fs::rename(&at, world.path("moved")).unwrap();
    std::fs::create_dir_all(elsewhere.join("sessions")).unwrap();
    std::os::unix::fs::symlink(elsewhere, at).unwrap();
}

/// Puts a folder back that [`link_instead`] has moved.
fn unlink(world: &World, below: &str) {
    std::fs::remove_file(world.path(below)).unwrap();
    std::fs::rename(world.path("moved"), world.path(below)).unwrap();
}

fn names(world: &World, below: &str) -> usize {
    std::fs::read_dir(world.path(below)).unwrap().count()
}

#[test]
fn nothing_is_put_back_through_a_link_that_has_come_into_the_way() {
    let world = World::new();
    let path = dead_window(&world);
    let before = std::fs::read(&path).unwrap();
    assert_eq!(world.settled(&["release", &path, "--yes"]).code, 0);
    link_instead(&world, "home/.claude");
    for more in [&[][..], &["--beside"], &["--dry-run"]] {
        let refused = world.run(&[&["undo", "--yes"], more].concat());
        assert_eq!(refused.code, 3, "{refused:?}");
        assert!(refused.out.contains("now contains a link, and nothing is written"), "{refused:?}");
        assert!(refused.out.contains("by hand: mv -n "), "{refused:?}");
    }
    // Not even a folder is made there.
    std::fs::remove_dir(world.path("elsewhere/sessions")).unwrap();
    assert_eq!(world.run(&["undo", "--yes"]).code, 3);
    assert_eq!(names(&world, "elsewhere"), 0);
    unlink(&world, "home/.claude");
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn what_was_cut_off_is_not_put_back_through_a_link_either() {
    let world = World::new();
    let (path, before) = cut_off(&world);
    link_instead(&world, "home/.claude");
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 4, "{undone:?}");
    assert_eq!(names(&world, "elsewhere/sessions"), 0);
    unlink(&world, "home/.claude");
    let undone = world.run(&["undo", "1", "--beside", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

/// The folder that a person names may be a link, and may become one; below it only links that existed before stay
/// allowed.
#[test]
fn links_that_lead_to_the_folder_that_is_named_are_followed() {
    let world = World::new();
    let path = dead_window(&world);
    std::fs::rename(world.path("home/.claude"), world.path("home/dotfiles")).unwrap();
    std::os::unix::fs::symlink("dotfiles", world.path("home/.claude")).unwrap();
    let path = path.replace("/.claude/", "/dotfiles/");
    let before = std::fs::read(&path).unwrap();
    assert_eq!(world.settled(&["release", &path, "--yes"]).code, 0);
    std::fs::rename(world.path("home"), world.path("other-disk")).unwrap();
    std::os::unix::fs::symlink(world.path("other-disk"), world.path("home")).unwrap();
    let undone = world.run(&["undo", "--yes"]);
    assert_eq!(undone.code, 0, "{undone:?}");
    assert_eq!(std::fs::read(&path).unwrap(), before);
    // With two links on the way it is named by its real path.
    let there = std::fs::canonicalize(&path).unwrap();
    let again = world.settled(&["release", there.to_str().unwrap(), "--yes"]);
    assert_eq!(again.code, 0, "{again:?}");
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[test]
fn nothing_is_put_back_into_a_home_that_is_not_named() {
    let world = World::new();
    let path = dead_window(&world);
    let state = world.path("state");
    let in_home = |home: &str, arguments: &[&str]| {
        let home = world.path(home);
        let home = ["--home", home.to_str().unwrap(), "--state", state.to_str().unwrap()].map(str::to_owned);
        let tmp = world.path("tmp");
        let tmp = ["--tmp", tmp.to_str().unwrap()].map(str::to_owned);
        let own: Vec<&str> = home.iter().chain(&tmp).map(String::as_str).collect();
        world.run(&[&own, arguments].concat())
    };
    assert_eq!(world.settled(&["release", &path, "--dry-run"]).code, 0);
    let done = in_home("home", &["release", &path, "--yes"]);
    assert_eq!(done.code, 0, "{done:?}");
    std::fs::create_dir(world.path("other")).unwrap();
    let refused = in_home("other", &["undo", "--yes"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.out.contains("was done in the home "), "{refused:?}");
    assert!(!std::fs::exists(&path).unwrap());
    // Nor is an action put right that was interrupted there.
    let journal = std::fs::read_to_string(state.join("journal.jsonl")).unwrap();
    let intent = journal.lines().next().unwrap().to_owned() + "\n";
    std::fs::write(state.join("journal.jsonl"), &intent).unwrap();
    let refused = in_home("other", &["undo", "--yes"]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(!std::fs::exists(&path).unwrap());
    assert_eq!(in_home("home", &["undo", "--yes"]).code, 0);
    assert!(std::fs::exists(&path).unwrap());
}

/// A file whose path is not UTF-8 is released, parked and brought back as any other.
#[test]
fn files_whose_names_are_not_utf8_are_released_parked_and_restored() {
    let world = World::new();
    // No other test has this session, whose windows would be meant as well.
    let asked = "95fe798d-3725-4649-974a-0dec792201ff";
    let (pid, path) = ended_window(&world, "alpha", asked);
    let session = std::fs::read(&path).unwrap();
    let home = world.path("").join(OsStr::from_bytes(b"home-\xff"));
    std::fs::rename(world.path("home"), &home).unwrap();
    let registry = home.join(format!(".claude/sessions/{pid}.json"));
    let broken = home.join(".maia/sessions").join(OsStr::from_bytes(b"swarm_session_\xfe.json"));
    std::fs::create_dir_all(broken.parent().unwrap()).unwrap();
    std::fs::write(&broken, "{").unwrap();
    let run = |subject: &OsStr, arguments: &[&str]| {
        let mut command = world.command(&["--home"]);
        command.arg(&home).arg("--tmp").arg(world.path("tmp")).env("HOME", &home);
        let output =
            command.args(arguments).args(Some(subject).filter(|it| !it.is_empty())).output().unwrap();
        eprint!("{}", String::from_utf8_lossy(&output.stderr));
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let settled = |subject: &OsStr, arguments: &[&str]| loop {
        let (code, out) = run(subject, arguments);
        // A file can become old enough between the plan and the deed, which is then done.
        if !out.contains("s ago: wait") || out.contains("\ndone ") {
            break (code, out);
        }
        std::thread::sleep(Duration::from_millis(50));
    };
    let none = OsStr::new("");
    let parsed = |out: &str| -> Value { serde_json::from_str::<Value>(out).unwrap() };

    let (code, out) = settled(OsStr::new(asked), &["release", "--yes"]);
    assert_eq!(code, Some(0), "{out}");
    assert!(!registry.exists());
    assert_eq!(run(none, &["undo", "--yes"]).0, Some(0));
    assert_eq!(std::fs::read(&registry).unwrap(), session);

    let (_, out) = run(none, &["ls", "--json"]);
    let report = parsed(&out);
    let findings = report["findings"].as_array().unwrap();
    let corrupt = findings.iter().find(|finding| finding["code"] == "corrupt-record").unwrap();
    let key = OsStr::new(corrupt["subjects"][0].as_str().unwrap());
    let (_, out) = settled(key, &["park", "--dry-run", "--json"]);
    let plan = parsed(&out);
    let path = plan["plans"][0]["steps"][0]["path"].as_str().unwrap();
    assert!(path.ends_with("/home-\\xFF/.maia/sessions/swarm_session_\\xFE.json"), "{path}");
    let (code, out) = run(key, &["park", "--confirm", plan["plans"][0]["code"].as_str().unwrap()]);
    assert_eq!(code, Some(0), "{out}");
    assert!(!broken.exists());
    assert_eq!(run(none, &["undo", "--yes"]).0, Some(0));
    assert_eq!(std::fs::read(&broken).unwrap(), b"{");
}

#[test]
fn looking_makes_nothing_and_needs_no_state_folder() {
    let world = World::new();
    let path = dead_window(&world);
    for arguments in [&["journal"][..], &["clean", "--dry-run"], &["--read-only", "clean", "--dry-run"]] {
        assert_eq!(world.run(arguments).code, 0, "{arguments:?}");
    }
    assert_eq!(world.settled(&["release", &path, "--dry-run"]).code, 0);
    assert_eq!(world.run(&["undo", "--dry-run"]).code, 3);
    assert!(!std::fs::exists(world.path("home/.local")).unwrap());

    // No folder can be made below a file.
    world.write("home/.local/state", "in the way");
    let journal = world.run(&["journal"]);
    assert_eq!((journal.code, journal.out.as_str()), (0, "Nothing has been done yet.\n"), "{journal:?}");
    let shown = world.run(&["release", &path, "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert_eq!(world.run(&["release", &path, "--yes"]).code, 4);
}

#[test]
fn a_dry_run_reads_the_journal_and_adds_nothing_to_it() {
    let world = World::new();
    let path = dead_window(&world);
    world.settled(&["release", &path, "--yes"]);
    // An interrupted action in it is put right by the next command that acts.
    let journal = world.path("home/.local/state/claimtop/journal.jsonl");
    let kept = [std::fs::read(&journal).unwrap(), b"{\"entry".to_vec()].concat();
    std::fs::write(&journal, &kept).unwrap();
    let shown = world.run(&["undo", "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    assert!(shown.out.contains("undo entry 1: "), "{shown:?}");
    assert_eq!(std::fs::read(&journal).unwrap(), kept);
    let told = world.run(&["journal"]);
    assert!(told.out.ends_with("\n1 line of the journal cannot be read.\n"), "{told:?}");
    assert_eq!(world.run(&["undo", "--yes"]).code, 0);
}

#[test]
fn the_log_tells_of_actions_and_of_looks_and_not_of_what_was_read() {
    let world = World::new();
    let path = dead_window(&world);
    let log = || std::fs::read_to_string(world.path("home/.local/state/claimtop/log/claimtop.log")).unwrap();
    let level = |level: &'static str| ["--log-level", level];
    world.settled(&["release", &path, "--dry-run"]);
    let look = [&["ls"], &level("info")[..]].concat();
    assert_eq!(world.run(&look).code, 0);
    assert_eq!(log(), "", "a look is no action");
    assert_eq!(world.run(&[&["ls"], &level("debug")[..]].concat()).code, 0);
    assert!(log().contains("looked"), "{}", log());
    assert_eq!(world.run(&[&["release", &path, "--yes"], &level("info")[..]].concat()).code, 0);
    assert!(log().contains("acted entry=1 ended=Done"), "{}", log());
    assert_eq!(world.run(&[&["undo", "7", "--yes"], &level("warn")[..]].concat()).code, 3);
    assert!(log().contains("did not act detail=the journal has no entry 7"), "{}", log());
    assert!(!log().contains("95fe798d") && !log().contains("alpha"), "{}", log());
}

/// Runs the program for a reader that has gone, and returns its exit code.
fn unheard(world: &World, arguments: &[&str]) -> Option<i32> {
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    world.command(arguments).stdout(writer).status().unwrap().code()
}

#[test]
fn a_reader_that_has_gone_stops_nothing_of_what_is_done() {
    let world = World::new();
    let paths = [dead_window(&world), dead_window(&world)];
    for path in &paths {
        world.settled(&["release", path, "--dry-run"]);
    }
    assert_eq!(unheard(&world, &["release", &paths[0]]), Some(3), "nobody has confirmed it");
    assert!(std::fs::exists(&paths[0]).unwrap());
    assert_eq!(unheard(&world, &["release", &paths[0], "--yes"]), Some(0));
    assert_eq!(unheard(&world, &["release", &paths[1], "--yes", "--json"]), Some(0));
    assert!(paths.iter().all(|path| !std::fs::exists(path).unwrap()));
    assert_eq!(unheard(&world, &["undo", "7", "--yes"]), Some(3));
    let config = world.write("config.toml", "keep_parked_days = 0\n");
    let prune = ["journal", "--prune", "--yes", "--config", config.to_str().unwrap()];
    assert_eq!(unheard(&world, &prune), Some(0));
    assert_eq!(std::fs::read_dir(world.path("home/.local/state/claimtop/parked")).unwrap().count(), 0);
}

#[test]
fn a_live_holder_is_not_released_by_a_plain_yes() {
    let world = World::new();
    let path =
        world.write("home/.maia/sessions/swarm_session_notes.json", r#"{"current_agent":"sre_agent"}"#);
    let path = path.canonicalize().unwrap().to_str().unwrap().to_owned();
    let refused = world.settled(&["release", &path, "--yes"]);
    // Whether it is unknown or dead depends on the other processes here; it is never allowed by chance.
    let done = json(&world.run(&["journal", "--json"]));
    if refused.code == 3 {
        assert!(refused.out.contains("not confirmed"), "{refused:?}");
        assert_eq!(done["entries"].as_array().map(Vec::len), Some(0));
        assert!(std::fs::exists(&path).unwrap());
    } else {
        assert_eq!(done["entries"][0]["outcome"]["ended"], "done");
    }
}

#[test]
fn a_code_is_good_for_one_state_only() {
    let world = World::new();
    let path = world.write("home/.claude-sessions/session_43ea1cf4_win39623_4301.json", "[5]");
    let path = path.canonicalize().unwrap().to_str().unwrap().to_owned();
    let shown = world.settled(&["park", &path, "--dry-run"]);
    assert_eq!(shown.code, 0, "{shown:?}");
    let code = json(&world.run(&["park", &path, "--dry-run", "--json"]))["plans"][0]["code"].clone();
    let code = code.as_str().unwrap().to_owned();
    let confirm = format!("  Confirm         --confirm {code} does it, for this state only\n");
    assert!(shown.out.contains(&confirm), "{shown:?}");
    std::fs::write(&path, "[6]").unwrap();
    let refused = world.settled(&["park", &path, "--confirm", &code]);
    assert_eq!(refused.code, 3, "{refused:?}");
    assert!(refused.out.contains("the code for this exact state"), "{refused:?}");
    let code = json(&world.run(&["park", &path, "--dry-run", "--json"]))["plans"][0]["code"].clone();
    let done = world.run(&["park", &path, "--confirm", code.as_str().unwrap()]);
    assert_eq!(done.code, 0, "{done:?}");
    assert!(!std::fs::exists(&path).unwrap());
}

#[test]
fn what_is_kept_long_enough_is_pruned_when_asked_for() {
    let world = World::new();
    let path = dead_window(&world);
    world.settled(&["release", &path, "--yes"]);
    assert!(world.run(&["journal", "--prune", "--yes"]).out.contains("Nothing is parked for longer"));
    let config = world.write("config.toml", "keep_parked_days = 0\n");
    let config = ["--config", config.to_str().unwrap()];
    let asked = world.run(&[&["journal", "--prune"], &config[..]].concat());
    assert_eq!(asked.code, 3, "{asked:?}");
    let asked = world.run(&[&["journal", "--prune", "--json"], &config[..]].concat());
    assert_eq!((asked.code, &json(&asked)["removed"]), (3, &Value::Bool(false)), "{asked:?}");
    assert_eq!(json(&asked)["outdated"][0]["entry"], 1);
    let pruned = world.run(&[&["journal", "--prune", "--yes"], &config[..]].concat());
    assert_eq!(pruned.code, 0, "{pruned:?}");
    assert_eq!(std::fs::read_dir(world.path("home/.local/state/claimtop/parked")).unwrap().count(), 0);
    assert_eq!(world.run(&["undo", "--yes"]).code, 3);
    let nothing = world.run(&[&["journal", "--prune", "--json"], &config[..]].concat());
    assert_eq!((nothing.code, &json(&nothing)["outdated"]), (0, &Value::Array(Vec::new())), "{nothing:?}");
}
