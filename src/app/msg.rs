//! What can happen to the screen, and what it asks for.

use std::sync::Arc;

use jiff::Timestamp;

use crate::app::keys::command::Command;
pub(crate) use crate::app::keys::command::Step;
use crate::app::table::geometry::Size;
use crate::config::preference::{Preference, Preferences};
use crate::core::history::journal::History;
use crate::core::history::timeline::Past;
use crate::core::model::{
    ActionResult, Cost, Household, Key, ListedVersion, LookStats, Member, Offer, Peek, PeekQuestion,
    PlaceView, ProcessId, Report, Request, Untrusted,
};
use crate::core::plan::bring_back::ClosedWindow;

/// Everything that can happen, in one closed list.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A look was finished.
    Looked(Arc<Report>),
    /// This process has exited; the look that judges it comes next.
    Exited(ProcessId),
    /// What the last look was like.
    Measured(LookStats),
    /// What this process costs.
    Cost(Option<Cost>),
    /// The processes of this window were measured.
    Household(Key, Vec<Member>),
    /// Whether changes are reported or must be looked for.
    Hints(Hints),
    /// A key was pressed.
    Pressed(Press),
    /// Keys were pressed faster than a frame is drawn.
    Typed(Vec<Press>),
    /// Text was pasted.
    Pasted(String),
    /// The mouse was used.
    Pointed(Gesture, Target),
    /// The terminal has another size.
    Resized(Size),
    /// The time is so late now; sent when a shown age changes.
    Tick(Timestamp),
    /// What was asked for was looked at.
    Offered(Vec<Offer>),
    /// Another machine has said what it would do, for the sheet of this number.
    OfferedOn(u64, Vec<Offer>),
    /// One request is finished.
    Told(ActionResult),
    /// One request of the sheet of this number is finished on the machine of this name.
    ToldOn(u64, String, ActionResult),
    /// It is known by now what has become of an order to another machine: its name, and that.
    Settled(String, ActionResult),
    /// All requests are finished, or what was left was called off.
    Finished,
    /// The same of the sheet of this number, on another machine.
    FinishedOn(u64),
    /// What became of a jump, in one sentence.
    Jumped(String),
    /// The versions of what this window wrote were read.
    Versions(Key, Arc<Vec<ListedVersion>>),
    /// This was seen in this window.
    Peeked(Key, Arc<Peek>),
    /// The windows that have died without being closed, and where each would be opened.
    Closed(Arc<Vec<ClosedWindow>>, &'static str),
    /// What became of the window of this session.
    BroughtBack(Untrusted, String),
    /// The journal was read.
    History(Arc<History>),
    /// A recording was begun or has ended.
    Recording(RecordingEvent),
    /// Another look of a recording is shown.
    Stepped(Position),
    /// What was observed before was read.
    Remembered(Vec<Past>),
    /// What is observed is kept in memory only, other than was asked for; why.
    Unkept(String),
    /// Something that was done beside could not be done: in one sentence, why.
    Failed(String),
}

/// Whether changes are reported or must be looked for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Hints {
    /// A change is reported at once.
    #[default]
    Kept,
    /// Change events are incomplete: the world is polled every 2 s.
    Lost,
}

impl Hints {
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Kept => "reported at once",
            Self::Lost => "change events are incomplete; polling every 2 s",
        }
    }
}

/// What became of a recording.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordingEvent {
    /// What is seen goes into this file.
    Begun(String),
    /// It is whole, in this file.
    Ended(String),
    /// It cannot be made; why.
    Failed(String),
    /// It has ended by itself; why.
    Lost(String),
}

/// Where in a recording one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// The look, counted from 1.
    pub(crate) look: usize,
    /// How many there are.
    pub(crate) of: usize,
    /// When it was taken.
    pub(crate) at: Timestamp,
}

