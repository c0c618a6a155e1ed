//! The mouse, if a person has enabled it.

use crate::pty::Screen;
use crate::terminal::world::World;

/// Presses and releases the left button on a text.
#[track_caller]
fn click(screen: &mut Screen, text: &str) {
    // A frame can be half there.
    screen.wait_for(text);
    let contents = screen.parser.screen().contents();
    let found = contents.lines().enumerate().find_map(|(y, line)| Some((y, line.find(text)?)));
    let (y, at) = found.unwrap_or_else(|| panic!("{text} is not there:\n{contents}"));
    let x = contents.lines().nth(y).unwrap()[..at].chars().count();
    let (x, y) = (x + 1, y + 1);
    screen.press(&format!("\u{1b}[<0;{x};{y}M\u{1b}[<0;{x};{y}m"));
}

#[test]
fn tabs_names_rows_and_keys_are_clicked() {
    let world = World::new();
    world.write("home/.config/claimtop/config.toml", "mouse = true\n");
    let mut screen = world.open(100, 30);
    click(&mut screen, "4 Claims");
    screen.wait_for("Holds");
    click(&mut screen, "3 Sessions");
    screen.wait_for("Session of");
    click(&mut screen, "Session of");
    screen.wait_for("Session of▲");
    click(&mut screen, "Session of");
    screen.wait_for("Session of▼");
    let is_selected = |name: &'static str| {
        move |screen: &Screen| {
            screen.picture().lines().any(|line| line.starts_with('▌') && line.contains(name))
        }
    };
    click(&mut screen, "alpha_agent");
    screen.wait_until("alpha selected", is_selected("alpha_agent"));
    click(&mut screen, "alpha_agent");
    screen.wait_for("── maia alpha_agent");
    click(&mut screen, "q close");
    screen.wait_until("the table", |screen| !screen.shows("── maia alpha_agent"));
    click(&mut screen, "q quit");
    assert_eq!(screen.wait_for_exit(), 0);
    screen.check_given_back();
}
