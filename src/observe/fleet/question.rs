//! A question to another machine, and where its answer goes.

use std::sync::mpsc::Sender;

use crate::core::fleet::order::{Order, Settle};
use crate::core::fleet::wire::decoder::Answer;
use crate::core::model::Request;

/// A question to a machine.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// The plans for these requests.
    Plan(Vec<Request>),
    /// Carries out a plan.
    Do(Order),
    /// The outcome of an order.
    Settle(Settle),
}

/// A question, and where its answer goes. If that is dropped, the connection is lost.
pub(crate) struct PostedQuestion {
    /// The machine's name here.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only a database is asked by names"))]
    pub(crate) machine: String,
    pub(crate) question: Question,
    pub(crate) reply: Sender<Answer>,
}
