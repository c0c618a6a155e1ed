//! Carries out what a key asks for, within the screen.

use super::layer::{Layer, Palette};
use super::msg::{Effect, Jump, SheetAnswer};
use super::navigate::{self, Toward};
use super::sheet::{self, Sheet, Stage};
use super::state::windows::BringBack;
use super::state::{Header, Pane, Picture, State};
use crate::app::keys::command::{Command, Motion};
use crate::app::keys::possible;
use crate::app::page::copy;
use crate::app::page::panel::Pick;
use crate::app::table::chooser;
use crate::app::table::filter::{Filter, Focus};
use crate::app::table::order::{Direction, Sort};
use crate::app::table::view::View;
use crate::core::model::{Action, Key, Request, RestoreTo, WindowView};
use crate::present::report_index::window_name;
use crate::present::text::safe;

/// Carries out a command; the answer asks for a drawing unless it ends the program.
pub(crate) fn perform(state: &mut State, command: Command) -> Vec<Effect> {
    match command {
        Command::Move(motion) => navigate::go(state, motion),
        Command::Show(view) => return show(state, view),
        Command::NextView => return step(state, View::next),
        Command::PreviousView => return step(state, View::previous),
        Command::Evidence => return open_evidence(state),
        Command::Filter => state.filter.focus = Focus::Text,
        Command::Sort => sort(state),
        Command::SortBy(column) => sort_by(state, column),
        Command::Reverse => reverse(state),
        Command::Columns => state.layers.push(Layer::Columns { at: 0, scroll: 0 }),
        Command::Toggle => toggle(state),
        Command::Settings => state.layers.push(Layer::Settings { at: 0, scroll: 0 }),
        Command::Palette => state.layers.push(Layer::Palette(Palette::default())),
        Command::Pick => return pick(state),
        Command::NextProblem => problem(state, Toward::Next),
        Command::PreviousProblem => problem(state, Toward::Previous),
        Command::Mark => mark(state),
        Command::Plan(action) => return open_sheet(state, action),
        Command::Undo => return undo(state),
        Command::BringBack => {
            let sessions = state.dead_sessions(state.layers.last());
            state.bring_back = BringBack::default();
            state.layers.push(Layer::BringBack { sessions, scroll: 0 });
            return vec![Effect::FindClosed, Effect::Redraw];
        }
        Command::Yes if matches!(state.layers.last(), Some(Layer::BringBack { .. })) => {
            let sessions = state.to_bring_back();
            state.bring_back.is_confirmed = true;
            return vec![Effect::BringBack(sessions), Effect::Redraw];
        }
        Command::Yes => return with_sheet(state, |sheet| sheet.confirm(SheetAnswer::Yes)),
        Command::RestoreBeside => return with_sheet(state, Sheet::beside),
        Command::Merge => return with_sheet(state, Sheet::merge),
        Command::Freeze => freeze(state),
        Command::Acknowledge => state.acknowledge(),
        Command::Jump => return jump(state),
        Command::Copy => return copy::useful(state),
        Command::CopyKey => return copy::key(state),
        Command::Record => return vec![Effect::Record],
        Command::Step(step) => return vec![Effect::Step(step)],
        Command::Map => state.layers.push(Layer::Map { at: 0, scroll: 0 }),
        Command::Versions => {
            let Some(key) = possible::versions_of(state) else { return Vec::new() };
            state.versions = None;
            state.layers.push(Layer::Versions { key: key.clone(), scroll: 0 });
            return vec![Effect::ReadVersions(key), Effect::Redraw];
        }
        Command::Peek => peek(state),
        Command::Details => {
            state.are_details_hidden = !state.are_details_hidden;
            state.pane = Pane::Table;
            state.scroll_to_selection();
        }
        Command::Recent => {
            state.layers.push(Layer::Recent { scroll: 0 });
            return vec![Effect::ReadHistory, Effect::Redraw];
        }
        Command::Diagnosis => {
            state.layers.push(Layer::Diagnosis { scroll: 0 });
            return vec![Effect::AskCost, Effect::Redraw];
        }
        Command::Help => state.layers.push(Layer::Help { scroll: 0 }),
        Command::Back | Command::Close => return back(state),
        Command::Repaint => return vec![Effect::Repaint],
        Command::Suspend => return vec![Effect::Suspend],
        Command::Leave | Command::Quit => return vec![Effect::Quit],
    }
    vec![Effect::Redraw]
}

/// Looks into a window beside the table, or over it where there is no room; the same key ends that.
fn peek(state: &mut State) {
    if matches!(state.layers.last(), Some(Layer::Peek { .. })) {
        state.layers.pop();
    } else if state.layers.is_empty() && state.beside().shows_peek() {
        state.peek.is_beside = !state.peek.is_beside;
    } else if let Some(key) = state.peekable() {
        state.layers.push(Layer::Peek { key, scroll: 0 });
    }
}

