//! What the open panel and the detail pane say.

use super::panel::Panel;
use crate::app::keys::command::Command;
use crate::app::keys::purpose::Purpose;
use crate::app::keys::{keymap, palette};
use crate::app::layer::Layer;
use crate::app::page::entry;
use crate::app::page::{bring_back, diagnosis, map, past, peek, settings, versions};
use crate::app::rows::history;
use crate::app::sheet;
use crate::app::state::{Pane, State};
use crate::app::table::chooser;
use crate::app::table::geometry::Detail;
use crate::app::table::view::View;
use crate::core::model::Key;
use crate::present::ladder;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::words;

/// Writes the open panel and the detail pane anew, after the state has changed.
pub(crate) fn renew(state: &mut State) {
    state.panel = panel(state);
    state.detail = if state.panel.is_none() { detail(state) } else { None };
    if let (Pane::Details { scroll }, None) = (state.pane, &state.panel) {
        let page = state.detail_lines();
        state.pane = match &state.detail {
            Some(details) => Pane::Details { scroll: scroll.min(details.lines.len().saturating_sub(page)) },
            None => Pane::Table,
        };
    }
    // No panel is scrolled past its end, and what is chosen stays in sight.
    let (last, lines) = (state.last_line(), state.size.panel_lines());
    let (Some(panel), Some(layer)) = (&state.panel, state.layers.last_mut()) else { return };
    if let Some(at) = layer.at_mut() {
        *at = (*at).min(panel.choices.len().saturating_sub(1));
    }
    let chosen =
        panel.choices.get(layer.chosen()).and_then(|choice| choice.line.checked_sub(panel.page.pinned));
    let page = lines.saturating_sub(panel.page.pinned).max(1);
    let scroll = layer.scroll_mut();
    if let Some(chosen) = chosen {
        *scroll = (*scroll).clamp((chosen + 1).saturating_sub(page), chosen);
    }
    *scroll = (*scroll).min(last);
}

/// Returns the panel on top, if one is open.
fn panel(state: &State) -> Option<Panel> {
    let layer = state.layers.last()?;
    let is_drawing = matches!(layer, Layer::Map { .. });
    let width = if is_drawing { state.size.drawing_width() } else { state.size.panel_width() };
    let mut page = Page::new(width, state.told_at()).in_zone(&state.options.zone);
    let mut choices = Vec::new();
    let title = match layer {
        Layer::Evidence { key, .. } => write_evidence(&mut page, state, key),
        Layer::Sheet(open) => {
            sheet::write(&mut page, open);
            format!("Plan: {}", words::action(open.action))
        }
        Layer::Map { .. } => {
            if let Some(index) = &state.index {
                choices = map::write(&mut page, index, state.size.panel_lines());
            }
            "Map: who holds what".to_owned()
        }
        Layer::Versions { key, .. } => versions::write(&mut page, state, key),
        Layer::Peek { key, .. } => peek::write(&mut page, state, key),
        Layer::BringBack { sessions, .. } => bring_back::write(&mut page, state, sessions),
        Layer::Recent { .. } => past::write_recent(&mut page, state),
        Layer::Diagnosis { .. } => diagnosis::write(&mut page, state),
        Layer::Palette(palette) => {
            choices = palette::write(&mut page, state, palette);
            "Commands".to_owned()
        }
        Layer::Columns { .. } => {
            let (title, columns) = chooser::write(&mut page, state);
            choices = columns;
            title
        }
        Layer::Settings { .. } => {
            choices = settings::write(&mut page, state);
            "Settings".to_owned()
        }
        Layer::Help { .. } => write_help(&mut page, state),
    };
    // What would leave no room for the rest is scrolled with it.
    page.pinned = if page.pinned < state.size.panel_lines() { page.pinned } else { 0 };
    let keys = if state.takes_text() || matches!(layer, Layer::Palette(_)) { "arrows" } else { "j k" };
    Some(Panel { title, page, choices, keys })
}

/// Returns the page of the detail pane for the selected row.
fn detail(state: &State) -> Option<Page> {
    let place = state.beside();
    if place == Detail::None {
        return None;
    }
    let key = state.subject()?;
    let page = || Page::new(state.size.detail_width(place), state.told_at()).in_zone(&state.options.zone);
    if let Some(window) = state.peeked() {
        let mut page = page();
        let title = peek::write(&mut page, state, &window);
        page.lines.insert(0, Line::new(&title, Tone::Accent));
        return Some(page);
    }
    let written = |mut page: Page| {
        write_evidence(&mut page, state, key);
        page
    };
    let whole = written(page());
    // Where there is no room for all, what to do comes before what says so, until it is scrolled.
    let fits = state.pane != Pane::Table || whole.lines.len() <= state.detail_lines();
    Some(if fits { whole } else { written(page().folding()) })
}

fn write_evidence(page: &mut Page, state: &State, key: &Key) -> String {
    if let Some(entry) = state.entry(key) {
        return entry::write(page, entry);
    }
    if let Some(one) = history::of_key(&state.timeline, key) {
        return past::write(page, one, &state.timeline);
    }
    let Some(index) = &state.index else { return String::new() };
    let title = ladder::write(page, index, key);
    past::write_of(page, &state.timeline, key);
    title
}

/// Returns the digits of the views that have something here, and their names.
fn view_keys(state: &State) -> (String, String) {
    let views: Vec<View> = state.views().collect();
    let digits: Vec<String> = views.iter().map(|view| view.digit().to_string()).collect();
    let names: Vec<&str> = views.iter().map(|view| view.title()).collect();
    (digits.join(" "), names.join(", "))
}

/// Lists the keys that are active beneath the help.
fn write_help(page: &mut Page, state: &State) -> String {
    let beneath = state.layers.iter().rev().nth(1);
    let active: Vec<_> =
        keymap::active_under(state, beneath).filter(|binding| !binding.help.is_empty()).collect();
    for purpose in Purpose::ALL {
        let mut of_it =
            active.iter().filter(|binding| Purpose::of_command(binding.command) == purpose).peekable();
        if of_it.peek().is_some() {
            page.heading(purpose.heading());
        }
        of_it.for_each(|binding| {
            let views = matches!(binding.command, Command::Show(_)).then(|| view_keys(state));
            let words = views.as_ref().map(|(keys, names)| (keys.as_str(), names.as_str()));
            let (keys, help) = words.unwrap_or((binding.keys, binding.help));
            page.field(keys, help, Tone::Plain);
        });
    }
    page.gap();
    page.text("To find one by a word: close this, then : and the word.", Tone::Dim);
    "Keys that are active now".to_owned()
}
