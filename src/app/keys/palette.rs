//! The palette: every command and view by its name, found by a few of its letters.

use super::command::Command;
use super::keymap::BINDINGS;
use super::possible::{why_not, would_act};
use crate::app::layer::{Layer, Palette};
use crate::app::msg::{Effect, Press};
use crate::app::page::panel::{Choice, Pick};
use crate::app::state::State;
use crate::app::table::filter::edit;
use crate::present::text::page::Page;
use crate::present::text::tone::{Line, Tone};
use crate::present::text::{count, width};

/// One command as the palette shows it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) name: String,
    pub(crate) key: String,
    pub(crate) command: Command,
    /// Why it would do nothing here.
    pub(crate) why_not: Option<String>,
}

/// How well a name is matched, best first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Match {
    /// It begins with what was typed.
    Start,
    /// One of its words does.
    Word,
    /// It contains each typed word.
    Part,
    /// It contains the typed letters in their order.
    Letters,
}

/// Returns the commands that what was typed leaves, the best first; what does nothing here comes last.
pub(crate) fn matching(state: &State, text: &str) -> Vec<Entry> {
    let beneath = state.layers.iter().rev().find(|layer| !matches!(layer, Layer::Palette(_)));
    let typed = text.trim().to_lowercase();
    let mut found: Vec<(Match, Entry)> = commands(state)
        .into_iter()
        .filter_map(|(name, key, command)| {
            let found = matched(&name.to_lowercase(), &typed)?;
            let why_not = idle(state, beneath, command);
            Some((found, Entry { name, key, command, why_not }))
        })
        .collect();
    found.sort_by_key(|(found, entry)| (*found, entry.why_not.is_some()));
    found.into_iter().map(|(_, entry)| entry).collect()
}

/// Says why a command would do nothing beneath the palette.
fn idle(state: &State, beneath: Option<&Layer>, command: Command) -> Option<String> {
    let refused = || "its plan says why not".to_owned();
    why_not(state, beneath, command).or_else(|| (!would_act(state, beneath, command)).then(refused))
}

/// Returns all commands that have a name, with their keys; of the views those that have something here.
fn commands(state: &State) -> Vec<(String, String, Command)> {
    let bound = BINDINGS.iter().filter_map(|binding| {
        let key = binding.presses.first().map_or_else(String::new, |press| press.name());
        Some((binding.command.name()?, key, binding.command))
    });
    let columns = state.table.columns.iter().enumerate().map(|(at, column)| {
        let key = if at < 9 { format!("s {}", at + 1) } else { String::new() };
        (format!("sort by {}", column.title), key, Command::SortBy(Some(at)))
    });
    let views = state.views();
    let views =
        views.map(|view| (format!("show {}", view.title()), view.digit().to_string(), Command::Show(view)));
    let worst = ("sort with the worst first".to_owned(), "s 0".to_owned(), Command::SortBy(None));
    bound.chain(views).chain([worst]).chain(columns).collect()
}

fn matched(name: &str, typed: &str) -> Option<Match> {
    let mut letters = name.chars();
    let is_in = |typed: char, letters: &mut std::str::Chars<'_>| letters.any(|letter| letter == typed);
    if name.starts_with(typed) {
        Some(Match::Start)
    } else if name.split(' ').any(|word| word.starts_with(typed)) {
        Some(Match::Word)
    } else if typed.split_whitespace().all(|word| name.contains(word)) {
        Some(Match::Part)
    } else if typed.chars().filter(|c| !c.is_whitespace()).all(|c| is_in(c, &mut letters)) {
        Some(Match::Letters)
    } else {
        None
    }
}

/// Gives a key to the palette; `None` when it is not for it.
pub(crate) fn typed(state: &mut State, press: Press) -> Option<Vec<Effect>> {
    let Some(Layer::Palette(palette)) = state.layers.last() else { return None };
    let chosen = matching(state, &palette.text).into_iter().nth(palette.at);
    let Some(Layer::Palette(palette)) = state.layers.last_mut() else { return None };
    if press == Press::Tab {
        palette.text = chosen.map_or_else(|| palette.text.clone(), |entry| entry.name);
    } else if !edit(&mut palette.text, press) {
        return None;
    }
    palette.at = 0;
    Some(vec![Effect::Redraw])
}

/// Writes what was typed, and below it the commands that match.
pub(crate) fn write(page: &mut Page, state: &State, palette: &Palette) -> Vec<Choice> {
    let found = matching(state, &palette.text);
    let kept = Line::new(":", Tone::Key).then(&palette.text, Tone::Strong).then("▌", Tone::Accent);
    page.lines.push(kept.then(&format!("  {}", count(found.len(), "command")), Tone::Dim));
    page.pin();
    if found.is_empty() {
        page.text("No matching command.", Tone::Dim);
    }
    let widest = found.iter().map(|entry| width(&entry.name)).max().unwrap_or(0);
    let mut choices = Vec::new();
    for entry in found {
        let name = format!("{:widest$}  ", entry.name);
        let key = format!("{:9} ", entry.key);
        let line = match &entry.why_not {
            None => Line::new(&name, Tone::Strong).then(&key, Tone::Key),
            Some(why) => Line::new(&name, Tone::Dim).then(&key, Tone::Dim).then(why, Tone::Dim),
        };
        choices.push(Choice::line(page.lines.len(), Pick::Command(entry.command, entry.why_not)));
        page.lines.push(line);
    }
    choices
}
