//! What the threads that act are asked to do.

use std::path::PathBuf;
use std::sync::Arc;

use crate::app::msg::SheetAnswer;
use crate::config::preference::{Preference, Preferences};
use crate::core::history::timeline::Past;
use crate::core::model::{Household, Request, Untrusted};
use crate::run::tickets::Ticket;

/// What a thread that acts on another machine is asked to do, for the sheet of this number.
#[derive(Debug)]
pub(crate) enum FarWork {
    /// Ask what would be done about these requests.
    Offer(u64, Vec<Request>),
    /// Order what was offered last and is confirmed by this.
    Act(u64, Ticket, SheetAnswer),
}

/// What the thread that acts here is asked to do.
#[derive(Debug)]
pub(crate) enum Job {
    /// Look at the files of these requests.
    Offer(Vec<Request>),
    /// Do what was offered last and is confirmed by this.
    Act(Ticket, SheetAnswer),
    /// Write what a person has set into this file.
    Prefer(PathBuf, Preference, Preferences),
    ReadHistory,
    /// Find the windows that have died without being closed.
    FindClosed,
    /// Bring back the windows of these sessions.
    BringBack(Vec<Untrusted>),
    /// Measure the processes of a window.
    Measure(Household),
    /// Begin a recording, or end it.
    Record,
    /// Keep what was observed.
    Keep(Vec<Arc<Past>>),
}
