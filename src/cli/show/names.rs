//! The names that a command takes now, for completions of a shell.

use std::collections::BTreeMap;

use crate::cli::act;
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::cli::settings::values::NamedCommand;
use crate::core::model::text::shown;
use crate::core::model::{Generation, Releasable, Report};
use crate::core::plan::find::Subject;
use crate::observe::Observer;
use crate::present::plan::title;

use super::explain::find::describe;

/// Prints one name a line, with what it is behind a tab. An error is not printed: a shell would show it in its prompt.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn run(command: NamedCommand, settings: &Settings, observer: &mut Observer) -> Outcome {
    let names = match command == NamedCommand::Undo {
        true => undoable(settings)?,
        false => names(&observer.observe(), command),
    };
    let line = |(name, what): &(String, String)| format!("{name}\t{what}\n");
    print(&names.iter().map(line).collect::<String>())?;
    Ok(Exit::Fine)
}

/// Returns the entries of the journal that can be undone, the newest first.
fn undoable(settings: &Settings) -> Result<Vec<(String, String)>, Failure> {
    let history = act::looking(settings)?.history().map_err(of_action)?;
    let newest_first = history.entries.iter().rev().filter(|entry| entry.can_be_undone());
    Ok(newest_first.map(|entry| (entry.number.to_string(), title(entry))).collect())
}

/// Returns the names of windows that have one of their own, and the keys of all that the command takes.
fn names(report: &Report, command: NamedCommand) -> Vec<(String, String)> {
    let subjects = subjects(report, command);
    let mut bearers: BTreeMap<String, usize> = BTreeMap::new();
    for window in &report.windows {
        *bearers.entry(window.title()).or_default() += 1;
    }
    let is_taken = |window: &str| bearers.get(window) == Some(&1) && shown(window) == window;
    let mut names = Vec::new();
    for subject in subjects {
        let line = describe(report, subject);
        let what = line.split_once("  ").map_or(line.as_str(), |(_, what)| what).to_owned();
        if let Subject::Window(window) = subject {
            let title = window.title();
            if is_taken(&title) {
                names.push((title, what.clone()));
            }
        }
        names.push((subject.key().to_string(), what));
    }
    names
}

/// Returns what a command can be about.
fn subjects(report: &Report, command: NamedCommand) -> Vec<Subject<'_>> {
    use NamedCommand as C;
    let windows = report.windows.iter().map(Subject::Window);
    let windows = windows.filter(|_| matches!(command, C::Explain | C::Events | C::Rescue | C::Stop));
    let claims = report.claims.iter().filter(|claim| match command {
        C::Release => claim.releasable != Releasable::No,
        C::Explain | C::Events => true,
        C::Stop | C::Rescue | C::Migrate | C::Park | C::Undo => false,
    });
    let records = report.records().filter(|record| match command {
        C::Migrate => record.generation == Generation::Legacy,
        C::Explain | C::Events | C::Release | C::Park => true,
        C::Stop | C::Rescue | C::Undo => false,
    });
    let left_overs = report.left_overs.iter().filter(|_| matches!(command, C::Explain | C::Stop));
    windows
        .chain(claims.map(Subject::Claim))
        .chain(records.map(Subject::Record))
        .chain(left_overs.map(Subject::LeftOver))
        .collect()
}
