//! What commands are for: the parts of the help.

use Command as C;

use super::command::Command;

/// What a command is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Look,
    Act,
    Rows,
    Move,
    Screen,
}

impl Purpose {
    /// Every purpose, in the order of the help.
    pub(crate) const ALL: [Self; 5] = [Self::Look, Self::Act, Self::Rows, Self::Move, Self::Screen];

    /// Returns its heading.
    pub(crate) fn heading(self) -> &'static str {
        match self {
            Self::Look => "Look",
            Self::Act => "Act; a plan is shown first",
            Self::Rows => "Rows and columns",
            Self::Move => "Move",
            Self::Screen => "The screen",
        }
    }

    /// Returns what a command is for.
    pub(crate) fn of_command(command: Command) -> Self {
        match command {
            C::Evidence
            | C::NextProblem
            | C::PreviousProblem
            | C::Versions
            | C::Peek
            | C::Recent
            | C::Map
            | C::Jump
            | C::Step(_) => Self::Look,
            C::Mark
            | C::Plan(_)
            | C::Undo
            | C::Yes
            | C::RestoreBeside
            | C::Merge
            | C::Acknowledge
            | C::Copy
            | C::CopyKey
            | C::BringBack
            | C::Pick => Self::Act,
            C::Filter | C::Sort | C::SortBy(_) | C::Reverse | C::Columns | C::Toggle | C::Freeze => {
                Self::Rows
            }
            C::Move(_) | C::Show(_) | C::NextView | C::PreviousView => Self::Move,
            C::Details
            | C::Settings
            | C::Diagnosis
            | C::Record
            | C::Palette
            | C::Help
            | C::Back
            | C::Repaint
            | C::Suspend
            | C::Close
            | C::Leave
            | C::Quit => Self::Screen,
        }
    }
}
