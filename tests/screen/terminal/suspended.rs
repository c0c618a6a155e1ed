//! Everything stands still for hours, as on a machine that sleeps: the program is stopped by a signal that cannot be
//! caught, and its clock continues.

use rustix::process::Signal;

use crate::terminal::clock::{HOUR, Stage, row};

#[test]
fn what_died_meanwhile_is_dead_and_what_slept_along_lives() {
    let mut stage = Stage::new();
    let mut other = stage.world.agent();
    stage.world.register(other.id(), "soon_over");
    stage.screen.wait_for("soon_over");
    stage.agent.signal(Signal::STOP);
    stage.screen.signal(Signal::STOP);
    stage.screen.wait_until("a stopped program", |screen| screen.state() == 'T');
    other.end();
    stage.agent.signal(Signal::CONT);
    stage.screen.signal(Signal::CONT);
    stage.set_by(8 * HOUR, "late_agent");
    stage.screen.wait_until("the end of one", |screen| row(screen, "soon_over").contains("dead"));
    for name in ["registered", "live_agent"] {
        let row = row(&stage.screen, name);
        assert!(row.contains("alive"), "{row}");
    }
    let row = row(&stage.screen, "late_agent");
    let row = row.split('│').next().unwrap();
    assert!(!row.contains(" h"), "just written: {row}");
    stage.end();
}

/// Many seconds of timers are due at once when it continues: that is one frame, and not many.
#[test]
fn it_catches_up_in_one_go() {
    let mut stage = Stage::new();
    stage.screen.signal(Signal::STOP);
    stage.screen.wait_until("a stopped program", |screen| screen.state() == 'T');
    for number in 0..200 {
        let text = format!(r#"{{"current_agent":"slept_{number}"}}"#);
        stage.world.write("home/.maia/sessions/swarm_session_slept.json", &text);
    }
    stage.screen.take_output();
    let before = stage.screen.written.len();
    stage.screen.signal(Signal::CONT);
    stage.screen.wait_for("slept_199");
    let written = String::from_utf8_lossy(&stage.screen.written[before..]).into_owned();
    let frames = written.matches("\u{1b}[?2026h").count();
    assert!(frames <= 6, "{frames} frames for one change");
    stage.end();
}
