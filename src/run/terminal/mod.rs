//! The terminal: entered once, left whatever happens.

pub(crate) mod clipboard;
pub(crate) mod keyboard;
pub(crate) mod sequences;
pub(crate) mod watch_tty;

use std::io::{self, BufWriter, Stdout, Write, stdout};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread::ThreadId;

use crossterm::cursor::{Hide, Show};
use crossterm::event::{
    DisableBracketedPaste, DisableMouseCapture, EnableBracketedPaste, EnableMouseCapture,
};
use crossterm::style::Print;
use crossterm::terminal::{
    BeginSynchronizedUpdate, Clear, ClearType, EndSynchronizedUpdate, EnterAlternateScreen,
    LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::{Backend, CrosstermBackend};
use ratatui::buffer::Buffer;

use crate::config::Switch;
use sequences::{RESTORE_TITLE, SAVE_TITLE};

/// Room for one whole frame of a large terminal.
const BUFFER: usize = 64 * 1024;

/// What the last panic of another thread said.
static LAST_PANIC: Mutex<String> = Mutex::new(String::new());
static HOOK: Once = Once::new();

/// Whether the alternate screen is shown. To leave it twice would put the cursor back to where it was
/// before, and whatever was reported meanwhile would be written over.
static IS_ENTERED: AtomicBool = AtomicBool::new(false);

/// Whether the terminal keeps the title that it had before.
static IS_TITLE_SAVED: AtomicBool = AtomicBool::new(false);

/// The terminal in its special state; dropping it puts it back.
///
/// Frames are compared here and not by [`ratatui::Terminal`]: that one asks the terminal for the
/// cursor's place when it clears, and a terminal that is gone or just continued does not answer.
pub(super) struct Guard {
    backend: CrosstermBackend<BufWriter<Stdout>>,
    shown: Buffer,
    mouse: Switch,
    title: Switch,
}

impl Guard {
    /// Enters raw mode and the alternate screen, and makes sure that a panic leaves them.
    pub(super) fn enter(mouse: Switch, title: Switch) -> io::Result<Self> {
        let backend = CrosstermBackend::new(BufWriter::with_capacity(BUFFER, stdout()));
        leave_on_panic();
        let guard = Self { backend, shown: Buffer::default(), mouse, title };
        set_up(mouse, title)?;
        Ok(guard)
    }

    /// Draws a frame: writes the cells that differ, and nothing when none does.
    pub(super) fn draw(&mut self, render: impl FnOnce() -> Buffer) -> io::Result<()> {
        let next = render();
        let is_other_size = next.area != self.shown.area;
        if is_other_size {
            self.shown = Buffer::empty(next.area);
        }
        let mut changes = self.shown.diff_iter(&next).peekable();
        if changes.peek().is_none() && !is_other_size {
            return Ok(());
        }
        queue!(self.backend, BeginSynchronizedUpdate)?;
        if is_other_size {
            queue!(self.backend, Clear(ClearType::All))?;
        }
        self.backend.draw(changes)?;
        execute!(self.backend, EndSynchronizedUpdate)?;
        self.shown = next;
        Ok(())
    }

    /// Takes the mouse, or leaves it to the terminal.
    pub(super) fn set_mouse(&mut self, mouse: Switch) -> io::Result<()> {
        let is_other = std::mem::replace(&mut self.mouse, mouse) != mouse;
        match mouse {
            Switch::On if is_other => execute!(self.backend, EnableMouseCapture),
            Switch::Off if is_other => execute!(self.backend, DisableMouseCapture),
            Switch::On | Switch::Off => Ok(()),
        }
    }

    /// Forgets what the terminal shows, so that the next frame is drawn whole.
    pub(super) fn forget(&mut self) {
        self.shown = Buffer::default();
    }

    /// Writes control bytes that the screen does not show.
    pub(super) fn send(&mut self, bytes: &str) -> io::Result<()> {
        self.backend.write_all(bytes.as_bytes())?;
        io::Write::flush(&mut self.backend)
    }

    /// Leaves the terminal, stops the job and comes back when it is continued. The whole job, as the terminal itself
    /// does it: a program that started this one and waits, such as npx, would keep the shell from its turn.
    pub(super) fn stop(&mut self) -> io::Result<()> {
        restore();
        rustix::process::kill_current_process_group(rustix::process::Signal::STOP)?;
        self.come_back()
    }

    /// Enters again after the program was stopped by itself or by others. The shell has had the
    /// terminal in between, so its modes are set anew and not assumed.
    pub(super) fn come_back(&mut self) -> io::Result<()> {
        disable_raw_mode()?;
        set_up(self.mouse, self.title)?;
        self.forget();
        Ok(())
    }
}

impl Drop for Guard {
    fn drop(&mut self) {
        restore();
    }
}

fn set_up(mouse: Switch, title: Switch) -> io::Result<()> {
    enable_raw_mode()?;
    if title == Switch::On && !IS_TITLE_SAVED.swap(true, Ordering::SeqCst) {
        execute!(stdout(), Print(SAVE_TITLE))?;
    }
    IS_ENTERED.store(true, Ordering::SeqCst);
    // Without it pasted text would come as keys, and keys act.
    execute!(stdout(), EnterAlternateScreen, Hide, EnableBracketedPaste)?;
    match mouse {
        Switch::On => execute!(stdout(), EnableMouseCapture),
        Switch::Off => Ok(()),
    }
}

/// Puts the terminal back as far as it still answers; an error has no reader if it does not.
pub(super) fn restore() {
    let _ = disable_raw_mode();
    let mut out = stdout();
    let _ = queue!(out, EndSynchronizedUpdate, DisableMouseCapture, DisableBracketedPaste, Show);
    if IS_ENTERED.swap(false, Ordering::SeqCst) {
        let _ = queue!(out, LeaveAlternateScreen);
    }
    let _ = out.flush();
    if IS_TITLE_SAVED.swap(false, Ordering::SeqCst) {
        let _ = execute!(stdout(), Print(RESTORE_TITLE));
    }
}

/// Puts the terminal's modes back without writing to it: the write could block.
pub(super) fn restore_modes() {
    let _ = disable_raw_mode();
}

/// Leaves the terminal before the screen's thread reports a panic. Other threads must not write
/// over the screen: what they say is kept for the one who ends the program.
fn leave_on_panic() {
    let screen: ThreadId = std::thread::current().id();
    HOOK.call_once(move || {
        let previous = std::panic::take_hook();
        std::panic::set_hook(Box::new(move |panic| {
            if std::thread::current().id() == screen {
                restore();
                previous(panic);
            } else {
                tracing::error!(%panic, "a bug in claimtop");
                *LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner) = panic.to_string();
            }
        }));
    });
}

