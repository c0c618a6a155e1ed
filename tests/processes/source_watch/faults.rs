//! Faults of a watch, which must cost nothing but one more look.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use rustix::process::{Pid, Signal, WaitOptions, kill_process, waitpid};

use super::*;

/// Makes a folder in memory, if there is such a file system: many files are soon made there.
fn in_memory() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Follows a folder below a temporary one, runs an action, and expects a hint; then follows again as a look does, and
/// expects a hint about a file that is written there.
#[track_caller]
fn check(below: &str, fault: impl FnOnce(&Path, &Path)) {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join(below);
    fs::create_dir_all(&folder).unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    fault(world.path(), &folder);
    watched.expect(&Hint::Files);
    watched.follow(&[&folder]);
    fs::create_dir_all(&folder).unwrap();
    watched.follow(&[&folder]);
    fs::write(folder.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
}

#[test]
fn a_folder_that_is_removed_and_made_anew() {
    check("sessions", |_, folder| {
        fs::remove_dir(folder).unwrap();
        fs::create_dir(folder).unwrap();
    });
}

#[test]
fn a_folder_that_is_removed_and_comes_back_later() {
    check("sessions", |_, folder| fs::remove_dir(folder).unwrap());
}

#[test]
fn a_folder_that_is_moved_away_and_made_anew() {
    check("sessions", |world, folder| {
        fs::rename(folder, world.join("moved")).unwrap();
        fs::create_dir(folder).unwrap();
    });
}

#[test]
fn a_folder_that_is_exchanged_for_another() {
    check("sessions", |world, folder| {
        fs::create_dir(world.join("other")).unwrap();
        let flags = rustix::fs::RenameFlags::EXCHANGE;
        rustix::fs::renameat_with(rustix::fs::CWD, folder, rustix::fs::CWD, world.join("other"), flags)
            .unwrap();
    });
}

/// The folder itself stays the same: only one above it has another name.
#[test]
fn a_folder_whose_parents_are_replaced() {
    for above in ["home", "home/.maia"] {
        check("home/.maia/sessions", |world, folder| {
            fs::rename(world.join(above), world.join("moved")).unwrap();
            fs::create_dir_all(folder).unwrap();
        });
    }
}

/// A write in a folder that has moved away gives no hint for its former place.
#[test]
fn a_folder_that_has_moved_away_is_let_go() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("home/sessions");
    fs::create_dir_all(&folder).unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    fs::rename(world.path().join("home"), world.path().join("moved")).unwrap();
    fs::create_dir_all(&folder).unwrap();
    watched.expect(&Hint::Files);
    watched.follow(&[&folder]);
    watched.expect_nothing();
    fs::write(world.path().join("moved/sessions").join(NAME), "{}").unwrap();
    watched.expect_nothing();
    fs::write(folder.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
}

/// A folder above is watched for its own fate only: writes in it cause no hint.
#[test]
fn what_happens_beside_a_watched_folder_is_no_hint() {
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("home/.maia/sessions");
    fs::create_dir_all(&folder).unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    fs::write(world.path().join("home").join(NAME), "{}").unwrap();
    fs::create_dir(world.path().join("home/.maia/other")).unwrap();
    watched.expect_nothing();
}

/// A reader of only the new folder's events would miss the file: it was there before the watch. Each time a watch is
/// added, one more look is requested.
#[test]
fn a_file_written_into_nested_folders_at_once() {
    for _ in 0..20 {
        let world = tempfile::tempdir().unwrap();
        let folder = world.path().join("a/b");
        let mut watched = Watched::new();
        watched.follow(&[&folder]);
        fs::create_dir_all(&folder).unwrap();
        fs::write(folder.join(NAME), "{}").unwrap();
        watched.expect(&Hint::Files);
        watched.watch.follow(std::slice::from_ref(&folder), &[]);
        watched.expect(&Hint::Files);
        watched.follow(&[&folder]);
        fs::write(folder.join(NAME), "{ }").unwrap();
        watched.expect(&Hint::Files);
    }
}

#[test]
fn a_file_that_is_renamed_over_another() {
    let world = tempfile::tempdir().unwrap();
    let file = world.path().join(NAME);
    fs::write(&file, "{}").unwrap();
    let mut watched = Watched::new();
    watched.follow(&[world.path()]);
    for _ in 0..20 {
        fs::write(world.path().join("next"), "{ }").unwrap();
        fs::rename(world.path().join("next"), &file).unwrap();
        watched.expect(&Hint::Files);
    }
}

/// Events gather for 20 ms each time, so a storm has few hints however fast it writes.
#[test]
fn a_storm_of_writes_is_told_now_and_then() {
    let world = in_memory();
    let mut watched = Watched::new();
    watched.follow(&[world.path()]);
    let began = std::time::Instant::now();
    let mut hints = 0;
    for number in 0..5_000 {
        fs::write(world.path().join(NAME), number.to_string()).unwrap();
        hints += watched.hints.try_iter().count();
    }
    watched.expect(&Hint::Files);
    let most = began.elapsed().as_millis() / 20 + 1;
    assert!(hints as u128 <= most, "{hints} hints, wanted at most {most}");
}

/// Set in the environment of the program whose queue overflows; names the folder.
const OVERFLOWS: &str = "CLAIMTOP_TEST_OVERFLOWS";

/// Does nothing except in the program that the test below starts.
#[test]
fn a_stopped_watcher_is_told_when_it_goes_on() {
    let Some(folder) = std::env::var_os(OVERFLOWS).map(PathBuf::from) else { return };
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    eprintln!("follows");
    std::io::stdin().read_exact(&mut [0]).unwrap();
    watched.expect(&Hint::Files);
}

/// The kernel keeps `max_queued_events` and drops the rest (inotify(7)); here only the rest is relevant.
#[test]
fn events_that_the_kernel_drops_mean_one_more_look() {
    let queue: usize =
        fs::read_to_string("/proc/sys/fs/inotify/max_queued_events").unwrap().trim().parse().unwrap();
    if queue > 50_000 {
        return eprintln!("skipped: {queue} events fit into the queue");
    }
    let world = in_memory();
    let mut watcher = Command::new(std::env::current_exe().unwrap())
        .args(["source_watch::faults::a_stopped_watcher_is_told_when_it_goes_on", "--exact", "--nocapture"])
        .env(OVERFLOWS, world.path())
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .unwrap();
    let mut said = BufReader::new(watcher.stderr.take().unwrap()).lines();
    assert!(said.any(|line| line.unwrap().contains("follows")));
    let pid = Pid::from_child(&watcher);
    kill_process(pid, Signal::STOP).unwrap();
    waitpid(Some(pid), WaitOptions::UNTRACED).unwrap();
    for number in 0..=queue {
        fs::create_dir(world.path().join(number.to_string())).unwrap();
    }
    fs::write(world.path().join(NAME), "{}").unwrap();
    kill_process(pid, Signal::CONT).unwrap();
    watcher.stdin.take().unwrap().write_all(b"\n").unwrap();
    assert!(watcher.wait().unwrap().success(), "it was told nothing");
}
