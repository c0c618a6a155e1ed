//! What a session does, according to its agent's session file.

pub(crate) mod call_wait;
pub(crate) mod git_command;
pub(crate) mod item;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::text::secret::hide;
use crate::core::model::{FilePath, Format, Medium, ProcessId, Untrusted};

/// The most files to keep of one session, the newest.
pub(crate) const MOST_FILES: usize = 256;

/// The edits that are missing from the agents' own files.
pub(crate) const UNSEEN: &str =
    "edits by shell commands (a formatter, sed -i, git checkout) are not recorded, so they cannot be seen";

/// The surface of a claim that is stated by a session's own file.
pub(crate) const TRANSCRIPT: &str = "transcript";

/// The most open calls to keep of one session, the newest.
pub(crate) const MOST_CALLS: usize = 16;

/// The most shell commands to keep of one session, the newest.
pub(crate) const MOST_COMMANDS: usize = 16;

/// What one session does. Prompts are the user's secrets, so no recording contains them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// The format of its file.
    pub format: Format,
    /// The session.
    pub session: Untrusted,
    /// The file or database it was read from.
    pub path: FilePath,
    /// The kind of file system it is on.
    pub medium: Medium,
    /// When it was last written.
    pub written_at: Timestamp,
    /// Its content.
    #[serde(flatten)]
    pub doing: Doing,
    /// Its sub-agents that have not finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubAgent>,
    /// The guard's warnings to it about others, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// How many lines could not be understood.
    #[serde(default)]
    pub skipped: u64,
}

impl Work {
    /// Returns whether it has edited files, as far as known.
    pub(crate) fn has_edits(&self) -> bool {
        !self.doing.edits.is_empty() || self.is_partly_known()
    }

    /// Returns whether it may have edited more files than are known.
    pub(crate) fn is_partly_known(&self) -> bool {
        self.doing.edits_since.is_some() || self.doing.edits.len() >= MOST_FILES
    }
}

/// A guard's warning to a session: another session has uncommitted edits.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// When.
    pub at: Timestamp,
    /// The other session.
    pub of: Untrusted,
    /// The file, if it was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Untrusted>,
    /// At which moment it was given, and with what result.
    pub how: WarningSort,
}

named! {
    /// How a session was warned of another's edits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum WarningSort {
        /// At a prompt, before its model did anything.
        Briefed = "briefed",
        /// After an edit of the same file.
        Noted = "noted",
        /// A call of its was held up or refused.
        HeldUp = "held-up",
        /// It repeated such a call, which went through.
        WentOn = "went-on",
    }
}

/// What a session file contains about its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Doing {
    /// Its title, if that is not the window's own name.
    pub title: Option<Untrusted>,
    /// The name a person gave it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Untrusted>,
    /// The last prompt.
    #[serde(skip)]
    pub prompt: Option<Box<Prompt>>,
    /// Where its turn stands.
    pub turn: Turn,
    /// The time of the last line that affects its turn, if that line states one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<Timestamp>,
    /// The tool calls without a result, oldest first.
    pub calls: Vec<Call>,
    /// The tool calls that wait for a person's permission, oldest first, each with its time; only if the file itself
    /// records them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Call>,
    /// The error that ended the turn, as worded by the service or the agent; its first line, cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Untrusted>,
    /// The item of its own to-do list that is in progress.
    pub todo: Option<Untrusted>,
    /// The files that it has edited, sorted by path.
    pub edits: Vec<Edit>,
    /// The time from which edits are known; `None` if from its beginning.
    pub edits_since: Option<Timestamp>,
    /// Whether the last line of its file is only half written, so that an edit may stand there.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_torn: bool,
    /// The ports that its commands could not get since the last prompt, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_ports: Vec<TakenPort>,
    /// The shell commands that it has run last, oldest first.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub commands: Vec<ShellCommand>,
    /// The model that answers.
    pub model: Option<Untrusted>,
    /// How full its context is.
    pub context: Option<ContextFill>,
    /// Since when it compacts its context.
    pub compacting: Option<Timestamp>,
    /// The agent's version.
    pub version: Option<Untrusted>,
    /// How its agent asks for permission, such as `plan`.
    pub mode: Option<Untrusted>,
    /// The folder in which its commands run now.
    pub cwd: Option<Untrusted>,
    /// The working trees that its own commands have made (`git worktree add`), absolute, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Untrusted>,
    /// The folders that its own commands have removed (`git worktree remove`, `rm -r`), absolute, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Untrusted>,
    /// The session that its process began with, if `/clear` or `/resume` has led from that one to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_session: Option<Untrusted>,
}

