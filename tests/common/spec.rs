//! The file form of the parts of a world.

use std::collections::BTreeMap;

use claimtop::core::model::{
    Halfway, Hindrance, InputEnd, Interaction, Medium, Others, Platform, SourceHealth, SourceState, TreeSort,
    Untrusted, WarningSort,
};
use claimtop::testing::core::{INITIAL_PID_NAMESPACE, INITIAL_TIME_NAMESPACE};
use serde::Deserialize;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(super) struct HostSpec {
    pub(super) now: String,
    pub(super) name: String,
    /// `linux` or `macos`.
    pub(super) platform: Platform,
    pub(super) boot_id: String,
    pub(super) booted: String,
    /// When this boot was certainly under way, by the clock at that time.
    pub(super) up_by: Option<String>,
    /// When this boot began by the clock at that time, or `unknown`; by default the clock was set only by
    /// `clock_set_by`.
    pub(super) boot_stamp: Option<String>,
    /// Moments since which the clock was read as it is now, and others with how far it was ahead of that.
    pub(super) clock_read: Vec<(String, String)>,
    pub(super) zone: String,
    pub(super) uid: u32,
    pub(super) pid_namespace: u64,
    pub(super) partial_scan: Option<String>,
    /// The folders of windows outside of all repositories.
    pub(super) plain_folders: Vec<String>,
    /// How far the clock was seen to be set.
    pub(super) clock_set_by: String,
    pub(super) machine_id: Option<String>,
    pub(super) time_namespace: u64,
}

