//! What a take left behind that was cut off while it was put back.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::TempDir;

use super::begins;
use crate::act::disk::{Disk, Patience};
use crate::act::lock::StateFolder;
use crate::act::movement::print_of;
use crate::act::system::System;
use crate::core::file::Content;
use crate::core::journal::{Ended, Intent, Movement, Outcome, Print};
use crate::core::plan::Action;

const PARKED: &str = "1-1-claim";
const ASIDE: &str = ".claimtop-1-1";

mod exchanges;
mod puts;

/// A folder of the world, and a state folder whose journal has one intent and no outcome.
struct Scene {
    folder: TempDir,
    state: StateFolder<System>,
}

impl Scene {
    /// Makes a claim that was taken to another file system: the copy there is not the file itself.
    fn new() -> Self {
        let scene = Self::empty();
        scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
        let print = scene.print(&scene.park(), PARKED);
        scene.begin(vec![scene.take(Print { ino: print.ino + 1_000_000, ..print })]);
        scene
    }

    fn empty() -> Self {
        let folder = TempDir::new().unwrap();
        let state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        Self { folder, state }
    }

    fn take(&self, print: Print) -> Movement {
        Movement::Take { from: self.place("claim"), parked: PARKED.to_owned(), print }
    }

    /// Journals that movements were begun.
    fn begin(&self, movements: Vec<Movement>) {
        let (title, why) = (String::new(), String::new());
        let intent = Intent { action: Action::Release, title, why, movements, undoes: None, follows: None };
        self.state.lock(Patience::None, Timestamp::UNIX_EPOCH).unwrap().begin(1, &intent, now()).unwrap();
    }

    fn place(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn print(&self, folder: &Path, name: &str) -> Print {
        let folder = System.folder(folder).unwrap();
        print_of(&System.image((&folder, OsStr::new(name))).unwrap().unwrap()).unwrap()
    }

    fn park(&self) -> PathBuf {
        self.state.parked_path().to_path_buf()
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

    /// Recovers, and returns how it ends.
    fn recovered(&self) -> Outcome {
        let lock = self.state.lock(Patience::None, now()).unwrap();
        lock.history.entries[0].outcome.clone().unwrap()
    }

    /// Recovers, and checks how it ends and what lies in the place, beside it and in the park.
    #[track_caller]
    fn check(&self, ended: Ended, place: Option<&str>, aside: Option<&str>, parked: Option<&str>) {
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
fn a_copy_that_is_back_already_is_no_newer_file() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), "claim", "the claim", "2026-11-20T20:00:00Z");
    scene.check(Ended::Failed, Some("the claim"), None, None);
}

#[test]
fn a_newer_file_of_the_same_content_stays_as_well() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), "claim", "the claim", "2026-11-20T21:00:00Z");
    scene.check(Ended::Stuck, Some("the claim"), None, Some("the claim"));
}

#[test]
fn a_begun_copy_goes_even_when_a_newer_file_has_come() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), ASIDE, "the cl", "2026-11-20T21:59:00Z");
    scene.write(scene.folder.path(), "claim", "a newer one", "2026-11-20T21:59:30Z");
    scene.check(Ended::Stuck, Some("a newer one"), None, Some("the claim"));
}

#[test]
fn what_cannot_be_read_is_not_taken_for_a_strangers() {
    let bytes = |text: &str| Content::Bytes(text.into());
    let (whole, unread) = (bytes("the claim"), Content::Failed("too many open files".to_owned()));
    assert_eq!(begins(&bytes("the cl"), &whole), Some(true));
    assert_eq!(begins(&bytes("another"), &whole), Some(false));
    assert_eq!((begins(&unread, &whole), begins(&bytes("the cl"), &unread)), (None, None));
}

#[test]
fn a_file_of_others_beside_it_stays() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), ASIDE, "somebody's", "2026-11-20T21:59:00Z");
    scene.check(Ended::Failed, Some("the claim"), Some("somebody's"), None);
}

/// Makes a take that had come so far that the file itself lies beside its place, and its copy in
/// the park.
fn taken_beside() -> Scene {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), ASIDE, "the claim", "2026-11-20T20:00:00Z");
    scene.write(&scene.park(), PARKED, "the cl", "2026-11-20T20:00:00Z");
    scene.begin(vec![scene.take(scene.print(scene.folder.path(), ASIDE))]);
    scene
}

#[test]
fn a_file_that_lies_beside_its_place_goes_back_itself() {
    taken_beside().check(Ended::Failed, Some("the claim"), None, None);
}

#[test]
fn where_a_newer_file_has_come_the_older_one_is_named() {
    let scene = taken_beside();
    scene.write(scene.folder.path(), "claim", "a newer one", "2026-11-20T21:59:30Z");
    scene.check(Ended::Stuck, Some("a newer one"), Some("the claim"), None);
    let place = scene.place("claim").display().to_string();
    let told = format!("it was cut off; a newer file is at {place}, the older lies beside it as {ASIDE}");
    assert_eq!(scene.recovered().detail, told);

    let scene = Scene::new();
    scene.write(scene.folder.path(), "claim", "a newer one", "2026-11-20T21:59:30Z");
    scene.check(Ended::Stuck, Some("a newer one"), None, Some("the claim"));
    let place = scene.place("claim").display().to_string();
    let told = format!("it was cut off; a newer file is at {place}, the older stays parked as {PARKED}");
    assert_eq!(scene.recovered().detail, told);
}

#[test]
fn where_the_folder_has_gone_the_parked_file_is_named() {
    let scene = Scene::empty();
    scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
    let (from, print) = (scene.place("gone").join("claim"), scene.print(&scene.park(), PARKED));
    scene.begin(vec![Movement::Take { from: from.clone(), parked: PARKED.to_owned(), print }]);
    scene.check(Ended::Stuck, None, None, Some("the claim"));
    let (from, stays) = (from.display(), scene.park().join(PARKED));
    let stays = stays.display();
    let told =
        format!("it was cut off; {from} has gone, the older content stays parked: copy it back from {stays}");
    assert_eq!(scene.recovered().detail, told);
}
