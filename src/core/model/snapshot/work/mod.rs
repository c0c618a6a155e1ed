//! What a session does, as its agent's own file of the session says.

pub(crate) mod item;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::core::model::text::named::named;
use crate::core::model::text::secret::hide;
use crate::core::model::{FilePath, Format, Medium, ProcessId, Untrusted};

/// The most files of one session that are kept, the newest.
pub(crate) const MOST_FILES: usize = 256;

/// What the agents' own files do not say of the files that a session has edited.
pub(crate) const UNSEEN: &str = "edits by shell commands (a formatter, sed -i, git checkout) are not written down, so they cannot be seen";

/// The place where a claim is written that a session's own file states.
pub(crate) const TRANSCRIPT: &str = "transcript";

/// The most open calls of one session that are kept, the newest.
pub(crate) const MOST_CALLS: usize = 16;

/// What one session does. Prompts are its user's secrets, so no recording has them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Work {
    /// Whose file it is.
    pub format: Format,
    /// The session.
    pub session: Untrusted,
    /// The file or database that says so.
    pub path: FilePath,
    /// What kind of file system it lies on.
    pub medium: Medium,
    /// When it was last written.
    pub written_at: Timestamp,
    /// What it says.
    #[serde(flatten)]
    pub doing: Doing,
    /// Its sub-agents that have not finished.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub agents: Vec<SubAgent>,
    /// What a guard has told it of others, the earliest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// How many lines could not be understood.
    #[serde(default)]
    pub skipped: u64,
}

/// What a guard has told a session: that another has edits which no commit holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Warning {
    /// When.
    pub at: Timestamp,
    /// The other session.
    pub of: Untrusted,
    /// The file, where it was about one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<Untrusted>,
    /// At which moment, and what came of it.
    pub how: WarningSort,
}

named! {
    /// How a session was told of another's edits.
    #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
    pub enum WarningSort {
        /// At a prompt, before its model did anything.
        Briefed = "briefed",
        /// After an edit of the same file.
        Noted = "noted",
        /// A call of its was held up or refused.
        HeldUp = "held-up",
        /// It made the like again, and that went through.
        WentOn = "went-on",
    }
}

/// What a session file says of its session.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Doing {
    /// Its title, where it is not the window's own name.
    pub title: Option<Untrusted>,
    /// What a person called it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<Untrusted>,
    /// The last prompt.
    #[serde(skip)]
    pub prompt: Option<Box<Prompt>>,
    /// Where its turn stands.
    pub turn: Turn,
    /// When the last line was written that bears on its turn, if that line says so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub heard_at: Option<Timestamp>,
    /// The tool calls without a result, oldest first.
    pub calls: Vec<Call>,
    /// The tool calls about which a person is asked, oldest first, each since when; only where the file itself says so.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<Call>,
    /// The error that ended the turn, in the words of the service or the agent; its first line, cut.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<Untrusted>,
    /// The item of its own list of things to do that is in progress.
    pub todo: Option<Untrusted>,
    /// The files that it has edited, sorted by path.
    pub edits: Vec<Edit>,
    /// Since when edits are known; `None` if since its beginning.
    pub edits_since: Option<Timestamp>,
    /// The ports that its commands could not get since the last prompt, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub taken_ports: Vec<TakenPort>,
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
    /// The folder that its commands run in by now.
    pub cwd: Option<Untrusted>,
    /// The working trees that its own commands have made (`git worktree add`), absolute, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub trees: Vec<Untrusted>,
    /// The folders that its own commands have removed (`git worktree remove`, `rm -r`), absolute, the newest last.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub removed: Vec<Untrusted>,
    /// The session that its process began with, where `/clear` or `/resume` has led from that to this one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_session: Option<Untrusted>,
}

impl Doing {
    /// Takes what looks like a secret out of what a file says in its own words. What people and models wrote was
    /// hidden when it was cut; paths and IDs stay.
    pub(crate) fn hide_secrets(&mut self) {
        let texts = [
            &mut self.title, &mut self.name, &mut self.todo, &mut self.model, &mut self.version,
            &mut self.mode,
        ];
        texts.into_iter().flatten().for_each(hide);
    }
}

/// A port that a command of a session's could not listen on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TakenPort {
    /// Its number.
    pub port: u16,
    /// When that was said.
    pub at: Option<Timestamp>,
    /// Who listens on it by now, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<ProcessId>,
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
    /// How it stands.
    pub state: TurnState,
    /// Since when, where that is known.
    pub since: Option<Timestamp>,
}

/// How a turn stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TurnState {
    /// Nothing that was read says so.
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
    /// Its process ended amid it, and another one runs the session now.
    CutOff,
}

/// A tool call.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Call {
    /// What its result names it by.
    pub id: Untrusted,
    /// The tool.
    pub tool: Untrusted,
    /// What it works on.
    pub target: Option<Target>,
    /// When it was asked for.
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
    /// Takes what looks like a secret out of what is shown; a path stays.
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

    /// Returns its text, to change it.
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
    /// Its path, absolute where the folder is known.
    pub path: Untrusted,
    /// When it was last edited, as far as that is known.
    pub at: Option<Timestamp>,
    /// The sub-agent that edited it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by: Option<Untrusted>,
    /// The other sub-agents of the session that have edited it, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Untrusted>,
    /// Whether git has what the file holds now.
    #[serde(default)]
    pub committed: CommitState,
    /// The session that edited it, where that was another: an earlier one of the same window, or one that this one is a
    /// copy of.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub from: Option<Untrusted>,
}

impl Edit {
    /// Returns the sub-agents that have edited the file, the last one first.
    pub(crate) fn sub_agents(&self) -> impl Iterator<Item = &Untrusted> {
        self.by.iter().chain(&self.also)
    }
}

/// Whether git has what a file holds now.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CommitState {
    /// It has.
    Yes,
    /// It has not.
    No,
    /// That cannot be told.
    #[default]
    Unknown,
}

/// A file of a session, or of one of its sub-agents, that was found and not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnreadWork {
    /// Whose file it is.
    pub format: Format,
    /// The session.
    pub session: Untrusted,
    /// The file.
    pub path: FilePath,
    /// Why.
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
    /// It has several names, so anybody may write it.
    SeveralNames,
    /// It is another user's.
    ForeignOwner,
    /// The system permits no look into it.
    NoPermission,
    /// It is no sound database.
    Damaged,
    /// The system failed.
    Failed,
}

impl WhyUnread {
    /// Says it after the name of the file.
    pub(crate) fn label(self) -> &'static str {
        match self {
            Self::Link => "is a symbolic link, which is not followed",
            Self::NoPlainFile => "is no plain file",
            Self::SeveralNames => "has several names (hard links)",
            Self::ForeignOwner => "belongs to another user",
            Self::NoPermission => "may not be read",
            Self::Damaged => "is damaged or no database",
            Self::Failed => "could not be read",
        }
    }
}

/// A sub-agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SubAgent {
    /// Its ID.
    pub id: Untrusted,
    /// What it was asked to do.
    #[serde(skip)]
    pub task: Option<Untrusted>,
    /// What it does now.
    pub call: Option<Call>,
    /// Since when it runs.
    pub since: Option<Timestamp>,
}

/// How full a session's context is, in tokens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextFill {
    /// What it holds.
    pub tokens: u64,
    /// How much fits, where the agent writes that down.
    pub window: Option<u64>,
}

impl ContextFill {
    /// Returns how full it is, in percent, where that can be told.
    pub fn percent(self) -> Option<u64> {
        let window = self.window.filter(|window| *window > 0)?;
        self.tokens.saturating_mul(100).checked_div(window)
    }
}
