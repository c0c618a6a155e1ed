//! `setup`: adds claimtop's hooks and status line to the settings of the agents that are there, or removes them, by a
//! plan that is shown as a diff, journalled and undone as one.

mod agent;
mod output;

use self::agent::{AgentSetup, SetupState};
use self::output::SetupOutput;
use crate::act::executor::Executor;
use crate::act::preflight::preview::Preview;
use crate::act::rules::{Answer, Rules};
use crate::cli::act::open;
use crate::cli::args::{Consent, SetupArguments};
use crate::cli::hook::{ALL, Agent, check};
use crate::cli::output::failure::{Exit, Failure, Outcome, exit_of, of_action};
use crate::cli::output::{Paint, Shape, said_yes};
use crate::cli::settings::Settings;
use crate::core::model::{EndResult, Report, Request, SetupWay};

/// Sets claimtop up in agents' settings, or takes it out of them.
///
/// # Errors
/// The state folder cannot be opened, or the output cannot be written.
pub(crate) fn run(settings: &Settings, asked: &SetupArguments) -> Outcome {
    if asked.check {
        return check::check(settings);
    }
    let way = if asked.remove { SetupWay::Remove } else { SetupWay::Add };
    let agents: Vec<Agent> =
        ALL.into_iter().filter(|agent| asked.agents.is_empty() || asked.agents.contains(agent)).collect();
    let is_named = !asked.agents.is_empty();
    let mut setups: Vec<AgentSetup> =
        agents.into_iter().flat_map(|agent| AgentSetup::all(agent, settings, way, is_named)).collect();
    let paint = Paint::for_stdout(settings.effective.config.color);
    let shape = if asked.json { Shape::Json } else { Shape::Text(paint) };
    let mut shown = SetupOutput::new(shape, way);
    if setups.iter().any(AgentSetup::is_planned) {
        let consent = Consent { dry_run: asked.dry_run, yes: asked.yes, ..Consent::default() };
        let mut executor = open::opened(settings, &consent)?;
        let report = executor.report();
        let preview = planned(&mut executor, &report, &mut setups)?;
        shown.plan(&setups)?;
        if let Some(preview) = preview
            && is_confirmed(&consent, shape)?
        {
            shown.entry = carried_out(&mut executor, preview, &mut setups)?;
        } else if !consent.dry_run && setups.iter().any(AgentSetup::is_planned) {
            shown.is_unconfirmed = true;
        }
    } else {
        shown.plan(&setups)?;
    }
    shown.end(&setups)
}

fn is_confirmed(consent: &Consent, shape: Shape) -> Result<bool, Failure> {
    if consent.dry_run {
        return Ok(false);
    }
    Ok(consent.yes || (shape != Shape::Json && said_yes("Do it")?))
}

/// Plans what can be done, as one; of what cannot it writes down why.
fn planned(
    executor: &mut Executor,
    report: &Report,
    setups: &mut [AgentSetup],
) -> Result<Option<Preview>, Failure> {
    let mut planned: Vec<&mut AgentSetup> = setups.iter_mut().filter(|setup| setup.is_planned()).collect();
    let requests: Vec<Request> = planned.iter().map(|setup| setup.request()).collect();
    let mut alone = Vec::new();
    let mut files = Vec::new();
    let mut all = executor.see(report, &requests).map_err(of_action)?;
    if all.iter().any(|seen| matches!(seen, Ok(Preview { wait: Some(_), .. }))) {
        // What was written a moment ago may be written again.
        std::thread::sleep(Rules::SETTLED_FOR.unsigned_abs());
        all = executor.see(report, &requests).map_err(of_action)?;
    }
    for (setup, seen) in planned.iter_mut().zip(all) {
        match seen {
            Err(error) => setup.state = SetupState::Refused(error.to_string()),
            Ok(Preview { wait: Some(wait), .. }) => setup.state = SetupState::Refused(wait.to_string()),
            Ok(preview) => {
                if let SetupState::Planned { diff, .. } = &mut setup.state {
                    diff.clone_from(&preview.plan.diff);
                }
                files.push(setup.edit.clone());
                alone.push(preview);
            }
        }
    }
    if files.len() < 2 {
        return Ok(alone.pop());
    }
    let seen = executor.see(report, &[Request::Setup { files }]).map_err(of_action)?;
    seen.into_iter().next().transpose().map_err(of_action)
}

/// Does it, and writes down what has become of each; returns the entry that takes all of it back.
fn carried_out(
    executor: &mut Executor,
    preview: Preview,
    setups: &mut [AgentSetup],
) -> Result<Option<u64>, Failure> {
    let is_one = preview.follow_ups.is_empty();
    let carried = executor.carry_out(preview, &Answer::Yes);
    let planned = setups.iter_mut().filter(|setup| setup.is_planned());
    let carried = match carried {
        Ok(carried) => carried,
        Err(error) if exit_of(&error) == Exit::Refused => {
            planned.for_each(|setup| setup.state = SetupState::Refused(error.to_string()));
            return Ok(None);
        }
        Err(error) => return Err(of_action(error)),
    };
    let entry = carried.receipt.entry;
    let first = is_one.then_some(Ok(carried.receipt));
    let ends = first.into_iter().chain(carried.followed.into_iter().map(|part| part.end));
    for (setup, end) in planned.zip(ends) {
        let done =
            if let SetupState::Planned { done, .. } = &setup.state { done.clone() } else { String::new() };
        setup.state = match end {
            Ok(receipt) if receipt.outcome.ended == EndResult::Done => SetupState::Done(done),
            Ok(receipt) => SetupState::Refused(receipt.outcome.detail),
            Err(error) => SetupState::Refused(error.to_string()),
        };
    }
    Ok(Some(entry))
}
