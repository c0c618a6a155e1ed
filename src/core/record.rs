//! Session records: what some system wrote about a window, with its format's own meaning.

use std::path::PathBuf;

use jiff::Timestamp;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::file::FilePath;
use super::finding::Code;
use super::fixed::{self, Word};
use super::own::Own;
use super::path_text;
use super::shared::Shared;
use super::text::Untrusted;

/// The system that wrote a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Format {
    /// Maia's active-agent session files.
    Maia,
    /// The multi-agent observability system's session-ID files.
    Observability,
    /// The entire CLI's session state.
    Entire,
    /// The LEO protocol's session files, markers, ticks and locks.
    Leo,
    /// Claude Code's own per-PID registry.
    ClaudeCode,
    /// The Obra orchestrator's SQLite database.
    Obra,
    /// Git's own locks.
    Git,
    /// The issues of beads (`bd`).
    Beads,
    /// The file reservations of mcp_agent_mail.
    AgentMail,
    /// Codex's own locks.
    Codex,
    /// Copilot CLI's own locks.
    Copilot,
    /// One that a person has described.
    Own(Own),
}

impl Format {
    /// Every format that claimtop knows by itself, in the order in which they are shown.
    pub const ALL: [Self; 11] = [
        Self::ClaudeCode,
        Self::Maia,
        Self::Observability,
        Self::Entire,
        Self::Leo,
        Self::Obra,
        Self::Git,
        Self::Beads,
        Self::AgentMail,
        Self::Codex,
        Self::Copilot,
    ];

    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::Maia => "maia",
            Self::Observability => "observability",
            Self::Entire => "entire",
            Self::Leo => "leo",
            Self::ClaudeCode => "claude-code",
            Self::Obra => "obra",
            Self::Git => "git",
            Self::Beads => "beads",
            Self::AgentMail => "agent-mail",
            Self::Codex => "codex",
            Self::Copilot => "copilot",
            Self::Own(own) => &own.definition().name,
        }
    }
}

impl Serialize for Format {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for Format {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let known = Self::ALL.into_iter().find(|format| format.name() == name);
        Ok(known.unwrap_or_else(|| Self::Own(Own::named(&name))))
    }
}

/// Whether claimtop lets the records of a system go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LetGo {
    /// By its verdict: what is dead with one key, the rest with more.
    ByVerdict,
    /// Only what is proven dead.
    OnlyDead,
    /// Not at all: only its own system knows how.
    Never,
}

/// The variant of a task of one of Claude Code's lists.
pub const TASK: &str = "task";
/// The variant of one of Claude Code's teams.
pub const TEAM: &str = "team";
/// The variant of the lock of Claude Code's daemon.
pub const DAEMON: &str = "daemon lock";
/// The variant of an editor that Claude Code talks to.
pub const EDITOR: &str = "editor";

impl Format {
    /// Returns by what rule claimtop lets its records of a kind go.
    pub fn let_go(self, kind: RecordKind) -> LetGo {
        match self {
            Self::ClaudeCode if kind == RecordKind::Metadata => LetGo::Never,
            Self::Maia | Self::Observability | Self::Entire | Self::Leo | Self::ClaudeCode | Self::Obra => {
                LetGo::ByVerdict
            }
            Self::Git => LetGo::OnlyDead,
            Self::Beads | Self::AgentMail | Self::Codex | Self::Copilot => LetGo::Never,
            Self::Own(own) => own.definition().let_go,
        }
    }
}

/// Whether a record has its system's present form.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Generation {
    /// As the newest code of that system writes it.
    Current,
    /// In a place or form that only older code wrote.
    Legacy,
}

/// What a record is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RecordKind {
    /// It describes a session of one window.
    Session,
    /// It ties a session ID to a process (a marker, a live registry).
    Marker,
    /// It points at a session ID without naming a process.
    Pointer,
    /// A liveness daemon's record.
    Tick,
    /// A lock.
    Lock,
    /// It belongs to a session record and has no life of its own.
    Companion,
    /// Names, colours and other facts about a session or a worktree.
    Metadata,
    /// What an interrupted write left.
    Temporary,
}

/// Which process a stored PID is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// The agent itself: its death is the window's death.
    Agent,
    /// A shell between the agent and the writer.
    Shell,
    /// A hook or another short-lived helper.
    Hook,
    /// A daemon that outlives or trails the agent.
    Daemon,
    /// The format does not fix it.
    Unknown,
}

