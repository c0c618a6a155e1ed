//! A machine behind a real OpenSSH server whose link is bad, or which stands still: nothing of it is lost, and none of
//! its windows is reported dead.

use rustix::process::Signal;

use super::pty::Screen;
use super::server::{Server, Window};

/// A server behind a link, with a window, and the screen here that shows both.
struct Watched {
    server: Server,
    window: Window,
    name: String,
    screen: Screen,
}

impl Watched {
    fn new() -> Option<Self> {
        let mut server = Server::new()?;
        if !server.set_apart() {
            return None;
        }
        server.start();
        server.link();
        // Unique among the tests.
        let name = format!("pay-{}", server.port);
        let window = server.window(&name);
        let mut screen = server.screen();
        screen.press("3/devbox\r");
        screen.wait_for(&name);
        Some(Self { server, window, name, screen })
    }

    /// Waits for the row of its window to show a text.
    #[track_caller]
    fn wait_for(&mut self, text: &str) {
        let name = self.name.clone();
        let is_shown = |screen: &Screen| {
            let picture = screen.picture();
            picture.lines().any(|line| line.contains(&name) && line.contains(text))
        };
        self.screen.wait_until(&format!("{text:?} in the row"), is_shown);
    }

    /// Goes through a silence and its end.
    #[track_caller]
    fn fall_silent(mut self, silence: &dyn Fn(&Server), end: &dyn Fn(&Server)) {
        self.wait_for("● alive");
        silence(&self.server);
        self.wait_for("? unknown");
        self.wait_for("not seen for");
        self.screen.press("r");
        self.screen.wait_for("It is on devbox: it is silent");
        self.screen.press("\u{1b}8");
        self.screen.wait_for("silent");
        end(&self.server);
        self.screen.wait_for("● live");
        self.screen.press("3");
        self.wait_for("● alive");
        self.screen.end();
    }
}

#[test]
fn a_server_that_stands_still_is_silent_and_its_rows_stay() {
    let Some(watched) = Watched::new() else { return };
    watched.fall_silent(&|server| server.signal(Signal::STOP), &|server| server.signal(Signal::CONT));
}

#[test]
fn a_link_in_which_all_vanishes_is_a_silence() {
    let Some(watched) = Watched::new() else { return };
    watched.fall_silent(&|server| server.set_link("stop"), &|server| server.set_link("pass"));
}

/// Returns the round-trip time in milliseconds that the screen shows.
fn latency(screen: &Screen) -> Option<u64> {
    let picture = screen.picture();
    let row = picture.lines().find(|line| line.contains("● live"))?;
    let before = row.split(" ms").next().filter(|before| before.len() < row.len())?;
    before.rsplit(' ').next()?.parse().ok()
}

#[test]
fn a_link_of_300_ms_is_slow_and_no_more() {
    let Some(mut watched) = Watched::new() else { return };
    watched.server.set_link("late 0.15");
    watched.screen.press("8");
    watched.screen.wait_until("a latency of 300 ms", |screen| latency(screen).is_some_and(|ms| ms >= 300));
    watched.screen.press("3");
    watched.window.register(&watched.server.world, &format!("{}-later", watched.name));
    watched.wait_for("-later");
    watched.wait_for("● alive");
    watched.window.end();
    watched.wait_for("✗ dead");
    watched.screen.end();
}

#[test]
fn where_two_pieces_of_a_hundred_are_lost_all_arrives_in_the_end() {
    let Some(mut watched) = Watched::new() else { return };
    watched.server.set_link("lossy 2");
    for number in 0..30 {
        let name = format!("{}-{number}-", watched.name);
        watched.window.register(&watched.server.world, &name);
        watched.wait_for(&name);
        watched.wait_for("● alive");
    }
    watched.window.end();
    watched.wait_for("✗ dead");
    watched.screen.end();
}
