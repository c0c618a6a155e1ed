//! The system's refusals, in namespaces whose limits apply to no other process.

use std::fs;

use super::*;
use crate::apart::is_apart;

/// A user namespace of the test's own, with a root of its own, and its own mounts.
const OWN: [&str; 3] = ["--user", "--map-root-user", "--mount"];

/// Sets a limit of this user namespace (user_namespaces(7), `/proc/sys/user`).
fn limit(name: &str, most: u32) {
    fs::write(format!("/proc/sys/user/{name}"), most.to_string()).unwrap();
}

/// Returns the watch's own report of what it misses, and fails unless the reason comes as a hint too.
#[track_caller]
fn lost(watch: &Watch, hints: &Receiver<Hint>) -> String {
    let losses = watch.losses();
    let told: Vec<Hint> = hints.try_iter().collect();
    let [loss] = losses.as_slice() else { panic!("{losses:?}") };
    assert!(told.contains(&Hint::Lost(loss.clone())), "{told:?}");
    loss.clone()
}

#[test]
fn without_a_watcher_the_loss_is_told_and_deaths_are_seen() {
    if !is_apart("source_watch::limits::without_a_watcher_the_loss_is_told_and_deaths_are_seen", &OWN) {
        return;
    }
    limit("max_inotify_instances", 0);
    let world = tempfile::tempdir().unwrap();
    let mut watched = Watched::new();
    let child = sleeping();
    let ids = [id(&child)];
    watched.watch.follow(&[world.path().to_path_buf()], &ids);
    assert!(lost(&watched.watch, &watched.hints).contains("max_user_instances"));
    assert_eq!((watched.watch.watched().folders, watched.watch.watched().processes), (0, 1));
    end(child);
    watched.expect(&Hint::Process(ids[0]));
}

#[test]
fn when_watches_run_out_the_loss_is_told_and_the_others_watch() {
    if !is_apart("source_watch::limits::when_watches_run_out_the_loss_is_told_and_the_others_watch", &OWN) {
        return;
    }
    let world = tempfile::tempdir_in("/tmp").unwrap();
    let folders: Vec<PathBuf> = (0..20).map(|number| world.path().join(format!("f{number:02}"))).collect();
    folders.iter().for_each(|folder| fs::create_dir(folder).unwrap());
    limit("max_inotify_watches", 12);
    let mut watched = Watched::new();
    watched.watch.follow(&folders, &[]);
    let losses = watched.watch.losses();
    assert!(losses.iter().all(|loss| loss.contains("max_user_watches")), "{losses:?}");
    assert_eq!(watched.watch.watched().folders, 12);
    assert!(watched.hints.try_iter().any(|hint| matches!(hint, Hint::Lost(_))));
    let is_told = |folder: &PathBuf| {
        fs::write(folder.join(NAME), "{}").unwrap();
        std::thread::sleep(Duration::from_millis(200));
        watched.hints.try_iter().any(|hint| hint == Hint::Files)
    };
    assert!(folders.iter().filter(|folder| is_told(folder)).count() >= 6, "most are watched");
}

#[test]
fn an_unmounted_folder_is_a_hint_and_what_was_below_is_taken_up() {
    if !is_apart("source_watch::limits::an_unmounted_folder_is_a_hint_and_what_was_below_is_taken_up", &OWN) {
        return;
    }
    let world = tempfile::tempdir().unwrap();
    let folder = world.path().join("sessions");
    fs::create_dir(&folder).unwrap();
    let run = |program: &str, arguments: &[&str]| {
        assert!(Command::new(program).args(arguments).arg(&folder).status().unwrap().success());
    };
    run("mount", &["-t", "tmpfs", "none"]);
    fs::write(folder.join(NAME), "{}").unwrap();
    let mut watched = Watched::new();
    watched.follow(&[&folder]);
    run("umount", &[]);
    watched.expect(&Hint::Files);
    watched.follow(&[&folder]);
    fs::write(folder.join(NAME), "{}").unwrap();
    watched.expect(&Hint::Files);
}
