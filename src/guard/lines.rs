//! Around a shell line: what its calls of git reach.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::outcome::{GuardOutcome, GuardResponse};
use crate::config::guard::{HoldPolicy, HoldUps};
use crate::core::guard::decide;
use crate::core::guard::git::GitCall;
use crate::core::guard::git::reach::{Reach, Takes, is_pattern};
use crate::core::model::Untrusted;
use crate::format::hook::guard::Asker;
use crate::guard::query::Query;
use crate::present;
use crate::source::own::ledger::{About, Tree, resolved};
use crate::source::repos::ignored::{excluded_by, is_matched};

impl Query<'_> {
    /// Holds up, once, what reaches into others' uncommitted edits.
    pub(crate) fn before_git(&self, asker: Asker, calls: &[GitCall]) -> anyhow::Result<GuardResponse> {
        let mut response =
            (if calls.is_empty() { GuardOutcome::OutOfScope } else { GuardOutcome::NobodyElse }, None);
        let inside: Vec<GitCall> = calls.iter().flat_map(|call| self.of_trees_inside(call)).collect();
        for call in calls.iter().chain(&inside) {
            // What the line itself is about to make has no edits in it.
            let is_there = Path::new(&call.folder).is_dir();
            let tree = Tree::find(Path::new(&call.folder)).filter(|tree| is_there && tree.is_repository());
            let Some(tree) = tree else { continue };
            let level = self.levels(&tree).git;
            if level == HoldUps::Off || !tree.is_under_way(call.during) {
                continue;
            }
            // It is there already.
            if call.onto.is_some() && call.onto.as_deref() == tree.branch().as_ref().map(Untrusted::raw) {
                continue;
            }
            let top = tree.text().context("no text")?;
            let call = self.among(call, &tree);
            let reach = ReachedPaths::of(&call);
            let is_left = left_by(&call, &tree);
            let is_asked = |path: &str| reach.has(path) && !self.exempt.has(path, top) && !is_left(path);
            let is_named = |path: &str| reach.names(path);
            let found = self.read(&tree, &About::Naming(&is_asked, &is_named, call.takes));
            let holdings = decide::held(&found.others, |_, _| true);
            if holdings.is_empty() {
                continue;
            }
            let name = format!("`git {}`", call.verb);
            if self.levels(&tree).held == HoldPolicy::Deny {
                let edits = || holdings.iter().flat_map(|holding| &holding.edits);
                let is_held = |held: &str| edits().any(|edit| Path::new(edit.path.raw()).starts_with(held));
                if let Some(response) = self.keep_off(asker, &name, (&tree, &found), is_held)? {
                    return Ok(response);
                }
            }
            let why = present::guard::hold_up(&name, &holdings, top, self.now);
            let held_up = self.held_up(decide::edits(&holdings), call.harm());
            response = self.hold_up(asker, level, (&tree, &found.own_lines), held_up, &why)?;
            if response.1.is_some() {
                break;
            }
        }
        Ok(response)
    }

    /// Writes down which edits a call of git has brought to their end: the next edit of these files hides that.
    pub(crate) fn after_git(&self, calls: &[GitCall]) -> anyhow::Result<GuardResponse> {
        for call in calls {
            let Some(tree) = Tree::find(Path::new(&call.folder)).filter(Tree::is_repository) else {
                continue;
            };
            let reach = ReachedPaths::of(&self.among(call, &tree));
            let found = self.read(&tree, &About::Matching(&|path| reach.has(path), Takes::ALL));
            let own: Vec<String> = found.by_kin.iter().chain(&found.by_oneself).cloned().collect();
            let lines = self.ended(&tree, &found, &own);
            if !lines.is_empty() {
                self.note_down(&tree, &lines)?;
            }
        }
        Ok((if calls.is_empty() { GuardOutcome::OutOfScope } else { GuardOutcome::Recorded }, None))
    }

    /// Returns a call's part in each working tree that it takes with the one in which it lies.
    fn of_trees_inside(&self, call: &GitCall) -> Vec<GitCall> {
        if !call.takes_trees {
            return Vec::new();
        }
        let tree = Tree::find(Path::new(&call.folder)).filter(Tree::is_repository);
        let Some(tree) = tree else { return Vec::new() };
        let (reach, is_left) = (ReachedPaths::of(call), left_by(call, &tree));
        let of_one = |(path, is_ignored): (PathBuf, bool)| {
            let is_taken = if is_ignored { call.takes.ignored } else { call.takes.untracked };
            let path = path.to_str().filter(|path| is_taken && reach.has(path) && !is_left(path))?;
            Some(call.of_tree(path.to_owned()))
        };
        tree.inside(&self.scope.home).into_iter().filter_map(of_one).collect()
    }

    /// Settles what a call reaches: a word that is no file may name a commit.
    fn among(&self, call: &GitCall, tree: &Tree) -> GitCall {
        let is_there = |path: &str| {
            Path::new(path).symlink_metadata().is_ok()
                || resolved(path).is_some_and(|path| tree.knows(Path::new(&path), self.now))
        };
        call.clone().resolve(is_there)
    }
}

/// Returns a test for what a call leaves of what it reaches.
fn left_by(call: &GitCall, tree: &Tree) -> impl Fn(&str) -> bool {
    let is_spared = excluded_by(&call.spares, &tree.top);
    let left_out = ReachedPaths::paths(&call.left_out, &call.folder);
    move |path| is_spared(path) || left_out.has(path)
}

/// What a call of git reaches.
enum ReachedPaths {
    Tree,
    /// These paths, without links, and what lies below them; and what such patterns stand for.
    Paths(HashSet<String>, Vec<String>),
    /// These files, without links on the way to them.
    Files(Vec<String>),
}

impl ReachedPaths {
    fn of(call: &GitCall) -> Self {
        match &call.reach {
            Reach::Tree => Self::Tree,
            Reach::Paths(paths) | Reach::PathsOrTree(paths) => Self::paths(paths, &call.folder),
            Reach::Files(files) => Self::Files(resolved_all(files, &call.folder)),
        }
    }

    fn paths(paths: &[String], folder: &str) -> Self {
        let plain: HashSet<String> = resolved_all(paths, folder).into_iter().collect();
        // A file can have such a name.
        let patterns = plain.iter().filter(|path| is_pattern(path)).cloned().collect();
        Self::Paths(plain, patterns)
    }

    fn names(&self, path: &str) -> bool {
        matches!(self, Self::Paths(plain, _) if plain.contains(path))
    }

    fn has(&self, path: &str) -> bool {
        match self {
            Self::Tree => true,
            Self::Paths(plain, patterns) => {
                let mut parts = Path::new(path).ancestors().filter_map(Path::to_str);
                parts.any(|part| plain.contains(part))
                    || patterns.iter().any(|pattern| is_matched(pattern, path))
            }
            Self::Files(files) => files.iter().any(|file| file == path),
        }
    }
}

/// Returns paths without links on the way to them; where one is the folder that a call runs in, or lies above that,
/// without the last one: git goes by the folder itself.
fn resolved_all(paths: &[String], folder: &str) -> Vec<String> {
    let one = |path: &String| match Path::new(folder).starts_with(path) {
        true => Path::new(path).canonicalize().ok()?.to_str().map(str::to_owned),
        false => resolved(path),
    };
    paths.iter().filter_map(one).collect()
}
