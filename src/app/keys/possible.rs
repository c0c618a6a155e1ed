//! What a command would do now, or why it would do nothing.

use Command as C;

use super::command::{Command, Motion};
use crate::app::layer::Layer;
use crate::app::page::versions;
use crate::app::sheet;
use crate::app::sheet::{Sheet, Stage};
use crate::app::state::{Pane, State};
use crate::app::table::filter::Focus;
use crate::app::table::geometry::Detail;
use crate::app::table::view::View;
use crate::core::model::{Action, Key, MachineView, Request};
use crate::core::plan::stop::topmost;
use crate::present::report_index::Index;
use crate::present::text::safe;
use crate::present::words;

/// Said of whatever acts on the table while something lies over it.
const COVERED: &str = "not while this is open: Esc closes it";

/// Says why a command would do nothing while this layer is on top; `None` where it is taken.
pub(crate) fn why_not(state: &State, top: Option<&Layer>, command: Command) -> Option<String> {
    let sheet = top.and_then(Layer::sheet);
    let or = |is_so: bool, why: &str| (!is_so).then(|| why.to_owned());
    let on_table = || or(top.is_none(), COVERED);
    let on_thing = || {
        let is_seen = matches!(top, None | Some(Layer::Evidence { .. }));
        or(is_seen, COVERED).or_else(|| or(state.selected().is_some(), "nothing is selected"))
    };
    let has_order = || or(state.view != View::History, "History is sorted by time only");
    match command {
        C::Quit | C::Repaint | C::Suspend => None,
        C::Close => or(top.is_some(), "nothing is open"),
        C::Leave => on_table(),
        C::Back => {
            let is_open = top.is_some()
                || state.pane != Pane::Table
                || !state.filter.text.is_empty()
                || !state.marks.is_empty();
            or(is_open, "nothing is open")
        }
        C::Help => {
            or(!matches!(top, Some(Layer::Help { .. })) && state.filter.focus == Focus::Table, COVERED)
        }
        C::Move(Motion::Left | Motion::Right) => {
            let is_choice = state.panel.as_ref().is_some_and(|panel| panel.choices.len() > 1);
            or(is_choice || (top.is_none() && state.detail.is_some()), "there is one pane")
        }
        C::Move(_) => or(top.is_some() || !state.table.rows.is_empty(), "no rows"),
        C::Show(View::Machines) => {
            or(has_machines(state), "no other machine is watched").or_else(|| stays(state))
        }
        C::Show(_) | C::NextView | C::PreviousView => stays(state),
        C::NextProblem | C::PreviousProblem => stays(state).or_else(|| {
            let is_problem = state.table.rows.iter().any(|row| row.severity.is_some());
            or(is_problem, "no problems in this view")
        }),
        C::Undo if state.unfinished_under(top).is_some() => {
            state.unfinished_under(top).and_then(Key::machine).and_then(|machine| not_asked(state, machine))
        }
        C::Undo => or(state.undoable_under(top).is_some(), "there is nothing to undo")
            .or_else(|| undone_elsewhere(state, top)),
        C::Yes if matches!(top, Some(Layer::BringBack { .. })) => {
            or(!state.to_bring_back().is_empty(), "there is nothing to bring back")
        }
        C::BringBack => {
            on_thing().or_else(|| or(state.options.replayed.is_none(), "not in a recording")).or_else(|| {
                or(!state.dead_sessions(top).is_empty(), "select a dead window whose session is known")
            })
        }
        C::Yes => {
            let takes_yes = sheet.is_some_and(Sheet::takes_yes) && !state.options.access.is_read_only();
            or(takes_yes, "no plan is waiting").or_else(|| unseen(state))
        }
        C::RestoreBeside => or(sheet.is_some_and(Sheet::takes_beside), "there is nothing to put back"),
        C::Merge => or(sheet.is_some_and(Sheet::takes_merge), "there is nothing to merge"),
        C::Freeze => or(state.index.is_some() && !matches!(top, Some(Layer::Help { .. })), COVERED),
        C::Filter | C::Diagnosis => on_table(),
        C::Settings => on_table().or_else(|| or(state.options.replayed.is_none(), "not in a recording")),
        C::Details => on_table().or_else(|| {
            or(state.size.detail(state.table.rows.len()) != Detail::None, "there is no room for details")
        }),
        C::Sort | C::Reverse | C::SortBy(_) => on_table().or_else(has_order),
        C::Columns => on_table().or_else(|| or(state.index.is_some(), "the first look is not done")),
        C::Toggle => or(matches!(top, Some(Layer::Columns { .. })), "no column is chosen"),
        C::Pick => {
            or(state.panel.as_ref().is_some_and(|panel| !panel.choices.is_empty()), "nothing is chosen")
        }
        C::Palette => stays(state).or_else(|| or(!matches!(top, Some(Layer::Palette(_))), COVERED)),
        C::Record => {
            on_table().or_else(|| or(state.options.tape.is_on(), "nothing can be recorded here")).or_else(
                || or(!state.options.access.is_read_only(), "claimtop is read-only: nothing is recorded"),
            )
        }
        C::Step(_) => or(state.options.replayed.is_some(), "this works only in a recording"),
        C::Map | C::Recent => on_table().or_else(|| or(state.index.is_some(), "the first look is not done")),
        C::Mark => on_table().or_else(on_thing).or_else(has_order),
        C::Evidence => on_table().or_else(on_thing),
        C::Plan(action) => on_thing().or_else(|| elsewhere(state, top)).or_else(|| {
            let nothing = || format!("there is nothing here to {}", words::action(action));
            asked(state, top, action).is_empty().then(nothing)
        }),
        C::Acknowledge => {
            on_table().or_else(|| or(can_be_acknowledged(state), "select a window that has died or is done"))
        }
        C::Jump => on_thing().or_else(|| or(has_window(state), "no window belongs to it")),
        C::Versions => {
            on_thing().or_else(|| or(versions_of(state).is_some(), "no window's edits are known here"))
        }
        C::Peek if matches!(top, Some(Layer::Peek { .. })) || state.peek.is_beside && top.is_none() => None,
        C::Peek => on_thing().or_else(|| or(state.peekable().is_some(), "no window belongs to it")),
        C::Copy | C::CopyKey => on_thing(),
    }
}

