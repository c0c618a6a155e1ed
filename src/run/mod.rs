//! The shell of the screen: the loop, the terminal, the signals and the thread that looks.
//!
//! Three threads, one ordered channel. The thread that looks may take its time; the thread that
//! waits for signals can end the program even while the screen's thread is blocked in a write to
//! a terminal that nobody reads.

mod acting;
mod bounds;
mod calls;
mod clipboard;
mod jump;
mod keyboard;
pub mod log;
pub mod looking;
mod pace;
mod screen;
mod signals;
pub mod tape;
mod terminal;
mod watch_tty;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use anyhow::Context;
use tokio::sync::mpsc;

use self::acting::Keeping;
pub use self::bounds::bounds;
use self::looking::{Audience, Said};
use self::tape::Tape;
use crate::act::executor::Executor;
use crate::app::msg::{Hints, Msg, Position, Step, Taped};
use crate::app::state::Options as ScreenOptions;
use crate::config::{ColorChoice, Config, Switch};
use crate::observe::ReportSource;
use crate::observe::watch::hint::Hint;
use crate::source::described as own;
use crate::ui::Look;
use crate::ui::theme::{Colors, Palette};

/// The fewest descriptors that are enough for the screen, its threads and one look: some libraries
/// panic without.
const FEWEST: u64 = 64;

/// What the caller does at the very end, also when only the thread that waits for signals can
/// still end the program.
pub type AtEnd = Arc<dyn Fn() + Send + Sync>;

/// Goes to another look of a recording, has it looked at, and returns where that is.
pub type Stepper = Box<dyn FnMut(Step) -> Position>;

/// A recording that is shown instead of the world.
pub struct Replay {
    /// Where it begins.
    pub at: Position,
    /// Goes elsewhere.
    pub step: Stepper,
}

/// What the caller adds to the configuration.
#[derive(Default)]
pub struct Options {
    /// A badge for the header, such as `demo`.
    pub badge: Option<String>,
    /// Says "look again". When it is missing or closed, the world is looked at every 2 s.
    pub hints: Option<Receiver<Hint>>,
    /// What acts, or why nothing can be done.
    pub executor: Option<Result<Executor, String>>,
    /// What a key records on, and the folder of its recordings.
    pub tape: Option<(Tape, PathBuf)>,
    /// A recording that is shown instead of the world.
    pub replay: Option<Replay>,
    /// Where what is observed is kept, if it is.
    pub history: Option<PathBuf>,
    /// What is left to do when the program ends without coming back to its caller.
    pub at_end: Option<AtEnd>,
}

/// What can reach the screen's loop beside the keyboard.
#[derive(Debug)]
enum Event {
    /// A message for the screen.
    Told(Msg),
    /// The program is to stop until continued.
    Stop,
    /// The program was continued; the terminal may show and do anything.
    Continued,
    /// The terminal has another size, or had one in between.
    Resized,
    /// The program is to end.
    End,
    /// The thread that looks has failed.
    Failed(String),
}

/// Shows the full screen until a person quits, a signal ends it or the terminal is gone.
///
/// [`ColorChoice::Auto`] is taken as colours: whoever reads the environment turns it into
/// [`ColorChoice::Never`] when `NO_COLOR` is set.
///
/// # Errors
/// When standard output is no terminal or cannot be set up, or when the thread that looks fails.
pub fn run(
    reports: impl ReportSource + Send + 'static,
    config: &Config,
    options: Options,
) -> anyhow::Result<()> {
    let most = own::most_open().unwrap_or(u64::MAX);
    anyhow::ensure!(
        most >= FEWEST,
        "only {most} files may be open at once; the screen needs {FEWEST} (ulimit -n)"
    );
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .context("failed to start the loop")?;
    let (sender, events) = mpsc::channel(64);
    // Signals first: from here on whatever ends the program leaves the terminal as it was.
    signals::listen(sender.clone(), options.at_end.clone()).context("failed to listen for signals")?;
    // crossterm obeys NO_COLOR by itself, also where an option wants colours all the same.
    crossterm::style::force_color_output(config.color != ColorChoice::Never);
    let guard =
        terminal::Guard::enter(config.mouse, config.calls.title).context("failed to set up the terminal")?;
    watch_tty::listen(sender.clone(), options.at_end).context("failed to watch the terminal")?;
    let executor = options.executor.unwrap_or_else(|| Err("claimtop is read-only".to_owned()));
    let tape = Switch::from_truth(options.tape.is_some());
    if let Some((tape, _)) = &options.tape {
        let sender = sender.clone();
        tape.tells(Box::new(move |why| {
            // A screen that has ended needs no telling.
            let _ = sender.blocking_send(Event::Told(Msg::Taped(Taped::Lost(why))));
        }));
    }
    let acting =
        acting::start(executor, Keeping { history: options.history, tape: options.tape }, sender.clone())
            .context("failed to start acting")?;
    let say = move |said| match sender.blocking_send(event_of(said)) {
        Ok(()) => Audience::Listens,
        Err(_) => Audience::Gone,
    };
    looking::start(reports, options.hints, say).context("failed to start looking")?;
    let calls = config.calls;
    let screen = ScreenOptions {
        badge: options.badge,
        access: config.access,
        bounds: bounds(),
        history: config.history,
        tape,
        replayed: options.replay.as_ref().map(|replay| replay.at),
    };
    runtime.block_on(screen::show(guard, events, screen, (look(config), calls), (acting, options.replay)))
}

fn event_of(said: Said) -> Event {
    match said {
        Said::Looked(report) => Event::Told(Msg::Looked(report)),
        Said::Exited(id) => Event::Told(Msg::Exited(id)),
        Said::Measured(measured) => Event::Told(Msg::Measured(measured)),
        Said::HintsLost => Event::Told(Msg::Hints(Hints::Lost)),
        Said::Failed(what) => Event::Failed(what),
    }
}

fn look(config: &Config) -> Look {
    let colors = match config.color {
        ColorChoice::Auto | ColorChoice::Always => Colors::Used,
        ColorChoice::Never => Colors::Unused,
    };
    Look { palette: Palette::new(config.theme, colors), glyphs: config.glyphs }
}
