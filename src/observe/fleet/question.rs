//! What is asked of another machine, and where its answer goes.

use std::sync::mpsc::Sender;

use crate::core::fleet::order::{Order, Settle};
use crate::core::fleet::wire::decoder::Answer;
use crate::core::model::Request;

/// What is asked of a machine.
#[derive(Clone, Debug)]
pub(crate) enum Question {
    /// What would be done.
    Plan(Vec<Request>),
    /// To carry out a plan.
    Do(Order),
    /// What has become of an order.
    Settle(Settle),
}

/// A question, and where its answer goes. Where that is dropped, the connection is lost.
pub(crate) struct PostedQuestion {
    /// What the machine is called here.
    #[cfg_attr(not(feature = "postgres"), expect(dead_code, reason = "only a database is asked by names"))]
    pub(crate) machine: String,
    pub(crate) question: Question,
    pub(crate) reply: Sender<Answer>,
}