/// A PID as a file states it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum StatedPid {
    /// A number that can be a process of a user: above 1 and at most 4,194,304, the kernel's
    /// `PID_MAX_LIMIT` (proc(5), `pid_max`).
    Valid(u32),
    /// 0, 1, negative, too large or not a number: as it stood there.
    Bad(Untrusted),
}

impl StatedPid {
    /// Judges a number from a file.
    pub fn from_number(number: i128) -> Self {
        match u32::try_from(number) {
            Ok(pid) if (2..=4_194_304).contains(&pid) => Self::Valid(pid),
            _ => Self::Bad(Untrusted::new(number.to_string())),
        }
    }

    /// Returns the PID if it can be one.
    pub fn valid(&self) -> Option<u32> {
        match self {
            Self::Valid(pid) => Some(*pid),
            Self::Bad(_) => None,
        }
    }
}

/// How strongly a stored PID ties a session to a process; later is stronger.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub enum Binding {
    /// A session file's PID, often a helper's.
    File,
    /// The PID of a session's row in a database: the last that some writer took for it.
    Row,
    /// A terminal ID that ends in a PID.
    TerminalSuffix,
    /// A marker that a hook wrote for its parent.
    Marker,
    /// The parent that a liveness daemon watches.
    Tick,
    /// PID, start and boot of the owner.
    Owner,
    /// The agent's own registry with PID and start.
    Registry,
}

/// What a record says about the process that owns it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Holder {
    /// The PID, if one is stored.
    pub pid: Option<StatedPid>,
    /// Which process the PID is.
    pub role: Role,
    /// How strongly it ties.
    pub binding: Binding,
    /// The start in clock ticks since boot, if stored.
    pub start_ticks: Option<u64>,
    /// The boot ID, if stored.
    pub boot_id: Option<Untrusted>,
    /// The host name, if stored.
    pub host: Option<Untrusted>,
    /// LEO's machine ID (`sha256("hostname-platform-arch")`, first 16 hex digits), if stored.
    pub machine_id: Option<Untrusted>,
    /// The name of the process, if stored.
    pub name: Option<Untrusted>,
}

impl Holder {
    /// Returns a holder of which only PID, role and binding are stored.
    pub fn new(pid: StatedPid, role: Role, binding: Binding) -> Self {
        Self {
            pid: Some(pid),
            role,
            binding,
            start_ticks: None,
            boot_id: None,
            host: None,
            machine_id: None,
            name: None,
        }
    }
}

/// What a claim holds. The names are the interface's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ResourceKind {
    /// A specialist persona (Maia).
    AgentRole,
    /// A project's one session slot (observability).
    Project,
    /// A working tree.
    Worktree,
    /// A branch, also a shadow branch.
    Branch,
    /// A set of files.
    Files,
    /// A work item (LEO).
    WorkItem,
    /// A task.
    Task,
    /// A session of an agent.
    Session,
    /// A lock.
    Lock,
}

impl ResourceKind {
    /// Returns the name that the interface fixes.
    pub fn name(self) -> &'static str {
        match self {
            Self::AgentRole => "agent-role",
            Self::Project => "project",
            Self::Worktree => "worktree",
            Self::Branch => "branch",
            Self::Files => "files",
            Self::WorkItem => "work-item",
            Self::Task => "task",
            Self::Session => "session",
            Self::Lock => "lock",
        }
    }
}

/// One thing that can be held.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Resource {
    /// What kind of thing.
    pub kind: ResourceKind,
    /// Its name within its kind.
    pub id: Untrusted,
}

/// What one place says of a claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SurfaceState {
    /// It says the same.
    Agrees,
    /// It names another holder.
    Disagrees,
    /// It should say it and does not.
    Missing,
    /// It could not be read.
    Unread,
}

/// One place where a claim is written.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surface {
    /// The place, such as `file` or `claude_sessions.sd_key`.
    #[serde(deserialize_with = "fixed::word")]
    pub name: Word,
    /// What it says.
    pub state: SurfaceState,
}

/// A claim as one record states it, before it is judged.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct StatedClaim {
    /// What is held.
    pub resource: Resource,
    /// Since when, if stored.
    pub since: Option<Timestamp>,
    /// The places where it is written.
    pub surfaces: Shared<Surface>,
}

/// Something that its own system takes for life until a moment, whatever the heartbeat says.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Sign {
    /// What it is, such as `a silence that was announced`.
    #[serde(deserialize_with = "fixed::word")]
    pub what: Word,
    /// Until when it holds.
    pub until: Timestamp,
}

/// When a record's own system stops trusting it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Expiry {
    /// From this moment on it is stale.
    pub at: Timestamp,
    /// The rule in words, such as `heartbeat older than 900 s`.
    #[serde(deserialize_with = "fixed::word")]
    pub rule: Word,
}

