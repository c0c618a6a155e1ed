//! The screen's loop: what is due and what is reported, then keys, then the passing of time.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use crossterm::event::EventStream;
use futures_util::StreamExt;
use tokio::sync::mpsc::Receiver;
use tokio::time::{Instant, sleep_until};

use super::call::Caller;
use super::log;
use super::options::{Replay, Tell};
use super::pace::Pace;
use super::terminal::Guard;
use crate::app::attention::{Alert, Attention};
use crate::app::kept::ScreenState;
use crate::app::msg::{Effect, Msg, Step};
use crate::app::page::versions;
use crate::app::state::{Options, State};
use crate::app::table::geometry::Size;
use crate::app::table::view::View;
use crate::app::update;
use crate::config::Alerts;
use crate::config::notify::NotifyCommand;
use crate::config::preference::{Preference, Preferences};
use crate::core::model::{Cost, Report};
use crate::run::terminal::{clipboard, keyboard, sequences};
use crate::run::threads::acting::Acting;
use crate::run::threads::event::Event;
use crate::run::threads::work::Job;
use crate::source::os::clock;
use crate::source::own::cost as own;
use crate::ui::theme::{Colors, Palette};
use crate::ui::{self, Look, pointed};

/// The most cells that are drawn: a terminal may claim any size, and each cell has to be kept.
const MOST: Size = Size { width: 2_000, height: 500 };

/// Whether the loop goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    End,
}

/// The loop's own state.
struct Screen {
    guard: Guard,
    state: State,
    look: Look,
    acting: Acting,
    replay: Option<Replay>,
    /// Called with whether left-overs are shown.
    shows_left_overs: Option<Tell>,
    attention: Attention,
    alerts: Alerts,
    caller: Caller,
    /// Whether there are colours.
    colors: Colors,
    /// Where what a person sets is kept.
    config_file: Option<PathBuf>,
    /// When the next frame is due, if one is.
    due: Option<Instant>,
    pace: Pace,
    /// When the state last got the time.
    told_at: Instant,
    /// When an age on the screen reads differently.
    tick_at: Option<Instant>,
}

/// Shows the state until the end; returns what is to be kept of it.
pub(super) async fn show(
    guard: Guard,
    mut events: Receiver<Event>,
    options: Options,
    (look, alerts, caller): (Look, Alerts, Caller),
    (acting, replay, shows_left_overs): (Acting, Option<Replay>, Option<Tell>),
    (colors, config_file): (Colors, Option<PathBuf>),
) -> anyhow::Result<ScreenState> {
    let state = State::new(options, size()?, clock::now());
    let screen = Screen::new(guard, state, look, alerts, acting, replay);
    let mut screen = Screen { shows_left_overs, caller, colors, config_file, ..screen };
    screen.draw()?;
    let mut keys = EventStream::new();
    loop {
        let (due, tick) = (screen.due, screen.tick_at);
        let flow = tokio::select! {
            biased;
            () = until(due), if due.is_some() => screen.draw()?,
            event = events.recv() => match event {
                Some(event) => screen.happened(event)?,
                None => bail!("the scanner thread has stopped"),
            },
            // Last: to ask for keys costs a lock that another thread holds, so several turns of
            // the processor. What comes above it comes seldom.
            key = keys.next() => match key {
                Some(Ok(event)) => screen.typed_ahead(event, &mut keys).await?,
                Some(Err(error)) => return Err(error).context("failed to read the keyboard"),
                None => Flow::End,
            },
            Some(why) = screen.caller.ended() => screen.handle(Msg::Failed(why))?,
            () = until(tick), if tick.is_some() => screen.handle(Msg::Tick(clock::now()))?,
        };
        if flow == Flow::End {
            return Ok(screen.state.kept());
        }
    }
}

fn size() -> anyhow::Result<Size> {
    let (width, height) = crossterm::terminal::size().context("failed to read the terminal's size")?;
    Ok(Size { width: width.min(MOST.width), height: height.min(MOST.height) })
}

/// Returns the next event if there is one already.
async fn ready(keys: &mut EventStream) -> Option<std::io::Result<crossterm::event::Event>> {
    tokio::select! {
        biased;
        event = keys.next() => event,
        () = std::future::ready(()) => None,
    }
}

