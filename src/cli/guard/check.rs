//! `guard check`: whether another window has these files, or holds them for itself, for scripts and hooks of git.

use std::path::{Path, PathBuf};

use anyhow::Context;

use super::scope::{machine, scope};
use crate::cli::output::failure::{Exit, Failure, Outcome};
use crate::cli::output::print;
use crate::cli::settings::Settings;
use crate::core::guard::decide::{self, Holding, Life, Other};
use crate::core::guard::git::reach::Takes;
use crate::core::model::Untrusted;
use crate::core::model::snapshot::ledger::FileMoment;
use crate::format::hook::guard::Question;
use crate::guard::query::Query;
use crate::present;
use crate::source::os::clock;
use crate::source::own::ledger::About;

/// Says of each file which living window has edits of it that no commit holds.
///
/// # Errors
/// The folder in which this runs, the configuration or what guards have written down cannot be read, or a path has no
/// name that is text.
pub(crate) fn check(settings: &Settings, paths: &[PathBuf]) -> Outcome {
    let held = held(settings, paths).map_err(|error| Failure::new(Exit::Failed, error))?;
    for (_, line) in &held {
        print(&format!("{line}\n"))?;
    }
    let is_free = held.iter().all(|(life, _)| *life != Life::Alive);
    Ok(if is_free { Exit::Fine } else { Exit::Problems })
}

/// Returns who holds what of these files, in words.
fn held(settings: &Settings, paths: &[PathBuf]) -> anyhow::Result<Vec<(Life, String)>> {
    let mut lines = Vec::new();
    each_tree(settings, paths, |asked, tree| {
        let (top, now) = (tree.top, asked.now);
        let wanted = tree.wanted();
        lines.extend(wanted.map(|held| (held.0.life, present::guard::hold(held, top, now))));
        let line = |one: &Holding<'_>| (one.other.life, present::guard::holding(one, top, now));
        lines.extend(decide::held(&tree.others, |_, _| true).iter().map(line));
    })?;
    Ok(lines)
}

/// What guards know of the requested paths of one working tree.
pub(super) struct TreeHolders<'a> {
    pub(super) top: &'a str,
    paths: &'a [String],
    pub(super) others: Vec<Other>,
}

impl TreeHolders<'_> {
    /// Returns the living window that holds one of them for itself.
    pub(super) fn wanted(&self) -> Option<(&Other, &FileMoment)> {
        decide::wanted(&self.others, |held| self.paths.iter().any(|path| decide::reaches(path, held)))
    }
}

/// Reads what guards have written down about these files, one working tree after the other.
///
/// # Errors
/// As [`check`].
pub(super) fn each_tree(
    settings: &Settings,
    paths: &[PathBuf],
    mut use_tree: impl FnMut(&Query<'_>, &TreeHolders<'_>),
) -> anyhow::Result<()> {
    let session = settings.environment.session_id.clone().unwrap_or_else(|| Untrusted::fixed(""));
    let cwd = "/".to_owned();
    let question = Question::of_person(session, cwd);
    let now = clock::now();
    let scope = scope(settings);
    let asked = Query::new(&scope, &question, machine(settings, now)?);
    let absolute = |path: &PathBuf| {
        let text = std::path::absolute(path)?.to_str().map(str::to_owned);
        text.with_context(|| format!("{}: its name is not UTF-8", Untrusted::from_path(path)))
    };
    let files: Vec<String> = paths.iter().map(absolute).collect::<anyhow::Result<_>>()?;
    for (tree, paths) in asked.by_tree(&files) {
        let top = tree.text().context("the working tree's name is not UTF-8")?;
        let is_below = |path: &str| paths.iter().any(|asked| Path::new(path).starts_with(asked));
        let is_asked = |path: &str| is_below(path) && !asked.exempt.has(path, top);
        let others = asked.read(&tree, &About::Matching(&is_asked, Takes::WORK)).all()?.others;
        use_tree(&asked, &TreeHolders { top, paths: &paths, others });
    }
    Ok(())
}
