//! `journal`: what was done, and the one command that removes anything.

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::path::Path;

use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

use super::act::{executor, looking};
use super::output::{Paint, print, print_if_heard, terminal_width};
use super::settings::Settings;
use crate::act::error::ActionError;
use crate::act::executor::Executor;
use crate::act::prune::{ParkedFile, removable};
use crate::cli::output::columns::{Cell, Columns};
use crate::cli::output::failure::{Exit, Failure, Outcome, of_action};
use crate::cli::output::said_yes;
use crate::config::Access;
use crate::core::history::journal::{Entry, History};
use crate::core::history::movement::Movement;
use crate::core::model::text::json;
use crate::core::model::text::{Untrusted, shown};
use crate::present::plan::{ended_of, title};
use crate::present::text::age;
use crate::present::text::count;
use crate::present::text::tone::Tone;
use crate::present::words;
use crate::source::os::open::folder::Folder;
use crate::source::places::PARKED;

/// What `journal --json` prints.
#[derive(Serialize)]
struct Journal<'a> {
    schema: &'static str,
    unreadable_lines: usize,
    entries: Vec<JournalOutput<'a>>,
}

#[derive(Serialize)]
struct JournalOutput<'a> {
    #[serde(flatten)]
    entry: &'a Entry,
    /// Whether undoing it would work now.
    can_be_undone: bool,
    /// Why it would not, where it was done or has left something parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    cannot_be_undone: Option<String>,
}

/// Why entries cannot be undone now.
type Obstacles = BTreeMap<u64, ActionError>;

/// Returns why entries cannot be undone now that were done here, or have left something parked.
fn obstacles(executor: &Executor, history: &History) -> Obstacles {
    let is_here = |entry: &&Entry| entry.intent.asked_of().is_none();
    let may_be = |entry: &&Entry| entry.can_be_undone() || entry.came_to_nothing();
    let asked = history.entries.iter().filter(is_here).filter(may_be);
    executor.undo_obstacles(&asked.map(|entry| entry.number).collect::<Vec<_>>())
}

/// Returns whether an entry can be undone now.
fn can_be_undone(entry: &Entry, obstacles: &Obstacles) -> bool {
    (entry.can_be_undone() || entry.came_to_nothing()) && !obstacles.contains_key(&entry.number)
}

/// Prints every entry, the newest first.
///
/// # Errors
/// The journal cannot be read, or the output cannot be written.
pub(crate) fn run(settings: &Settings, json: bool) -> Outcome {
    let executor = looking(settings)?;
    let history = executor.history().map_err(of_action)?;
    let obstacles = obstacles(&executor, &history);
    if json {
        let entries = history.entries.iter().rev().map(|entry| JournalOutput {
            entry,
            can_be_undone: can_be_undone(entry, &obstacles),
            cannot_be_undone: obstacles.get(&entry.number).map(ActionError::to_string),
        });
        let journal = Journal {
            schema: "claimtop.journal.v1",
            unreadable_lines: history.unreadable,
            entries: entries.collect(),
        };
        print(&format!("{}\n", json::to_string_pretty(&journal)?))?;
        return Ok(Exit::Fine);
    }
    let paint = Paint::for_stdout(settings.effective.config.color);
    let warned: String = warnings(settings, &history)
        .into_iter()
        .map(|text| format!("{}\n", paint.paint(Tone::Warning, &text)))
        .collect();
    print(&match history.entries.is_empty() && warned.is_empty() {
        true => format!("{}\n", paint.paint(Tone::Dim, "Nothing has been done yet.")),
        false => columns(&history, &obstacles, executor.now()).laid_out(paint, terminal_width()) + &warned,
    })?;
    Ok(Exit::Fine)
}

