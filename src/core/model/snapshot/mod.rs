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
    FilePath, Format, HomeFolder, Host, Key, KeyKind, Notes, Ownership, Problem, ProcessId, ProcessTable,
    Record, SessionFile, Tombstone, Trace, TreeSort, UnfinishedAction, UnreadWork, Untrusted, Work, WorkItem,
};

/// Everything that one look found. Records are read first, processes second: the other way
/// round, a process born in between would look dead.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// When the look was finished.
    pub taken_at: Timestamp,
    /// The machine and who is looking.
    pub host: Host,
    /// All processes.
    pub processes: ProcessTable,
    /// All session records.
    pub records: Vec<Arc<Record>>,
    /// Files that have a session file's name but gave no record.
    pub broken: Vec<BrokenFile>,
    /// The repositories that were looked in.
    pub repos: Vec<Repo>,
    /// The databases that were read, or should have been.
    pub databases: Vec<Database>,
    /// How each source fared.
    pub sources: Vec<SourceHealth>,
    /// Agents that claimtop itself has seen alive, also in earlier looks.
    pub seen_agents: Vec<SeenAgent>,
    /// What agents' own hooks told about who runs which session.
    pub bound: Notes,
    /// The folders of homes in which records were read.
    pub homes: Vec<HomeFolder>,
    /// The agents' own session files that may belong to a window.
    pub session_files: Vec<SessionFile>,
    /// What sessions do, as their agents' own files say.
    pub work: Vec<Arc<Work>>,
    /// The files of sessions that were found and not read.
    pub unread_work: Vec<UnreadWork>,
    /// Who was proven dead in this boot, also in earlier looks: sorted by PID and start.
    pub tombstones: Arc<[Tombstone]>,
    /// The folders that windows work in and that lie in no repository, as far as may be looked.
    pub plain_folders: Vec<Untrusted>,
    /// What processes that no window stands above say of where they come from.
    pub traces: Vec<Trace>,
    /// The actions of claimtop's own that did not end, or ended halfway.
    pub unfinished: Vec<UnfinishedAction>,
}

impl Snapshot {
    /// Returns whether all of a repository's working trees and branches were read: only then does
    /// one that is missing mean anything.
    pub(crate) fn is_whole(&self, repo: &Repo) -> bool {
        let id = repo.source_id();
        !self.sources.iter().any(|source| source.id == id && source.state != SourceState::Ok)
    }

    /// Forgets every process whose program is outside of `stage`, and with them whoever started the
    /// stage: in a made-up world nobody of the machine counts.
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

/// A file with a session file's name that gave no record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct BrokenFile {
    /// The system whose name pattern it matches.
    pub format: Format,
    /// Where it is.
    pub path: FilePath,
    /// What is wrong with it.
    pub problem: Problem,
    /// Who owns it.
    pub ownership: Ownership,
    /// When it was last written, if known.
    pub written_at: Option<Timestamp>,
}

impl BrokenFile {
    /// Returns what its findings call it.
    pub fn key(&self) -> Key {
        Key::of_bytes(KeyKind::Record, &[self.format.name().as_bytes(), self.path.bytes()])
    }
}

/// Where git keeps branches.
pub(crate) const BRANCHES: &str = "refs/heads/";

/// How the names of the entire CLI's branches begin.
pub(crate) const OF_ENTIRE: &str = "entire/";

/// A git repository with its working trees.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Repo {
    /// The common directory (`.git` of the main working tree).
    #[serde(with = "path_text")]
    pub common_dir: PathBuf,
    /// Whether it is one.
    #[serde(default)]
    pub sort: RepoSort,
    /// The working trees, the main one first.
    pub worktrees: Vec<Worktree>,
    /// The folders where agents put working trees of it that git's list does not have.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strays: Vec<StrayTree>,
    /// The refs of the entire CLI: full names below `refs/heads/entire/`.
    pub entire_refs: Vec<String>,
    /// The other branches that records of this look claim, and whether each is there.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub claimed_branches: BTreeMap<String, bool>,
    /// Who uses it. It is only read while a lock of git's lies in it, for it costs a look at every
    /// open file; `None` proves nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub users: Option<Users>,
}

/// What was looked in as a repository.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum RepoSort {
    /// A repository of git's.
    #[default]
    Git,
    /// A plain folder that a person named: it has no index, no head and no working tree.
    Folder,
}

/// The processes that use a repository.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Users {
    /// Those with their working folder, their root or an open file in it.
    pub pids: Vec<u32>,
    /// Those that may use it, for they may not be looked at.
    #[serde(default)]
    pub unread: Vec<u32>,
}

impl Repo {
    /// Returns its branches of the entire CLI, such as `entire/3397a23-e3b0c4`.
    pub(crate) fn entire_branches(&self) -> impl Iterator<Item = &str> {
        self.entire_refs.iter().filter_map(|name| name.strip_prefix(BRANCHES))
    }