impl Default for HostSpec {
    fn default() -> Self {
        Self {
            now: "2026-11-20T22:00:00Z".to_owned(),
            name: "vm".to_owned(),
            platform: Platform::Linux,
            boot_id: "0b5fb5f8-f561-4d27-8dcc-a78a6f99e24b".to_owned(),
            booted: "2 days ago".to_owned(),
            up_by: None,
            boot_stamp: None,
            clock_read: Vec::new(),
            zone: "UTC".to_owned(),
            uid: 1000,
            pid_namespace: INITIAL_PID_NAMESPACE,
            partial_scan: None,
            plain_folders: Vec::new(),
            clock_set_by: "0 s".to_owned(),
            machine_id: None,
            time_namespace: INITIAL_TIME_NAMESPACE,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ProcessSpec {
    pub(super) pid: u32,
    #[serde(default = "one")]
    pub(super) parent: u32,
    /// Its session; it is the leader if none is given.
    #[serde(default)]
    pub(super) session: Option<u32>,
    /// Its process group.
    pub(super) group: Option<u32>,
    /// Whether the scan found an agent's executable or arguments behind another name.
    #[serde(default)]
    pub(super) renamed: bool,
    /// Its real, effective, saved and file-system user, if they differ.
    #[serde(default)]
    pub(super) users: Vec<u32>,
    /// Whether it has any capability.
    #[serde(default)]
    pub(super) capable: bool,
    /// Whether its user namespace is not the machine's.
    #[serde(default)]
    pub(super) mapped: bool,
    /// `claude`, `codex`, `bash` or any other name; the first two get an agent's executable.
    pub(super) name: String,
    /// When it started.
    pub(super) started: String,
    /// `running`, `stopped`, `zombie` or `leader-exited`; `dead` is not in the table at all.
    #[serde(default = "running")]
    pub(super) state: String,
    #[serde(default)]
    pub(super) argv: Vec<String>,
    #[serde(default)]
    pub(super) exe: Option<String>,
    #[serde(default)]
    pub(super) cwd: Option<String>,
    #[serde(default)]
    pub(super) tty: Option<String>,
    #[serde(default)]
    pub(super) uid: Option<u32>,
    /// Its numbers, innermost last; by default only its PID, and unread if empty.
    #[serde(default)]
    pub(super) ns_pids: Option<Vec<u32>>,
    #[serde(default)]
    pub(super) env: BTreeMap<String, String>,
    /// Its home; unknown by default.
    #[serde(default)]
    pub(super) home: Option<String>,
    /// Claude Code's configuration folder; by default `.claude` in its home.
    #[serde(default)]
    pub(super) config: Option<String>,
    /// Folders of the machine that it has below its home under other names.
    #[serde(default)]
    pub(super) sees: Vec<String>,
    /// Another user's, so that its executable cannot be read.
    #[serde(default)]
    pub(super) unreadable: bool,
    #[serde(default)]
    pub(super) exited: Option<bool>,
    #[serde(default)]
    pub(super) other_clock: bool,
    /// It may count in another time namespace: that cannot be read.
    #[serde(default)]
    pub(super) unread_clock: bool,
    /// Whether its working directory is another folder than the one of this name.
    #[serde(default)]
    pub(super) elsewhere: bool,
    /// Whether that folder was removed.
    #[serde(default)]
    pub(super) folder_gone: bool,
    /// The path of its working directory here, if it has mounts of its own.
    pub(super) cwd_here: Option<String>,
    /// The inode of its working folder, if that has no name here.
    pub(super) cwd_inode: Option<u64>,
    /// It is a thread of the kernel.
    #[serde(default)]
    pub(super) kernels: bool,
    /// Its home lies on overlayfs or its like, where device and inode identify nothing.
    #[serde(default)]
    pub(super) stacked: bool,
    #[serde(default)]
    pub(super) pidfd_inode: Option<u64>,
    /// Only the facts that a scan reads of every process are known.
    #[serde(default)]
    pub(super) unread: bool,
    /// The files that it has open, which only count for their repository.
    #[serde(default)]
    pub(super) opens: Vec<String>,
    /// Its working folder and open files may not be looked at.
    #[serde(default)]
    pub(super) closed: bool,
    /// The numbers of its threads that records name.
    #[serde(default)]
    pub(super) threads: Vec<u32>,
    /// Listed, but not readable.
    #[serde(default)]
    pub(super) hidden: bool,
}

impl ProcessSpec {
    /// Returns the homes in its environment.
    pub(super) fn homes(&self) -> BTreeMap<String, String> {
        let named = [("HOME", &self.home), ("CLAUDE_CONFIG_DIR", &self.config)];
        named.into_iter().filter_map(|(name, path)| Some((name.to_owned(), path.clone()?))).collect()
    }
}

fn one() -> u32 {
    1
}

fn running() -> String {
    "running".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct FileSpec {
    /// Where: `/tmp/...`, `~/...`, `git:/repo/...` (the common directory) or a path in a worktree.
    pub(super) path: String,
    #[serde(default)]
    pub(super) text: String,
    #[serde(default = "a_minute_ago")]
    pub(super) written: String,
    /// When its mode, owner or name was last changed; by default when it was written.
    #[serde(default)]
    pub(super) changed: Option<String>,
    /// When the file was made, if its file system records that.
    pub(super) made: Option<String>,
    #[serde(default = "private")]
    pub(super) mode: String,
    #[serde(default)]
    pub(super) uid: Option<u32>,
    /// `symlink`, `fifo`, `directory`, `socket`, `device`, `hard link`, `huge`, `foreign`, `unreadable`.
    #[serde(default)]
    pub(super) special: Option<String>,
    #[serde(default)]
    pub(super) locked_by: Option<u32>,
    /// What kind of file system it lies on: `local`, `mapped`, `shared` or `unknown`.
    #[serde(default)]
    pub(super) medium: Medium,
}

fn mapped() -> Medium {
    Medium::Mapped
}

fn a_minute_ago() -> String {
    "1 min ago".to_owned()
}

fn private() -> String {
    "0600".to_owned()
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RepoSpec {
    pub(super) root: String,
    #[serde(default)]
    pub(super) branch: Option<String>,
    /// Linked worktrees: path -> branch.
    #[serde(default)]
    pub(super) worktrees: BTreeMap<String, String>,
    /// Those of them whose folder has gone.
    #[serde(default)]
    pub(super) gone: Vec<String>,
    /// Those of them that are missing, and perhaps only not mounted.
    #[serde(default)]
    pub(super) absent: Vec<String>,
    /// The known facts about those of them that an agent made, beside those that it has locked.
    #[serde(default)]
    pub(super) made: BTreeMap<String, MadeSpec>,
    /// The folders that its list of working trees does not have: path -> kind.
    #[serde(default)]
    pub(super) strays: BTreeMap<String, TreeSort>,
    #[serde(default)]
    pub(super) entire_refs: Vec<String>,
    /// The other branches that were looked up because records claim them, and whether each exists.
    #[serde(default)]
    pub(super) claimed_branches: BTreeMap<String, bool>,
    /// It is not a repository, but a folder that a person named.
    #[serde(default)]
    pub(super) plain: bool,
    /// Its users were not looked up.
    #[serde(default)]
    pub(super) users_unread: bool,
}

/// A working tree that an agent made.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MadeSpec {
    #[serde(default)]
    pub(super) no_commit: bool,
    #[serde(default)]
    pub(super) at_main: bool,
    /// The processes that work in it were not looked up.
    #[serde(default)]
    pub(super) users_unread: bool,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SeenSpec {
    pub(super) pid: u32,
    pub(super) started: String,
    /// When it was last seen; by default now.
    #[serde(default)]
    pub(super) until: Option<String>,
    /// When it last had its entry in the agent's own registry.
    #[serde(default)]
    pub(super) registered: Option<String>,
}

/// A note that `claimtop bind` left.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BindingSpec {
    /// The hook's standard input, if that shows that the session waits.
    #[serde(default)]
    pub(super) hook: Option<String>,
    pub(super) session: String,
    pub(super) pid: u32,
    /// When the process started.
    pub(super) started: String,
    #[serde(default = "a_minute_ago")]
    pub(super) written: String,
    #[serde(default)]
    pub(super) agent: Option<String>,
    #[serde(default)]
    pub(super) pidfd_inode: Option<u64>,
    #[serde(default)]
    pub(super) boot_id: Option<String>,
    #[serde(default)]
    pub(super) host: Option<String>,
    #[serde(default)]
    pub(super) pid_namespace: Option<u64>,
    /// What kind of file system all notes lie on: of a local one it is never determined whether it maps owners.
    #[serde(default = "mapped")]
    pub(super) medium: Medium,
    /// It exists and makes no sense.
    #[serde(default)]
    pub(super) broken: bool,
}

/// A process that was proven dead in an earlier look.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TombstoneSpec {
    pub(super) pid: u32,
    /// When the process started.
    pub(super) started: String,
    #[serde(default = "a_minute_ago")]
    pub(super) proven: String,
    /// The same in ticks since the boot, which no clock change affects.
    #[serde(default)]
    pub(super) proven_tick: Option<String>,
    #[serde(default)]
    pub(super) seen_alive: Option<String>,
    #[serde(default)]
    pub(super) session: Option<String>,
    /// The last name of its window.
    #[serde(default)]
    pub(super) name: Option<String>,
    #[serde(default)]
    pub(super) boot_id: Option<String>,
    #[serde(default)]
    pub(super) pid_namespace: Option<u64>,
    #[serde(default)]
    pub(super) time_namespace: Option<u64>,
}

/// The kept descent of a process that was seen below a window which has ended since.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct DescentSpec {
    pub(super) pid: u32,
    /// When it started; by default as the process of the world that has its PID.
    #[serde(default)]
    pub(super) started: Option<String>,
    /// The windows, the nearest first.
    pub(super) below: Vec<u32>,
    #[serde(default = "a_minute_ago")]
    pub(super) kept: String,
    /// How many younger descents, of ended processes, are kept of the same window.
    #[serde(default)]
    pub(super) younger: u32,
    #[serde(default)]
    pub(super) boot_id: Option<String>,
    #[serde(default)]
    pub(super) pid_namespace: Option<u64>,
    #[serde(default)]
    pub(super) time_namespace: Option<u64>,
}

/// The traces of a process' origin.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct TraceSpec {
    pub(super) pid: u32,
    /// Its process group; it is the leader if none is given.
    #[serde(default)]
    pub(super) group: Option<u32>,
    #[serde(default = "claude_code")]
    pub(super) agent: String,
    /// The PID of the window that its environment names.
    #[serde(default)]
    pub(super) window: Option<u32>,
    #[serde(default)]
    pub(super) session: Option<String>,
    /// The server of tmux that its environment names.
    #[serde(default)]
    pub(super) tmux: Option<u32>,
    /// Systemd started it as a unit's main process.
    #[serde(default)]
    pub(super) unit: bool,
    /// The sessions to whose task output it writes.
    #[serde(default)]
    pub(super) tasks: Vec<String>,
    /// The sessions that have taken over its own one's tasks, and whether that was read.
    #[serde(default)]
    pub(super) adopted_by: Vec<String>,
    #[serde(default)]
    pub(super) adoption_unread: bool,
    /// The agents below which it was seen, the nearest first.
    #[serde(default)]
    pub(super) seen_below: Vec<u32>,
    /// Its memory in bytes.
    #[serde(default)]
    pub(super) memory: Option<u64>,
    /// The ports that it listens on, and how many connections each has.
    #[serde(default)]
    pub(super) ports: Vec<u16>,
    #[serde(default)]
    pub(super) clients: Option<u32>,
    /// The other end of its standard input.
    #[serde(default)]
    pub(super) input: Option<InputEnd>,
    /// The name of its command line in an agent's configuration.
    #[serde(default)]
    pub(super) server: Option<String>,
    /// Its environment could not be read.
    #[serde(default)]
    pub(super) unread: bool,
    /// Its tracer.
    #[serde(default)]
    pub(super) traced: Option<u32>,
    /// It waits in the kernel.
    #[serde(default)]
    pub(super) waits: bool,
    /// The lock of a repository that it has open.
    #[serde(default)]
    pub(super) lock: Option<String>,
    /// Its current activity could not be read.
    #[serde(default)]
    pub(super) busy: bool,
    /// The open files by which a person may be working with it, and whether they were read.
    #[serde(default)]
    interaction: Option<Interaction>,
    #[serde(default)]
    interaction_unread: bool,
}

impl TraceSpec {
    pub(super) fn adopted(&self) -> Option<Vec<Untrusted>> {
        let adopted = || self.adopted_by.iter().map(|session| session.as_str().into()).collect();
        (!self.adoption_unread).then(adopted)
    }

