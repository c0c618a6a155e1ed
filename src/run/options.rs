//! What the caller of the screen adds to the configuration.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::Receiver;

use super::tape::Tape;
use crate::act::executor::Executor;
use crate::app::kept::Start;
use crate::app::msg::{Position, Step};
use crate::core::fleet::order::Asker;
use crate::observe::fleet::Fleet;
use crate::observe::watch::notice::Hint;
use crate::run::bring_back::Opener;
use crate::run::peek::ReadTalk;
use crate::run::threads::event::AtEnd;
use crate::run::versions::ReadVersions;

/// Goes to another look of a recording, asks for its report, and returns where that is.
pub(crate) type Stepper = Box<dyn FnMut(Step) -> Position>;

/// A recording that is shown instead of the world.
pub(crate) struct Replay {
    /// Where it begins.
    pub(crate) at: Position,
    /// Goes elsewhere.
    pub(crate) step: Stepper,
}

/// What orders of other machines are sent by.
pub(crate) struct Orders {
    /// Makes what keeps this machine's journal, once for each thread.
    pub(crate) executor: MakeExecutor,
    /// Who asks.
    pub(crate) from: Asker,
}

/// Makes what acts, or says why nothing can be done.
pub(crate) type MakeExecutor = Arc<dyn Fn() -> Result<Executor, String> + Send + Sync>;

/// Called with whether something is so.
pub(crate) type Tell = Box<dyn Fn(bool)>;

/// What the caller adds to the configuration.
#[derive(Default)]
pub struct Options {
    /// A badge for the header, such as `demo`.
    pub badge: Option<String>,
    /// Says "look again". When it is missing or closed, the world is polled every 2 s.
    pub(crate) hints: Option<Receiver<Hint>>,
    /// Called with whether left-overs are shown, which are measured often then.
    pub(crate) shows_left_overs: Option<Tell>,
    /// The other machines.
    pub(crate) fleet: Option<Fleet>,
    /// The multiplexer that the screen is in, which can open a window.
    pub(crate) opener: Opener,
    /// What orders of other machines are sent by.
    pub(crate) orders: Option<Orders>,
    /// What acts, or why nothing can be done.
    pub(crate) executor: Option<Result<Executor, String>>,
    /// What a key records on, and the folder of its recordings.
    pub tape: Option<(Tape, PathBuf)>,
    /// A recording that is shown instead of the world.
    pub(crate) replay: Option<Replay>,
    /// Reads the versions of what a window wrote, where that is possible.
    pub(crate) versions: Option<ReadVersions>,
    /// Reads what was said in a session, where that is possible.
    pub(crate) talk: Option<ReadTalk>,
    /// Where what is observed is kept, if it is.
    pub history: Option<PathBuf>,
    /// What the screen starts with.
    pub(crate) start: Start,
    /// Where what a person sets is kept, if it is.
    pub(crate) config_file: Option<PathBuf>,
    /// What is said once, at the first start.
    pub(crate) greeting: Option<String>,
    /// Where its view is kept at the end, if it is.
    pub(crate) view: Option<PathBuf>,
    /// What is left to do when the program ends without coming back to its caller.
    pub(crate) at_end: Option<AtEnd>,
}