/// Another system's clean-up that will remove the record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Deletion {
    /// From this moment on the next run removes it.
    pub at: Timestamp,
    /// Which clean-up, and by what rule.
    #[serde(deserialize_with = "fixed::word")]
    pub rule: Word,
    /// Whether that clean-up spares a live agent's record by looking at the process.
    pub spares: Spares,
}

/// Whom another system's clean-up leaves alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Spares {
    /// Nobody: it looks at the age alone.
    Nobody,
    /// A PID whose process name contains `claude` or `native-binary`.
    AgentNames,
}

/// Where a record was read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Location {
    /// A file.
    File(FilePath),
    /// A row of a database.
    Row(Row),
}

/// Where a row is.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "RowParts")]
pub struct Row {
    /// The database: its path, or its URL without a password.
    pub database: Untrusted,
    /// The table.
    pub table: Word,
    /// The primary key as text.
    pub id: Untrusted,
    #[serde(skip_serializing)]
    text: Untrusted,
}

/// What is written of a row.
#[derive(Deserialize)]
struct RowParts {
    database: Untrusted,
    #[serde(deserialize_with = "fixed::word")]
    table: Word,
    id: Untrusted,
}

impl From<RowParts> for Row {
    fn from(parts: RowParts) -> Self {
        Self::new(parts.database, parts.table, parts.id)
    }
}

impl Row {
    /// Names a row.
    pub fn new(database: Untrusted, table: &'static str, id: Untrusted) -> Self {
        let text = Untrusted::new(format!("{}:{table}:{}", database.raw(), id.raw()));
        Self { database, table, id, text }
    }
}

impl Location {
    /// Returns the path of a file.
    pub fn path(&self) -> Option<&std::path::Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Row(_) => None,
        }
    }

    /// Returns it as text.
    pub fn text(&self) -> &Untrusted {
        match self {
            Self::File(path) => path.text(),
            Self::Row(row) => &row.text,
        }
    }
}

/// One thing wrong with a file or record, found while it was read.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Problem {
    /// The finding that it raises.
    pub code: Code,
    /// What is wrong, in words, naming the value.
    pub message: String,
}

impl Problem {
    /// States a problem.
    pub fn new(code: Code, message: impl Into<String>) -> Self {
        Self { code, message: message.into() }
    }
}

/// One session record.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// The system that wrote it.
    pub format: Format,
    /// What it is for.
    pub kind: RecordKind,
    /// Whether its form is the present one.
    pub generation: Generation,
    /// For people: which generation or sort of file, such as `G2 context_{PPID}`.
    #[serde(deserialize_with = "fixed::word")]
    pub variant: Word,
    /// The session ID, if it has one.
    pub session_id: Option<Untrusted>,
    /// What the system ties the record to a window with.
    pub context_id: Option<Untrusted>,
    /// A short name for people.
    pub title: Untrusted,
    /// Where it was read.
    pub location: Location,
    /// What it says about its process.
    pub holder: Option<Holder>,
    /// When the session began, if stored.
    pub started_at: Option<Timestamp>,
    /// The newest sign of life that is stored.
    pub heartbeat_at: Option<Timestamp>,
    /// When the file was last written.
    pub written_at: Timestamp,
    /// What else keeps it alive, each for a time.
    #[serde(default)]
    pub signs: Vec<Sign>,
    /// When its own system calls it stale.
    pub expiry: Option<Expiry>,
    /// When some clean-up will delete it.
    pub deletion: Option<Deletion>,
    /// The claims that it states.
    pub claims: Vec<StatedClaim>,
    /// The terminal ID, if the format has one.
    pub terminal_id: Option<Untrusted>,
    /// The working directory or worktree that it names.
    #[serde(with = "path_text::maybe")]
    pub cwd: Option<PathBuf>,
    /// The files that it says it touches, relative to `cwd`'s repository.
    pub files: Vec<Untrusted>,
    /// Whether the session says that it has ended.
    pub has_ended: bool,
    /// Whether it says something that only this record holds and a clean-up would lose.
    pub has_unsaved_work: bool,
    /// What is wrong with it.
    pub problems: Vec<Problem>,
    /// Further facts for the evidence view: name and value.
    #[serde(deserialize_with = "fixed::facts")]
    pub facts: Shared<(&'static str, Untrusted)>,
    /// Who owns the file, and with which permission bits.
    pub ownership: Ownership,
}

/// Owner and permission bits of a file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ownership {
    /// The owner.
    pub uid: u32,
    /// The permission bits (07777).
    pub mode: u32,
}
