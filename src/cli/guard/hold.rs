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

/// Takes paths for the window that this runs in, or gives them back. A hold ends with the window's process.
///
/// # Errors
/// Another window holds one, no process can hold them, a path is not UTF-8, or it cannot be written down.
pub(crate) fn hold(settings: &Settings, paths: &[PathBuf], is_release: bool) -> Outcome {
    let (lines, refused) =
        take(settings, paths, is_release).map_err(|error| Failure::new(Exit::Failed, error))?;
    print(&lines)?;
    refused.map_or(Ok(Exit::Fine), |why| Err(Failure::new(Exit::Refused, anyhow!(why))))
}

/// Returns what was done, and why it went no further.
fn take(
    settings: &Settings,
    paths: &[PathBuf],
    is_release: bool,
) -> anyhow::Result<(String, Option<String>)> {
    if settings.effective.config.access == Access::ReadOnly {
        bail!("claimtop is read-only: nothing is written");
    }
    let cwd = std::env::current_dir().context("failed to find the current folder")?;
    let cwd = cwd.to_str().context("the current folder's name is not UTF-8")?.to_owned();
    let question = Question::of_person(Untrusted::fixed(""), cwd);
    let now = clock::now();
    let machine = machine(settings, now)?;
    // Outside of a window it is a person's: the shell holds it then.
    let own = own_pid();
    let holder = machine.process.or_else(|| machine.above.iter().find(|id| id.pid != own).copied());
    let holder = holder.context("no process above this one can hold it: run it in an agent or in a shell")?;
    let session = session_of(settings, holder, machine.process.is_some());
    let held_by = Question { session, ..question.clone() };
    let scope = scope(settings);
    let asked = Query::new(&scope, &held_by, Machine { process: Some(holder), ..machine });
    let mut output = String::new();
    for path in paths {
        let name = Untrusted::from_path(path);
        let file = path.to_str().with_context(|| format!("{name}: its name is not UTF-8"))?.to_owned();
        let trees = asked.by_tree(std::slice::from_ref(&file));
        let (tree, resolved) = trees.first().with_context(|| format!("{name} is in no folder"))?;
        for path in resolved {
            let what = if is_release { "freed" } else { "held" };
            let frees = || LedgerLine::Frees(FileMoment::new(path.as_str().into(), now));
            if is_release && !has(&asked, tree, path) {
                if let Some(why) = wanted(&asked, tree, path)? {
                    return Ok((output, Some(format!("nothing is freed: {why}"))));
                }
                output.push_str(&format!(
                    "{} was not held by PID {}\n",
                    Untrusted::from(path.as_str()),
                    holder.pid
                ));
                continue;
            }
            if is_release {
                asked.note_down(tree, &[frees()])?;
            } else if !has(&asked, tree, path) {
                if look_at(Path::new(path)).is_none() {
                    let path = Untrusted::from(path.as_str());
                    return Ok((
                        output,
                        Some(format!("{path} is not held: no file or folder is visible at that path")),
                    ));
                }
                if let Some(why) = wanted(&asked, tree, path)? {
                    return Ok((output, Some(why)));
                }
                asked.note_down(tree, &[LedgerLine::Holds(FileMoment::new(path.as_str().into(), now))])?;
                // Of two that came at once neither may believe that it has it.
                if let Some(why) = wanted(&asked, tree, path)? {
                    asked.note_down(tree, &[frees()])?;
                    return Ok((output, Some(why)));
                }
                if !has(&asked, tree, path) {
                    bail!("a window can hold at most {MOST_HOLDS} paths in one working tree");
                }
            }
            output.push_str(&format!("{} is {what} by PID {}\n", Untrusted::from(path.as_str()), holder.pid));
        }
    }
    Ok((output, None))
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
