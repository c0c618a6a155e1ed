//! What a take left behind when it was interrupted while being put back.

#![expect(clippy::disallowed_methods, reason = "tests make files in a temporary folder")]

use std::ffi::OsStr;
use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::TempDir;

use crate::act::fs::disk::{Disk, Patience};
use crate::act::fs::print::print_of;
use crate::act::fs::system::System;
use crate::act::state::journal_store::{Lock, StateFolder};
use crate::core::history::journal::{Intent, Outcome};
use crate::core::history::movement::{Movement, ParkLocation, Print};
use crate::core::model::{Action, Content, EndResult};

const PARKED: &str = "1-1-claim";
const ASIDE: &str = ".claimtop-1-1";

mod away;
mod exchanges;
mod puts;

/// A folder of the world, and a state folder whose journal has one intent and no outcome.
struct Scene {
    folder: TempDir,
    state: StateFolder<System>,
}

impl Scene {
    /// Makes a claim that was taken.
    fn new() -> Self {
        let scene = Self::empty();
        scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
        scene.begin(vec![scene.take(scene.print(&scene.park(), PARKED))]);
        scene
    }

    fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        Self { folder, state }
    }

    fn take(&self, print: Print) -> Movement {
        Movement::Take { from: self.place("claim"), parked: ParkLocation::in_state(PARKED), print }
    }

    /// Journals that movements were begun.
    fn begin(&self, movements: Vec<Movement>) {
        let intent = Intent { movements, ..Intent::new(Action::Release, String::new(), String::new()) };
        self.state.lock(Patience::Wait, Timestamp::UNIX_EPOCH).unwrap().begin(1, &intent, now()).unwrap();
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn print(&self, folder: &Path, name: &str) -> Print {
        let folder = System.folder(folder).unwrap();
        print_of(&System.image((&folder, OsStr::new(name))).unwrap().unwrap()).unwrap()
    }

    fn park(&self) -> PathBuf {
        self.place("state/parked")
    }

    fn write(&self, folder: &Path, name: &str, text: &str, modified_at: &str) {
        let folder = System.folder(folder).unwrap();
        let mut file = System.create((&folder, OsStr::new(name))).unwrap();
        System.write(&mut file, text.as_bytes()).unwrap();
        System.finish(&mut file, 0o600, modified_at.parse().unwrap()).unwrap();
    }

    fn read(&self, folder: &Path, name: &str) -> Option<String> {
        let folder = System.folder(folder).unwrap();
        match System.image((&folder, OsStr::new(name))).unwrap()?.content {
            Content::Bytes(bytes) => Some(String::from_utf8(bytes).unwrap()),
            Content::Refused(_) | Content::Failed(_) => panic!("{name} cannot be read"),
        }
    }

    /// Recovers everything.
    fn lock(&self) -> Lock<'_, System> {
        self.state.lock(Patience::Wait, now()).unwrap()
    }

    /// Recovers, and returns the outcome.
    fn recovered(&self) -> Outcome {
        let lock = self.lock();
        lock.history.entries[0].outcome.clone().unwrap()
    }

    /// Recovers, and checks the outcome and what lies in the place, beside it and in the park.
    #[track_caller]
    fn check(&self, ended: EndResult, place: Option<&str>, aside: Option<&str>, parked: Option<&str>) {
        let outcome = self.recovered();
        assert_eq!(outcome.ended, ended, "{}", outcome.detail);
        assert_eq!(self.read(self.folder.path(), "claim").as_deref(), place);
        assert_eq!(self.read(self.folder.path(), ASIDE).as_deref(), aside);
        assert_eq!(self.read(&self.park(), PARKED).as_deref(), parked);
    }
}

fn now() -> Timestamp {
    "2026-11-20T22:00:00Z".parse().unwrap()
}

#[test]
fn what_was_only_taken_goes_back() {
    let scene = Scene::new();
    scene.check(EndResult::Failed, Some("the claim"), None, None);
}

#[test]
fn where_a_newer_file_has_come_the_older_one_is_named() {
    // Of the same content or not: it is another file.
    for newer in ["a newer one", "the claim"] {
        let scene = Scene::new();
        scene.write(scene.folder.path(), "claim", newer, "2026-11-20T21:59:30Z");
        scene.check(EndResult::Stuck, Some(newer), None, Some("the claim"));
        let (place, stays) = (scene.place("claim"), scene.park().join(PARKED));
        let told = format!(
            "it was interrupted; a newer file is at {}, the older stays parked as {}",
            place.display(),
            stays.display()
        );
        assert_eq!(scene.recovered().detail, told);
    }
}

#[test]
fn a_file_that_has_two_names_keeps_the_one_in_its_place() {
    let scene = Scene::new();
    std::fs::hard_link(scene.park().join(PARKED), scene.place("claim")).unwrap();
    scene.check(EndResult::Failed, Some("the claim"), None, None);
}

#[test]
fn a_file_of_others_beside_it_stays() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), ASIDE, "somebody's", "2026-11-20T21:59:00Z");
    scene.check(EndResult::Failed, Some("the claim"), Some("somebody's"), None);
}