impl Doing {
    /// Removes what looks like a secret from the file's own words. What people and models wrote was redacted when it
    /// was cut; paths and IDs stay.
    pub(crate) fn hide_secrets(&mut self) {
        let texts = [
            &mut self.title, &mut self.name, &mut self.todo, &mut self.model, &mut self.version,
            &mut self.mode,
        ];
        texts.into_iter().flatten().for_each(hide);
    }
}

/// A port on which a session's command could not listen.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenPort {
    /// Its number.
    pub port: u16,
    /// When the command reported that.
    pub at: Option<Timestamp>,
    /// The process that listens on it now, if known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ProcessId>,
}

/// A shell command that a session has run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShellCommand {
    /// Its first line, cut, without what looks like a secret.
    pub line: Untrusted,
    /// When it was requested.
    pub at: Timestamp,
    /// When its result was written; `None` if it has not ended.
    pub ended: Option<Timestamp>,
    /// Whether it is one of git's that reach into files.
    #[serde(default)]
    pub reaches_files: bool,
}

/// A prompt of a person.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prompt {
    /// Its first line, cut.
    pub text: Untrusted,
    /// When it was given.
    pub at: Option<Timestamp>,
}

/// Where a turn stands, and since when.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Turn {
    /// Its state.
    pub state: TurnState,
    /// Since when, if known.
    pub since: Option<Timestamp>,
}

/// The state of a turn.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnState {
    /// Nothing that was read states it.
    #[default]
    Unknown,
    /// The agent works.
    Working,
    /// It has finished.
    Finished,
    /// A person interrupted it.
    Interrupted,
    /// It broke off: the model's service refused.
    Failed,
    /// Its process ended in the middle of it, and another one runs the session now.
    CutOff,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// The ID by which its result refers to it.
    pub id: Untrusted,
    /// The tool.
    pub tool: Untrusted,
    /// What it works on.
    pub target: Option<Target>,
    /// When it was requested.
    pub since: Option<Timestamp>,
}

/// What a tool call works on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Target {
    /// A file.
    File(Untrusted),
    /// A shell command.
    Command(Untrusted),
    /// A search.
    Search(Untrusted),
    /// A page.
    Url(Untrusted),
    /// A sub-agent's task.
    Agent(Untrusted),
    /// A question to the person.
    Question(Untrusted),
}

impl Call {
    /// Removes what looks like a secret from the displayed text; a path stays.
    pub(crate) fn hide_secrets(&mut self) {
        hide(&mut self.tool);
        if let Some(target) = self.target.as_mut().filter(|target| !matches!(target, Target::File(_))) {
            hide(target.text_mut());
        }
    }
}

impl Target {
    /// Returns its text.
    pub fn text(&self) -> &Untrusted {
        match self {
            Self::File(text) | Self::Command(text) | Self::Search(text) => text,
            Self::Url(text) | Self::Agent(text) | Self::Question(text) => text,
        }
    }

    /// Returns its text, mutable.
    pub(crate) fn text_mut(&mut self) -> &mut Untrusted {
        match self {
            Self::File(text) | Self::Command(text) | Self::Search(text) => text,
            Self::Url(text) | Self::Agent(text) | Self::Question(text) => text,
        }
    }
}

/// A file that a session has edited.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Edit {
    /// Its path, absolute if the folder is known.
    pub path: Untrusted,
    /// When it was last edited, if known.
    pub at: Option<Timestamp>,
    /// The sub-agent that edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Untrusted>,
    /// The other sub-agents of the session that have edited it, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Untrusted>,
    /// What became of the bytes that it left.
    #[serde(flatten)]
    pub fate: EditFate,
    /// The session that edited it, if that was another one: an earlier one of the same window, or the one that this
    /// one is a copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Untrusted>,
}

impl Edit {
    /// Creates an edit about which nothing else is known.
    pub(crate) fn new(path: Untrusted, at: Option<Timestamp>) -> Self {
        Self { path, at, by: None, also: Vec::new(), fate: EditFate::default(), from: None }
    }

    /// Returns whether the file has uncommitted content that may be this edit's.
    pub(crate) fn is_open(&self) -> bool {
        let EditFate { committed, state, is_clean, .. } = self.fate;
        committed == CommitState::No && !is_clean && !state.is_away()
    }

