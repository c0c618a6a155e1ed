//! The shell of the screen: the loop, the terminal, the signals and the scanner thread.
//!
//! Three threads, one ordered channel. The scanner thread may take its time; the thread that
//! waits for signals can end the program even while the screen's thread is blocked in a write to
//! a terminal without a reader.

mod bounds;
pub(crate) mod bring_back;
mod call;
mod jump;
pub(crate) mod log;
mod options;
mod pace;
mod peek;
mod scheduler;
mod screen;
pub(crate) mod tape;
mod terminal;
pub(crate) mod threads;
mod tickets;
mod versions;

use std::ffi::OsStr;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context;
use tokio::sync::mpsc;

pub(crate) use self::bounds::bounds;
use self::jump::Ways;
pub use self::options::Options;
pub(crate) use self::options::{Orders, Replay};
pub(crate) use self::peek::ReadTalk;
use self::threads::acting::Storage;
pub(crate) use self::threads::event::AtEnd;
use self::threads::event::Event;
use self::threads::ordering::Ordering;
use self::threads::scanner::ScanEvent;
use self::tickets::Tickets;
pub(crate) use self::versions::ReadVersions;
use crate::act::fs::system::System;
use crate::act::state::bind;
use crate::app::kept::ScreenState;
use crate::app::msg::{Hints, Msg, RecordingEvent};
use crate::app::state::Options as ScreenOptions;
use crate::config::preference::Preferences;
use crate::config::{ColorChoice, Config, Switch};
use crate::core::model::text::shown;
use crate::observe::ReportSource;
use crate::observe::fleet::Fleet;
use crate::present::text::zone::Zone;
use crate::source::os::clock;
use crate::source::own::cost as own;
use crate::ui::Look;
use crate::ui::theme::{Colors, Palette};

/// The fewest descriptors that are enough for the screen, its threads and one look: some libraries
/// panic without.
const FEWEST: u64 = 64;

/// Shows the full screen until a person quits, a signal ends it or the terminal is gone.
///
/// `ColorChoice::Auto` is taken as colours: the caller that reads the environment turns it into
/// `ColorChoice::Never` when `NO_COLOR` is set.
///
/// # Errors
/// When standard output is no terminal or cannot be set up, or when the scanner thread fails.
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
    threads::signals::listen(sender.clone(), options.at_end.clone())
        .context("failed to listen for signals")?;
    // crossterm obeys NO_COLOR by itself, also where an option wants colours all the same.
    crossterm::style::force_color_output(config.color != ColorChoice::Never);
    let guard =
        terminal::Guard::enter(config.mouse, config.alerts.title).context("failed to set up the terminal")?;
    terminal::watch_tty::listen(sender.clone(), options.at_end).context("failed to watch the terminal")?;
    let executor = options.executor.unwrap_or_else(|| Err("claimtop is read-only".to_owned()));
    let tape = Switch::from_truth(options.tape.is_some());
    if let Some((tape, _)) = &options.tape {
        let sender = sender.clone();
        tape.tells(Box::new(move |why| {
            // A screen that has ended needs no message.
            let _ = sender.blocking_send(Event::Message(Msg::Recording(RecordingEvent::Lost(why))));
        }));
    }
    // They are let go after the screen, however that ends.
    let mut fleet = options.fleet;
    let _ending = fleet.as_mut().map(Fleet::ending);
    let machines = fleet.as_ref().map(|fleet| fleet.machines().into()).unwrap_or_default();
    let ways = Ways { machines, opener: options.opener };
    let storage = Storage { history: options.history, tape: options.tape };
    let tickets = Arc::new(Tickets::default());
    let acting = threads::acting::start(executor, storage, ways, sender.clone(), Arc::clone(&tickets))
        .context("failed to start acting")?;
    let dispatcher = fleet.as_ref().map(Fleet::dispatcher);
    let far = options
        .orders
        .zip(dispatcher.clone())
        .map(|(orders, dispatcher)| Ordering::new(orders, dispatcher, sender.clone(), tickets));
    let acting =
        acting.with_machines(far, dispatcher).with_versions(options.versions).with_talk(options.talk);
    let send = move |event| match sender.blocking_send(event) {
        Ok(()) => ControlFlow::Continue(()),
        Err(_) => ControlFlow::Break(()),
    };
    let joining = fleet.map(|fleet| {
        let send = send.clone();
        threads::joining::start(fleet, move |report| send(Event::Message(Msg::Looked(report))))
    });
    let local = joining.transpose().context("failed to start the thread that joins machines")?;
    let send = move |event| match (event, &local) {
        (ScanEvent::Report(report), Some(local)) => {
            local.looked(report);
            ControlFlow::Continue(())
        }
        (event, _) => send(event_of(event)),
    };
    threads::scanner::start(reports, options.hints, send).context("failed to start the scanner")?;
    let alerts = config.alerts;
    let screen = ScreenOptions {
        badge: options.badge,
        access: config.access,
        bounds: bounds(),
        history: config.history,
        tape,
        zone: Zone(clock::zone()),
        replayed: options.replay.as_ref().map(|replay| replay.at),
        start: options.start.clone(),
        preferences: Preferences { theme: config.theme, mouse: config.mouse, alerts },
        config_file: options.config_file.as_ref().map(|path| shown(&path.to_string_lossy())),
        greeting: options.greeting,
    };
    let shown = screen::show(
        guard,
        events,
        screen,
        (look(config), alerts, call::Caller::new(config.notify_command.clone())),
        (acting, options.replay, options.shows_left_overs),
        (colors(config), options.config_file),
    );
    let kept = runtime.block_on(shown)?;
    if let Some(path) = options.view.filter(|_| options.start.kept.as_ref() != Some(&kept)) {
        keep_view(&path, &kept);
    }
    Ok(())
}

/// Keeps the view for the next start. If that fails, the next start has the usual one.
fn keep_view(path: &Path, kept: &ScreenState) {
    let (Some(folder), Some(name)) = (path.parent(), path.file_name().and_then(OsStr::to_str)) else {
        return;
    };
    if let Err(error) = bind::put(&System, (folder, name.to_owned()), kept) {
        tracing::warn!(%error, "the view is not kept");
    }
}

fn event_of(event: ScanEvent) -> Event {
    match event {
        ScanEvent::Report(report) => Event::Message(Msg::Looked(report)),
        ScanEvent::Exited(id) => Event::Message(Msg::Exited(id)),
        ScanEvent::Measured(measured) => Event::Message(Msg::Measured(measured)),
        ScanEvent::HintsLost => Event::Message(Msg::Hints(Hints::Lost)),
        ScanEvent::Failed(what) => Event::Failed(what),
    }
}

fn colors(config: &Config) -> Colors {
    match config.color {
        ColorChoice::Auto | ColorChoice::Always => Colors::Used,
        ColorChoice::Never => Colors::Unused,
    }
}

fn look(config: &Config) -> Look {
    Look { palette: Palette::new(config.theme, colors(config)), glyphs: config.glyphs }
}