/// Says what of the journal is unfinished, cannot be read, or has been lost.
pub(crate) fn warnings(settings: &Settings, history: &History) -> Vec<String> {
    let mut lines = unfinished(history);
    if history.unreadable > 0 {
        lines.push(format!("{} of the journal cannot be read.", count(history.unreadable, "line")));
    }
    let folder = settings.state.join(PARKED);
    // If it cannot be read, the action says so.
    let parked = Folder::open(&folder).and_then(|folder| folder.entries(|_| true)).unwrap_or_default();
    let parked: Vec<OsString> = parked.into_iter().map(|entry| entry.name).collect();
    lines.extend(left_parked(&parked, history));
    lines.extend(strays(&folder, &parked, history));
    lines
}

/// Says what is parked of entries that came to nothing, as where it was away when they were put right.
fn left_parked(parked: &[OsString], history: &History) -> Vec<String> {
    let is_there = |entry: &&Entry| {
        let mut its = entry.intent.movements.iter().filter_map(Movement::parks);
        entry.came_to_nothing() && its.any(|(its, _)| parked.iter().any(|name| *name == *its.name))
    };
    let says = |entry: &Entry| {
        let number = entry.number;
        format!(
            "Entry {number} was not done, but left something parked: `claimtop undo {number}` brings it back."
        )
    };
    history.entries.iter().rev().filter(is_there).map(says).collect()
}

/// Says what is parked that no entry names: nothing undoes or removes that.
fn strays(folder: &Path, parked: &[OsString], history: &History) -> Option<String> {
    let movements = || history.entries.iter().flat_map(|entry| &entry.intent.movements);
    let named: BTreeSet<String> = movements()
        .filter_map(Movement::parked)
        .cloned()
        .chain(movements().filter_map(Movement::parks).map(|(parked, _)| parked))
        .map(|parked| parked.name)
        .collect();
    let is_named = |name: &OsStr| name.to_str().is_some_and(|name| named.contains(name));
    let strays: Vec<_> = parked.iter().filter(|name| !is_named(name)).collect();
    let first = Untrusted::from_path(&folder.join(strays.first()?));
    Some(format!(
        "{} in the parked folder that no entry names, as when the journal was lost. Nothing undoes or removes that; copy \
         back by hand what you need: {first}{}",
        count(strays.len(), "file"),
        if strays.len() > 1 { ", ..." } else { "" }
    ))
}

/// Says of each entry that was cut off, or got stuck, what has become of it and what to do.
fn unfinished(history: &History) -> Vec<String> {
    let of_one = |entry: &Entry| {
        let number = entry.number;
        match &entry.outcome {
            Some(outcome) if entry.is_stuck() && entry.can_be_undone() => Some(format!(
                "Entry {number} got stuck: {}. `claimtop undo {} --beside` brings back what is parked.",
                shown(&outcome.detail),
                entry.brought_back_by()
            )),
            _ if entry.is_open() => Some(format!(
                "Entry {number} was interrupted, or is being done: `claimtop undo {number}` puts it right."
            )),
            _ => None,
        }
    };
    history.entries.iter().rev().filter_map(of_one).collect()
}

fn columns(history: &History, obstacles: &Obstacles, now: Timestamp) -> Columns {
    let mut columns = Columns::new(&["ENTRY", "AGO", "ACTION", "OUTCOME", "UNDO", "WHAT", "WHY"]);
    for entry in history.entries.iter().rev() {
        let (_, tone, word) = ended_of(entry);
        columns.row([
            Cell::new(entry.number.to_string()),
            Cell::new(age::label_between(now, entry.at)),
            Cell::new(words::action(entry.intent.action)),
            Cell::new(word).toned(tone),
            Cell::new(undo(entry, obstacles)),
            Cell::new(shown(&title(entry))),
            Cell::new(shown(&entry.intent.why)),
        ]);
    }
    columns
}

