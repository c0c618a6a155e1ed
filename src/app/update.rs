//! Turns what happened into a new state and what is asked for.

use std::sync::Arc;

use jiff::SignedDuration;

use super::layer::Layer;
use super::msg::{Effect, Gesture, Msg, Press, RecordingEvent, Target};
use super::navigate;
use super::perform::perform;
use super::sheet::Sheet;
use super::state::{Header, Pane, Picture, State};
use crate::app::keys::command::{Command, Motion};
use crate::app::keys::keymap;
use crate::app::keys::keymap::Meaning;
use crate::app::keys::palette;
use crate::app::keys::possible::{unseen, why_not};
use crate::app::page::pages;
use crate::app::table::filter::{Focus, edit, type_into};
use crate::core::model::{ActionResult, EndResult, Key, ListedVersion, Report};
use crate::present::report_index::Index;
use crate::present::text::safe;

/// Changes the state by one message. Asks for a drawing only if something visible changed.
pub fn update(state: &mut State, msg: Msg) -> Vec<Effect> {
    let mut effects = taken(state, msg);
    effects.extend(state.due_peek().map(|question| Effect::Peek(Box::new(question))));
    if effects.contains(&Effect::Redraw) {
        pages::renew(state);
    }
    effects
}

fn taken(state: &mut State, msg: Msg) -> Vec<Effect> {
    match msg {
        Msg::Looked(report) => {
            let past = state.observe(&report);
            let mut effects = looked(state, report);
            if state.options.history.is_on() && !past.is_empty() {
                effects.push(Effect::Keep(past));
            }
            effects.extend(state.due_household().map(Effect::Measure));
            effects
        }
        Msg::Exited(id) if state.exit(id) => vec![Effect::Redraw],
        Msg::Exited(_) => Vec::new(),
        Msg::Measured(measured) => {
            state.measured = measured;
            let is_shown = matches!(state.layers.last(), Some(Layer::Diagnosis { .. }));
            if is_shown { vec![Effect::AskCost] } else { Vec::new() }
        }
        Msg::Cost(cost) => changed(state, |state| state.cost = cost),
        Msg::Household(key, members) => changed(state, |state| state.take_members(key, members)),
        Msg::Hints(hints) => changed(state, |state| state.hints = hints),
        Msg::Pressed(press) => pressed(state, press),
        Msg::Typed(presses) => typed_ahead(state, &presses),
        Msg::Pasted(text) => pasted(state, &text),
        Msg::Pointed(gesture, target) => pointed(state, gesture, target),
        Msg::Resized(size) => {
            state.size = size;
            state.scroll_to_selection();
            vec![Effect::Redraw]
        }
        Msg::Offered(offers) => in_sheet(state, None, |sheet| sheet.offered(offers)),
        Msg::OfferedOn(number, offers) => in_sheet(state, Some(number), |sheet| sheet.offered(offers)),
        Msg::Jumped(sentence) => {
            state.message = Some(sentence);
            vec![Effect::Redraw]
        }
        Msg::Told(result) => in_sheet(state, None, |sheet| sheet.results.push(result)),
        Msg::ToldOn(number, machine, result) => match state.sheet_of(Some(number)) {
            Some(_) => in_sheet(state, Some(number), |sheet| sheet.results.push(result)),
            None => changed(state, |state| state.message = Some(became(&machine, &result))),
        },
        Msg::Settled(machine, result) => changed(state, |state| settled(state, &machine, result)),
        Msg::Finished => in_sheet(state, None, Sheet::finished),
        Msg::FinishedOn(number) => in_sheet(state, Some(number), Sheet::finished),
        Msg::Versions(key, versions) => read(state, key, versions),
        Msg::Peeked(key, peek) => {
            if state.take_peek(key, peek) {
                vec![Effect::Redraw]
            } else {
                Vec::new()
            }
        }
        Msg::Closed(closed, place) => changed(state, |state| state.bring_back.find(closed, place)),
        Msg::BroughtBack(session, said) => {
            changed(state, |state| drop(state.bring_back.said.insert(session, said)))
        }
        Msg::History(history) => changed(state, |state| {
            state.history = history;
            state.refresh();
        }),
        Msg::Recording(taped) => changed(state, |state| show_recording(state, taped)),
        Msg::Stepped(position) => changed(state, |state| state.options.replayed = Some(position)),
        Msg::Remembered(past) => changed(state, |state| {
            state.timeline.remember(past);
            state.refresh();
        }),
        Msg::Tick(now) => changed(state, |state| state.pass(now)),
        Msg::Failed(why) => changed(state, |state| state.message = Some(why)),
        Msg::Unkept(why) => changed(state, |state| {
            state.message = Some(format!("History is not being saved: {why}"));
        }),
    }
}

