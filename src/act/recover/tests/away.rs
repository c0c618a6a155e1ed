//! Recovery while a folder is away, and after it is back.

use super::*;
use crate::act::fs::print::sha256;
use crate::act::{prune, undo};
use crate::core::model::RestoreTo;

/// Checks that the entry stays open for as long as a folder is away, and its outcome once the folder is back.
#[track_caller]
fn check_later(scene: &Scene, folder: &str) {
    let away = scene.place("away");
    std::fs::rename(scene.place(folder), &away).unwrap();
    // However often that is tried.
    for _ in 0..2 {
        let lock = scene.lock();
        assert!(lock.recovered.is_empty() && lock.history.entries[0].is_open());
        let told = lock.unsettled[0].1.to_string();
        assert!(told.contains(&format!("{folder} has changed")), "{told}");
        let refused = undo::plan(&lock, 1, RestoreTo::Beside, now()).err().unwrap().to_string();
        assert!(refused.contains("cannot be repaired now"), "{refused}");
    }
    std::fs::rename(away, scene.place(folder)).unwrap();
    let outcome = scene.recovered();
    let told = "it was interrupted; everything is where it was";
    assert_eq!((outcome.ended, outcome.detail.as_str()), (EndResult::Failed, told));
}

#[test]
fn an_exchange_is_put_right_once_the_folder_of_its_file_is_back() {
    let scene = Scene::empty();
    let sessions = scene.place("sessions");
    std::fs::create_dir(&sessions).unwrap();
    scene.write(&sessions, "claim", "old", "2026-11-20T20:00:00Z");
    scene.begin(vec![Movement::Exchange {
        path: sessions.join("claim"),
        parked: ParkLocation::in_state(PARKED),
        print: scene.print(&sessions, "claim"),
        new_sha256: sha256(b"new"),
    }]);
    std::fs::rename(sessions.join("claim"), sessions.join(ASIDE)).unwrap();
    scene.write(&sessions, "claim", "new", "2026-11-20T21:00:00Z");
    check_later(&scene, "sessions");
    assert_eq!(scene.read(&sessions, "claim").as_deref(), Some("old"));
    assert_eq!(scene.read(&sessions, ASIDE), None);
}

#[test]
fn what_was_taken_goes_back_once_the_folder_where_it_is_parked_is_back() {
    let (scene, _) = parked_in(0o700);
    check_later(&scene, "elsewhere");
    assert_eq!(scene.read(scene.folder.path(), "claim").as_deref(), Some("the claim"));
}

#[test]
fn a_file_in_its_place_is_not_away_because_its_disk_has_another_number_since_a_boot() {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), "claim", "the claim", "2026-11-20T20:00:00Z");
    let print = scene.print(scene.folder.path(), "claim");
    let take = scene.take(Print { dev: print.dev + 1, ino: print.ino + 1, ..print });
    scene.begin(vec![take]);
    scene.check(EndResult::Failed, Some("the claim"), None, None);
}

#[test]
fn what_comes_back_after_its_entry_came_to_nothing_is_kept_and_can_be_undone() {
    let scene = Scene::new();
    let (parked, away) = (scene.park().join(PARKED), scene.place("away"));
    std::fs::rename(&parked, &away).unwrap();
    assert_eq!(scene.recovered().ended, EndResult::Failed);
    let lock = scene.lock();
    assert!(undo::plan(&lock, 1, RestoreTo::Origin, now()).is_err(), "there is nothing");
    std::fs::rename(away, parked).unwrap();
    let (plan, _) = undo::plan(&lock, 1, RestoreTo::Origin, now()).unwrap();
    assert_eq!(plan.steps.len(), 1, "{:?}", plan.steps);
    assert_eq!(kept(&lock), [Some(prune::KeepReason::Stuck)]);
}

/// Returns why each parked file is kept, however new it is.
fn kept(lock: &Lock<'_, System>) -> Vec<Option<prune::KeepReason>> {
    let parked =
        prune::outdated(lock, now() + jiff::SignedDuration::from_hours(1), jiff::SignedDuration::ZERO);
    parked.unwrap().into_iter().map(|parked| parked.kept).collect()
}

#[test]
fn what_an_undo_that_got_stuck_may_still_bring_back_is_not_pruned() {
    let scene = Scene::new();
    let done = Outcome::new(EndResult::Done, String::new());
    let print = scene.print(&scene.park(), PARKED);
    let put = Movement::Put {
        parked: ParkLocation::in_state(PARKED),
        to: scene.place("claim"),
        print,
        touched_at: None,
    };
    // The claim is written anew, so the release is not undone.
    scene.write(scene.folder.path(), "claim", "newer", "2026-11-20T21:00:00Z");
    let mut lock = scene.lock();
    lock.finish(1, done, now()).unwrap();
    assert_eq!(kept(&lock), [None], "what was let go long ago");
    let intent = Intent { undoes: Some(1), movements: vec![put], ..lock.history.entries[0].intent.clone() };
    lock.begin(2, &intent, now()).unwrap();
    assert_eq!(kept(&lock), [Some(prune::KeepReason::Stuck)], "an undo is open");
    lock.finish(2, Outcome::new(EndResult::Stuck, String::new()), now()).unwrap();
    assert_eq!(kept(&lock), [Some(prune::KeepReason::Stuck)], "an undo got stuck");
}
