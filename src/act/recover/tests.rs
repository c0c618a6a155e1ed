//! What a take left behind that was cut off while it was put back.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use tempfile::TempDir;

use crate::act::disk::{Disk, Patience};
use crate::act::lock::StateFolder;
use crate::act::movement::print_of;
use crate::act::system::System;
use crate::core::file::Content;
use crate::core::journal::{Ended, Intent, Movement, Print};
use crate::core::plan::Action;

const PARKED: &str = "1-1-claim";
const ASIDE: &str = ".claimtop-1-1";

/// A folder with a claim that was taken, and a state folder whose journal says so.
struct Scene {
    folder: TempDir,
    state: StateFolder<System>,
}

impl Scene {
    fn new() -> Self {
        let folder = TempDir::new().unwrap();
        let state = StateFolder::open(System, &folder.path().join("state")).unwrap();
        let scene = Self { folder, state };
        scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
        let path = scene.park();
        let park = System.folder(&path).unwrap();
        let print = print_of(&System.image((&park, OsStr::new(PARKED))).unwrap().unwrap()).unwrap();
        let from = scene.folder.path().join("claim");
        // The copy on another file system is not the file that was taken.
        let print = Print { ino: print.ino + 1_000_000, ..print };
        let take = Movement::Take { from, parked: PARKED.to_owned(), print };
        let (title, why) = (String::new(), String::new());
        let intent = Intent {
            action: Action::Release,
            title,
            why,
            movements: vec![take],
            undoes: None,
            follows: None,
        };
        scene.state.lock(Patience::None, Timestamp::UNIX_EPOCH).unwrap().begin(&intent, now()).unwrap();
        scene
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

    /// Recovers, and checks how it ends and what lies in the place, beside it and in the park.
    #[track_caller]
    fn check(&self, ended: Ended, place: Option<&str>, aside: Option<&str>, parked: Option<&str>) {
        let lock = self.state.lock(Patience::None, now()).unwrap();
        let outcome = lock.history.entries[0].outcome.clone().unwrap();
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
fn a_file_of_others_beside_it_stays() {
    let scene = Scene::new();
    scene.write(scene.folder.path(), ASIDE, "somebody's", "2026-11-20T21:59:00Z");
    scene.check(Ended::Failed, Some("the claim"), Some("somebody's"), None);
}