/// A key press, however the terminal wrote it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Press {
    /// A printable character.
    Char(char),
    /// A letter with Control.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Escape.
    Esc,
    /// Tab.
    Tab,
    /// Shift and Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Arrow up.
    Up,
    /// Arrow down.
    Down,
    /// Arrow left.
    Left,
    /// Arrow right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

impl Press {
    /// Returns its name for people.
    pub(crate) fn name(self) -> String {
        match self {
            Self::Char(' ') => "Space".to_owned(),
            Self::Char(c) => c.to_string(),
            Self::Ctrl(c) => format!("Ctrl-{c}"),
            Self::Enter => "Enter".to_owned(),
            Self::Esc => "Esc".to_owned(),
            Self::Tab => "Tab".to_owned(),
            Self::BackTab => "Shift-Tab".to_owned(),
            Self::Backspace => "Backspace".to_owned(),
            Self::Up => "Up".to_owned(),
            Self::Down => "Down".to_owned(),
            Self::Left => "Left".to_owned(),
            Self::Right => "Right".to_owned(),
            Self::PageUp => "PgUp".to_owned(),
            Self::PageDown => "PgDn".to_owned(),
            Self::Home => "Home".to_owned(),
            Self::End => "End".to_owned(),
        }
    }
}

/// What the mouse did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gesture {
    /// The wheel was turned up.
    WheelUp,
    /// The wheel was turned down.
    WheelDown,
    Click,
}

/// What stands where the mouse is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Target {
    /// A tab, the name of a column or a key of the last line: what it asks for.
    Command(Command),
    /// A row of the table.
    Row(usize),
    /// Something that can be chosen in a panel.
    Choice(usize),
    /// The pane beside the table.
    Details,
    /// Nothing that can be clicked.
    Nothing,
}

/// What a person gave on a sheet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SheetAnswer {
    /// `y`, for all that need no more.
    Yes,
    /// A code or a full name, for the one request that asked for it.
    Typed {
        /// Which: two can ask for the same text.
        request: Request,
        /// What was typed.
        text: String,
    },
}

/// A pane to go to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Jump {
    /// Whose it is, for people.
    pub(crate) name: String,
    /// The machine that it is on; `None` for this one.
    pub(crate) machine: Option<String>,
    pub(crate) place: PlaceView,
    /// Its terminal, such as `pts/3`.
    pub(crate) tty: Option<String>,
}

/// What the screen asks its shell to do. It never does anything itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Draw: something visible has changed.
    Redraw,
    /// Forget what the terminal shows and draw all of it.
    Repaint,
    /// Put text on the terminal's clipboard.
    Copy(String),
    /// Show the person a window's pane.
    Jump(Jump),
    /// Look at the files of these requests, for a sheet.
    Offer(Vec<Request>),
    /// Do what was offered and is confirmed by this.
    Act(SheetAnswer),
    /// Ask another machine what it would do about these requests, for the sheet of this number.
    OfferOn(String, u64, Vec<Request>),
    /// Order of another machine what it has offered to the sheet of this number and is confirmed by this.
    ActOn(String, u64, SheetAnswer),
    /// Begin nothing more of what was confirmed.
    CallOff,
    /// Ask what this process costs.
    AskCost,
    /// Measure the processes of a window.
    Measure(Household),
    /// Read the versions of what this window wrote.
    ReadVersions(Key),
    /// Look into this window.
    Peek(Box<PeekQuestion>),
    /// Find the windows that have died without being closed.
    FindClosed,
    /// Bring back the windows of these sessions.
    BringBack(Vec<Untrusted>),
    /// Read the journal.
    ReadHistory,
    /// Keep what was observed beyond the end.
    Keep(Vec<Arc<Past>>),
    /// Leave the terminal and stop, as Ctrl-Z asks.
    Suspend,
    /// Let what a person has set count, and keep it.
    Prefer(Preference, Preferences),
    /// Begin a recording, or end it.
    Record,
    /// Go to another look of a recording.
    Step(Step),
    /// End.
    Quit,
}
