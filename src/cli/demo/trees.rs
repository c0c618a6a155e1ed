//! Working trees that will not merge: real commits and real edits, made by git where that is installed.

use std::fs::OpenOptions;
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, ensure};

use super::stage::{Stage, write as write_new};
use super::story::Repo;
use crate::core::model::{Conflict, Forecast, ForecastSide};

/// How many lines a file has before it is edited.
const LINES: usize = 12;

/// Makes the repository of a forecast such that the forecast comes true. What lies there already stays.
///
/// # Errors
/// Git fails, or a file cannot be written.
pub(super) fn repository(stage: &Stage, git: &Path, repo: &Repo, forecast: &Forecast) -> anyhow::Result<()> {
    let root = stage.place(&repo.root);
    let git = Git { program: git, home: stage.home() };
    git.run(&root, &["init", "-q", "-b", &repo.branch])?;
    // What agents keep there is no change of the tree.
    let excluded = root.join(".git/excluded");
    write_new(&excluded, ".claude/\n")?;
    git.run(&root, &["config", "core.excludesFile", excluded.to_str().context("a name is not UTF-8")?])?;
    for conflict in &forecast.conflicts {
        write(&root, conflict, &numbered())?;
        git.run(&root, &["add", conflict.path.raw()])?;
    }
    git.run(&root, &["commit", "-q", "-m", "zones"])?;
    for (tree, branch) in &repo.worktrees {
        let tree = stage.place(tree).into_os_string().into_string().ok().context("a name is not UTF-8")?;
        git.run(&root, &["worktree", "add", "-q", "-b", branch, &tree])?;
    }
    for (at, side) in forecast.sides.iter().enumerate() {
        let Some(tree) = &side.tree else { continue };
        edit(&git, &stage.place(tree.raw()), side, (at, &forecast.conflicts))?;
    }
    Ok(())
}

/// Edits the lines of one side, and commits that where the story says so.
fn edit(
    git: &Git<'_>,
    tree: &Path,
    side: &ForecastSide,
    (at, conflicts): (usize, &[Conflict]),
) -> anyhow::Result<()> {
    for conflict in conflicts {
        let mut lines = numbered();
        for edited in conflict.lines.iter().filter_map(|lines| lines.get(at)) {
            let below = lines.iter_mut().skip(edited.first.saturating_sub(1)).take(edited.count);
            below.for_each(|line| line.push_str(&format!(", edited on side {at}")));
        }
        write(tree, conflict, &lines)?;
    }
    if side.commits > 0 { git.run(tree, &["commit", "-q", "-a", "-m", "edit"]) } else { Ok(()) }
}

fn numbered() -> Vec<String> {
    (1..=LINES).map(|number| format!("zone {number}")).collect()
}

/// Writes a file anew, which may be there.
fn write(tree: &Path, conflict: &Conflict, lines: &[String]) -> anyhow::Result<()> {
    let path = tree.join(conflict.path.raw());
    let opened = OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&path);
    let written = opened.and_then(|mut file| file.write_all((lines.join("\n") + "\n").as_bytes()));
    written.with_context(|| format!("failed to write {}", path.display()))
}

struct Git<'a> {
    program: &'a Path,
    home: PathBuf,
}

impl Git<'_> {
    /// Runs git without the settings of any user.
    fn run(&self, folder: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "git makes what the demo shows")]
        let mut command = Command::new(self.program);
        command.env_clear().env("HOME", &self.home).env("PATH", self.program.parent().unwrap_or(folder));
        command.envs([("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null"), ("LC_ALL", "C")]);
        command
            .args(["-c", "user.name=dev", "-c", "user.email=dev@example.org", "-c", "commit.gpgSign=false"]);
        command.args(arguments).current_dir(folder).stdin(Stdio::null());
        let output = command.output().context("failed to run git")?;
        let says = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {} failed: {}", arguments.join(" "), says.trim());
        Ok(())
    }
}
