//! A query of one window: what it is notified of, held up for or refused.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use jiff::{SignedDuration, Timestamp};

use super::machine::Machine;
use super::outcome::{GuardOutcome, GuardResponse};
use crate::act::state::ledger;
use crate::config::guard::{HoldPolicy, HoldUps, Levels};
use crate::core::guard::decide::{self, Exempt, Life, Other};
use crate::core::guard::git::reach::Takes;
use crate::core::model::snapshot::ledger::{Brief, FileMoment, Harm, HeldUp, LedgerHolder, LedgerLine};
use crate::core::model::{Forecast, ProcessId, Untrusted};
use crate::format::agent::claude_code::{called, conversation_of};
use crate::format::hook::answers::{Calls, is_same_answer};
use crate::format::hook::guard::{Asker, Moment, Question, Touch, question_to_person, refusal};
use crate::guard::scope::Scope;
use crate::present;
use crate::source::os::open::plain::small;
use crate::source::own::ledger::{About, Here, LedgerView, Own, OwnLines, Tree, end_of, read, settled};

/// How much of a transcript is read from its end to find two calls, in bytes.
const TRANSCRIPT_END: usize = 512 << 10;
/// Calls that come within 2 s are of one answer, if no transcript says.
const AT_ONCE: SignedDuration = SignedDuration::from_secs(2);
/// The largest entry of a registry that is read, in bytes.
const MOST_ENTRY: usize = 64 << 10;
/// The largest list of background sessions that is read, in bytes.
const MOST_ROSTER: usize = 256 << 10;
/// How many processes above its own a window writes down.
const MOST_ABOVE: usize = 8;

/// A question, and who asks.
pub(crate) struct Query<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) question: &'a Question,
    pub(crate) now: Timestamp,
    pub(crate) machine: Machine,
    pub(crate) exempt: Exempt,
    /// The sessions whose conversation the asking one continues in the background, or that continue its own.
    same_conversation: Vec<Untrusted>,
    /// How many versions of files could not be kept.
    pub(crate) keep_failed: Cell<u32>,
    /// Of which sessions' ledgers it is known whether they are the asking window's: that reads the process table.
    pub(super) kin: RefCell<HashMap<(Untrusted, Option<ProcessId>), bool>>,
}

impl<'a> Query<'a> {
    pub(crate) fn new(scope: &'a Scope, question: &'a Question, machine: Machine) -> Self {
        let exempt = Exempt { names: scope.guard.exempt.clone() };
        let roster = small(&scope.claude_config.join("daemon/roster.json"), MOST_ROSTER).unwrap_or_default();
        let same_conversation = conversation_of(&roster, &question.session);
        Self {
            scope,
            question,
            now: machine.now,
            machine,
            exempt,
            same_conversation,
            keep_failed: Cell::new(0),
            kin: RefCell::default(),
        }
    }

    pub(crate) fn levels(&self, tree: &Tree) -> Levels {
        self.scope.guard.levels(&tree.top)
    }