    pub(super) fn interaction(&self) -> Option<Interaction> {
        (!self.interaction_unread).then(|| self.interaction.unwrap_or(Interaction::Nothing))
    }

    pub(super) fn hindrance(&self) -> Option<Hindrance> {
        let waits = self.waits.then_some(Hindrance::Waiting);
        let lock = || self.lock.as_deref().map(|path| Hindrance::Locking(path.into()));
        let found = self.traced.map(Hindrance::Traced).or(waits).or_else(lock);
        (!self.busy).then(|| found.unwrap_or(Hindrance::Nothing))
    }
}

pub(super) fn claude_code() -> String {
    "claude-code".to_owned()
}

/// The work of a session: the lines of its agent's own file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkSpec {
    pub(super) format: String,
    pub(super) session: String,
    #[serde(default = "a_minute_ago")]
    pub(super) written: String,
    pub(super) text: String,
    /// The edited files that git does not have.
    #[serde(default)]
    pub(super) uncommitted: Vec<String>,
    /// Those that it has.
    #[serde(default)]
    pub(super) committed: Vec<String>,
    /// Those whose bytes are nowhere any more, each with when its file was changed.
    #[serde(default)]
    pub(super) gone: BTreeMap<String, String>,
    /// Those whose bytes only a stash entry has, each with its commit and when it was made.
    #[serde(default)]
    pub(super) stashed: BTreeMap<String, [String; 2]>,
    /// By which session's line a hook has found them undone, and that line.
    #[serde(default)]
    pub(super) undone_by: BTreeMap<String, [String; 2]>,
    /// The guard's reports to it.
    #[serde(default)]
    pub(super) warned: Vec<WarningSpec>,
    /// The processes that listen on the ports that it could not get, by their numbers.
    #[serde(default)]
    pub(super) listeners: BTreeMap<String, u32>,
    /// The sub-agents that have edited a file, the last one first.
    #[serde(default)]
    pub(super) sub_agents: BTreeMap<String, Vec<String>>,
}

