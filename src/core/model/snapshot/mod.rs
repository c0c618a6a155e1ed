//! One moment of the world: everything that was read, before anything is judged.

pub(crate) mod clock;
pub(crate) mod descent;
pub(crate) mod file;
pub(crate) mod folder_size;
pub(crate) mod home;
pub(crate) mod host;
pub(crate) mod ledger;
pub(crate) mod note;
pub(crate) mod own;
pub(crate) mod process;
pub(crate) mod row;
pub(crate) mod session;
pub(crate) mod tombstone;
pub(crate) mod tree_state;
pub(crate) mod work;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::path::as_text as path_text;
use crate::core::model::{
    CallWait, FilePath, Forecast, Format, GitCommand, HomeFolder, Host, Key, KeyKind, Notes, Ownership,
    Problem, ProcessId, ProcessTable, Record, SessionFile, Tombstone, Trace, TreeSort, UnfinishedAction,
    UnreadWork, Untrusted, Work, WorkItem,
};

/// Everything that one look found. Records are read first, processes second: the other way
/// round, a process born in between would look dead.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When the look finished.
    pub taken_at: Timestamp,
    /// The machine and the observer.
    pub host: Host,
    /// All processes.
    pub processes: ProcessTable,
    /// All session records.
    pub records: Vec<Arc<Record>>,
    /// Files with the name of a session file that gave no record.
    pub broken: Vec<BrokenFile>,
    /// The repositories that were looked in.
    pub repos: Vec<Repo>,
    /// The databases that were read, or should have been.
    pub databases: Vec<Database>,
    /// The health of each source.
    pub sources: Vec<SourceHealth>,
    /// Agents that claimtop itself has seen alive, including in earlier looks.
    pub seen_agents: Vec<SeenAgent>,
    /// The notes of agents' hooks about which process runs which session.
    pub bound: Notes,
    /// The home folders in which records were read.
    pub homes: Vec<HomeFolder>,
    /// The agents' own session files that may belong to a window.
    pub session_files: Vec<SessionFile>,
    /// What sessions do, according to their agents' files.
    pub work: Vec<Arc<Work>>,
    /// The session files that were found but not read.
    pub unread_work: Vec<UnreadWork>,
    /// The processes that were proven dead in this boot, including in earlier looks, sorted by PID and start.
    pub tombstones: Arc<[Tombstone]>,
    /// The folders outside any repository in which windows work, as far as they may be read.
    pub plain_folders: Vec<Untrusted>,
    /// Hints of where processes come from that have no window above them.
    pub traces: Vec<Trace>,
    /// Claimtop's own actions that did not end, or ended halfway.
    pub unfinished: Vec<UnfinishedAction>,
    /// What git itself has reported of its commands in these working trees, the oldest first.
    pub git_commands: Vec<GitCommand>,
    /// What the processes of tool calls wait for that have been open for long.
    pub call_waits: Vec<CallWait>,
    /// Whether working trees of living windows can be merged, as last determined.
    pub forecasts: Vec<Forecast>,
}

impl Snapshot {
    /// Creates a snapshot of processes alone.
    pub(crate) fn of_processes(taken_at: Timestamp, host: Host, processes: ProcessTable) -> Self {
        Self {
            taken_at,
            host,
            processes,
            records: Vec::new(),
            broken: Vec::new(),
            repos: Vec::new(),
            databases: Vec::new(),
            sources: Vec::new(),
            seen_agents: Vec::new(),
            bound: Notes::default(),
            homes: Vec::new(),
            session_files: Vec::new(),
            work: Vec::new(),
            unread_work: Vec::new(),
            tombstones: Arc::default(),
            plain_folders: Vec::new(),
            traces: Vec::new(),
            unfinished: Vec::new(),
            git_commands: Vec::new(),
            call_waits: Vec::new(),
            forecasts: Vec::new(),
        }
    }

    /// Returns whether all of a repository's working trees and branches were read: only then is a missing one
    /// significant.
    pub(crate) fn is_whole(&self, repo: &Repo) -> bool {
        let id = repo.source_id();
        !self.sources.iter().any(|source| source.id == id && source.state != SourceState::Ok)
    }

    /// Removes every process whose program is outside `stage`, including the process that started the stage: in a
    /// made-up world the machine's own processes do not count.
    pub(crate) fn forget_outside(&mut self, stage: &Path) {
        let table = &mut self.processes;
        table.by_pid.retain(|_, process| {
            let exe = process.details.as_ref().and_then(|details| details.exe.as_ref());
            exe.is_some_and(|exe| Path::new(exe.raw()).starts_with(stage))
        });
        table.threads.retain(|_, process| table.by_pid.contains_key(process));
        table.listed = table.by_pid.keys().chain(table.threads.keys()).copied().collect();
        self.seen_agents.retain(|seen| table.listed.contains(&seen.id.pid));
    }
}

