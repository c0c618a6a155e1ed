//! The keys: one table that dispatches, that the status bar shows and that the help lists.

use {Command as C, Motion as M, Press as P};

use super::command::{Command, Motion};
use super::filter::Focus;
use super::layer::Layer;
use super::msg::{Press, Step};
use super::sheet::Sheet;
use super::state::State;
use super::view::View;
use crate::core::model::{Action, Remedy};

/// A command with its keys and what is said about it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Binding {
    pub(crate) presses: &'static [Press],
    pub(crate) command: Command,
    /// The keys for people.
    pub(crate) keys: &'static str,
    /// One or two words for the status bar.
    pub(crate) short: &'static str,
    /// One sentence for the help; nothing when another line of the table says it.
    pub(crate) help: &'static str,
    /// Its place in the status bar, small first; 0 is not there.
    pub(crate) rank: u8,
}

const fn bind(
    presses: &'static [Press],
    command: Command,
    keys: &'static str,
    short: &'static str,
    help: &'static str,
    rank: u8,
) -> Binding {
    Binding { presses, command, keys, short, help, rank }
}

/// Every key, in the order of the help.
pub(crate) const BINDINGS: &[Binding] = &[
    bind(
        &[P::Enter],
        C::Evidence,
        "Enter",
        "why",
        "Evidence: what is known about it, and where it was read",
        2,
    ),
    bind(&[P::Char('n')], C::NextProblem, "n", "next problem", "Next row with a problem", 3),
    bind(&[P::Char('N')], C::PreviousProblem, "N", "", "Previous row with a problem", 0),
    bind(
        &[P::Char('r')],
        C::Plan(Action::Release),
        "r",
        "release",
        "Plan its release; the plan is shown first",
        5,
    ),
    bind(
        &[P::Char('m')],
        C::Plan(Action::Migrate),
        "m",
        "migrate",
        "Plan the migration of a legacy record to its current form",
        6,
    ),
    bind(&[P::Char('x')], C::Plan(Action::Park), "x", "park", "Plan to park the file", 7),
    bind(&[P::Char('z')], C::Undo, "z", "undo", "Undo the entry, or the newest that can be undone", 0),
    bind(&[P::Char('b')], C::RestoreBeside, "b", "beside", "Restore it beside the file that is there now", 1),
    bind(&[P::Char(' ')], C::Mark, "Space", "mark", "Mark it; r, m and x then plan for all marked", 0),
    bind(&[P::Char('/')], C::Filter, "/", "filter", "Show rows that contain a text; a leading ! inverts", 4),
    bind(&[P::Char('s')], C::Sort, "s", "sort", "Sort by the next column", 8),
    bind(&[P::Char('S')], C::Reverse, "S", "", "Reverse the order", 0),
    bind(&[P::Char('f')], C::Freeze, "f", "freeze", "Freeze the screen, or resume live updates", 9),
    bind(
        &[P::Char('v')],
        C::Map,
        "v",
        "",
        "Map of windows, records and what they hold, collisions marked",
        0,
    ),
    bind(&[P::Char('D')], C::Diagnosis, "D", "", "What claimtop itself reads, watches and costs", 0),
    bind(&[P::Char('t')], C::Recent, "t", "", "What has changed in the last ten minutes", 0),
    bind(&[P::Char('w')], C::Record, "w", "", "Record what is seen to a file, or stop recording", 0),
    bind(
        &[P::Char('.'), P::Char('>')],
        C::Step(Step::Next),
        ". ,",
        "next, previous",
        "Next and previous change in the recording",
        1,
    ),
    bind(&[P::Char(','), P::Char('<')], C::Step(Step::Previous), ",", "", "", 0),
    bind(
        &[P::Char(']')],
        C::Step(Step::MinuteOn),
        "] [",
        "a minute",
        "A minute forward and back in the recording",
        1,
    ),
    bind(&[P::Char('[')], C::Step(Step::MinuteBack), "[", "", "", 0),
    bind(&[P::Char('J')], C::Jump, "J", "", "Go to the window's pane, or say where it is", 0),
    bind(&[P::Char('y')], C::Copy, "y", "", "Copy its PID, path or key", 0),
    bind(&[P::Char('y')], C::Yes, "y", "do it", "Do what is planned", 1),
    bind(&[P::Tab], C::NextView, "Tab", "", "Next view; Shift-Tab goes back", 0),
    bind(&[P::BackTab], C::PreviousView, "Shift-Tab", "", "", 0),
    bind(
        &[P::Char('1')],
        C::Show(View::Now),
        "1-6",
        "",
        "Now, Windows, Sessions, Claims, Problems, History",
        0,
    ),
    bind(&[P::Char('2')], C::Show(View::Windows), "2", "", "", 0),
    bind(&[P::Char('3')], C::Show(View::Sessions), "3", "", "", 0),
    bind(&[P::Char('4')], C::Show(View::Claims), "4", "", "", 0),
    bind(&[P::Char('5')], C::Show(View::Problems), "5", "", "", 0),
    bind(&[P::Char('6')], C::Show(View::History), "6", "", "", 0),
    bind(&[P::Char('j'), P::Down], C::Move(M::Down), "j k", "", "Down and up; also the arrows", 0),
    bind(&[P::Char('k'), P::Up], C::Move(M::Up), "k", "", "", 0),
    bind(&[P::Char('g'), P::Home], C::Move(M::First), "g G", "", "First and last; also Home and End", 0),
    bind(&[P::Char('G'), P::End], C::Move(M::Last), "G", "", "", 0),
    bind(
        &[P::Ctrl('d')],
        C::Move(M::HalfDown),
        "Ctrl-d Ctrl-u",
        "",
        "Half a page down and up; PgDn and PgUp move a whole page",
        0,
    ),
    bind(&[P::Ctrl('u')], C::Move(M::HalfUp), "Ctrl-u", "", "", 0),
    bind(&[P::PageDown], C::Move(M::PageDown), "PgDn", "", "", 0),
    bind(&[P::PageUp], C::Move(M::PageUp), "PgUp", "", "", 0),
    bind(&[P::Ctrl('l')], C::Repaint, "Ctrl-l", "", "Draw everything again", 0),
    bind(&[P::Ctrl('z')], C::Suspend, "Ctrl-z", "", "Back to the shell until fg", 0),
    bind(&[P::Esc], C::Back, "Esc", "back", "Close what was opened last; never quits", 1),
    bind(&[P::Char('?')], C::Help, "?", "keys", "This list", 10),
    bind(&[P::Char('q'), P::Ctrl('c')], C::Quit, "q", "quit", "Quit; also Ctrl-c", 11),
];

