//! Verdicts: whether a record's holder lives, with proof for every "dead".
//!
//! The one rule above all: an answer of Dead needs proof, and forgetting any fact may turn an
//! answer into Unknown but never into Dead. Where only a helper's PID is known (a shell, a
//! hook), its death proves nothing as long as some window could still be the owner.

mod absent;
mod buried;
mod git;
mod leo;
mod locks;
mod machine;
mod obra;
mod own;
mod owners;
mod reach;
mod session;
mod tasks;

use self::absent::is_before_boot;
use self::machine::elsewhere;
use self::own::{by_stated_pid, own_verdict};
use self::owners::{by_possible_owners, could_own, runs_on, unseen};
use self::session::{by_context, by_session};
pub use self::session::{is_uuid, window_of_record};
use super::evidence::{Evidence, Fact};
use super::record::{Binding, Format, Location, Record, RecordKind};
use super::report::{Reason, Verdict, VerdictState, Weighed};
use super::text::Untrusted;
use super::world::World;

/// Judges one record: by its own PID where that is the agent's, else by whatever binds its
/// session to a process, else by whether any living window could own it.
pub fn judge(record: &Record, world: &World<'_>) -> Verdict {
    let mut ladder = Ladder::default();
    let answer = match record.format {
        Format::Obra => obra::judge(record, world, &mut ladder),
        Format::Git => git::judge(record, world, &mut ladder),
        Format::ClaudeCode if tasks::is_task(record) => tasks::judge(record, world, &mut ladder),
        Format::Maia
        | Format::Observability
        | Format::Entire
        | Format::Leo
        | Format::ClaudeCode
        | Format::Beads
        | Format::AgentMail
        | Format::Codex
        | Format::Copilot
        | Format::Own(_) => by_holder(record, world, &mut ladder),
    };
    answer.with(ladder)
}

/// Judges by the three steps that hold for whatever names a process or a session.
fn by_holder(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    if let Some(answer) = by_note(record, world, ladder) {
        return answer;
    }
    if record.format == Format::Leo && matches!(record.location, Location::Row(_)) {
        let answer = leo::judge(record, world, ladder);
        return spared(answer, record, world, ladder);
    }
    let own = own_verdict(record, world, ladder);
    // Where the times of a PID prove nothing, what else binds the session may; and a session of LEO's
    // can be resumed here, whatever machine its file names.
    let is_leos = record.format == Format::Leo && record.kind == RecordKind::Session;
    let is_open =
        |Answer(_, why): &Answer| *why == Reason::OtherClock || (*why == Reason::OtherHost && is_leos);
    if let Some(answer) = own.filter(|answer| !is_open(answer)) {
        return spared(answer, record, world, ladder);
    }
    if let Some(answer) = by_session(record, world, ladder) {
        return answer;
    }
    if let Some(answer) = by_context(record, world, ladder) {
        return answer;
    }
    let answer = own.unwrap_or_else(|| by_possible_owners(record, world, ladder));
    spared(answer, record, world, ladder)
}

/// Returns whether it is certain that nobody who lives could own a record.
pub(in crate::core) fn is_unowned(record: &Record, world: &World<'_>) -> bool {
    unseen(false, world, &mut Ladder::default()).is_none()
        && !world.possible_agents.iter().any(|(agent, _)| could_own(record, agent, world))
}

/// Judges by what the agent's own hook told, which beats all other evidence for life.
fn by_note(record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Option<Answer> {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record))?;
    let (note, process) =
        world.bonds.running(session).iter().find(|(note, _)| runs_on(record.format, note.agent.raw()))?;
    ladder.add_from(
        "binding",
        format!("PID {} runs this session, as its own hook told at {}", process.id.pid, note.written_at),
        note.source(),
    );
    alive(Reason::SameProcess)
}

/// Returns whether a record is about one process and not about who else may run its session: an
/// agent's own registry keeps one for each.
fn names_its_process(record: &Record) -> bool {
    let holder = record.holder.as_ref();
    holder.is_some_and(|holder| holder.start_ticks.is_some() && holder.binding == Binding::Registry)
}

/// Takes a death back where a note says that the session may be run out of sight.
fn spared(answer: Answer, record: &Record, world: &World<'_>, ladder: &mut Ladder) -> Answer {
    let session = record.session_id.as_ref().filter(|_| !names_its_process(record));
    let why = session.and_then(|session| world.bonds.open(session));
    match (answer.0, why) {
        (VerdictState::Dead, Some(reason)) => {
            ladder.add(
                "binding",
                Untrusted::fixed("the session may be run where it cannot be seen from here"),
                "claimtop's own notes",
            );
            Answer(VerdictState::Unknown, reason)
        }
        (VerdictState::Dead | VerdictState::Alive | VerdictState::Unknown, _) => answer,
    }
}

/// The facts, in the order in which they were weighed.
#[derive(Default)]
struct Ladder {
    facts: Weighed,
    /// Why the process behind a helper's PID is over, should nothing living own the record.
    helper_gone: Option<Reason>,
}

impl Ladder {
    fn add(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: &'static str) {
        self.add_from(fact, value, Untrusted::fixed(source));
    }

    /// Adds a fact in our own words, which thousands of records may share.
    fn add_fixed(&mut self, fact: &'static Fact) {
        self.facts.push(Evidence::Fixed(fact));
    }

    fn add_from(&mut self, fact: &'static str, value: impl Into<Untrusted>, source: Untrusted) {
        self.facts.push(Evidence::new(Untrusted::fixed(fact), value, source));
    }
}

/// A verdict without its evidence.
#[derive(Clone, Copy)]
struct Answer(VerdictState, Reason);

impl Answer {
    fn with(self, ladder: Ladder) -> Verdict {
        Verdict { state: self.0, reason: self.1, evidence: ladder.facts }
    }
}

const fn alive(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Alive, reason))
}

const fn dead(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Dead, reason))
}

const fn unknown(reason: Reason) -> Option<Answer> {
    Some(Answer(VerdictState::Unknown, reason))
}