    /// Returns whether it has a branch that a record names; `None` where nobody looked. Of entire's branches older code
    /// left out the part that tells working trees apart.
    pub(crate) fn has_branch(&self, name: &str) -> Option<bool> {
        let name = name.strip_prefix(BRANCHES).unwrap_or(name);
        // One that is checked out has no ref before its first commit.
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

    /// Returns the name of its health badge: by its main working tree, where it has one.
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
    /// The branch that is checked out; `None` when the head is detached or unreadable.
    pub branch: Option<Untrusted>,
    /// Whether the folder exists.
    pub exists: bool,
    /// The text of `locked`, if git holds it locked.
    pub locked: Option<Untrusted>,
    /// Whether its folder has gone for certain: it lay where nothing is mounted.
    #[serde(default)]
    pub is_gone: bool,
    /// What is known of it where an agent made it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<MadeTree>,
}

/// A folder in which an agent may have worked on a repository, and which git's list of its working trees does not have.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StrayTree {
    /// The folder.
    #[serde(with = "path_text")]
    pub path: PathBuf,
    /// What it is.
    pub sort: TreeSort,
    /// The branch of a clone that is checked out.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub branch: Option<Untrusted>,
}

/// What is known of a working tree that an agent made.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MadeTree {
    /// Whether no commit was ever made in it: its head has only stood where it began.
    pub has_no_commit: bool,
    /// Whether its head is the commit that the main working tree has.
    pub is_at_main: bool,
    /// Who works in it or has a file of it open; `None` where nobody was asked.
    pub users: Option<Users>,
}

/// A database as one look found it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Database {
    /// Whose it is.
    pub format: Format,
    /// Its path, or its URL without a password, as in [`crate::core::model::Row::database`].
    pub name: Untrusted,
    /// Whether everything that matters was read: only then does a missing row mean anything.
    pub is_complete: bool,
    /// The processes that have it open; `None` where that cannot be told.
    pub opened_by: Option<Vec<u32>>,
    /// What is known of a database that is a file.
    pub file: Option<DatabaseFile>,
    /// What can be worked on, where the database says who owns it.
    #[serde(default)]
    pub work: Arc<[WorkItem]>,
}

/// What is known of a database that is a file, beside its rows.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct DatabaseFile {
    /// The processes of its own system that live, whatever they have open.
    pub runners: Vec<u32>,
    /// Since when a journal of an open or interrupted transaction lies beside it.
    pub journal_since: Option<Timestamp>,
    /// The process that holds the lock for writing, where the kernel tells.
    pub written_by: Option<u32>,
    /// Its sessions that processes were started with.
    #[serde(default, skip_serializing_if = "NamedSessions::is_empty")]
    pub named: NamedSessions,
}

/// The sessions of a database that arguments of processes name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct NamedSessions {
    /// Those that it has.
    pub rows: Vec<NamedSession>,
    /// Whether all of its sessions were looked through: only then does one that is missing mean anything.
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
    /// How it stands, by the database's own word.
    pub status: Untrusted,
    /// Whether it stands as open.
    pub is_open: bool,
    /// When it ended, or was last written.
    pub ended_at: Option<Timestamp>,
}

/// How a source fared.
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
    /// How it fared.
    pub state: SourceState,
    /// What was read or what went wrong.
    pub detail: Untrusted,
}

/// What a person asks about, as far as sources matter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Topic {
    /// Running agents.
    Windows,
    /// Session records, and what they claim.
    Records,
    /// Everything.
    All,
}

impl SourceHealth {
    /// Returns whether there may be more than this source has told: it was not read, not all of
    /// it, a server that has not answered yet, or folders that a person has not named.
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

    /// Returns whether it tells of what is asked.
    fn is_about(&self, topic: Topic) -> bool {
        match topic {
            Topic::Windows => self.name() == PROCESSES || self.is_machine(),
            Topic::Records => self.name() != PROCESSES,
            Topic::All => true,
        }
    }

    /// Returns whether it is another machine, of which everything comes by one way.
    pub(crate) fn is_machine(&self) -> bool {
        self.id.starts_with(MACHINE)
    }

    /// Returns what it is called on its own machine.
    fn name(&self) -> &str {
        self.id.split_once('@').map_or(&self.id, |(name, _)| name)
    }
}

/// What begins the name of another machine as a source.
pub(crate) const MACHINE: &str = "machine:";

/// The source of the windows.
const PROCESSES: &str = "processes";
/// The folders that windows work in, where those are not to be read.
pub(crate) const FOLDERS: &str = "folders";

/// Returns the sources that may have more to tell about what is asked.
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
    /// Which process.
    pub id: ProcessId,
    /// When it was last seen alive.
    pub last_seen_at: Timestamp,
    /// When it last had its entry in the agent's own registry, if ever.
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
