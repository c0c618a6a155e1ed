//! Finds what a person means, and says so where nothing or several things are called so.

use std::path::Path;

use anyhow::anyhow;

use crate::cli::output::failure::Failure;
use crate::core::model::text::shown;
use crate::core::model::{RecordView, Report};
use crate::core::plan::find::{Meaning, Subject, find as resolve};
use crate::core::plan::full_name;
use crate::core::plan::left::left_by;
use crate::present::left_over;

/// How many candidates an error lists.
const LISTED: usize = 12;

const LISTS: &str = "claimtop ls sessions lists the records, claimtop ls claims the claims";

/// What is meant for certain.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Match<'a> {
    One(Subject<'a>),
    /// All that an ended window has left, by one of its records.
    Left(&'a RecordView),
}

/// Describes a thing in one line, so that it cannot be mistaken for another.
pub(crate) fn describe(report: &Report, subject: Subject<'_>) -> String {
    let what = match subject {
        Subject::Window(window) => format!("window {}, {} {}", window.title(), window.agent, window.pid),
        Subject::Record(record) => {
            format!("record {} {} {}", record.format.name(), record.title, record.location)
        }
        Subject::Claim(claim) => {
            format!("claim {} {}", claim.resource.kind.name(), full_name(report, claim))
        }
        Subject::LeftOver(one) => format!("left-over {}", left_over::what(one)),
        Subject::LeftTree(one) => format!("left-over {}", left_over::tree(one)),
        Subject::LeftStash(one) => format!("left-over {}", left_over::stash(one)),
        Subject::Broken(_) => "a file or source that could not be read".to_owned(),
    };
    format!("{}  {what}", subject.key())
}

/// Finds what is meant.
///
/// # Errors
/// A usage error that lists the candidates: nothing or several things fit.
pub(crate) fn find<'a>(report: &'a Report, asked: &str) -> Result<Match<'a>, Failure> {
    if asked.is_empty() {
        return Err(Failure::usage(anyhow!("an empty key means nothing")).hint(LISTS));
    }
    // The name of a file in the working folder is a path as well.
    let path = std::path::absolute(Path::new(asked)).unwrap_or_else(|_| asked.into());
    match resolve(report, asked, &path) {
        Meaning::One(subject) => Ok(Match::One(subject)),
        Meaning::Left(record) => Ok(Match::Left(record)),
        Meaning::Nothing => Err(nothing(report, asked)),
        Meaning::Several(several) => {
            let mut here = several.iter().filter(|subject| subject.key().machine().is_none());
            match (here.next(), here.next()) {
                // A name without a machine is first of all one of here, such as a PID.
                (Some(one), None) => Ok(Match::One(*one)),
                _ => Err(ambiguous(report, &several, asked)),
            }
        }
    }
}

/// Finds what is called so here, as [`find`] does. If nothing is, the error names what is called so elsewhere, as `all`
/// machines are seen together.
///
/// # Errors
/// As [`find`].
pub(crate) fn find_here<'a>(
    report: &'a Report,
    all: Option<&Report>,
    asked: &str,
) -> Result<Match<'a>, Failure> {
    let path = std::path::absolute(Path::new(asked)).unwrap_or_else(|_| asked.into());
    let is_unknown = |seen: &Report| matches!(resolve(seen, asked, &path), Meaning::Nothing);
    match all.filter(|all| !asked.is_empty() && is_unknown(report) && !is_unknown(all)) {
        Some(all) => Err(elsewhere(all, asked, &path)),
        None => find(report, asked),
    }
}

/// Says by which keys things of other machines are meant.
fn elsewhere(all: &Report, asked: &str, path: &Path) -> Failure {
    let subjects = match resolve(all, asked, path) {
        Meaning::Nothing => Vec::new(),
        Meaning::One(subject) => vec![subject],
        Meaning::Left(record) => left_by(all, record).into_iter().map(Subject::Record).collect(),
        Meaning::Several(several) => several,
    };
    let error = anyhow!("nothing here is called {}", shown(asked));
    Failure::usage(error).hint(format!("other machines have these; give a key:\n{}", listed(all, &subjects)))
}

/// Finds every single thing that is meant: of an ended window each record that it has left.
///
/// # Errors
/// As [`find`].
pub(crate) fn find_all<'a>(report: &'a Report, asked: &str) -> Result<Vec<Subject<'a>>, Failure> {
    Ok(match find(report, asked)? {
        Match::One(subject) => vec![subject],
        Match::Left(record) => left_by(report, record).into_iter().map(Subject::Record).collect(),
    })
}

fn nothing(report: &Report, asked: &str) -> Failure {
    let error = anyhow!("nothing here is called {}", shown(asked));
    let candidates: Vec<_> = report.windows.iter().map(Subject::Window).collect();
    let failure = Failure::usage(error);
    if candidates.is_empty() {
        return failure.hint(LISTS);
    }
    failure.hint(format!("these windows are here:\n{}", listed(report, &candidates)))
}

fn ambiguous(report: &Report, several: &[Subject<'_>], asked: &str) -> Failure {
    let error = anyhow!("{} can mean {} things", shown(asked), several.len());
    Failure::usage(error).hint(format!("give one of these keys, or more of it:\n{}", listed(report, several)))
}

fn listed(report: &Report, subjects: &[Subject<'_>]) -> String {
    let line = |subject: &Subject<'_>| format!("  {}", describe(report, *subject));
    let mut lines: Vec<String> = subjects.iter().take(LISTED).map(line).collect();
    if subjects.len() > LISTED {
        lines.push(format!("  and {} more", subjects.len() - LISTED));
    }
    lines.join("\n")
}
