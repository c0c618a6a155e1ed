//! `hold`: a window, or a person's shell, wants paths for itself; guarded windows are then kept off them.

use std::path::{Path, PathBuf};

use anyhow::{Context, anyhow, bail};

use super::scope::{machine, scope};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::config::Access;
use crate::core::guard::decide::{self, reaches};
use crate::core::guard::git::reach::Takes;
use crate::core::model::snapshot::ledger::{FileMoment, LedgerLine};
use crate::core::model::{ProcessId, Untrusted};
use crate::format::hook::guard::Question;
use crate::guard::machine::Machine;
use crate::guard::query::Query;
use crate::present;
use crate::source::os::clock;
use crate::source::os::open::folder::look_at;
use crate::source::os::processes::own::own_pid;
use crate::source::own::ledger::{About, MOST_HOLDS, Tree};

/// Who may hold paths.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HolderKind {
    /// The window that this runs in, else the shell, which is a person's.
    WindowOrShell,
    /// The window alone.
    #[cfg(feature = "mcp")]
    Window,
}

/// What became of one path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum HoldChange {
    Taken,
    Released,
    /// It was not held, so it was not released.
    Absent,
}

/// What was done, and why it went no further.
#[derive(Debug)]
pub(crate) struct HoldReport {
    /// The PID of the holder.
    pub(crate) pid: u32,
    pub(crate) done: Vec<(String, HoldChange)>,
    pub(crate) refused: Option<String>,
}

/// Takes paths for the window that this runs in, or gives them back. A hold ends with the window's process.
///
/// # Errors
/// Another window holds one, no process can hold them, a path is not UTF-8, or it cannot be written down.
pub(crate) fn hold(settings: &Settings, paths: &[PathBuf], is_release: bool) -> Outcome {
    let HoldReport { pid, done, refused } = take(settings, paths, is_release, HolderKind::WindowOrShell)
        .map_err(|error| Failure::new(Exit::Failed, error))?;
    let line = |(path, change): &(String, HoldChange)| {
        let what = match change {
            HoldChange::Taken => "is held",
            HoldChange::Released => "is freed",
            HoldChange::Absent => "was not held",
        };
        format!("{} {what} by PID {pid}\n", Untrusted::from(path.as_str()))
    };
    print(&done.iter().map(line).collect::<String>())?;
    refused.map_or(Ok(Exit::Fine), |why| Err(Failure::new(Exit::Refused, anyhow!(why))))
}

/// Takes paths, or gives them back, until one is refused.
///
/// # Errors
/// As [`hold`], but for another window's hold.
pub(crate) fn take(
    settings: &Settings,
    paths: &[PathBuf],
    is_release: bool,
    kind: HolderKind,
) -> anyhow::Result<HoldReport> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only: nothing is written");
    }
    let cwd = std::env::current_dir().context("failed to find the current folder")?;
    let cwd = cwd.to_str().context("the current folder's name is not UTF-8")?.to_owned();
    let question = Question::of_person(Untrusted::fixed(""), cwd);
    let now = clock::now();
    let machine = machine(settings, now)?;
    let holder = holder_of(&machine, kind)?;
    let session = session_of(settings, holder, machine.process.is_some());
    let held_by = Question { session, ..question.clone() };
    let scope = scope(settings);
    let asked = Query::new(&scope, &held_by, Machine { process: Some(holder), ..machine });
    let mut report = HoldReport { pid: holder.pid, done: Vec::new(), refused: None };
    for path in paths {
        let name = Untrusted::from_path(path);
        let file = path.to_str().with_context(|| format!("{name}: its name is not UTF-8"))?.to_owned();
        let trees = asked.by_tree(std::slice::from_ref(&file));
        let (tree, resolved) = trees.first().with_context(|| format!("{name} is in no folder"))?;
        for path in resolved {
            let change =
                if is_release { release_one(&asked, tree, path) } else { take_one(&asked, tree, path) };
            match change? {
                Ok(change) => report.done.push((path.clone(), change)),
                Err(why) => return Ok(HoldReport { refused: Some(why), ..report }),
            }
        }
    }
    Ok(report)
}

/// Returns the process that holds: outside of a window it is a person's shell.
fn holder_of(machine: &Machine, kind: HolderKind) -> anyhow::Result<ProcessId> {
    let own = own_pid();
    let shell = || machine.above.iter().find(|id| id.pid != own).copied();
    match kind {
        HolderKind::WindowOrShell => machine
            .process
            .or_else(shell)
            .context("no process above this one can hold it: run it in an agent or in a shell"),
        #[cfg(feature = "mcp")]
        HolderKind::Window => {
            machine.process.context("no agent was found above this process, so no window can hold it")
        }
    }
}

/// Takes one path; the inner error says why it is not held.
fn take_one(asked: &Query<'_>, tree: &Tree, path: &str) -> anyhow::Result<Result<HoldChange, String>> {
    if has(asked, tree, path) {
        return Ok(Ok(HoldChange::Taken));
    }
    if look_at(Path::new(path)).is_none() {
        let path = Untrusted::from(path);
        return Ok(Err(format!("{path} is not held: no file or folder is visible at that path")));
    }
    if let Some(why) = wanted(asked, tree, path)? {
        return Ok(Err(why));
    }
    let moment = || FileMoment::new(path.into(), asked.now);
    asked.note_down(tree, &[LedgerLine::Holds(moment())])?;
    // Of two that came at once neither may believe that it has it.
    if let Some(why) = wanted(asked, tree, path)? {
        asked.note_down(tree, &[LedgerLine::Frees(moment())])?;
        return Ok(Err(why));
    }
    if !has(asked, tree, path) {
        bail!("a window can hold at most {MOST_HOLDS} paths in one working tree");
    }
    Ok(Ok(HoldChange::Taken))
}

/// Releases one path; the inner error says why nothing is freed.
fn release_one(asked: &Query<'_>, tree: &Tree, path: &str) -> anyhow::Result<Result<HoldChange, String>> {
    if has(asked, tree, path) {
        asked.note_down(tree, &[LedgerLine::Frees(FileMoment::new(path.into(), asked.now))])?;
        return Ok(Ok(HoldChange::Released));
    }
    let why = wanted(asked, tree, path)?;
    Ok(why.map_or(Ok(HoldChange::Absent), |why| Err(format!("nothing is freed: {why}"))))
}

/// Returns whether the window holds a path already: then no other window can have it, and it is not to be released for
/// one that has just asked for it.
fn has(asked: &Query<'_>, tree: &Tree, path: &str) -> bool {
    let found = asked.read(tree, &About::Matching(&|_| false, Takes::WORK));
    found.own_lines.holds.iter().any(|held| held.path.raw() == path)
}

/// Says which living window holds a path, or something above or below it; nothing where none does.
fn wanted(asked: &Query<'_>, tree: &Tree, path: &str) -> anyhow::Result<Option<String>> {
    let top = tree.text().context("the working tree's name is not UTF-8")?;
    let found = asked.read(tree, &About::Matching(&|_| false, Takes::WORK)).all()?;
    let other = decide::wanted(&found.others, |held| reaches(path, held));
    Ok(other.map(|held| {
        let who = present::guard::hold(held, top, asked.now);
        format!("{} is not held: {who}", Untrusted::from(path))
    }))
}

/// Returns the session that a window passes to the programs that it starts, else a name made of its process.
fn session_of(settings: &Settings, holder: ProcessId, is_window: bool) -> Untrusted {
    let session = settings.environment.session_id.clone().filter(|_| is_window);
    session.unwrap_or_else(|| format!("hold-{}-{}", holder.pid, holder.start_ticks).as_str().into())
}
