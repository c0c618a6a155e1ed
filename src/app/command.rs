//! What a key can ask for.

use crate::app::msg::Step;
use crate::app::view::View;
use crate::core::model::Action;

/// What a key asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Command {
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
    /// Reverse the order.
    Reverse,
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
    /// Keep the picture, or let it live again.
    Freeze,
    /// Go to the window's terminal or pane.
    Jump,
    /// Copy what names the selected thing.
    Copy,
    /// Tell what has changed lately.
    Recent,
    /// Show the map of who holds what.
    Map,
    /// Shows what claimtop itself reads, watches and costs.
    Diagnosis,
    /// Begin a recording, or end it.
    Record,
    /// Go to another look of a recording.
    Step(Step),
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

/// How far to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Motion {
    Up,
    Down,
    HalfUp,
    HalfDown,
    PageUp,
    PageDown,
    First,
    Last,
}
