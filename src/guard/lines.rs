//! Around a shell line: what its calls of git reach.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::outcome::{GuardOutcome, GuardResponse};
use crate::config::guard::{HoldPolicy, HoldUps};
use crate::core::guard::call::{DecidingSetting, InnerTrees, TreeCall};
use crate::core::guard::decide::{self, Life, Other};
use crate::core::guard::git::git_calls;
use crate::core::guard::git::reach::{Reach, Takes, is_pattern};
use crate::core::guard::shell::ShellContext;
use crate::core::model::Untrusted;
use crate::format::hook::guard::Asker;
use crate::guard::loss::UNDER_WAY;
use crate::guard::query::Query;
use crate::present;
use crate::source::own::ledger::{About, Tree, resolved};
use crate::source::repos::ignored::{excluded_by, is_matched};
use crate::source::repos::settings::GitSettings;

impl Query<'_> {
    /// Holds up, once, what reaches into others' uncommitted edits.
    pub(crate) fn before_git(&self, asker: Asker, calls: &[TreeCall]) -> anyhow::Result<GuardResponse> {
        let mut response =
            (if calls.is_empty() { GuardOutcome::OutOfScope } else { GuardOutcome::NobodyElse }, None);
        let inside: Vec<TreeCall> = calls.iter().flat_map(|call| self.of_inner_trees(call)).collect();
        for call in calls.iter().chain(&inside) {
            // What the line itself is about to make has no edits in it.
            let is_there = Path::new(&call.folder).is_dir();
            let tree = Tree::find(Path::new(&call.folder)).filter(|tree| is_there && tree.is_repository());
            let Some(tree) = tree else { continue };
            let level = self.levels(&tree).git;
            if level == HoldUps::Off || call.begins_branch || !tree.is_under_way(call.during) {
                continue;
            }
            // It is there already.
            if call.onto.is_some() && call.onto.as_deref() == tree.branch().as_ref().map(Untrusted::raw) {
                continue;
            }
            let top = tree.text().context("no text")?;
            let Some(call) = self.settled(call, &tree) else { continue };
            let reach = ReachedPaths::of(&call);
            let is_left = left_by(&call, &tree);
            let is_reached = |path: &str| reach.has(path) && !(call.below_only && reach.names(path));
            let is_asked = |path: &str| is_reached(path) && !self.exempt.has(path, top) && !is_left(path);
            let is_named = |path: &str| reach.names(path);
            let found = self.read(&tree, &About::Naming(&is_asked, &is_named, call.takes));
            let own_edits = |paths: Vec<String>| self.read(&tree, &About::Files(&paths)).own_lines.edited;
            let holdings = decide::in_the_way(&found.others, &call, own_edits);
            if holdings.is_empty() {
                continue;
            }
            let name = call.label();
            if self.levels(&tree).held == HoldPolicy::Deny {
                let edits = || holdings.iter().flat_map(|holding| &holding.edits);
                let is_held = |held: &str| edits().any(|edit| Path::new(edit.path.raw()).starts_with(held));
                if let Some(response) = self.keep_off(asker, &name, (&tree, &found), is_held)? {
                    return Ok(response);
                }
            }
            let why = present::guard::hold_up(&name, &holdings, top, self.now);
            let held_up = self.held_up(decide::edits(&holdings), call.harm());
            let held_up = (held_up, decide::newest_edit(&holdings));
            response = self.hold_up(asker, level, (&tree, &found.own_lines), held_up, &why)?;
            if response.1.is_some() {
                break;
            }
        }
        Ok(response)
    }

    /// Writes down which edits a call has brought to their end: the next edit of these files hides that. Says whose
    /// working tree has got another branch.
    pub(crate) fn after_git(&self, calls: &[TreeCall]) -> anyhow::Result<GuardResponse> {
        let mut texts = Vec::new();
        for call in calls {
            let Some(tree) = Tree::find(Path::new(&call.folder)).filter(Tree::is_repository) else {
                continue;
            };
            let Some(settled) = self.settled(call, &tree) else { continue };
            let reach = ReachedPaths::of(&settled);
            let found = self.read(&tree, &About::Matching(&|path| reach.has(path), Takes::ALL));
            let own: Vec<String> = found.by_kin.iter().chain(&found.by_oneself).cloned().collect();
            // In the middle of something files come and go; what is lost then, the next look finds.
            let lines =
                if tree.is_under_way(&UNDER_WAY) { Vec::new() } else { self.ended(&tree, &found, &own) };
            if !lines.is_empty() {
                self.note_down(&tree, &lines)?;
            }
            if call.begins_branch && self.levels(&tree).note {
                let top = tree.text().context("no text")?;
                let is_asked =
                    |other: &Other, path: &str| other.life != Life::Dead && !self.is_exempt(path, &tree);
                let holdings = decide::held(&found.others, is_asked);
                texts.extend(
                    (!holdings.is_empty()).then(|| present::guard::branched(&holdings, top, self.now)),
                );
            }
        }
        Ok(match (calls.is_empty(), texts.is_empty()) {
            (true, _) => (GuardOutcome::OutOfScope, None),
            (false, true) => (GuardOutcome::Recorded, None),
            (false, false) => (GuardOutcome::Noted, Some(texts.join("\n"))),
        })
    }

    /// Returns a call's part in each working tree that it takes with the one in which it lies.
    fn of_inner_trees(&self, call: &TreeCall) -> Vec<TreeCall> {
        if call.inner == InnerTrees::Nothing {
            return Vec::new();
        }
        let tree = Tree::find(Path::new(&call.folder)).filter(Tree::is_repository);
        let Some(tree) = tree else { return Vec::new() };
        let Some(call) = &self.settled(call, &tree) else { return Vec::new() };
        let (reach, is_left) = (ReachedPaths::of(call), left_by(call, &tree));
        let is_reached = |path: &Path| path.to_str().is_some_and(|path| reach.has(path) && !is_left(path));
        let with_worktrees = matches!(call.inner, InnerTrees::Worktrees | InnerTrees::Everything);
        let worktrees = if with_worktrees { tree.inside(&self.scope.home) } else { Vec::new() };
        let is_taken = |(path, is_ignored): &(PathBuf, bool)| {
            let takes = if *is_ignored { call.takes.ignored } else { call.takes.untracked };
            takes && is_reached(path)
        };
        let worktrees = worktrees.into_iter().filter(is_taken).map(|(path, _)| path);
        let mut calls: Vec<TreeCall> =
            worktrees.filter_map(|path| Some(call.of_tree(path.to_str()?.to_owned()))).collect();
        if call.inner != InnerTrees::Worktrees {
            let submodules = tree.submodules().into_iter().filter(|path| is_reached(path));
            calls.extend(submodules.flat_map(|path| self.of_submodule(call, &path)));
        }
        calls
    }

    /// Returns a call's part in a submodule that it reaches.
    fn of_submodule(&self, call: &TreeCall, submodule: &Path) -> Vec<TreeCall> {
        let Some(folder) = submodule.to_str() else { return Vec::new() };
        match &call.inner {
            InnerTrees::Line(line) => {
                let place = ShellContext {
                    folder,
                    home: self.scope.home.to_str(),
                    top_of: &|_| Some(folder.to_owned()),
                };
                git_calls(line, &place)
            }
            InnerTrees::Submodules => vec![TreeCall { takes: call.takes, ..call.of_tree(folder.to_owned()) }],
            InnerTrees::Everything => vec![call.of_tree(folder.to_owned())],
            InnerTrees::Nothing | InnerTrees::Worktrees => Vec::new(),
        }
    }

    /// Settles what a call reaches: by git's settings, and by the files that are there, as a word that is none may name a
    /// commit. `None` if it takes nothing.
    fn settled(&self, call: &TreeCall, tree: &Tree) -> Option<TreeCall> {
        let common_dir = tree.common_dir().unwrap_or(&tree.top);
        let settings = || GitSettings::read(common_dir, &self.scope.home, &call.settings);
        let call = call.clone().with_settings(|setting| match setting {
            DecidingSetting::Rebase => settings().is_on("rebase.autostash"),
            DecidingSetting::Merge => settings().is_on("merge.autostash"),
            DecidingSetting::Pull { by_rebase } => {
                let settings = settings();
                let by_rebase = by_rebase.unwrap_or_else(|| settings.pulls_by_rebase(tree.branch().as_ref()));
                settings.is_on(if by_rebase { "rebase.autostash" } else { "merge.autostash" })
            }
            DecidingSetting::CommitHook => settings().has_stashing_hook(&tree.top),
        })?;
        let is_there = |path: &str| {
            Path::new(path).symlink_metadata().is_ok()
                || resolved(path).is_some_and(|path| tree.knows(Path::new(&path), self.now))
        };
        Some(call.resolve(is_there))
    }
}

/// Returns a test for what a call leaves of what it reaches.
fn left_by(call: &TreeCall, tree: &Tree) -> impl Fn(&str) -> bool {
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
    fn of(call: &TreeCall) -> Self {
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
