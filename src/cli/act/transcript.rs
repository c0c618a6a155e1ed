//! What the acting commands print: plans, receipts, refusals, line by line or as one JSON object.

use serde::Serialize;

use crate::act::error::ActionError;
use crate::act::execute::Receipt;
use crate::act::follow_up::Completed;
use crate::act::preflight::preview::Preview;
use crate::cli::failure::{Exit, Failure, Outcome, exit_of};
use crate::cli::output::{Paint, Shape, lines, print_if_heard};
use crate::core::model::json;
use crate::core::model::text::shown;
use crate::core::model::{Confirmation, Ended, Plan};
use crate::present::page::Page;
use crate::present::plan;
use crate::present::tone::Tone;
use crate::source::os::clock;

/// The name of the JSON schema.
const SCHEMA: &str = "claimtop.action.v1";

/// What was reported so far. An output that fails never stops what is being done: it is reported at the
/// end, and of a reader that has gone nothing is.
pub(super) struct Transcript {
    shape: Shape,
    answer: Object,
    worst: Exit,
    unheard: Option<Failure>,
}

#[derive(Serialize)]
struct Object {
    schema: &'static str,
    plans: Vec<ShownPlan>,
    receipts: Vec<Receipt>,
    refused: Vec<Refused>,
}

#[derive(Serialize)]
struct ShownPlan {
    #[serde(flatten)]
    plan: Plan,
    /// What `--confirm` must be, when it is a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
}

#[derive(Serialize)]
struct Refused {
    what: Option<String>,
    why: String,
}

impl Transcript {
    pub(super) fn new(shape: Shape) -> Self {
        let answer = Object { schema: SCHEMA, plans: Vec::new(), receipts: Vec::new(), refused: Vec::new() };
        Self { shape, answer, worst: Exit::Fine, unheard: None }
    }

    /// Ends a command that has nothing to act on.
    pub(super) fn nothing(mut self) -> Outcome {
        if let Shape::Text(paint) = self.shape {
            self.say(&format!("{}\n", paint.paint(Tone::Good, "There is nothing to do.")));
        }
        self.end()
    }

    pub(super) fn plan(&mut self, seen: &Preview) {
        let code = (seen.plan.confirmation == Confirmation::Code).then(|| seen.code());
        if let Shape::Text(paint) = self.shape {
            self.say(&text(seen, paint));
        }
        self.answer.plans.push(ShownPlan { plan: seen.plan.clone(), code });
    }

    /// Tells what was done, and what followed, line by line.
    pub(super) fn carried(&mut self, carried: &Completed) {
        self.receipt(&carried.receipt);
        for followed in &carried.followed {
            match &followed.end {
                Ok(receipt) => self.receipt(receipt),
                Err(trouble) => self.trouble(Some(&followed.title), trouble),
            }
        }
    }

    fn receipt(&mut self, receipt: &Receipt) {
        let outcome = &receipt.outcome;
        let (_, tone, word) = plan::ended(Some(outcome.ended));
        let word = if outcome.ended == Ended::Changed { "changed under you" } else { word };
        self.worsen(match outcome.ended {
            Ended::Done => Exit::Fine,
            Ended::Changed => Exit::Refused,
            Ended::Failed | Ended::Stuck | Ended::Unknown | Ended::Partly => Exit::Failed,
        });
        let (entry, ended) = (receipt.entry, outcome.ended);
        match ended {
            Ended::Done => tracing::info!(entry, ?ended, "acted"),
            Ended::Changed | Ended::Failed | Ended::Stuck | Ended::Unknown | Ended::Partly => {
                tracing::warn!(entry, ?ended, detail = %shown(&outcome.detail), "did not act");
            }
        }
        if let Shape::Text(paint) = self.shape {
            let detail = if outcome.detail.is_empty() {
                String::new()
            } else {
                format!(": {}", shown(&outcome.detail))
            };
            let undo = if outcome.ended == Ended::Done && receipt.undoes.is_none() && !receipt.is_final {
                format!("; claimtop undo {}", receipt.entry)
            } else {
                String::new()
            };
            self.say(&format!(
                "{} {}{detail}{}\n",
                paint.paint(tone, word),
                shown(&receipt.title),
                paint.paint(Tone::Dim, &undo)
            ));
        }
        self.answer.receipts.push(receipt.clone());
    }

    pub(super) fn trouble(&mut self, what: Option<&str>, trouble: &ActionError) {
        let why = trouble.to_string();
        tracing::warn!(detail = %shown(&why), "did not act");
        self.refused(what, &why, exit_of(trouble));
    }

    /// Says of a plan that was only shown why it would not be done yet.
    pub(super) fn waits(&mut self, seen: &Preview) {
        if let Some(wait) = &seen.wait {
            self.refused(Some(&seen.plan.what), &wait.to_string(), Exit::Refused);
        }
    }

    /// Says what a plan asks for that was not given.
    pub(super) fn unconfirmed(&mut self, seen: &Preview) {
        self.refused(Some(&seen.plan.what), &wanted(seen), Exit::Refused);
    }

    fn refused(&mut self, what: Option<&str>, why: &str, exit: Exit) {
        self.worsen(exit);
        if let Shape::Text(paint) = self.shape {
            let about = what.map(|what| format!("{}: ", shown(what))).unwrap_or_default();
            self.say(&format!("{} {about}{}\n", paint.paint(Tone::Warning, "not done"), shown(why)));
        }
        self.answer.refused.push(Refused { what: what.map(str::to_owned), why: why.to_owned() });
    }

    fn worsen(&mut self, exit: Exit) {
        if exit.code() > self.worst.code() {
            self.worst = exit;
        }
    }

    fn say(&mut self, text: &str) {
        if let Err(failure) = print_if_heard(text) {
            self.unheard.get_or_insert(failure);
        }
    }

    pub(super) fn end(mut self) -> Outcome {
        if self.shape == Shape::Json {
            self.say(&format!("{}\n", json::to_string_pretty(&self.answer)?));
        }
        self.unheard.map_or(Ok(self.worst), Err)
    }
}

/// Says what confirms a plan.
fn wanted(seen: &Preview) -> String {
    match seen.plan.confirmation {
        Confirmation::Yes => "--yes does it".to_owned(),
        Confirmation::Code => format!("--confirm {} does it, for this state only", seen.code()),
        Confirmation::FullName => {
            let name = shown(&seen.plan.name);
            let why = if seen.plan.ends_processes() { "for good" } else { "although a live window holds it" };
            format!("--confirm {name:?} does it, {why}")
        }
        Confirmation::Refused => "it is never done".to_owned(),
    }
}

/// Lays a plan out, under what it would do.
fn text(seen: &Preview, paint: Paint) -> String {
    let mut page = Page::for_text(clock::now());
    page.heading(&seen.plan.name);
    plan::write(&mut page, &seen.plan, (&wanted(seen), Tone::Plain));
    lines(&page, paint)
}
