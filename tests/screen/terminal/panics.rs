//! A panic of the scanner thread restores the terminal and is reported. (A panic within a draw is tested beside the
//! guard, `src/run/terminal/mod.rs`.)

use claimtop::core::model::Report;
use claimtop::testing::config::Config;
use claimtop::testing::run;
use portable_pty::CommandBuilder;

use crate::pty::Screen;

/// Set in the environment of the process that is to panic.
const VARIABLE: &str = "CLAIMTOP_TEST_PANICS";
const PANICKING: &str = "terminal::panics::looking_panics_where_it_is_wanted";

/// Does nothing except in the process that the test below starts.
#[test]
fn looking_panics_where_it_is_wanted() {
    if std::env::var_os(VARIABLE).is_none() {
        return;
    }
    let broken = || -> Report { panic!("broken on purpose") };
    let error = run::run(broken, &Config::default(), run::Options::default()).unwrap_err();
    println!("it says: {error:#}");
}

#[test]
fn a_panic_while_looking_gives_the_terminal_back_and_is_told() {
    let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
    command.args([PANICKING, "--exact", "--nocapture", "--test-threads=1"]);
    command.env("TERM", "xterm-256color");
    command.env(VARIABLE, "1");
    let mut screen = Screen::start(command, 100, 30);
    screen.wait_for_exit();
    assert!(String::from_utf8_lossy(&screen.written).contains("\u{1b}[?1049h"), "there was no screen");
    screen.check_given_back();
    assert!(screen.shows("it says: the scanner thread has failed"), "{}", screen.picture());
    assert!(screen.shows("broken on purpose"), "{}", screen.picture());
}
