//! The keys: one table that dispatches, that the status bar shows and that the help lists.

use {Command as C, Motion as M, Press as P};

use super::command::{Command, Motion};
use super::possible::{why_not, would_act};
use crate::app::layer::Layer;
use crate::app::msg::{Press, Step};
use crate::app::sheet::Sheet;
use crate::app::state::State;
use crate::app::table::view::View;
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
    bind(&[P::Enter], C::Pick, "Enter", "choose", "Do what the chosen line says", 2),
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
    bind(&[P::Char('P')], C::Plan(Action::Park), "P", "park", "Plan to park the file", 7),
    bind(&[P::Char('x')], C::Plan(Action::Stop), "x", "end", "Plan to end the left-over or the window", 7),
    bind(
        &[P::Char('u')],
        C::Plan(Action::Rescue),
        "u",
        "bring back",
        "Plan to bring back what a window wrote and is gone",
        5,
    ),
    bind(
        &[P::Char('V')],
        C::Versions,
        "V",
        "",
        "Versions of what the window wrote, and how they differ from the files now",
        0,
    ),
    bind(
        &[P::Char('p')],
        C::Peek,
        "p",
        "peek",
        "Look into the window: what it asks, what it said last, what its pane shows",
        5,
    ),
    bind(&[P::Char('d')], C::Details, "d", "", "Hide the details beside the table, or show them again", 0),
    bind(
        &[P::Char('R')],
        C::BringBack,
        "R",
        "resume",
        "Plan to bring the dead window back, or all that are marked: its session in a new window",
        5,
    ),
    bind(&[P::Char('z')], C::Undo, "z", "undo", "Undo the entry, or the newest that can be undone", 0),
    bind(&[P::Char('b')], C::RestoreBeside, "b", "beside", "Restore it beside the file that is there now", 1),
    bind(&[P::Char('m')], C::Merge, "m", "merge", "Merge it with the file that is there now", 1),
    bind(&[P::Char(' ')], C::Mark, "Space", "mark", "Mark it; r, m and x then plan for all marked", 0),
    bind(&[P::Char('/')], C::Filter, "/", "filter", "Show rows that contain a text; a leading ! inverts", 4),
    bind(
        &[P::Char('s')],
        C::Sort,
        "s",
        "sort",
        "Sort by the next column; then a number picks one, 0 worst first",
        8,
    ),
    bind(&[P::Char('S')], C::Reverse, "S", "", "Reverse the order", 0),
    bind(&[P::Char('c')], C::Columns, "c", "", "Choose the columns of this view", 0),
    bind(&[P::Char(' ')], C::Toggle, "Space", "show or hide", "Show or hide the column", 2),
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
    bind(&[P::Char(',')], C::Settings, ",", "", "Settings: theme, mouse, title, bell, notifications", 0),
    bind(
        &[P::Char(']')],
        C::Step(Step::MinuteOn),
        "] [",
        "a minute",
        "A minute forward and back in the recording",
        1,
    ),
    bind(&[P::Char('[')], C::Step(Step::MinuteBack), "[", "", "", 0),
    bind(
        &[P::Char('a')],
        C::Acknowledge,
        "a",
        "seen",
        "Acknowledge this death or finished window; its row goes away",
        2,
    ),
    bind(&[P::Char('J')], C::Jump, "J", "", "Go to the window's pane, or say where it is", 0),
    bind(&[P::Char('y')], C::Copy, "y", "", "Copy its path, session ID or command", 0),
    bind(&[P::Char('Y')], C::CopyKey, "Y", "", "Copy its key, for claimtop explain and release", 0),
    bind(&[P::Char('y')], C::Yes, "y", "do it", "Do what is planned", 1),
    bind(&[P::Tab], C::NextView, "Tab", "", "Next view; Shift-Tab goes back", 0),
    bind(&[P::BackTab], C::PreviousView, "Shift-Tab", "", "", 0),
    bind(
        &[P::Char('1')],
        C::Show(View::Now),
        "1-7",
        "",
        "Now, Windows, Sessions, Claims, Problems, Left-overs, History",
        0,
    ),
    bind(&[P::Char('2')], C::Show(View::Windows), "2", "", "", 0),
    bind(&[P::Char('3')], C::Show(View::Sessions), "3", "", "", 0),
    bind(&[P::Char('4')], C::Show(View::Claims), "4", "", "", 0),
    bind(&[P::Char('5')], C::Show(View::Problems), "5", "", "", 0),
    bind(&[P::Char('6')], C::Show(View::LeftOvers), "6", "", "", 0),
    bind(&[P::Char('7')], C::Show(View::History), "7", "", "", 0),
    bind(&[P::Char('8')], C::Show(View::Machines), "8", "", "", 0),
    bind(
        &[P::Char('j'), P::Down, P::Ctrl('n')],
        C::Move(M::Down),
        "j k",
        "",
        "Down and up; also the arrows",
        0,
    ),
    bind(&[P::Char('k'), P::Up, P::Ctrl('p')], C::Move(M::Up), "k", "", "", 0),
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
    bind(
        &[P::Char('h'), P::Left],
        C::Move(M::Left),
        "h l",
        "",
        "To the pane or choice on the left and right; also the arrows",
        0,
    ),
    bind(&[P::Char('l'), P::Right], C::Move(M::Right), "l", "", "", 0),
    bind(&[P::Char(':')], C::Palette, ":", "commands", "Every command by its name", 9),
    bind(&[P::Esc], C::Back, "Esc", "back", "Close what was opened last; never quits", 1),
    bind(&[P::Char('?')], C::Help, "?", "keys", "This list", 10),
    bind(&[P::Char('q')], C::Close, "q", "close", "Close this; if nothing is open, q quits", 11),
    bind(&[P::Char('q')], C::Leave, "q", "quit", "Quit; also Ctrl-c, from anywhere", 11),
    bind(&[P::Ctrl('c')], C::Quit, "Ctrl-c", "", "", 0),
];