async fn until(at: Option<Instant>) {
    if let Some(at) = at {
        sleep_until(at).await;
    }
}

impl Screen {
    fn new(
        guard: Guard,
        state: State,
        look: Look,
        alerts: Alerts,
        acting: Acting,
        replay: Option<Replay>,
    ) -> Self {
        let now = Instant::now();
        Self {
            guard,
            state,
            look,
            acting,
            replay,
            shows_left_overs: None,
            attention: Attention::default(),
            alerts,
            caller: Caller::new(NotifyCommand::default()),
            colors: Colors::Used,
            config_file: None,
            due: None,
            pace: Pace::new(now),
            told_at: now,
            tick_at: None,
        }
    }

    /// Handles an event; while the filter takes text, with all keys that were typed meanwhile, so that rows are filtered
    /// and drawn once for all of them.
    async fn typed_ahead(
        &mut self,
        first: crossterm::event::Event,
        keys: &mut EventStream,
    ) -> anyhow::Result<Flow> {
        let mut presses = Vec::new();
        let mut next = Some(first);
        while let Some(event) = next {
            let press = keyboard::edits(&event).filter(|_| self.state.takes_filter());
            let Some(press) = press else {
                if !presses.is_empty() {
                    self.handle(Msg::Typed(std::mem::take(&mut presses)))?;
                    self.draw()?;
                }
                return self.typed(&event);
            };
            presses.push(press);
            next = ready(keys).await.transpose().context("failed to read the keyboard")?;
        }
        let flow = self.handle(Msg::Typed(presses))?;
        self.due = self.due.map(|_| Instant::now());
        Ok(flow)
    }

    fn typed(&mut self, event: &crossterm::event::Event) -> anyhow::Result<Flow> {
        let pointed = keyboard::pointed(event)
            .map(|(gesture, cell)| Msg::Pointed(gesture, pointed::target(&self.state, cell)));
        for msg in keyboard::messages(event).into_iter().chain(pointed) {
            let is_key = matches!(msg, Msg::Pressed(_) | Msg::Pointed(..));
            if self.handle(msg)? == Flow::End {
                return Ok(Flow::End);
            }
            if is_key && self.due.is_some() {
                self.due = Some(Instant::now());
            }
        }
        Ok(Flow::Continue)
    }

    fn happened(&mut self, event: Event) -> anyhow::Result<Flow> {
        match event {
            Event::Message(Msg::Looked(report)) => self.looked(report),
            Event::Message(msg @ Msg::Exited(_)) => self.told_at_once(msg),
            Event::Message(msg) => self.handle(msg),
            Event::Stop => self.stop(),
            Event::Continued => {
                self.guard.come_back()?;
                self.draw()
            }
            Event::Resized => {
                // Even back at its old size the terminal may have lost or moved what it showed.
                self.guard.forget();
                self.handle(Msg::Resized(size()?))
            }
            Event::End => Ok(Flow::End),
            Event::Failed(what) => bail!("the scanner thread has failed: {what}"),
        }
    }

    /// Shows a look, then alerts a person who is looking elsewhere, if it is worth it.
    fn looked(&mut self, report: Arc<Report>) -> anyhow::Result<Flow> {
        if self.state.index.is_none() {
            // The frames before it had nothing to show.
            self.pace = Pace::new(Instant::now());
        }
        let flow = self.told_at_once(Msg::Looked(Arc::clone(&report)))?;
        let alerts = self.attention.take(&report, self.alerts);
        for alert in &alerts {
            if let Alert::Call(text) = alert {
                self.caller.call(text, report.taken_at, &self.state.options.zone);
            } else if let Some(sequence) = sequences::for_alert(alert, self.alerts.notify) {
                self.guard.send(&sequence)?;
            }
        }
        Ok(flow)
    }

    /// Gives the state a message, and shows what comes of it if a frame may be drawn.
    fn told_at_once(&mut self, msg: Msg) -> anyhow::Result<Flow> {
        let flow = self.handle(msg)?;
        if flow == Flow::Continue && self.due.is_some_and(|due| due <= Instant::now()) {
            self.draw()?;
        }
        Ok(flow)
    }