/// Takes the versions of what a window wrote, if its page is still open.
fn read(state: &mut State, of: Key, versions: Arc<Vec<ListedVersion>>) -> Vec<Effect> {
    let is_its = |layer: &Layer| matches!(layer, Layer::Versions { key, .. } if *key == of);
    if !state.layers.iter().any(is_its) {
        return Vec::new();
    }
    state.versions = Some((of, versions));
    vec![Effect::Redraw]
}

/// Says what has become of an order.
fn became(machine: &str, result: &ActionResult) -> String {
    let word = match result.ended {
        Some(EndResult::Done) => "done",
        Some(EndResult::Unknown) => "unknown until seen",
        Some(EndResult::Changed | EndResult::Failed) | None => "not done",
        Some(EndResult::Partly | EndResult::Stuck) => "partly done",
    };
    let is_worth_a_word = result.ended != Some(EndResult::Done) && !result.detail.is_empty();
    let detail = if is_worth_a_word { format!(" ({})", safe(&result.detail)) } else { String::new() };
    format!("On {}: {} was {word}{detail}", safe(machine), safe(&result.title))
}

/// Shows what has become of an order: in its receipt's place, where that is still shown.
fn settled(state: &mut State, machine: &str, result: ActionResult) {
    let message = became(machine, &result);
    let is_shown = state.sheet_mut().is_some_and(|sheet| sheet.settle(result));
    if !is_shown {
        state.message = Some(message);
    }
}

fn show_recording(state: &mut State, taped: RecordingEvent) {
    let (path, message) = match taped {
        RecordingEvent::Begun(path) => (Some(path.clone()), format!("Recording to {path}; w stops it")),
        RecordingEvent::Ended(path) => (None, format!("Recorded to {path}; claimtop replay shows it")),
        RecordingEvent::Failed(why) => (None, format!("Failed to record: {why}")),
        RecordingEvent::Lost(why) => (None, format!("Recording has stopped: {why}")),
    };
    state.recording = path;
    state.message = Some(message);
}

/// Changes the open sheet, if that is still the one of this number, or without one any that is about this machine.
fn in_sheet(state: &mut State, number: Option<u64>, change: impl FnOnce(&mut Sheet)) -> Vec<Effect> {
    let Some(sheet) = state.sheet_of(number) else { return Vec::new() };
    change(sheet);
    vec![Effect::Redraw]
}

fn changed(state: &mut State, change: impl FnOnce(&mut State)) -> Vec<Effect> {
    change(state);
    vec![Effect::Redraw]
}

/// How much older than the present a look can be when it is reported: 1 min.
const LATE: SignedDuration = SignedDuration::from_mins(1);

/// Takes a report over, unless the picture is frozen or nothing but the moment has changed.
fn looked(state: &mut State, report: Arc<Report>) -> Vec<Effect> {
    let before = state.sheet().map(|sheet| sheet.stage);
    if let Some(sheet) = state.sheet_mut() {
        sheet.recheck(&report);
    }
    let has_moved = state.sheet().map(|sheet| sheet.stage) != before;
    if let Picture::Frozen(_) = state.picture {
        state.waiting = Some(report);
        return if has_moved { vec![Effect::Redraw] } else { Vec::new() };
    }
    let (now, ages_stay) = match state.options.replayed {
        // In a recording it is always the moment of the look.
        Some(_) => (report.taken_at, report.taken_at == state.now),
        None if state.now.duration_since(report.told_at()) < LATE => (state.now.max(report.told_at()), true),
        // The clock was set back.
        None => (report.told_at(), false),
    };
    let is_shown =
        |shown: &Arc<Index>| ages_stay && shown.exited.is_empty() && says_the_same(&shown.report, &report);
    if let Some(shown) = state.index.as_mut().filter(|shown| is_shown(shown)) {
        // Nothing lies elsewhere in it, and the observer keeps only the last one.
        if let Some(shown) = Arc::get_mut(shown) {
            shown.report = report;
        }
        return Vec::new();
    }
    state.now = now;
    state.take(report);
    state.refresh();
    vec![Effect::Redraw]
}

/// Compares all but the moment at which the look was taken.
fn says_the_same(a: &Report, b: &Report) -> bool {
    a.host == b.host
        && a.sources == b.sources
        && a.windows == b.windows
        && a.claims == b.claims
        && a.findings == b.findings
        && a.records == b.records
        && a.needs == b.needs
}

fn pressed(state: &mut State, press: Press) -> Vec<Effect> {
    // A person who presses a key has seen what is marked as new.
    let had_news = !std::mem::take(&mut state.news).is_empty();
    let had_message = state.message.take().is_some() || had_news;
    let mut effects = answered(state, press, had_message);
    if had_news && !effects.contains(&Effect::Redraw) {
        effects.push(Effect::Redraw);
    }
    effects
}

