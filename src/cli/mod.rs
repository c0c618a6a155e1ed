//! The command line: arguments in, one command run, an exit code out.

mod act;
mod alive;
mod args;
mod demo;
mod fleet;
mod guard;
mod hook;
mod journal;
pub(crate) mod live;
mod look;
#[cfg_attr(not(feature = "mcp"), path = "mcp/stub.rs")]
mod mcp;
mod output;
mod rescue;
mod settings;
pub(crate) mod show;

use std::ffi::OsString;
use std::path::Path;
use std::sync::Arc;

use anyhow::anyhow;
use jiff::Timestamp;
use signal_hook::consts::SIGXFSZ;

use self::args::{
    ActCommand, Arguments, Command, DemoArguments, FormatsCommand, GuardCommand, HookCommand, Options,
    ReportArguments,
};
use self::live::screen::About;
use self::output::failure::{Exit, Failure, Outcome};
use self::output::progress::Progress;
use self::output::{Paint, Shape, complain};
use self::settings::Settings;
use self::settings::environment::Environment;
use self::show::doctor_self::Wish;
use crate::act::state::history_ring::HistoryRing;
use crate::cli::settings::signatures::signatures;
use crate::core::assess::assess;
use crate::core::fleet::order::Allow;
use crate::core::history::recording::redact::Redactor;
use crate::core::model::text::shown;
use crate::core::model::{Action, RestoreTo};
use crate::format::hook::guard::Asker;
use crate::observe::fleet::Everywhere;
use crate::observe::{Observer, ReportSource};
use crate::present::need::doing::Prompts;

/// Runs claimtop with the arguments of its process and returns the exit code.
pub fn main(arguments: &[OsString]) -> u8 {
    if settings::environment::is_stand_in() {
        return demo::stand_in::play().code();
    }
    bear_full_files();
    output::crash::install();
    let exit = output::crash::guarded(|| run(arguments).unwrap_or_else(|failure| report_failure(&failure)));
    if hook::bind::is_asked(arguments) { Exit::Fine.code() } else { exit.code() }
}

/// Makes a write fail that would let a file grow beyond what this process may write (setrlimit(2)): unless it catches the
/// signal the system ends it there.
fn bear_full_files() {
    let _ = signal_hook::flag::register(SIGXFSZ, Arc::default());
}

fn report_failure(failure: &Failure) -> Exit {
    for line in failure.lines() {
        complain(&line);
    }
    failure.exit
}

fn run(arguments: &[OsString]) -> Outcome {
    if let Some(ended) = fleet::run_apart(arguments) {
        return ended;
    }
    if let Some(ended) = demo::play_machine(arguments) {
        return ended;
    }
    if let Some(asked) = hook::bind::recognise(arguments) {
        return Ok(hook::bind::run(asked, &Options::default(), Environment::read()));
    }
    if let Some(asker) = guard::recognise(arguments) {
        return Ok(guard::answer(asker, &Options::default(), Environment::read()));
    }
    if let Some(asked) = show::context_id::recognise(arguments) {
        return show::context_id::run(asked, &Options::default(), Environment::read());
    }
    if let Some((process, shape)) = alive::recognise(arguments) {
        return alive::of_process(&process, shape);
    }
    match args::help::parse(arguments) {
        Ok(arguments) if matches!(arguments.command, Some(Command::Alive(_))) => {
            alive::usage(command(arguments))
        }
        Ok(arguments) => command(arguments),
        Err(answer) if answer.use_stderr() => {
            // It quotes the arguments.
            answer.render().to_string().lines().for_each(|line| complain(&shown(line)));
            // An agent takes a hook that fails so for a refusal, and a script the usual code for an answer.
            Ok(if guard::is_hook(arguments) {
                Exit::Fine
            } else if alive::is_asked(arguments) {
                Exit::UsageOfAlive
            } else {
                Exit::Usage
            })
        }
        Err(answer) => {
            // Help and version are answers, on the standard output; a reader may have gone.
            let _ = answer.print();
            Ok(Exit::Fine)
        }
    }
}

