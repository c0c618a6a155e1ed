//! An interrupted move to another place: it is finished, or the file goes back.

use super::*;

/// Makes a claim that was taken and was to be put at `new`.
fn moved(touched_at: Option<Timestamp>) -> Scene {
    let scene = Scene::empty();
    scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
    let print = scene.print(&scene.park(), PARKED);
    let put = put(&scene, PARKED, "new", print.clone(), touched_at);
    scene.begin(vec![scene.take(print), put]);
    scene
}

fn put(scene: &Scene, parked: &str, to: &str, print: Print, touched_at: Option<Timestamp>) -> Movement {
    Movement::Put { parked: ParkLocation::in_state(parked), to: scene.place(to), print, touched_at }
}

/// Recovers, and checks the outcome and what lies in the new place, in the old one and in the park.
#[track_caller]
fn check(scene: &Scene, ended: EndResult, new: Option<&str>, old: Option<&str>) {
    let outcome = scene.recovered();
    assert_eq!(outcome.ended, ended, "{}", outcome.detail);
    assert_eq!(scene.read(scene.folder.path(), "new").as_deref(), new);
    assert_eq!(scene.read(scene.folder.path(), "claim").as_deref(), old);
    assert_eq!(scene.read(&scene.park(), PARKED), None);
}

#[test]
fn what_was_not_put_goes_back() {
    check(&moved(None), EndResult::Failed, None, Some("the claim"));
}

#[test]
fn what_was_put_stays_and_gets_its_time() {
    let at = "2026-11-20T21:30:00Z".parse().unwrap();
    let scene = moved(Some(at));
    std::fs::rename(scene.park().join(PARKED), scene.place("new")).unwrap();
    check(&scene, EndResult::Done, Some("the claim"), None);
    assert_eq!(scene.print(scene.folder.path(), "new").modified_at, at);
}

#[test]
fn what_was_written_since_it_was_put_keeps_the_time_of_that() {
    let scene = moved(Some("2026-11-20T21:30:00Z".parse().unwrap()));
    std::fs::rename(scene.park().join(PARKED), scene.place("new")).unwrap();
    std::fs::write(scene.place("new"), "written since").unwrap();
    let written_at = scene.print(scene.folder.path(), "new").modified_at;
    check(&scene, EndResult::Done, Some("written since"), None);
    assert_eq!(scene.print(scene.folder.path(), "new").modified_at, written_at);
}

#[test]
fn an_undo_of_several_files_of_which_one_was_put_is_not_done() {
    let scene = Scene::empty();
    let parked = |name: &str| {
        scene.write(&scene.park(), name, name, "2026-11-20T20:00:00Z");
        scene.print(&scene.park(), name)
    };
    let (one, other) = (parked("1-1-a"), parked("1-2-b"));
    scene.begin(vec![put(&scene, "1-2-b", "b", other, None), put(&scene, "1-1-a", "a", one, None)]);
    std::fs::rename(scene.park().join("1-2-b"), scene.place("b")).unwrap();
    let outcome = scene.recovered();
    assert_eq!(outcome.ended, EndResult::Stuck, "{}", outcome.detail);
    assert!(outcome.detail.contains("a was not put back: it stays parked as 1-1-a"), "{}", outcome.detail);
    assert_eq!(scene.read(&scene.park(), "1-1-a").as_deref(), Some("1-1-a"));
}

#[test]
fn what_somebody_wrote_after_an_undo_had_put_it_back_is_not_said_to_be_as_it_was() {
    let scene = Scene::empty();
    scene.write(&scene.park(), PARKED, "the claim", "2026-11-20T20:00:00Z");
    let print = scene.print(&scene.park(), PARKED);
    scene.begin(vec![put(&scene, PARKED, "new", print, None)]);
    // Written before the other one goes, or it could get the same inode number.
    scene.write(scene.folder.path(), "new", "another", "2026-11-20T20:00:00Z");
    std::fs::remove_file(scene.park().join(PARKED)).unwrap();
    let told = format!(
        "it was interrupted; {} has been rewritten since, and no part of it is parked",
        scene.place("new").display()
    );
    assert_eq!(scene.recovered().detail, told);
}

#[test]
fn a_put_from_a_name_that_leads_elsewhere_is_told_and_keeps_nothing_open() {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), "secret", "not parked", "2026-11-20T20:00:00Z");
    let print = scene.print(scene.folder.path(), "secret");
    scene.begin(vec![put(&scene, "../../secret", "new", print, None)]);
    let outcome = scene.recovered();
    assert_eq!(outcome.ended, EndResult::Stuck);
    assert!(outcome.detail.contains("not a plain name"), "{}", outcome.detail);
    assert_eq!(scene.read(scene.folder.path(), "secret").as_deref(), Some("not parked"));
}

#[test]
fn of_what_has_both_names_only_the_parked_one_goes() {
    let scene = moved(None);
    std::fs::hard_link(scene.park().join(PARKED), scene.place("new")).unwrap();
    check(&scene, EndResult::Done, Some("the claim"), None);
}

#[test]
fn a_file_of_others_in_the_new_place_is_not_what_was_put() {
    let scene = moved(None);
    scene.write(scene.folder.path(), "new", "another", "2026-11-20T20:00:00Z");
    check(&scene, EndResult::Failed, Some("another"), Some("the claim"));

    let scene = moved(None);
    // Written before the other one goes, or it could get the same inode number.
    scene.write(scene.folder.path(), "new", "another", "2026-11-20T20:00:00Z");
    std::fs::remove_file(scene.park().join(PARKED)).unwrap();
    check(&scene, EndResult::Failed, Some("another"), None);
}

#[test]
fn what_was_put_before_the_last_one_is_done_whatever_became_of_it() {
    let scene = Scene::empty();
    scene.write(scene.folder.path(), "new", "the second", "2026-11-20T20:00:00Z");
    let second = scene.print(scene.folder.path(), "new");
    let first = Print { sha256: "of another text".to_owned(), ..second.clone() };
    scene.write(scene.folder.path(), "claim", "renewed since", "2026-11-20T21:00:00Z");
    let puts = [put(&scene, "1-1-first", "claim", first, None), put(&scene, PARKED, "new", second, None)];
    scene.begin(puts.into());
    check(&scene, EndResult::Done, Some("the second"), Some("renewed since"));
}
