//! Whose turn it is in a window.

use jiff::{SignedDuration, Timestamp};

use crate::core::judge::window::Window;
use crate::core::judge::world::World;
use crate::core::model::{
    Call, ProcessState, Record, TurnState, Untrusted, Waiting, WindowDoing, WindowProcess, Work,
};

/// After so long without a sign a window that works is called quiet.
const LONG: SignedDuration = SignedDuration::from_mins(10);

/// How long after a call its process may seem to have started: the wall clock and that of processes differ a little.
pub(crate) const APART: SignedDuration = SignedDuration::from_secs(2);

/// The agents that enter every window of theirs into a registry, and do so after their first question.
const ENTERED: [&str; 2] = ["claude-code", "qwen"];

/// How such an agent is called for one answer, without a person.
const WITHOUT_A_PERSON: [&str; 4] = ["-p", "--print", "--prompt", "--output-format"];

/// The facts about a window that show whose turn it is.
pub(crate) struct Signs<'a> {
    pub(crate) process: ProcessState,
    pub(crate) waiting: Option<&'a Waiting>,
    /// Its entry in its agent's registry.
    pub(crate) entry: Option<&'a Record>,
    /// The work of its session.
    pub(crate) work: Option<&'a Work>,
    pub(crate) is_new: bool,
    /// Its own process and the newest of those below it.
    pub(crate) processes: &'a [WindowProcess],
    pub(crate) now: Timestamp,
}

impl Signs<'_> {
    /// Returns what happens in the window and since when, as far as that is known.
    pub(crate) fn doing(&self) -> Option<(WindowDoing, Option<Timestamp>)> {
        match self.process {
            ProcessState::Stopped => return Some((WindowDoing::Stopped, None)),
            ProcessState::Zombie => return None,
            ProcessState::Running | ProcessState::LeaderExited => {}
        }
        if let Some(waiting) = self.waiting {
            return Some((WindowDoing::Asks, waiting.since));
        }
        let status = self.entry.and_then(|entry| entry.detail.claude_status());
        let says = status.and_then(|status| status.status.as_ref()).map(Untrusted::raw);
        let said_at = status.and_then(|status| status.updated_at);
        let turn = self.work.map(|work| work.doing.turn).unwrap_or_default();
        let has_agents = self.work.is_some_and(|work| !work.agents.is_empty());
        match (turn.state, says) {
            (TurnState::Working, _) => Some(self.working(turn.since, said_at)),
            (_, Some("busy")) => Some(self.working(said_at, said_at)),
            (TurnState::Unknown, None) => self.is_new.then_some((WindowDoing::YourTurn, None)),
            (TurnState::Unknown, Some("idle")) if !has_agents => Some((WindowDoing::YourTurn, said_at)),
            (TurnState::Unknown, Some(_)) if !has_agents => None,
            _ if has_agents => Some(self.working(turn.since, said_at)),
            (
                TurnState::Finished
                | TurnState::Interrupted
                | TurnState::Failed
                | TurnState::CutOff
                | TurnState::Unknown,
                _,
            ) => Some((WindowDoing::YourTurn, turn.since)),
        }
    }

    /// Returns that it works, or that it has been silent for long: nothing was written, and no process runs that it
    /// started for its work.
    fn working(
        &self,
        since: Option<Timestamp>,
        said_at: Option<Timestamp>,
    ) -> (WindowDoing, Option<Timestamp>) {
        let calls = self.work.into_iter().flat_map(|work| {
            work.doing.calls.iter().chain(work.agents.iter().filter_map(|agent| agent.call.as_ref()))
        });
        let calls: Vec<&Call> = calls.collect();
        let written_at = self.work.map(|work| work.written_at);
        let called_at = calls.iter().filter_map(|call| call.since);
        let Some(heard_at) = called_at.chain(written_at).chain(said_at).max() else {
            return (WindowDoing::Working, since);
        };
        let is_silent = self.now.duration_since(heard_at) >= LONG;
        let of_call = |process: &WindowProcess| {
            let starts_with = |call: &&Call| {
                process.started_at.zip(call.since).is_some_and(|(started, called)| started + APART >= called)
            };
            calls.iter().any(starts_with)
        };
        if is_silent && !self.processes.iter().skip(1).any(of_call) {
            return (WindowDoing::Quiet, Some(heard_at));
        }
        (WindowDoing::Working, since)
    }
}

/// Returns whether a window has no entry yet in a registry into which its agent enters every window, while that
/// registry was read.
pub(crate) fn is_new(window: &Window<'_>, world: &World<'_>) -> bool {
    let process = window.process;
    let Some(details) = process.details.as_ref().filter(|_| ENTERED.contains(&window.agent)) else {
        return false;
    };
    let is_read = details.has_certain_homes
        && details
            .homes
            .as_ref()
            .is_some_and(|homes| world.snapshot.homes.iter().any(|folder| homes.contains(&folder.id)));
    let is_alone = details.argv.iter().any(|argument| WITHOUT_A_PERSON.contains(&argument.raw()));
    is_read && !is_alone && world.registered(process.id.pid).is_empty()
}