fn command(arguments: Arguments) -> Outcome {
    let environment = Environment::read();
    let options = &arguments.options;
    if !options.machines.is_empty() && !arguments.command.as_ref().is_none_or(Command::is_for_others) {
        let error = anyhow!("--on: this command covers this machine only; run it there");
        return Err(Failure::usage(error));
    }
    if options.here && arguments.command.as_ref().is_some_and(Command::needs_others) {
        let error = anyhow!("--here: this command asks every machine of the configuration");
        return Err(Failure::usage(error).hint("--on names the machines to ask instead"));
    }
    let Some(command) = arguments.command else {
        let Scene { settings, observer } = scene(options, environment)?;
        return live::screen::screen(&settings, observer, About::default());
    };
    match command {
        Command::Ls { view, json, with_prompts } => {
            let scene = scene(options, environment)?;
            let prompts = if with_prompts { Prompts::Shown } else { Prompts::Hidden };
            scene.shown(json, |reports, shape| show::list::run(reports, view, shape, prompts))
        }
        Command::Now { json } => {
            let scene = scene(options, environment)?;
            scene.shown(json, |reports, shape| show::now::run(reports, shape))
        }
        Command::Foresee { json } => {
            let mut scene = scene(options, environment)?;
            let shape = scene.shape(json);
            show::foresee::run(&mut scene.observer, &scene.settings, shape)
        }
        Command::Leftovers { trees, sizes, json } => {
            let asked = show::left_overs::Extras::new(trees, sizes);
            let scene = scene(options, environment)?;
            let settings = scene.settings.clone();
            scene.shown(json, |reports, shape| show::left_overs::run(reports, &settings, asked, shape))
        }
        Command::Rescue(asked) => {
            let mut scene = scene(options, environment)?;
            let shape = scene.shape(asked.consent.json);
            rescue::run(&scene.settings, &mut scene.observer, &asked, shape)
        }
        Command::Doctor { json, own: true, drop_tombstones } => {
            let mut scene = scene(options, environment)?;
            let wish = if drop_tombstones { Wish::DropTombstones } else { Wish::Tell };
            let shape = scene.shape(json);
            show::doctor_self::run(&scene.settings, &mut scene.observer, wish, shape)
        }
        Command::Doctor { json, own: false, .. } => {
            let scene = scene(options, environment)?;
            let history = act::looking(&scene.settings)?.history().map_err(output::failure::of_action)?;
            let unfinished = journal::warnings(&scene.settings, &history);
            let given = scene.settings.given.clone();
            scene.shown(json, |reports, shape| show::doctor::run(reports, &unfinished, &given, shape))
        }
        Command::Explain { subject, json } => {
            let scene = scene(options, environment)?;
            let given = scene.settings.given.clone();
            let asked = Some(subject.as_str());
            scene.shown_about(asked, json, |reports, shape| {
                show::explain::run(reports, &subject, &given, shape)
            })
        }
        Command::Events { about, json } => {
            let mut scene = scene(options, environment)?;
            scene.observer = guard::tell_guards(scene.observer, &scene.settings);
            scene.observer = rescue::keep::keep_before_clean_up(scene.observer, &scene.settings);
            let shape = scene.shape(json);
            let others = fleet::others(&scene.settings, about.as_deref())?;
            hook::git_events::listen(&scene.settings, &scene.observer.policy().signatures);
            live::events::run(scene.observer, others, about, shape)
        }
        Command::Act(what) => acting(what, &logged(options, environment)?),
        Command::Journal { json, prune: false, .. } => {
            let settings = logged(options, environment)?;
            let settled = act::site::settle(&settings);
            let shown = journal::run(&settings, json)?;
            settled.map(|()| shown)
        }
        Command::Journal { prune: true, yes, json } => {
            journal::prune(&logged(options, environment)?, yes, json)
        }
        Command::Stats { days, json } => {
            let settings = logged(options, environment)?;
            let paint = Paint::for_stdout(settings.effective.config.color);
            show::stats::run(&settings, days, if json { Shape::Json } else { Shape::Text(paint) })
        }
        Command::Alive(asked) => alive::run(asked, || Ok(scene(options, environment)?.observer)),
        Command::Wait(asked) => live::wait::run(scene(options, environment)?.observer, asked),
        Command::ContextId(asked) => show::context_id::run(asked, options, environment),
        Command::Bind(asked) => Ok(hook::bind::run(asked, options, environment)),
        Command::Guard { asker, what } => guarding(asker.as_deref(), what, options, environment),
        Command::Hold { paths, release } => {
            guard::hold(&settings::settings(options, environment)?, &paths, release)
        }
        Command::Setup(asked) => hook::setup::run(&logged(options, environment)?, &asked),
        Command::Hook { what: HookCommand::Print { agent, remove } } => hook::print_settings(agent, remove),
        Command::Hook { what: HookCommand::Check } => {
            hook::check::check(&settings::settings(options, environment)?)
        }
        Command::GitEvents { remove } => {
            hook::git_events::run(&settings::settings(options, environment)?, remove)
        }
        Command::Demo(asked) => demonstrated(asked, options, environment),
        Command::Record(asked) => {
            let scene = scene(options, environment)?;
            let signatures = scene.observer.policy().signatures.clone();
            live::record::run(&asked, scene.observer, signatures)
        }
        Command::Report(asked) => reported(asked, scene(options, environment)?),
        Command::Replay(asked) => replay(&logged(options, environment)?, &asked),
        Command::Machines { accept: Some(name), .. } => {
            fleet::machines::accept(&logged(options, environment)?, &name)
        }
        Command::Machines { json, accept: None } => {
            let settings = logged(options, environment)?;
            let paint = Paint::for_stdout(settings.effective.config.color);
            fleet::machines::run(&settings, if json { Shape::Json } else { Shape::Text(paint) })
        }
        Command::Fleet { what } => fleet::schema::run(&logged(options, environment)?, &what),
        Command::Witness { dry_run, what } => {
            let Scene { settings, observer } = scene(options, environment)?;
            hook::git_events::listen(&settings, &observer.policy().signatures);
            let observer = guard::tell_guards(observer, &settings);
            fleet::witness::run(observer, &settings, what, dry_run)
        }
        Command::Stream { observe: _, operate } => {
            let Scene { settings, observer } = scene(options, environment)?;
            hook::git_events::listen(&settings, &observer.policy().signatures);
            let observer = guard::tell_guards(observer, &settings);
            fleet::stream::run(observer, &settings, if operate { Allow::Operate } else { Allow::Observe })
        }
        Command::Mcp { print: true } => mcp::print_settings(),
        Command::Mcp { print: false } => mcp::run(&logged(options, environment)?),
        Command::Statusline { format } => {
            let Scene { settings, mut observer } = scene(options, environment)?;
            show::statusline::run(&mut observer, &settings, format)
        }
        Command::Formats { command: FormatsCommand::Check { file } } => {
            show::formats::check(&file, options, environment)
        }
        Command::Config => {
            let Scene { settings, observer } = scene(options, environment)?;
            show::config::run(&settings, observer.policy().signatures.clone())
        }
        Command::Completions { names: Some(command), .. } => {
            let Scene { settings, mut observer } = scene(options, environment)?;
            show::names::run(command, &settings, &mut observer)
        }
        Command::Completions { shell, names: None } => {
            shell.map_or(Ok(Exit::Fine), args::generate::completions)
        }
        Command::Help { topic } => args::help::run(&topic),
        Command::Man => args::generate::man(),
    }
}