/// Returns what the last panic of another thread said.
pub(super) fn last_panic() -> String {
    LAST_PANIC.lock().unwrap_or_else(PoisonError::into_inner).clone()
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "a test starts itself again in a terminal")]
mod tests {
    use std::io::Read;

    use portable_pty::{CommandBuilder, PtySize, native_pty_system};
    use ratatui::layout::Rect;
    use ratatui::style::Style;

    use super::*;

    /// Set in the environment of the process that is to panic.
    const VARIABLE: &str = "CLAIMTOP_TEST_PANICS";
    const PANICKING: &str = "run::terminal::tests::drawing_panics_where_it_is_wanted";

    /// Does nothing but in the process that the test below starts.
    #[test]
    fn drawing_panics_where_it_is_wanted() {
        if std::env::var_os(VARIABLE).is_some() {
            let mut guard = Guard::enter(Switch::On, Switch::On).unwrap();
            guard.draw(frame).unwrap();
            guard.draw(|| panic!("broken on purpose")).unwrap();
        }
    }

    fn frame() -> Buffer {
        let mut buffer = Buffer::empty(Rect::new(0, 0, 80, 24));
        buffer.set_string(0, 0, "whole", Style::default());
        buffer
    }

    #[test]
    fn a_panic_within_a_draw_leaves_the_screen_before_it_is_told() {
        let pty = native_pty_system().openpty(PtySize::default()).unwrap();
        let mut command = CommandBuilder::new(std::env::current_exe().unwrap());
        command.args([PANICKING, "--exact", "--nocapture", "--test-threads=1"]);
        command.env(VARIABLE, "1");
        let mut child = pty.slave.spawn_command(command).unwrap();
        drop(pty.slave);
        let mut written = Vec::new();
        // Reading ends with an error when the other side is closed.
        let _ = pty.master.try_clone_reader().unwrap().read_to_end(&mut written);
        assert!(!child.wait().unwrap().success());
        let written = String::from_utf8_lossy(&written);
        let place = |text: &str| written.find(text).unwrap_or_else(|| panic!("no {text:?} in {written:?}"));
        assert!(place("\u{1b}[?1049h") < place("\u{1b}[?1049l"), "entered and left");
        assert!(place("whole") < place("\u{1b}[?1049l"), "the frame before was drawn");
        assert!(place("\u{1b}[?1000l") < place("broken on purpose"), "the mouse is free before");
        assert!(place("\u{1b}[?1049l") < place("broken on purpose"), "told on the shell's screen");
        assert_eq!(written.matches("\u{1b}[?1049l").count(), 1, "what is told stays on the screen");
        assert!(place("\u{1b}[?25h") < place("broken on purpose"), "with a cursor");
        assert!(place("broken on purpose\r\n") > 0, "and in the shell's modes");
    }
}