/// Closes all that lies over the table, so that a key of the table can go on from there.
fn uncover(state: &mut State) {
    if state.layers.iter().filter_map(Layer::sheet).any(|sheet| sheet.stage == Stage::Finished) {
        state.marks.clear();
    }
    state.layers.clear();
}

fn problem(state: &mut State, toward: Toward) {
    uncover(state);
    navigate::seek_problem(state, toward);
}

/// Shows the next view on one side, of those that there are.
fn step(state: &mut State, step: impl Fn(View) -> View) -> Vec<Effect> {
    let mut next = step(state.view);
    while !state.views().any(|view| view == next) {
        next = step(next);
    }
    show(state, next)
}

fn show(state: &mut State, view: View) -> Vec<Effect> {
    uncover(state);
    state.pane = Pane::Table;
    state.view = view;
    state.filter.focus = Focus::Table;
    state.refresh();
    match view {
        View::History => vec![Effect::ReadHistory, Effect::Redraw],
        View::Now
        | View::Windows
        | View::Sessions
        | View::Claims
        | View::Problems
        | View::LeftOvers
        | View::Machines => vec![Effect::Redraw],
    }
}

fn open_evidence(state: &mut State) -> Vec<Effect> {
    if let Some(key) = state.subject().cloned() {
        state.layers.push(Layer::Evidence { key, scroll: 0 });
    }
    state.due_household().map(Effect::Measure).into_iter().chain([Effect::Redraw]).collect()
}

fn sort(state: &mut State) {
    let columns = state.table.columns.len();
    let place = state.places.of_mut(state.view);
    place.sort = place.sort.next(columns);
    state.header = Header::Numbers;
    state.refresh();
}

/// Sorts by one column; by the same once more the other way round.
fn sort_by(state: &mut State, column: Option<usize>) {
    let place = state.places.of_mut(state.view);
    place.sort = match place.sort {
        sort if sort.by == column => sort.reversed(),
        _ => Sort { by: column, direction: Direction::Forward },
    };
    state.refresh();
}

/// Does what the chosen line of the panel stands for.
fn pick(state: &mut State) -> Vec<Effect> {
    let at = state.layers.last().map_or(0, Layer::chosen);
    let choice = state.panel.as_ref().and_then(|panel| panel.choices.get(at)).cloned();
    match choice.map(|choice| choice.pick) {
        Some(Pick::Command(command, None)) => {
            state.layers.pop();
            return perform(state, command);
        }
        Some(Pick::Command(_, Some(why))) => state.say_why(&why),
        Some(Pick::Column(column)) => sort_by(state, Some(column)),
        Some(Pick::Thing(key)) => return go_to(state, &key),
        Some(Pick::Preference(which)) => {
            state.preferences.turn(which);
            return vec![Effect::Prefer(which, state.preferences), Effect::Repaint, Effect::Redraw];
        }
        None => {}
    }
    vec![Effect::Redraw]
}

/// Shows a thing in its view; a filter that would hide it goes.
fn go_to(state: &mut State, key: &Key) -> Vec<Effect> {
    let Some(index) = &state.index else { return Vec::new() };
    let view = match (index.window(key), index.record(key), index.claim(key)) {
        (Some(_), _, _) => View::Windows,
        (None, Some(_), _) => View::Sessions,
        (None, None, Some(_)) => View::Claims,
        (None, None, None) if index.left_over(key).is_some() => View::LeftOvers,
        (None, None, None) if index.machine(key).is_some() => View::Machines,
        (None, None, None) => View::Problems,
    };
    let effects = show(state, view);
    let row_of = |state: &State| state.table.rows.iter().position(|row| row.key == *key);
    if row_of(state).is_none() {
        state.filter = Filter::default();
        state.refresh();
    }
    match row_of(state) {
        Some(row) => navigate::select(state, row),
        None => state.say_why("it is now gone"),
    }
    effects
}

fn toggle(state: &mut State) {
    if let Some(Layer::Columns { at, .. }) = state.layers.last() {
        chooser::toggle(state, *at);
    }
}

fn reverse(state: &mut State) {
    let place = state.places.of_mut(state.view);
    place.sort = place.sort.reversed();
    state.refresh();
}

/// Marks the selected thing and goes on to the next row, so that several are marked quickly.
fn mark(state: &mut State) {
    let Some(key) = state.selected().cloned() else { return };
    if !state.marks.remove(&key) {
        state.marks.insert(key);
    }
    navigate::go(state, Motion::Down);
}

fn open_sheet(state: &mut State, action: Action) -> Vec<Effect> {
    let requests = possible::asked(state, state.layers.last(), action);
    let machine = requests.first().and_then(Request::machine).map(str::to_owned);
    ask(state, action, requests, machine)
}