/// Does what changes something.
fn acting(what: ActCommand, settings: &Settings) -> Outcome {
    match what {
        ActCommand::Release { subject, consent } => {
            act::act_on(settings, Action::Release, &[subject], &consent)
        }
        ActCommand::Park { subject, consent } => act::act_on(settings, Action::Park, &[subject], &consent),
        ActCommand::Stop { subject, consent } => act::stop(settings, &subject, &consent),
        ActCommand::Migrate { all: true, consent, .. } => act::migrate_all(settings, &consent),
        ActCommand::Migrate { subjects, all: false, consent } => {
            act::act_on(settings, Action::Migrate, &subjects, &consent)
        }
        ActCommand::Clean { expired, consent } => act::clean(settings, expired, &consent),
        ActCommand::BringBack { subjects, all, consent } => {
            act::bring_back::run(settings, &subjects, all, &consent)
        }
        ActCommand::Undo { entry, beside, consent } => {
            let place = if beside { RestoreTo::Beside } else { RestoreTo::Origin };
            act::undo(settings, entry.as_deref(), place, &consent)
        }
    }
}

/// Answers an agent's hook, or what people and scripts ask the guard.
fn guarding(
    asker: Option<&str>,
    what: Option<GuardCommand>,
    options: &Options,
    environment: Environment,
) -> Outcome {
    match what {
        None => {
            let asker = asker.and_then(Asker::named);
            Ok(asker.map_or(Exit::Fine, |asker| guard::answer(asker, options, environment)))
        }
        Some(GuardCommand::Check { paths }) => {
            guard::check(&settings::settings(options, environment)?, &paths)
        }
        Some(GuardCommand::Stats { json }) => {
            let settings = settings::settings(options, environment)?;
            let paint = Paint::for_stdout(settings.effective.config.color);
            guard::stats(&settings, if json { Shape::Json } else { Shape::Text(paint) })
        }
        Some(GuardCommand::Replay { file, json }) => {
            guard::replay(&file, if json { Shape::Json } else { Shape::Text(Paint::Plain) })
        }
    }
}

fn demonstrated(asked: DemoArguments, options: &Options, environment: Environment) -> Outcome {
    let DemoArguments { once, json, guard, machine_count, record, frames } = asked;
    let which = match (guard, machine_count) {
        (true, _) => demo::Which::Guard,
        (false, Some(_)) => demo::Which::Here,
        (false, None) => demo::Which::Everything,
    };
    let machines = usize::from(machine_count.unwrap_or_default());
    let showing = demo::Showing::asked(once, json);
    demo::run(options, environment, demo::Wish { showing, record, which, frames, machines })
}

