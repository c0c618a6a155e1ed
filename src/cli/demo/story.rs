//! The demo's world as data: who plays, and what lies where.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::core::model::Forecast;

/// The world, in the form of the worlds that the tests judge.
const STORY: &str = include_str!("../../../assets/demo.toml");

/// The world of the guard's play.
const GUARD: &str = include_str!("../../../assets/demo-guard.toml");

/// The world here, beside other machines.
const HERE: &str = include_str!("../../../assets/demo-machines/here.toml");

/// What is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum Which {
    /// One of each collision, and of what windows leave behind.
    Everything,
    /// How the guard keeps two windows out of each other's way.
    Guard,
    /// What happens here while other machines are watched.
    Here,
    /// What happens on one of them.
    There(There),
}

/// A machine of the demo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::cli) enum There {
    /// A session lives on it and on the next one, and a claim was left by a window that died.
    Devbox,
    Gpu,
    /// It falls silent, and comes back.
    Web,
}

impl There {
    pub(super) const ALL: [Self; 3] = [Self::Devbox, Self::Gpu, Self::Web];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Devbox => "devbox",
            Self::Gpu => "gpu",
            Self::Web => "web",
        }
    }

    fn story(self) -> &'static str {
        match self {
            Self::Devbox => include_str!("../../../assets/demo-machines/devbox.toml"),
            Self::Gpu => include_str!("../../../assets/demo-machines/gpu.toml"),
            Self::Web => include_str!("../../../assets/demo-machines/web.toml"),
        }
    }
}

/// Processes, repositories and files.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Story {
    /// What it shows; for readers of the file.
    #[serde(rename = "title")]
    _title: IgnoredAny,
    /// Who plays.
    #[serde(rename = "process")]
    pub(super) roles: Vec<Role>,
    #[serde(rename = "repo")]
    pub(super) repos: Vec<Repo>,
    /// Who was seen dead, and when.
    #[serde(rename = "tombstone")]
    pub(super) stones: Vec<Stone>,
    /// What windows leave running.
    #[serde(rename = "trace")]
    pub(super) traces: Vec<Trace>,
    /// What lies where.
    #[serde(rename = "file")]
    pub(super) files: Vec<File>,
    /// What the sessions do.
    pub(super) work: Vec<DemoWork>,
    /// Which working trees will not merge.
    #[serde(rename = "forecast", default)]
    pub(super) forecasts: Vec<Forecast>,
    /// How much fits into a session's context.
    #[serde(default)]
    pub(super) context_size: BTreeMap<String, u64>,
    /// What a machine would say of itself; the tests read it.
    #[serde(rename = "host")]
    _host: IgnoredAny,
    /// What must be found; the tests read it.
    #[serde(rename = "expect")]
    _expect: IgnoredAny,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Role {
    /// What the story calls it; the real PID is another.
    pub(super) pid: u32,
    /// Who starts it, if it is not the demo itself.
    pub(super) parent: Option<u32>,
    pub(super) name: String,
    /// The arguments with the name first, where they are not just the name.
    #[serde(default)]
    pub(super) argv: Vec<String>,
    pub(super) cwd: Option<String>,
    /// What it is made to do.
    #[serde(default)]
    pub(super) state: Fate,
    /// Variables that it is started with.
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// In the story only: a real process starts now, and its terminal is the demo's.
    #[serde(rename = "started")]
    _started: IgnoredAny,
    #[serde(default, rename = "tty")]
    _tty: Option<IgnoredAny>,
}

/// A window that was seen dead.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stone {
    pub(super) pid: u32,
    /// When.
    pub(super) proven: String,
    pub(super) session: String,
    #[serde(rename = "started")]
    _started: IgnoredAny,
}

/// What a process bears of the window that started it.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Trace {
    pub(super) pid: u32,
    pub(super) window: u32,
    pub(super) session: String,
    /// The window's own process group, where it is in that.
    pub(super) group: Option<u32>,
    /// The sessions into whose tasks' output it writes.
    #[serde(default)]
    pub(super) tasks: Vec<String>,
    /// Its memory; the real one is another.
    #[serde(rename = "memory", default)]
    _memory: IgnoredAny,
    /// The ports that it listens on; the real ones are others.
    #[serde(default)]
    pub(super) ports: Vec<u16>,
    /// In the story only: a real process has what it has.
    #[serde(default, rename = "clients")]
    _clients: Option<IgnoredAny>,
    #[serde(default, rename = "input")]
    _input: Option<IgnoredAny>,
}

/// What happens to a process before the curtain rises.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Fate {
    #[default]
    Running,
    Stopped,
    /// It is killed.
    Dead,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Repo {
    /// The main working tree.
    pub(super) root: String,
    pub(super) branch: String,
    /// The branch of each linked working tree.
    #[serde(default)]
    pub(super) worktrees: BTreeMap<String, String>,
}

impl Repo {
    /// Returns the folders of its working trees.
    pub(super) fn folders(&self) -> impl Iterator<Item = &String> {
        std::iter::once(&self.root).chain(self.worktrees.keys())
    }
}

/// What a session does, in the lines of Claude Code's transcript.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DemoWork {
    session: String,
    text: String,
    /// Whose transcript it is: the tests read it.
    #[serde(rename = "format")]
    _format: IgnoredAny,
    /// Who listens on the ports that it could not get: the tests read it.
    #[serde(rename = "listeners", default)]
    _listeners: IgnoredAny,
    /// Which of its files git does not have.
    #[serde(default)]
    pub(super) uncommitted: Vec<String>,
    /// Which of them are not there any more, each with how long ago it went.
    #[serde(default)]
    pub(super) gone: BTreeMap<String, String>,
}

impl DemoWork {
    /// Returns its transcript.
    pub(super) fn transcript(&self) -> File {
        let path = format!("~/.claude/projects/demo/{}.jsonl", self.session);
        File::new(path, self.text.trim_start())
    }
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct File {
    /// Where: below `~/`, `/tmp/` or `/home/dev/`.
    pub(super) path: String,
    /// The content.
    #[serde(default)]
    pub(super) text: String,
    /// How long ago it was written; now, when that is not said.
    pub(super) written: Option<String>,
    /// The permission bits in octal digits.
    #[serde(default = "private")]
    pub(super) mode: String,
    /// What it is instead of a plain file.
    pub(super) special: Option<Special>,
}

impl File {
    /// Describes a plain file of its owner.
    pub(super) fn new(path: impl Into<String>, text: &str) -> Self {
        Self { path: path.into(), text: text.to_owned(), written: None, mode: private(), special: None }
    }
}

/// What lies where a plain file belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Special {
    /// A named pipe without a writer.
    Fifo,
}

fn private() -> String {
    "0600".to_owned()
}

impl Story {
    /// Returns what is said of a process that a window leaves running.
    pub(super) fn trace(&self, role: u32) -> Option<&Trace> {
        self.traces.iter().find(|trace| trace.pid == role)
    }

    /// Returns whether something is left in a window's own process group, which it leads then.
    pub(super) fn leads(&self, role: u32) -> bool {
        self.traces.iter().any(|trace| trace.group == Some(role))
    }

    /// Reads the story that claimtop ships.
    ///
    /// # Errors
    /// It is not what it should be: a bug.
    pub(super) fn built_in(which: Which) -> Result<Self, toml::de::Error> {
        toml::from_str(match which {
            Which::Everything => STORY,
            Which::Guard => GUARD,
            Which::Here => HERE,
            Which::There(there) => there.story(),
        })
    }
}
