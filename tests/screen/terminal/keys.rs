//! The effect of each key.

use crate::pty::Screen;
use crate::terminal::world::World;

/// Presses keys and waits for the text that they show; fails if it was there before.
#[track_caller]
fn check(screen: &mut Screen, keys: &str, shown: &str) {
    assert!(!screen.shows(shown), "{shown:?} is there before {keys:?}:\n{}", screen.picture());
    screen.press(keys);
    screen.wait_until(shown, |screen| shown.split('|').any(|text| screen.shows(text)));
}

/// The text of the history: on a busy machine it has rows at once.
const HISTORY: &str = "Nothing has been done yet|Outcome";
const LEFT_OVERS: &str = "has left anything|Nothing runs that|Left by";

fn selected(screen: &Screen) -> String {
    let picture = screen.picture();
    picture.lines().find(|line| line.starts_with('▌')).unwrap_or_default().to_owned()
}

#[test]
fn every_view_has_its_key() {
    let world = World::new();
    let mut screen = world.open(100, 15);
    check(&mut screen, "7", HISTORY);
    check(&mut screen, "6", LEFT_OVERS);
    check(&mut screen, "5", "What is wrong");
    check(&mut screen, "4", "Holds");
    check(&mut screen, "3", "Session of");
    screen.press("2");
    screen.wait_until("the windows", |screen| !screen.shows("Session of"));
    check(&mut screen, "7", HISTORY);
    check(&mut screen, "\u{1b}[Z", LEFT_OVERS);
    check(&mut screen, "\u{1b}[Z", "What is wrong");
    check(&mut screen, "\t\t\t\t\t", "Session of");
    assert_eq!(screen.end(), 0);
}

#[test]
fn enter_shows_the_evidence() {
    let world = World::new();
    let mut screen = world.open(100, 20);
    screen.press("/alpha\r");
    screen.wait_until("one row", |screen| !screen.shows("omega_agent"));
    check(&mut screen, "\r", "── maia alpha_agent ");
    screen.wait_for("Verdict");
    screen.close("── maia alpha_agent ");
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_filter_keeps_what_contains_it_or_what_does_not() {
    let world = World::new();
    let mut screen = world.open(100, 20);
    check(&mut screen, "/alpha", "1 of 2 rows");
    assert!(screen.shows("alpha_agent") && !screen.shows("omega_agent"), "{}", screen.picture());
    screen.press("\u{15}!alpha");
    screen.wait_until("the other row", |screen| screen.shows("omega_agent") && screen.shows("1 of 2 rows"));
    assert!(!screen.shows("alpha_agent"), "{}", screen.picture());
    check(&mut screen, "\u{15}neither", "Nothing here matches neither");
    screen.press("\u{1b}");
    screen.wait_until("both", |screen| screen.shows("alpha_agent") && screen.shows("omega_agent"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn help_lists_the_keys_that_are_active() {
    let world = World::new();
    let mut screen = world.open(100, 50);
    check(&mut screen, "?", "Keys that are active now");
    for text in ["Quit; also Ctrl-c", "Enter", "Half a page", "Next row with a problem"] {
        screen.wait_for(text);
    }
    screen.close("Keys that are active now");
    assert_eq!(screen.end(), 0);
}

#[test]
fn q_closes_what_is_open_and_quits_where_nothing_is() {
    let world = World::new();
    let mut screen = world.open(100, 50);
    check(&mut screen, "\r", "── maia ");
    check(&mut screen, "?", "Keys that are active now");
    screen.press("q");
    screen.wait_until("an end of the help", |screen| !screen.shows("Keys that are active now"));
    screen.press("7");
    screen.wait_until("the history", |screen| HISTORY.split('|').any(|text| screen.shows(text)));
    screen.press("q");
    assert_eq!(screen.wait_for_exit(), 0);
}

#[test]
fn the_palette_runs_a_command_by_its_name_and_nothing_that_is_pasted() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    check(&mut screen, ":", "Commands");
    check(&mut screen, "show hist\r", HISTORY);
    check(&mut screen, ":", "Commands");
    check(&mut screen, "\u{1b}[200~quit\r\n\u{1b}[201~", ":quit");
    screen.close("Commands");
    check(&mut screen, "3c", "Columns of Sessions");
    screen.press("j ");
    screen.wait_for("[ ] Session of");
    screen.close("Columns of Sessions");
    assert!(!screen.shows("Session of") && screen.shows("Verdict"), "{}", screen.picture());
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_plan_says_why_it_stays() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    check(&mut screen, "m", "Plan: migrate");
    check(&mut screen, "6", "Esc closes it");
    screen.press("\u{3}");
    assert_eq!(screen.wait_for_exit(), 0);
}

#[test]
fn an_action_on_what_nobody_holds_says_why_not() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    for (key, verb) in [("r", "release"), ("m", "migrate"), ("P", "park")] {
        check(&mut screen, key, &format!("Plan: {verb}"));
        screen.close("Plan: ");
    }
    assert_eq!(screen.end(), 0);
}

#[test]
fn a_frozen_picture_stays_until_it_lives_again() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    check(&mut screen, "f", "[frozen");
    world.write("home/.maia/sessions/swarm_session_late.json", r#"{"current_agent":"late_agent"}"#);
    // Goes through all views meanwhile: none of them uses the newer look.
    for (key, shown) in [("7", HISTORY), ("3", "alpha_agent")] {
        check(&mut screen, key, shown);
    }
    assert!(!screen.shows("late_agent"), "{}", screen.picture());
    screen.press("f");
    screen.wait_for("late_agent");
    assert!(!screen.shows("[frozen"));
    assert_eq!(screen.end(), 0);
}

#[test]
fn the_selection_moves_and_stays_on_the_table() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    for (keys, row) in [("g", "first"), ("G", "last"), ("jjjjj", "last"), ("kkkkk", "first"), ("j", "last")] {
        let is_there = |screen: &Screen| {
            let is_first = screen.picture().lines().nth(3).is_some_and(|line| line.starts_with('▌'));
            !selected(screen).is_empty() && is_first == (row == "first")
        };
        screen.press(keys);
        screen.wait_until(&format!("the {row} row selected by {keys}"), is_there);
    }
    assert_eq!(screen.end(), 0);
}

#[test]
fn keys_that_mean_nothing_do_nothing() {
    let world = World::new();
    let mut screen = world.open(100, 30);
    screen.press("\u{1b}OP\u{1b}[15~\u{1b}[200~pasted\u{1b}[201~\u{0}\u{1}ü€\u{1b}[<0;1;1M\u{1b}[I\u{1b}[O");
    check(&mut screen, "\u{1b}\u{c}7", HISTORY);
    assert_eq!(screen.end(), 0);
}

#[test]
fn rows_that_each_ask_for_a_code_are_done_by_one_code() {
    let world = World::new();
    let files = ["home/.maia/sessions/swarm_session_alpha.json", "tmp/maia_active_swarm_session.json"];
    let left = || files.iter().filter(|file| world.path(file).exists()).count();
    let mut screen = world.open(120, 40);
    check(&mut screen, "3  P", "2 records together");
    while screen.shows("s ago: wait") {
        screen.close("Plan: ");
        check(&mut screen, "P", "2 records together");
    }
    assert_eq!(left(), 2);
    let picture = screen.picture();
    let (_, code) = picture.split_once("If you know better, type ").unwrap();
    check(&mut screen, &format!("{}\r", &code[..6]), "Finished");
    assert_eq!(left(), 0);
    assert_eq!(screen.end(), 0);
}
