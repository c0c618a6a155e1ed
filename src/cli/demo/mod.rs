//! `demo`: a self-made world of real processes and real files, gone on exit.

mod cast;
mod fill;
mod guarded;
mod hook;
mod left_over;
mod lifeline;
mod machines;
mod owner;
mod stage;
pub(super) mod stand_in;
mod story;
mod trees;
mod world;

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use anyhow::{Context, anyhow};

use self::machines::Machines;
pub(super) use self::machines::play as play_machine;
pub(super) use self::story::Which;
use self::world::{World, end};
use super::args::Options;
use super::fleet;
use super::output::{Paint, Shape, print};
use super::settings::Settings;
use crate::cli::live::frames;
use crate::cli::live::screen;
use crate::cli::live::screen::About;
use crate::cli::look;
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::settings::environment::Environment;
use crate::cli::settings::signatures::signatures;
use crate::cli::show::{foresee, list, now};
use crate::config::notify::NotifyCommand;
use crate::observe::Observer;
use crate::observe::fleet::Everywhere;
use crate::present::need::doing::Prompts;
use crate::run::AtEnd;
use crate::run::tape::{self, Tape};
use crate::source::os::clock;

/// How the world is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Showing {
    /// On the full screen.
    Screen,
    /// Printed once.
    Text,
    /// Printed once, for scripts.
    Json,
}

impl Showing {
    /// Reads the options.
    pub(super) fn asked(once: bool, json: bool) -> Self {
        match (once, json) {
            (false, _) => Self::Screen,
            (true, false) => Self::Text,
            (true, true) => Self::Json,
        }
    }
}

/// What is asked of the demo.
#[derive(Clone, Debug)]
pub(super) struct Wish {
    pub(super) showing: Showing,
    pub(super) record: Option<PathBuf>,
    pub(super) which: Which,
    /// The keys after which frames are printed instead.
    pub(super) frames: Option<String>,
    /// How many other machines there are.
    pub(super) machines: usize,
}

/// Makes the world, shows it, and removes it.
///
/// # Errors
/// An option names a folder to look in, or the world cannot be made, recorded or shown.
pub(super) fn run(options: &Options, environment: Environment, wish: Wish) -> Outcome {
    refuse_folders(options)?;
    let failed = |error| Failure::new(Exit::Failed, error);
    let within = std::env::temp_dir();
    owner::remove_left(&within);
    let mut world = World::make(wish.which, &within, &environment.programs).map_err(failed)?;
    let mut settings = world.settings(options, environment)?;
    let mut machines = None;
    if wish.machines > 0 {
        let prepared = Machines::prepare(wish.machines, &within).map_err(failed)?;
        settings.effective.config.machines = prepared.links().map_err(failed)?;
        machines = Some(prepared);
    }
    // Its troubles are not real.
    settings.effective.config.notify_command = NotifyCommand::default();
    settings.start_log()?;
    world.remember(&settings).map_err(failed)?;
    let has_forecasts = !world.story.forecasts.is_empty();
    let observer =
        look::observer(&settings, signatures(&settings)?).only_below(Some(world.stage.path().to_owned()));
    if wish.which == Which::Guard {
        print(&guarded::play(&world.stage, &mut world.cast).map_err(failed)?)?;
    }
    let mut observer = observer;
    // The screen compares working trees by itself.
    let is_shown_once = wish.showing != Showing::Screen || wish.frames.is_some();
    let _foreseen =
        if is_shown_once && has_forecasts { foresee::once(&mut observer, &settings) } else { None };
    let tape = wish.record.map(|path| begun(&observer, path)).transpose().map_err(failed)?;
    let mut observer = match &tape {
        Some(tape) => observer.recorded(tape.recorder()),
        None => observer,
    };
    let all = DemoProcesses(Arc::new(Mutex::new(Some(All { world, machines }))));
    let outcome = match &wish.frames {
        Some(keys) => frames(observer, keys),
        None => match wish.which {
            Which::Everything | Which::Here | Which::There(_) => {
                show(&settings, (observer, tape), wish.showing, &all.0)
            }
            Which::Guard => {
                let paint = Paint::for_stdout(settings.effective.config.color);
                now::run(&mut observer, Shape::Text(paint)).map(|_| Exit::Fine)
            }
        },
    };
    end(&all.0, All::end).map_err(failed)?;
    outcome
}

/// Begins a recording.
fn begun(observer: &Observer, path: PathBuf) -> anyhow::Result<Tape> {
    let tape = Tape::new(observer.policy().signatures.clone());
    let wish = tape::Wish { path, began_at: clock::now(), limit: tape::LIMIT, redact: None };
    tape.begin(wish).context("failed to record")?;
    Ok(tape)
}

/// Prints the frames of three looks, as a replay of them would show them: a recording has no prompts.
fn frames(mut observer: Observer, keys: &str) -> Outcome {
    let looks = (0..3).map(|_| Arc::new(observer.observe().without_prompts()));
    print(&frames::frames(looks, keys))?;
    Ok(Exit::Fine)
}

/// The world here, and the other machines.
struct All {
    world: World,
    machines: Option<Machines>,
}

impl All {
    fn end(self) -> anyhow::Result<()> {
        let ended = self.world.end();
        self.machines.map_or(Ok(()), Machines::end).and(ended)
    }
}

/// Ends all also when a panic unwinds.
struct DemoProcesses(Arc<Mutex<Option<All>>>);

impl Drop for DemoProcesses {
    fn drop(&mut self) {
        // No reader is left for an error.
        drop(end(&self.0, All::end));
    }
}

fn show(
    settings: &Settings,
    (observer, tape): (Observer, Option<Tape>),
    showing: Showing,
    all: &Arc<Mutex<Option<All>>>,
) -> Outcome {
    match showing {
        Showing::Screen => {
            let all = Arc::clone(all);
            // No reader is left for an error.
            let at_end: AtEnd = Arc::new(move || drop(end(&all, All::end)));
            screen::screen(
                settings,
                observer,
                About { badge: Some("demo".to_owned()), tape, at_end: Some(at_end) },
            )
        }
        Showing::Json => {
            let others = fleet::others(settings, None)?;
            let mut all = Everywhere { local: observer, others };
            list::run(&mut all, None, Shape::Json, Prompts::Hidden)
        }
        Showing::Text => {
            let others = fleet::others(settings, None)?;
            let paint = Paint::for_stdout(settings.effective.config.color);
            now::run(&mut Everywhere { local: observer, others }, Shape::Text(paint))
        }
    }
}

fn refuse_folders(options: &Options) -> Result<(), Failure> {
    let is_named = options.home.is_some()
        || options.tmp.is_some()
        || options.state.is_some()
        || !options.roots.is_empty();
    if is_named {
        let error = anyhow!("the demo looks only in its own folders");
        return Err(Failure::usage(error).hint("omit --home, --tmp, --state and --root"));
    }
    Ok(())
}
