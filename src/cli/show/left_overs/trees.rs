//! `leftovers --trees`: what git says of the working trees that agents have made.

use std::path::Path;

use jiff::Timestamp;
use serde::Serialize;

use crate::cli::look;
use crate::cli::output::failure::Outcome;
use crate::cli::output::progress::Progress;
use crate::cli::output::{Paint, Shape, print};
use crate::cli::show::left_overs::sizes::SCHEMA;
use crate::core::model::report::need::quoted;
use crate::core::model::text::is_forbidden;
use crate::core::model::text::json;
use crate::core::model::{Certainty, LeftTree, Report, TreeSort, TreeState, Untrusted};
use crate::present::text::age;
use crate::present::text::tone::Tone;
use crate::present::text::{outside, safe};
use crate::source::git::Asker;
use crate::source::os::fence::Fence;

/// What is said where there is none: an agent can work in a tree that nothing ties to it.
const NONE: &str =
    "No working tree is left that claimtop can tie to a window. git worktree list names all that git has.\n";

/// What is printed as JSON.
#[derive(Serialize)]
struct Output<'a> {
    schema: &'static str,
    taken_at: Timestamp,
    left_trees: Vec<TreeRow<'a>>,
}

/// A working tree with what git says of it.
#[derive(Serialize)]
struct TreeRow<'a> {
    #[serde(flatten)]
    tree: &'a LeftTree,
    git: TreeState,
    /// What its removal would lose.
    lost: Vec<String>,
    /// The command that releases a dead window's lock.
    unlock: Option<String>,
    /// The command that removes it, where nothing would be lost.
    remove: Option<String>,
}

/// Prints what git says of each working tree.
///
/// # Errors
/// The output cannot be written.
pub(crate) fn show(
    report: &Report,
    (asker, fence): (&Asker, &Fence),
    shape: Shape,
    progress: Progress,
) -> Outcome {
    let all = report.left_trees.len();
    let asked = |(at, tree): (usize, &'_ LeftTree)| {
        progress.show(&format!("Asking git about tree {} of {all}, {}", at + 1, tree.path));
    };
    let left_trees = report.left_trees.iter().enumerate().inspect(|one| asked(*one));
    let left_trees = left_trees.map(|(_, tree)| ask(tree, asker, fence)).collect();
    drop(progress);
    let shown = Output { schema: SCHEMA, taken_at: report.taken_at, left_trees };
    let text = match shape {
        Shape::Json => json::to_string_pretty(&shown)? + "\n",
        Shape::Text(_) if shown.left_trees.is_empty() => NONE.to_owned(),
        Shape::Text(paint) => {
            let lines: Vec<String> =
                shown.left_trees.iter().map(|one| one.text(report.taken_at, paint)).collect();
            lines.join("\n")
        }
    };
    print(&text)?;
    Ok(look::exit(report))
}

fn ask<'a>(tree: &'a LeftTree, asker: &Asker, fence: &Fence) -> TreeRow<'a> {
    let git = asker.ask(Path::new(tree.path.raw()), fence);
    let lost = git.lost();
    let unlock = tree.releasable_lock.as_ref().map(|key| format!("claimtop release {key}"));
    let is_free = tree.sort == TreeSort::Linked
        && tree.certainty <= Certainty::Strong
        && !tree.is_locked
        && lost.is_empty();
    let remove = is_free.then(|| removal(tree)).flatten();
    TreeRow { tree, git, lost, unlock, remove }
}

/// Returns the command that removes a tree, never by force; `None` where a name in it could not be
/// typed as it is shown.
fn removal(tree: &LeftTree) -> Option<String> {
    let is_typed = |path: &Untrusted| path.raw().starts_with('/') && !path.raw().contains(is_hidden);
    let (repository, path) = (&tree.repository, &tree.path);
    let command = || format!("git -C {} worktree remove {}", quoted(repository.raw()), quoted(path.raw()));
    (is_typed(repository) && is_typed(path)).then(command)
}

