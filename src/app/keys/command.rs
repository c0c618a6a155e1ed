//! What a key can ask for.

use crate::app::table::view::View;
use crate::core::model::Action;
use crate::present::words;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Command {
    /// Move the selection, or scroll what is open.
    Move(Motion),
    Show(View),
    /// Show the view on the right.
    NextView,
    /// Show the view on the left.
    PreviousView,
    /// Open the evidence of the selected thing.
    Evidence,
    Filter,
    /// Sort by the next column.
    Sort,
    /// Sort by this column, or the worst first.
    SortBy(Option<usize>),
    /// Reverse the order.
    Reverse,
    /// Choose the columns of the view.
    Columns,
    /// Show or hide the chosen column.
    Toggle,
    /// Go to the next row with a problem.
    NextProblem,
    /// Go to the row with a problem before.
    PreviousProblem,
    /// Mark or unmark the selected thing.
    Mark,
    Plan(Action),
    /// Undo the selected entry, or the newest.
    Undo,
    /// Confirm what is offered.
    Yes,
    /// Restore beside what has come to the place.
    RestoreBeside,
    /// Merge with what has come to the place.
    Merge,
    /// Keep the picture, or let it live again.
    Freeze,
    /// Acknowledge the selected death.
    Acknowledge,
    /// Go to the window's terminal or pane.
    Jump,
    /// Copy what is of most use of the selected thing.
    Copy,
    /// Copy the key of the selected thing.
    CopyKey,
    /// Show the versions of what a window wrote.
    Versions,
    /// Look into the window.
    Peek,
    /// Hide the details beside the table, or show them.
    Details,
    /// Show what can be set.
    Settings,
    /// Bring back dead windows.
    BringBack,
    /// Show what has changed lately.
    Recent,
    /// Show the map of who holds what.
    Map,
    /// Shows what claimtop itself reads, watches and costs.
    Diagnosis,
    /// Begin a recording, or end it.
    Record,
    /// Go to another look of a recording.
    Step(Step),
    /// Find a command by its name.
    Palette,
    /// Do what the chosen line of a panel stands for.
    Pick,
    /// List the keys.
    Help,
    /// Close what was opened last.
    Back,
    /// Draw everything again.
    Repaint,
    /// Stop until continued.
    Suspend,
    /// Close the layer on top.
    Close,
    /// Quit where nothing is open.
    Leave,
    /// Quit from anywhere.
    Quit,
}

impl Command {
    /// Returns its name in the palette; `None` for what means something only where one is.
    pub(crate) fn name(self) -> Option<String> {
        let name = match self {
            Self::NextView => "next view",
            Self::PreviousView => "previous view",
            Self::Evidence => "evidence",
            Self::Filter => "filter",
            Self::Sort => "sort by the next column",
            Self::Reverse => "reverse the order",
            Self::Columns => "columns",
            Self::NextProblem => "next problem",
            Self::PreviousProblem => "previous problem",
            Self::Mark => "mark",
            Self::Plan(action) => words::action(action),
            Self::Undo => "undo",
            Self::Freeze => "freeze or resume",
            Self::Acknowledge => "acknowledge this death",
            Self::Jump => "jump to its terminal",
            Self::Copy => "copy",
            Self::CopyKey => "copy its key",
            Self::Versions => "versions of its files",
            Self::Peek => "peek: what it said and what its pane shows",
            Self::Details => "hide or show the details",
            Self::Settings => "settings: theme, mouse, bell",
            Self::BringBack => "bring back a dead window",
            Self::Recent => "recent changes",
            Self::Map => "map",
            Self::Diagnosis => "diagnosis",
            Self::Record => "record or stop recording",
            Self::Step(Step::Next) => "next change in the recording",
            Self::Step(Step::Previous) => "previous change in the recording",
            Self::Step(Step::MinuteOn) => "a minute forward in the recording",
            Self::Step(Step::MinuteBack) => "a minute back in the recording",
            Self::Help => "keys",
            Self::Repaint => "draw everything again",
            Self::Suspend => "suspend",
            Self::Quit => "quit",
            Self::Move(_)
            | Self::Show(_)
            | Self::SortBy(_)
            | Self::Toggle
            | Self::Yes
            | Self::RestoreBeside
            | Self::Merge
            | Self::Palette
            | Self::Pick
            | Self::Back
            | Self::Close
            | Self::Leave => return None,
        };
        Some(name.to_owned())
    }
}

/// Where to go in a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    /// To the next look that shows a change.
    Next,
    /// To the last look before that shows a change.
    Previous,
    MinuteOn,
    MinuteBack,
}

/// How far to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Motion {
    Up,
    Down,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    First,
    Last,
    /// To what is chosen on the left.
    Left,
    /// To what is chosen on the right.
    Right,
}
