//! `demo`: a self-made world of real processes and real files, gone on exit.

mod cast;
mod fill;
mod stage;
pub(super) mod stand_in;
mod story;

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};

use self::cast::Cast;
use self::fill::Truth;
use self::stage::Stage;
use self::story::Story;
use super::args::Options;
use super::environment::Environment;
use super::failure::{Exit, Failure, Outcome};
use super::look::Looker;
use super::output::{Paint, Shape, print};
use super::screen::{self, About};
use super::settings::{Settings, settings};
use super::{frames, list, signatures};
use crate::run::AtEnd;
use crate::run::tape::{self, Tape};
use crate::source::os::{clock, host};

/// How long processes run before files are written: more than the ticks of both clocks.
const APART: std::time::Duration = std::time::Duration::from_millis(40);

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
    /// How the world is shown.
    pub(super) showing: Showing,
    /// Where it is recorded, if it is.
    pub(super) record: Option<PathBuf>,
    /// The keys after which frames are printed instead.
    pub(super) frames: Option<String>,
}

/// Makes the world, shows it, and removes it.
///
/// # Errors
/// An option names a folder to look in, or the world cannot be made, recorded or shown.
pub(super) fn run(options: &Options, environment: Environment, wish: Wish) -> Outcome {
    refuse_folders(options)?;
    let failed = |error| Failure::new(Exit::Failed, error);
    let world = World::make().map_err(failed)?;
    let settings = world.settings(options, environment)?;
    settings.start_log()?;
    let looker = Looker::new(&settings, signatures(&settings)?).only_below(world.stage.path().to_owned());
    let looker = taped(looker, wish.record.as_deref()).map_err(failed)?;
    let world = Held(Arc::new(Mutex::new(Some(world))));
    let outcome = match &wish.frames {
        Some(keys) => frames(looker, keys),
        None => show(&settings, looker, wish.showing, &world.0),
    };
    end(&world.0).map_err(failed)?;
    outcome
}

/// Records what is seen, if that is wanted.
fn taped(looker: Looker, path: Option<&Path>) -> anyhow::Result<Looker> {
    let Some(path) = path else { return Ok(looker) };
    let tape = Tape::new(looker.signatures());
    let wish = tape::Wish { path: path.to_owned(), began_at: clock::now(), limit: tape::LIMIT, redact: None };
    tape.begin(wish).context("failed to record")?;
    Ok(looker.taped(tape))
}

/// Prints the frames of three looks.
fn frames(mut looker: Looker, keys: &str) -> Outcome {
    print(&frames::frames((0..3).map(|_| looker.report()), keys))?;
    Ok(Exit::Fine)
}

/// Ends the world also when a panic unwinds.
struct Held(Arc<Mutex<Option<World>>>);

impl Drop for Held {
    fn drop(&mut self) {
        // Nobody is left to be told when this fails.
        drop(end(&self.0));
    }
}

/// Ends the world, if nobody did before. Whoever comes second waits until that is done.
fn end(world: &Mutex<Option<World>>) -> anyhow::Result<()> {
    let mut held = world.lock().unwrap_or_else(PoisonError::into_inner);
    held.take().map_or(Ok(()), World::end)
}

fn show(
    settings: &Settings,
    mut looker: Looker,
    showing: Showing,
    world: &Arc<Mutex<Option<World>>>,
) -> Outcome {
    match showing {
        Showing::Screen => {
            let world = Arc::clone(world);
            // Nobody is left to be told when this fails.
            let at_end: AtEnd = Arc::new(move || drop(end(&world)));
            screen::screen(settings, looker, About { badge: Some("demo".to_owned()), at_end: Some(at_end) })
        }
        Showing::Json => list::run(&mut looker, None, Shape::Json),
        Showing::Text => {
            let paint = Paint::for_stdout(settings.effective.config.color);
            list::run(&mut looker, None, Shape::Text(paint))
        }
    }
}

fn refuse_folders(options: &Options) -> Result<(), Failure> {
    let is_named = options.home.is_some() || options.tmp.is_some() || !options.roots.is_empty();
    if is_named {
        let error = anyhow!("the demo looks only in folders of its own");
        return Err(Failure::usage(error).hint("leave --home, --tmp and --root out"));
    }
    Ok(())
}

/// The world while it lasts. The processes end before their folders go.
struct World {
    cast: Cast,
    stage: Stage,
}

impl World {
    fn make() -> anyhow::Result<Self> {
        let story = Story::built_in().context("failed to read the demo's story")?;
        let stage = Stage::build()?;
        story.repos.iter().try_for_each(|repo| stage.repository(repo))?;
        let host = host::host(clock::now());
        let cast = Cast::start(&stage, &story.roles, host.name)?;
        // Only a file that is certainly younger than a process can be its own.
        std::thread::sleep(APART);
        let truth = Truth { stage: &stage, cast: &cast, now: clock::now(), booted_at: host.boot_at };
        for file in &story.files {
            stage.file(file, &truth).with_context(|| format!("failed to write {}", file.path))?;
        }
        Ok(Self { cast, stage })
    }

    /// Returns the settings of a person whose whole world this is.
    fn settings(&self, options: &Options, environment: Environment) -> Result<Settings, Failure> {
        let stage = &self.stage;
        let roots = vec![stage.home()];
        let own =
            Options { home: Some(stage.home()), tmp: Some(stage.place("/tmp")), roots, ..options.clone() };
        settings(&own, environment)
    }

    fn end(self) -> anyhow::Result<()> {
        drop(self.cast);
        self.stage.strike()
    }
}
