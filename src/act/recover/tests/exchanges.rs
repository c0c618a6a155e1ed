//! An interrupted exchange of a file's content: the old content comes back, unless another program has written
//! meanwhile.

use super::*;
use crate::act::fs::print::sha256;

const BACK: &str = ".claimtop-1-1-back";

/// Makes a claim whose content was to become `new`: it is still `old`.
fn begun() -> Scene {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), "claim", "old", "2026-11-20T20:00:00Z");
    let print = scene.print(scene.folder.path(), "claim");
    scene.begin(vec![Movement::Exchange {
        path: scene.place("claim"),
        parked: ParkLocation::in_state(PARKED),
        print,
        new_sha256: sha256(b"new"),
    }]);
    scene
}

/// Advances the exchange until the old content lies at `old`, and the new content in its place.
fn exchanged(old: impl FnOnce(&Scene) -> PathBuf) -> Scene {
    let scene = begun();
    std::fs::rename(scene.place("claim"), old(&scene)).unwrap();
    scene.write(scene.folder.path(), "claim", "new", "2026-11-20T21:00:00Z");
    scene
}

fn beside(scene: &Scene) -> PathBuf {
    scene.place(ASIDE)
}

fn parked(scene: &Scene) -> PathBuf {
    scene.park().join(PARKED)
}

/// Writes the file anew, as another program does.
fn renew(scene: &Scene) {
    std::fs::write(scene.place("claim"), "renewed").unwrap();
}

/// Checks that the old content is back and nothing else is left.
#[track_caller]
fn check_back(scene: &Scene) {
    scene.check(EndResult::Failed, Some("old"), None, None);
    assert_eq!(scene.read(scene.folder.path(), BACK), None);
}

/// Checks that the outcome reports the state of the file and where the old content is.
#[track_caller]
fn check_told(scene: &Scene, since: &str) {
    let (place, stays) = (scene.place("claim").display().to_string(), parked(scene).display().to_string());
    let told = format!(
        "it was interrupted; {place} {since}, the older content stays parked: copy it back from {stays}"
    );
    assert_eq!(scene.recovered().detail, told);
}

#[test]
fn what_was_never_in_use_goes() {
    for new in ["", "new"] {
        let scene = begun();
        scene.write(scene.folder.path(), ASIDE, new, "2026-11-20T21:00:00Z");
        check_back(&scene);
    }
}

#[test]
fn old_content_that_may_not_be_read_any_more_comes_back_all_the_same() {
    // With a second name it is not read, but it is still the very file.
    let scene = exchanged(beside);
    std::fs::hard_link(scene.place(ASIDE), scene.place("second")).unwrap();
    let outcome = scene.recovered();
    assert_eq!(outcome.ended, EndResult::Failed, "{}", outcome.detail);
    assert_eq!(std::fs::read_to_string(scene.place("claim")).unwrap(), "old");
    assert!(!scene.place(ASIDE).exists());
    // A file that was written meanwhile is parked, as any other.
    let scene = exchanged(beside);
    std::fs::hard_link(scene.place(ASIDE), scene.place("second")).unwrap();
    renew(&scene);
    assert_eq!(scene.recovered().ended, EndResult::Stuck);
    assert_eq!(std::fs::read_to_string(scene.place("claim")).unwrap(), "renewed");
    assert!(!scene.place(ASIDE).exists());
    assert_eq!(std::fs::read_to_string(parked(&scene)).unwrap(), "old");
}

#[test]
fn what_another_had_put_there_before_the_exchange_comes_back() {
    let scene = begun();
    scene.write(scene.folder.path(), ASIDE, "newer", "2026-11-20T20:59:00Z");
    // Written before the old one goes, or it could get the same inode number.
    scene.write(scene.folder.path(), "ours", "new", "2026-11-20T21:00:00Z");
    std::fs::rename(scene.place("ours"), scene.place("claim")).unwrap();
    assert_eq!(scene.recovered().ended, EndResult::Failed);
    assert_eq!(std::fs::read_to_string(scene.place("claim")).unwrap(), "newer");
    assert!(!scene.place(ASIDE).exists());
}

#[test]
fn what_somebody_wrote_while_the_two_were_exchanged_back_is_parked_and_named() {
    let scene = begun();
    scene.write(scene.folder.path(), ASIDE, "somebody's", "2026-11-20T21:00:00Z");
    scene.check(EndResult::Stuck, Some("old"), None, Some("somebody's"));
    let told = format!(
        "it was interrupted; {} is unchanged; the file beside it, which may have been written since, is parked as {PARKED}",
        scene.place("claim").display()
    );
    assert_eq!(scene.recovered().detail, told);
}

#[test]
fn the_old_content_comes_back_from_wherever_it_lies() {
    check_back(&exchanged(beside));
    check_back(&exchanged(parked));
}

#[test]
fn what_somebody_wrote_meanwhile_stays_and_the_old_content_is_parked() {
    let scene = exchanged(beside);
    renew(&scene);
    scene.check(EndResult::Stuck, Some("renewed"), None, Some("old"));
    check_told(&scene, "was written meanwhile");
}

#[test]
fn old_content_that_cannot_be_parked_either_stays_beside_and_is_named() {
    let scene = exchanged(beside);
    renew(&scene);
    std::fs::write(parked(&scene), "somebody's").unwrap();
    scene.check(EndResult::Stuck, Some("renewed"), Some("old"), Some("somebody's"));
    let place = scene.place("claim").display().to_string();
    let told = format!(
        "it was interrupted; {place} was written meanwhile, the older content is beside it as {ASIDE}"
    );
    assert_eq!(scene.recovered().detail, told);
}

#[test]
fn what_somebody_wrote_stays_and_the_parked_content_is_named() {
    let scene = exchanged(parked);
    renew(&scene);
    scene.check(EndResult::Stuck, Some("renewed"), None, Some("old"));
    check_told(&scene, "was written meanwhile");
}

#[test]
fn where_the_file_has_gone_the_parked_content_is_named() {
    let scene = exchanged(parked);
    std::fs::remove_file(scene.place("claim")).unwrap();
    scene.check(EndResult::Stuck, None, None, Some("old"));
    check_told(&scene, "is gone");
}

#[test]
fn what_was_written_before_the_exchange_is_where_it_was() {
    let scene = begun();
    renew(&scene);
    scene.check(EndResult::Failed, Some("renewed"), None, None);
}

#[test]
fn a_file_of_others_beside_it_stays_and_is_named() {
    let scene = exchanged(parked);
    scene.write(scene.folder.path(), ASIDE, "somebody's", "2026-11-20T21:00:00Z");
    scene.check(EndResult::Stuck, Some("new"), Some("somebody's"), Some("old"));
}

#[test]
fn a_recovery_that_was_cut_off_itself_is_finished() {
    let back = |scene: &Scene| scene.place(BACK);
    check_back(&exchanged(back));

    // The two had changed places already.
    let scene = begun();
    scene.write(scene.folder.path(), BACK, "new", "2026-11-20T21:00:00Z");
    check_back(&scene);
}

#[test]
fn a_recovery_gives_way_to_what_somebody_wrote() {
    let scene = exchanged(|scene| scene.place(BACK));
    renew(&scene);
    scene.check(EndResult::Stuck, Some("renewed"), None, Some("old"));
    assert_eq!(scene.read(scene.folder.path(), BACK), None);
}