/// Returns whether a character is shown as something else, or may stand for bytes that are no text.
fn is_hidden(c: char) -> bool {
    is_forbidden(c) || c == '\\'
}

impl TreeRow<'_> {
    fn text(&self, now: Timestamp, paint: Paint) -> String {
        let tree = self.tree;
        let head = paint.paint(Tone::Strong, &outside(Some(&tree.path)));
        let branch = tree.branch.as_ref().map_or("no branch".to_owned(), |branch| outside(Some(branch)));
        let mut lines = vec![
            ("what", format!("{branch} of {}", outside(Some(&tree.repository)))),
            ("whose", format!("{}; {}", self.whose(now), self.sure())),
        ];
        lines.extend(
            Some(tree.known().join(", ")).filter(|known| !known.is_empty()).map(|known| ("known", known)),
        );
        let commits = self.git.unmerged.filter(|commits| *commits > 0);
        lines.extend(
            commits.map(|commits| ("ahead", format!("{commits} commits that the main tree's head lacks"))),
        );
        lines.extend(self.lost.iter().map(|lost| ("loses", lost.clone())));
        lines.extend(self.unlock.iter().map(|command| ("unlock", command.clone())));
        lines.extend(self.remove.iter().map(|command| ("remove", command.clone())));
        let lines = lines.iter().map(|(name, text)| format!("  {name:<7} {}\n", safe(text)));
        format!("{head}\n{}", lines.collect::<String>())
    }

    fn whose(&self, now: Timestamp) -> String {
        let tree = self.tree;
        let agent = outside(tree.agent.as_ref());
        let name = outside(tree.window_name.as_ref());
        let pid = tree.window_pid.map(|pid| format!("PID {pid}")).unwrap_or_default();
        let ended = tree.window_ended_at.map(|at| format!("last seen {} ago", age::label_between(now, at)));
        let parts = [agent, name, pid, ended.unwrap_or_default()];
        let parts: Vec<String> = parts.into_iter().filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { "no known owner".to_owned() } else { parts.join(", ") }
    }

    fn sure(&self) -> String {
        let tree = self.tree;
        let why = if tree.why.is_empty() { String::new() } else { format!(": {}", tree.why) };
        format!("{}{why}", tree.certainty.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::model::{Key, KeyKind};

    fn tree(path: &str) -> LeftTree {
        LeftTree {
            key: Key::derive(KeyKind::LeftTree, &[path]),
            path: path.into(),
            repository: "/src/my shop".into(),
            branch: None,
            agent: None,
            window_pid: None,
            window_name: None,
            window_ended_at: None,
            session: None,
            certainty: Certainty::Exact,
            why: String::new(),
            sort: TreeSort::Linked,
            is_gone: false,
            has_no_commit: false,
            merged_into: None,
            is_locked: false,
            releasable_lock: None,
            evidence: Vec::new(),
        }
    }

    #[track_caller]
    fn check(path: &str, expected: Option<&str>) {
        assert_eq!(removal(&tree(path)).as_deref(), expected, "{path}");
    }

    #[test]
    fn a_removal_is_quoted_for_a_shell_and_never_forced() {
        check("/src/fix", Some("git -C '/src/my shop' worktree remove /src/fix"));
        check("/src/it's $(rm)", Some(r"git -C '/src/my shop' worktree remove '/src/it'\''s $(rm)'"));
        // What is shown is not what would have to be typed.
        check("/src/a\u{1b}[2Jb", None);
        check("/src/a\\xffb", None);
        check("--force", None);
    }

    #[test]
    fn only_what_is_free_and_loses_nothing_is_offered() {
        let nothing = || Asker { programs: Vec::new(), home: "/".into() };
        let asked = |tree: &LeftTree| ask(tree, &nothing(), &Fence::default()).remove;
        assert_eq!(asked(&tree("/nowhere/fix")), None, "git was not asked");
    }
}