    /// Returns who asks.
    pub(crate) fn own(&self) -> Own<'_> {
        let (process, above) = (self.machine.process, &self.machine.above);
        let same_conversation = &self.same_conversation;
        Own { session: &self.question.session, process, above, same_conversation }
    }

    pub(crate) fn read(&self, tree: &Tree, about: &About<'_>) -> LedgerView {
        let own = self.own();
        let home = &self.scope.home;
        let place = (self.now, home.as_path());
        let mut found = read(&self.scope.ledgers, tree, (&own, &self.machine.here), about, place);
        for other in &mut found.others {
            self.name(other);
        }
        found
    }

    pub(crate) fn note_down(&self, tree: &Tree, lines: &[LedgerLine]) -> anyhow::Result<()> {
        self.note_down_of(tree.text().context("the working tree's name is not UTF-8")?, lines)
    }

    /// Adds lines to the window's ledger of a working tree, or of the folder that all of a repository share.
    pub(super) fn note_down_of(&self, top: &str, lines: &[LedgerLine]) -> anyhow::Result<()> {
        let Machine { process, agent, above, here, .. } = &self.machine;
        let process = process.map(|id| (id, here.processes.pidfd_inode(id)));
        let Here { host, boot_id, pid_namespace, .. } = here;
        let mut holder = LedgerHolder::new(
            (self.question.session.clone(), agent.clone()),
            (top.into(), self.question.cwd.as_str().into()),
            process,
            (host.clone(), boot_id.clone(), *pid_namespace),
        );
        let own = above.iter().skip_while(|above| holder.process.is_some_and(|own| **above != own));
        holder.above = own.skip(1).take(MOST_ABOVE).copied().collect();
        Ok(ledger::add(&self.scope.ledgers, &holder, lines)?)
    }

    /// Reports what other living windows hold in the working tree, if that is new.
    pub(crate) fn brief(&self, tree: &Tree) -> anyhow::Result<GuardResponse> {
        if !self.levels(tree).brief {
            return Ok((GuardOutcome::OutOfScope, None));
        }
        let top = tree.text().context("no text")?;
        let found = self.read(tree, &About::Matching(&|path| !self.is_exempt(path, tree), Takes::WORK));
        if found.own_lines.by_others_only {
            // The session goes on in this process: its edits are no longer a dead window's.
            self.note_down(tree, &[])?;
        }
        let holds_count = self.levels(tree).held != HoldPolicy::Off;
        let holdings = decide::told_of(&found.others, holds_count);
        let conflicts = self.conflicts(tree);
        let conflicts: Vec<&Forecast> = conflicts.iter().collect();
        let digest = decide::digest_of(&holdings, holds_count, &conflicts);
        let is_none = holdings.is_empty() && conflicts.is_empty();
        let is_told = found.own_lines.briefed.as_ref() == Some(&digest);
        if is_told || (is_none && found.own_lines.briefed.is_none()) {
            return Ok((if is_told { GuardOutcome::ToldBefore } else { GuardOutcome::NobodyElse }, None));
        }
        let others = holdings.iter().map(|holding| holding.other.holder.session.clone()).collect();
        self.note_down(tree, &[LedgerLine::Briefed(Brief { digest, at: Some(self.now), others })])?;
        if is_none {
            return Ok((GuardOutcome::NobodyElse, None));
        }
        let held =
            (!holdings.is_empty()).then(|| present::guard::brief(&holdings, holds_count, top, self.now));
        let texts = held.into_iter().chain(conflicts.into_iter().map(|one| self.describe_conflict(one)));
        Ok((GuardOutcome::Briefed, Some(texts.collect::<Vec<_>>().join("\n"))))
    }

    /// Adds a living window's name and status, which only Claude Code writes down, in a file for each process.
    pub(crate) fn name(&self, other: &mut Other) {
        let Some(process) = other.holder.process.filter(|_| other.life == Life::Alive) else { return };
        let entry = self.scope.claude_config.join(format!("sessions/{}.json", process.pid));
        let entry = small(&entry, MOST_ENTRY).ok().and_then(|entry| called(&entry, process.start_ticks));
        (other.name, other.doing) = entry.unwrap_or_default();
    }

    /// Returns whether a path is exempt from warnings; a folder that lies in no repository counts by its own name too.
    pub(crate) fn is_exempt(&self, path: &str, tree: &Tree) -> bool {
        let folder = if tree.is_repository() { Some(tree.top.as_path()) } else { tree.top.parent() };
        folder.and_then(Path::to_str).is_some_and(|folder| self.exempt.has(path, folder))
    }

    /// Notes the files that are as the last commit has them, or gone: of others, and of these.
    pub(crate) fn ended(&self, tree: &Tree, found: &LedgerView, also: &[String]) -> Vec<LedgerLine> {
        let mut lines = decide::settled(&found.others, self.now);
        lines.extend(settled(tree, also, (self.now, &self.scope.home)));
        let theirs = found.others.iter().flat_map(|other| &other.edits).map(|edit| edit.path.raw());
        let is_gone = |path: &&str| Path::new(path).symlink_metadata().is_err();
        let gone = theirs.chain(also.iter().map(String::as_str)).filter(is_gone);
        lines.extend(gone.map(|path| FileMoment::new(path.into(), self.now)));
        lines.into_iter().map(LedgerLine::Settled).collect()
    }

    /// Returns whether the model that makes this call has not heard of one that was held up: both stand in the same
    /// answer of its, or another agent of the session made that one.
    fn is_twin(&self, asker: Asker, past: &HeldUp) -> bool {
        if past.sub_agent != self.question.sub_agent {
            return true;
        }
        if past.call.as_ref().is_some_and(|call| self.question.read.contains(call)) {
            return false;
        }
        let calls = Calls {
            first: past.call.as_ref().map(Untrusted::raw),
            second: self.question.call.as_ref().map(Untrusted::raw),
            held_up_at: past.at,
        };
        let is_near = self
            .transcript(asker)
            .and_then(|transcript| is_same_answer(asker, &end_of(&transcript, TRANSCRIPT_END)?, &calls));
        is_near.unwrap_or_else(|| self.now.duration_since(past.at) < AT_ONCE)
    }

    /// Returns where the session is written down, if its agent says; Copilot CLI does not, and names the
    /// folder after the session.
    fn transcript(&self, asker: Asker) -> Option<PathBuf> {
        let session = self.question.session.raw();
        let of_copilot = || {
            let sessions = self.scope.home.join(".copilot/session-state");
            (asker == Asker::Copilot).then(|| sessions.join(session).join("events.jsonl"))
        };
        self.question.transcript.as_ref().map(PathBuf::from).or_else(of_copilot)
    }

    /// Refuses what would reach what a living window holds for itself.
    pub(crate) fn keep_off(
        &self,
        asker: Asker,
        call: &str,
        (tree, found): (&Tree, &LedgerView),
        is_asked: impl Fn(&str) -> bool,
    ) -> anyhow::Result<Option<GuardResponse>> {
        let level = self.levels(tree).held;
        let wanted = decide::wanted(&found.others, is_asked).filter(|_| level != HoldPolicy::Off);
        let Some((other, held)) = wanted else { return Ok(None) };
        let top = tree.text().context("no text")?;
        let is_final = level == HoldPolicy::Deny;
        let why = present::guard::keep_off(call, (other, held), is_final, top, self.now);
        if is_final {
            return Ok(Some((GuardOutcome::Denied, Some(refusal(asker, &why)))));
        }
        let held_up = self.held_up([(other, held.path.raw())].into_iter(), Harm::Kept);
        let own = (tree, &found.own_lines);
        let response = self.hold_up(asker, HoldUps::HoldUp, own, (held_up, None), &why)?;
        Ok(response.1.is_some().then_some(response))
    }

    /// Notes what of whom is in the way of the call.
    pub(crate) fn held_up<'b>(
        &self,
        in_the_way: impl Iterator<Item = (&'b Other, &'b str)>,
        harm: Harm,
    ) -> HeldUp {
        let by = (self.now, self.question.call.clone(), self.question.sub_agent.clone());
        decide::hold_up(in_the_way, harm, by)
    }

    /// Refuses a call, or has the person asked, unless the like was held up before and no newer edit is in its way.
    pub(crate) fn hold_up(
        &self,
        asker: Asker,
        level: HoldUps,
        (tree, own): (&Tree, &OwnLines),
        (held_up, newest_edit): (HeldUp, Option<Timestamp>),
        why: &str,
    ) -> anyhow::Result<GuardResponse> {
        let is_twin = |past: &HeldUp| self.is_twin(asker, past);
        if decide::is_override(&held_up, newest_edit, &own.held_up, is_twin) {
            self.note_down(tree, &[LedgerLine::Overrode(held_up)])?;
            return Ok((GuardOutcome::Overridden, None));
        }
        self.note_down(tree, &[LedgerLine::HeldUp(held_up)])?;
        // Others fail at the word or take it for a refusal; and Claude Code hides the reason at a file.
        let is_shown =
            asker == Asker::Claude && matches!(self.question.moment, Moment::Before(Touch::Line(_)));
        Ok(match level {
            HoldUps::Ask if is_shown => (GuardOutcome::Asked, Some(question_to_person(why))),
            HoldUps::Ask | HoldUps::HoldUp | HoldUps::Off => {
                (GuardOutcome::HeldUp, Some(refusal(asker, why)))
            }
        })
    }
}
