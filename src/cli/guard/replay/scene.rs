//! A recorded world: real files and a real repository in a temporary folder, its own clock, recorded processes.
//!
//! The clock runs a day ahead of the machine's, so that whatever the system stamps by itself is of before.

use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, bail, ensure};
use jiff::{SignedDuration, Timestamp, ToSpan as _};
use rustix::fs::{AtFlags, CWD, FileType, OFlags, Timespec, Timestamps, lstat, unlinkat, utimensat};
use tempfile::TempDir;

use super::recording::{NewWindow, Verb};
use crate::cli::args::Options;
use crate::cli::guard::scope::scope;
use crate::cli::settings::environment::Environment;
use crate::cli::settings::settings;
use crate::core::model::text::json;
use crate::core::model::{ProcessId, Untrusted};
use crate::guard::machine::Machine;
use crate::guard::scope::Scope;
use crate::source::os::clock;
use crate::source::os::open::folder::Folder;
use crate::source::own::ledger::{Here, Processes};

pub(super) struct Scene {
    _folder: TempDir,
    root: PathBuf,
    began_at: Timestamp,
    now: Timestamp,
    pub(super) scope: Scope,
    windows: BTreeMap<String, Window>,
    /// Those that run, each with the one above it.
    running: BTreeMap<ProcessId, Option<ProcessId>>,
    /// How many windows there were.
    opened: u64,
}

struct Window {
    agent: String,
    process: Option<ProcessId>,
}

impl Scene {
    pub(super) fn new() -> anyhow::Result<Self> {
        let folder = tempfile::Builder::new().prefix("claimtop-guard-").tempdir()?;
        let root = folder.path().canonicalize()?;
        let tomorrow = clock::now().checked_add(24.hours())?;
        let began_at = Timestamp::from_second(tomorrow.as_second())?;
        let scope = scope_in(&root)?;
        let (windows, running) = (BTreeMap::new(), BTreeMap::new());
        Ok(Self { _folder: folder, root, began_at, now: began_at, scope, windows, running, opened: 0 })
    }

    pub(super) fn set_clock(&mut self, since: u64) -> anyhow::Result<()> {
        self.now = self.began_at.checked_add(SignedDuration::from_millis(since.try_into()?))?;
        Ok(())
    }

    pub(super) fn now(&self) -> Timestamp {
        self.now
    }

    pub(super) fn configure(&mut self, text: &str) -> anyhow::Result<()> {
        self.write("home/.config/claimtop/config.toml", text)?;
        self.scope = scope_in(&self.root)?;
        Ok(())
    }

    pub(super) fn open(&mut self, of: NewWindow) -> anyhow::Result<()> {
        self.opened += 1;
        let process = of.pid.map(|pid| ProcessId { pid, start_ticks: self.opened });
        let above = match &of.below {
            Some(above) => self.window(above)?.process,
            None => None,
        };
        self.running.extend(process.map(|process| (process, above)));
        self.windows.insert(of.window, Window { agent: of.agent, process });
        Ok(())
    }

    pub(super) fn end(&mut self, window: &str) -> anyhow::Result<()> {
        let process = self.window(window)?.process.context("a window without a process cannot die")?;
        self.running.remove(&process);
        // What it ran has no parent any more.
        self.running.values_mut().filter(|above| **above == Some(process)).for_each(|above| *above = None);
        Ok(())
    }

    fn window(&self, name: &str) -> anyhow::Result<&Window> {
        self.windows.get(name).context("no such window was opened")
    }

    /// Returns how an agent's `--for` names it.
    pub(super) fn agent(&self, window: &str) -> anyhow::Result<&str> {
        Ok(&self.window(window)?.agent)
    }

    pub(super) fn pid(&self, window: &str) -> Option<u32> {
        Some(self.windows.get(window)?.process?.pid)
    }