    /// Gives the state a message and does what it asks for.
    fn handle(&mut self, msg: Msg) -> anyhow::Result<Flow> {
        let before = self.state.now;
        let effects = update(&mut self.state, msg);
        if self.state.now != before {
            self.told_at = Instant::now();
        }
        if let Some(tell) = &self.shows_left_overs {
            tell(self.state.view == View::LeftOvers);
        }
        for effect in effects {
            match effect {
                Effect::Redraw => self.due = self.due.or(Some(self.pace.free_at())),
                Effect::Repaint => {
                    self.guard.forget();
                    self.due = Some(Instant::now());
                }
                Effect::Copy(text) => self.guard.send(&clipboard::copy_sequence(&text))?,
                Effect::Jump(jump) => self.acting.jump(jump),
                Effect::Offer(requests) => self.acting.ask(Job::Offer(requests)),
                Effect::Act(confirmed) => self.acting.act(confirmed),
                Effect::OfferOn(machine, sheet, requests) => self.acting.offer_on(&machine, sheet, requests),
                Effect::ActOn(machine, sheet, confirmed) => self.acting.act_on(&machine, sheet, confirmed),
                Effect::AskCost => {
                    let cost = own::cost().map(|cost| Cost { lost_lines: log::lost(), ..cost });
                    return self.handle(Msg::Cost(cost));
                }
                Effect::Measure(household) => self.acting.ask(Job::Measure(household)),
                Effect::ReadVersions(key) => {
                    let index = self.state.index.as_deref();
                    if let Some(question) = index.and_then(|index| versions::question(index, &key)) {
                        self.acting.read_versions(question);
                    }
                }
                Effect::Peek(question) => self.acting.peek(*question),
                Effect::FindClosed => self.acting.ask(Job::FindClosed),
                Effect::BringBack(sessions) => self.acting.ask(Job::BringBack(sessions)),
                Effect::ReadHistory => self.acting.ask(Job::ReadHistory),
                Effect::Prefer(which, preferences) => self.prefer(which, preferences)?,
                Effect::Record => self.acting.ask(Job::Record),
                Effect::Step(step) => self.step(step)?,
                Effect::Keep(past) => self.acting.ask(Job::Keep(past)),
                Effect::CallOff => self.acting.call_off(),
                Effect::Suspend => return self.stop(),
                Effect::Quit => return Ok(Flow::End),
            }
        }
        self.acting.look_closely(self.state.looked_at());
        // A frame that is due sets it once it is drawn; to find out costs as much as half a frame.
        self.tick_at = None;
        if self.due.is_none() {
            self.plan_tick();
        }
        Ok(Flow::Continue)
    }

    /// Lets what a person has set count at once, and has it kept where that may be.
    fn prefer(&mut self, which: Preference, preferences: Preferences) -> anyhow::Result<()> {
        self.look.palette = Palette::new(preferences.theme, self.colors);
        self.alerts = preferences.alerts;
        self.guard.set_mouse(preferences.mouse)?;
        if let (Some(path), false) = (&self.config_file, self.state.options.access.is_read_only()) {
            self.acting.ask(Job::Prefer(path.clone(), which, preferences));
        }
        Ok(())
    }

    fn step(&mut self, step: Step) -> anyhow::Result<()> {
        if let Some(replay) = &mut self.replay {
            let position = (replay.step)(step);
            self.handle(Msg::Stepped(position))?;
        }
        Ok(())
    }

    fn stop(&mut self) -> anyhow::Result<Flow> {
        self.guard.stop().context("failed to suspend and resume")?;
        self.draw()
    }

    fn draw(&mut self) -> anyhow::Result<Flow> {
        self.guard.draw(|| ui::render(&self.state, self.look)).context("failed to write to the terminal")?;
        self.due = None;
        self.pace.drawn(Instant::now());
        self.plan_tick();
        Ok(Flow::Continue)
    }

    /// Sets when the next age changes; never when none is shown.
    fn plan_tick(&mut self) {
        let seconds = self.state.changes_in().and_then(|seconds| u64::try_from(seconds.max(1)).ok());
        self.tick_at = seconds.map(|seconds| self.told_at + Duration::from_secs(seconds));
    }
}