fn reported(asked: ReportArguments, mut scene: Scene) -> Outcome {
    let progress = Progress::begin(&scene.settings.environment, "Reading what a report is made of");
    let mut material = match asked.from {
        Some(from) => recorded(&from)?,
        None if asked.redact => redacted(&mut scene),
        None => present(&mut scene)?,
    };
    material.prompts = if asked.with_prompts { Prompts::Shown } else { Prompts::Hidden };
    drop(progress);
    let paint = Paint::for_stdout(scene.settings.effective.config.color);
    show::report::run(&material, asked.html.as_deref(), paint)?;
    Ok(look::missing(&material.report))
}

/// Gathers what a report of this moment is made of when it may contain nothing about a person: the history
/// and the journal quote names and paths.
fn redacted(scene: &mut Scene) -> show::report::material::Material {
    let look = scene.observer.look();
    let policy = scene.observer.policy();
    let look = Redactor::new(&policy.signatures).look(&look);
    let report = Arc::new(assess(&look, policy));
    show::report::material::Material { report, prompts: Prompts::Hidden, past: Vec::new(), acts: Vec::new() }
}

/// Gathers what a report of this moment is made of.
fn present(scene: &mut Scene) -> Result<show::report::material::Material, Failure> {
    let others = fleet::others(&scene.settings, None)?;
    let report = others.join(scene.observer.observe());
    let state = &scene.settings.state;
    // A history that cannot be read is one that was not kept.
    let past = HistoryRing::read(&state.join("history.ring")).unwrap_or_default();
    let acts = act::looking(&scene.settings)?.history().map_err(output::failure::of_action)?.entries;
    Ok(show::report::material::Material { report, prompts: Prompts::Hidden, past, acts })
}

/// Gathers what a report of a recording's last look is made of.
fn recorded(from: &Path) -> Result<show::report::material::Material, Failure> {
    let unreadable = |error| live::replay::unreadable(from, error);
    let player =
        live::replay::Player::new(live::replay::open(from)?, Some(Timestamp::MAX)).map_err(unreadable)?;
    let past = player.past().map_err(unreadable)?;
    let (report, prompts) = (player.report(), Prompts::Hidden);
    Ok(show::report::material::Material { report, prompts, past, acts: Vec::new() })
}

fn replay(settings: &Settings, asked: &args::ReplayArguments) -> Outcome {
    let unreadable = |error| live::replay::unreadable(&asked.file, error);
    let player = live::replay::Player::new(live::replay::open(&asked.file)?, asked.at).map_err(unreadable)?;
    if let Some(keys) = &asked.frames {
        let looks = player.all().map_err(unreadable)?;
        output::print(&live::frames::frames(looks.into_iter(), keys))?;
        return Ok(output::failure::Exit::Fine);
    }
    if !asked.once && live::screen::is_possible(settings) {
        return live::screen::replay(settings, player);
    }
    match asked.json {
        true => show::list::show(&player.report(), None, Shape::Json),
        false => show::now::show(&player.report(), Paint::for_stdout(settings.effective.config.color)),
    }
}

/// Settings and a observer over the places that they name.
struct Scene {
    settings: Settings,
    observer: Observer,
}

/// Collects the settings and starts the log.
fn logged(options: &Options, environment: Environment) -> Result<Settings, Failure> {
    let settings = settings::settings(options, environment)?;
    settings.start_log()?;
    Ok(settings)
}

fn scene(options: &Options, environment: Environment) -> Result<Scene, Failure> {
    let settings = logged(options, environment)?;
    let observer = look::observer(&settings, signatures(&settings)?);
    Ok(Scene { settings, observer })
}

impl Scene {
    /// Has what is seen shown in the shape that was asked for, on this machine and the others of a look.
    fn shown(self, json: bool, show: impl FnOnce(&mut dyn ReportSource, Shape) -> Outcome) -> Outcome {
        self.shown_about(None, json, show)
    }

    /// Has what is seen shown, also of the machine that the thing is on which is asked about.
    fn shown_about(
        self,
        about: Option<&str>,
        json: bool,
        show: impl FnOnce(&mut dyn ReportSource, Shape) -> Outcome,
    ) -> Outcome {
        let shape = self.shape(json);
        let others = fleet::others(&self.settings, about)?;
        show(&mut Everywhere { local: self.observer, others }, shape)
    }

    fn shape(&self, json: bool) -> Shape {
        if json { Shape::Json } else { Shape::Text(Paint::for_stdout(self.settings.effective.config.color)) }
    }
}