/// A file with the name of a session file that gave no record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// The system whose name pattern it matches.
    pub format: Format,
    /// Where it is.
    pub path: FilePath,
    /// What is wrong with it.
    pub problem: Problem,
    /// Its owner.
    pub ownership: Ownership,
    /// When it was last written, if known.
    pub written_at: Option<Timestamp>,
}

impl BrokenFile {
    /// Returns the key its findings use for it.
    pub fn key(&self) -> Key {
        Key::of_bytes(KeyKind::Record, &[self.format.name().as_bytes(), self.path.bytes()])
    }
}

/// Where git keeps branches.
pub(crate) const BRANCHES: &str = "refs/heads/";

/// The prefix of the names of the entire CLI's branches.
pub(crate) const OF_ENTIRE: &str = "entire/";

/// A git repository with its working trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repo {
    /// The common directory (`.git` of the main working tree).
    #[serde(with = "path_text")]
    pub common_dir: PathBuf,
    /// Whether it is a git repository.
    #[serde(default)]
    pub sort: RepoSort,
    /// The working trees, the main one first.
    pub worktrees: Vec<Worktree>,
    /// The folders where agents put working trees of it that are not in git's list.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<StrayTree>,
    /// The refs of the entire CLI: full names below `refs/heads/entire/`.
    pub entire_refs: Vec<String>,
    /// The other branches claimed by records of this look, and whether each exists.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claimed_branches: BTreeMap<String, bool>,
    /// The processes that use it. Read only while it contains a git lock, because it takes a look at every open file;
    /// `None` proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Users>,
}

/// The kind of place that was read as a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepoSort {
    /// A git repository.
    #[default]
    Git,
    /// A plain folder named by a person: it has no index, no head and no working tree.
    Folder,
}

/// The processes that use a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// The processes with their working folder, their root or an open file in it.
    pub pids: Vec<u32>,
    /// The processes that may use it because they may not be inspected.
    #[serde(default)]
    pub unread: Vec<u32>,
}

impl Repo {
    /// Returns the entire CLI's branches in it, such as `entire/3397a23-e3b0c4`.
    pub(crate) fn entire_branches(&self) -> impl Iterator<Item = &str> {
        self.entire_refs.iter().filter_map(|name| name.strip_prefix(BRANCHES))
    }

    /// Returns whether it has a branch that a record names; `None` if that was not read. For entire's branches, older
    /// code left out the part that distinguishes working trees.
    pub(crate) fn has_branch(&self, name: &str) -> Option<bool> {
        let name = name.strip_prefix(BRANCHES).unwrap_or(name);
        // A checked-out branch has no ref before its first commit.
        let mut checked_out = self.worktrees.iter().filter_map(|tree| tree.branch.as_ref());
        if checked_out.any(|branch| branch.raw() == name) {
            return Some(true);
        }
        if !name.starts_with(OF_ENTIRE) {
            return self.claimed_branches.get(name).copied();
        }
        let is_it = |known: &str| {
            name.strip_prefix(known).is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
        };
        Some(self.entire_branches().any(is_it))
    }

    /// Returns the name of its health badge: from its main working tree, if it has one.
    pub(crate) fn source_id(&self) -> String {
        let main = self.worktrees.first().filter(|main| main.id.is_empty());
        let top = main.map_or(&self.common_dir, |main| &main.path);
        format!("repo:{}", Untrusted::from_path(top).raw())
    }
}

/// One working tree.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Worktree {
    /// Its folder.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// Its name under `worktrees/` of the common directory; empty for the main one.
    pub id: String,
    /// The branch that is checked out; `None` if the head is detached or unreadable.
    pub branch: Option<Untrusted>,
    /// Whether the folder exists.
    pub exists: bool,
    /// The text of `locked`, if git has locked it.
    pub locked: Option<Untrusted>,
    /// Whether its folder is certainly gone: nothing is mounted where it was.
    #[serde(default)]
    pub is_gone: bool,
    /// What is known of it if an agent made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MadeTree>,
}

/// A folder in which an agent may have worked on a repository but which is not in git's list of working trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrayTree {
    /// The folder.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What it is.
    pub sort: TreeSort,
    /// The checked-out branch, for a clone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Untrusted>,
}

/// What is known of a working tree that an agent made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeTree {
    /// Whether no commit was ever made in it: its head has never moved from where it began.
    pub has_no_commit: bool,
    /// Whether its head is the same commit as the main working tree's.
    pub is_at_main: bool,
    /// The processes that work in it or have a file of it open; `None` if that was not read.
    pub users: Option<Users>,
}

