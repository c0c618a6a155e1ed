//! Terminals that have gone away, and terminals that no program reads.

use std::io::{Read, Write};
use std::time::Duration;

use portable_pty::{Child, MasterPty, PtySize, native_pty_system};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process};
use rustix::termios::LocalModes;

use crate::pty::cells;
use crate::terminal::world::{World, line_of, modes_of};

/// A program in a terminal that is read only here: a reader in another thread keeps the terminal open and empty.
struct Unread {
    child: Box<dyn Child + Send + Sync>,
    master: Box<dyn MasterPty + Send>,
}

impl Unread {
    fn start(world: &World, size: PtySize) -> Self {
        let pty = native_pty_system().openpty(size).unwrap();
        let child = pty.slave.spawn_command(world.command(&[], &[])).unwrap();
        Self { child, master: pty.master }
    }

    /// Reads until the first whole frame is there, and returns the screen.
    fn read_one_frame(&self) -> vt100::Parser {
        let PtySize { rows, cols, .. } = self.master.get_size().unwrap();
        let mut parser = vt100::Parser::new(rows, cols, 0);
        self.read_until(&mut parser, "quit");
        parser
    }

    /// Reads until the screen shows `text`.
    fn read_until(&self, parser: &mut vt100::Parser, text: &str) {
        let mut reader = self.master.try_clone_reader().unwrap();
        while !parser.screen().contents().contains(text) {
            let mut buffer = [0; 4096];
            let read = reader.read(&mut buffer).unwrap();
            parser.process(&buffer[..read]);
        }
    }

    fn signal(&self, signal: Signal) {
        let pid = Pid::from_raw(self.child.process_id().unwrap().cast_signed()).unwrap();
        kill_process(pid, signal).unwrap();
    }
}

/// Fails unless the program ends by itself; one that loops would keep this waiting for ever.
#[track_caller]
fn check_ends(child: &mut Box<dyn Child + Send + Sync>) {
    let has_ended = (0..1_200).any(|_| {
        std::thread::sleep(Duration::from_millis(50));
        matches!(child.try_wait(), Ok(Some(_)))
    });
    if !has_ended {
        child.kill().unwrap();
        child.wait().unwrap();
    }
    assert!(has_ended, "the program is still there");
}

#[test]
fn a_terminal_that_is_gone_ends_the_program() {
    let world = World::new();
    let Unread { mut child, master } = {
        let unread = Unread::start(&world, cells(80, 24));
        unread.read_one_frame();
        unread
    };
    drop(master);
    check_ends(&mut child);
}

#[test]
fn a_terminal_that_goes_while_the_program_is_stopped_ends_it() {
    let world = World::new();
    let unread = Unread::start(&world, cells(80, 24));
    unread.read_one_frame();
    unread.signal(Signal::STOP);
    let Unread { mut child, master } = unread;
    // The kernel continues a stopped program whose terminal hangs up.
    drop(master);
    check_ends(&mut child);
}

#[test]
fn a_terminal_that_goes_in_the_first_moment_ends_the_program() {
    let world = World::new();
    let Unread { mut child, master } = Unread::start(&world, cells(80, 24));
    drop(master);
    check_ends(&mut child);
}

#[test]
fn a_terminal_that_nobody_reads_keeps_no_signal_from_ending_the_program() {
    for signal in [Signal::TERM, Signal::INT, Signal::HUP, Signal::QUIT] {
        let world = World::new();
        let mut unread = Unread::start(&world, cells(200, 100));
        unread.read_one_frame();
        fill(&unread);
        unread.signal(signal);
        check_ends(&mut unread.child);
        let (.., local) = modes_of(&line_of(&*unread.master));
        assert!(local.contains(LocalModes::ICANON | LocalModes::ECHO), "the modes were not given back");
    }
}

/// The changes meanwhile are one picture in the end, and not one for each look.
#[test]
fn a_terminal_that_is_read_again_shows_how_things_are_by_then() {
    let world = World::new();
    let mut unread = Unread::start(&world, cells(200, 100));
    let mut parser = unread.read_one_frame();
    let mut keys = unread.master.take_writer().unwrap();
    keys.write_all(b"3").unwrap();
    unread.read_until(&mut parser, "alpha_agent");
    fill_by(&unread, &mut keys);
    for number in 0..20 {
        let text = format!(r#"{{"current_agent":"late_{number}"}}"#);
        world.write(&format!("home/.maia/sessions/swarm_session_late_{number}.json"), &text);
        std::thread::sleep(Duration::from_millis(100));
    }
    for number in 0..20 {
        unread.read_until(&mut parser, &format!("late_{number}"));
    }
    keys.write_all(b"q").unwrap();
    check_ends(&mut unread.child);
}

#[test]
fn a_blocked_program_ends_with_its_terminal() {
    let world = World::new();
    let unread = Unread::start(&world, cells(200, 100));
    unread.read_one_frame();
    fill(&unread);
    let Unread { mut child, master } = unread;
    drop(master);
    check_ends(&mut child);
}

/// Lets the screen be drawn repeatedly until the terminal accepts no more, and the program is blocked in a write.
fn fill(unread: &Unread) {
    fill_by(unread, &mut unread.master.take_writer().unwrap());
}

fn fill_by(unread: &Unread, keys: &mut impl Write) {
    let line = line_of(&*unread.master);
    let has_room = || {
        let mut watched = [PollFd::new(&line, PollFlags::OUT)];
        poll(&mut watched, Some(&Timespec::default())).unwrap() > 0
    };
    let mut full_for = 0;
    for _ in 0..1_000 {
        full_for = if has_room() { 0 } else { full_for + 1 };
        if full_for == 10 {
            return;
        }
        if full_for == 0 {
            keys.write_all(b"\x0c").unwrap();
        }
        std::thread::sleep(Duration::from_millis(20));
    }
    panic!("the terminal takes everything");
}
