//! `demo`: a self-made world of real processes and real files, gone on exit.

mod cast;
mod fill;
mod guarded;
mod hook;
mod left_over;
mod lifeline;
mod machines;
mod stage;
pub(super) mod stand_in;
mod story;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::{Context, anyhow};
use jiff::Timestamp;

use self::cast::Cast;
use self::fill::Truth;
use self::machines::Machines;
pub(super) use self::machines::play as play_machine;
use self::stage::Stage;
pub(super) use self::story::Which;
use self::story::{File, Stone, Story, Work};
use super::args::Options;
use super::environment::Environment;
use super::failure::{Exit, Failure, Outcome};
use super::output::{Paint, Shape, print};
use super::screen::{self, About};
use super::settings::{Settings, settings};
use super::signatures::signatures;
use super::{fleet, frames, list, now};
use crate::act::fs::system::System;
use crate::act::tombstones;
use crate::cli::look;
use crate::core::judge::tombstone::ledger::Lesson;
use crate::core::model::{Reason, Tombstone};
use crate::observe::Observer;
use crate::observe::fleet::Everywhere;
use crate::present::doing::Prompts;
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
    let mut world = World::make(wish.which, &within).map_err(failed)?;
    let mut settings = world.settings(options, environment)?;
    if wish.machines > 0 {
        let machines = Machines::prepare(wish.machines, &within).map_err(failed)?;
        settings.effective.config.machines = machines.links().map_err(failed)?;
        world.machines = Some(machines);
    }
    settings.start_log()?;
    world.remember(&settings).map_err(failed)?;
    let observer =
        look::observer(&settings, signatures(&settings)?).only_below(Some(world.stage.path().to_owned()));
    if wish.which == Which::Guard {
        print(&guarded::play(&world.stage, &mut world.cast).map_err(failed)?)?;
    }
    let tape = wish.record.map(|path| begun(&observer, path)).transpose().map_err(failed)?;
    let observer = match &tape {
        Some(tape) => observer.recorded(tape.recorder()),
        None => observer,
    };
    let world = Held(Arc::new(Mutex::new(Some(world))));
    let outcome = match &wish.frames {
        Some(keys) => frames(observer, keys),
        None => match wish.which {
            Which::Everything | Which::Here | Which::There(_) => {
                show(&settings, (observer, tape), wish.showing, &world.0)
            }
            Which::Guard => {
                let mut observer = observer;
                let paint = Paint::for_stdout(settings.effective.config.color);
                now::run(&mut observer, Shape::Text(paint)).map(|_| Exit::Fine)
            }
        },
    };
    end(&world.0).map_err(failed)?;
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
    (observer, tape): (Observer, Option<Tape>),
    showing: Showing,
    world: &Arc<Mutex<Option<World>>>,
) -> Outcome {
    match showing {
        Showing::Screen => {
            let world = Arc::clone(world);
            // Nobody is left to be told when this fails.
            let at_end: AtEnd = Arc::new(move || drop(end(&world)));
            screen::screen(
                settings,
                observer,
                About { badge: Some("demo".to_owned()), tape, at_end: Some(at_end) },
            )
        }
        Showing::Json | Showing::Text => {
            let shape = match showing {
                Showing::Json => Shape::Json,
                Showing::Screen | Showing::Text => {
                    Shape::Text(Paint::for_stdout(settings.effective.config.color))
                }
            };
            let fleet = fleet::fleet(settings, fleet::Which::All)?;
            list::run(&mut Everywhere { local: observer, fleet }, None, shape, Prompts::Hidden)
        }
    }
}

fn refuse_folders(options: &Options) -> Result<(), Failure> {
    let is_named = options.home.is_some()
        || options.tmp.is_some()
        || options.state.is_some()
        || !options.roots.is_empty();
    if is_named {
        let error = anyhow!("the demo looks only in folders of its own");
        return Err(Failure::usage(error).hint("leave --home, --tmp, --state and --root out"));
    }
    Ok(())
}

/// The world while it lasts. The processes end before their folders go.
struct World {
    cast: Cast,
    stage: Stage,
    /// Who was seen dead, and when.
    stones: Vec<(Stone, Timestamp)>,
    story: Story,
    /// The other machines.
    machines: Option<Machines>,
}

impl World {
    fn make(which: Which, within: &Path) -> anyhow::Result<Self> {
        let story = Story::built_in(which).context("failed to read the demo's story")?;
        let stage = Stage::build(within)?;
        story.repos.iter().try_for_each(|repo| stage.repository(repo))?;
        let host = host::host(clock::now());
        let mut cast = Cast::start(&stage, &story)?;
        // Over there they are seen live first: in a container nobody else's end can be proven.
        if !matches!(which, Which::There(_)) {
            cast.end_dead(&story);
        }
        // Only a file that is certainly younger than a process can be its own.
        std::thread::sleep(APART);
        let truth = Truth { stage: &stage, cast: &cast, now: clock::now(), machine: &host };
        let transcripts: Vec<_> = story.work.iter().map(Work::transcript).collect();
        let edited: BTreeSet<&String> = story.work.iter().flat_map(|work| &work.uncommitted).collect();
        let edited: Vec<_> = edited.into_iter().map(|path| File::new(path, "")).collect();
        for file in story.files.iter().chain(&transcripts).chain(&edited) {
            truth.write(file).with_context(|| format!("failed to write {}", file.path))?;
        }
        let seen = |stone: &Stone| Ok((stone.clone(), truth.written_at(&stone.proven)?));
        let stones = story.stones.iter().map(seen).collect::<anyhow::Result<_>>()?;
        Ok(Self { cast, stage, stones, story, machines: None })
    }

    /// Returns the settings of a person whose whole world this is.
    fn settings(&self, options: &Options, environment: Environment) -> Result<Settings, Failure> {
        let stage = &self.stage;
        let roots = vec![stage.home()];
        let own =
            Options { home: Some(stage.home()), tmp: Some(stage.place("/tmp")), roots, ..options.clone() };
        settings(&own, environment)
    }

    /// Writes down the deaths that the story tells of. They are true: the demo was these windows' parent, ended
    /// them and has waited for their end. Only when is moved into the past, as it is with the times of files,
    /// so that nobody must wait for what they left to count as left; no rule knows of it.
    fn remember(&self, settings: &Settings) -> anyhow::Result<()> {
        let Some(path) = settings.places.tombstones() else { return Ok(()) };
        let host = host::host(clock::now());
        let learnt = self.stones.iter().filter_map(|(stone, proven_at)| {
            Some(Tombstone {
                id: self.cast.id(stone.pid).ok()?,
                pidfd_inode: None,
                host: host.name.as_str().into(),
                boot_id: host.boot_id.as_deref()?.into(),
                pid_namespace: host.pid_namespace?,
                time_namespace: host.time_namespace?,
                session_id: Some(stone.session.as_str().into()),
                seen_alive_at: None,
                proven_at: *proven_at,
                reason: Reason::NoProcess,
            })
        });
        let lesson = Lesson { learnt: learnt.collect(), refuted: Vec::new() };
        Ok(tombstones::keep(&System, &path, &lesson, &host)?)
    }

    fn end(self) -> anyhow::Result<()> {
        drop(self.cast);
        let struck = self.stage.strike();
        self.machines.map_or(Ok(()), Machines::end).and(struck)
    }
}
