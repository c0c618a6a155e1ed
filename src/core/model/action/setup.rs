//! What is added to an agent's settings, or removed from them, when a person sets claimtop up.

use serde::{Deserialize, Serialize};

use crate::core::model::FilePath;

/// One file of an agent's settings, and what is done to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingsEdit {
    /// The agent's name for people.
    pub agent: String,
    /// The file.
    pub path: FilePath,
    /// The folder above which links may lie: the home, or a folder that a person has named.
    pub base: FilePath,
    /// What belongs in it.
    pub wiring: Wiring,
    /// Whether that is added or removed.
    pub way: SetupWay,
}

/// Whether something is added or removed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SetupWay {
    /// What is missing is added.
    Add,
    /// All of claimtop's is removed.
    Remove,
}

/// What connects claimtop with an agent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Wiring {
    /// Entries in JSON settings that may have others.
    Hooks(HookEntries),
    /// A file of its own with this text.
    Plugin(String),
    /// A skill: a file of its own with this text.
    Skill(String),
    /// Lines in a text file that may have others.
    Lines(TextLines),
}

/// Lines in a text file.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TextLines {
    /// The kind of file.
    pub syntax: TextSyntax,
    /// The lines, each with its end.
    pub text: String,
}

/// The kind of a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum TextSyntax {
    /// Markdown that a model reads.
    Markdown,
    /// Codex's configuration.
    CodexToml,
}

/// Entries in JSON settings.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEntries {
    /// How they are written.
    pub form: HookForm,
    /// The hooks.
    pub hooks: Vec<HookEntry>,
    /// The command of the status line, if the agent has one.
    pub status_line: Option<String>,
    /// The server that the agent starts, if it belongs into the same file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server: Option<ServerEntry>,
}

/// claimtop's own entry among the servers that an agent starts.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ServerEntry {
    /// The name of the object that has them, such as `mcpServers`.
    pub list: String,
    /// The entry, as a JSON object.
    pub value: String,
}

/// How hooks are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum HookForm {
    /// In groups, as Claude Code began.
    Groups,
    /// Each by itself, as Copilot CLI has them.
    Flat,
}

/// One hook.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct HookEntry {
    /// The event at which it runs.
    pub event: String,
    /// The tools that it is for; empty for all.
    pub matcher: String,
    /// Its command line.
    pub command: String,
}
