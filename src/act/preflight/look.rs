//! Looks at all files of a plan and of its follow-ups before it is shown.

use std::cell::RefCell;

use jiff::Timestamp;

use crate::act::error::ActionError;
use crate::act::fs::disk::Disk;
use crate::act::preflight::holder::Holder;
use crate::act::preflight::inspect::Inspector;
use crate::act::preflight::prepared::PreparedStep;
use crate::act::preflight::preview::{FollowUp, Preview};
use crate::act::preflight::undo::{PlannedUndo, plan_undo};
use crate::act::rules::Rules;
use crate::act::state::journal_store::Lock;
use crate::act::stop;
use crate::core::history::journal::History;
use crate::core::model::{Action, Plan, Report, Request, RestoreTo, Signal, Step};
use crate::core::plan::about::plan_for;
use crate::core::plan::left::plan_left;
use crate::core::plan::several::plan_several;
use crate::core::plan::stop::plan_stop;

impl Preview {
    /// Looks at all files of a plan, or of an entry to undo.
    ///
    /// # Errors
    /// The plan is never allowed, or a file is not as it must be.
    pub fn look<D: Disk>(
        lock: &Lock<'_, D>,
        report: &Report,
        request: Request,
        rules: &Rules,
        now: Timestamp,
    ) -> Result<Self, ActionError> {
        let follow_ups = |requests| see_all(lock, report, requests, rules, now);
        match &request {
            Request::Act { key, action } => {
                let mut plan = plan_for(report, key, *action);
                if let Some(refusal) = &plan.refusal {
                    return Err(ActionError::Never(refusal.to_string()));
                }
                let inspector = Inspector { files: lock.files(), rules, now, wait: RefCell::default() };
                let prepared: Vec<_> =
                    plan.steps.iter().map(|step| inspector.prepare(step)).collect::<Result<_, _>>()?;
                let holder =
                    report.records().find(|record| record.key == plan.record).map(Holder::from_record);
                let follow_ups = follow_ups(of_plan(&plan, Action::Park));
                let wait = inspector.wait.into_inner();
                plan.why.extend(wait.as_ref().map(ActionError::to_string));
                plan.inverse = told_where(&plan.inverse, &prepared, lock.history.next());
                Ok(Self { follow_ups, wait, ..Self::new(plan, request, rules, prepared, holder) })
            }
            Request::Left { of } => {
                let plan = plan_left(report, of);
                if let Some(refusal) = &plan.refusal {
                    return Err(ActionError::Never(refusal.to_string()));
                }
                let parts = follow_ups(of_plan(&plan, Action::Release));
                Self::of_all(plan, parts, request, rules)
            }
            Request::Several { keys, action } => {
                let plan = plan_several(report, keys, *action);
                if let Some(refusal) = &plan.refusal {
                    return Err(ActionError::Never(refusal.to_string()));
                }
                let parts = together(follow_ups(of_plan(&plan, *action)));
                Ok(Self::of_all(plan, parts, request, rules)?.of_parts())
            }
            Request::Stop { key, signal } => {
                let mut plan = plan_stop(report, key, *signal);
                if let Some(refusal) = &plan.refusal {
                    return Err(ActionError::Never(refusal.to_string()));
                }
                may_kill(&lock.history, &plan, *signal)?;
                let (prepared, state) = stop::prepare(lock.files().processes, report, &mut plan)?;
                Ok(Self { state, ..Self::new(plan, request, rules, prepared, None) })
            }
            Request::Rescue { lost, way } => {
                Self::of_rescue(lock, report, (lost, *way), request.clone(), (rules, now))
            }
            Request::Setup { files } => Self::of_setup(lock, report, files, request.clone(), (rules, now)),
            Request::Undo { entry, to } => {
                let undone = lock.history.entry(*entry);
                undone.map_or(Ok(()), |entry| lock.files().expect_home(entry, Some(&rules.home)))?;
                let PlannedUndo { mut plan, prepared, wait } = plan_undo(lock, (*entry, *to), rules, now)?;
                let follow_ups = follow_ups(of_entry(&lock.history, *entry, *to));
                plan.follows = follow_ups.iter().filter_map(FollowUp::plan).cloned().collect();
                // Each begins with how long ago it was done, as the whole does.
                plan.why.extend(plan.follows.iter().flat_map(|part| part.why.iter().skip(1).cloned()));
                plan.diff.extend(plan.follows.iter().flat_map(|part| part.diff.iter().cloned()));
                // One that was written just now holds up all of them, so that all are done at once.
                let waits = |part: &FollowUp| part.preview.as_ref().ok()?.wait.clone();
                let wait = wait.or_else(|| follow_ups.iter().find_map(waits));
                Ok(Self { follow_ups, wait, ..Self::new(plan, request, rules, prepared, None) })
            }
        }
    }
}

