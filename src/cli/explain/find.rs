//! Finds what a person means by a key, the start of one, a PID or a path.

use std::path::Path;

use anyhow::anyhow;

use crate::cli::failure::Failure;
use crate::cli::words;
use crate::core::key::Key;
use crate::core::record::Format;
use crate::core::report::{ClaimView, RecordView, Report, WindowView};
use crate::core::text::{Untrusted, shown};

/// How many candidates an error lists.
const LISTED: usize = 12;

/// What lists what there is.
const LISTS: &str = "claimtop ls sessions lists the records, claimtop ls claims the claims";

/// One thing that can be explained.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Subject<'a> {
    /// A running agent.
    Window(&'a WindowView),
    /// A session record.
    Record(&'a RecordView),
    /// A claim.
    Claim(&'a ClaimView),
    /// A file or source that gave nothing but findings.
    Broken(&'a Key),
}

impl<'a> Subject<'a> {
    /// Returns its key.
    pub(crate) fn key(self) -> &'a Key {
        match self {
            Self::Window(window) => &window.key,
            Self::Record(record) => &record.key,
            Self::Claim(claim) => &claim.key,
            Self::Broken(key) => key,
        }
    }

    /// Describes it in one line.
    pub(crate) fn describe(self) -> String {
        let what = match self {
            Self::Window(window) => format!("window {}", words::window_name(window)),
            Self::Record(record) => {
                format!("record {} {}", words::record_name(record), record.location)
            }
            Self::Claim(claim) => format!("claim {} {}", claim.resource().kind.name(), claim.resource().id),
            Self::Broken(_) => "a file or source that could not be read".to_owned(),
        };
        format!("{}  {what}", self.key())
    }
}

/// Finds the one thing that is meant.
///
/// # Errors
/// A usage error that lists the candidates: nothing or several things fit.
pub(crate) fn find<'a>(report: &'a Report, asked: &str) -> Result<Subject<'a>, Failure> {
    if asked.is_empty() {
        return Err(Failure::usage(anyhow!("an empty key means nothing")).hint(LISTS));
    }
    let found = if asked.contains('/') {
        by_path(report, asked)
    } else if let Ok(pid) = asked.parse() {
        by_pid(report, pid)
    } else {
        by_key(report, asked)
    };
    // The name of a file in the working folder is a path as well.
    let found = if found.is_empty() { by_path(report, asked) } else { found };
    match found.as_slice() {
        [only] => Ok(*only),
        [] => Err(nothing(report, asked)),
        several => Err(ambiguous(several, asked)),
    }
}

/// Everything that has a key, each once.
fn all(report: &Report) -> Vec<Subject<'_>> {
    let mut all: Vec<Subject<'_>> = report.windows.iter().map(Subject::Window).collect();
    all.extend(report.records().map(Subject::Record));
    all.extend(report.claims.iter().map(Subject::Claim));
    for key in report.findings.iter().flat_map(|finding| finding.subjects()) {
        if !all.iter().any(|subject| subject.key() == key) {
            all.push(Subject::Broken(key));
        }
    }
    all
}

/// A whole key means itself, even where it also starts another one.
fn by_key<'a>(report: &'a Report, asked: &str) -> Vec<Subject<'a>> {
    let all = all(report);
    let exact: Vec<_> = all.iter().filter(|subject| subject.key().as_str() == asked).copied().collect();
    if exact.is_empty() {
        all.into_iter().filter(|subject| subject.key().as_str().starts_with(asked)).collect()
    } else {
        exact
    }
}

/// A PID means the window, else the records whose holder it is.
fn by_pid(report: &Report, pid: u32) -> Vec<Subject<'_>> {
    if let Some(window) = report.windows.iter().find(|window| window.pid == pid) {
        return vec![Subject::Window(window)];
    }
    let is_holder = |record: &&RecordView| record.pid() == Some(pid);
    report.records().filter(is_holder).map(Subject::Record).collect()
}

/// A path means the record that was read there, also one that could not be parsed: its key is
/// made of its format and path.
fn by_path<'a>(report: &'a Report, asked: &str) -> Vec<Subject<'a>> {
    let asked = std::path::absolute(Path::new(asked)).unwrap_or_else(|_| asked.into());
    let is_there = |record: &&RecordView| record.location.is(&asked);
    let records: Vec<_> = report.records().filter(is_there).map(Subject::Record).collect();
    if !records.is_empty() {
        return records;
    }
    let asked = Untrusted::from_path(&asked);
    let keys = Format::ALL.map(|format| Key::derive('r', &[format.name(), asked.raw()]));
    all(report).into_iter().filter(|subject| keys.contains(subject.key())).collect()
}

fn nothing(report: &Report, asked: &str) -> Failure {
    let error = anyhow!("nothing here is called {}", shown(asked));
    let candidates: Vec<_> = report.windows.iter().map(Subject::Window).collect();
    let failure = Failure::usage(error);
    if candidates.is_empty() {
        return failure.hint(LISTS);
    }
    failure.hint(format!("these windows are here:\n{}", listed(&candidates)))
}

fn ambiguous(several: &[Subject<'_>], asked: &str) -> Failure {
    let error = anyhow!("{} can mean {} things", shown(asked), several.len());
    Failure::usage(error).hint(format!("give more of one of these keys:\n{}", listed(several)))
}

fn listed(subjects: &[Subject<'_>]) -> String {
    let mut lines: Vec<String> =
        subjects.iter().take(LISTED).map(|subject| format!("  {}", subject.describe())).collect();
    if subjects.len() > LISTED {
        lines.push(format!("  and {} more", subjects.len() - LISTED));
    }
    lines.join("\n")
}
