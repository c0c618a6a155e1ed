//! The thread that waits for signals.

use std::io;
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::mpsc::Sender;

use super::event::{AtEnd, Event};
use crate::run::terminal;

/// How long the screen has to end by itself.
const PATIENCE: Duration = Duration::from_millis(500);

/// The number of `SIGTSTP` on every Linux but MIPS and SPARC, and 18 on BSD and macOS.
const TSTP: i32 = if cfg!(target_os = "linux") { 20 } else { 18 };
/// The number of `SIGCONT`.
const CONT: i32 = if cfg!(target_os = "linux") { 18 } else { 19 };

struct Signals {
    ending: [Signal; 4],
    stop: Signal,
    resume: Signal,
    resize: Signal,
}

impl Signals {
    fn new() -> io::Result<Self> {
        Ok(Self {
            ending: [
                signal(SignalKind::terminate())?,
                signal(SignalKind::hangup())?,
                signal(SignalKind::interrupt())?,
                signal(SignalKind::quit())?,
            ],
            stop: signal(SignalKind::from_raw(TSTP))?,
            resume: signal(SignalKind::from_raw(CONT))?,
            resize: signal(SignalKind::window_change())?,
        })
    }

    async fn next(&mut self) -> Event {
        let [term, hup, int, quit] = &mut self.ending;
        tokio::select! {
            _ = term.recv() => Event::End,
            _ = hup.recv() => Event::End,
            _ = int.recv() => Event::End,
            _ = quit.recv() => Event::End,
            _ = self.stop.recv() => Event::Stop,
            _ = self.resume.recv() => Event::Continued,
            _ = self.resize.recv() => Event::Resized,
        }
    }
}

/// Starts to listen for TERM, HUP, INT, QUIT, TSTP, CONT and WINCH.
pub(crate) fn listen(sender: Sender<Event>, at_end: Option<AtEnd>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let mut signals = runtime.block_on(async { Signals::new() })?;
    std::thread::Builder::new().name("signals".to_owned()).spawn(move || {
        runtime.block_on(async {
            loop {
                let event = signals.next().await;
                if matches!(event, Event::End) {
                    return end(&sender, at_end.as_ref());
                }
                // A screen that has ended needs no signals.
                let _ = sender.send(event).await;
            }
        });
    })?;
    Ok(())
}

/// Asks the screen to end, and ends the program when the screen cannot: a terminal that no process
/// reads blocks it in a write, and then only another thread can still act.
pub(crate) fn end(sender: &Sender<Event>, at_end: Option<&AtEnd>) {
    let _ = sender.try_send(Event::End);
    std::thread::sleep(PATIENCE);
    terminal::restore_modes();
    if let Some(at_end) = at_end {
        at_end();
    }
    std::process::exit(1);
}