    /// Returns whether no file, commit, index or stash entry has what it left.
    pub(crate) fn is_gone(&self) -> bool {
        self.fate.state == EditState::Gone
    }

    /// Returns whether nothing in the file is uncommitted, or the edit is in no file any more.
    pub(crate) fn has_ended(&self) -> bool {
        self.fate.is_clean || self.fate.committed == CommitState::Yes || self.fate.state.is_away()
    }

    /// Returns whether it may be open, but that is not known.
    pub(crate) fn is_in_doubt(&self) -> bool {
        self.fate.committed == CommitState::Unknown && !self.has_ended()
    }

    /// Returns the sub-agents that have edited the file, the last one first.
    pub(crate) fn sub_agents(&self) -> impl Iterator<Item = &Untrusted> {
        self.by.iter().chain(&self.also)
    }
}

/// What became of the bytes that an edit left.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(default)]
pub struct EditFate {
    /// Whether a commit has them.
    pub committed: CommitState,
    /// Where they are.
    pub state: EditState,
    /// Whether the file is as the last commit has it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_clean: bool,
    /// When the file was last changed, if they are gone or stashed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub since: Option<Timestamp>,
    /// The commit of the stash entry that has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stash: Option<Untrusted>,
    /// Which session's shell line has removed them, by the hook around that line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub undone_by: Option<UndoneBy>,
}

/// A shell line that has removed what an edit left.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct UndoneBy {
    /// The session that ran it.
    pub session: Untrusted,
    /// The line, cut and without what looks like a secret.
    pub line: Untrusted,
    /// When its hook found that.
    pub at: Timestamp,
}

/// Whether a commit has the bytes that an edit left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// One has them.
    Yes,
    /// None has them.
    No,
    /// Not known.
    #[default]
    Unknown,
}

/// Where the bytes are that an edit left.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EditState {
    /// In the file, or in git's index.
    Present,
    /// In a commit that was checked out since: exactly these bytes, or a text that has most of what the edit added.
    Committed,
    /// In a stash entry.
    Stashed,
    /// In the file there is a later text, which has most of what the edit added or was written by a window that had
    /// read it.
    Superseded,
    /// Neither the file nor a commit, the index or a stash entry has them.
    Gone,
    /// Not known.
    #[default]
    Unknown,
}

impl EditState {
    /// Returns whether no file has the bytes any more.
    pub(crate) fn is_away(self) -> bool {
        matches!(self, Self::Gone | Self::Stashed)
    }
}

/// A file of a session, or of one of its sub-agents, that was found but not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadWork {
    /// The format of its file.
    pub format: Format,
    /// The session.
    pub session: Untrusted,
    /// The file.
    pub path: FilePath,
    /// The reason.
    pub why: WhyUnread,
}

/// Why the file of a session was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyUnread {
    /// It is a symbolic link.
    Link,
    /// It is a FIFO, a socket, a device or a folder.
    NoPlainFile,
    /// It has several names, so any user may write to it.
    SeveralNames,
    /// It belongs to another user.
    ForeignOwner,
    /// The system does not permit reading it.
    NoPermission,
    /// It is not an intact database.
    Damaged,
    /// The system failed.
    Failed,
}

impl WhyUnread {
    /// Returns the words to follow the file's name.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Link => "is a symbolic link, which is not followed",
            Self::NoPlainFile => "is not a plain file",
            Self::SeveralNames => "has several names (hard links)",
            Self::ForeignOwner => "belongs to another user",
            Self::NoPermission => "may not be read",
            Self::Damaged => "is damaged or not a database",
            Self::Failed => "could not be read",
        }
    }
}

/// A sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubAgent {
    /// Its ID.
    pub id: Untrusted,
    /// The task it was given.
    #[serde(skip)]
    pub task: Option<Untrusted>,
    /// What it does now.
    pub call: Option<Call>,
    /// When it started.
    pub since: Option<Timestamp>,
}

/// How full a session's context is, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFill {
    /// The tokens it contains.
    pub tokens: u64,
    /// Its capacity, if the agent records that.
    pub window: Option<u64>,
}

impl ContextFill {
    /// Returns how full it is, in percent, if its capacity is known.
    pub fn percent(self) -> Option<u64> {
        let window = self.window.filter(|window| *window > 0)?;
        self.tokens.saturating_mul(100).checked_div(window)
    }
}
