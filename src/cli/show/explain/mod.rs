//! `explain`: the evidence for one window, record, claim or left-over, and the rule that decided.

pub(crate) mod find;

use std::sync::Arc;

use serde::Serialize;

use super::list;
use crate::cli::output::failure::{Exit, Outcome};
use crate::cli::output::{Shape, lines, print};
use crate::core::model::text::json;
use crate::core::model::{
    ClaimView, Finding, Key, LeftOver, LeftStash, LeftTree, NotAsked, RecordShape, Report, Verdict,
    WindowView,
};
use crate::core::plan::find::{Subject, findings_about};
use crate::observe::ReportSource;
use crate::present::ladder;
use crate::present::report_index::Index;
use crate::present::text::page::Page;
use crate::present::text::tone::Tone;
use crate::present::text::zone::Zone;
use crate::source::os::clock;
use crate::source::os::processes::measured;

/// What `explain --json` prints: the one of window, record, claim, left-over and left tree that the subject is.
#[derive(Serialize)]
struct Explanation<'a> {
    subject: &'a Key,
    #[serde(skip_serializing_if = "Option::is_none")]
    window: Option<&'a WindowView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    record: Option<RecordShape<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    claim: Option<&'a ClaimView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_over: Option<&'a LeftOver>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_tree: Option<&'a LeftTree>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_stash: Option<&'a LeftStash>,
    /// Of the record that a claim is in; a record has its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    verdict: Option<&'a Verdict>,
    findings: Vec<&'a Finding>,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    not_asked: &'a [NotAsked],
}

/// What it prints of a window that has ended: each thing that it has left.
#[derive(Serialize)]
struct RemainsOutput<'a> {
    left: Vec<Explanation<'a>>,
}

/// Looks once and prints the evidence. Each command that is printed about another machine ends with
/// what is `given`.
///
/// # Errors
/// Nothing or several things are meant, or the output cannot be written.
pub(crate) fn run(reports: &mut dyn ReportSource, asked: &str, given: &str, shape: Shape) -> Outcome {
    // What is printed is passed on more readily than what a screen shows.
    let report = Arc::new(reports.next_report().without_prompts());
    let subjects = find::find_all(&report, asked)?;
    let all = subjects.iter().map(|subject| (*subject, findings_about(&report, *subject)));
    match shape {
        Shape::Text(paint) => {
            let mut index = Index::new(Arc::clone(&report));
            index.given = given.to_owned();
            let mut text = |subject: &Subject<'_>| {
                let household = report.household(subject.key());
                index.members = household.map(|one| (one.key.clone(), measured(&one)));
                lines(&page(&index, *subject), paint)
            };
            let texts: Vec<String> = subjects.iter().map(&mut text).collect();
            let rest = list::unfinished(&report, paint) + &list::unread_sources(&report, &[], paint);
            print(&(texts.join("\n") + &rest))?;
        }
        Shape::Json => {
            let mut all: Vec<_> =
                all.map(|(subject, findings)| explanation(&report, subject, findings)).collect();
            let text = match (all.len(), all.pop()) {
                (1, Some(only)) => json::to_string_pretty(&only)?,
                (_, last) => {
                    all.extend(last);
                    json::to_string_pretty(&RemainsOutput { left: all })?
                }
            };
            print(&format!("{text}\n"))?;
        }
    }
    Ok(Exit::Fine)
}

/// Writes everything about a subject, under a name that distinguishes it from all others.
fn page(index: &Index, subject: Subject<'_>) -> Page {
    let mut page = Page::for_text(index.report.taken_at).in_zone(&Zone(clock::zone()));
    page.text(&find::describe(&index.report, subject), Tone::Strong);
    ladder::write(&mut page, index, subject.key());
    page
}

fn explanation<'a>(report: &'a Report, subject: Subject<'a>, findings: Vec<&'a Finding>) -> Explanation<'a> {
    let nothing = Explanation {
        subject: subject.key(),
        window: None,
        record: None,
        claim: None,
        left_over: None,
        left_tree: None,
        left_stash: None,
        verdict: None,
        findings,
        not_asked: &report.not_asked,
    };
    match subject {
        Subject::Window(window) => Explanation { window: Some(window), ..nothing },
        Subject::Record(record) => Explanation { record: Some(record.shape(report.taken_at)), ..nothing },
        Subject::Claim(claim) => {
            Explanation { claim: Some(claim), verdict: Some(&claim.record.verdict), ..nothing }
        }
        Subject::LeftOver(one) => Explanation { left_over: Some(one), ..nothing },
        Subject::LeftTree(one) => Explanation { left_tree: Some(one), ..nothing },
        Subject::LeftStash(one) => Explanation { left_stash: Some(one), ..nothing },
        Subject::Broken(_) => nothing,
    }
}
