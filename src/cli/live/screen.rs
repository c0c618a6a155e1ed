//! The full screen, when there is a terminal to show it on.

use std::io::{IsTerminal, stdout};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use rustix::io::Errno;

use super::replay::{self, Player};
use crate::app::kept::{ScreenState, Start};
use crate::cli::hook::check::{AgentHooks, AgentSettings};
use crate::cli::hook::{check, git_events};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::{Paint, Shape};
use crate::cli::rescue::keep::keep_before_clean_up;
use crate::cli::settings::Settings;
use crate::cli::show::{foresee, now};
use crate::cli::{act, fleet, guard};
use crate::config::layers::Origin;
use crate::config::notify::NotifyCommand;
use crate::config::{Access, Alerts, Config, Notify, Switch, Theme};
use crate::core::model::Untrusted;
use crate::observe::Observer;
use crate::observe::fleet::Everywhere;
use crate::run::bring_back::Opener;
use crate::run::tape::Tape;
use crate::run::{self, AtEnd};
use crate::source::database::sqlite::copies::Copies;
use crate::source::os::clock;
use crate::source::os::open::error::errno_text;
use crate::source::os::open::plain::small;
use crate::source::places::homes::Homes;
use crate::source::versions::listed::listed;
use crate::source::versions::search::Search;
use crate::source::work::talk::read_talk;

/// How long the screen waits while another claimtop is at work; then the sheet names it.
const LOCK_PATIENCE: Duration = Duration::from_secs(1);

/// What is special about a screen.
#[derive(Default)]
pub(crate) struct About {
    /// A badge for its header.
    pub(crate) badge: Option<String>,
    /// What it is recorded on, if it is from the beginning.
    pub(crate) tape: Option<Tape>,
    /// What is left to do at the end.
    pub(crate) at_end: Option<AtEnd>,
}

/// Returns whether the output is a terminal that can show a full screen.
pub(crate) fn is_possible(settings: &Settings) -> bool {
    stdout().is_terminal() && !settings.environment.is_dumb
}

/// Opens the full screen over what `observer` sees; where there can be none, prints what `now` prints.
///
/// # Errors
/// The terminal or the output cannot be written, or the scanner thread fails.
pub(crate) fn screen(settings: &Settings, observer: Observer, about: About) -> Outcome {
    if !is_possible(settings) {
        let paint = Paint::for_stdout(settings.effective.config.color);
        let others = fleet::others(settings, None)?;
        let mut all = Everywhere { local: observer, others };
        return now::run(&mut all, Shape::Text(paint));
    }
    let tape = about.tape.unwrap_or_else(|| Tape::new(observer.policy().signatures.clone()));
    let (stage, descents) = (observer.stage(), observer.descents());
    let observer = observer.recorded(tape.recorder());
    let observer = guard::tell_guards(observer, settings);
    let observer = keep_before_clean_up(observer, settings);
    let observer = foresee::watch(observer, settings);
    git_events::listen(settings, &observer.policy().signatures);
    let (observer, hints) = observer.watched();
    if let Some(nudge) = observer.nudge() {
        tape.asks(Box::new(nudge));
    }
    let shows_left_overs: Box<dyn Fn(bool)> = Box::new(observer.attention());
    let nudge = observer.nudge().map(|nudge| -> Box<dyn Fn() + Send> { Box::new(nudge) });
    let fleet = fleet::fleet(settings, fleet::Which::All)?;
    let executor = match settings.effective.config.access {
        Access::ReadOnly => None,
        // A full or read-only disk must not prevent looking.
        Access::Full => {
            let executor = act::executor(settings).map(|executor| {
                let executor = match &fleet {
                    Some(fleet) => executor.hearing(fleet.testimony()),
                    None => executor,
                };
                executor.only_below(stage).knowing(descents).waiting(LOCK_PATIENCE, None).telling(nudge)
            });
            Some(executor.map_err(|failure| failure.lines().join("; ")))
        }
    };
    // What is done here hears every machine, also where only this one is shown.
    let (shown, _heard) = if settings.is_here { (None, fleet) } else { (fleet, None) };
    let config = config(settings);
    // A run that may change nothing keeps nothing either.
    let is_kept = config.history.is_on() && !config.access.is_read_only();
    let history = is_kept.then(|| settings.state.join("history.ring"));
    let (badge, at_end) = (about.badge, about.at_end);
    let tape = Some((tape, settings.state.join("recordings")));
    let start = settings.view.as_deref().map(started).unwrap_or_default();
    let view = settings.view.clone().filter(|_| !config.access.is_read_only());
    let hints = Some(hints);
    let environment = &settings.environment;
    let opener = Opener::of_environment(environment.is_in_tmux, environment.is_in_zellij);
    let options = run::Options {
        badge,
        hints,
        shows_left_overs: Some(shows_left_overs),
        orders: orders(settings),
        fleet: shown,
        opener,
        executor,
        tape,
        replay: None,
        versions: Some(versions(settings)),
        talk: Some(talk(settings)),
        history,
        config_file: settings.file.path(),
        greeting: greeting(settings, &start),
        start,
        view,
        at_end,
    };
    run::run(observer, &config, options).map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(Exit::Fine)
}

