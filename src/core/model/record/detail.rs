//! What only the records of one system state, where a rule decides by it. What is only shown is a
//! fact of the record, which no rule reads.

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
        /// Who took it, by a name of that system.
        owner: Option<Untrusted>,
        /// Whether others may take it as well.
        is_shared: bool,
    },
    /// A record of Claude Code.
    ClaudeCode(ClaudeCode),
    /// A record of the entire CLI.
    Entire(Box<Entire>),
    /// A lock of git.
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
        /// The name of whoever took it.
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
        /// Whether each could be understood.
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
    /// The session whose work it goes on with.
    pub from: Option<Untrusted>,
    /// When its window asked for it.
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
    /// When it last said so, which is no sign of life.
    pub updated_at: Option<Timestamp>,
    /// Whether the daemon runs it in the background.
    #[serde(default)]
    pub is_background: bool,
    /// Whether its version writes the entry anew when it turns to another session; older ones keep the first one's ID.
    #[serde(default)]
    pub follows_turns: bool,
    /// The background session that it is, as its daemon calls it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub job: Option<Untrusted>,
    /// The background session that its conversation has become: since then its process only shows that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parked_job: Option<Untrusted>,
    /// Whether the daemon keeps it ready, and nobody has given it anything to do.
    #[serde(default)]
    pub is_spare: bool,
}

impl ClaudeStatus {
    /// The first version known to write its entry anew when `/clear` or `/resume` gives it another session; earlier ones
    /// left the first one's ID in it (claude-control#10).
    const FOLLOWS_TURNS_SINCE: [u64; 3] = [2, 1, 197];

    /// Returns whether a version of Claude Code writes its entry anew when it turns to another session.
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
    /// How many checkpoints it has made since the last one that a commit took.
    #[serde(default)]
    pub checkpoints: u64,
    /// The last checkpoint.
    pub last_checkpoint: Option<Untrusted>,
    /// The name by which git knows its linked working tree.
    pub worktree_id: Option<Untrusted>,
    /// The common directory of the repository that an entry is of.
    pub repository: Option<Untrusted>,
    /// How many tasks of sub-agents have no end.
    pub open_tasks: usize,
    /// Whether its checkpoints are being condensed.
    pub is_condensing: bool,
}

/// What a lock of git is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GitLock {
    /// One command.
    Command,
    /// A garbage collection.
    Gc,
    /// A whole working tree, for as long as somebody says so.
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
        /// What its terminal ID is, in words.
        terminal: Option<Untrusted>,
    },
    /// An identity marker.
    Marker {
        /// Whether its window began a session of its own.
        is_new_session: bool,
    },
    /// What lies in the folder of a working tree.
    Sheet {
        /// Whether it forbids to remove the tree.
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
    /// Its status, as it stands.
    pub status: Option<Untrusted>,
    /// The task or the epic that it is, or is about.
    pub task: Option<Untrusted>,
}

#[derive(Default)]
pub(crate) struct Texts<'a> {
    /// Those that are words of the system.
    pub(crate) words: Vec<&'a mut Untrusted>,
    /// Those that name or quote something.
    pub(crate) names: Vec<&'a mut Untrusted>,
}

impl RecordDetail {
    pub(crate) fn is_none(&self) -> bool {
        *self == Self::None
    }

    /// Returns who took a task, an issue or a reservation.
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

    /// Returns what the terminal ID of LEO's session file is, in words.
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

    /// Returns every text, to be hidden or replaced. Each field is named here, so that a new one is
    /// decided about before anything compiles.
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
