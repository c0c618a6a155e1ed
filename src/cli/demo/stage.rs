//! The demo's folders: a home, a temporary folder, programs and repositories of its own.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use anyhow::Context;

use super::owner::OwnFolder;
use super::story::Repo;

/// The home of the story.
const HOME: &str = "/home/dev";

/// A folder that is gone, with all that lies in it, when this is dropped.
pub(super) struct Stage {
    folder: OwnFolder,
    /// The folder's real name.
    path: PathBuf,
}

impl Stage {
    /// Makes the folders within a folder.
    ///
    /// # Errors
    /// A folder cannot be made.
    pub(super) fn build(within: &Path) -> anyhow::Result<Self> {
        let folder = OwnFolder::make(within)?;
        let path = folder.path().canonicalize().context("failed to find the temporary folder")?;
        let stage = Self { folder, path };
        for place in ["/tmp", "/home/dev/notes"] {
            make(&stage.place(place))?;
        }
        Ok(stage)
    }

    /// Returns where a path of the story really is.
    pub(super) fn place(&self, path: &str) -> PathBuf {
        match path.strip_prefix("~/") {
            Some(below) => self.home().join(below),
            None => self.path.join(path.trim_start_matches('/')),
        }
    }

    /// Returns the stage itself.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    pub(super) fn home(&self) -> PathBuf {
        self.place(HOME)
    }

    /// Removes everything; also done, but silently, when this is dropped.
    ///
    /// # Errors
    /// Something cannot be removed.
    pub(super) fn strike(self) -> anyhow::Result<()> {
        self.folder.remove()
    }

    /// Returns the named pipe by which processes without a parent learn of the demo's end.
    pub(super) fn lifeline_path(&self) -> PathBuf {
        self.path.join("lifeline")
    }

    /// Returns the file of a background task's output, as Claude Code names it.
    ///
    /// # Errors
    /// Its folder cannot be made.
    pub(super) fn output(&self, session: &str) -> anyhow::Result<PathBuf> {
        let folder = self.place("/tmp/claude-1000/demo").join(session).join("tasks");
        make(&folder)?;
        Ok(folder.join("b1.output"))
    }

    /// Puts claimtop's own program where an agent's would be, and returns its path. A hard link
    /// costs nothing; where the system refuses one it is a copy.
    ///
    /// # Errors
    /// It cannot be put there.
    #[expect(clippy::disallowed_methods, reason = "the target is a new name in a folder of the demo's own")]
    pub(super) fn program(&self, name: &str) -> anyhow::Result<String> {
        let below = match name {
            "claude" => "opt/node_modules/@anthropic-ai/claude-code/bin/claude".to_owned(),
            "codex" => "opt/node_modules/@openai/codex-linux-x64/vendor/x/bin/codex".to_owned(),
            name => format!("usr/bin/{name}"),
        };
        let path = self.path.join(below);
        if !path.exists() {
            path.parent().map_or(Ok(()), make)?;
            let own = std::env::current_exe().context("failed to find claimtop's own program")?;
            std::fs::hard_link(&own, &path).or_else(|_| std::fs::copy(&own, &path).map(|_| ()))?;
        }
        path.into_os_string().into_string().ok().context("the temporary folder's name is not UTF-8")
    }

    /// Makes a repository as git lays it out (gitrepository-layout(5)), without a commit.
    ///
    /// # Errors
    /// It cannot be written.
    pub(super) fn repository(&self, repo: &Repo) -> anyhow::Result<()> {
        let git = self.place(&repo.root).join(".git");
        ["objects", "refs/heads"].iter().try_for_each(|below| make(&git.join(below)))?;
        write(&git.join("HEAD"), &head(&repo.branch))?;
        for (tree, branch) in &repo.worktrees {
            let tree = self.place(tree);
            let admin = git.join("worktrees").join(tree.file_name().unwrap_or_default());
            write(&admin.join("HEAD"), &head(branch))?;
            write(&admin.join("commondir"), "../..\n")?;
            write(&admin.join("gitdir"), &format!("{}\n", tree.join(".git").display()))?;
            write(&tree.join(".git"), &format!("gitdir: {}\n", admin.display()))?;
        }
        Ok(())
    }
}

fn head(branch: &str) -> String {
    format!("ref: refs/heads/{branch}\n")
}

pub(super) fn make(folder: &Path) -> anyhow::Result<()> {
    let made = DirBuilder::new().recursive(true).mode(0o700).create(folder);
    made.with_context(|| format!("failed to make {}", folder.display()))
}

/// Writes a new file and the folders that it needs.
pub(super) fn write(path: &Path, text: &str) -> anyhow::Result<File> {
    path.parent().map_or(Ok(()), make)?;
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    Ok(file)
}