pub(crate) fn lookup(state: &State, press: Press) -> Option<&'static Binding> {
    active(state).find(|binding| binding.presses.contains(&press))
}

/// Returns the bindings that do something now.
pub(crate) fn active(state: &State) -> impl Iterator<Item = &'static Binding> {
    active_under(state, state.layers.last())
}

/// Returns the bindings that do something while this layer is on top.
pub(crate) fn active_under(state: &State, top: Option<&Layer>) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |binding| is_active(state, top, binding.command))
}

/// Returns the bindings for the status bar, the most useful first: what helps the selected
/// thing, then the rest by rank.
pub(crate) fn useful(state: &State) -> Vec<&'static Binding> {
    let remedies = super::summary::remedies_here(state);
    let is_remedy = |command| remedies.iter().any(|remedy| helps(*remedy, command));
    let is_shown = |binding: &&Binding| {
        binding.rank > 0 && (!matches!(binding.command, C::Plan(_)) || is_remedy(binding.command))
    };
    let mut bindings: Vec<_> = active(state).filter(is_shown).collect();
    bindings.sort_by_key(|binding| (!is_remedy(binding.command), binding.rank));
    bindings
}

/// Decides whether a command is the remedy.
pub(crate) fn helps(remedy: Remedy, command: Command) -> bool {
    match remedy {
        Remedy::Release => command == C::Plan(Action::Release),
        Remedy::Migrate => command == C::Plan(Action::Migrate),
        Remedy::Park => command == C::Plan(Action::Park),
        Remedy::Undo => command == C::Undo,
        Remedy::None => false,
    }
}

/// Decides whether a command does something while this layer is on top.
fn is_active(state: &State, top: Option<&Layer>, command: Command) -> bool {
    let has_selection = state.selected().is_some();
    let sheet = top.and_then(Layer::sheet);
    match command {
        C::Quit | C::Repaint | C::Suspend => true,
        C::Back => top.is_some() || !state.filter.text.is_empty() || !state.marks.is_empty(),
        C::Help => !matches!(top, Some(Layer::Help { .. })) && state.filter.focus == Focus::Table,
        C::Move(_) => top.is_some() || !state.table.rows.is_empty(),
        C::Show(_) | C::NextView | C::PreviousView => top.is_none(),
        C::Undo => top.is_none() || state.undoable_under(top).is_some(),
        C::Yes => sheet.is_some_and(Sheet::takes_yes) && !state.options.access.is_read_only(),
        C::RestoreBeside => sheet.is_some_and(Sheet::takes_beside),
        C::Freeze => state.index.is_some() && !matches!(top, Some(Layer::Help { .. })),
        C::Filter => top.is_none(),
        C::Sort | C::Reverse => top.is_none() && state.view != View::History,
        C::Record => top.is_none() && state.options.tape.is_on(),
        C::Step(_) => state.options.replayed.is_some(),
        C::Diagnosis => top.is_none(),
        C::Map | C::Recent => top.is_none() && state.index.is_some(),
        C::NextProblem | C::PreviousProblem => {
            top.is_none() && state.table.rows.iter().any(|row| row.severity.is_some())
        }
        C::Mark => top.is_none() && has_selection && state.view != View::History,
        C::Evidence => top.is_none() && has_selection,
        C::Plan(_) => {
            has_selection && state.view != View::History && matches!(top, None | Some(Layer::Evidence { .. }))
        }
        C::Jump | C::Copy => has_selection && matches!(top, None | Some(Layer::Evidence { .. })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let mut seen: Vec<Press> = Vec::new();
        // `y` copies, and confirms where a sheet is open: never both.
        for press in BINDINGS.iter().filter(|binding| binding.command != C::Yes).flat_map(|b| b.presses) {
            assert!(!seen.contains(press), "{press:?} is bound twice");
            seen.push(*press);
        }
    }

    #[test]
    fn what_the_status_bar_shows_is_in_the_help_too() {
        for binding in BINDINGS.iter().filter(|binding| binding.rank > 0) {
            assert!(!binding.help.is_empty() && !binding.short.is_empty(), "{}", binding.keys);
        }
    }
}
