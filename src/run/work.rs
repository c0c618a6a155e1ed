//! What the threads that act are asked to do.

use std::sync::Arc;

use crate::app::msg::Confirmed;
use crate::core::history::timeline::Past;
use crate::core::model::{Household, Request};

/// What a thread that acts is asked to do.
#[derive(Debug)]
pub(super) enum Work {
    /// Look at the files of these requests.
    Offer(Vec<Request>),
    /// Do what was offered last and is confirmed by this.
    Act(Confirmed),
    ReadHistory,
    /// Measure the processes of a window.
    Measure(Household),
    /// Begin a recording, or end it.
    Record,
    /// Keep what was observed.
    Keep(Vec<Arc<Past>>),
}