/// A database as one look found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// The format it belongs to.
    pub format: Format,
    /// Its path, or its URL without a password, as in [`crate::core::model::Row::database`].
    pub name: Untrusted,
    /// Whether everything that matters was read: only then is a missing row significant.
    pub is_complete: bool,
    /// The processes that have it open; `None` if that is unknown.
    pub opened_by: Option<Vec<u32>>,
    /// What is known of a database that is a file.
    pub file: Option<DatabaseFile>,
    /// The items of work, if the database records who owns them.
    #[serde(default)]
    pub work: Arc<[WorkItem]>,
}

/// What is known of a database that is a file, beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseFile {
    /// The live processes of its own system, whatever they have open.
    pub runners: Vec<u32>,
    /// Since when the journal of an open or interrupted transaction has been beside it.
    pub journal_since: Option<Timestamp>,
    /// The process that holds the write lock, if the kernel reports it.
    pub written_by: Option<u32>,
    /// Those of its sessions that processes were started with.
    #[serde(default, skip_serializing_if = "NamedSessions::is_empty")]
    pub named: NamedSessions,
}

/// The sessions of a database that are named in arguments of processes.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSessions {
    /// Those that are in the database.
    pub rows: Vec<NamedSession>,
    /// Whether all of its sessions were searched: only then is a missing one significant.
    pub is_whole: bool,
}

impl NamedSessions {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

/// A session of a database that a process was started with.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSession {
    /// Its ID.
    pub id: Untrusted,
    /// Its status, in the database's own word.
    pub status: Untrusted,
    /// Whether it is recorded as open.
    pub is_open: bool,
    /// When it ended, or was last written.
    pub ended_at: Option<Timestamp>,
}

/// The health of a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SourceState {
    /// Read completely.
    Ok,
    /// Read in part.
    Partial,
    /// Not read.
    Failed,
    /// There is nothing to read.
    Absent,
}

/// One source's health badge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceHealth {
    /// A stable name, such as `processes`, `maia` or `repo:/home/dev/src`.
    pub id: String,
    /// Its health.
    pub state: SourceState,
    /// What was read or went wrong.
    pub detail: Untrusted,
}

/// What a person asks about, as far as it decides which sources matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Running agents.
    Windows,
    /// Session records and their claims.
    Records,
    /// Everything.
    All,
}

impl SourceHealth {
    /// Returns whether this source may have more than was read: it was not read or only in part, its server has not
    /// answered yet, or it has folders that a person has not named.
    pub fn is_unread(&self) -> bool {
        match self.state {
            SourceState::Ok => false,
            SourceState::Absent => self.is_server() || self.name() == FOLDERS,
            SourceState::Partial | SourceState::Failed => true,
        }
    }

    /// Returns whether it is a database on a server.
    pub(crate) fn is_server(&self) -> bool {
        self.id.starts_with("leo:")
    }

    /// Returns whether it covers a topic.
    fn is_about(&self, topic: Topic) -> bool {
        match topic {
            Topic::Windows => self.name() == PROCESSES || self.is_machine(),
            Topic::Records => self.name() != PROCESSES,
            Topic::All => true,
        }
    }

    /// Returns whether it is another machine, from which everything comes by one connection.
    pub(crate) fn is_machine(&self) -> bool {
        self.id.starts_with(MACHINE)
    }

    /// Returns its name on its own machine.
    fn name(&self) -> &str {
        self.id.split_once('@').map_or(&self.id, |(name, _)| name)
    }
}

/// The prefix of the name of another machine as a source.
pub(crate) const MACHINE: &str = "machine:";

/// The source of windows.
const PROCESSES: &str = "processes";
/// The source for folders that windows work in and that may not be read.
pub(crate) const FOLDERS: &str = "folders";

/// Returns the sources that may have more about a topic than was read.
pub(crate) fn unread(sources: &[SourceHealth], topic: Topic) -> impl Iterator<Item = &SourceHealth> {
    sources.iter().filter(move |source| source.is_unread() && source.is_about(topic))
}

/// Returns whether all processes of this machine were read; other machines have sources of their own.
pub(crate) fn is_read_here(sources: &[SourceHealth]) -> bool {
    !sources.iter().any(|source| source.id == PROCESSES && source.is_unread())
}

/// An agent that claimtop has seen alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SeenAgent {
    /// The process.
    pub id: ProcessId,
    /// When it was last seen alive.
    pub last_seen_at: Timestamp,
    /// When it last had an entry in the agent's own registry, if ever.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub registered_at: Option<Timestamp>,
}

impl Snapshot {
    /// Returns the tombstone of a process that counts here.
    pub fn tombstone(&self, id: ProcessId) -> Option<&Tombstone> {
        let from = self.tombstones.partition_point(|stone| stone.id < id);
        let same = self.tombstones.iter().skip(from).take_while(|stone| stone.id == id);
        same.into_iter().find(|stone| stone.counts_on(&self.host))
    }
}