fn undo(entry: &Entry, obstacles: &Obstacles) -> String {
    match (entry.undone_by, obstacles.get(&entry.number)) {
        (Some(by), _) => format!("by {by}"),
        (None, _) if entry.pruned => "gone".to_owned(),
        (None, _) if entry.is_open() => "puts right".to_owned(),
        (None, None) if can_be_undone(entry, obstacles) => "yes".to_owned(),
        // In its own place what it has parked finds something else.
        (None, Some(ActionError::Taken(_))) => "--beside".to_owned(),
        (None, Some(_)) if entry.can_be_undone() => "not now".to_owned(),
        (None, Some(_) | None) => String::new(),
    }
}

/// What `journal --prune --json` prints.
#[derive(Serialize)]
struct PruneOutput {
    schema: &'static str,
    outdated: Vec<OutdatedFiles>,
    /// Whether all of it was removed for good.
    removed: bool,
}

/// What is parked past its retention.
#[derive(Serialize)]
struct OutdatedFiles {
    entry: u64,
    name: Untrusted,
    size: u64,
    parked_at: Timestamp,
    /// Why it is kept all the same, with all that its entry has parked.
    #[serde(skip_serializing_if = "Option::is_none")]
    kept: Option<String>,
}

/// Shows what is parked past its retention, and removes it for good when that is confirmed.
///
/// # Errors
/// It is refused, or something cannot be removed.
pub(crate) fn prune(settings: &Settings, yes: bool, json: bool) -> Outcome {
    if settings.effective.config.access == Access::ReadOnly {
        return Err(Failure::new(Exit::Refused, anyhow::anyhow!("claimtop is read-only")));
    }
    let executor = executor(settings)?;
    let days = settings.effective.config.retention.days;
    let kept_for = SignedDuration::from_hours(24 * i64::from(days));
    let outdated = executor.outdated(kept_for).map_err(of_action)?;
    let number = removable(&outdated).count();
    let is_yes = if json {
        yes
    } else {
        print_if_heard(&listed(&outdated, days, executor.now()))?;
        let question = format!("Remove {} for good", count(number, "file"));
        yes || (number > 0 && said_yes(&question)?)
    };
    if is_yes && number > 0 {
        executor.prune(&outdated, kept_for).map_err(of_action)?;
        tracing::info!(files = number, "pruned");
    }
    let answer = if json { pruned(&outdated, is_yes)? } else { prune_text(number, is_yes) };
    print_if_heard(&answer)?;
    Ok(if is_yes || number == 0 { Exit::Fine } else { Exit::Refused })
}

fn listed(outdated: &[ParkedFile], days: u16, now: Timestamp) -> String {
    if outdated.is_empty() {
        return format!("Nothing is parked for longer than {days} days.\n");
    }
    let line = |parked: &ParkedFile| {
        let (entry, age, name) = (parked.entry, age::label_between(now, parked.since), parked.name());
        let kept = parked.kept.map_or_else(String::new, |why| format!("  kept: {why}"));
        format!("entry {entry}  {age}  {} bytes  {name}{kept}\n", parked.size)
    };
    outdated.iter().map(line).collect()
}

fn prune_text(removable: usize, is_yes: bool) -> String {
    match (removable, is_yes) {
        (0, _) => String::new(),
        (_, false) => "not done: --yes removes them for good; then they cannot be undone\n".to_owned(),
        (number, true) => format!("removed {}\n", count(number, "parked file")),
    }
}

fn pruned(outdated: &[ParkedFile], is_yes: bool) -> Result<String, Failure> {
    let removed = is_yes && removable(outdated).next().is_some();
    let outdated = outdated.iter().map(|parked| OutdatedFiles {
        entry: parked.entry,
        name: parked.name(),
        size: parked.size,
        parked_at: parked.since,
        kept: parked.kept.map(|why| why.to_string()),
    });
    let outdated = outdated.collect();
    let pruned = PruneOutput { schema: "claimtop.prune.v1", outdated, removed };
    Ok(format!("{}\n", json::to_string_pretty(&pruned)?))
}