/// What a key means now.
#[derive(Clone, Debug)]
pub(crate) enum Meaning {
    Does(Command),
    /// It would do nothing here, for this reason.
    Idle(String),
}

/// Returns what a key means now; `None` where there is nothing to say about it.
pub(crate) fn lookup(state: &State, press: Press) -> Option<Meaning> {
    let bound = || BINDINGS.iter().filter(|binding| binding.presses.contains(&press));
    let why_not = |binding: &Binding| why_not(state, state.layers.last(), binding.command);
    match bound().find(|binding| why_not(binding).is_none()) {
        Some(binding) => Some(Meaning::Does(binding.command)),
        None => bound().find(|binding| says_why(state, binding.command)).and_then(why_not).map(Meaning::Idle),
    }
}

/// Decides whether a command that would do nothing says why; moving and closing do not.
fn says_why(state: &State, command: Command) -> bool {
    match command {
        C::Show(_)
        | C::NextView
        | C::PreviousView
        | C::Filter
        | C::Sort
        | C::Reverse
        | C::SortBy(_)
        | C::Columns
        | C::Palette
        | C::NextProblem
        | C::PreviousProblem
        | C::Mark
        | C::Plan(_)
        | C::Acknowledge
        | C::Jump
        | C::Versions
        | C::Peek
        | C::BringBack
        | C::Details
        | C::Settings
        | C::Recent
        | C::Map
        | C::Diagnosis
        | C::Record => true,
        // A sheet shows its own result.
        C::Undo => state.sheet().is_none(),
        C::Yes => state.sheet().is_some_and(Sheet::takes_yes),
        C::Move(_)
        | C::Evidence
        | C::Toggle
        | C::Pick
        | C::RestoreBeside
        | C::Merge
        | C::Freeze
        | C::Copy
        | C::CopyKey
        | C::Step(_)
        | C::Help
        | C::Back
        | C::Repaint
        | C::Suspend
        | C::Close
        | C::Leave
        | C::Quit => false,
    }
}

/// Returns the bindings that would do something while this layer is on top.
pub(crate) fn active_under(state: &State, top: Option<&Layer>) -> impl Iterator<Item = &'static Binding> {
    BINDINGS.iter().filter(move |binding| would_act(state, top, binding.command))
}

/// Returns the bindings for the status bar, the most useful first: what helps the selected
/// thing, then the rest by rank.
pub(crate) fn useful(state: &State) -> Vec<&'static Binding> {
    let remedies = crate::app::page::summary::remedies_here(state);
    let is_remedy = |command| remedies.iter().any(|remedy| helps(*remedy, command));
    let is_shown = |binding: &&Binding| {
        binding.rank > 0
            && (!matches!(binding.command, C::Plan(_)) || is_remedy(binding.command))
            && why_not(state, state.layers.last(), binding.command).is_none()
    };
    let mut bindings: Vec<_> = BINDINGS.iter().filter(is_shown).collect();
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
        Remedy::Stop => command == C::Plan(Action::Stop),
        Remedy::Rescue => command == C::Plan(Action::Rescue),
        Remedy::None => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_key_means_two_things() {
        let mut seen: Vec<Press> = Vec::new();
        // Where a layer is open some mean another thing, never both.
        let is_other = |binding: &&Binding| {
            !matches!(binding.command, C::Yes | C::Merge | C::Leave | C::Toggle | C::Pick | C::Settings)
        };
        for press in BINDINGS.iter().filter(is_other).flat_map(|binding| binding.presses) {
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
