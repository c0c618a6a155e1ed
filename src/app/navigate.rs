//! Moving: the selection in the table, or the lines of an open panel.

use super::state::{Pane, State};
use crate::app::keys::command::Motion;
use crate::app::page::panel::Choice;
use crate::core::model::KeyKind;

pub(crate) fn go(state: &mut State, motion: Motion) {
    if let Some(panel) = &state.panel {
        let page = state.size.panel_lines().saturating_sub(panel.page.pinned);
        let chosen =
            state.layers.last().map_or(0, |layer| choose(&panel.choices, layer.chosen(), page, motion));
        let last = state.last_line();
        let Some(layer) = state.layers.last_mut() else { return };
        if let Some(at) = layer.at_mut() {
            *at = chosen;
        } else {
            let scroll = layer.scroll_mut();
            *scroll = target(*scroll, last, page, motion);
        }
        return;
    }
    match (motion, state.pane) {
        (Motion::Left, _) => state.pane = Pane::Table,
        (Motion::Right, Pane::Table) if state.detail.is_some() => state.pane = Pane::Details { scroll: 0 },
        (_, Pane::Details { .. }) => scroll_details(state, motion),
        (_, Pane::Table) => {
            let last = state.table.rows.len().saturating_sub(1);
            select(state, target(state.place().at, last, state.page(), motion));
        }
    }
}

/// Scrolls the pane beside the table, which the keys then are for.
pub(crate) fn scroll_details(state: &mut State, motion: Motion) {
    let page = state.detail_lines();
    let lines = state.detail.as_ref().map_or(0, |page| page.lines.len());
    let scroll = target(state.pane.scroll(), lines.saturating_sub(page), page, motion);
    state.pane = Pane::Details { scroll };
}

/// Returns the choice to which a motion leads: beside it, or in another line the nearest.
fn choose(choices: &[Choice], at: usize, page: usize, motion: Motion) -> usize {
    let last = choices.len().saturating_sub(1);
    let Some(chosen) = choices.get(at) else { return last };
    match motion {
        Motion::Left => return at.saturating_sub(1),
        Motion::Right => return (at + 1).min(last),
        Motion::Up
        | Motion::Down
        | Motion::HalfUp
        | Motion::HalfDown
        | Motion::PageUp
        | Motion::PageDown
        | Motion::First
        | Motion::Last => {}
    }
    let mut lines: Vec<usize> = choices.iter().map(|choice| choice.line).collect();
    lines.dedup();
    let line = lines.iter().position(|line| *line == chosen.line).unwrap_or(0);
    let line = lines.get(target(line, lines.len().saturating_sub(1), page, motion));
    let nearest = |(_, choice): &(usize, &Choice)| choice.columns.0.abs_diff(chosen.columns.0);
    let there = choices.iter().enumerate().filter(|(_, choice)| Some(&choice.line) == line);
    there.min_by_key(nearest).map_or(at, |(at, _)| at)
}

fn target(at: usize, last: usize, page: usize, motion: Motion) -> usize {
    let half = (page / 2).max(1);
    let to = match motion {
        Motion::Up => at.saturating_sub(1),
        Motion::Down => at + 1,
        Motion::HalfUp => at.saturating_sub(half),
        Motion::HalfDown => at + half,
        Motion::PageUp => at.saturating_sub(page),
        Motion::PageDown => at + page,
        Motion::First => 0,
        Motion::Last => last,
        Motion::Left | Motion::Right => at,
    };
    to.min(last)
}

pub(crate) fn select(state: &mut State, at: usize) {
    state.pane = Pane::Table;
    let key = state.table.rows.get(at).map(|row| row.key.clone());
    let place = state.places.of_mut(state.view);
    place.at = at;
    place.selected = key;
    state.scroll_to_selection();
    let window = state.selected().filter(|key| key.kind() == Some(KeyKind::Window)).cloned();
    if let Some(window) = window {
        state.see(&window);
    }
}

/// In which direction to look for a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Toward {
    /// Down, and from the end to the beginning.
    Next,
    /// Up, and from the beginning to the end.
    Previous,
}

/// Goes to the nearest other row with a problem, round the end.
pub(crate) fn seek_problem(state: &mut State, toward: Toward) {
    // Where something needs a person, that is what goes on from one to the next.
    let rows = match state.table.pinned {
        0 => state.table.rows.as_slice(),
        pinned => state.table.rows.get(..pinned).unwrap_or_default(),
    };
    let at = state.place().at.min(rows.len());
    let has_problem = |at: &usize| rows.get(*at).is_some_and(|row| row.severity.is_some());
    let (before, after) = (0..at, at + 1..rows.len());
    let found = match toward {
        Toward::Next => after.chain(before).find(has_problem),
        Toward::Previous => before.rev().chain(after.rev()).find(has_problem),
    };
    match found {
        Some(found) => select(state, found),
        None => state.message = Some("No other problem in this view".to_owned()),
    }
}
