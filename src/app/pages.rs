//! What the open panel and the detail pane say.

use jiff::Timestamp;

use super::geometry::Detail;
use super::layer::Layer;
use super::state::{Picture, State};
use crate::app::entry;
use crate::app::{diagnosed, keymap, mapped, past, sheet};
use crate::core::model::key::Key;
use crate::present::ladder;
use crate::present::page::Page;
use crate::present::tone::Tone;
use crate::present::words;

/// An open panel.
#[derive(Clone, Debug)]
pub struct Panel {
    /// What it is about.
    pub title: String,
    /// All of its lines.
    pub page: Page,
    /// The first line shown of those that are not pinned.
    pub scroll: usize,
    /// The keys that scroll it.
    pub keys: &'static str,
}

/// Returns the panel on top, if one is open.
pub fn panel(state: &State) -> Option<Panel> {
    let layer = state.layers.last()?;
    let mut page = Page::new(state.size.panel_width(), state.told_at());
    let title = match layer {
        Layer::Evidence { key, .. } => write_evidence(&mut page, state, key),
        Layer::Sheet(open) => {
            sheet::write(&mut page, open);
            format!("Plan: {}", words::action(open.action))
        }
        Layer::Map { .. } => match state.report() {
            Some(report) => mapped::write(&mut page, report),
            None => String::new(),
        },
        Layer::Lately { .. } => past::write_lately(&mut page, state),
        Layer::Itself { .. } => diagnosed::write(&mut page, state),
        Layer::Help { .. } => write_help(&mut page, state),
    };
    // What would leave no room for the rest is scrolled with it.
    page.pinned = if page.pinned < state.size.panel_lines() { page.pinned } else { 0 };
    let keys = if state.takes_text() { "arrows" } else { "j k" };
    Some(Panel { title, page, scroll: layer.scroll(), keys })
}

/// Returns the page of the detail pane for the selected row.
pub fn detail(state: &State) -> Option<Page> {
    if state.size.detail(state.table.rows.len()) == Detail::None {
        return None;
    }
    let mut page = Page::new(state.size.detail_width(state.table.rows.len()), state.told_at());
    write_evidence(&mut page, state, state.selected()?);
    Some(page)
}

fn write_evidence(page: &mut Page, state: &State, key: &Key) -> String {
    if let Some(entry) = state.entry(key) {
        return entry::write(page, entry);
    }
    if let Some(one) = past::of_key(&state.timeline, key) {
        return past::write(page, one, &state.timeline);
    }
    let Some(index) = &state.index else { return String::new() };
    let title = ladder::write(page, index, key);
    past::write_of(page, &state.timeline, key);
    title
}

/// Lists the keys that are active beneath the help.
fn write_help(page: &mut Page, state: &State) -> String {
    let mut beneath = state.clone();
    beneath.layers.pop();
    for binding in keymap::active(&beneath).filter(|binding| !binding.help.is_empty()) {
        page.field(binding.keys, binding.help, Tone::Plain);
    }
    "Keys that are active now".to_owned()
}

/// Keeps the open panel from being scrolled past its end.
pub(crate) fn clamp_scroll(state: &mut State) {
    let length = panel(state).map_or(0, |panel| panel.page.lines.len());
    let last = length.saturating_sub(state.size.panel_lines());
    if let Some(layer) = state.layers.last_mut() {
        let scroll = layer.scroll_mut();
        *scroll = (*scroll).min(last);
    }
}

/// Returns the moments whose ages are on the screen.
pub(crate) fn moments(state: &State) -> impl Iterator<Item = Timestamp> {
    let told = match state.picture {
        Picture::Frozen(at) => vec![at],
        Picture::Live => match panel(state) {
            Some(panel) => panel.page.moments,
            None => {
                let cells = state.visible().iter().flat_map(|row| &row.cells);
                let rows = cells.filter_map(|cell| cell.since);
                rows.chain(detail(state).into_iter().flat_map(|page| page.moments)).collect()
            }
        },
    };
    told.into_iter()
}
