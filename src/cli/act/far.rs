//! Acting on another machine: its own plans, confirmed here, carried out and journalled there.

use std::time::Duration;

use super::site::There;
use super::transcript::Transcript;
use crate::act::error::ActionError;
use crate::act::orders::sender::SentOrder;
use crate::cli::act::transcript::{asks_only_for_yes, question};
use crate::cli::args::Consent;
use crate::cli::output::failure::{Outcome, of_action};
use crate::cli::output::said_yes;
use crate::core::fleet::order::{MOST_REQUESTS, ProposedPlan, Standing};
use crate::core::model::ErrorKind;
use crate::core::model::text::shown;
use crate::core::model::{Action, Confirmation, Obstacle, Request};

/// How long a command asks for the outcome of an order whose connection was lost.
const PATIENCE: Duration = Duration::from_secs(45);

/// Shows every plan of another machine, asks where that is needed, and orders one after the other.
pub(super) fn carry_out(
    mut transcript: Transcript,
    mut there: There,
    requests: &[Request],
    consent: &Consent,
) -> Outcome {
    let chosen = planned(&mut transcript, &there, requests);
    if consent.dry_run {
        return transcript.end();
    }
    let is_asked = !transcript.is_json() && asks_only_for_yes(chosen.iter().map(|(_, one)| &one.plan));
    let is_yes = consent.yes || (is_asked && said_yes(&question(chosen.len()))?);
    for (action, proposed) in chosen {
        let typed = match (&consent.confirm, proposed.plan.confirmation == Confirmation::Yes) {
            (Some(text), false) if is_wanted(&proposed, text) => Some(text.clone()),
            (_, true) if is_yes => None,
            _ => {
                transcript.unconfirmed(&proposed.plan, proposed.wanted.as_deref());
                continue;
            }
        };
        let title = proposed.plan.what.clone();
        let undoes = there.undoes;
        match there.sender.send(&mut there.executor, (action, &proposed), typed, undoes) {
            Err(error) => transcript.trouble(Some(&title), &error),
            Ok(sent) => {
                let sent = followed(&mut there, sent).map_err(of_action)?;
                transcript.ordered(&there.machine, &title, &sent);
            }
        }
    }
    transcript.end()
}

/// Asks for the outcome of an order until it is known, or for as long as a person may be kept waiting.
fn followed(there: &mut There, sent: SentOrder) -> Result<SentOrder, ActionError> {
    if sent.receipt.became.standing() != Standing::Unknown {
        return Ok(sent);
    }
    let receipt = there.sender.settle_within(&mut there.executor, sent.entry, PATIENCE)?;
    Ok(SentOrder { receipt: receipt.unwrap_or(sent.receipt), ..sent })
}

/// Shows every plan, and returns those that can be done.
fn planned(transcript: &mut Transcript, there: &There, requests: &[Request]) -> Vec<(Action, ProposedPlan)> {
    let mut chosen = Vec::new();
    if requests.len() > MOST_REQUESTS {
        let text = format!("{} things are too many to do elsewhere at once", requests.len());
        transcript.obstacle(None, &Obstacle { kind: ErrorKind::Never, text });
        return chosen;
    }
    for (request, proposal) in requests.iter().zip(there.sender.plan(requests)) {
        match proposal {
            Ok(proposed) => {
                transcript.proposed(&proposed, &there.machine);
                chosen.push((request.action(), proposed));
            }
            Err(why) => transcript.obstacle(None, &why),
        }
    }
    chosen
}

/// Returns whether a text is what a plan asks for.
fn is_wanted(proposed: &ProposedPlan, text: &str) -> bool {
    proposed.wanted.as_deref().is_some_and(|wanted| wanted == text || wanted == shown(text))
}
