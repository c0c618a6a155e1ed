//! The questions to one machine over one connection, and the callers that wait for the answers.

use std::sync::mpsc::Sender;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::question::{PostedQuestion, Question};
use super::shared::SharedState;
use crate::core::fleet::order::Ask;
use crate::core::fleet::wire::decoder::Answer;
use crate::core::fleet::wire::encoder::Encoder;

/// The questions over one connection.
#[derive(Default)]
pub(super) struct Inbox {
    posted: Option<UnboundedReceiver<PostedQuestion>>,
    number: u64,
    waiting: Vec<(AwaitedAnswer, Sender<Answer>)>,
}

/// The answer that is waited for.
#[derive(Debug, PartialEq, Eq)]
enum AwaitedAnswer {
    Plans(u64),
    Receipt(String),
}

impl Inbox {
    /// Lets callers send questions.
    pub(super) fn open(&mut self, shared: &SharedState, machine: &str) {
        let (door, posted) = unbounded_channel();
        self.posted = Some(posted);
        shared.doors().machines.insert(machine.to_owned(), door);
    }

    /// Waits for the next question.
    pub(super) async fn next(&mut self) -> PostedQuestion {
        let posted = match &mut self.posted {
            Some(posted) => posted.recv().await,
            None => None,
        };
        match posted {
            Some(posted) => posted,
            None => std::future::pending().await,
        }
    }

    /// Returns the line of a question, and remembers the caller that waits for its answer.
    pub(super) fn line(&mut self, posted: PostedQuestion) -> Option<String> {
        let PostedQuestion { machine: _, question, reply } = posted;
        let (awaited, line) = match question {
            Question::Plan(requests) => {
                self.number += 1;
                let ask = Ask { number: self.number, requests };
                (AwaitedAnswer::Plans(self.number), Encoder::ask(ask))
            }
            Question::Do(order) => (AwaitedAnswer::Receipt(order.id.clone()), Encoder::order(order)),
            Question::Settle(settle) => (AwaitedAnswer::Receipt(settle.id.clone()), Encoder::settle(settle)),
        };
        self.waiting.push((awaited, reply));
        line.ok()
    }

    /// Returns whether a caller waits for an answer.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Passes an answer to the caller that waits for it; drops an answer without a question.
    pub(super) fn answered(&mut self, answer: Answer) {
        let awaited = match &answer {
            Answer::Plans(number, _) => AwaitedAnswer::Plans(*number),
            Answer::Receipt(receipt) => AwaitedAnswer::Receipt(receipt.id.clone()),
        };
        if let Some(at) = self.waiting.iter().position(|(known, _)| *known == awaited) {
            let (_, reply) = self.waiting.swap_remove(at);
            // A caller that has given up sends a new question.
            let _ = reply.send(answer);
        }
    }
}