/// Opens the sheet of some requests, of this machine or of another one.
fn ask(state: &mut State, action: Action, requests: Vec<Request>, machine: Option<String>) -> Vec<Effect> {
    let names = requests.iter().map(|request| sheet::name(state.index.as_deref(), request)).collect();
    state.sheets += 1;
    let mut sheet = Sheet::new(action, requests, names, (machine, state.sheets));
    let is_read_only = state.options.access.is_read_only();
    if let Some(report) = state.report().filter(|_| is_read_only) {
        sheet.only_shown(report);
    }
    let asks = sheet.ask();
    state.layers.push(Layer::Sheet(Box::new(sheet)));
    if is_read_only { vec![Effect::Redraw] } else { vec![asks, Effect::Redraw] }
}

/// Asks for the plan of an undo.
fn undo(state: &mut State) -> Vec<Effect> {
    let unfinished = state.unfinished_under(state.layers.last());
    if let Some((entry, key)) = unfinished.and_then(|key| Some((key.entry()?, key))) {
        let machine = key.machine().map(str::to_owned);
        let request = Request::Undo { entry, to: RestoreTo::Origin };
        return ask(state, Action::Undo, vec![request], machine);
    }
    let Some(entry) = state.undoable() else { return Vec::new() };
    state.layers.retain(|layer| !matches!(layer, Layer::Sheet(_)));
    let asked = state.history.entry(entry).and_then(|entry| Some((entry.intent.asked_of()?, entry.there()?)));
    // What was asked of another machine is undone there.
    let (machine, entry) = match asked {
        Some((order, there)) => (Some(order.machine.clone()), there),
        None => (None, entry),
    };
    ask(state, Action::Undo, vec![Request::Undo { entry, to: RestoreTo::Origin }], machine)
}

fn with_sheet(state: &mut State, act: impl FnOnce(&mut Sheet) -> Vec<Effect>) -> Vec<Effect> {
    state.sheet_mut().map(act).unwrap_or_default()
}

fn freeze(state: &mut State) {
    match state.picture {
        Picture::Live => state.picture = Picture::Frozen(state.now),
        Picture::Frozen(_) => {
            state.picture = Picture::Live;
            if let Some(report) = state.waiting.take() {
                state.take(report);
            }
        }
    }
    state.refresh();
}

/// Goes to the window's pane if a multiplexer can show it; else says where it is.
fn jump(state: &mut State) -> Vec<Effect> {
    let window =
        state.index.as_deref().zip(state.subject()).and_then(|(index, key)| sheet::window(index, key));
    let Some(window) = window else { return Vec::new() };
    let name = window_name(window);
    let (key, place) = (window.key.clone(), window.place.clone());
    let here = window.key.machine().is_none();
    let machine = window.key.machine().map(str::to_owned);
    let can_go = window.has_pane();
    let tty = window.tty.as_ref().map(|tty| tty.raw().to_owned());
    let effects = match can_go.then_some(place) {
        Some(place) => vec![Effect::Jump(Jump { name: name.clone(), machine, place, tty }), Effect::Redraw],
        None => vec![Effect::Redraw],
    };
    state.message = Some(match (window.place.to_text(), &window.tty) {
        _ if !here => elsewhere(window),
        (Some(words), _) => format!("{name} is in {words}"),
        (None, Some(tty)) => format!("No pane is known for {name}; its terminal is {tty}"),
        (None, None) => format!("No pane is known for {name}"),
    });
    state.see(&key);
    effects
}

/// Says where the pane of a window on another machine is.
fn elsewhere(window: &WindowView) -> String {
    let (name, machine) = (window_name(window), safe(window.key.machine().unwrap_or_default()));
    match (window.place.to_text(), &window.tty) {
        (Some(words), _) => format!("{name} is on {machine}, in {words}"),
        (None, Some(tty)) => format!("{name} is on {machine}; its terminal there is {tty}"),
        (None, None) => format!("{name} is on {machine}; no pane is known for it"),
    }
}

/// Closes what was opened last: a panel, the filter, the marks. A sheet at work begins nothing more; it stays open where
/// it is done here, and is left where another machine may take its time.
fn back(state: &mut State) -> Vec<Effect> {
    let at_work = state.sheet().filter(|sheet| sheet.stage == Stage::Working);
    if let Some(machine) = at_work.map(|sheet| sheet.machine.clone()) {
        let mut effects = with_sheet(state, Sheet::call_off);
        if let Some(machine) = machine {
            state.layers.pop();
            state.marks.clear();
            state.refresh();
            let machine = safe(&machine);
            state.message = Some(format!("Work begun on {machine} continues; its outcome is shown here"));
            effects.push(Effect::Redraw);
        }
        return effects;
    }
    match state.layers.pop() {
        Some(Layer::Sheet(sheet)) if sheet.stage == Stage::Finished => state.marks.clear(),
        Some(_) => {}
        None if state.pane != Pane::Table => state.pane = Pane::Table,
        None => {
            if state.filter == Filter::default() {
                state.marks.clear();
            }
            state.filter = Filter::default();
        }
    }
    state.refresh();
    vec![Effect::Redraw]
}
