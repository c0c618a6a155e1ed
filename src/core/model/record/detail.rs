//! What only the records of one system state and a rule depends on. What is only displayed is a fact of the record,
//! which no rule reads.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::{ProcessId, Untrusted};

/// What only the records of one system state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordDetail {
    /// Nothing.
    #[default]
    None,
    /// A task, an issue or a reservation of files, of a system that claimtop only reads.
    Taken {
        /// Its taker, by a name of that system.
        owner: Option<Untrusted>,
        /// Whether others may take it too.
        is_shared: bool,
    },
    /// A record of Claude Code.
    ClaudeCode(ClaudeCode),
    /// A record of the entire CLI.
    Entire(Box<Entire>),
    /// A git lock.
    Git(GitLock),
    /// A record of LEO.
    Leo(Leo),
    /// A row of Obra.
    Obra(ObraRow),
    /// A rate limit of the observability system, which holds nothing.
    RateLimit,
}

/// What a record of Claude Code states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ClaudeCode {
    /// An entry of the registry of sessions.
    Session(Box<ClaudeStatus>),
    /// A task of a list.
    Task {
        /// The name of its taker.
        owner: Option<Untrusted>,
    },
    /// A team.
    Team {
        /// The members that may run in a process of their own.
        in_panes: Option<Untrusted>,
    },
    /// The lock of the daemon.
    Daemon,
    /// The sessions that the daemon runs in the background.
    Roster {
        /// The daemon's PID.
        daemon: Option<u32>,
        /// All of its sessions.
        sessions: Vec<BackgroundSession>,
        /// Whether all of them could be parsed.
        is_whole: bool,
    },
    /// An editor that Claude Code talks to.
    Editor,
}

/// A session that Claude Code's daemon runs in the background.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BackgroundSession {
    /// The process that runs it.
    pub process: Option<ProcessId>,
    /// The process that keeps its terminal.
    pub host: Option<ProcessId>,
    /// The ID by which the daemon's commands name it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Untrusted>,
    /// Its ID.
    pub id: Option<Untrusted>,
    /// The session whose work it continues.
    pub from: Option<Untrusted>,
    /// When its window requested it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
}

/// What an entry of Claude Code's registry states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClaudeStatus {
    /// What the session does, such as `waiting`.
    pub status: Option<Untrusted>,
    /// What it waits for.
    pub waiting_for: Option<Untrusted>,
    /// When it last wrote this, which is not a sign of life.
    pub updated_at: Option<Timestamp>,
    /// Whether the daemon runs it in the background.
    #[serde(default)]
    pub is_background: bool,
    /// Whether its version rewrites the entry when it switches to another session; older ones keep the first one's ID.
    #[serde(default)]
    pub follows_turns: bool,
    /// The name of the background session that it is, as its daemon has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Untrusted>,
    /// The background session that its conversation has become: since then its process only displays that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_job: Option<Untrusted>,
    /// Whether the daemon keeps it ready and it has not been given any work.
    #[serde(default)]
    pub is_spare: bool,
}

impl ClaudeStatus {
    /// The first version known to rewrite its entry when `/clear` or `/resume` gives it another session; earlier ones
    /// left the first one's ID in it (claude-control#10).
    const FOLLOWS_TURNS_SINCE: [u64; 3] = [2, 1, 197];

    /// Returns whether a version of Claude Code rewrites its entry when it switches to another session.
    pub(crate) fn follows_turns(version: &str) -> bool {
        let numbers = version.split('.').map(str::parse).collect::<Result<Vec<u64>, _>>();
        numbers.is_ok_and(|numbers| numbers.as_slice() >= Self::FOLLOWS_TURNS_SINCE.as_slice())
    }
}

/// What a record of the entire CLI states: a session's state, or its entry in the live registry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entire {
    /// The title of the agent whose session it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub agent: Option<Untrusted>,
    /// The branch of the session's checkpoints.
    pub shadow_branch: Option<Untrusted>,
    /// How many checkpoints it has made since the last one that was committed.
    #[serde(default)]
    pub checkpoints: u64,
    /// The last checkpoint.
    pub last_checkpoint: Option<Untrusted>,
    /// Git's name for its linked working tree.
    pub worktree_id: Option<Untrusted>,
    /// The common directory of the repository that an entry belongs to.
    pub repository: Option<Untrusted>,
    /// How many tasks of sub-agents have not ended.
    pub open_tasks: usize,
    /// Whether its checkpoints are being condensed.
    pub is_condensing: bool,
}

/// The purpose of a git lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitLock {
    /// One command.
    Command,
    /// A garbage collection.
    Gc,
    /// A whole working tree, until it is unlocked.
    Worktree,
}

/// What a record of LEO states.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Leo {
    /// A session's row in the database.
    Row(Box<LeoRow>),
    /// A session file.
    File {
        /// A description of its terminal ID.
        terminal: Option<Untrusted>,
    },
    /// An identity marker.
    Marker {
        /// Whether its window started a session of its own.
        is_new_session: bool,
    },
    /// A file in the folder of a working tree.
    Sheet {
        /// Whether it forbids the removal of the tree.
        is_protected: bool,
    },
}