/// Makes a claim that was taken and parked outside the state folder, in a folder with these permission bits.
fn parked_in(mode: u32) -> (Scene, ParkLocation) {
    let scene = Scene::empty();
    let folder = scene.place("elsewhere");
    std::fs::create_dir(&folder).unwrap();
    scene.write(&folder, PARKED, "the claim", "2026-11-20T20:00:00Z");
    let print = scene.print(&folder, PARKED);
    std::fs::set_permissions(&folder, Permissions::from_mode(mode)).unwrap();
    let parked = ParkLocation { name: PARKED.to_owned(), folder: Some(folder) };
    let from = scene.place("claim");
    scene.begin(vec![Movement::Take { from, parked: parked.clone(), print }]);
    (scene, parked)
}

#[test]
fn what_is_parked_elsewhere_goes_back_as_well() {
    let (scene, _) = parked_in(0o700);
    scene.check(EndResult::Failed, Some("the claim"), None, None);
}

#[test]
fn where_the_disk_of_a_file_is_away_it_is_not_said_to_be_where_it_was() {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), "claim", "the claim", "2026-11-20T20:00:00Z");
    let print = scene.print(scene.folder.path(), "claim");
    std::fs::remove_file(scene.place("claim")).unwrap();
    scene.begin(vec![scene.take(Print { dev: print.dev + 1, ..print.clone() })]);
    let told = scene.lock().unsettled[0].1.to_string();
    assert!(told.contains("perhaps because its disk is missing"), "{told}");

    scene.begin(vec![scene.take(print)]);
    let lock = scene.lock();
    let entry = lock.history.entries.last().unwrap();
    let outcome = entry.outcome.clone().unwrap();
    assert!(outcome.detail.contains("is gone, and no part of it is parked"), "{}", outcome.detail);
    assert_eq!((outcome.ended, entry.can_be_undone()), (EndResult::Failed, false));
}

#[test]
fn a_folder_that_is_not_ours_alone_is_refused_and_told() {
    let (scene, parked) = parked_in(0o777);
    scene.check(EndResult::Stuck, None, None, None);
    let folder = parked.folder.unwrap();
    let told = format!(
        "it was interrupted; other users can write to {}: nothing in it is touched",
        folder.display()
    );
    assert_eq!(scene.recovered().detail, told);
    assert_eq!(scene.read(&folder, PARKED).as_deref(), Some("the claim"));

    let scene = Scene::empty();
    let (to, link) = (scene.place("to"), scene.place("link"));
    std::fs::create_dir(&to).unwrap();
    scene.write(&to, PARKED, "the claim", "2026-11-20T20:00:00Z");
    std::os::unix::fs::symlink(&to, &link).unwrap();
    let (print, parked) =
        (scene.print(&to, PARKED), ParkLocation { name: PARKED.to_owned(), folder: Some(link) });
    scene.begin(vec![Movement::Take { from: scene.place("claim"), parked, print }]);
    let lock = scene.state.lock(Patience::Wait, now()).unwrap();
    assert!(lock.recovered.is_empty() && lock.unsettled.len() == 1, "a link is followed");
    drop(lock);
    assert_eq!(scene.read(&to, PARKED).as_deref(), Some("the claim"));
}

#[test]
fn a_parked_name_that_leads_elsewhere_is_refused_and_told() {
    for name in ["../../secret", "..", ".", "", "a/b", "/etc/passwd"] {
        let scene = Scene::empty();
        scene.write(scene.folder.path(), "secret", "not parked", "2026-11-20T20:00:00Z");
        let print = scene.print(scene.folder.path(), "secret");
        let take = |name: &str| Movement::Take {
            from: scene.place("claim"),
            parked: ParkLocation::in_state(name),
            print: print.clone(),
        };
        scene.begin(vec![take(name)]);
        let outcome = scene.recovered();
        assert_eq!(outcome.ended, EndResult::Stuck, "{name}");
        let told = format!(
            "it was interrupted; the journal names {name} as parked, which is not a plain name: it is left alone"
        );
        assert_eq!(outcome.detail, told);
        assert_eq!(scene.read(scene.folder.path(), "secret").as_deref(), Some("not parked"));
        assert_eq!(scene.read(scene.folder.path(), "claim"), None);
    }
}

#[test]
fn a_state_folder_that_others_can_write_is_refused() {
    let scene = Scene::empty();
    let state = scene.place("state");
    std::fs::set_permissions(&state, Permissions::from_mode(0o777)).unwrap();
    let refused = StateFolder::open(System, &state).err().unwrap();
    assert_eq!(
        refused.to_string(),
        format!("other users can write to {}: nothing in it is touched", state.display())
    );
}

#[test]
fn where_the_folder_has_gone_the_parked_file_is_named() {
    let scene = Scene::empty();
    scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
    let (from, print) = (scene.place("gone").join("claim"), scene.print(&scene.park(), PARKED));
    scene.begin(vec![Movement::Take { from: from.clone(), parked: ParkLocation::in_state(PARKED), print }]);
    scene.check(EndResult::Stuck, None, None, Some("the claim"));
    let (from, stays) = (from.display(), scene.park().join(PARKED));
    let stays = stays.display();
    let told = format!(
        "it was interrupted; {from} is gone, the older content stays parked: copy it back from {stays}"
    );
    assert_eq!(scene.recovered().detail, told);
}
