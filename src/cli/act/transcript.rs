//! What the acting commands print: plans, receipts, refusals, line by line or as one JSON object.

use serde::Serialize;

use crate::act::error::ActionError;
use crate::act::execute::Receipt;
use crate::act::execute::follow_up::CompletedAction;
use crate::act::orders::sender::SentOrder;
use crate::act::preflight::preview::Preview;
use crate::cli::output::failure::{Exit, Failure, Outcome, exit_of, exit_of_kind};
use crate::cli::output::{Paint, Shape, lines, print_if_heard};
use crate::core::fleet::order::{Became, OrderReceipt, ProposedPlan};
use crate::core::history::journal::Entry;
use crate::core::model::snapshot::unread;
use crate::core::model::text::{json, shown};
use crate::core::model::{Confirmation, EndResult, ErrorKind, Obstacle, Plan, Report, Topic};
use crate::present::need::unfinished_actions;
use crate::present::plan;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::present::text::zone::Zone;
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
    /// What a printed command must end with to meet the same hosts.
    given: String,
    /// What a clean has left, and the command for it.
    pub(super) left: Option<String>,
}

#[derive(Serialize)]
struct Object {
    schema: &'static str,
    plans: Vec<ShownPlan>,
    receipts: Vec<Receipt>,
    /// What was asked of another machine.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    orders: Vec<ShownOrder>,
    refused: Vec<RefusedAction>,
    /// What has become of earlier actions that were cut off.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    put_right: Vec<Receipt>,
    /// The earlier actions that did not end, each with the command that finishes it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unfinished: Vec<UnfinishedEntry>,
    /// What a clean has left, and the command for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    left: Option<String>,
}

/// An earlier action that did not end.
#[derive(Serialize)]
struct UnfinishedEntry {
    entry: u64,
    /// The machine whose journal has it, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
    says: String,
}

#[derive(Serialize)]
struct ShownPlan {
    #[serde(flatten)]
    plan: Plan,
    /// What `--confirm` must be, when it is a code.
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<String>,
    /// The machine that it was made on, where that is another one.
    #[serde(skip_serializing_if = "Option::is_none")]
    machine: Option<String>,
}

/// What was asked of another machine, and what has become of it.
#[derive(Serialize)]
struct ShownOrder {
    machine: String,
    /// The entry of this machine's journal.
    entry: u64,
    title: String,
    #[serde(flatten)]
    receipt: OrderReceipt,
}

#[derive(Serialize)]
struct RefusedAction {
    what: Option<String>,
    why: String,
}

impl Transcript {
    pub(super) fn new(shape: Shape, given: String) -> Self {
        let answer = Object {
            schema: SCHEMA,
            plans: Vec::new(),
            receipts: Vec::new(),
            orders: Vec::new(),
            refused: Vec::new(),
            put_right: Vec::new(),
            unfinished: Vec::new(),
            left: None,
        };
        Self { shape, answer, worst: Exit::Fine, unheard: None, given, left: None }
    }

    /// Ends a command that has nothing to act on, as far as is known.
    pub(super) fn nothing(mut self, report: &Report) -> Outcome {
        self.unfinished(report, &[]);
        if let Shape::Text(paint) = self.shape
            && self.answer.unfinished.is_empty()
        {
            let is_open = unread(&report.sources, Topic::All).next().is_some();
            let says = if is_open {
                paint.paint(
                    Tone::Warning,
                    "There is nothing to do, as far as is known: not everything could be read.",
                )
            } else {
                paint.paint(Tone::Good, "There is nothing to do.")
            };
            self.add_line(&format!("{says}\n"));
        }
        self.end()
    }

    /// Reports what has become of earlier actions: how those ended that were put right, and which did not end.
    pub(super) fn earlier(&mut self, report: &Report, put_right: &[Entry]) {
        self.unfinished(report, put_right);
        self.ended_earlier(put_right.iter());
    }

