//! Sends questions to other machines, and waits for their answers.

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use super::question::{PostedQuestion, Question};
use super::shared::SharedState;
use crate::core::fleet::merge::identity::clone_of;
use crate::core::fleet::merge::remote_machine::FarMachine;
use crate::core::fleet::order::{OrderReceipt, Proposal};
use crate::core::fleet::wire::decoder::Answer;
use crate::core::model::{ErrorKind, Obstacle, Request};

/// How long a machine may take to answer. A lost connection is noticed earlier.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long a machine that is reached through a database may take: an order is valid for a minute, and then it is
/// carried out.
const PATIENCE_OF_DATABASE: Duration = Duration::from_secs(90);

/// Sends questions to machines.
#[derive(Clone)]
pub(crate) struct Dispatcher {
    pub(super) shared: SharedState,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum NoAnswer {
    /// Nothing was sent; why.
    NotSent(String),
    /// It was sent, at least in part, and nothing came back.
    Lost,
}

impl Dispatcher {
    /// Returns the known state of a machine.
    pub(crate) fn machine(&self, name: &str) -> Option<FarMachine> {
        self.shared.seen().iter().find(|seen| seen.view.name == name).cloned()
    }

    /// Returns the plans for some requests, which name things as their own machine does.
    pub(crate) fn plan(&self, machine: &str, requests: Vec<Request>) -> Vec<Proposal> {
        let number = requests.len();
        let refused = |text: String| vec![Err(Obstacle { kind: ErrorKind::Failed, text }); number];
        match self.ask(machine, Question::Plan(requests)) {
            Ok(Answer::Plans(_, proposals)) if proposals.len() == number => proposals,
            Ok(Answer::Plans(..) | Answer::Receipt(_)) => {
                refused(format!("{machine} did not answer the question"))
            }
            Err(NoAnswer::NotSent(why)) => refused(why),
            Err(NoAnswer::Lost) => refused(format!("{machine} was lost before it answered")),
        }
    }

    /// Asks for a receipt.
    ///
    /// # Errors
    /// No receipt has come.
    pub(crate) fn receipt(&self, machine: &str, question: Question) -> Result<OrderReceipt, NoAnswer> {
        match self.ask(machine, question)? {
            Answer::Receipt(receipt) => Ok(receipt),
            Answer::Plans(..) => Err(NoAnswer::Lost),
        }
    }

    fn ask(&self, machine: &str, question: Question) -> Result<Answer, NoAnswer> {
        let Some(seen) = self.machine(machine) else {
            return Err(NoAnswer::NotSent(format!("{machine} is not watched")));
        };
        if let Some(why) = seen.view.why_no_orders() {
            return Err(NoAnswer::NotSent(format!("{machine}: {why}")));
        }
        // It may consider a session dead that lives on its clone.
        if let Some(clone) = clone_of(&seen, &self.shared.seen()) {
            let other = &clone.view.name;
            let why =
                format!("{machine}: it has the machine ID of {other}, so nothing is requested of either");
            return Err(NoAnswer::NotSent(why));
        }
        let (reply, answers) = channel();
        let posted = PostedQuestion { machine: machine.to_owned(), question, reply };
        let (is_sent, patience) = {
            let doors = self.shared.doors();
            match (doors.machines.get(machine), &doors.database) {
                (Some(door), _) => (door.send(posted).is_ok(), PATIENCE),
                (None, Some(door)) => (door.send(posted).is_ok(), PATIENCE_OF_DATABASE),
                (None, None) => (false, PATIENCE),
            }
        };
        if !is_sent {
            return Err(NoAnswer::NotSent(format!("{machine} is not connected")));
        }
        answers.recv_timeout(patience).map_err(|error| match error {
            RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected => NoAnswer::Lost,
        })
    }

    /// Returns whether a machine is watched, or may turn up in the database.
    pub(crate) fn may_come(&self, name: &str) -> bool {
        self.machine(name).is_some() || self.shared.doors().database.is_some()
    }

    /// Sets the machine that a person looks at closely.
    pub(crate) fn look_closely(&self, machine: Option<&str>) {
        *self.shared.closely() = machine.map(str::to_owned);
    }

    /// Returns whether a machine is connected and takes orders.
    pub(crate) fn is_ready(&self, machine: &str) -> bool {
        self.machine(machine).is_some_and(|seen| seen.view.state.is_heard() && seen.view.no_orders.is_none())
    }
}