/// What a session's row in LEO's database states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LeoRow {
    /// Its status, such as `released`.
    pub status: Option<Untrusted>,
    /// Why it was released.
    pub released_reason: Option<Untrusted>,
    /// The name of its agent within the fleet.
    pub callsign: Option<Untrusted>,
    /// When it last used a tool.
    pub last_tool_at: Option<Timestamp>,
}

/// What a row of Obra's database states.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ObraRow {
    /// Its status as recorded.
    pub status: Option<Untrusted>,
    /// The task or the epic that it is or belongs to.
    pub task: Option<Untrusted>,
}

#[derive(Default)]
pub(crate) struct Texts<'a> {
    /// The texts that are the system's own words.
    pub(crate) words: Vec<&'a mut Untrusted>,
    /// The texts that name or quote something.
    pub(crate) names: Vec<&'a mut Untrusted>,
}

impl RecordDetail {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Returns the taker of a task, an issue or a reservation.
    pub(crate) fn owner(&self) -> Option<&Untrusted> {
        match self {
            Self::Taken { owner, .. } | Self::ClaudeCode(ClaudeCode::Task { owner }) => owner.as_ref(),
            Self::None
            | Self::ClaudeCode(_)
            | Self::Entire(_)
            | Self::Git(_)
            | Self::Leo(_)
            | Self::Obra(_)
            | Self::RateLimit => None,
        }
    }

    /// Returns what a record of the entire CLI states.
    pub(crate) fn entire(&self) -> Option<&Entire> {
        if let Self::Entire(entire) = self { Some(entire) } else { None }
    }

    /// Returns what a session's row in LEO's database states.
    pub(crate) fn leo_row(&self) -> Option<&LeoRow> {
        if let Self::Leo(Leo::Row(row)) = self { Some(row) } else { None }
    }

    /// Returns the description of the terminal ID in LEO's session file.
    pub(crate) fn terminal(&self) -> Option<&Untrusted> {
        if let Self::Leo(Leo::File { terminal }) = self { terminal.as_ref() } else { None }
    }

    /// Returns what an entry of Claude Code's registry states.
    pub(crate) fn claude_status(&self) -> Option<&ClaudeStatus> {
        if let Self::ClaudeCode(ClaudeCode::Session(session)) = self { Some(session) } else { None }
    }

    /// Returns what a row of Obra's database states.
    pub(crate) fn obra(&self) -> Option<&ObraRow> {
        if let Self::Obra(row) = self { Some(row) } else { None }
    }

    /// Returns every text, for redaction or replacement. Each field is named here, so that a new one does not compile
    /// until it is classified.
    pub(crate) fn texts_mut(&mut self) -> Texts<'_> {
        let (words, names) = match self {
            Self::None | Self::Git(_) | Self::RateLimit => (Vec::new(), Vec::new()),
            Self::Taken { owner, is_shared: _ } => (Vec::new(), vec![owner.as_mut()]),
            Self::ClaudeCode(record) => match record {
                ClaudeCode::Session(session) => {
                    let ClaudeStatus {
                        status,
                        waiting_for,
                        updated_at: _,
                        is_background: _,
                        follows_turns: _,
                        job,
                        parked_job,
                        is_spare: _,
                    } = &mut **session;
                    let ids = vec![waiting_for.as_mut(), job.as_mut(), parked_job.as_mut()];
                    (vec![status.as_mut()], ids)
                }
                ClaudeCode::Task { owner } => (Vec::new(), vec![owner.as_mut()]),
                ClaudeCode::Team { in_panes } => (Vec::new(), vec![in_panes.as_mut()]),
                ClaudeCode::Roster { daemon: _, sessions, is_whole: _ } => {
                    let ids = sessions.iter_mut().flat_map(|session| {
                        [session.job.as_mut(), session.id.as_mut(), session.from.as_mut()]
                    });
                    (Vec::new(), ids.collect())
                }
                ClaudeCode::Daemon | ClaudeCode::Editor => (Vec::new(), Vec::new()),
            },
            Self::Entire(entire) => {
                let Entire {
                    agent,
                    shadow_branch,
                    checkpoints: _,
                    last_checkpoint,
                    worktree_id,
                    repository,
                    open_tasks: _,
                    is_condensing: _,
                } = &mut **entire;
                let names = [agent, shadow_branch, last_checkpoint, worktree_id, repository];
                (Vec::new(), names.map(Option::as_mut).into())
            }
            Self::Leo(record) => match record {
                Leo::Row(row) => {
                    let LeoRow { status, released_reason, callsign, last_tool_at: _ } = &mut **row;
                    (vec![status.as_mut()], vec![released_reason.as_mut(), callsign.as_mut()])
                }
                Leo::File { terminal } => (vec![terminal.as_mut()], Vec::new()),
                Leo::Marker { is_new_session: _ } | Leo::Sheet { is_protected: _ } => {
                    (Vec::new(), Vec::new())
                }
            },
            Self::Obra(ObraRow { status, task }) => (vec![status.as_mut()], vec![task.as_mut()]),
        };
        Texts { words: words.into_iter().flatten().collect(), names: names.into_iter().flatten().collect() }
    }
}
