//! The windows that this screen saw alive and that have died since: each is reported until a key
//! acknowledges it, its session is resumed, or some time has passed.

use std::sync::Arc;

use jiff::{SignedDuration, Timestamp};

use crate::core::history::gone::Names;
use crate::core::judge::needs::uncommitted;
use crate::core::model::report::death::Death;
use crate::core::model::{
    ClaimStatus, ClaimView, Format, Key, Need, NeedKind, Remains, Report, Strength, WindowState, WindowView,
};

/// How long a death is reported where no key acknowledges it.
const TOLD_FOR: SignedDuration = SignedDuration::from_mins(10);
/// The most deaths that are remembered, the newest.
const MOST: usize = 64;

/// What became of a death.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    Told,
    /// A person has seen it.
    Acknowledged,
}

/// Everybody who died while the screen was open.
#[derive(Clone, Debug, Default)]
pub(crate) struct Deaths {
    seen: Vec<(Death, Stage)>,
    /// What a person has seen of those who died before, and when they were last heard of: who lives on and dies again is
    /// reported again.
    acknowledged: Vec<(Key, Option<Timestamp>)>,
}

impl Deaths {
    /// Takes in a look that follows another.
    pub(crate) fn follow(&mut self, before: &Report, now: &Report) {
        self.seen.retain(|(death, _)| !lives_on(death, now));
        let names = Names::compare(before, now);
        for window in before.windows.iter().filter(|window| window.state != WindowState::Zombie) {
            let Some(ended) = names.proof(&window.key) else { continue };
            if self.seen.iter().any(|(death, _)| death.window.key == window.key) {
                continue;
            }
            let key = [window.key.clone()];
            let death = Death {
                window: Arc::new(window.clone()),
                seen_at: before.moment_of(&key),
                found_at: now.moment_of(&key),
                reason: ended.reason,
            };
            self.seen.push((death, Stage::Told));
        }
        self.seen.drain(..self.seen.len().saturating_sub(MOST));
    }

    /// Forgets what has been reported long enough; returns whether there was any such death.
    pub(crate) fn expire(&mut self, now: Timestamp) -> bool {
        let before = self.seen.len();
        let is_late = |death: &Death| now.duration_since(death.found_at) >= TOLD_FOR;
        self.seen.retain(|(death, stage)| *stage == Stage::Acknowledged || !is_late(death));
        self.seen.len() != before
    }

    /// Takes note that a person has seen the death of this row, or that something needs him.
    pub(crate) fn acknowledge(&mut self, row: &Key, need: Option<&Need>) {
        let mut deaths = self.seen.iter_mut().filter(|(death, _)| death.has_row(row)).peekable();
        if deaths.peek().is_none() {
            self.acknowledged.extend(need.map(|need| (need.key.clone(), need.since)));
            self.acknowledged.drain(..self.acknowledged.len().saturating_sub(MOST));
        }
        deaths.for_each(|(_, stage)| *stage = Stage::Acknowledged);
    }

    /// Returns the deaths that are reported by a moment, the newest first.
    pub(crate) fn reported(&self, at: Timestamp) -> Vec<Death> {
        let deaths =
            self.seen.iter().rev().filter(|(death, stage)| *stage == Stage::Told && death.found_at <= at);
        deaths.map(|(death, _)| death.clone()).collect()
    }

    /// Returns what needs a person by a moment, with the deaths that were seen: each in one line.
    pub(crate) fn needs(&self, report: &Report, at: Timestamp) -> Vec<Need> {
        let mut needs = report.needs.clone();
        let is_known = |need: &Need| {
            self.acknowledged.iter().any(|(key, since)| (key, since) == (&need.key, &need.since))
        };
        needs.retain(|need| need.left().is_none() || !is_known(need));
        let mut shown = Vec::new();
        for (death, stage) in self.seen.iter().rev().filter(|(death, _)| death.found_at <= at) {
            let own = needs.iter().position(|need| is_of(need, death)).map(|at| needs.remove(at));
            if *stage == Stage::Told {
                shown.push(need(death, own, report));
            }
        }
        let is_of_dead = |need: &Need| matches!(need.kind, NeedKind::Died(_) | NeedKind::MoreDied { .. });
        let first = needs.iter().position(is_of_dead).unwrap_or(needs.len());
        // A window that has left nothing needs no person.
        let (left, nothing): (Vec<Need>, Vec<Need>) = shown.into_iter().partition(has_left);
        needs.splice(first..first, left);
        needs.extend(nothing);
        needs
    }
}

/// Returns whether a dead window has left anything.
fn has_left(need: &Need) -> bool {
    let NeedKind::Died(left) = &need.kind else { return true };
    !left.claims.is_empty() || !left.left_overs.is_empty() || left.unproven + left.uncommitted > 0
}

/// Returns whether a window lives, or its session in another one.
fn lives_on(death: &Death, now: &Report) -> bool {
    let living = |window: &&WindowView| {
        window.state != WindowState::Zombie && now.ended.iter().all(|ended| ended.window != window.key)
    };
    let session = |window: &WindowView| {
        let session = window.session.as_ref().filter(|session| session.strength > Strength::Guess);
        session.is_some_and(|session| death.session() == Some(&session.id))
    };
    now.windows.iter().filter(living).any(|window| window.key == death.window.key || session(window))
}

/// Returns whether a need reports this death.
fn is_of(need: &Need, death: &Death) -> bool {
    let NeedKind::Died(left) = &need.kind else { return false };
    let is_its = left.session.is_some() && left.session.as_ref() == death.session();
    is_its || death.window.records.contains(&need.subject)
}

/// Returns the name of an agent's own format; nothing where it has none.
fn format_of(agent: &str) -> &'static str {
    Format::ALL.iter().map(|format| format.name()).find(|name| *name == agent).unwrap_or_default()
}

/// Returns the need for a death, with what the report knows of it.
fn need(death: &Death, own: Option<Need>, report: &Report) -> Need {
    let window = &*death.window;
    let stated = report.claims.iter().filter(|claim| window.claims.contains(&claim.key));
    let stated = stated.filter(|claim| !claim.is_of_transcript());
    let (dead, unproven): (Vec<&ClaimView>, Vec<_>) =
        stated.partition(|claim| claim.status == ClaimStatus::Dead);
    let subject = own.as_ref().map(|need| &need.subject).or(dead.first().map(|claim| &claim.record.key));
    let subject = subject.unwrap_or(&window.key).clone();
    let left = match own.map(|need| need.kind) {
        Some(NeedKind::Died(left)) => left,
        Some(
            NeedKind::Waits { .. }
            | NeedKind::Failed { .. }
            | NeedKind::Stuck { .. }
            | NeedKind::Done { .. }
            | NeedKind::Unfinished { .. }
            | NeedKind::Collision { .. }
            | NeedKind::Alike { .. }
            | NeedKind::MoreDied { .. },
        )
        | None => Remains {
            name: window.title().as_str().into(),
            session: death.session().cloned(),
            format: format_of(window.agent.raw()),
            cwd: window.cwd.clone(),
            claims: dead.iter().map(|claim| claim.key.clone()).collect(),
            unproven: 0,
            is_end_seen: true,
            uncommitted: 0,
            lost: 0,
            left_overs: Vec::new(),
            left_trees: Vec::new(),
            left_stashes: Vec::new(),
        },
    };
    let uncommitted = left.uncommitted.max(uncommitted(window.work.as_deref()));
    let kind = NeedKind::Died(Remains { unproven: unproven.len(), is_end_seen: true, uncommitted, ..left });
    Need { key: death.need(), subject, kind, since: Some(death.found_at) }
}
