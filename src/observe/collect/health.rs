//! The health of each source, as text.

use std::collections::BTreeMap;
use std::path::Path;

use crate::core::model::snapshot::FOLDERS;
use crate::core::model::{Format, ProcessTable, Repo, SourceHealth, SourceState, Untrusted};
use crate::source::os::open::error::OpenError;
use crate::source::places::homes::MAX_FOLLOWED;

/// How many failures of one source are listed in full.
const TOLD: usize = 3;

/// The results of reading the files of each format.
#[derive(Default)]
pub(crate) struct Tallies {
    by_format: BTreeMap<Format, Tally>,
}

#[derive(Default)]
struct Tally {
    folders: usize,
    records: usize,
    broken: usize,
    failures: Vec<String>,
}

impl Tallies {
    /// Counts a folder that was listed.
    pub(crate) fn folder(&mut self, format: Format) {
        self.of(format).folders += 1;
    }

    pub(crate) fn record(&mut self, format: Format) {
        self.of(format).records += 1;
    }

    /// Counts a file that gave no record.
    pub(crate) fn broken(&mut self, format: Format) {
        self.of(format).broken += 1;
    }

    /// Notes a folder that could not be read; a missing folder is not a failure.
    pub(crate) fn failure(&mut self, format: Format, error: &OpenError) {
        if !error.is_absence() {
            self.note(format, error.to_string());
        }
    }

    /// Notes another failure.
    pub(crate) fn note(&mut self, format: Format, failure: String) {
        let failures = &mut self.of(format).failures;
        if !failures.contains(&failure) {
            failures.push(failure);
        }
    }

    fn of(&mut self, format: Format) -> &mut Tally {
        self.by_format.entry(format).or_default()
    }

    /// Returns the badge of every format, except for one that has no files, but a database among the `others`.
    pub(crate) fn health(&self, others: &[SourceHealth]) -> Vec<SourceHealth> {
        let none = Tally::default();
        let badge = |format: Format| self.by_format.get(&format).unwrap_or(&none).health(format);
        let is_database = |id: &str, other: &SourceHealth| {
            other.id.strip_prefix(id).is_some_and(|rest| rest.starts_with(':'))
        };
        let is_shown = |badge: &SourceHealth| {
            // LEO's files and its database contain different facts, so both are shown.
            badge.state != SourceState::Absent
                || badge.id == Format::Leo.name()
                || !others.iter().any(|other| is_database(&badge.id, other))
        };
        let own = self.by_format.keys().copied().filter(|format| !Format::ALL.contains(format));
        Format::ALL.into_iter().chain(own).map(badge).filter(is_shown).collect()
    }
}

impl Tally {
    fn health(&self, format: Format) -> SourceHealth {
        let state = match (self.failures.is_empty(), self.folders) {
            (true, 0) => SourceState::Absent,
            (true, _) => SourceState::Ok,
            (false, 0) => SourceState::Failed,
            (false, _) => SourceState::Partial,
        };
        let detail = match state {
            SourceState::Absent => "no folder".to_owned(),
            SourceState::Ok => self.counts(),
            SourceState::Failed => listed(&self.failures),
            SourceState::Partial => format!("{}; {}", self.counts(), listed(&self.failures)),
        };
        SourceHealth { id: format.name().to_owned(), state, detail: detail.into() }
    }

    fn counts(&self) -> String {
        let records = count(self.records, "record");
        if self.broken == 0 { records } else { format!("{records}, {}", count(self.broken, "unusable file")) }
    }
}

pub(crate) fn processes(table: &ProcessTable) -> SourceHealth {
    let number = table.listed.len().saturating_sub(table.threads.len());
    let counted = format!("{number} {}", if number == 1 { "process" } else { "processes" });
    let (state, detail) = match &table.partial {
        None => (SourceState::Ok, counted),
        Some(why) if table.listed.is_empty() => (SourceState::Failed, why.clone()),
        Some(why) => (SourceState::Partial, format!("{counted}; {why}")),
    };
    SourceHealth { id: "processes".to_owned(), state, detail: detail.into() }
}

/// Returns the badge of one repository; `outside` is the number of its working trees that lie outside the folders that
/// a person has named. Those are not read, which is not a failure.
pub(crate) fn repo(repo: &Repo, outside: usize, problems: &[String]) -> SourceHealth {
    let id = repo.source_id();
    if problems.is_empty() {
        let trees = count(repo.worktrees.len(), "working tree");
        let detail = match outside {
            0 => trees,
            outside => format!("{trees}, {outside} of them outside the folders that were named"),
        };
        SourceHealth { id, state: SourceState::Ok, detail: detail.into() }
    } else {
        partial(&id, listed(problems))
    }
}

/// Returns the badge of a root without repositories.
pub(crate) fn root(root: &Path, error: Option<&OpenError>) -> SourceHealth {
    let id = format!("root:{}", Untrusted::from_path(root).raw());
    let (state, detail) = match error {
        None => (SourceState::Absent, "no repository in it".to_owned()),
        Some(error) if error.is_absence() => (SourceState::Absent, error.to_string()),
        Some(error) => (SourceState::Failed, error.to_string()),
    };
    SourceHealth { id, state, detail: detail.into() }
}

/// Returns the badge of a number of windows' folders that lie outside those that a person has named.
pub(crate) fn outside(folders: usize) -> Option<SourceHealth> {
    let lie =
        if folders == 1 { "1 folder of windows lies" } else { &format!("{folders} folders of windows lie") };
    let detail =
        format!("{lie} outside the folders that were named: edits and repositories there are not read");
    let badge = SourceHealth { id: FOLDERS.to_owned(), state: SourceState::Absent, detail: detail.into() };
    (folders > 0).then_some(badge)
}

/// Returns the badge of homes that were left out.
pub(crate) fn more_homes() -> SourceHealth {
    let why = format!("windows have more than {MAX_FOLLOWED} folders of their own; the others were not read");
    partial("homes", why)
}

/// Returns the badge of something that was read in part.
pub(crate) fn partial(id: &str, why: String) -> SourceHealth {
    SourceHealth { id: id.to_owned(), state: SourceState::Partial, detail: why.into() }
}

fn listed(failures: &[String]) -> String {
    let more = failures.len().saturating_sub(TOLD);
    let list = failures.iter().take(TOLD).cloned().collect::<Vec<_>>().join("; ");
    if more == 0 { list } else { format!("{list}; and {more} more") }
}

fn count(number: usize, thing: &str) -> String {
    if number == 1 { format!("1 {thing}") } else { format!("{number} {thing}s") }
}