/// Returns what is said at the first start, where no agent has a hook of claimtop's yet.
fn greeting(settings: &Settings, start: &Start) -> Option<String> {
    let is_any = |hooks: &AgentHooks| hooks.found.as_ref().is_ok_and(AgentSettings::has_any);
    let is_first = start.kept.is_none() && settings.view.is_some();
    // Settings of agents are read at the first start only.
    let is_new = is_first && !check::all(settings).iter().any(is_any);
    let says = "New here: `claimtop setup` adds hooks to your agents, shown first and undoable, so that each window is known for certain";
    is_new.then(|| says.to_owned())
}

/// Returns what reads the versions of what a window wrote.
fn versions(settings: &Settings) -> run::ReadVersions {
    let (places, kept) = (settings.places.clone(), settings.state.join("kept"));
    Arc::new(move |question| {
        let (fence, copies) = (places.fence(), Copies::in_folder(&places.copies));
        let (works, now, home) = (question.works.as_slice(), clock::now(), places.home.as_path());
        let search = Search { works, now, home, fence: &fence, copies: &copies };
        listed(&question.work, &search, (&kept, &Homes::of_sessions(&places, works)))
    })
}

/// Returns what reads what was said in a session.
fn talk(settings: &Settings) -> run::ReadTalk {
    let copies = settings.places.copies.clone();
    Arc::new(move |one| {
        read_talk(one.format, (Path::new(one.path.text().raw()), &one.session), &Copies::in_folder(&copies))
    })
}

/// Returns what orders of other machines are sent by, where anything may be changed.
fn orders(settings: &Settings) -> Option<run::Orders> {
    if settings.effective.config.access.is_read_only() {
        return None;
    }
    let from = act::asker(settings);
    let settings = settings.clone();
    let executor = move || {
        let executor = act::executor(&settings).map_err(|failure| failure.lines().join("; "))?;
        Ok(executor.waiting(LOCK_PATIENCE, None))
    };
    Some(run::Orders { executor: Arc::new(executor), from })
}

/// The most bytes that a kept view is read of.
const MOST_OF_VIEW: usize = 16 << 10;

/// Reads with what the last screen ended.
fn started(path: &Path) -> Start {
    let shown = Untrusted::from_path(path).shown();
    let kept = match small(path, MOST_OF_VIEW) {
        Err(Errno::NOENT | Errno::NOTDIR) => {
            return Start { kept: None, origin: format!("none yet in {shown}") };
        }
        Err(errno) => Err(format!("ignored: {}", errno_text(errno))),
        Ok(bytes) => ScreenState::parse(&String::from_utf8_lossy(&bytes)),
    };
    match kept {
        Ok(kept) => Start { kept: Some(kept), origin: format!("from {shown}") },
        Err(why) => Start { kept: None, origin: format!("{shown} is {why}") },
    }
}

/// Opens the full screen over a recording.
///
/// # Errors
/// The terminal cannot be written, or the recording cannot be read.
pub(crate) fn replay(settings: &Settings, player: Player) -> Outcome {
    let (hints, heard) = replay::hints();
    let shown = Some(player.replay(hints));
    let options = run::Options { hints: Some(heard), replay: shown, ..run::Options::default() };
    // Nothing in a recording alerts a person away from elsewhere.
    let alerts = Alerts { bell: Switch::Off, notify: Notify::Off, ..settings.effective.config.alerts };
    let notify_command = NotifyCommand::default();
    let config =
        Config { access: Access::ReadOnly, alerts, notify_command, history: Switch::Off, ..config(settings) };
    run::run(player, &config, options).map_err(|error| Failure::new(Exit::Failed, error))?;
    Ok(Exit::Fine)
}

/// Returns the configuration with the theme that suits this terminal, unless a person chose.
fn config(settings: &Settings) -> Config {
    let mut config = settings.effective.config.clone();
    if settings.effective.origins.theme == Origin::Default {
        let environment = &settings.environment;
        config.theme = match (environment.has_truecolor, environment.has_light_ground) {
            (true, true) => Theme::Light,
            (true, false) => Theme::Dark,
            (false, _) => Theme::Ansi,
        };
    }
    config
}