impl Preview {
    /// Makes the preview of a plan that consists of its parts: it waits, or is refused, if none of them can be done
    /// now.
    pub(super) fn of_all(
        mut plan: Plan,
        parts: Vec<FollowUp>,
        request: Request,
        rules: &Rules,
    ) -> Result<Self, ActionError> {
        let obstacles: Vec<_> = parts.iter().filter_map(FollowUp::obstacle).collect();
        let note = |(title, error): &(&str, ActionError)| format!("not now: {title}: {error}");
        plan.why.extend(obstacles.iter().map(note));
        let is_stuck = obstacles.len() == parts.len();
        let wait = match obstacles.into_iter().next().filter(|_| is_stuck) {
            None => None,
            Some((_, wait @ (ActionError::TooYoung(_) | ActionError::Busy(_)))) => Some(wait),
            Some((_, obstacle)) => return Err(obstacle),
        };
        Ok(Self { follow_ups: parts, wait, ..Self::new(plan, request, rules, Vec::new(), None) })
    }
}

/// Marks each part as confirmed by the confirmation of the whole.
pub(super) fn together(parts: Vec<FollowUp>) -> Vec<FollowUp> {
    parts.into_iter().map(|part| FollowUp { is_confirmed: true, ..part }).collect()
}

/// Makes sure that a process that is to be killed was asked to end before, and did not.
fn may_kill(history: &History, plan: &Plan, signal: Signal) -> Result<(), ActionError> {
    let Some(Step::Stop { id, .. }) = plan.steps.first() else { return Ok(()) };
    match (signal, history.next_signal(*id)) {
        (Signal::Kill, Signal::Term) => Err(ActionError::Never("it must first be asked to end".to_owned())),
        (Signal::Kill, Signal::Kill) | (Signal::Term, _) => Ok(()),
    }
}

/// Adds to how a plan is undone where its files are until then, if that is not the usual place.
fn told_where(inverse: &str, prepared: &[PreparedStep], entry: u64) -> String {
    let mut words: Vec<String> = prepared.iter().filter_map(PreparedStep::parked_words).collect();
    words.dedup();
    words.extend((1..).zip(prepared).filter_map(|(step, one)| one.cut_words(entry, step)));
    std::iter::once(inverse.to_owned()).chain(words).collect::<Vec<_>>().join("; ")
}

/// Lists the follow-ups of a plan.
fn of_plan(plan: &Plan, action: Action) -> Vec<(String, Request)> {
    let request = |plan: &Plan| Request::Act { key: plan.subject.clone(), action };
    plan.follows.iter().map(|plan| (plan.what.clone(), request(plan))).collect()
}

/// Lists the follow-ups of an entry, to be undone with it.
fn of_entry(history: &History, number: u64, to: RestoreTo) -> Vec<(String, Request)> {
    let requests = history.followers(number).map(|entry| {
        let title = format!("undo entry {}: {}", entry.number, entry.intent.title);
        (title, Request::Undo { entry: entry.number, to })
    });
    requests.collect()
}

/// Previews each part.
pub(super) fn see_all<D: Disk>(
    lock: &Lock<'_, D>,
    report: &Report,
    requests: Vec<(String, Request)>,
    rules: &Rules,
    now: Timestamp,
) -> Vec<FollowUp> {
    let see = |(title, request)| FollowUp {
        title,
        preview: Preview::look(lock, report, request, rules, now).map(Box::new),
        is_confirmed: false,
    };
    requests.into_iter().map(see).collect()
}
