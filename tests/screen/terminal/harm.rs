//! Floods of text and files, and folders that go away: they must do no harm.

use crate::pty::Screen;
use crate::terminal::world::World;

#[test]
fn a_paste_of_100_kb_into_the_filter_is_taken_as_far_as_it_is_of_use() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    screen.press("/");
    screen.press(&format!("\u{1b}[200~alpha_agent{}\u{1b}[201~", "x".repeat(100_000)));
    screen.wait_for("Nothing here matches alpha_agentxxx");
    screen.close("Nothing here matches");
    screen.wait_for("omega_agent");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_lone_esc_closes_one_thing_and_waits_for_nothing_more() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    screen.press("?");
    screen.wait_for("Keys that are active now");
    screen.close("Keys that are active now");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_wiped_temporary_folder_takes_its_records_and_new_ones_are_seen() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    screen.wait_for("omega_agent");
    std::fs::remove_dir_all(world.path("tmp")).unwrap();
    screen.wait_until("an end of the record", |screen| !screen.shows("omega_agent"));
    world.write("tmp/maia_active_swarm_session.json", r#"{"current_agent":"late_agent","query":"why"}"#);
    screen.wait_for("late_agent");
    assert_eq!(screen.end(), 0);
}

#[test]
fn fifty_thousand_files_in_one_folder_hide_nothing() {
    let world = World::new();
    let folder = world.path("tmp");
    for number in 0..50_000 {
        std::fs::File::create(folder.join(format!("claude_of_others_{number}.json"))).unwrap();
    }
    let mut screen = world.open(100, 30);
    screen.wait_for("omega_agent");
    std::fs::remove_file(world.path("tmp/maia_active_swarm_session.json")).unwrap();
    screen.wait_until("an end of the record", |screen| !screen.shows("omega_agent"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn claimtop_tells_of_itself() {
    let world = World::new();
    let mut screen: Screen = world.open(100, 60);
    screen.press("D");
    for text in ["What is read", "maia", "last look", "descriptors", "Its limits", "watched folders"] {
        screen.wait_for(text);
    }
    screen.close("Its limits");
    assert_eq!(screen.end(), 0);
}