    /// Returns what the guard of a window knows of the machine.
    pub(super) fn machine(&self, window: &str) -> anyhow::Result<Machine> {
        let window = self.window(window)?;
        let parent = |id: &ProcessId| self.running.get(id).copied().flatten();
        Ok(Machine {
            now: self.now,
            process: window.process,
            agent: window.agent.as_str().into(),
            above: std::iter::successors(window.process, parent).take(self.running.len()).collect(),
            here: Here {
                host: Untrusted::fixed("recorded"),
                boot_id: Some(Untrusted::fixed("recorded")),
                pid_namespace: Some(1),
                processes: Processes::Recorded(self.running.clone()),
            },
        })
    }

    /// Puts the world's folder into a hook's input.
    pub(super) fn input(&self, hook: &str) -> anyhow::Result<String> {
        let root = json::to_line(&self.root.to_str().context("the temporary folder's name is not UTF-8")?)?;
        Ok(hook.replace("$ROOT", root.trim_matches('"')))
    }

    /// Returns a path of this world; one that leads out of it, or into git's own files, is refused.
    fn place(&self, path: &str) -> anyhow::Result<PathBuf> {
        let is_own = |part: Component<'_>| match part {
            Component::Normal(name) => !name.eq_ignore_ascii_case(".git"),
            Component::Prefix(_) | Component::RootDir | Component::CurDir | Component::ParentDir => false,
        };
        let path = Path::new(path);
        ensure!(path.components().all(is_own), "the path leads out of the recorded world");
        Ok(self.root.join(path))
    }

    pub(super) fn write(&self, path: &str, text: &str) -> anyhow::Result<()> {
        let path = self.place(path)?;
        std::fs::create_dir_all(path.parent().context("no folder")?)?;
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600);
        options.custom_flags(i32::try_from(OFlags::NONBLOCK.bits())?);
        options.open(&path)?.write_all(text.as_bytes())?;
        self.stamp(&path)
    }

    /// Gives a file the time of this world.
    fn stamp(&self, path: &Path) -> anyhow::Result<()> {
        let now = Timespec { tv_sec: self.now.as_second(), tv_nsec: i64::from(self.now.subsec_nanosecond()) };
        let times = Timestamps { last_access: now, last_modification: now };
        Ok(utimensat(CWD, path, &times, AtFlags::SYMLINK_NOFOLLOW)?)
    }

    pub(super) fn remove(&self, path: &str) -> anyhow::Result<()> {
        Ok(unlinkat(CWD, self.place(path)?, AtFlags::empty())?)
    }

    pub(super) fn link(&self, path: &str, to: &str) -> anyhow::Result<()> {
        Ok(std::os::unix::fs::symlink(self.place(to)?, self.place(path)?)?)
    }

    /// Returns whether a file has this text.
    pub(super) fn holds(&self, path: &str, text: &str) -> anyhow::Result<bool> {
        let path = self.place(path)?;
        let size = path.metadata().ok().map(|meta| meta.len());
        Ok(size == u64::try_from(text.len()).ok()
            && crate::cli::settings::config_file::text(&path, 1 << 20)?.as_deref() == Some(text))
    }

    /// Has git do something; every file that it writes gets the time of this world.
    pub(super) fn git(&self, tree: &str, verb: Verb, names: &[String]) -> anyhow::Result<()> {
        let top = self.place(tree)?;
        let is_plain = |name: &&String| self.place(name).is_ok() && !name.starts_with(['-', ':']);
        ensure!(names.iter().all(|name| is_plain(&name)), "a name that git would take for something else");
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let run = |arguments: &[&str]| self.run(&top, &[arguments, &names].concat());
        let alone = |arguments: &[&str]| self.run(&top, arguments);
        match verb {
            Verb::Init => {
                std::fs::create_dir_all(&top)?;
                alone(&["init", "--quiet", "--initial-branch=main", "--template="])
            }
            Verb::Commit if names.is_empty() => alone(&["commit", "--quiet", "--all", "--message=x"]),
            Verb::Commit => {
                run(&["add", "--"])?;
                run(&["commit", "--quiet", "--message=x", "--"])
            }
            Verb::CommitAll => {
                alone(&["add", "--all"])?;
                alone(&["commit", "--quiet", "--message=x"])
            }
            Verb::Amend => run(&["commit", "--quiet", "--amend", "--message=y", "--"]),
            Verb::Uncommit => alone(&["reset", "--quiet", "HEAD~1"]),
            Verb::Stash => alone(&["stash", "push", "--quiet"]),
            Verb::StashAll => alone(&["stash", "push", "--quiet", "--include-untracked"]),
            Verb::StashPop => alone(&["stash", "pop", "--quiet"]),
            Verb::Restore => run(&["checkout", "--quiet", "--"]),
            Verb::ResetHard => alone(&["reset", "--quiet", "--hard"]),
            Verb::Clean => alone(&["clean", "--quiet", "-d", "--force"]),
            Verb::Branch => run(&["checkout", "--quiet", "-b"]),
            Verb::Switch => run(&["checkout", "--quiet"]),
            Verb::Merge => run(&["merge", "--quiet", "--no-edit"]),
            Verb::Worktree => {
                let [path] = names.as_slice() else { bail!("a working tree has one path") };
                let path = self.place(path)?;
                let path = path.to_str().context("the temporary folder's name is not UTF-8")?;
                alone(&["worktree", "add", "--quiet", path])
            }
        }?;
        self.stamp_below(&self.root)
    }

    fn run(&self, top: &Path, arguments: &[&str]) -> anyhow::Result<()> {
        #[expect(clippy::disallowed_methods, reason = "a person has a recorded world played")]
        let mut command = Command::new("git");
        let date = format!("@{} +0000", self.now.as_second());
        command.env_clear().env("PATH", "/usr/local/bin:/usr/bin:/bin").env("HOME", self.root.join("home"));
        command.env("GIT_AUTHOR_DATE", &date).env("GIT_COMMITTER_DATE", &date);
        command.envs([("LC_ALL", "C"), ("GIT_CONFIG_NOSYSTEM", "1"), ("GIT_CONFIG_GLOBAL", "/dev/null")]);
        // Nothing that a recording wrote is run.
        command.args(["-c", "core.hooksPath=/dev/null", "-c", "core.fsmonitor=false"]);
        command.args(["-c", "safe.bareRepository=explicit", "-c", "gc.auto=0"]);
        command.args(["-c", "user.name=x", "-c", "user.email=x@x"]);
        command.current_dir(top).args(arguments).stdin(Stdio::null()).stdout(Stdio::null());
        let output = command.output().context("failed to run git")?;
        let stderr = String::from_utf8_lossy(&output.stderr);
        ensure!(output.status.success(), "git {}: {}", arguments.join(" "), stderr.trim());
        Ok(())
    }

    /// Gives the files below a folder the time of this world; of git's own, its logs.
    fn stamp_below(&self, folder: &Path) -> anyhow::Result<()> {
        let lies_in = |name: &str| folder.components().any(|part| part.as_os_str() == name);
        let is_gits = lies_in(".git") && !lies_in("logs");
        let has_logs = |name: &OsStr| name == "logs" || name == "worktrees" || folder.ends_with("worktrees");
        for entry in Folder::open(folder)?.entries(|name| name != "state" && (!is_gits || has_logs(name)))? {
            let path = folder.join(&entry.name);
            let Ok(stat) = lstat(&path) else { continue };
            match FileType::from_raw_mode(stat.st_mode) {
                FileType::Directory => self.stamp_below(&path)?,
                FileType::RegularFile if stat.st_mtime < self.began_at.as_second() => self.stamp(&path)?,
                FileType::RegularFile
                | FileType::Symlink
                | FileType::Fifo
                | FileType::Socket
                | FileType::CharacterDevice
                | FileType::BlockDevice
                | FileType::Unknown => {}
            }
        }
        Ok(())
    }
}

fn scope_in(root: &Path) -> anyhow::Result<Scope> {
    let below = |name: &str| Some(root.join(name));
    for folder in ["home", "tmp", "state"] {
        std::fs::create_dir_all(root.join(folder))?;
    }
    let options =
        Options { home: below("home"), tmp: below("tmp"), state: below("state"), ..Options::default() };
    let settings = settings(&options, Environment::default());
    settings
        .map(|settings| scope(&settings))
        .map_err(|failure| anyhow::anyhow!("{}", failure.lines().join("; ")))
}