    fn ended_earlier<'a>(&mut self, put_right: impl Iterator<Item = &'a Entry>) {
        for entry in put_right {
            self.say_put_right(entry);
            self.answer.put_right.extend(ended_receipt(entry));
        }
    }

    /// Reports the actions that did not end, but for those that have been put right.
    fn unfinished(&mut self, report: &Report, put_right: &[Entry]) {
        for (need, says) in unfinished_actions(report) {
            let Some(entry) = need.subject.entry() else { continue };
            let machine = need.subject.machine().map(str::to_owned);
            if machine.is_none() && put_right.iter().any(|ended| ended.number == entry) {
                continue;
            }
            if let Shape::Text(paint) = self.shape {
                self.add_line(&format!("{}\n", paint.paint(Tone::Warning, &shown(&says))));
            }
            self.answer.unfinished.push(UnfinishedEntry { entry, machine, says });
        }
    }

    pub(super) fn is_json(&self) -> bool {
        self.shape == Shape::Json
    }

    pub(super) fn plan(&mut self, seen: &Preview) {
        self.shown(&seen.plan, seen.wanted().as_deref(), None);
        seen.left_out.iter().for_each(|error| self.trouble(None, error));
    }

    /// Shows a plan that was made on another machine.
    pub(super) fn proposed(&mut self, proposed: &ProposedPlan, machine: &str) {
        self.shown(&proposed.plan, proposed.wanted.as_deref(), Some(machine));
    }

    fn shown(&mut self, plan: &Plan, wanted: Option<&str>, machine: Option<&str>) {
        let code = wanted.filter(|_| plan.confirmation == Confirmation::Code).map(str::to_owned);
        if let Shape::Text(paint) = self.shape {
            self.add_line(&text(plan, wanted, machine, paint));
        }
        let machine = machine.map(str::to_owned);
        self.answer.plans.push(ShownPlan { plan: plan.clone(), code, machine });
    }

    /// Prints the result of an order, and of what followed it.
    pub(super) fn ordered(&mut self, machine: &str, title: &str, sent: &SentOrder) {
        self.became(machine, title, &sent.receipt.became, Some(sent.entry));
        for part in &sent.receipt.followed {
            self.became(machine, &part.title, &part.became, None);
        }
        let (machine, title) = (machine.to_owned(), title.to_owned());
        let receipt = sent.receipt.clone();
        self.answer.orders.push(ShownOrder { machine, entry: sent.entry, title, receipt });
    }

    fn became(&mut self, machine: &str, title: &str, became: &Became, entry: Option<u64>) {
        let (exit, word, tone, detail) = match became {
            Became::Ended { ended, detail, .. } => {
                let (_, tone, word) = plan::ended(Some(*ended));
                let word = if *ended == EndResult::Changed { "changed under you" } else { word };
                (exit_of_end(*ended), word, tone, detail)
            }
            Became::Refused(why) => (exit_of_kind(why.kind), "not done", Tone::Warning, &why.text),
            Became::Unknown(why) => (Exit::Failed, "unknown until seen", Tone::Notice, why),
        };
        self.worsen(exit);
        let Shape::Text(paint) = self.shape else { return };
        let hint = match (became, entry) {
            (Became::Ended { ended: EndResult::Done, .. }, Some(entry)) => {
                format!("; claimtop undo {entry}{}", self.given)
            }
            (Became::Unknown(_), Some(_)) => {
                format!("; claimtop journal --on {machine}{} asks again", self.given)
            }
            _ => String::new(),
        };
        let detail = if detail.is_empty() { String::new() } else { format!(": {}", shown(detail)) };
        let (word, hint) = (paint.paint(tone, word), paint.paint(Tone::Dim, &hint));
        self.add_line(&format!("{word} on {machine}: {}{detail}{hint}\n", shown(title)));
    }

    /// Prints why nothing is done on another machine.
    pub(super) fn obstacle(&mut self, what: Option<&str>, why: &Obstacle) {
        self.refused(what, &why.text, exit_of_kind(why.kind));
    }

    /// Prints what was done, and what followed, line by line.
    pub(super) fn carried(&mut self, carried: &CompletedAction) {
        self.receipt(&carried.receipt);
        for followed in &carried.followed {
            match &followed.end {
                Ok(receipt) => self.receipt(receipt),
                Err(trouble) => self.trouble(Some(&followed.title), trouble),
            }
        }
    }

    /// Prints how an entry that was cut off was put right, and those beside it; there is nothing more to do.
    pub(super) fn put_right(mut self, entry: &Entry, all: &[Entry]) -> Outcome {
        self.worsen(if entry.is_stuck() { Exit::Failed } else { Exit::Fine });
        self.say_put_right(entry);
        self.answer.receipts.extend(ended_receipt(entry));
        let others = all.iter().filter(|other| other.number != entry.number);
        self.ended_earlier(others);
        self.end()
    }

    fn say_put_right(&mut self, entry: &Entry) {
        let (Shape::Text(paint), Some(outcome)) = (self.shape, &entry.outcome) else { return };
        let hint = if entry.is_stuck() {
            format!("; claimtop undo {} --beside brings back what is parked", entry.brought_back_by())
        } else {
            String::new()
        };
        let (number, title, detail) = (entry.number, shown(&entry.intent.title), shown(&outcome.detail));
        let (word, hint) = (paint.paint(Tone::Good, "put right"), paint.paint(Tone::Dim, &hint));
        self.add_line(&format!("{word} entry {number}, {title}: {detail}{hint}\n"));
    }

    fn receipt(&mut self, receipt: &Receipt) {
        let outcome = &receipt.outcome;
        let (_, tone, word) = plan::ended(Some(outcome.ended));
        let word = if outcome.ended == EndResult::Changed { "changed under you" } else { word };
        self.worsen(exit_of_end(outcome.ended));
        let (entry, ended) = (receipt.entry, outcome.ended);
        match ended {
            EndResult::Done => tracing::info!(entry, ?ended, "acted"),
            EndResult::Changed
            | EndResult::Failed
            | EndResult::Stuck
            | EndResult::Unknown
            | EndResult::Partly => {
                tracing::warn!(entry, ?ended, detail = %shown(&outcome.detail), "did not act");
            }
        }
        if let Shape::Text(paint) = self.shape {
            let detail = if outcome.detail.is_empty() {
                String::new()
            } else {
                format!(": {}", shown(&outcome.detail))
            };
            let undo = if outcome.ended == EndResult::Done && receipt.undoes.is_none() && !receipt.is_final {
                format!("; claimtop undo {}", receipt.entry)
            } else {
                String::new()
            };
            self.add_line(&format!(
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
        let word = match trouble.kind() {
            ErrorKind::Stuck => "unfinished",
            ErrorKind::Unsure => "unknown",
            ErrorKind::Never
            | ErrorKind::NotConfirmed
            | ErrorKind::Changed
            | ErrorKind::TooYoung
            | ErrorKind::Busy
            | ErrorKind::Taken
            | ErrorKind::Failed => "not done",
        };
        self.ended(what, word, &why, exit_of(trouble));
    }

    /// Says of a plan that was only shown why it would not be done yet.
    pub(super) fn waits(&mut self, seen: &Preview) {
        if let Some(wait) = &seen.wait {
            self.refused(Some(&seen.plan.what), &wait.to_string(), Exit::Refused);
        }
    }

    /// Says what a plan asks for that was not given.
    pub(super) fn unconfirmed(&mut self, plan: &Plan, text: Option<&str>) {
        self.refused(Some(&plan.what), &wanted(plan, text), Exit::Refused);
    }

    fn refused(&mut self, what: Option<&str>, why: &str, exit: Exit) {
        self.ended(what, "not done", why, exit);
    }

    fn ended(&mut self, what: Option<&str>, word: &str, why: &str, exit: Exit) {
        self.worsen(exit);
        if let Shape::Text(paint) = self.shape {
            let about = what.map(|what| format!(" {}", shown(what))).unwrap_or_default();
            let why = shown(&Zone(clock::zone()).localized(why));
            self.add_line(&format!("{}{about}: {why}\n", paint.paint(Tone::Warning, word)));
        }
        self.answer.refused.push(RefusedAction { what: what.map(str::to_owned), why: why.to_owned() });
    }

    fn worsen(&mut self, exit: Exit) {
        if exit.code() > self.worst.code() {
            self.worst = exit;
        }
    }

    fn add_line(&mut self, text: &str) {
        if let Err(failure) = print_if_heard(text) {
            self.unheard.get_or_insert(failure);
        }
    }

    pub(super) fn end(mut self) -> Outcome {
        if let (Shape::Text(paint), Some(left)) = (self.shape, self.left.take()) {
            self.add_line(&format!("{}\n", paint.paint(Tone::Notice, &left)));
        }
        self.answer.left = self.left.take();
        if self.shape == Shape::Json {
            self.add_line(&format!("{}\n", json::to_string_pretty(&self.answer)?));
        }
        self.unheard.map_or(Ok(self.worst), Err)
    }
}

/// Returns how an entry that was put right has ended.
fn ended_receipt(entry: &Entry) -> Option<Receipt> {
    let outcome = entry.outcome.clone()?;
    let (entry, title) = (entry.number, entry.intent.title.clone());
    Some(Receipt { entry, title, undoes: None, is_final: true, outcome })
}

/// Returns the exit code of how something ended.
fn exit_of_end(ended: EndResult) -> Exit {
    match ended {
        EndResult::Done => Exit::Fine,
        EndResult::Changed => Exit::Refused,
        EndResult::Failed | EndResult::Stuck | EndResult::Unknown | EndResult::Partly => Exit::Failed,
    }
}

/// Says what confirms a plan: what must be typed, where a plain yes is not enough.
fn wanted(plan: &Plan, text: Option<&str>) -> String {
    let text = shown(text.unwrap_or_default());
    match plan.confirmation {
        Confirmation::Yes => "--yes does it".to_owned(),
        Confirmation::Code => format!("--confirm {text} does it, for this state only"),
        Confirmation::FullName if plan.conflicts > 0 => {
            format!("--confirm {text:?} does it, with their markers in the file")
        }
        Confirmation::FullName => {
            let why = if plan.ends_processes() { "for good" } else { "although a live window holds it" };
            format!("--confirm {text:?} does it, {why}")
        }
        Confirmation::Refused => "it is never allowed".to_owned(),
    }
}

/// Lays a plan out, under what it would do.
fn text(plan: &Plan, typed: Option<&str>, machine: Option<&str>, paint: Paint) -> String {
    let mut page = Page::for_text(clock::now()).in_zone(&Zone(clock::zone()));
    page.heading(&plan.name);
    page.field("Machine", machine.unwrap_or_default(), Tone::Strong);
    plan::write(&mut page, plan, (&wanted(plan, typed), Tone::Plain));
    lines(&page, paint)
}

/// Asks for a plain yes to so many plans.
pub(super) fn question(number: usize) -> String {
    if number == 1 { "Do it".to_owned() } else { format!("Do all {number}") }
}

/// Returns whether there are plans, and a plain yes is enough for each.
pub(super) fn asks_only_for_yes<'a>(mut plans: impl Iterator<Item = &'a Plan> + Clone) -> bool {
    plans.clone().next().is_some() && plans.all(|plan| plan.confirmation == Confirmation::Yes)
}