/// Gives several keys to the filter's text, and filters once for all of them. What is no text is pressed by itself.
fn typed_ahead(state: &mut State, presses: &[Press]) -> Vec<Effect> {
    let mut effects = Vec::new();
    let mut is_stale = false;
    for press in presses {
        if state.takes_filter() && *press != Press::Enter && edit(&mut state.filter.text, *press) {
            is_stale = true;
            continue;
        }
        if std::mem::take(&mut is_stale) {
            state.refresh();
        }
        effects.extend(pressed(state, *press));
    }
    if is_stale {
        state.news.clear();
        state.message = None;
        state.refresh();
        effects.push(Effect::Redraw);
    }
    effects
}

/// Takes pasted text where text is typed, and nowhere else: pasted keys never act.
fn pasted(state: &mut State, text: &str) -> Vec<Effect> {
    let is_filter = state.takes_filter();
    for c in text.chars().filter(|c| !c.is_control()) {
        if let Some(Layer::Palette(palette)) = state.layers.last_mut() {
            type_into(&mut palette.text, c);
            palette.at = 0;
        } else if is_filter {
            type_into(&mut state.filter.text, c);
        } else if let Some(sheet) = state.sheet_mut() {
            sheet.typed(Press::Char(c));
        }
    }
    if is_filter {
        state.refresh();
    }
    vec![Effect::Redraw]
}

fn answered(state: &mut State, press: Press, had_message: bool) -> Vec<Effect> {
    if state.takes_filter() && typed(state, press) {
        state.refresh();
        return vec![Effect::Redraw];
    }
    if let Some(effects) = palette::typed(state, press) {
        return effects;
    }
    let numbers = std::mem::take(&mut state.header);
    if let (Header::Numbers, Press::Char(c @ '0'..='9'), true) = (numbers, press, state.layers.is_empty()) {
        return numbered(state, c);
    }
    if press == Press::Enter
        && state.sheet().is_some_and(Sheet::takes_text)
        && let Some(why) = unseen(state)
    {
        state.say_why(&why);
        return vec![Effect::Redraw];
    }
    if state.sheet().is_some()
        && let Some(effects) = state.sheet_mut().and_then(|sheet| sheet.typed(press))
    {
        return effects;
    }
    match keymap::lookup(state, press) {
        Some(Meaning::Does(command)) => perform(state, command),
        Some(Meaning::Idle(why)) => {
            state.say_why(&why);
            vec![Effect::Redraw]
        }
        None if had_message => vec![Effect::Redraw],
        None => Vec::new(),
    }
}

/// Sorts by the column of a number; 0 is the order that has the worst first.
fn numbered(state: &mut State, digit: char) -> Vec<Effect> {
    let column = digit.to_digit(10).and_then(|digit| usize::try_from(digit).ok()).unwrap_or(0).checked_sub(1);
    if column.is_some_and(|column| column >= state.table.columns.len()) {
        state.say_why("no column has this number");
        return vec![Effect::Redraw];
    }
    perform(state, Command::SortBy(column))
}

/// Gives a key to the filter's text; returns whether the text took it.
fn typed(state: &mut State, press: Press) -> bool {
    if press == Press::Enter {
        state.filter.focus = Focus::Table;
        return true;
    }
    edit(&mut state.filter.text, press)
}

/// Does what a click or the wheel means where the mouse is.
fn pointed(state: &mut State, gesture: Gesture, target: Target) -> Vec<Effect> {
    let motion = match gesture {
        Gesture::Click => return clicked(state, target),
        Gesture::WheelUp => Motion::Up,
        Gesture::WheelDown => Motion::Down,
    };
    if target == Target::Details {
        navigate::scroll_details(state, motion);
    } else {
        if state.layers.is_empty() {
            state.pane = Pane::Table;
        }
        navigate::go(state, motion);
    }
    vec![Effect::Redraw]
}

/// A second click on what is selected or chosen does what Enter does.
fn clicked(state: &mut State, target: Target) -> Vec<Effect> {
    state.header = Header::Names;
    match target {
        Target::Command(command) => match why_not(state, state.layers.last(), command) {
            None => return perform(state, command),
            Some(why) => state.say_why(&why),
        },
        Target::Row(at) if state.pane == Pane::Table && state.place().at == at => {
            return perform(state, Command::Evidence);
        }
        Target::Row(at) => navigate::select(state, at),
        Target::Choice(at) => {
            if state.layers.last().is_some_and(|layer| layer.chosen() == at) {
                return perform(state, Command::Pick);
            }
            if let Some(chosen) = state.layers.last_mut().and_then(Layer::at_mut) {
                *chosen = at;
            }
        }
        Target::Details => state.pane = Pane::Details { scroll: state.pane.scroll() },
        Target::Nothing => {}
    }
    vec![Effect::Redraw]
}
