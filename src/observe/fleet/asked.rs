//! What is asked of one machine over one connection, and who waits for which answer.

use std::sync::mpsc::Sender;

use tokio::sync::mpsc::{UnboundedReceiver, unbounded_channel};

use super::question::{PostedQuestion, Question};
use super::shared::SharedState;
use crate::core::fleet::order::Ask;
use crate::core::fleet::wire::decoder::Answer;
use crate::core::fleet::wire::encoder::Encoder;

/// What is asked over one connection.
#[derive(Default)]
pub(super) struct Inbox {
    posted: Option<UnboundedReceiver<PostedQuestion>>,
    number: u64,
    waiting: Vec<(AwaitedAnswer, Sender<Answer>)>,
}

/// Which answer is waited for.
#[derive(Debug, PartialEq, Eq)]
enum AwaitedAnswer {
    Plans(u64),
    Receipt(String),
}

impl Inbox {
    /// Lets others ask.
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

    /// Returns the line of a question, and remembers who waits for its answer.
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

    /// Returns whether somebody waits for an answer.
    pub(super) fn is_waited_for(&self) -> bool {
        !self.waiting.is_empty()
    }

    /// Hands an answer to whoever waits for it; one that nobody has asked for goes nowhere.
    pub(super) fn answered(&mut self, answer: Answer) {
        let awaited = match &answer {
            Answer::Plans(number, _) => AwaitedAnswer::Plans(*number),
            Answer::Receipt(receipt) => AwaitedAnswer::Receipt(receipt.id.clone()),
        };
        if let Some(at) = self.waiting.iter().position(|(known, _)| *known == awaited) {
            let (_, reply) = self.waiting.swap_remove(at);
            // Whoever has given up waiting asks anew.
            let _ = reply.send(answer);
        }
    }
}