/// Decides whether a command does what its name says: a refused plan only says why.
pub(crate) fn would_act(state: &State, top: Option<&Layer>, command: Command) -> bool {
    let is_taken = why_not(state, top, command).is_none();
    match (command, state.report()) {
        (C::Plan(action), Some(report)) if is_taken => {
            let plans = asked(state, top, action);
            // What another machine would do is its own to say.
            plans.iter().any(|request| request.machine().is_some())
                || plans
                    .iter()
                    .filter_map(|request| sheet::planned(report, request))
                    .any(|plan| plan.refusal.is_none())
        }
        _ => is_taken,
    }
}

/// Returns what an action would be asked for: what is marked, else what is open or selected.
pub(crate) fn asked(state: &State, top: Option<&Layer>, action: Action) -> Vec<Request> {
    let Some(index) = state.index.as_deref().filter(|_| state.view != View::History) else {
        return Vec::new();
    };
    let chosen: Vec<Key> = match top {
        None if !state.marks.is_empty() => state.marks.iter().cloned().collect(),
        None => state.selected().cloned().into_iter().collect(),
        Some(_) => state.subject().cloned().into_iter().collect(),
    };
    // One plan is about one machine.
    if chosen.iter().any(|key| key.machine() != chosen.first().and_then(Key::machine)) {
        return Vec::new();
    }
    let signal = |key: &Key| topmost(&index.report, key).map(|id| state.history.next_signal(id));
    let mut requests = sheet::requests(index, &chosen, action);
    for request in &mut requests {
        if let Request::Stop { key, signal: own } = request {
            *own = signal(key).unwrap_or(*own);
        }
    }
    requests
}

/// Says why what is open stays until it is closed by its own key: a plan, wherever it lies.
fn stays(state: &State) -> Option<String> {
    let sheet = state.layers.iter().find_map(Layer::sheet)?;
    match sheet.stage {
        Stage::Finished | Stage::ReadOnly => None,
        Stage::Working if sheet.machine.is_some() => {
            Some("this is being done elsewhere: Esc leaves it; what was begun continues".to_owned())
        }
        Stage::Working => Some("this is being done: Esc cancels the rest".to_owned()),
        Stage::Looking | Stage::Asking | Stage::Moved => Some("a plan is open: Esc closes it".to_owned()),
    }
}

/// Says why no plan is confirmed on this screen: what it would do must be seen.
pub(crate) fn unseen(state: &State) -> Option<String> {
    let pinned = state.panel.as_ref().map_or(0, |panel| panel.page.pinned);
    // A page that leaves no room for more is not pinned; of several plans their names follow.
    let is_seen = pinned > 0 && state.size.shows(pinned + 1);
    (!is_seen).then(|| "the screen is too small to show what it does: make it larger".to_owned())
}

fn has_machines(state: &State) -> bool {
    state.report().is_some_and(|report| !report.machines.is_empty())
}

/// Says why nothing is done to what is selected or marked: its machine cannot be asked, or there are several.
fn elsewhere(state: &State, top: Option<&Layer>) -> Option<String> {
    let marked = state.marks.iter().filter(|_| top.is_none());
    let mut machines = marked.chain(state.subject().filter(|_| top.is_some() || state.marks.is_empty()));
    let machine = machines.next()?.machine();
    if machines.any(|key| key.machine() != machine) {
        return Some("the marked rows are on several machines: a plan covers one".to_owned());
    }
    not_asked(state, machine?)
}

/// Says why a machine cannot be asked to do anything.
fn not_asked(state: &State, machine: &str) -> Option<String> {
    let view = state.report()?.machines.iter().find(|view| view.name == machine);
    let why = view.map_or(Some("it is not watched now".to_owned()), MachineView::why_no_orders)?;
    Some(format!("it is on {}: {}", safe(machine), safe(&why)))
}

/// Says why an entry cannot be undone now: it was asked of a machine that cannot be asked.
fn undone_elsewhere(state: &State, top: Option<&Layer>) -> Option<String> {
    let entry = state.history.entry(state.undoable_under(top)?)?;
    not_asked(state, &entry.intent.asked_of()?.machine)
}

fn can_be_acknowledged(state: &State) -> bool {
    let selected = state.index.as_ref().zip(state.selected());
    let is_need = |index: &Index, key: &Key| {
        index.need(key).is_some_and(|need| need.left().is_some() || need.is_done())
    };
    selected.is_some_and(|(index, key)| index.death(key).is_some() || is_need(index, key))
}

/// Returns the window whose versions would be shown.
pub(crate) fn versions_of(state: &State) -> Option<Key> {
    let (index, key) = state.index.as_deref().zip(state.subject())?;
    versions::of_window(index, key)
}

fn has_window(state: &State) -> bool {
    let about = state.index.as_deref().zip(state.subject());
    about.is_some_and(|(index, key)| sheet::window(index, key).is_some())
}