/// A guard's report to a session about another.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WarningSpec {
    pub(super) at: String,
    pub(super) of: String,
    pub(super) path: Option<String>,
    pub(super) how: WarningSort,
}

/// A session file of an agent, as the source found it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SessionFileSpec {
    pub(super) agent: String,
    pub(super) session: String,
    #[serde(default)]
    pub(super) locked_by: Option<u32>,
    #[serde(default)]
    pub(super) names: Option<u32>,
    #[serde(default)]
    pub(super) opened_by: Option<u32>,
    /// The process in its agent's registry, and that one's start, if the process is another now.
    #[serde(default)]
    pub(super) stated_by: Option<u32>,
    #[serde(default)]
    pub(super) stated_start: Option<String>,
    /// When the session began.
    #[serde(default)]
    pub(super) began: Option<String>,
    /// Whether it began as a copy.
    #[serde(default)]
    pub(super) fork: bool,
    #[serde(default)]
    pub(super) folder: Option<String>,
    #[serde(default = "a_minute_ago")]
    pub(super) written: String,
    /// What kind of file system it lies on.
    #[serde(default)]
    pub(super) medium: Medium,
    /// Whether its process is tied to other sessions: `none` or `unknown`.
    #[serde(default)]
    pub(super) others: Others,
}

/// An action of claimtop's own that was not completed.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct UnfinishedSpec {
    pub(super) entry: u64,
    pub(super) title: String,
    pub(super) began: String,
    /// How it ended.
    pub(super) end: Halfway,
    /// The files that are parked and not in their places.
    #[serde(default)]
    pub(super) missing: Vec<String>,
}

