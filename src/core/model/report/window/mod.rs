//! A running agent, for display.

pub(crate) mod stall;

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::text::shown;
use crate::core::model::{
    Keeper, Key, PlaceView, ProcessId, SessionView, Stall, UnreadWork, Untrusted, Waiting, Work,
};

/// What a window's process is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum WindowState {
    /// It runs or sleeps.
    Running,
    /// It is stopped (job control or a debugger).
    Stopped,
    /// It has exited and waits to be reaped.
    Zombie,
}

named! {
    /// The activity of a window: whose turn it is.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum WindowDoing {
        /// It asks a person something and continues once that is answered.
        Asks = "asks",
        /// Its turn is over, and it has had no new prompt.
        YourTurn = "your-turn",
        /// It works, by its own file or registry.
        Working = "working",
        /// It works by its own file, but that has been silent for long without a known reason.
        Quiet = "quiet",
        /// Its process is stopped (job control or a debugger).
        Stopped = "stopped",
        /// Its tool call cannot end by itself, which is proven.
        Stuck = "stuck",
    }
}

impl WindowDoing {
    /// Returns the word for people, the same everywhere.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Asks => "asks you",
            Self::YourTurn => "your turn",
            Self::Working => "working",
            Self::Quiet => "quiet",
            Self::Stopped => "stopped",
            Self::Stuck => "stuck",
        }
    }
}

/// How a context ID was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ContextSource {
    /// `CLAUDE_SESSION_ID` of the environment.
    Env,
    /// The PID of the nearest agent in the parent chain.
    AgentPid,
    /// A terminal's ID.
    Terminal,
    /// The parent's PID: another one for the next call.
    ParentPid,
}

/// A context ID with its origin.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextId {
    /// The ID.
    pub value: Untrusted,
    /// How it was found.
    pub source: ContextSource,
    /// Whether the next call from the same window finds the same.
    pub stable: bool,
}

/// The repository that a window works in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RepoView {
    /// The main working tree.
    pub root: Untrusted,
    /// The working tree that the window is in.
    pub worktree: Untrusted,
    /// The branch that is checked out there.
    pub branch: Option<Untrusted>,
}

/// A process of a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowProcess {
    /// Its PID.
    pub pid: u32,
    /// Its parent's PID.
    pub parent: u32,
    /// The kernel's name for it, of at most 15 bytes.
    pub name: Untrusted,
    /// Its start by the wall clock, for people.
    pub started_at: Option<Timestamp>,
}

/// A window, or a left-over, whose processes are to be measured.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Household {
    /// The window or the left-over.
    pub key: Key,
    /// Its own process.
    pub id: ProcessId,
    /// The start of that process by the wall clock.
    pub started_at: Option<Timestamp>,
    /// The processes of all other windows: what runs below one of them belongs to it.
    pub others: BTreeSet<u32>,
}

/// One running agent. Copies share their content until one of them is changed, because a report of thousands of
/// windows is rebuilt with every change.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(transparent)]
pub struct WindowView(Arc<WindowFacts>);

impl PartialEq for WindowView {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<WindowFacts> for WindowView {
    fn from(facts: WindowFacts) -> Self {
        Self(Arc::new(facts))
    }
}

impl Deref for WindowView {
    type Target = WindowFacts;

    fn deref(&self) -> &WindowFacts {
        &self.0
    }
}

impl DerefMut for WindowView {
    fn deref_mut(&mut self) -> &mut WindowFacts {
        Arc::make_mut(&mut self.0)
    }
}

/// The facts about one running agent.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct WindowFacts {
    /// Stable for as long as the process lives.
    pub key: Key,
    /// The agent's PID.
    pub pid: u32,
    /// Its start in clock ticks since boot.
    pub start_ticks: u64,
    /// Its start by the wall clock, for people.
    pub started_at: Option<Timestamp>,
    /// Which agent, such as `claude-code`.
    pub agent: Untrusted,
    /// What the process is doing.
    pub state: WindowState,
    /// Its activity, if known.
    #[serde(default)]
    pub doing: Option<WindowDoing>,
    /// Since when, if known.
    #[serde(default)]
    pub doing_since: Option<Timestamp>,
    /// Whether it apparently has no session yet, so it may still show its first question (trust, login).
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_new: bool,
    /// Why its tool call cannot end by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stuck: Option<Box<Stall>>,
    /// Its context ID.
    pub context_id: ContextId,
    /// Whether Maia finds the agent by its name and uses its PID for the context ID; otherwise it uses the PID of its
    /// caller.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_known_to_maia: bool,
    /// Its session ID, if that is exact.
    pub session_id: Option<Untrusted>,
    /// Its session by the strongest evidence there is, which may be a guess.
    pub session: Option<SessionView>,
    /// The sessions of which it may run any, if another window of its folder may too.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub may_run: Vec<Untrusted>,
    /// The agent's own status (`busy`, `idle`, `waiting: permission prompt`).
    pub activity: Option<Untrusted>,
    /// What it waits for.
    pub waiting: Option<Box<Waiting>>,
    /// What its session does, according to its agent's own file.
    pub work: Option<Arc<Work>>,
    /// That file, if it was found but not read.
    pub unread: Option<Box<UnreadWork>>,
    /// A name that a person or the agent gave it.
    pub name: Option<Untrusted>,
    /// The controlling terminal.
    pub tty: Option<Untrusted>,
    /// The terminal multiplexer's pane, if known.
    pub pane: Option<Untrusted>,
    /// Where it is, beside its terminal.
    pub place: PlaceView,
    /// The working directory.
    pub cwd: Option<Untrusted>,
    /// Whether that folder was removed.
    #[serde(default, skip_serializing_if = "is_false")]
    pub is_folder_gone: bool,
    /// The repository that it works in.
    pub repo: Option<RepoView>,
    /// Its own process, then the newest ones below it.
    pub processes: Vec<WindowProcess>,
    /// How many more processes run below it.
    pub more_processes: usize,
    /// CPU use in percent of one core.
    pub cpu_percent: Option<f32>,
    /// Resident memory in bytes.
    pub memory_bytes: Option<u64>,
    /// The keys of its records.
    pub records: Vec<Key>,
    /// The keys of its claims.
    pub claims: Vec<Key>,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_false(flag: &bool) -> bool {
    !flag
}

impl WindowFacts {
    /// Returns whether a multiplexer can show its pane: from another machine only tmux can.
    pub(crate) fn has_pane(&self) -> bool {
        let is_kept = match self.place.keeper {
            Some(Keeper::Tmux) => true,
            Some(Keeper::Zellij) => self.key.machine().is_none(),
            // It answers only if its user has let it (`allow_remote_control`, `listen_on`).
            Some(Keeper::Kitty) => self.key.machine().is_none() && self.place.socket.is_some(),
            // Its terminal proves that the pane is its own.
            Some(Keeper::Wezterm) => self.key.machine().is_none() && self.tty.is_some(),
            Some(Keeper::Screen | Keeper::Vscode) | None => false,
        };
        is_kept && self.place.inner_pid.is_none()
    }

    /// Returns its name for people, safe to show: the name that it was given, or else the last part of its folder and
    /// its agent. The distinguishing part comes first, because columns are narrow.
    pub fn title(&self) -> String {
        if let Some(name) = self.name.as_ref().filter(|name| !name.is_empty()) {
            return name.shown();
        }
        let agent = self.agent.shown();
        let mut parts = self.cwd.iter().flat_map(|cwd| cwd.raw().rsplit('/'));
        match parts.find(|part| !part.is_empty()) {
            Some(last) => format!("{} ({agent})", shown(last)),
            None => agent,
        }
    }
}