/// A command of git's, as git's own events reported it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct GitCommandSpec {
    pub(super) pid: u32,
    pub(super) argv: Vec<String>,
    pub(super) tree: String,
    pub(super) at: String,
    /// When it ended; by default at once.
    #[serde(default)]
    pub(super) ended: Option<String>,
    /// What git says of it, such as `path`.
    #[serde(default)]
    pub(super) mode: Option<String>,
    /// The git command that started it, by its PID, at the same time.
    #[serde(default)]
    pub(super) below: Option<u32>,
    /// The names of the programs above it.
    #[serde(default)]
    pub(super) above: Vec<String>,
    /// The window below which it ran, with its start.
    #[serde(default)]
    pub(super) window: Option<(u32, String)>,
    /// No open claimtop saw it.
    #[serde(default)]
    pub(super) not_seen: bool,
    #[serde(default)]
    pub(super) boot_id: Option<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct SourceSpec {
    pub(super) id: String,
    pub(super) state: String,
    pub(super) detail: String,
}

impl SourceSpec {
    pub(super) fn health(&self) -> SourceHealth {
        SourceHealth {
            id: self.id.clone(),
            state: match self.state.as_str() {
                "ok" => SourceState::Ok,
                "partial" => SourceState::Partial,
                "failed" => SourceState::Failed,
                "absent" => SourceState::Absent,
                other => panic!("unknown source state {other}"),
            },
            detail: self.detail.as_str().into(),
        }
    }
}

/// What a process of a tool call waits for: one of these.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct CallWaitSpec {
    /// The agent.
    pub(super) agent: u32,
    /// The process.
    pub(super) pid: u32,
    /// Its output is read by the agent.
    #[serde(default)]
    pub(super) output: bool,
    #[serde(default)]
    pub(super) stopped: bool,
    #[serde(default)]
    pub(super) child: bool,
    #[serde(default)]
    pub(super) terminal: Option<String>,
    /// Who can write into the pipe that it reads.
    #[serde(default)]
    pub(super) pipe: Option<Vec<u32>>,
    #[serde(default)]
    pub(super) lock: Option<LockSpec>,
}

/// The lock that a process waits for.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LockSpec {
    pub(super) path: String,
    pub(super) holder: u32,
    #[serde(default)]
    pub(super) taken_by: Option<u32>,
}
